//! Many statements at once, few connections, and callers that go away.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::{
    ColumnTrait, ConnectOptions, ConnectionTrait, DbBackend, DbErr, EntityTrait, IntoActiveModel,
    Order, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, TransactionTrait,
};
use sharding_sea_orm::{
    BreakerState, EntityRules, Limits, Modulo, ShardingConnection, ShardingError, rule,
};

use super::modes::entry;
use crate::world::Databases;

const ROWS: i64 = 300;

/// Two tails in each of three sources, with pools of this size.
pub(super) async fn three_sources(
    urls: &[String; 3],
    size: u32,
    limits: Limits,
) -> ShardingConnection {
    let options = |url: &String| {
        let mut options = ConnectOptions::new(url.clone());
        options.max_connections(size).sqlx_logging(false);
        options
    };
    ShardingConnection::builder()
        .source("a", options(&urls[0]))
        .source("b", options(&urls[1]))
        .source("c", options(&urls[2]))
        .limits(limits)
        .table(rules())
        .connect()
        .await
        .unwrap()
}

fn rules() -> EntityRules<entry::Entity> {
    EntityRules::<entry::Entity>::new()
        .table(rule::<i64, _>(entry::Column::Id, Modulo::new(6)))
        .tails("a", ["0", "3"])
        .tails("b", ["1", "4"])
        .tails("c", ["2", "5"])
}

async fn fill(urls: &[String; 3]) {
    let db = three_sources(urls, 2, Limits::new()).await;
    fill_all(&db).await;
    db.close().await.unwrap();
}

pub(super) async fn fill_all(db: &ShardingConnection) {
    db.create_tables().await.unwrap();
    let row = |id: i64| entry::Model {
        id,
        k: id * 7_919 % 101,
        note: format!("note {}", id % 7),
    };
    for source in 0..3 {
        let rows = (0..ROWS).filter(|id| id % 3 == source).map(row);
        entry::Entity::insert_many(rows.map(IntoActiveModel::into_active_model))
            .exec_without_returning(db)
            .await
            .unwrap();
    }
}

fn sorted(order: Order) -> sea_orm::Select<entry::Entity> {
    entry::Entity::find()
        .order_by(entry::Column::K, order.clone())
        .order_by(entry::Column::Id, order)
}

/// What one of many callers does; `Some` if it was answered.
async fn one_of_many(db: &ShardingConnection, kind: usize) -> Result<usize, DbErr> {
    let order = match kind % 2 {
        0 => Order::Asc,
        _ => Order::Desc,
    };
    Ok(match kind % 7 {
        0 => {
            let query = sorted(order);
            let rows: Vec<_> = query.stream(db).await?.try_collect().await?;
            assert_eq!(rows.len(), ROWS as usize);
            rows.len()
        }
        1 => {
            let rows = sorted(order).offset(10).limit(20).all(db).await?;
            assert_eq!(rows.len(), 20);
            rows.len()
        }
        2 => entry::Entity::find().count(db).await? as usize,
        // Left before its end.
        3 => {
            let query = sorted(order);
            let mut stream = query.stream(db).await?;
            for _ in 0..5 {
                stream.try_next().await?;
            }
            5
        }
        // Another statement while a stream is open.
        4 => {
            let query = sorted(order);
            let mut stream = query.stream(db).await?;
            stream.try_next().await?;
            entry::Entity::find().count(db).await? as usize
        }
        // A transaction on one source, and a statement for all beside it.
        5 => {
            let transaction = db.begin().await?;
            let of_b = entry::Entity::find().filter(entry::Column::Id.is_in([1, 4, 7]));
            let rows = of_b.all(&transaction).await?;
            assert_eq!(rows.len(), 3);
            let all = entry::Entity::find().count(db).await;
            transaction.rollback().await?;
            all? as usize
        }
        _ => {
            let groups: Vec<(i64, i64)> = entry::Entity::find()
                .select_only()
                .column(entry::Column::K)
                .column_as(entry::Column::Id.count(), "count")
                .group_by(entry::Column::K)
                .into_tuple()
                .all(db)
                .await?;
            groups.len()
        }
    })
}

/// Whether an error says that there were too few connections.
fn is_for_want_of_connections(error: &DbErr) -> bool {
    match ShardingError::of(error) {
        Some(ShardingError::NoConnection { .. } | ShardingError::TooFewConnections { .. }) => true,
        Some(ShardingError::NodesFailed { failures, .. }) => failures
            .iter()
            .all(|failure| is_for_want_of_connections(&failure.error)),
        _ => false,
    }
}

