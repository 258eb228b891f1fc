//! The same rows in a plain database, in four tables of one data source, and in two tables of each
//! of two data sources.

use std::sync::{Arc, Mutex};

use sea_orm::sea_query::{Alias, DeleteStatement, TableCreateStatement, TableDropStatement};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, EntityTrait,
    IntoActiveModel, Schema,
};
use sharding_sea_orm::{EntityRules, Modulo, ShardingBuilder, ShardingConnection, rule};

use super::Bench;
use super::entities::{
    broadcasts, children, i, j, o, other_children, p, parents, rows, s, singles, t,
};
use crate::world::Databases;

/// The databases of a test.
#[derive(Debug)]
pub struct Peers {
    /// The plain database, whose answers are right.
    pub oracle: DatabaseConnection,
    /// One data source.
    pub one: ShardingConnection,
    /// Two data sources, `a` and `b`.
    pub two: ShardingConnection,
    /// The database system.
    pub backend: DbBackend,
    pub(super) faults: Arc<Mutex<Vec<String>>>,
    tables: Vec<(DatabaseConnection, String)>,
    databases: Databases<4>,
}

/// How many data sources there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One, named `a`.
    One,
    /// Two, named `a` and `b`.
    Two,
}

/// What the text columns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Ordered by bytes.
    Bytes,
    /// Of a collation that takes `a` for `A`.
    NoCase,
    /// Of a collation that is not the order of bytes: of a language where the system has them, and
    /// without trailing spaces on SQLite.
    Language,
    /// `CHAR(12)`.
    Padded,
}

impl Text {
    /// All that differ from the order of bytes.
    pub const LOOSE: [Self; 3] = [Self::NoCase, Self::Language, Self::Padded];

    /// Whether several data sources answer orders and groups of it.
    pub fn is_ranked(self, backend: DbBackend) -> bool {
        // PostgreSQL's `char` takes trailing spaces away when it is compared.
        self != Self::Padded || backend != DbBackend::Postgres
    }

    fn definition(self, backend: DbBackend) -> &'static str {
        match (self, backend) {
            (Self::Bytes, DbBackend::Postgres) => r#"varchar COLLATE "C""#,
            (Self::Bytes, DbBackend::MySql) => "varchar(255) COLLATE utf8mb4_bin",
            (Self::Bytes, _) => "varchar",
            (Self::NoCase, DbBackend::Postgres) => "varchar COLLATE no_case",
            (Self::NoCase, DbBackend::MySql) => "varchar(255) COLLATE utf8mb4_general_ci",
            (Self::NoCase, _) => "varchar COLLATE NOCASE",
            (Self::Language, DbBackend::Postgres) => r#"varchar COLLATE "en-x-icu""#,
            (Self::Language, DbBackend::MySql) => "varchar(255) COLLATE utf8mb4_unicode_ci",
            (Self::Language, _) => "varchar COLLATE RTRIM",
            (Self::Padded, DbBackend::MySql) => "char(12) COLLATE utf8mb4_bin",
            (Self::Padded, _) => "char(12)",
        }
    }
}

/// An entity's table, for [`Bench::of`].
pub fn table<E: EntityTrait + Default>(backend: DbBackend) -> (String, TableCreateStatement) {
    let entity = E::default();
    let create = Schema::new(backend).create_table_from_entity(entity);
    (entity.table_name().to_owned(), create)
}

/// The rules of the fixture: the key modulo four, of which the even ones are in `a`.
pub fn by_key<E: EntityTrait>(key: E::Column, layout: Layout) -> EntityRules<E> {
    let rules = EntityRules::<E>::new().table(rule::<i64, _>(key, Modulo::new(4)));
    match layout {
        Layout::One => rules,
        Layout::Two => rules.tails("a", ["0", "2"]).tails("b", ["1", "3"]),
    }
}

/// The fixture's declarations.
pub fn rules(builder: ShardingBuilder, layout: Layout) -> ShardingBuilder {
    builder
        .table(by_key::<t::Entity>(t::Column::Id, layout))
        .table(by_key::<o::Entity>(o::Column::Id, layout))
        .table(by_key::<i::Entity>(i::Column::Oid, layout))
        .table(by_key::<j::Entity>(j::Column::Oid, layout))
        .single::<s::Entity>("a")
        .broadcast::<p::Entity>()
}

