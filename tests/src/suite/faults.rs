//! Data sources that stall, are cut off, and come back. They are reached through a proxy, so these
//! cases are for servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use futures_util::future::join_all;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectOptions, DbBackend, DbErr, EntityTrait, IntoActiveModel,
    QueryFilter, QueryOrder, QuerySelect,
};
use sharding_sea_orm::{
    BreakerRules, BreakerState, EntityRules, Limits, Modulo, Retry, ShardingConnection,
    ShardingError, SourceStatus, rule,
};

use super::lazy;
use super::modes::{entry, plain};
use super::proxy::{Proxy, Way};
use crate::world::Databases;

const PAUSE: Duration = Duration::from_millis(300);
const TIMEOUT: Duration = Duration::from_millis(400);

/// A connection to two sources, the second one behind a proxy.
#[derive(Debug)]
pub struct Behind {
    /// The connection.
    pub db: ShardingConnection,
    /// The proxy.
    pub proxy: Proxy,
    /// The databases of both.
    pub databases: Databases<2>,
}

/// Two sources with two tails each; the way to the second one leads through a proxy.
pub async fn behind_a_proxy(backend: DbBackend, limits: Limits) -> Behind {
    let databases = Databases::<2>::create(backend).await;
    let [a, b] = &databases.urls;
    let (proxy, through) = Proxy::before(b).await;
    let options = |url: &str| {
        let mut options = ConnectOptions::new(url);
        options
            .max_connections(8)
            .acquire_timeout(Duration::from_secs(1))
            .sqlx_logging(false);
        options
    };
    let db = ShardingConnection::builder()
        .source("a", options(a))
        .source("b", options(&through))
        .limits(limits.max_query_connections(4))
        .breaker(BreakerRules {
            failures: 3,
            pause: PAUSE,
        })
        .table(
            EntityRules::<entry::Entity>::new()
                .table(rule::<i64, _>(entry::Column::Id, Modulo::new(4)))
                .tails("a", ["0", "2"])
                .tails("b", ["1", "3"]),
        )
        .connect()
        .await
        .unwrap();
    db.create_tables().await.unwrap();
    let row = |id: i64| entry::Model {
        id,
        k: id * 7_919 % 101,
        note: "note".to_owned(),
    };
    for parity in 0..2 {
        let rows = (0..200).filter(|id| id % 2 == parity).map(row);
        entry::Entity::insert_many(rows.map(IntoActiveModel::into_active_model))
            .exec_without_returning(&db)
            .await
            .unwrap();
    }
    Behind {
        db,
        proxy,
        databases,
    }
}

/// What is going on in one of the sources.
pub fn of(db: &ShardingConnection, name: &str) -> SourceStatus {
    let mut status = db.status().into_iter();
    status.find(|source| source.name == name).unwrap()
}

/// A statement for both sources, every second one as a stream; gives the count of rows.
pub async fn of_both(db: &ShardingConnection, streamed: usize) -> Result<usize, DbErr> {
    let query = entry::Entity::find()
        .order_by_asc(entry::Column::K)
        .order_by_asc(entry::Column::Id);
    Ok(match streamed % 2 {
        0 => query.limit(50).all(db).await?.len(),
        _ => query.stream(db).await?.try_collect::<Vec<_>>().await?.len(),
    })
}

/// A statement for one row: in the first source if its id is even, else in the second one.
pub async fn of_one(db: &ShardingConnection, id: i64) -> Result<(), DbErr> {
    let row = entry::Entity::find()
        .filter(entry::Column::Id.eq(id))
        .one(db)
        .await?;
    assert_eq!(row.unwrap().id, id);
    Ok(())
}

/// The data sources that an error of a statement for both tells.
fn told(error: &DbErr) -> Vec<String> {
    match ShardingError::of(error) {
        Some(ShardingError::NodesFailed { failures, .. }) => {
            let names = failures.iter().map(|failure| failure.data_source.clone());
            names.collect()
        }
        Some(
            ShardingError::Timeout { data_source, .. }
            | ShardingError::SourceDown { data_source, .. }
            | ShardingError::NoConnection { data_source, .. },
        ) => vec![data_source.clone()],
        _ => panic!("{error}"),
    }
}

