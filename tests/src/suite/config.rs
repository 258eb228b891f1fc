use sea_orm::DbBackend;
use sharding_sea_orm::{ShardingConnection, ShardingError};

use crate::entity::monthly;
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
        .entity::<amount::Entity>();
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
