//! What wide reads cost: pages near and far, counts, and scans in order, beside what the database
//! itself does with a union of the same tables; and how much memory they hold.
//!
//! `cargo bench -p sharding-sea-orm --bench scans --all-features -- [sqlite|postgres|mysql] [rows]`
//!
//! Servers are those of the tests: `SHARDING_TEST_POSTGRES` and `SHARDING_TEST_MYSQL`.

#![allow(missing_docs, reason = "the fields of the entities name themselves")]
#![allow(
    unreachable_pub,
    reason = "SeaORM's derives want entities to be public"
)]
#![allow(
    clippy::print_stdout,
    reason = "the figures are what the benchmark is for"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark that fails has nothing to tell"
)]

use std::env;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use peak_alloc::PeakAlloc;
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, EntityTrait,
    PaginatorTrait, QueryOrder, QuerySelect, Statement, StreamTrait,
};
use sharding_sea_orm::ShardingConnection;
use tempfile::TempDir;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

mod reading {
    use sea_orm::entity::prelude::*;
    use sharding_sea_orm::{Modulo, Sharded};

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Sharded)]
    #[sea_orm(table_name = "reading")]
    #[sharded(table(key = id, by = Modulo::new(8)))]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i64,
        #[sea_orm(indexed)]
        pub at: i64,
        pub note: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

const TAILS: u64 = 8;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|own| own != "--bench").collect();
    let system = arguments.first().map_or("sqlite", String::as_str);
    let rows = arguments
        .get(1)
        .map_or(400_000, |rows| rows.parse().unwrap());
    let directory = TempDir::new().unwrap();
    let database = format!("sharding_scans_{}", std::process::id());
    let server = |variable: &str, default: &str| env::var(variable).unwrap_or(default.to_owned());
    let (server, admin) = match system {
        "postgres" => {
            let postgres = "postgres://postgres@127.0.0.1:5432";
            (server("SHARDING_TEST_POSTGRES", postgres), "postgres")
        }
        "mysql" => {
            let mysql = "mysql://root@127.0.0.1:3306";
            (server("SHARDING_TEST_MYSQL", mysql), "mysql")
        }
        _ => {
            let file = directory.path().join("readings");
            let url = format!("sqlite://{}?mode=rwc", file.display());
            return measure(&url, rows).await;
        }
    };
    let admin = connect(&format!("{server}/{admin}")).await;
    let create = format!("CREATE DATABASE {database}");
    admin.execute_unprepared(&create).await.unwrap();
    measure(&format!("{server}/{database}"), rows).await;
    let drop = format!("DROP DATABASE {database}");
    admin.execute_unprepared(&drop).await.unwrap();
}

fn options(url: &str) -> ConnectOptions {
    let mut options = ConnectOptions::new(url);
    options.max_connections(10).sqlx_logging(false);
    options
}

async fn connect(url: &str) -> DatabaseConnection {
    Database::connect(options(url)).await.unwrap()
}

async fn measure(url: &str, rows: u64) {
    let db = ShardingConnection::builder()
        .source("ds0", options(url))
        .max_query_connections(TAILS as usize)
        .entity::<reading::Entity>()
        .connect()
        .await
        .unwrap();
    db.create_tables().await.unwrap();
    let plain = db.source("ds0").unwrap();
    for tail in 0..TAILS {
        fill(&plain, tail, rows / TAILS).await;
    }
    println!(
        "{:?}, {rows} rows in {TAILS} tables",
        db.get_database_backend()
    );
    pages(&db, &plain, rows).await;
    counts(&db, &plain).await;
    scans(&db, &plain, rows).await;
    drop(plain);
    db.close().await.unwrap();
}

/// So many rows, in an order that is none of the tails'.
async fn fill(db: &DatabaseConnection, tail: u64, rows: u64) {
    let digit = "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 \
                 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 \
                 UNION ALL SELECT 8 UNION ALL SELECT 9)";
    let note = match db.get_database_backend() {
        DbBackend::MySql => "CONCAT('the note of reading ', n)",
        _ => "'the note of reading ' || n",
    };
    let fill = format!(
        "INSERT INTO reading_{tail} (id, at, note) \
         SELECT n * {TAILS} + {tail}, (n * 7919 + {tail} * 104729) % 1000003, {note} FROM \
         (SELECT a.d + b.d * 10 + c.d * 100 + e.d * 1000 + f.d * 10000 + g.d * 100000 AS n \
         FROM {digit} AS a, {digit} AS b, {digit} AS c, {digit} AS e, {digit} AS f, {digit} AS g) \
         AS t WHERE n < {rows}"
    );
    assert!(rows <= 1_000_000, "at most 8 million rows are made");
    db.execute_unprepared(&fill).await.unwrap();
    let analyze = match db.get_database_backend() {
        DbBackend::MySql => format!("ANALYZE TABLE reading_{tail}"),
        _ => format!("ANALYZE reading_{tail}"),
    };
    db.execute_unprepared(&analyze).await.unwrap();
}

