//! How many connections and how many rows a query holds.

use std::time::Duration;

use futures_util::TryStreamExt;
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, IntoActiveModel, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Schema, TransactionTrait,
};
use sharding_sea_orm::{
    ConnectionMode, EntityRules, Limits, Modulo, ShardingConnection, ShardingError, SourceStatus,
    rule,
};

use crate::world::World;

macro_rules! row {
    ($name:ident, $table:literal) => {
        pub(crate) mod $name {
            #![allow(unreachable_pub, reason = "entities are written so")]

            use sea_orm::entity::prelude::*;

            #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
            #[sea_orm(table_name = $table)]
            pub struct Model {
                #[sea_orm(primary_key, auto_increment = false)]
                pub id: i64,
                pub k: i64,
                pub note: String,
            }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub enum Relation {}

            impl ActiveModelBehavior for ActiveModel {}
        }
    };
}

row!(entry, "entry");
row!(plain, "entry_plain");

/// How many rows there are.
pub(crate) const ROWS: i64 = 600;

/// A table of three tails in one source, with pools of this size.
pub(crate) async fn three_tails(world: &World, size: u32) -> ShardingConnection {
    let mut options = sea_orm::ConnectOptions::new(world.urls()[0].clone());
    options.max_connections(size).sqlx_logging(false);
    let by_id = rule::<i64, _>(entry::Column::Id, Modulo::new(3));
    ShardingConnection::builder()
        .source("a", options)
        .table(EntityRules::<entry::Entity>::new().table(by_id))
        .connect()
        .await
        .unwrap()
}

async fn filled(world: &World) {
    let db = three_tails(world, 4).await;
    db.create_tables().await.unwrap();
    let plain = Schema::new(world.backend).create_table_from_entity(plain::Entity);
    db.execute(&plain).await.unwrap();
    macro_rules! fill {
        ($e:ident) => {
            let row = |id: i64| $e::Model {
                id,
                k: id * 7_919 % 101,
                note: format!("note {}", id % 7),
            };
            let rows = (0..ROWS).map(row).map(IntoActiveModel::into_active_model);
            $e::Entity::insert_many(rows)
                .exec_without_returning(&db)
                .await
                .unwrap();
        };
    }
    fill!(entry);
    fill!(plain);
    db.close().await.unwrap();
}

fn status(db: &ShardingConnection) -> SourceStatus {
    let mut status = db.status();
    assert_eq!(status.len(), 1);
    status.pop().unwrap()
}

macro_rules! page {
    ($e:ident, $offset:expr, $limit:expr) => {
        $e::Entity::find()
            .order_by_asc($e::Column::K)
            .order_by_asc($e::Column::Id)
            .offset($offset)
            .limit($limit)
    };
}

/// `skip 10, take 10` over three tables with a limit of two: the example of ShardingCore's own
/// description, in which a naive engine holds 60 rows.
pub async fn worked_example(backend: DbBackend) {
    let world = World::bare(backend).await;
    filled(&world).await;
    let limits = Limits::new().max_query_connections(2);
    let db = three_tails(&world, 4).await;
    let expected: Vec<i64> = page!(plain, 10, 10)
        .all(&db)
        .await
        .unwrap()
        .into_iter()
        .map(|row| row.id)
        .collect();
    let ids = async |db: &ShardingConnection| -> Vec<i64> {
        let rows = page!(entry, 10, 10).all(db).await.unwrap();
        rows.into_iter().map(|row| row.id).collect()
    };
    db.close().await.unwrap();

    // (mode, most connections, most rows that are kept or heads of cursors)
    let cases = [
        (ConnectionMode::ConnectionStrictly, 2, 22),
        (ConnectionMode::Auto, 2, 22),
        (ConnectionMode::MemoryStrictly, 3, 3),
    ];
    for (mode, connections, rows) in cases {
        let db = three_tails(&world, 4).await;
        let found = ids(&db.with_limits(limits.connection_mode(mode))).await;
        assert_eq!(found, expected, "{mode}");
        let status = status(&db);
        assert!(status.most_in_use <= connections, "{mode}: {status:?}");
        assert!(status.most_rows <= rows, "{mode}: {status:?}");
        assert_eq!(status.statements, 0, "{status:?}");
        if mode != ConnectionMode::MemoryStrictly {
            // Twenty are kept of the first two tables, and the third has a cursor.
            assert!(status.most_rows >= 20, "{mode}: {status:?}");
        }
        db.close().await.unwrap();
    }
    world.end().await;
}