/// Streams, pages, groups and transactions over three sources in opposite orders, with pools that
/// are too small for them: all finish, or say what they waited for.
pub async fn no_deadlock(backend: DbBackend) {
    let databases = Databases::<3>::create(backend).await;
    fill(&databases.urls).await;
    for size in [1, 2, 3] {
        let wide = Limits::new().max_query_connections(9);
        let db = three_sources(&databases.urls, size, wide).await;
        all_end(&db, size).await;
        db.close().await.unwrap();
    }
    databases.drop().await;
}

/// Many statements at once end, with pools of this size, and leave nothing behind.
pub(super) async fn all_end(db: &ShardingConnection, size: u32) {
    let together = async |kinds: &[usize], limits: Limits| {
        let db = db.with_limits(limits);
        let tasks = (0..64).map(|number| {
            let (db, kind) = (db.clone(), kinds[number % kinds.len()]);
            tokio::spawn(async move { one_of_many(&db, kind).await })
        });
        let all = join_all(tasks.collect::<Vec<_>>());
        let outcomes = tokio::time::timeout(Duration::from_secs(120), all).await;
        let outcomes = outcomes.expect("some statements hang");
        let outcomes = outcomes.into_iter().map(Result::unwrap);
        outcomes.collect::<Vec<Result<usize, DbErr>>>()
    };
    // Whoever holds nothing while it waits for more is answered.
    let patient = Limits::new().acquire_timeout(Duration::from_secs(60));
    for outcome in together(&[0, 1, 2, 3, 6, 7, 8, 10], patient).await {
        assert!(outcome.is_ok(), "with pools of {size}: {outcome:?}");
    }
    // Whoever waits for what it holds itself gives up, and lets the others go on.
    let hasty = Limits::new().acquire_timeout(Duration::from_secs(1));
    for outcome in together(&[0, 1, 2, 3, 4, 5, 6, 11], hasty).await {
        if let Err(error) = outcome {
            assert!(
                is_for_want_of_connections(&error),
                "with pools of {size}: {error}"
            );
        }
    }
    // MySQL's driver cannot be left before the end.
    while db.status().iter().any(|source| source.in_use > 0) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for source in db.status() {
        let idle = (
            source.in_use,
            source.waiting,
            source.statements,
            source.rows,
        );
        assert_eq!(idle, (0, 0, 0, 0), "{source:?}");
        assert_eq!(source.breaker, BreakerState::Closed, "{source:?}");
        assert!(source.most_in_use <= size as usize, "{source:?}");
    }
    assert_eq!(entry::Entity::find().count(db).await.unwrap(), ROWS as u64);
}

/// What waits too long says what it wanted and what it held.
pub async fn waits_are_bounded(backend: DbBackend) {
    let databases = Databases::<3>::create(backend).await;
    fill(&databases.urls).await;
    let limits = Limits::new().acquire_timeout(Duration::from_millis(200));
    let db = three_sources(&databases.urls, 2, limits).await;
    // Both connections of the second source are taken.
    let busy = [db.begin().await.unwrap(), db.begin().await.unwrap()];
    for transaction in &busy {
        let of_b = entry::Entity::find().filter(entry::Column::Id.eq(1));
        of_b.one(transaction).await.unwrap();
    }
    let query = sorted(Order::Asc);
    let error = match query.clone().stream(&db).await {
        Ok(mut rows) => rows.next().await.unwrap().unwrap_err(),
        Err(error) => error,
    };
    let Some(ShardingError::NoConnection {
        data_source,
        wanted,
        free: 0,
        size: 2,
        held,
    }) = ShardingError::of(&error)
    else {
        panic!("{error}")
    };
    // SQLite merges the tables of one source by itself.
    let of_each = if backend == DbBackend::Sqlite { 1 } else { 2 };
    assert_eq!((data_source.as_str(), *wanted), ("b", of_each));
    assert_eq!(*held, [("a".to_owned(), of_each)]);
    // Statements that do not need it do not wait.
    let of_a = entry::Entity::find().filter(entry::Column::Id.is_in([0, 3, 6]));
    assert_eq!(of_a.clone().all(&db).await.unwrap().len(), 3);
    // Nor does a transaction wait for ever for a stream of its own.
    let narrow = db.begin().await.unwrap();
    let mut rows = of_a.clone().stream(&narrow).await.unwrap();
    rows.try_next().await.unwrap();
    let error = of_a.clone().all(&narrow).await.unwrap_err();
    assert!(is_for_want_of_connections(&error), "{error}");
    drop(rows);
    narrow.commit().await.unwrap();
    for transaction in busy {
        transaction.commit().await.unwrap();
    }
    assert_eq!(
        query.stream(&db).await.unwrap().count().await,
        ROWS as usize
    );
    db.close().await.unwrap();
    databases.drop().await;
}

