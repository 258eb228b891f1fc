use sea_orm::{
    ActiveModelTrait, ColumnTrait, DbBackend, EntityTrait, IntoActiveModel, PaginatorTrait,
    QueryFilter, Set, Statement,
};
use sharding_sea_orm::{Embedded, EntityRules, Monthly, ShardingConnection, rule};

use super::random::compare_all;
use super::refusal;
use crate::world::{World, events, sources};
use crate::zoo::{self, paired, snowflake};

/// Every strategy and layout answers as one table does.
pub async fn random_statements(backend: DbBackend) {
    let world = World::bare(backend).await;
    let events: Vec<_> = events().into_iter().step_by(2).collect();
    let db = zoo::filled(&world, &events).await;
    let answered = compare_all(&db, backend, &zoo::TABLES, &zoo::SPREAD, 120).await;
    assert!(answered > 900, "{answered} answered");
    db.close().await.unwrap();
    world.end().await;
}

/// Rows are where the published rules say.
pub async fn places(backend: DbBackend) {
    let world = World::bare(backend).await;
    let db = zoo::builder(world.urls()).connect().await.unwrap();
    db.create_tables().await.unwrap();
    // The hash of id 1 is 0x53075D44, and that of id 2 0xC61FA2F4; id 200 begins an epoch.
    for id in [1, 2, 200] {
        let row = snowflake::Model::from(crate::entity::Event {
            id,
            ..events()[0].clone()
        });
        row.into_active_model().insert(&db).await.unwrap();
    }
    let count = async |source: &str, table: &str| {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        let statement = Statement::from_string(backend, sql);
        let source = db.source(source).unwrap();
        let row = sea_orm::ConnectionTrait::query_one_raw(&source, statement).await;
        row.unwrap().unwrap().try_get_by_index::<i64>(0).unwrap()
    };
    assert_eq!(count("a", "event_snowflake_0").await, 1);
    assert_eq!(count("a", "event_snowflake_1").await, 1);
    let late = count("a", "event_snowflake_2").await + count("a", "event_snowflake_3").await;
    let late = late + count("b", "event_snowflake_4").await;
    assert_eq!(late + count("b", "event_snowflake_5").await, 1);
    db.close().await.unwrap();
    world.end().await;
}

pub async fn composite_keys(backend: DbBackend) {
    let world = World::bare(backend).await;
    let events: Vec<_> = events().into_iter().take(60).collect();
    let db = zoo::filled(&world, &events).await;
    let both = paired::Entity::find()
        .filter(paired::Column::Kind.eq("a"))
        .filter(paired::Column::Flag.eq(true));
    assert_eq!(db.explain(&both).unwrap().nodes.len(), 1);
    let expected = events
        .iter()
        .filter(|event| event.kind == "a" && event.flag)
        .count();
    assert_eq!(both.count(&db).await.unwrap(), expected as u64);
    let lists = paired::Entity::find()
        .filter(paired::Column::Kind.is_in(["a", "b"]))
        .filter(paired::Column::Flag.is_in([true, false]));
    let keys = db.explain(&lists).unwrap().keys;
    assert_eq!(keys[0].column, "kind, flag");
    assert_eq!(keys[0].values, "('a', 0), ('a', 1), ('b', 0), ('b', 1)");
    let half = paired::Entity::find().filter(paired::Column::Kind.eq("a"));
    assert_eq!(db.explain(&half).unwrap().nodes.len(), 4);

    // A part of the key may be set only if the row stays where it is.
    let first = &events[4];
    let row = paired::ActiveModel {
        id: Set(first.id),
        flag: Set(!first.flag),
        ..Default::default()
    };
    let refused = refusal(row.update(&db).await);
    assert!(
        refused.contains("an UPDATE of the sharding key `flag`"),
        "{refused}"
    );
    db.close().await.unwrap();
    world.end().await;
}

mod order {
    #![allow(unreachable_pub, reason = "entities are written so")]

    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "order")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i64,
        pub made_at: DateTimeUtc,
        pub number: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

async fn orders(world: &World) -> ShardingConnection {
    let months = Monthly::starting(2013, 1).through(2013, 6);
    let by_time = rule::<chrono::DateTime<chrono::Utc>, _>(order::Column::MadeAt, months);
    let by_number = rule::<Option<String>, _>(order::Column::Number, Embedded::new(0..6, months));
    let rules = EntityRules::<order::Entity>::new().table(by_time.also(by_number));
    let db = sources(world.urls()).table(rules).connect().await.unwrap();
    db.create_tables().await.unwrap();
    if world.backend == DbBackend::MySql {
        crate::world::make_text_binary(&db).await;
    }
    db
}

pub async fn secondary_keys(backend: DbBackend) {
    let world = World::bare(backend).await;
    let db = orders(&world).await;
    let made = |id: i64, number: Option<&str>| order::ActiveModel {
        id: Set(id),
        made_at: Set("2013-03-09T10:00:00Z".parse().unwrap()),
        number: Set(number.map(str::to_owned)),
    };
    made(1, Some("201303-0001")).insert(&db).await.unwrap();
    made(2, None).insert(&db).await.unwrap();
    let wrong = made(3, Some("201304-0001")).insert(&db).await;
    assert_eq!(
        refusal(wrong),
        "a row for `order` has its `number` in another place than its `made_at`"
    );
    let unclear = refusal(made(3, Some("first")).insert(&db).await);
    assert!(
        unclear.starts_with("no tail of `order` takes `number` = 'first'"),
        "{unclear}"
    );

    let by_number = order::Entity::find().filter(order::Column::Number.eq("201303-0001"));
    let nodes = db.explain(&by_number).unwrap().nodes;
    assert_eq!(nodes.len(), 1);
    assert_eq!(nodes[0].table, "order_201303");
    assert_eq!(by_number.one(&db).await.unwrap().unwrap().id, 1);
    let nulls = order::Entity::find().filter(order::Column::Number.is_null());
    assert_eq!(nulls.one(&db).await.unwrap().unwrap().id, 2);

    let number = |number: &str| {
        order::Entity::update_many()
            .col_expr(
                order::Column::Number,
                sea_orm::sea_query::Expr::value(number),
            )
            .filter(order::Column::Number.eq("201303-0001"))
    };
    assert_eq!(
        number("201303-0007").exec(&db).await.unwrap().rows_affected,
        1
    );
    let moved = order::Entity::update_many()
        .col_expr(
            order::Column::Number,
            sea_orm::sea_query::Expr::value("201305-0007"),
        )
        .filter(order::Column::Number.eq("201303-0007"));
    let refused = refusal(moved.exec(&db).await);
    assert!(
        refused.contains("an UPDATE of the sharding key `number`"),
        "{refused}"
    );
    db.close().await.unwrap();
    world.end().await;
}
