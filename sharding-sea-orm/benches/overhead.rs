//! What sharding costs a statement that reaches few nodes.
//!
//! First whole calls, sharded beside plain SeaORM on the physical table; then the planning alone.
//! With arguments for divan, such as a filter, only what they ask for is run.

#![allow(missing_docs, reason = "the fields of the entities name themselves")]
#![allow(
    unreachable_pub,
    reason = "SeaORM's derives want entities to be public"
)]
#![allow(
    clippy::print_stdout,
    reason = "the table is what the benchmark is for"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark that fails has nothing to tell"
)]

use std::env;
use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use divan::{AllocProfiler, Bencher};
use sea_orm::sea_query::SelectStatement;
use sea_orm::{
    ColumnTrait, ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend,
    EntityTrait, IntoActiveModel, PrimaryKeyTrait, QueryFilter, QueryTrait, Select,
};
use sharding_sea_orm::{ShardedEntity, ShardingConnection};
use tempfile::TempDir;
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    if env::args().skip(1).eq(["--bench"]) {
        let runtime = Runtime::new().unwrap();
        // As in a server: on a worker thread, not on the one that waits for it.
        println!("{}", runtime.block_on(runtime.spawn(compare())).unwrap());
    }
    divan::main();
}

macro_rules! account {
    ($name:ident, $table:literal, [$($derive:ident)?], $(#[$attribute:meta])*) => {
        mod $name {
            use sea_orm::entity::prelude::*;
            #[allow(unused_imports, reason = "a physical table is not sharded")]
            use sharding_sea_orm::{HashModulo, Monthly, Sharded};

            #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel $(, $derive)?)]
            #[sea_orm(table_name = $table)]
            $(#[$attribute])*
            pub struct Model {
                #[sea_orm(primary_key, auto_increment = false)]
                pub id: i64,
                pub owner: String,
                pub currency: String,
                pub balance: i64,
                pub note: Option<String>,
                pub opened: DateTimeUtc,
            }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub enum Relation {}

            impl ActiveModelBehavior for ActiveModel {}
        }
    };
}

account!(sharded, "account", [Sharded], #[sharded(table(key = id, by = HashModulo::new(8)))]);
account!(physical, "account_3", [],);

account!(of_10, "account", [Sharded], #[sharded(table(key = id, by = HashModulo::new(10)))]);
account!(of_1_000, "account", [Sharded], #[sharded(table(key = id, by = HashModulo::new(1_000)))]);
account!(of_10_000, "account", [Sharded], #[sharded(table(key = id, by = HashModulo::new(10_000)))]);
account!(
    monthly, "account", [Sharded],
    #[sharded(table(key = opened, by = Monthly::starting(2010, 1).through(2019, 12)))]
);
account!(month, "account_201301", [],);

/// How long each comparison takes, after a tenth of that to warm up.
const MEASURING: Duration = Duration::from_secs(3);

/// How many calls are timed at once: few, so that a disturbance meets both sides alike.
const CALLS: u32 = 50;

async fn compare() -> String {
    let mut table = format!(
        "{:<12}{:<16}{:>12}{:>12}{:>8}{:>17}{:>8}\n",
        "", "", "sharded", "plain", "ratio", "quartiles", "pairs"
    );
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("accounts");
    let url = format!("sqlite://{}?mode=rwc", file.display());
    compare_on("SQLite", url, &mut table).await;

    let server = env::var("SHARDING_TEST_POSTGRES")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432".to_owned());
    let admin = match Database::connect(options(format!("{server}/postgres"))).await {
        Ok(admin) => admin,
        Err(error) => {
            panic!("the benchmark needs the server {server}, which does not answer: {error}")
        }
    };
    let database = format!("sharding_bench_{}", std::process::id());
    let create = format!("CREATE DATABASE {database}");
    admin.execute_unprepared(&create).await.unwrap();
    compare_on("PostgreSQL", format!("{server}/{database}"), &mut table).await;
    let drop = format!("DROP DATABASE {database}");
    admin.execute_unprepared(&drop).await.unwrap();
    table
}

fn options(url: String) -> ConnectOptions {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    options
}

async fn compare_on(system: &str, url: String, table: &mut String) {
    let db = ShardingConnection::builder()
        .source("ds0", options(url))
        .entity::<sharded::Entity>()
        .connect()
        .await
        .unwrap();
    db.create_tables().await.unwrap();
    let rows = (0..1_000).map(|id| account(id).into_active_model());
    sharded::Entity::insert_many(rows)
        .exec_without_returning(&db)
        .await
        .unwrap();

    let by_id = Pair {
        sharded: |id| sharded::Entity::find_by_id(id),
        plain: |id| physical::Entity::find_by_id(id),
    };
    by_id.compare(&db, [system, "find_by_id"], table).await;
    let by_two = Pair {
        sharded: |id| {
            sharded::Entity::find()
                .filter(sharded::Column::Id.eq(id))
                .filter(sharded::Column::Currency.eq("EUR"))
        },
        plain: |id| {
            physical::Entity::find()
                .filter(physical::Column::Id.eq(id))
                .filter(physical::Column::Currency.eq("EUR"))
        },
    };
    by_two.compare(&db, [system, "two predicates"], table).await;
    db.close().await.unwrap();
}

fn account(id: i64) -> sharded::Model {
    sharded::Model {
        id,
        owner: format!("Owner of account {id}"),
        currency: "EUR".to_owned(),
        balance: id * 100,
        note: (id % 3 == 0).then(|| "checked".to_owned()),
        opened: "2013-01-31T12:00:00Z".parse().unwrap(),
    }
}

/// The same query twice: of the sharded entity, and of the table that holds its row.
struct Pair {
    sharded: fn(i64) -> Select<sharded::Entity>,
    plain: fn(i64) -> Select<physical::Entity>,
}

impl Pair {
    async fn compare(&self, db: &ShardingConnection, title: [&str; 2], table: &mut String) {
        let plain = &db.source("ds0").unwrap();
        let is_there = |id: &i64| reaches::<physical::Entity>(db, (self.sharded)(*id).as_query());
        let id = (0..1_000).find(is_there).unwrap();
        let found = (self.sharded)(id).one(db).await.unwrap();
        assert_eq!(found, Some(account(id)));
        assert_eq!((self.plain)(id).one(plain).await.unwrap().unwrap().id, id);

        self.time(id, db, plain, MEASURING / 10).await;
        let pairs = self.time(id, db, plain, MEASURING).await;
        let [_, sharded, _] = quartiles(pairs.iter().map(|pair| pair.0));
        let [_, plain, _] = quartiles(pairs.iter().map(|pair| pair.1));
        let [low, ratio, high] = quartiles(pairs.iter().map(|pair| pair.0 / pair.1));
        let [system, query] = title;
        writeln!(
            table,
            "{system:<12}{query:<16}{sharded:>9.0} ns{plain:>9.0} ns{ratio:>8.3}{:>17}{:>8}",
            format!("{low:.3} to {high:.3}"),
            pairs.len()
        )
        .unwrap();
    }

    /// Nanoseconds for each call, sharded and plain, side by side.
    async fn time(
        &self,
        id: i64,
        db: &ShardingConnection,
        plain: &DatabaseConnection,
        how_long: Duration,
    ) -> Vec<(f64, f64)> {
        let begin = Instant::now();
        let mut pairs = Vec::new();
        while begin.elapsed() < how_long {
            // Whatever grows with time, or is left behind by the other side, cancels out.
            let first = batch(db, self.sharded, id).await;
            pairs.push((first, batch(plain, self.plain, id).await));
            let first = batch(plain, self.plain, id).await;
            pairs.push((batch(db, self.sharded, id).await, first));
        }
        pairs
    }
}

async fn batch<E, C>(db: &C, query: fn(i64) -> Select<E>, id: i64) -> f64
where
    E: EntityTrait,
    C: ConnectionTrait,
{
    let begin = Instant::now();
    for _ in 0..CALLS {
        let row = query(black_box(id)).one(db).await.unwrap();
        black_box(row);
    }
    begin.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}

/// Whether the statement reaches this physical table and no other.
fn reaches<E: EntityTrait>(db: &ShardingConnection, select: &SelectStatement) -> bool {
    let nodes = db.explain(select).unwrap().nodes;
    nodes.len() == 1 && nodes[0].table == E::default().table_name()
}

/// Of one call each, so that what a call allocates at most is not divided by anything.
const SAMPLES: u32 = 10_000;

const TAILS: [u32; 3] = [10, 1_000, 10_000];

/// Visit, route, plan, rewrite and render a statement for its one node.
#[divan::bench(args = TAILS, sample_count = SAMPLES, sample_size = 1)]
fn plan_find_by_id(bencher: Bencher<'_, '_>, tails: u32) {
    let (db, select) = match tails {
        10 => find_by_id::<of_10::Entity>(),
        1_000 => find_by_id::<of_1_000::Entity>(),
        _ => find_by_id::<of_10_000::Entity>(),
    };
    bencher.bench(|| db.plan(black_box(&select)).unwrap());
}

/// Render the same statement for the physical table.
#[divan::bench(sample_count = SAMPLES, sample_size = 1)]
fn plain_find_by_id(bencher: Bencher<'_, '_>) {
    let select = physical::Entity::find_by_id(ID).into_query();
    bencher.bench(|| render(black_box(&select)));
}

/// The same for a range of three months out of 120.
#[divan::bench(sample_count = SAMPLES, sample_size = 1)]
fn plan_3_of_120_months(bencher: Bencher<'_, '_>) {
    let db = unconnected::<monthly::Entity>();
    let select = range::<monthly::Entity>(monthly::Column::Opened);
    assert_eq!(db.plan(&select).unwrap(), 3);
    bencher.bench(|| db.plan(black_box(&select)).unwrap());
}

/// Render that statement for one physical table, three times.
#[divan::bench(sample_count = SAMPLES, sample_size = 1)]
fn plain_3_months(bencher: Bencher<'_, '_>) {
    let select = range::<month::Entity>(month::Column::Opened);
    bencher.bench(|| (0..3).map(|_| render(black_box(&select))).sum::<usize>());
}

const ID: i64 = 7;

fn find_by_id<E>() -> (ShardingConnection, SelectStatement)
where
    E: ShardedEntity,
    <E::PrimaryKey as PrimaryKeyTrait>::ValueType: From<i64>,
{
    let (db, select) = (unconnected::<E>(), E::find_by_id(ID).into_query());
    assert_eq!(db.plan(&select).unwrap(), 1);
    (db, select)
}

fn range<E: EntityTrait>(opened: E::Column) -> SelectStatement {
    let time = |text: &str| text.parse::<sea_orm::prelude::DateTimeUtc>().unwrap();
    E::find()
        .filter(opened.gte(time("2013-01-15T00:00:00Z")))
        .filter(opened.lt(time("2013-03-15T00:00:00Z")))
        .into_query()
}

/// A connection that outlives its runtime: planning asks no database.
fn unconnected<E: ShardedEntity>() -> ShardingConnection {
    let db = ShardingConnection::builder()
        .source("ds0", options("sqlite::memory:".to_owned()))
        .entity::<E>()
        .connect();
    Runtime::new().unwrap().block_on(db).unwrap()
}

/// The statement is dropped here, as a plan is, and not by divan after the measurement.
fn render(select: &SelectStatement) -> usize {
    DbBackend::Sqlite.build(select).sql.len()
}
