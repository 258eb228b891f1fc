//! Gets the tables and their rows into the database.

use std::collections::BTreeMap;

use anyhow::bail;
use chrono::Datelike;
use indicatif::{ProgressBar, ProgressStyle};
use sea_orm::sea_query::{IndexCreateStatement, Table, TableCreateStatement};
use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, EntityTrait, IntoActiveModel, PaginatorTrait, Schema,
    TransactionTrait,
};
use sharding_sea_orm::{ShardingConnection, ShardingTransaction};

use crate::data;
use crate::entity::{airline, flight, flight_whole, plane};

/// What was found, and so what was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// Every row was there.
    Before,
    /// The tables were empty, and have been filled.
    Now,
}

/// Makes sure that every table exists and has its rows.
pub(crate) async fn load(db: &ShardingConnection, fresh: bool) -> anyhow::Result<Loaded> {
    if fresh {
        drop_tables(db).await?;
    }
    create_tables(db).await?;
    let found = [
        flight::Entity::find().count(db).await?,
        flight_whole::Entity::find().count(db).await?,
        airline::Entity::find().count(db).await?,
        plane::Entity::find().count(db).await?,
    ];
    match found {
        [data::FLIGHTS, data::FLIGHTS, data::AIRLINES, data::PLANES] => return Ok(Loaded::Before),
        [0, 0, 0, 0] => {}
        [sharded, whole, airlines, planes] => bail!(
            "the tables have {sharded} and {whole} flights, {airlines} airlines and {planes} \
             planes, which is neither nothing nor everything; `--fresh` loads them again"
        ),
    }
    insert_everything(db).await?;
    Ok(Loaded::Now)
}

async fn insert_everything(db: &ShardingConnection) -> anyhow::Result<()> {
    let flights = by_month(data::flights()?);
    let bar = bar(2 * data::FLIGHTS + data::AIRLINES + data::PLANES);
    // One transaction, so that a broken run leaves empty tables. It is on one data source, as all
    // of the tables are.
    let transaction = db.begin().await?;
    insert::<airline::Entity>(&transaction, data::airlines()?, &bar).await?;
    insert::<plane::Entity>(&transaction, data::planes()?, &bar).await?;
    for month in flights.into_values() {
        insert::<flight_whole::Entity>(&transaction, month.iter().cloned(), &bar).await?;
        insert::<flight::Entity>(&transaction, month, &bar).await?;
    }
    transaction.commit().await?;
    bar.finish_and_clear();
    Ok(())
}

async fn insert<E: EntityTrait>(
    db: &ShardingTransaction,
    rows: impl IntoIterator<Item: IntoActiveModel<E::ActiveModel>>,
    bar: &ProgressBar,
) -> Result<(), DbErr> {
    // SQLite takes 32,766 values in a statement, and a flight has 17 of them.
    const ROWS: usize = 1_900;

    let mut rows = rows
        .into_iter()
        .map(IntoActiveModel::into_active_model)
        .peekable();
    while rows.peek().is_some() {
        let chunk = E::insert_many(rows.by_ref().take(ROWS));
        let inserted = chunk.exec_without_returning(db).await?;
        bar.inc(inserted);
    }
    Ok(())
}

/// A statement whose rows are of one month goes to one table.
fn by_month(flights: Vec<flight::Model>) -> BTreeMap<(i32, u32), Vec<flight::Model>> {
    let mut months: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for flight in flights {
        let month = (flight.time_hour.year(), flight.time_hour.month());
        months.entry(month).or_default().push(flight);
    }
    months
}

fn bar(rows: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "loading {wide_bar} {human_pos} of {human_len} rows, {eta} left",
    );
    ProgressBar::new(rows).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

async fn create_tables(db: &ShardingConnection) -> anyhow::Result<()> {
    db.create_tables().await?;
    create_table(db, flight_whole::Entity).await?;
    create_table(db, airline::Entity).await?;
    create_table(db, plane::Entity).await?;
    Ok(())
}

/// An ordinary table, with its indexes.
async fn create_table<E: EntityTrait>(db: &ShardingConnection, entity: E) -> Result<(), DbErr> {
    let schema = Schema::new(db.get_database_backend());
    let mut table: TableCreateStatement = schema.create_table_from_entity(entity);
    let mut indexes: Vec<IndexCreateStatement> = schema.create_index_from_entity(entity);
    table.if_not_exists();
    // MySQL cannot create an index unless it exists, but takes indexes with the table.
    if db.get_database_backend() == DbBackend::MySql {
        for mut index in indexes.drain(..) {
            table.index(&mut index);
        }
    }
    db.execute(&table).await?;
    for index in &mut indexes {
        db.execute(index.if_not_exists()).await?;
    }
    Ok(())
}

async fn drop_tables(db: &ShardingConnection) -> Result<(), DbErr> {
    let topology = db.topology();
    for table in topology.tables() {
        for node in table.positions().map(|position| table.node(position)) {
            // The months are dropped where they are; the sharded table as such cannot be.
            if let Some(source) = db.source(topology.source(node.source)) {
                let month = node.table.into_owned();
                source
                    .execute(Table::drop().table(month).if_exists())
                    .await?;
            }
        }
    }
    for table in ["flight_whole", "airline", "plane"] {
        db.execute(Table::drop().table(table).if_exists()).await?;
    }
    Ok(())
}
