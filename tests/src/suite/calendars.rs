use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, Utc};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DbBackend, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    Set, TransactionTrait,
};
use sharding_sea_orm::{EntityRules, Modulo, Monthly, ShardingConnection, ShardingError, rule};

use super::refusal;
use crate::world::{World, sources};

mod visit {
    #![allow(unreachable_pub, reason = "entities are written so")]

    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "visit")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i64,
        pub made_at: DateTimeUtc,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A clock that a test sets.
#[derive(Clone)]
struct Clock(Arc<AtomicI64>);

impl Clock {
    fn new(now: &str) -> Self {
        let clock = Self(Arc::default());
        clock.set(now);
        clock
    }

    fn set(&self, now: &str) {
        self.0.store(time(now).timestamp(), Ordering::Relaxed);
    }

    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.0.load(Ordering::Relaxed), 0).unwrap()
    }
}

fn time(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

async fn connect(world: &World, clock: &Clock) -> ShardingConnection {
    let clock = clock.clone();
    let rules = EntityRules::<visit::Entity>::new()
        .source(rule::<i64, _>(visit::Column::Id, Modulo::new(2)))
        .table(rule::<DateTime<Utc>, _>(
            visit::Column::MadeAt,
            Monthly::starting(2013, 1),
        ));
    sources(world.urls())
        .table(rules)
        .clock(move || clock.now())
        .connect()
        .await
        .unwrap()
}

fn visit(id: i64, at: &str) -> visit::ActiveModel {
    visit::ActiveModel {
        id: Set(id),
        made_at: Set(time(at)),
    }
}

fn nodes(db: &ShardingConnection) -> usize {
    db.explain(&visit::Entity::find()).unwrap().nodes.len()
}

/// A connection that stays open while months pass needs no restart.
pub async fn roll_over(backend: DbBackend) {
    let world = World::bare(backend).await;
    let clock = Clock::new("2013-02-27T23:59:59Z");
    let db = connect(&world, &clock).await;
    db.create_tables().await.unwrap();
    // January to March, the month ahead, in each of two sources.
    assert_eq!(nodes(&db), 6);
    visit(1, "2013-03-01T00:00:00Z").insert(&db).await.unwrap();
    visit(2, "2013-01-01T00:00:00Z").insert(&db).await.unwrap();
    let outside = refusal(visit(3, "2013-04-01T00:00:00Z").insert(&db).await);
    assert!(outside.contains("no tail of `visit` takes"), "{outside}");

    clock.set("2013-03-01T00:00:00Z");
    // April exists now, but nobody has made its tables yet, so they are empty.
    assert_eq!(nodes(&db), 8);
    assert_eq!(visit::Entity::find().count(&db).await.unwrap(), 2);
    let all = visit::Entity::find().order_by_desc(visit::Column::MadeAt);
    assert_eq!(
        all.all(&db)
            .await
            .unwrap()
            .iter()
            .map(|v| v.id)
            .collect::<Vec<_>>(),
        [1, 2]
    );
    let deleted = visit::Entity::delete_many().filter(visit::Column::Id.eq(9));
    assert_eq!(deleted.exec(&db).await.unwrap().rows_affected, 0);
    let april = visit(3, "2013-04-01T00:00:00Z")
        .insert(&db)
        .await
        .unwrap_err();
    assert!(
        matches!(
            ShardingError::of(&april),
            Some(ShardingError::MissingTable { .. })
        ),
        "{april}"
    );

    db.create_tables().await.unwrap();
    visit(3, "2013-04-01T00:00:00Z").insert(&db).await.unwrap();
    assert_eq!(visit::Entity::find().count(&db).await.unwrap(), 3);
    let since =
        visit::Entity::find().filter(visit::Column::MadeAt.gte(time("2013-04-01T00:00:00Z")));
    assert_eq!(since.count(&db).await.unwrap(), 1);
    db.close().await.unwrap();
    world.end().await;
}

/// What another process has made is seen at once, also in a month that this one took for unmade.
pub async fn tails_of_others(backend: DbBackend) {
    let world = World::bare(backend).await;
    let clock = Clock::new("2013-01-15T00:00:00Z");
    let db = connect(&world, &clock).await;
    db.create_tables().await.unwrap();
    visit(1, "2013-01-15T00:00:00Z").insert(&db).await.unwrap();
    clock.set("2013-02-15T00:00:00Z");
    assert_eq!(visit::Entity::find().count(&db).await.unwrap(), 1);

    let other = connect(&world, &clock).await;
    other.create_tables().await.unwrap();
    visit(2, "2013-03-01T00:00:00Z")
        .insert(&other)
        .await
        .unwrap();
    other.close().await.unwrap();
    assert_eq!(visit::Entity::find().count(&db).await.unwrap(), 2);
    let streamed = visit::Entity::find().filter(visit::Column::Id.eq(2));
    assert_eq!(
        streamed.one(&db).await.unwrap().map(|visit| visit.id),
        Some(2)
    );
    db.close().await.unwrap();
    world.end().await;
}

/// A tail that another process made with a faster clock is read like any other.
pub async fn other_clocks(backend: DbBackend) {
    let world = World::bare(backend).await;
    let ahead = connect(&world, &Clock::new("2013-05-01T00:00:00Z")).await;
    ahead.create_tables().await.unwrap();
    visit(1, "2013-06-01T00:00:00Z")
        .insert(&ahead)
        .await
        .unwrap();
    ahead.close().await.unwrap();
    let clock = Clock::new("2013-01-15T00:00:00Z");
    let db = connect(&world, &clock).await;
    assert_eq!(nodes(&db), 12);
    assert_eq!(visit::Entity::find().count(&db).await.unwrap(), 1);
    clock.set("2013-07-01T00:00:00Z");
    assert_eq!(nodes(&db), 16);
    assert_eq!(visit::Entity::find().count(&db).await.unwrap(), 1);
    db.close().await.unwrap();
    world.end().await;
}

/// Within a transaction the look for new tails is one of its statements.
pub async fn roll_over_in_transactions(backend: DbBackend) {
    let world = World::bare(backend).await;
    let clock = Clock::new("2013-01-15T00:00:00Z");
    let db = connect(&world, &clock).await;
    db.create_tables().await.unwrap();
    let transaction = db.begin().await.unwrap();
    visit(1, "2013-01-15T00:00:00Z")
        .insert(&transaction)
        .await
        .unwrap();
    clock.set("2013-02-01T00:00:00Z");
    let odd = || visit::Entity::find().filter(visit::Column::Id.is_in([1, 3]));
    assert_eq!(odd().count(&transaction).await.unwrap(), 1);
    visit(3, "2013-02-01T00:00:00Z")
        .insert(&transaction)
        .await
        .unwrap();
    assert_eq!(odd().count(&transaction).await.unwrap(), 2);
    transaction.commit().await.unwrap();
    assert_eq!(visit::Entity::find().count(&db).await.unwrap(), 2);
    db.close().await.unwrap();
    world.end().await;
}