impl Bench {
    /// The table `t` with these rows.
    pub async fn with(&self, text: Text, rows: Vec<t::Model>) -> Peers {
        let tables = [table::<t::Entity>(self.backend)];
        let rules = |builder: ShardingBuilder, layout| {
            builder.table(by_key::<t::Entity>(t::Column::Id, layout))
        };
        let peers = self.of(text, &tables, rules).await;
        peers.fill::<t::Entity>(rows).await;
        peers
    }

    /// All tables of the fixture, with text ordered by bytes and the usual rows. The cases of a
    /// file share it, so none may write to it.
    pub async fn joined(&self) -> &Peers {
        let fill = async || {
            let tables = [
                table::<t::Entity>(self.backend),
                table::<o::Entity>(self.backend),
                table::<i::Entity>(self.backend),
                table::<j::Entity>(self.backend),
                table::<s::Entity>(self.backend),
                table::<p::Entity>(self.backend),
            ];
            let peers = self.of(Text::Bytes, &tables, rules).await;
            peers.fill::<t::Entity>(rows()).await;
            peers.fill::<o::Entity>(parents()).await;
            peers.fill::<i::Entity>(children()).await;
            peers.fill::<j::Entity>(other_children()).await;
            peers.fill::<s::Entity>(singles()).await;
            peers.fill_everywhere::<p::Entity>(broadcasts()).await;
            peers
        };
        self.keep(fill).await
    }

    /// These tables, empty, under these rules. Tables that the rules do not declare are in the
    /// default data source.
    pub async fn of(
        &self,
        text: Text,
        tables: &[(String, TableCreateStatement)],
        rules: impl Fn(ShardingBuilder, Layout) -> ShardingBuilder,
    ) -> Peers {
        let databases = self.databases().await;
        let [oracle, one, a, b] = &databases.urls;
        let builder = ShardingConnection::builder;
        let single = builder().source("a", options(one, 4));
        let several = builder()
            .source("a", options(a, 4))
            .source("b", options(b, 4));
        let mut peers = Peers {
            oracle: Database::connect(options(oracle, 1)).await.unwrap(),
            one: rules(single, Layout::One).connect().await.unwrap(),
            two: rules(several, Layout::Two).connect().await.unwrap(),
            backend: self.backend,
            faults: self.faults.clone(),
            tables: Vec::new(),
            databases,
        };
        for (name, create) in tables {
            define(&peers.oracle, text, create).await;
            peers.tables.push((peers.oracle.clone(), name.clone()));
        }
        for db in [&peers.one, &peers.two] {
            peers.tables.extend(create(db, text, tables).await);
        }
        peers
    }
}

impl Peers {
    /// The URLs of the two data sources.
    pub fn urls(&self) -> [&str; 2] {
        let [_, _, a, b] = &self.databases.urls;
        [a, b]
    }

    /// Inserts the same rows everywhere.
    pub async fn fill<E>(&self, rows: Vec<E::Model>)
    where
        E: EntityTrait,
        E::ActiveModel: Send,
        E::Model: IntoActiveModel<E::ActiveModel>,
    {
        insert::<E>(&self.oracle, rows.clone()).await;
        insert::<E>(&self.one, rows.clone()).await;
        // Rows of one statement are of one data source.
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for row in rows {
            let statement = E::insert(row.clone().into_active_model());
            let nodes = self.two.explain(&statement).unwrap().nodes;
            match nodes[0].source.as_str() {
                "a" => a.push(row),
                _ => b.push(row),
            }
        }
        insert::<E>(&self.two, a).await;
        insert::<E>(&self.two, b).await;
    }

    /// Inserts the same rows everywhere, and into every data source.
    pub async fn fill_everywhere<E>(&self, rows: Vec<E::Model>)
    where
        E: EntityTrait,
        E::ActiveModel: Send,
        E::Model: IntoActiveModel<E::ActiveModel>,
    {
        insert::<E>(&self.oracle, rows.clone()).await;
        insert::<E>(&self.one, rows.clone()).await;
        for source in ["a", "b"] {
            insert::<E>(&self.two.source(source).unwrap(), rows.clone()).await;
        }
    }

