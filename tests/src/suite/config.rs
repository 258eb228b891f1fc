use sea_orm::{ColumnTrait, DbBackend, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter};
use sharding_sea_orm::{
    BreakerRules, Config, ConnectionMode, EntityRules, Limits, Modulo, ShardingConnection,
    ShardingError, rule,
};

use crate::entity::{hashed, monthly, place, whole};
use crate::world::World;

/// Every mistake is reported, with its place, and no database is touched.
pub async fn everything_wrong_at_once(backend: DbBackend) {
    let builder = ShardingConnection::builder()
        .source("a", nowhere(backend))
        .source("b c", "oracle://nobody:secret@127.0.0.1/none")
        .source("a", nowhere(backend))
        .source("d", "secret")
        .default_source("z")
        .entity::<monthly::Entity>()
        .entity::<monthly::Entity>()
        .entity::<zero::Entity>()
        .entity::<amount::Entity>()
        .table(
            EntityRules::<numbered::Entity>::new()
                .table(rule::<i64, _>(numbered::Column::Id, Modulo::new(2))),
        );
    let error = builder.connect().await.unwrap_err();
    let ShardingError::Config(config) = &error else {
        panic!("{error}")
    };
    let mut expected = vec![
        "sources.b c: its URL begins with none of `sqlite:`, `postgres:`, `mysql:`",
        "sources.d: its URL cannot be parsed: relative URL without a base",
        "sources.\"b c\": a name consists of letters, digits, `_` and `-`",
        "sources.a: declared twice",
        "default_source: `z` is not among the sources",
        "tables.event_monthly: two entities name this table; register only one of them",
        "tables.zero.table.by.shards: is 0; at least 1 is needed",
    ];
    if backend == DbBackend::Sqlite {
        expected.push(
            "tables.amount.table.key: `amount` is a decimal, which SQLite keeps as a floating \
             point number and cannot be a key",
        );
    }
    // What only the entities tell comes first, as what is wrong with URLs does.
    expected.insert(
        2,
        "tables.numbered: the database numbers the key `id`, which is too late to choose a node; \
         give it `auto_increment = false` and make its values",
    );
    let found: Vec<_> = config.mistakes().iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
    assert!(!format!("{error} {error:?}").contains("secret"), "{error}");

    let other = if backend == DbBackend::Sqlite {
        DbBackend::Postgres
    } else {
        DbBackend::Sqlite
    };
    let mixed = ShardingConnection::builder()
        .source("a", nowhere(backend))
        .source("b", nowhere(other))
        .connect()
        .await
        .unwrap_err();
    assert!(mixed.to_string().contains("all must be alike"), "{mixed}");
    let none = ShardingConnection::builder().connect().await.unwrap_err();
    assert!(
        none.to_string()
            .contains("declare at least one data source"),
        "{none}"
    );
}