/// How many statements of the first source are answered within so long, and the longest of them.
pub async fn answered(db: &ShardingConnection, how_long: Duration) -> (u64, Duration) {
    let (count, longest) = (AtomicU64::new(0), AtomicU64::new(0));
    let begun = Instant::now();
    let work = (0..4).map(|_| async {
        while begun.elapsed() < how_long {
            let one = Instant::now();
            of_one(db, 42).await.unwrap();
            let taken = u64::try_from(one.elapsed().as_micros()).unwrap();
            longest.fetch_max(taken, Ordering::Relaxed);
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    join_all(work).await;
    let longest = Duration::from_micros(longest.into_inner());
    (count.into_inner(), longest)
}

/// A source that stalls holds up only the statements that need it; these fail in time, and soon at
/// once; and it is used again once it answers.
pub async fn stalled(backend: DbBackend) {
    let limits = Limits::new().statement_timeout(TIMEOUT);
    let Behind {
        db,
        proxy,
        databases,
    } = behind_a_proxy(backend, limits).await;
    let normal = answered(&db, Duration::from_secs(1)).await;
    assert_eq!(of_both(&db, 0).await.unwrap(), 50);
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let before = tasks();

    proxy.set(Way::Stalled);
    let stop = Arc::new(AtomicBool::new(false));
    let crowd: Vec<_> = (0..32)
        .map(|number| {
            let (db, stop) = (db.clone(), Arc::clone(&stop));
            tokio::spawn(async move {
                let (mut failed, mut longest, mut at_once) = (0, Duration::ZERO, 0);
                while !stop.load(Ordering::Relaxed) {
                    let begun = Instant::now();
                    let error = of_both(&db, number).await.unwrap_err();
                    assert!(told(&error).contains(&"b".to_owned()), "{error}");
                    failed += 1;
                    longest = longest.max(begun.elapsed());
                    at_once += usize::from(begun.elapsed() < TIMEOUT / 2);
                    tokio::time::sleep(Duration::from_millis(30)).await;
                }
                (failed, longest, at_once)
            })
        })
        .collect();
    let meanwhile = answered(&db, Duration::from_secs(3)).await;
    let (of_b, during) = (of(&db, "b"), tasks());
    stop.store(true, Ordering::Relaxed);
    let (mut failed, mut at_once) = (0, 0);
    for one in crowd {
        let (own, longest, fast) = one.await.unwrap();
        // The wait for connections, and the timeout of the statement.
        assert!(longest < Duration::from_secs(4), "{longest:?}");
        failed += own;
        at_once += fast;
    }
    assert_ne!(of_b.breaker, BreakerState::Closed, "{of_b:?}");
    assert_eq!(of(&db, "a").breaker, BreakerState::Closed);
    assert!(at_once > failed / 2, "{at_once} of {failed} failed at once");
    // How many they are is for a benchmark; none waits for the other source.
    assert!(normal.0 > 0 && meanwhile.0 > 0);
    assert!(
        meanwhile.1 < Duration::from_secs(1),
        "{normal:?} before, {meanwhile:?} meanwhile"
    );
    assert!(during < before + 32 + 40, "{before} tasks, and {during}");

    proxy.set(Way::Open);
    let healed = async {
        while of_both(&db, 0).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let healed = tokio::time::timeout(Duration::from_secs(20), healed).await;
    assert!(healed.is_ok(), "{:?}", db.status());
    let patient = db.with_limits(Limits::new().statement_timeout(Duration::from_secs(20)));
    assert_eq!(of_both(&patient, 1).await.unwrap(), 200);
    assert_eq!(of(&db, "b").breaker, BreakerState::Closed);
    db.close().await.unwrap();
    databases.drop().await;
}

/// A source whose connections are cut fails at once, is told, and comes back.
pub async fn cut(backend: DbBackend) {
    let Behind {
        db,
        proxy,
        databases,
    } = behind_a_proxy(backend, Limits::new()).await;
    db.warm_up().await.unwrap();
    proxy.set(Way::Cut);
    for number in 0..6 {
        let error = of_both(&db, number).await.unwrap_err();
        assert_eq!(told(&error)[0], "b", "{error}");
        of_one(&db, 42).await.unwrap();
    }
    assert_ne!(of(&db, "b").breaker, BreakerState::Closed);
    assert!(of(&db, "b").failures >= 3, "{:?}", of(&db, "b"));
    // While it is known to be gone, the other source does no work for nothing.
    let mut kept_from = 0;
    for number in 0..40 {
        let before = [of(&db, "a"), of(&db, "b")];
        of_both(&db, number).await.unwrap_err();
        // Unless this was the caller that is tried.
        if before[1].breaker == BreakerState::Open && of(&db, "b").failures == before[1].failures {
            assert_eq!(of(&db, "a").begun, before[0].begun, "{number}");
            kept_from += 1;
        }
    }
    assert!(kept_from > 0);
    proxy.set(Way::Open);
    tokio::time::sleep(PAUSE + PAUSE / 2).await;
    let found = of_both(&db, 1).await;
    assert_eq!(found.unwrap(), 200);
    assert_eq!(of(&db, "b").breaker, BreakerState::Closed);
    db.close().await.unwrap();
    databases.drop().await;
}

/// With a policy for it, a read whose connection has been cut is tried again on another.
pub async fn retried(backend: DbBackend) {
    let Behind {
        db,
        proxy,
        databases,
    } = behind_a_proxy(backend, Limits::new()).await;
    let patient = db.with_limits(Limits::new().retry(Retry {
        times: 40,
        pause: Duration::from_millis(25),
    }));
    for number in 0..2 {
        db.warm_up().await.unwrap();
        proxy.set(Way::Cut);
        while proxy.open() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let of_b = entry::Entity::find().filter(entry::Column::Id.eq(7));
        let (row, ()) = tokio::join!(of_b.one(&patient), async {
            tokio::time::sleep(Duration::from_millis(60)).await;
            proxy.set(Way::Open);
        });
        assert_eq!(row.unwrap().unwrap().id, 7);
        assert!(of_both(&patient, number).await.unwrap() >= 50);
        // A write may have happened, so it is not repeated.
        proxy.set(Way::Cut);
        while proxy.open() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let row = entry::Model {
            id: 1_001 + 4 * number as i64,
            k: 1,
            note: String::new(),
        };
        let insert = entry::Entity::insert(row.into_active_model());
        let (inserted, ()) = tokio::join!(insert.exec_with_returning(&patient), async {
            tokio::time::sleep(Duration::from_millis(60)).await;
            proxy.set(Way::Open);
        });
        inserted.unwrap_err();
        tokio::time::sleep(PAUSE + PAUSE / 2).await;
    }
    db.close().await.unwrap();
    databases.drop().await;
}

/// A source that is not there while connecting holds up only the statements that need it, and is
/// used once it is there. For servers: SeaORM looks at SQLite's files in any case.
pub async fn absent(backend: DbBackend) {
    let databases = Databases::<2>::create(backend).await;
    lazy::fill(&databases.urls, backend).await;
    let (proxy, through) = Proxy::before(&databases.urls[1]).await;
    proxy.set(Way::Cut);
    let mut late = lazy::options(&through);
    late.connect_lazy(true);
    let db = lazy::connected(lazy::options(&databases.urls[0]), late).await;
    assert_eq!(lazy::of_b(&db).open, 0);
    assert_eq!(lazy::of_id(&db, 4).await.unwrap().note, lazy::note(4));
    let row = entry::Model {
        id: 100,
        k: 1,
        note: "new".to_owned(),
    };
    row.clone().into_active_model().insert(&db).await.unwrap();
    assert_eq!(lazy::of_id(&db, 100).await.unwrap(), row);
    assert_eq!(lazy::of_b(&db).begun, 0);
    // Whether the key narrows depends on a collation that nobody knows.
    assert_eq!(lazy::nodes_of(&db, 7), 3 * 2);
    let by_text = plain::Entity::find().filter(plain::Column::Note.eq(lazy::note(7)));
    for error in [
        lazy::of_id(&db, 5).await.unwrap_err(),
        by_text.one(&db).await.unwrap_err(),
    ] {
        match ShardingError::of(&error) {
            Some(ShardingError::Unreachable { data_source, .. }) => assert_eq!(data_source, "b"),
            _ => panic!("{error}"),
        }
    }
    proxy.set(Way::Open);
    while let Err(error) = lazy::of_id(&db, 5).await {
        assert!(ShardingError::of(&error).is_some(), "{error}");
        tokio::time::sleep(lazy::PAUSE / 4).await;
    }
    assert_eq!(lazy::nodes_of(&db, 7), 1);
    let sorted = entry::Entity::find()
        .order_by_asc(entry::Column::Note)
        .all(&db)
        .await;
    let found: Vec<_> = sorted.unwrap().into_iter().map(|row| row.note).collect();
    let mut expected: Vec<_> = (0..20).map(lazy::note).chain(["new".to_owned()]).collect();
    expected.sort();
    assert_eq!(found, expected);
    db.close().await.unwrap();
    databases.drop().await;
}
