//! Databases of a test's own, filled with rows.

use std::sync::atomic::{AtomicU32, Ordering};
use std::{array, env};

use chrono::{DateTime, Days, TimeDelta, Utc};
use futures_util::future::try_join_all;
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, EntityTrait,
    IntoActiveModel, Schema, Set,
};
use sharding_sea_orm::{ShardingBuilder, ShardingConnection};
use tempfile::TempDir;

use crate::entity::{Event, hashed, monthly, place, spread, whole};

/// Two data sources, connected, and what must live as long as they do.
#[derive(Debug)]
pub struct World {
    /// The sharded connection; the unsharded oracle is in its default source.
    pub db: ShardingConnection,
    /// The database system.
    pub backend: DbBackend,
    databases: Databases<2>,
}

/// Empty databases of a test's own.
#[derive(Debug)]
pub struct Databases<const N: usize> {
    /// Their URLs.
    pub urls: [String; N],
    backend: DbBackend,
    names: [String; N],
    _directory: TempDir,
}

/// Which text order the tables of MySQL have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextColumns {
    /// Binary, as on the other systems.
    Binary,
    /// The server's default, which ignores case and accents.
    Default,
}

impl World {
    /// Empty databases with all tables.
    pub async fn empty(backend: DbBackend) -> Self {
        Self::with_text(backend, TextColumns::Binary).await
    }

    /// Databases with all tables, the same rows in each.
    pub async fn filled(backend: DbBackend) -> Self {
        let world = Self::empty(backend).await;
        world.fill(events()).await;
        world
    }

    /// Empty databases with all tables and these text columns.
    pub async fn with_text(backend: DbBackend, text: TextColumns) -> Self {
        let world = Self::bare(backend).await;
        let db = &world.db;
        let schema = Schema::new(backend);
        db.execute(&schema.create_table_from_entity(whole::Entity))
            .await
            .unwrap();
        db.execute(&schema.create_table_from_entity(place::Entity))
            .await
            .unwrap();
        db.create_tables().await.unwrap();
        if backend == DbBackend::MySql && text == TextColumns::Binary {
            world.make_text_binary().await;
        }
        world
    }

    /// Databases without any table.
    pub async fn bare(backend: DbBackend) -> Self {
        let databases = Databases::create(backend).await;
        let db = builder(&databases.urls).connect().await.unwrap();
        Self {
            db,
            backend,
            databases,
        }
    }

    /// The URLs of the data sources `a` and `b`.
    pub fn urls(&self) -> &[String; 2] {
        &self.databases.urls
    }

    /// Inserts the rows into every table.
    pub async fn fill(&self, events: Vec<Event>) {
        let places = (1..=3).map(|id| place::ActiveModel {
            id: Set(id),
            name: Set(["Hall", "attic", "Yard"][id as usize - 1].to_owned()),
        });
        place::Entity::insert_many(places)
            .exec(&self.db)
            .await
            .unwrap();
        macro_rules! insert {
            ($($name:ident),+) => {
                $(
                    for rows in events.chunks(500) {
                        let rows = rows.iter().cloned().map(|event| {
                            $name::Model::from(event).into_active_model()
                        });
                        $name::Entity::insert_many(rows)
                            .exec_without_returning(&self.db)
                            .await
                            .unwrap();
                    }
                )+
            };
        }
        insert!(whole, monthly, hashed);
        // A row at a time is of one data source.
        for parity in 0..2 {
            let half: Vec<_> = events
                .iter()
                .filter(|event| event.id.rem_euclid(2) == parity)
                .collect();
            for rows in half.chunks(500) {
                let rows = rows
                    .iter()
                    .map(|event| spread::Model::from((*event).clone()).into_active_model());
                spread::Entity::insert_many(rows)
                    .exec_without_returning(&self.db)
                    .await
                    .unwrap();
            }
        }
    }

    async fn make_text_binary(&self) {
        let a = self.db.source("a").unwrap();
        for table in ["event_whole", "place"] {
            a.execute_unprepared(&binary(table)).await.unwrap();
        }
        make_text_binary(&self.db).await;
    }

    /// Closes the connections and drops the databases. A test that fails leaves them behind to be
    /// looked at.
    pub async fn end(self) {
        self.db.close().await.unwrap();
        self.databases.drop().await;
    }
}

impl<const N: usize> Databases<N> {
    /// Creates them.
    pub async fn create(backend: DbBackend) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);

        let directory = TempDir::new().unwrap();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let base = format!("sharding_test_{}_{number}", std::process::id());
        let names: [String; N] = array::from_fn(|at| format!("{base}_{at}"));
        let urls = match backend {
            DbBackend::Sqlite => names.clone().map(|name| {
                let path = directory.path().join(name);
                format!("sqlite://{}?mode=rwc", path.display())
            }),
            _ => {
                let server = server(backend);
                each_of(
                    &server,
                    names.iter().map(|name| format!("CREATE DATABASE {name}")),
                )
                .await;
                // Drivers keep 100 prepared statements unless told otherwise.
                names
                    .clone()
                    .map(|name| format!("{server}/{name}?statement-cache-capacity=4000"))
            }
        };
        Self {
            urls,
            backend,
            names,
            _directory: directory,
        }
    }

    /// Drops them. Nobody may be connected any more.
    pub async fn drop(self) {
        if self.backend == DbBackend::Sqlite {
            return;
        }
        let drops = self
            .names
            .iter()
            .map(|name| format!("DROP DATABASE {name}"));
        each_of(&server(self.backend), drops).await;
    }
}