    /// Deletes all rows of a table, everywhere.
    pub async fn clear<E: EntityTrait + Default>(&self) {
        let entity = E::default();
        let name = entity.table_name();
        for (db, table) in &self.tables {
            let tail = table.strip_prefix(name);
            if tail.is_some_and(|tail| tail.is_empty() || tail.starts_with('_')) {
                let mut delete = DeleteStatement::new();
                delete.from_table(Alias::new(table));
                db.execute(&delete).await.unwrap();
            }
        }
    }

    /// Drops the tables and hands the databases on.
    pub async fn end(self) {
        for (db, table) in &self.tables {
            let mut drop = TableDropStatement::new();
            drop.table(Alias::new(table)).if_exists();
            db.execute(&drop).await.unwrap();
        }
        // SQLite's pool waits for the clones.
        drop(self.tables);
        self.oracle.close().await.unwrap();
        self.one.close().await.unwrap();
        self.two.close().await.unwrap();
        Bench::give_back(self.databases);
    }
}

/// Options of a pool of this size.
pub fn options(url: &str, size: u32) -> ConnectOptions {
    let mut options = ConnectOptions::new(url);
    options.max_connections(size).sqlx_logging(false);
    options
}

/// Creates the tables, and tells what they are and where.
async fn create(
    db: &ShardingConnection,
    text: Text,
    tables: &[(String, TableCreateStatement)],
) -> Vec<(DatabaseConnection, String)> {
    let topology = db.topology();
    let mut created = Vec::new();
    for (name, create) in tables {
        let sharded = topology
            .tables()
            .iter()
            .find(|table| *table.name().to_string() == **name);
        if let Some(table) = sharded {
            for node in table.positions().map(|position| table.node(position)) {
                let mut create = create.clone();
                create.table(Alias::new(&*node.table));
                let source = db.source(topology.source(node.source)).unwrap();
                define(&source, text, &create).await;
                created.push((source, node.table.to_string()));
            }
        } else {
            let broadcast = topology.plain().any(|(table, home)| {
                *table.to_string() == **name && home == sharding_sea_orm::Home::Broadcast
            });
            let sources = topology
                .sources()
                .take(if broadcast { usize::MAX } else { 1 });
            for (_, source) in sources {
                let source = db.source(source).unwrap();
                define(&source, text, create).await;
                created.push((source, name.clone()));
            }
        }
    }
    db.refresh().await.unwrap();
    created
}

/// The name of a column type for text of [`Text::NoCase`], whatever other text is.
pub const LOOSE: &str = "loose_text";

async fn define(db: &DatabaseConnection, text: Text, create: &TableCreateStatement) {
    let backend = db.get_database_backend();
    let varchar = if backend == DbBackend::MySql {
        "varchar(255)"
    } else {
        "varchar"
    };
    let sql = backend
        .build(create)
        .sql
        .replace(varchar, text.definition(backend))
        .replace(LOOSE, Text::NoCase.definition(backend));
    if sql.contains("no_case") {
        let collation = "CREATE COLLATION IF NOT EXISTS no_case \
                         (provider = icu, locale = 'und-u-ks-level2', deterministic = false)";
        db.execute_unprepared(collation).await.unwrap();
    }
    if backend == DbBackend::Postgres && sql.contains(" mood") {
        let mood = "DO $$ BEGIN CREATE TYPE mood AS ENUM ('low', 'its', 'High', 'better'); \
                    EXCEPTION WHEN duplicate_object THEN NULL; END $$";
        db.execute_unprepared(mood).await.unwrap();
    }
    db.execute_unprepared(&sql).await.unwrap();
}

async fn insert<E>(db: &impl ConnectionTrait, rows: Vec<E::Model>)
where
    E: EntityTrait,
    E::ActiveModel: Send,
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    for rows in rows.chunks(500) {
        let rows = rows.iter().cloned().map(IntoActiveModel::into_active_model);
        E::insert_many(rows)
            .exec_without_returning(db)
            .await
            .unwrap();
    }
}