/// Every kind of merge, in every mode and with pools of all sizes, gives what one table gives.
pub async fn all_merges(backend: DbBackend) {
    let world = World::bare(backend).await;
    filled(&world).await;
    for size in [1, 2, 3, 5] {
        let db = three_tails(&world, size).await;
        for mode in [
            ConnectionMode::ConnectionStrictly,
            ConnectionMode::Auto,
            ConnectionMode::MemoryStrictly,
        ] {
            for limit in [1, 2, 9] {
                let limits = Limits::new()
                    .connection_mode(mode)
                    .max_query_connections(limit);
                let db = &db.with_limits(limits);
                let about = format!("{mode}, {limit} of {size}");
                if mode == ConnectionMode::MemoryStrictly && size < 3 {
                    let error = page!(entry, 0, 5).all(db).await.unwrap_err();
                    let refused = ShardingError::of(&error);
                    assert!(
                        matches!(
                            refused,
                            Some(ShardingError::TooFewConnections { wanted: 3, .. })
                        ),
                        "{about}: {error}"
                    );
                    continue;
                }
                compare(db, &about).await;
                // A transaction has one connection, whatever is asked for.
                let transaction = db.begin().await.unwrap();
                compare_in(&transaction, &about).await;
                transaction.commit().await.unwrap();
            }
        }
        let status = status(&db);
        assert_eq!((status.rows, status.in_use, status.waiting), (0, 0, 0));
        db.close().await.unwrap();
    }
    world.end().await;
}

async fn compare(db: &ShardingConnection, about: &str) {
    compare_in(db, about).await;
    macro_rules! streamed {
        ($e:ident) => {{
            let query = $e::Entity::find()
                .order_by_desc($e::Column::K)
                .order_by_asc($e::Column::Id);
            let rows: Vec<_> = query.stream(db).await.unwrap().try_collect().await.unwrap();
            rows.into_iter().map(|row| row.id).collect::<Vec<i64>>()
        }};
    }
    let expected = streamed!(plain);
    assert_eq!(streamed!(entry), expected, "{about}");
}

async fn compare_in<C: ConnectionTrait>(db: &C, about: &str) {
    macro_rules! pages {
        ($e:ident) => {{
            let mut found = Vec::new();
            for (offset, limit) in [(0, 5), (10, 10), (0, 1_000), (590, 50), (700, 5)] {
                let rows = page!($e, offset, limit).all(db).await.unwrap();
                found.push(rows.into_iter().map(|row| row.id).collect::<Vec<i64>>());
            }
            found
        }};
    }
    let expected = pages!(plain);
    assert_eq!(pages!(entry), expected, "{about}");
    macro_rules! groups {
        ($e:ident) => {{
            let counts: Vec<(i64, i64, i64)> = $e::Entity::find()
                .select_only()
                .column($e::Column::K)
                .column_as($e::Column::Id.count(), "count")
                .column_as($e::Column::Id.max(), "last")
                .group_by($e::Column::K)
                .order_by_asc($e::Column::K)
                .into_tuple()
                .all(db)
                .await
                .unwrap();
            let distinct: Vec<i64> = $e::Entity::find()
                .select_only()
                .column($e::Column::K)
                .distinct()
                .order_by_asc($e::Column::K)
                .limit(30)
                .into_tuple()
                .all(db)
                .await
                .unwrap();
            let keys: Vec<i64> = $e::Entity::find()
                .select_only()
                .expr_as(Expr::col($e::Column::K).count_distinct(), "keys")
                .into_tuple()
                .all(db)
                .await
                .unwrap();
            (counts, distinct, keys)
        }};
    }
    let expected = groups!(plain);
    assert_eq!(groups!(entry), expected, "{about}");
    let few = entry::Entity::find().filter(entry::Column::K.lt(3));
    let expected = plain::Entity::find().filter(plain::Column::K.lt(3));
    assert_eq!(
        few.count(db).await.unwrap(),
        expected.count(db).await.unwrap(),
        "{about}"
    );
    let some = entry::Entity::find().limit(7).all(db).await.unwrap();
    assert_eq!(some.len(), 7, "{about}");
}

