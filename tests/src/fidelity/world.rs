//! A world: one unsharded database and several shardings of the same rows.

use sea_orm::sea_query::{Alias, InsertStatement, Query};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Schema, Statement};
use serde::{Deserialize, Serialize};
use sharding_sea_orm::{ShardingConnection, ShardingError};

use super::data::{Recipe, Span, rows};
use super::databases::Databases;
use super::entity::{fact, item, owner, tag};
use super::random::Random;
use super::schema::{Row, Table};
use super::sharding::Sharding;
use super::state::Contents;
use super::text;

/// Everything that makes a world, as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldSpec {
    /// The time that the rows are from.
    pub span: Span,
    /// The collation of the text columns that rules may use as keys, and that of the others; the
    /// database's own if there is none.
    pub collations: [Option<String>; 2],
    /// Whether sums of floating point numbers are exact in every order.
    pub exact_floats: bool,
    /// The shardings.
    pub shardings: Vec<Sharding>,
    /// The rows of every table, in the tables' order.
    pub rows: Vec<Vec<Row>>,
}

/// A world, connected.
#[derive(Debug)]
pub struct World {
    /// What it was made from.
    pub spec: WorldSpec,
    /// The unsharded tables.
    pub oracle: DatabaseConnection,
    /// The sharded ones.
    pub shardings: Vec<Sharded>,
    names: Vec<String>,
}

/// One sharding of a world.
#[derive(Debug)]
pub struct Sharded {
    /// The connection under test.
    pub db: ShardingConnection,
    /// How many data sources there are.
    pub sources: usize,
    /// Every physical table with its data source and its logical table.
    pub physical: Vec<Physical>,
    /// The rows that belong into each of them.
    pub(super) placed: Vec<Vec<Row>>,
    /// What was read from each of them at first.
    pub(super) original: Contents,
}

/// A physical table.
#[derive(Clone, Debug)]
pub struct Physical {
    /// The data source.
    pub source: String,
    /// Its name there.
    pub name: String,
    /// The logical table.
    pub table: Table,
}

impl WorldSpec {
    /// A random world with these counts of nodes and data sources.
    pub fn random(
        random: &mut Random,
        backend: DbBackend,
        nodes: &[u32],
        sources: &[usize],
    ) -> Self {
        let span = random.of(&[Span::Days, Span::Months, Span::Months, Span::Years]);
        let recipe = Recipe {
            backend,
            span,
            snowflake: random.one_in(4),
            exact_floats: !random.one_in(4),
            nulls: random.of(&[0, 0, 2, 3, 6]),
            extremes: random.one_in(3),
        };
        let mut shardings = Vec::new();
        let one = sources.contains(&1);
        for &nodes in nodes {
            // One source answers most, so it gets more of the shardings.
            for &sources in sources {
                if sources as u32 <= nodes && (sources == 1 || !one || random.one_in(2)) {
                    let snowflake = recipe.snowflake;
                    shardings.push(Sharding::random(random, nodes, sources, span, snowflake));
                }
            }
        }
        // So many at once, lest worlds take longer to make than statements to run.
        while shardings.len() > 4 {
            let at = random.below(shardings.len());
            shardings.remove(at);
        }
        let collations = text::random(random, backend);
        Self {
            span,
            collations,
            exact_floats: recipe.exact_floats,
            shardings,
            rows: rows(random, &recipe),
        }
    }

    /// Whether texts can be equal without having the same bytes.
    pub fn is_loose(&self) -> bool {
        self.collations
            .iter()
            .any(|name| text::is_loose(name.as_deref()))
    }

    /// The rows of a table.
    pub fn rows_of(&self, table: Table) -> &[Row] {
        &self.rows[table as usize]
    }
}

impl World {
    /// Makes the databases of a world and fills them.
    ///
    /// # Errors
    /// A configuration that the library refuses, and errors of the databases.
    pub async fn build(spec: WorldSpec, databases: &Databases) -> Result<Self, ShardingError> {
        let mut names = vec![databases.take().await];
        let oracle = databases.connect(&names[0]).await?;
        create(&oracle).await?;
        let whole = Table::ALL.map(|table| (table.name().to_owned(), table));
        retype(&oracle, &whole).await?;
        text::alter(&oracle, &whole, &spec.collations).await?;
        let mut shardings = Vec::new();
        for sharding in &spec.shardings {
            let mut own = Vec::new();
            for _ in 0..sharding.sources {
                own.push(databases.take().await);
            }
            names.extend(own.iter().cloned());
            let opened = Sharded::open(sharding, &spec, &own, databases).await;
            match opened {
                Ok(opened) => shardings.push(opened),
                Err(error) => {
                    for opened in shardings {
                        opened.db.close().await?;
                    }
                    oracle.close().await?;
                    for name in names {
                        databases.give_back(name).await;
                    }
                    return Err(error);
                }
            }
        }
        let mut world = Self {
            oracle,
            shardings,
            names,
            spec,
        };
        world.fill().await?;
        Ok(world)
    }

    async fn fill(&mut self) -> Result<(), ShardingError> {
        for table in Table::ALL {
            for chunk in self.spec.rows_of(table).chunks(100) {
                let insert = insert_into(table, table.name(), chunk);
                self.oracle.execute(&insert).await?;
            }
        }
        for sharded in &mut self.shardings {
            sharded.fill(&self.spec).await?;
        }
        Ok(())
    }