pub async fn unreachable_sources(backend: DbBackend) {
    let world = World::bare(backend).await;
    let error = ShardingConnection::builder()
        .source("a", world.urls()[0].clone())
        .source("lost", nowhere(backend))
        .connect()
        .await
        .unwrap_err();
    let ShardingError::Unreachable { data_source, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(data_source, "lost");
    world.end().await;
}

/// A URL at which nothing answers.
fn nowhere(backend: DbBackend) -> sea_orm::ConnectOptions {
    let url = match backend {
        DbBackend::Sqlite => "sqlite:///nowhere/at/all.db",
        DbBackend::Postgres => "postgres://nobody@127.0.0.1:1/none",
        _ => "mysql://nobody@127.0.0.1:1/none",
    };
    let mut options = sea_orm::ConnectOptions::new(url);
    options
        .acquire_timeout(std::time::Duration::from_secs(2))
        .sqlx_logging(false);
    options
}

/// The file and the code make one configuration, in which the file's rules count.
pub async fn files(backend: DbBackend) {
    let world = World::bare(backend).await;
    let yaml = r#"
default_source: b
sources:
  a: { url: "${A}", max_connections: 2, sqlx_logging: false }
  b: { url: "${B}", max_connections: 2, sqlx_logging: false }
limits: { max_query_connections: 1, max_nodes: 3 }
single: { place: a }
tables:
  event_monthly:
    source: { key: id, by: { strategy: modulo, shards: 2 }, names: [b, a] }
    table: { key: at, by: { strategy: quarterly, starting: 2013-q1, through: 2013-q2 } }
  event_whole:
    table: { key: [kind, flag], by: { strategy: hash_buckets, even: 3 } }
"#;
    let toml = r#"
default_source = "b"
limits = { max_query_connections = 1, max_nodes = 3 }
single = { place = "a" }

[sources.a]
url = "${A}"
max_connections = 2
sqlx_logging = false

[sources.b]
url = "${B}"
max_connections = 2
sqlx_logging = false

[tables.event_monthly]
source = { key = "id", by = { strategy = "modulo", shards = 2 }, names = ["b", "a"] }
table = { key = "at", by = { strategy = "quarterly", starting = "2013-q1", through = "2013-q2" } }

[tables.event_whole]
table = { key = ["kind", "flag"], by = { strategy = "hash_buckets", even = 3 } }
"#;
    let urls = world.urls().clone();
    let env = move |name: &str| match name {
        "A" => Some(urls[0].clone()),
        "B" => Some(urls[1].clone()),
        _ => None,
    };
    for config in [
        Config::from_yaml_with(yaml, &env),
        Config::from_toml_with(toml, &env),
    ] {
        assert_eq!(config.mistakes(), []);
        let db = ShardingConnection::builder()
            .config(config)
            .entity::<monthly::Entity>()
            .table(EntityRules::<whole::Entity>::new())
            .connect()
            .await
            .unwrap();
        let nodes = |explained: sharding_sea_orm::Explanation| -> Vec<String> {
            let name =
                |node: &sharding_sea_orm::ExplainedNode| format!("{}.{}", node.source, node.table);
            explained.nodes.iter().map(name).collect()
        };
        let all = nodes(db.explain(&monthly::Entity::find()).unwrap());
        assert_eq!(
            all,
            [
                "b.event_monthly_2013q1",
                "b.event_monthly_2013q2",
                "a.event_monthly_2013q1",
                "a.event_monthly_2013q2",
            ]
        );
        let all = nodes(db.explain(&whole::Entity::find()).unwrap());
        assert_eq!(
            all,
            ["b.event_whole_0", "b.event_whole_1", "b.event_whole_2"]
        );
        let place = db.explain(&place::Entity::find()).unwrap();
        assert_eq!(place.nodes[0].source, "a");
        db.create_tables().await.unwrap();
        let row = monthly::Model::from(crate::world::events()[7].clone()).into_active_model();
        monthly::Entity::insert(row)
            .exec_without_returning(&db)
            .await
            .unwrap();
        let refused = monthly::Entity::find().count(&db).await.unwrap_err();
        let found = ShardingError::of(&refused);
        assert!(
            matches!(
                found,
                Some(ShardingError::TooManyNodes {
                    nodes: 4,
                    max: 3,
                    ..
                })
            ),
            "{refused}"
        );
        let wide = db.with_limits(Limits::new().max_nodes(4));
        assert_eq!(monthly::Entity::find().count(&wide).await.unwrap(), 1);
        let by_id = monthly::Entity::delete_many().filter(monthly::Column::Id.eq(7));
        assert_eq!(by_id.exec(&db).await.unwrap().rows_affected, 1);
        db.close().await.unwrap();
    }
    world.end().await;
}

/// Mistakes of the file, of the code and between them come in one list, and none shows a URL.
pub async fn mistakes_of_files(backend: DbBackend) {
    let yaml = r#"
default_source: c
sources:
  a: "${A}"
  d: { url: "${NOWHERE}", max_conections: 2, limits: { connection_mode: auto, max_nodes: 9 } }
limits: { max_nodes: 3, max_query_connections: 4 }
breaker: { failures: 7 }
tables:
  event_monthly:
    table: { key: att, by: { strategy: monthly, starting: 2013-13 } }
  event_hashed:
    node:
      key: kind
      by: { strategy: hash_buckets, buckets: 0x10, ranges: [{ less_than: 4, partition: a.x }] }
  nobody:
    table: { key: id, by: { strategy: modulo, shards: 2 } }
"#;
    let env = |name: &str| (name == "A").then(|| "mysql://root:secret@nowhere/x".to_owned());
    let error = ShardingConnection::builder()
        .source("a", nowhere(backend))
        .limits(Limits::new().max_nodes(2).max_query_connections(4))
        .source_limits("a", Limits::new().max_nodes(2))
        .source_limits(
            "d",
            Limits::new().connection_mode(ConnectionMode::MemoryStrictly),
        )
        .source_limits("e", Limits::new())
        .breaker(BreakerRules::default())
        .config(Config::from_yaml_with(yaml, &env))
        .entity::<monthly::Entity>()
        .entity::<hashed::Entity>()
        .connect()
        .await
        .unwrap_err();
    let ShardingError::Config(config) = &error else {
        panic!("{error}")
    };
    let found: Vec<_> = config.mistakes().iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "sources.d.url: the environment variable `NOWHERE` is not set; set it, or give a \
             default as in `${NOWHERE:-default}`",
            "sources.d.max_conections: is not known; did you mean `max_connections`?",
            "sources.d.limits.max_nodes: counts the tables of all data sources; give it in the \
             limits of the file",
            "tables.event_monthly.table.by.starting: has to be a month such as 2013-01, not \
             `2013-13`",
            "sources.a: is given in the code, too; remove one of them",
            "limits.max_nodes: is given in the code, too; remove one of them",
            "sources.d.limits.connection_mode: is given in the code, too; remove one of them",
            "breaker: is given in the code, too; remove one of them",
            "tables.nobody: no entity of this table is registered",
            "source_limits: `a` has `max_nodes`, which counts the tables of all sources",
            "source_limits: `e` is not among the sources",
            "default_source: `c` is not among the sources",
            "tables.event_hashed.node.by.ranges: end with 4, but there are 16 buckets; the last \
             must be less_than 16",
        ]
    );
    assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
}

mod numbered {
    #![allow(unreachable_pub, reason = "entities are written so")]

    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "numbered")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod zero {
    #![allow(unreachable_pub, reason = "entities are written so")]

    use sea_orm::entity::prelude::*;
    use sharding_sea_orm::{Modulo, Sharded};

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Sharded)]
    #[sea_orm(table_name = "zero")]
    #[sharded(table(key = id, by = Modulo::new(0)))]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod amount {
    #![allow(unreachable_pub, reason = "entities are written so")]

    use sea_orm::entity::prelude::*;
    use sharding_sea_orm::{HashModulo, Sharded};

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Sharded)]
    #[sea_orm(table_name = "amount")]
    #[sharded(table(key = amount, by = HashModulo::new(2)))]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
        pub amount: Decimal,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}