/// A query that would reach more tables than it may is refused before any is asked.
pub async fn budgets(backend: DbBackend) {
    let world = World::bare(backend).await;
    filled(&world).await;
    let db = three_tails(&world, 2).await;
    let narrow = db.with_limits(Limits::new().max_nodes(2));
    let error = entry::Entity::find().all(&narrow).await.unwrap_err();
    let Some(ShardingError::TooManyNodes { nodes, max, tables }) = ShardingError::of(&error) else {
        panic!("{error}")
    };
    assert_eq!((*nodes, *max, tables.as_str()), (3, 2, "`entry`"));
    let delete = entry::Entity::delete_many().filter(entry::Column::K.eq(1));
    let error = delete.exec(&narrow).await.unwrap_err();
    assert!(error.to_string().contains("3 physical tables"), "{error}");
    let by_id = entry::Entity::find().filter(entry::Column::Id.is_in([1, 2, 4]));
    assert_eq!(by_id.all(&narrow).await.unwrap().len(), 3);
    // Wider for one statement than for all.
    let wide = narrow.with_limits(Limits::new().max_nodes(3));
    assert_eq!(
        entry::Entity::find().count(&wide).await.unwrap(),
        ROWS as u64
    );
    db.close().await.unwrap();
    world.end().await;
}

/// A node that takes longer than it may is given up, and told by its name.
pub async fn timeouts(backend: DbBackend) {
    let world = World::bare(backend).await;
    filled(&world).await;
    let db = three_tails(&world, 4).await;
    let call = |name: &'static str, argument: Expr| Func::cust(name).arg(argument);
    let slow = match backend {
        DbBackend::Postgres => Expr::from(call("pg_sleep", 2.into())).is_not_null(),
        DbBackend::MySql => Expr::from(call("SLEEP", 2.into())).eq(0),
        // SQLite does not sleep, but it has much to do.
        _ => {
            let random = call("randomblob", 60_000_000.into());
            Expr::from(call("length", call("hex", random.into()).into())).gt(0)
        }
    };
    let patient = Limits::new().statement_timeout(Duration::from_millis(200));
    let hasty = db.with_limits(patient);
    let one = entry::Entity::find()
        .filter(entry::Column::Id.eq(3))
        .filter(slow.clone());
    let begun = std::time::Instant::now();
    let error = one.all(&hasty).await.unwrap_err();
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
    assert!(
        matches!(
            ShardingError::of(&error),
            Some(ShardingError::Timeout { .. })
        ),
        "{error}"
    );
    let all = entry::Entity::find()
        .filter(entry::Column::K.lt(2))
        .filter(slow)
        .order_by_asc(entry::Column::K);
    let error = all.all(&hasty).await.unwrap_err();
    let Some(ShardingError::NodesFailed { failures, asked: 3 }) = ShardingError::of(&error) else {
        panic!("{error}")
    };
    assert_eq!(failures[0].data_source, "a");
    assert!(failures[0].table.starts_with("entry_"), "{error}");
    let cause = ShardingError::of(&failures[0].error);
    assert!(
        matches!(cause, Some(ShardingError::Timeout { .. })),
        "{error}"
    );
    // MySQL's driver cannot be left before the end.
    while status(&db).in_use > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // What was given up does not get in the way of the next ones.
    let begun = std::time::Instant::now();
    let rows = page!(entry, 0, 10)
        .all(&db.with_limits(Limits::new()))
        .await;
    assert_eq!(rows.unwrap().len(), 10, "after {:?}", begun.elapsed());
    db.close().await.unwrap();
    world.end().await;
}

/// All rows in order, one by one: a row for each cursor is held, and where there are not enough
/// connections for a cursor for each table, the database sorts all of them.
pub async fn long_streams(backend: DbBackend) {
    let world = World::bare(backend).await;
    filled(&world).await;
    for size in [1, 2, 4] {
        let db = three_tails(&world, size).await;
        let query = entry::Entity::find()
            .order_by_desc(entry::Column::K)
            .order_by_asc(entry::Column::Id);
        let mut stream = query.clone().stream(&db).await.unwrap();
        let mut last = (i64::MAX, i64::MIN);
        let mut count = 0;
        while let Some(row) = stream.try_next().await.unwrap() {
            let key = (row.k, row.id);
            assert!(key.0 < last.0 || (key.0 == last.0 && key.1 > last.1));
            (last, count) = (key, count + 1);
        }
        drop(stream);
        assert_eq!(count, ROWS);
        let status = status(&db);
        // MariaDB's unions have other types than the tables.
        let is_flat = backend != DbBackend::MySql;
        assert!(
            status.most_rows <= 3 || !(is_flat || size == 4),
            "{status:?}"
        );
        assert!(status.most_in_use <= size as usize, "{status:?}");
        // In a transaction as well.
        let transaction = db.begin().await.unwrap();
        let rows = query.stream(&transaction).await.unwrap();
        assert_eq!(
            rows.try_collect::<Vec<_>>().await.unwrap().len(),
            ROWS as usize
        );
        transaction.commit().await.unwrap();
        assert!(self::status(&db).most_rows <= 3 || !is_flat, "{status:?}");
        db.close().await.unwrap();
    }
    world.end().await;
}