    /// Takes other rows in the place of those that are there.
    ///
    /// # Errors
    /// A row that the library refuses, and errors of the databases.
    pub async fn refill(&mut self, rows: Vec<Vec<Row>>) -> Result<(), ShardingError> {
        self.spec.rows = rows;
        for table in Table::ALL {
            let sql = format!("DELETE FROM {}", table.name());
            self.oracle.execute_unprepared(&sql).await?;
        }
        self.fill().await
    }

    /// Closes the connections and gives the databases back.
    ///
    /// # Panics
    /// If they cannot be closed.
    pub async fn end(self, databases: &Databases) {
        for sharded in self.shardings {
            sharded.db.close().await.unwrap();
        }
        self.oracle.close().await.unwrap();
        for name in self.names {
            databases.give_back(name).await;
        }
    }
}

impl Sharded {
    async fn open(
        sharding: &Sharding,
        spec: &WorldSpec,
        names: &[String],
        databases: &Databases,
    ) -> Result<Self, ShardingError> {
        let count = sharding.sources;
        let fact = sharding
            .fact
            .entity::<fact::Entity>(Table::Fact, count, spec.span);
        let item = sharding
            .item
            .entity::<item::Entity>(Table::Item, count, spec.span);
        let mut builder = ShardingConnection::builder().table(fact).table(item);
        for (number, name) in names.iter().enumerate() {
            let options = databases.options(name, sharding.connections);
            builder = builder.source(format!("s{number}"), options);
        }
        if sharding.co_located {
            builder = builder.co_located::<(fact::Entity, item::Entity)>();
        }
        builder = if sharding.broadcast {
            builder.broadcast::<tag::Entity>()
        } else {
            builder.single::<tag::Entity>("s0")
        };
        builder = builder.single::<owner::Entity>(format!("s{}", sharding.owner));
        let db = builder.connect().await?;
        db.create_tables().await?;
        let topology = db.topology();
        let mut physical = Vec::new();
        for table in topology.tables() {
            let logical = match &*table.name().table {
                "fact" => Table::Fact,
                _ => Table::Item,
            };
            for position in table.positions() {
                let node = table.node(position);
                physical.push(Physical {
                    source: topology.source(node.source).to_owned(),
                    name: node.table.to_string(),
                    table: logical,
                });
            }
        }
        let plain = |source: String, table: Table| Physical {
            source,
            name: table.name().to_owned(),
            table,
        };
        let tags = if sharding.broadcast { count } else { 1 };
        physical.extend((0..tags).map(|n| plain(format!("s{n}"), Table::Tag)));
        physical.push(plain(format!("s{}", sharding.owner), Table::Owner));
        for number in 0..count {
            let name = format!("s{number}");
            let own = physical.iter().filter(|physical| physical.source == name);
            let tables: Vec<_> = own.map(|own| (own.name.clone(), own.table)).collect();
            let source = source(&db, &name);
            retype(&source, &tables).await?;
            text::alter(&source, &tables, &spec.collations).await?;
        }
        db.refresh().await?;
        Ok(Self {
            db,
            sources: count,
            physical,
            placed: Vec::new(),
            original: Contents::new(),
        })
    }

    /// Inserts the rows of a world.
    async fn fill(&mut self, spec: &WorldSpec) -> Result<(), ShardingError> {
        let placed = self.placed(spec)?;
        let before = std::mem::replace(&mut self.placed, placed);
        let differs = |at: &usize| before.get(*at).is_none_or(|rows| *rows != self.placed[*at]);
        let changed: Vec<usize> = (0..self.physical.len()).filter(differs).collect();
        self.restore(changed).await?;
        for table in Table::ALL {
            self.original.extend(self.contents(table).await?);
        }
        Ok(())
    }
}

fn source(db: &ShardingConnection, name: &str) -> DatabaseConnection {
    db.source(name).unwrap()
}

/// Inserts rows of a table into the one of this name.
///
/// # Panics
/// If a row has another count of values than the table has columns.
pub fn insert_into(table: Table, name: &str, rows: &[Row]) -> InsertStatement {
    let columns = table.columns();
    let mut insert = Query::insert();
    insert
        .into_table(Alias::new(name))
        .columns(columns.iter().map(|column| Alias::new(column.name)));
    for row in rows {
        let values = row.iter().zip(columns);
        let values = values.map(|(text, column)| column.kind.expr(text.as_deref()));
        insert.values_panic(values);
    }
    insert
}

/// Creates the unsharded tables.
async fn create(oracle: &DatabaseConnection) -> Result<(), DbErr> {
    let backend = oracle.get_database_backend();
    let schema = Schema::new(backend);
    for create in schema.create_enum_from_entity(fact::Entity) {
        oracle.execute(&create).await?;
    }
    let tables = [
        schema.create_table_from_entity(fact::Entity),
        schema.create_table_from_entity(item::Entity),
        schema.create_table_from_entity(tag::Entity),
        schema.create_table_from_entity(owner::Entity),
    ];
    for create in tables {
        oracle
            .execute_raw(Statement::from_string(backend, backend.build(&create).sql))
            .await?;
    }
    Ok(())
}

/// PostgreSQL has no unsigned integers; SeaORM reads them from `integer` and makes `bigint`.
async fn retype(db: &DatabaseConnection, tables: &[(String, Table)]) -> Result<(), DbErr> {
    if ConnectionTrait::get_database_backend(db) != DbBackend::Postgres {
        return Ok(());
    }
    for (name, table) in tables {
        if *table == Table::Fact {
            let sql = format!("ALTER TABLE \"{name}\" ALTER COLUMN units TYPE integer");
            db.execute_unprepared(&sql).await?;
        }
    }
    Ok(())
}
