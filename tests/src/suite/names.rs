use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, Set,
};
use sharding_sea_orm::{EntityRules, Modulo, ShardingConnection, rule};

use crate::world::{World, sources};

/// An entity whose names have to be quoted.
macro_rules! named_entity {
    ($name:ident, $($attribute:tt)+) => {
        mod $name {
            #![allow(unreachable_pub, reason = "entities are written so")]

            use sea_orm::entity::prelude::*;

            #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
            #[sea_orm($($attribute)+)]
            pub struct Model {
                #[sea_orm(primary_key, auto_increment = false, column_name = "Id")]
                pub id: i64,
                #[sea_orm(column_name = "order")]
                pub order: i32,
            }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub enum Relation {}

            impl ActiveModelBehavior for ActiveModel {}
        }
    };
}

named_entity!(quoted_order, table_name = "Order Line");
named_entity!(plain_order, table_name = "orders");
named_entity!(schema_order, table_name = "Order", schema_name = "Sales");

/// Writes, reads and deletes through the connection.
macro_rules! exercise {
    ($db:expr, $name:ident) => {
        for id in 0..9 {
            let row = $name::ActiveModel {
                id: Set(id),
                order: Set(-(id as i32)),
            };
            row.insert($db).await.unwrap();
        }
        let sorted = $name::Entity::find().order_by_asc($name::Column::Order);
        let ids: Vec<i64> = sorted
            .all($db)
            .await
            .unwrap()
            .iter()
            .map(|row| row.id)
            .collect();
        assert_eq!(ids, [8, 7, 6, 5, 4, 3, 2, 1, 0]);
        let one = $name::Entity::find().filter($name::Column::Id.eq(7));
        assert_eq!($db.explain(&one).unwrap().nodes.len(), 1);
        assert_eq!(one.one($db).await.unwrap().unwrap().order, -7);
        let update = $name::Entity::update_many()
            .col_expr($name::Column::Order, sea_orm::sea_query::Expr::value(1))
            .filter($name::Column::Id.is_in([1, 2, 3]));
        assert_eq!(update.exec($db).await.unwrap().rows_affected, 3);
        let delete = $name::Entity::delete_many().filter($name::Column::Order.eq(1));
        assert_eq!(delete.exec($db).await.unwrap().rows_affected, 3);
        assert_eq!($name::Entity::find().count($db).await.unwrap(), 6);
    };
}

async fn connect<E: EntityTrait>(world: &World, rules: EntityRules<E>) -> ShardingConnection {
    let db = sources(world.urls()).table(rules).connect().await.unwrap();
    db.create_tables().await.unwrap();
    db
}

pub async fn quoted(backend: DbBackend) {
    let world = World::bare(backend).await;
    let by_id = rule::<i64, _>(quoted_order::Column::Id, Modulo::new(3));
    let db = connect(
        &world,
        EntityRules::<quoted_order::Entity>::new().table(by_id),
    )
    .await;
    let all = quoted_order::Entity::find();
    assert_eq!(db.explain(&all).unwrap().nodes[1].table, "Order Line_1");
    exercise!(&db, quoted_order);
    db.close().await.unwrap();
    world.end().await;
}

pub async fn without_separator(backend: DbBackend) {
    let world = World::bare(backend).await;
    let by_id = rule::<i64, _>(plain_order::Column::Id, Modulo::new(3));
    let rules = EntityRules::<plain_order::Entity>::new()
        .table(by_id)
        .separator("");
    let db = connect(&world, rules).await;
    let all = plain_order::Entity::find();
    assert_eq!(db.explain(&all).unwrap().nodes[2].table, "orders2");
    exercise!(&db, plain_order);
    db.close().await.unwrap();
    world.end().await;
}

/// Schemas are PostgreSQL's; the others take a database's name in their place, or an attached
/// file's.
pub async fn with_schema(backend: DbBackend) {
    let world = World::bare(backend).await;
    let by_id = rule::<i64, _>(schema_order::Column::Id, Modulo::new(2));
    let rules = || EntityRules::<schema_order::Entity>::new().table(by_id);
    if backend == DbBackend::Postgres {
        let source = world.db.source("a").unwrap();
        source
            .execute_unprepared("CREATE SCHEMA \"Sales\"")
            .await
            .unwrap();
        let db = connect(&world, rules()).await;
        let statement = db.explain(&schema_order::Entity::find()).unwrap().nodes[0].clone();
        let sql = statement.statement.unwrap().sql;
        assert!(
            sql.contains("FROM \"Sales\".\"Order_0\" AS \"Order\""),
            "{sql}"
        );
        exercise!(&db, schema_order);
        db.close().await.unwrap();
    } else {
        let db = sources(world.urls())
            .table(rules())
            .connect()
            .await
            .unwrap();
        let sql = db.explain(&schema_order::Entity::find()).unwrap();
        let sql = sql.nodes[0].statement.clone().unwrap().sql;
        assert!(sql.contains("Sales"), "{sql}");
        db.close().await.unwrap();
    }
    world.end().await;
}