/// Gives all sharded tables of MySQL or MariaDB the binary order that the other systems have.
pub async fn make_text_binary(db: &ShardingConnection) {
    let topology = db.topology();
    for table in topology.tables() {
        for position in table.positions() {
            let node = table.node(position);
            let source = db.source(topology.source(node.source)).unwrap();
            source
                .execute_unprepared(&binary(&node.table))
                .await
                .unwrap();
        }
    }
    db.refresh().await.unwrap();
}

/// The statement that gives a table of MySQL or MariaDB a binary order.
pub fn binary(table: &str) -> String {
    format!("ALTER TABLE {table} CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
}

/// A configuration of the two data sources `a` and `b` with all sharded entities.
pub fn builder(urls: &[String; 2]) -> ShardingBuilder {
    sources(urls)
        .entity::<monthly::Entity>()
        .entity::<hashed::Entity>()
        .entity::<spread::Entity>()
}

/// A configuration of the two data sources `a` and `b`.
pub fn sources(urls: &[String; 2]) -> ShardingBuilder {
    let options = |url: &String| {
        let mut options = ConnectOptions::new(url.clone());
        options.max_connections(4).sqlx_logging(false);
        options
    };
    ShardingConnection::builder()
        .source("a", options(&urls[0]))
        .source("b", options(&urls[1]))
}

/// The server for a database system, without a database. `SHARDING_TEST_POSTGRES` and
/// `SHARDING_TEST_MYSQL` name other ones than the local default.
fn server(backend: DbBackend) -> String {
    let (variable, default) = match backend {
        DbBackend::Postgres => (
            "SHARDING_TEST_POSTGRES",
            "postgres://postgres@127.0.0.1:5432",
        ),
        _ => ("SHARDING_TEST_MYSQL", "mysql://root@127.0.0.1:3306"),
    };
    env::var(variable).unwrap_or_else(|_| default.to_owned())
}

/// Runs the statements at the same time, since a server takes long for each only to write all to
/// disk.
async fn each_of(server: &str, statements: impl Iterator<Item = String>) {
    let admin = connect_to(server).await;
    let run = async |statement: String| admin.execute_unprepared(&statement).await;
    let runs: Vec<_> = statements.map(run).collect();
    try_join_all(runs).await.unwrap();
    admin.close().await.unwrap();
}

async fn connect_to(server: &str) -> DatabaseConnection {
    let url = if server.starts_with("postgres") {
        format!("{server}/postgres")
    } else {
        format!("{server}/mysql")
    };
    let mut options = ConnectOptions::new(url);
    options.max_connections(4).sqlx_logging(false);
    match Database::connect(options).await {
        Ok(connection) => connection,
        Err(error) => panic!("the suite needs the server {server}, which does not answer: {error}"),
    }
}

/// 400 rows from January to June 2013, none in April: with NULLs, duplicates, extremes, mixed case
/// and accents.
pub fn events() -> Vec<Event> {
    let mut seed = 20_130_101_u64;
    let mut random = move |below: u64| {
        // Constants of Knuth's MMIX generator.
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let kinds = [
        "a", "A", "b", "B", "Zebra", "äther", "Äther", "zebra", "", "a b", "ß", "ss",
    ];
    let start: DateTime<Utc> = "2013-01-01T00:00:00Z".parse().unwrap();
    let mut events = Vec::new();
    for id in 0..400_i64 {
        let hour = loop {
            let hour = random(181 * 24);
            let april = (90 * 24)..(120 * 24);
            if !april.contains(&hour) {
                break hour;
            }
        };
        // The edges of months are where mistakes would be.
        let at = match id {
            0 => start,
            1 => "2013-02-01T00:00:00Z".parse().unwrap(),
            2 => "2013-01-31T23:59:59Z".parse().unwrap(),
            3 => "2013-06-30T23:59:59Z".parse().unwrap(),
            _ => start + TimeDelta::hours(hour as i64),
        };
        let mut null_or = |share: u64| random(share) != 0;
        let (day, note, n, score) = (null_or(5), null_or(3), null_or(4), null_or(6));
        let (amount, data, place_id) = (null_or(4), null_or(4), null_or(3));
        events.push(Event {
            id,
            at,
            day: day.then(|| at.date_naive() + Days::new(random(3))),
            kind: kinds[random(kinds.len() as u64) as usize].to_owned(),
            note: note.then(|| kinds[random(4) as usize].repeat(random(3) as usize)),
            n: n.then(|| [i32::MIN, -1, 0, 1, 7, i32::MAX][random(6) as usize]),
            big: [-(1 << 53) - 1, -5, 0, 5, (1 << 53) + 1, 1 << 40][random(6) as usize],
            score: score.then(|| [-1.5, 0.0, 0.1, 2.5, 1e10][random(5) as usize]),
            amount: amount
                .then(|| sea_orm::prelude::Decimal::new(random(2_000_000) as i64 - 1_000_000, 4)),
            flag: random(2) == 0,
            data: data.then(|| {
                [vec![], vec![0x7f], vec![0x80], vec![0x7f, 0], vec![0xff; 3]][random(5) as usize]
                    .clone()
            }),
            uid: sea_orm::prelude::Uuid::from_u128(
                u128::from(random(1 << 30)) << 98 | u128::from(random(1 << 30)),
            ),
            place_id: place_id.then(|| random(4) as i32 + 1),
        });
    }
    events
}