fn union(columns: &str) -> String {
    let parts = (0..TAILS).map(|tail| format!("SELECT {columns} FROM reading_{tail}"));
    parts.collect::<Vec<_>>().join(" UNION ALL ")
}

/// How long something takes, and how much it holds at most beyond what was held before.
async fn watched<T>(run: impl Future<Output = T>) -> (T, Duration, usize) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let begin = Instant::now();
    let found = run.await;
    let taken = begin.elapsed();
    (found, taken, MEMORY.peak_usage().saturating_sub(before))
}

fn show(what: &str, sharded: (Duration, usize), union: (Duration, usize)) {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{what:<28}{:>10.2} ms{:>9} KiB{:>10.2} ms{:>9} KiB{:>8.2}",
        milliseconds(sharded.0),
        sharded.1 / 1024,
        milliseconds(union.0),
        union.1 / 1024,
        sharded.0.as_secs_f64() / union.0.as_secs_f64(),
    );
}

async fn pages(db: &ShardingConnection, plain: &DatabaseConnection, rows: u64) {
    println!("{:<28}{:>25}{:>25}{:>8}", "", "sharded", "union", "ratio");
    const SIZE: u64 = 20;
    let total = rows / SIZE;
    for (name, number) in [("first", 0), ("middle", total / 2), ("last", total - 1)] {
        for (order, sql) in [(reading::Column::Id, "id"), (reading::Column::At, "at, id")] {
            let offset = number * SIZE;
            let page = || {
                reading::Entity::find()
                    .order_by_asc(order)
                    .order_by_asc(reading::Column::Id)
                    .limit(SIZE)
                    .offset(offset)
                    .all(db)
            };
            let sql_text = format!(
                "SELECT * FROM ({}) AS t ORDER BY {sql} LIMIT {SIZE} OFFSET {offset}",
                union("id, at, note")
            );
            let statement = || Statement::from_string(plain.get_database_backend(), &sql_text);
            page().await.unwrap();
            let (found, time, memory) = watched(page()).await;
            let (expected, plain_time, plain_memory) =
                watched(plain.query_all_raw(statement())).await;
            let ids: Vec<i64> = found.unwrap().iter().map(|row| row.id).collect();
            let expected = expected.unwrap();
            let expected: Result<Vec<i64>, _> =
                expected.iter().map(|row| row.try_get("", "id")).collect();
            assert_eq!(ids, expected.unwrap());
            let what = format!("{name} page, ORDER BY {sql}");
            show(&what, (time, memory), (plain_time, plain_memory));
        }
    }
}

async fn counts(db: &ShardingConnection, plain: &DatabaseConnection) {
    let sql = format!("SELECT COUNT(*) FROM ({}) AS t", union("id"));
    let statement = || Statement::from_string(plain.get_database_backend(), &sql);
    let count = || reading::Entity::find().count(db);
    count().await.unwrap();
    let (found, time, memory) = watched(count()).await;
    let (expected, plain_time, plain_memory) = watched(plain.query_one_raw(statement())).await;
    let expected: i64 = expected.unwrap().unwrap().try_get_by_index(0).unwrap();
    assert_eq!(found.unwrap(), expected as u64);
    show("count()", (time, memory), (plain_time, plain_memory));
}

async fn scans(db: &ShardingConnection, plain: &DatabaseConnection, rows: u64) {
    for sql in ["id", "at, id"] {
        let sharded = async {
            let order = match sql {
                "id" => reading::Column::Id,
                _ => reading::Column::At,
            };
            let query = reading::Entity::find()
                .order_by_asc(order)
                .order_by_asc(reading::Column::Id);
            let mut stream = query.stream(db).await.unwrap();
            let (mut count, mut last) = (0, (i64::MIN, i64::MIN));
            while let Some(row) = stream.try_next().await.unwrap() {
                let key = match order {
                    reading::Column::Id => (row.id, row.id),
                    _ => (row.at, row.id),
                };
                assert!(last < key, "out of order");
                (count, last) = (count + 1, key);
            }
            count
        };
        let (count, time, memory) = watched(sharded).await;
        assert_eq!(count, rows / TAILS * TAILS);
        let text = format!(
            "SELECT * FROM ({}) AS t ORDER BY {sql}",
            union("id, at, note")
        );
        let of_union = async {
            let statement = Statement::from_string(plain.get_database_backend(), text);
            let mut stream = plain.stream_raw(statement).await.unwrap();
            let mut count = 0;
            while let Some(row) = stream.try_next().await.unwrap() {
                // As the entity reads it.
                let row: reading::Model =
                    sea_orm::FromQueryResult::from_query_result(&row, "").unwrap();
                count += u64::from(row.id >= 0);
            }
            count
        };
        let (expected, plain_time, plain_memory) = watched(of_union).await;
        assert_eq!(count, expected);
        let what = format!("scan, ORDER BY {sql}");
        show(&what, (time, memory), (plain_time, plain_memory));
    }
}
