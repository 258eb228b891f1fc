use sea_orm::{ConnectionTrait, DbBackend, EntityTrait, PaginatorTrait, Statement};
use sharding_sea_orm::{ShardingConnection, ShardingError};

use crate::entity::monthly;
use crate::world::World;

pub async fn created_again(backend: DbBackend) {
    let world = World::filled(backend).await;
    world.db.create_tables().await.unwrap();
    world.db.create_tables().await.unwrap();
    assert_eq!(monthly::Entity::find().count(&world.db).await.unwrap(), 400);
    world.end().await;
}

pub async fn named_by_tail(backend: DbBackend) {
    let world = World::empty(backend).await;
    let sql = match backend {
        DbBackend::Sqlite => {
            "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        }
        DbBackend::Postgres => "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'public'",
        _ => {
            "SELECT DISTINCT CAST(index_name AS CHAR) FROM information_schema.statistics \
             WHERE table_schema = DATABASE()"
        }
    };
    let source = world.db.source("a").unwrap();
    let rows = source
        .query_all_raw(Statement::from_string(backend, sql))
        .await
        .unwrap();
    let names: Vec<String> = rows
        .iter()
        .map(|row| row.try_get_by_index(0).unwrap())
        .collect();
    for tail in ["201301", "201306"] {
        let name = format!("idx-event_monthly-kind_{tail}");
        assert!(names.contains(&name), "{name} among {names:?}");
    }
    world.end().await;
}

/// A foreign key into a sharded table cannot be kept; one into an unsharded table can.
pub async fn foreign_keys(backend: DbBackend) {
    let world = World::empty(backend).await;
    let db = ShardingConnection::builder()
        .source("a", world.urls()[0].clone())
        .entity::<monthly::Entity>()
        .entity::<keyed::Entity>()
        .entity::<parent::Entity>()
        .connect()
        .await
        .unwrap();
    let error = db.create_tables().await.unwrap_err();
    assert!(matches!(error, ShardingError::ForeignKey { .. }), "{error}");
    db.close().await.unwrap();
    let db = ShardingConnection::builder()
        .source("a", world.urls()[0].clone())
        .entity::<keyed::Entity>()
        .connect()
        .await
        .unwrap();
    let schema = sea_orm::Schema::new(backend);
    db.execute(&schema.create_table_from_entity(parent::Entity))
        .await
        .unwrap();
    db.create_tables().await.unwrap();
    db.create_tables().await.unwrap();
    let orphan = keyed::ActiveModel {
        id: sea_orm::Set(1),
        parent_id: sea_orm::Set(1),
    };
    keyed::Entity::insert(orphan).exec(&db).await.unwrap_err();
    db.close().await.unwrap();
    world.end().await;
}

mod parent {
    #![allow(unreachable_pub, reason = "entities are written so")]

    use sea_orm::entity::prelude::*;
    use sharding_sea_orm::{Modulo, Sharded};

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Sharded)]
    #[sea_orm(table_name = "parent")]
    #[sharded(table(key = id, by = Modulo::new(2)))]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod keyed {
    #![allow(unreachable_pub, reason = "entities are written so")]

    use sea_orm::entity::prelude::*;
    use sharding_sea_orm::{Modulo, Sharded};

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Sharded)]
    #[sea_orm(table_name = "keyed")]
    #[sharded(table(key = id, by = Modulo::new(2)))]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
        pub parent_id: i32,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {
        #[sea_orm(
            belongs_to = "super::parent::Entity",
            from = "Column::ParentId",
            to = "super::parent::Column::Id"
        )]
        Parent,
    }

    impl ActiveModelBehavior for ActiveModel {}
}
