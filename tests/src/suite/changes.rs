use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectOptions, DbBackend, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, Set,
};
use sharding_sea_orm::{
    ConnectionMode, EntityRules, Limits, Lists, Modulo, ShardingConnection, ShardingError, rule,
};

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
        pub country: i32,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

fn rules(countries: Lists) -> EntityRules<visit::Entity> {
    EntityRules::new().source(rule::<i32, _>(visit::Column::Country, countries))
}

fn one() -> Lists {
    Lists::new().values("a", [1])
}

fn two() -> Lists {
    one().values("b", [2, 3])
}

async fn only_a(world: &World) -> ShardingConnection {
    let url = world.urls()[0].clone();
    let db = ShardingConnection::builder()
        .source("a", url)
        .table(rules(one()))
        .connect()
        .await
        .unwrap();
    db.create_tables().await.unwrap();
    db
}

fn visit(id: i64, country: i32) -> visit::ActiveModel {
    visit::ActiveModel {
        id: Set(id),
        country: Set(country),
    }
}

/// A data source is added while statements run; none of them fails or sees half of it.
pub async fn growth_under_queries(backend: DbBackend) {
    let world = World::bare(backend).await;
    let db = only_a(&world).await;
    visit(1, 1).insert(&db).await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let (reader, stop) = (db.clone(), Arc::clone(&done));
    let reading = tokio::spawn(async move {
        let mut counts = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            counts.push(visit::Entity::find().count(&reader).await.unwrap());
        }
        counts
    });
    let outside = refusal(visit(2, 2).insert(&db).await);
    assert!(outside.contains("no tail"), "{outside}");
    let change = || {
        db.change()
            .source("b", world.urls()[1].clone())
            .table(rules(two()))
    };
    let missing = change().apply().await.unwrap_err();
    assert!(
        matches!(missing, ShardingError::MissingTable { .. }),
        "{missing}"
    );
    assert_eq!(visit::Entity::find().count(&db).await.unwrap(), 1);
    change().create_tables().apply().await.unwrap();
    visit(2, 2).insert(&db).await.unwrap();
    assert_eq!(visit::Entity::find().count(&db).await.unwrap(), 2);
    done.store(true, Ordering::Relaxed);
    let counts = reading.await.unwrap();
    assert!(counts.is_sorted() && counts[0] == 1, "{counts:?}");
    db.close().await.unwrap();
    world.end().await;
}

/// A data source that is added has the limits that are given with it.
pub async fn limits_of_added_sources(backend: DbBackend) {
    let world = World::bare(backend).await;
    let parted =
        |countries| rules(countries).table(rule::<i64, _>(visit::Column::Id, Modulo::new(2)));
    let mut options = world.urls().iter().map(|url| {
        let mut options = ConnectOptions::new(url);
        options.max_connections(1).sqlx_logging(false);
        options
    });
    let db = ShardingConnection::builder()
        .source("a", options.next().unwrap())
        .table(parted(one()))
        .connect()
        .await
        .unwrap();
    db.create_tables().await.unwrap();
    let added = options.next().unwrap();
    let change = || {
        db.change()
            .source("b", added.clone())
            .table(parted(two()))
            .create_tables()
    };
    let eager = Limits::new().connection_mode(ConnectionMode::MemoryStrictly);
    let elsewhere = change().source_limits("a", eager).apply().await;
    let elsewhere = elsewhere.unwrap_err().to_string();
    assert!(
        elsewhere.contains("source_limits: `a` is not among the sources"),
        "{elsewhere}"
    );
    change().source_limits("b", eager).apply().await.unwrap();
    let sorted = visit::Entity::find().order_by_asc(visit::Column::Id);
    let within_a = sorted.clone().filter(visit::Column::Country.eq(1));
    assert_eq!(within_a.all(&db).await.unwrap(), []);
    let few = sorted.all(&db).await.unwrap_err();
    let Some(ShardingError::TooFewConnections { data_source, .. }) = ShardingError::of(&few) else {
        panic!("{few}")
    };
    assert_eq!(data_source, "b");
    db.close().await.unwrap();
    world.end().await;
}

/// What would move rows or lose sight of them is refused, and changes nothing.
pub async fn refusals(backend: DbBackend) {
    let world = World::bare(backend).await;
    let db = only_a(&world).await;
    let texts = |error: ShardingError| match error {
        ShardingError::Config(error) => error
            .mistakes()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        other => panic!("{other}"),
    };
    let moved = db
        .change()
        .table(rules(Lists::new().values("a", [7])))
        .apply()
        .await;
    assert_eq!(
        texts(moved.unwrap_err()),
        ["tables.visit: would move rows: lists of 1 values does not extend lists of 1 values"]
    );
    let other = EntityRules::<visit::Entity>::new()
        .table(rule::<i64, _>(visit::Column::Id, Modulo::new(2)));
    let other = db
        .change()
        .table(other)
        .drain("z")
        .remove("y")
        .apply()
        .await;
    assert_eq!(
        texts(other.unwrap_err()),
        [
            "remove: `y` is not among the sources",
            "draining: `z` is not among the sources",
        ]
    );
    let removed = db
        .change()
        .source("b", world.urls()[1].clone())
        .remove("a")
        .apply()
        .await;
    assert_eq!(
        texts(removed.unwrap_err()),
        [
            "default_source: `a` is not among the sources",
            "tables.visit.source.names: `a` is not among the sources",
        ]
    );
    visit(1, 1).insert(&db).await.unwrap();
    db.close().await.unwrap();
    world.end().await;
}

/// A source that is drained keeps its rows and gets no new ones; an empty one can be removed.
pub async fn draining(backend: DbBackend) {
    let world = World::bare(backend).await;
    let db = sources(world.urls())
        .table(rules(two()))
        .connect()
        .await
        .unwrap();
    db.create_tables().await.unwrap();
    visit(1, 1).insert(&db).await.unwrap();
    visit(2, 2).insert(&db).await.unwrap();
    db.change().drain("b").apply().await.unwrap();
    let refused = visit(3, 3).insert(&db).await.unwrap_err();
    assert!(refused.to_string().contains("being drained"), "{refused}");
    visit(4, 1).insert(&db).await.unwrap();
    assert_eq!(visit::Entity::find().count(&db).await.unwrap(), 3);
    let deleted = visit::Entity::delete_many().filter(visit::Column::Country.eq(2));
    assert_eq!(deleted.exec(&db).await.unwrap().rows_affected, 1);
    let in_use = db
        .change()
        .remove("b")
        .apply()
        .await
        .unwrap_err()
        .to_string();
    assert!(in_use.contains("`b` is not among the sources"), "{in_use}");
    db.change().resume("b").apply().await.unwrap();
    visit(3, 3).insert(&db).await.unwrap();

    db.change()
        .source("spare", world.urls()[1].clone())
        .apply()
        .await
        .unwrap();
    let spare = db.source("spare").unwrap();
    db.change().remove("spare").apply().await.unwrap();
    assert!(db.source("spare").is_none());
    assert!(spare.ping().await.is_err());
    assert_eq!(visit::Entity::find().count(&db).await.unwrap(), 3);
    db.close().await.unwrap();
    world.end().await;
}