/// A query that has many tables stands in the line for a connection once, not once for each table,
/// so that those behind it wait no longer than behind one that has few.
pub async fn one_place_in_the_line(backend: DbBackend) {
    const QUERIES: usize = 5;

    let databases = Databases::<3>::create(backend).await;
    fill(&databases.urls).await;
    let limits = Limits::new().max_query_connections(4);
    let db = three_sources(&databases.urls, 4, limits).await;
    let of_a = entry::Entity::find().filter(entry::Column::Id.eq(0));
    let mut busy = Vec::new();
    for _ in 0..4 {
        let transaction = db.begin().await.unwrap();
        of_a.clone().one(&transaction).await.unwrap();
        busy.push(transaction);
    }
    let wide = (0..QUERIES).map(|_| {
        let db = db.clone();
        tokio::spawn(async move { entry::Entity::find().all(&db).await.unwrap().len() })
    });
    let wide: Vec<_> = wide.collect();
    let waiting = || {
        db.status()
            .iter()
            .map(|source| source.waiting)
            .sum::<usize>()
    };
    // Once the other sources have answered, all that is left is in the line for the first one.
    while waiting() < QUERIES || db.status().iter().any(|source| source.statements > 0) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(waiting(), QUERIES, "{:?}", db.status());
    for transaction in busy {
        transaction.commit().await.unwrap();
    }
    for found in join_all(wide).await {
        assert_eq!(found.unwrap(), ROWS as usize);
    }
    assert_eq!(waiting(), 0);
    db.close().await.unwrap();
    databases.drop().await;
}

/// A stream reads all data sources at once, with one connection of each.
pub async fn sources_side_by_side(backend: DbBackend) {
    let databases = Databases::<3>::create(backend).await;
    fill(&databases.urls).await;
    let db = three_sources(&databases.urls, 2, Limits::new()).await;
    let query = entry::Entity::find();
    let mut rows = query.stream(&db).await.unwrap();
    let mut ids = Vec::new();
    while ids.len() < 6 {
        ids.push(rows.try_next().await.unwrap().unwrap().id);
    }
    for source in db.status() {
        let at_once = (source.statements, source.in_use, source.rows);
        assert!(at_once <= (1, 1, 1) && source.statements == 1, "{source:?}");
    }
    while let Some(row) = rows.try_next().await.unwrap() {
        ids.push(row.id);
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..ROWS).collect::<Vec<_>>());
    drop(rows);
    for source in db.status() {
        assert_eq!((source.most_in_use, source.most_rows), (1, 1), "{source:?}");
    }
    db.close().await.unwrap();
    databases.drop().await;
}

/// Statements whose callers go away leave nothing behind: no connection, no row, no task, and no
/// connection whose answer somebody else would read.
pub async fn callers_that_go_away(backend: DbBackend) {
    let databases = Databases::<3>::create(backend).await;
    fill(&databases.urls).await;
    let size = 3;
    let db = Arc::new(three_sources(&databases.urls, size, Limits::new()).await);
    db.warm_up().await.unwrap();
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let before = tasks();
    for round in 0..200_u64 {
        let kind = usize::try_from(round).unwrap();
        // Gone after so many steps, wherever that is.
        let mut work = std::pin::pin!(async {
            match kind % 10 {
                // What the connection asks on its own account is left like that, too.
                0 => drop(db.refresh().await),
                1 => drop(db.ping().await),
                2 => drop(db.warm_up().await),
                3 => drop(db.create_tables().await),
                _ => drop(one_of_many(&db, kind).await),
            }
        });
        let after = Duration::from_micros(round * 97 % 5_000);
        let _ = tokio::time::timeout(after, &mut work).await;
    }
    let settled = async {
        while db.status().iter().any(|source| source.in_use > 0) || tasks() > before {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let settled = tokio::time::timeout(Duration::from_secs(20), settled).await;
    assert!(
        settled.is_ok(),
        "{} tasks were {before}; {:?}",
        tasks(),
        db.status()
    );
    for source in db.status() {
        assert_eq!((source.statements, source.rows, source.waiting), (0, 0, 0));
        assert_eq!(source.failures, 0, "{source:?}");
    }
    // Every connection of every pool answers what it is asked.
    let each = (0..size).map(|_| async {
        let rows = sorted(Order::Asc).limit(40).all(&*db).await;
        let rows = rows.unwrap_or_else(|error| panic!("{error}: {:?}", db.status()));
        let keys: Vec<_> = rows.iter().map(|row| (row.k, row.id)).collect();
        assert!(keys.is_sorted() && keys.len() == 40);
        for name in ["a", "b", "c"] {
            let plain = db.source(name).unwrap();
            let answer =
                plain.query_one_raw(sea_orm::Statement::from_string(backend, "SELECT 41 + 1"));
            let answer = answer.await.unwrap().unwrap();
            assert_eq!(answer.try_get_by_index::<i32>(0).unwrap(), 42);
        }
    });
    join_all(each).await;
    let db = Arc::into_inner(db).unwrap();
    db.close().await.unwrap();
    databases.drop().await;
}
