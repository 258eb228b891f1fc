//! Data sources that are not asked before a statement needs them.

use std::time::Duration;

use futures_util::future::join_all;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectOptions, ConnectionTrait, DbBackend, DbErr, EntityTrait,
    IntoActiveModel, QueryFilter, TransactionTrait,
};
use sharding_sea_orm::{
    BreakerRules, EntityRules, HashModulo, Modulo, ShardingConnection, ShardingError, SourceStatus,
    rule,
};

use super::modes::{entry, plain};
use crate::world::{Databases, binary};

pub(super) const PAUSE: Duration = Duration::from_millis(200);

pub(super) fn options(url: &str) -> ConnectOptions {
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(8)
        .acquire_timeout(Duration::from_secs(2))
        .sqlx_logging(false);
    options
}

pub(super) async fn connected(a: ConnectOptions, b: ConnectOptions) -> ShardingConnection {
    let by_id = || rule::<i64, _>(entry::Column::Id, Modulo::new(2));
    let by_note = |shards| rule::<String, _>(plain::Column::Note, HashModulo::new(shards));
    ShardingConnection::builder()
        .source("a", a)
        .source("b", b)
        .breaker(BreakerRules {
            pause: PAUSE,
            ..BreakerRules::default()
        })
        .table(EntityRules::<entry::Entity>::new().source(by_id()))
        .table(
            EntityRules::<plain::Entity>::new()
                .source(by_note(2))
                .table(by_note(3)),
        )
        .connect()
        .await
        .unwrap()
}

pub(super) fn note(id: i64) -> String {
    format!("{} {id}", ["Ant", "bee", "cat", "Dog"][(id % 4) as usize])
}

/// Twenty rows in each table, and text that is ordered by its bytes.
pub(super) async fn fill(urls: &[String; 2], backend: DbBackend) {
    let db = connected(options(&urls[0]), options(&urls[1])).await;
    db.create_tables().await.unwrap();
    if backend == DbBackend::MySql {
        for source in ["a", "b"] {
            let source = db.source(source).unwrap();
            let tails = (0..3).map(|tail| format!("entry_plain_{tail}"));
            for table in tails.chain(["entry".to_owned()]) {
                source.execute_unprepared(&binary(&table)).await.unwrap();
            }
        }
    }
    for id in 0..20 {
        let (k, note) = (id, note(id));
        let one = entry::Model {
            id,
            k,
            note: note.clone(),
        };
        one.into_active_model().insert(&db).await.unwrap();
        let other = plain::Model { id, k, note };
        other.into_active_model().insert(&db).await.unwrap();
    }
    db.close().await.unwrap();
}

pub(super) async fn of_id(db: &ShardingConnection, id: i64) -> Result<entry::Model, DbErr> {
    Ok(entry::Entity::find_by_id(id).one(db).await?.unwrap())
}

pub(super) fn of_b(db: &ShardingConnection) -> SourceStatus {
    db.status().pop().unwrap()
}

pub(super) fn nodes_of(db: &ShardingConnection, id: i64) -> usize {
    let query = plain::Entity::find().filter(plain::Column::Note.eq(note(id)));
    db.explain(&query).unwrap().nodes.len()
}

/// Statements that meet a source first read its catalog once, whatever they are.
pub async fn first_statements(backend: DbBackend) {
    const CALLERS: u64 = 40;

    let databases = Databases::<2>::create(backend).await;
    fill(&databases.urls, backend).await;
    let lazy = async || {
        let mut b = options(&databases.urls[1]);
        b.connect_lazy(true);
        connected(options(&databases.urls[0]), b).await
    };
    let db = lazy().await;
    let all = join_all((0..CALLERS).map(|number| {
        let db = db.clone();
        tokio::spawn(async move { of_id(&db, number as i64 % 10 * 2 + 1).await.unwrap() })
    }));
    for row in all.await {
        assert_eq!(row.unwrap().id % 2, 1);
    }
    // The catalog is one of them.
    assert_eq!(of_b(&db).begun, CALLERS + 1);
    db.close().await.unwrap();

    // A text key is not narrowed by what only one source has said.
    let db = lazy().await;
    for id in 0..20 {
        let query = plain::Entity::find().filter(plain::Column::Note.eq(note(id)));
        assert_eq!(query.all(&db).await.unwrap()[0].id, id);
        assert_eq!(nodes_of(&db, id), 1);
    }
    db.close().await.unwrap();

    let db = lazy().await;
    let transaction = db.begin().await.unwrap();
    for (id, text) in [(101, "x"), (103, "y")] {
        let row = entry::Model {
            id,
            k: 0,
            note: text.to_owned(),
        };
        row.into_active_model().insert(&transaction).await.unwrap();
    }
    let found = entry::Entity::find_by_id(103)
        .one(&transaction)
        .await
        .unwrap();
    assert_eq!(found.unwrap().note, "y");
    transaction.commit().await.unwrap();
    assert_eq!(of_id(&db, 101).await.unwrap().note, "x");
    db.close().await.unwrap();

    let db = lazy().await;
    let updated = entry::Entity::update_many()
        .col_expr(entry::Column::K, 9.into())
        .filter(entry::Column::Id.eq(3))
        .exec(&db)
        .await
        .unwrap();
    assert_eq!(updated.rows_affected, 1);
    let refused = entry::Entity::delete_many().exec(&db).await.unwrap_err();
    let refused = ShardingError::of(&refused).unwrap().to_string();
    assert!(refused.contains("data sources"), "{refused}");
    db.create_tables().await.unwrap();
    assert_eq!(entry::Entity::find().all(&db).await.unwrap().len(), 22);
    db.close().await.unwrap();
    databases.drop().await;
}
