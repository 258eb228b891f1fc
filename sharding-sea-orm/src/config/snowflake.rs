//! Snowflake ids in the model.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use sharding_core::strategy::{
    HashSplit, SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash, SnowflakeLayout,
};

use super::context::Context;
use super::field::{Entries, Field, List};
use super::scalar::{Bound, Count, Epoch, Instant, Name, Start};

/// Snowflake ids by the hash of the id, with a map of its own for each epoch of time: the rule of
/// a node.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SnowflakeHash"))]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct SnowflakeHashSection {
    /// How ids are made up: Twitter's layout unless given.
    #[serde(default)]
    layout: Field<Option<LayoutSection>>,
    /// The epochs.
    epochs: Field<Epochs>,
}

/// How an id is made up: milliseconds since an epoch, and lower bits.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SnowflakeLayout"))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `epoch` and `lower_bits`"
)]
pub(super) struct LayoutSection {
    /// The time of id 0.
    epoch: Field<Epoch>,
    /// How many bits there are below the time, for worker and sequence together: 1 to 40.
    lower_bits: Field<Count>,
}

/// Epochs as a list, each with its end, or as a mapping, each with its start.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SnowflakeEpochs", untagged))]
#[serde(
    rename = "form",
    expecting = "a list of epochs with `time_less_than`, or a mapping from the times at which \
                 epochs start"
)]
enum Epochs {
    /// Epochs in the order of time, each with its end.
    #[serde(rename = "list")]
    Ends(List<EpochSection>),
    /// Epochs by the times from which on they hold; ids made before the first one belong to it
    /// too. In each of them databases by where their ranges of database hashes start.
    #[serde(rename = "map")]
    Starts(Entries<Instant, Entries<Start, StartDatabaseSection>>),
}

/// A map of hashes, for the ids that were made before a point in time.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SnowflakeEpoch"))]
#[serde(deny_unknown_fields, expecting = "a mapping with `databases`")]
struct EpochSection {
    /// The end of the epoch, excluded. Only the last one has none.
    #[serde(default)]
    time_less_than: Field<Option<Instant>>,
    /// Database hashes and their data sources.
    databases: Field<Databases>,
}

/// Data sources by ranges of database hashes, or by remainder.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SnowflakeDatabases", untagged))]
#[serde(
    rename = "form",
    expecting = "a list of ranges with `less_than`, or a mapping with `mod`"
)]
enum Databases {
    /// Ranges, each from where the one before it ends.
    #[serde(rename = "list")]
    Ranges(List<DatabaseRange>),
    /// By remainder.
    #[serde(rename = "map")]
    Modulo(Modulo<DatabaseSection>),
}

/// Tables by ranges of table hashes, or by remainder.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SnowflakeTables", untagged))]
#[serde(
    rename = "form",
    expecting = "a list of ranges with `less_than`, or a mapping with `mod`"
)]
enum Tables {
    /// Ranges, each from where the one before it ends.
    #[serde(rename = "list")]
    Ranges(List<TableRange>),
    /// By remainder.
    #[serde(rename = "map")]
    Modulo(Modulo<Name>),
}

/// By remainder: hash `h` belongs to number `h mod n` of the `n` listed, counted from 0.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `mod`",
    bound = "T: Deserialize<'de>"
)]
struct Modulo<T> {
    /// The owners of the remainders 0, 1, ….
    #[serde(rename = "mod")]
    owners: Field<List<T>>,
}

/// A range of database hashes.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SnowflakeDatabaseRange"))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `less_than`, `database` and `tables`"
)]
struct DatabaseRange {
    /// Where the range ends, excluded: up to 65,536, or MAXVALUE.
    less_than: Field<Bound>,
    /// The data source.
    database: Field<Name>,
    /// Table hashes and their tables.
    tables: Field<Tables>,
}

/// A data source and its tables.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SnowflakeDatabase"))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `database` and `tables`"
)]
struct DatabaseSection {
    /// The data source.
    database: Field<Name>,
    /// Table hashes and their tables.
    tables: Field<Tables>,
}

/// A range of table hashes.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SnowflakeTableRange"))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `less_than` and `table`"
)]
struct TableRange {
    /// Where the range ends, excluded: up to 65,536, or MAXVALUE.
    less_than: Field<Bound>,
    /// The physical table.
    table: Field<Name>,
}

/// A data source and its tables, by where their ranges of table hashes start.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SnowflakeStartDatabase"))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `database` and `tables`"
)]
struct StartDatabaseSection {
    /// The data source.
    database: Field<Name>,
    /// The physical tables by where their ranges of table hashes start; the first is 0x0000.
    tables: Field<Entries<Start, Name>>,
}

impl LayoutSection {
    pub(super) fn build(&self) -> Option<SnowflakeLayout> {
        let (epoch, lower_bits) = (self.epoch.get()?, self.lower_bits.get()?);
        Some(SnowflakeLayout::new(epoch.0, lower_bits.0))
    }
}

/// The layout; `None` if something is wrong, which is reported then.
pub(super) fn layout(field: &Field<Option<LayoutSection>>) -> Option<SnowflakeLayout> {
    match field.value.as_ref()? {
        Some(layout) => layout.build(),
        None => Some(SnowflakeLayout::TWITTER),
    }
}

impl SnowflakeHashSection {
    /// `None` if something is wrong, which is reported then.
    pub(super) fn build(&self, context: &Context<'_>) -> Option<SnowflakeHash> {
        let epochs = match self.epochs.get()? {
            Epochs::Ends(epochs) => every(&epochs.0, EpochSection::build),
            Epochs::Starts(epochs) => by_starts(&self.epochs, epochs, context),
        };
        Some(SnowflakeHash::new(epochs?).layout(layout(&self.layout)?))
    }
}

/// What is made of each item; `None` if one is wrong.
fn every<T, U>(items: &[Field<T>], build: impl Fn(&T) -> Option<U>) -> Option<Vec<U>> {
    items.iter().map(|item| build(item.get()?)).collect()
}

impl EpochSection {
    fn build(&self) -> Option<SnowflakeEpoch> {
        let epoch = SnowflakeEpoch::new(self.databases.get()?.build()?);
        match self.time_less_than.value? {
            Some(Instant(end)) => Some(epoch.time_less_than(end)),
            None => Some(epoch),
        }
    }
}

impl Databases {
    fn build(&self) -> Option<HashSplit<SnowflakeDatabase>> {
        let database = |name: &Field<Name>, tables: &Field<Tables>| {
            let tables = tables.get()?.build()?;
            Some(SnowflakeDatabase::new(name.get()?.0.as_str(), tables))
        };
        match self {
            Self::Ranges(list) => {
                let ranges = every(&list.0, |range| {
                    let owner = database(&range.database, &range.tables)?;
                    Some((range.less_than.get()?.0, owner))
                });
                Some(split(ranges?))
            }
            Self::Modulo(list) => {
                let owners = every(&list.owners.get()?.0, |section| {
                    database(&section.database, &section.tables)
                });
                Some(HashSplit::modulo(owners?))
            }
        }
    }
}

impl Tables {
    fn build(&self) -> Option<HashSplit<String>> {
        match self {
            Self::Ranges(list) => {
                let ranges = every(&list.0, |range| {
                    Some((range.less_than.get()?.0, range.table.get()?.0.clone()))
                });
                Some(split(ranges?))
            }
            Self::Modulo(list) => {
                let owners = every(&list.owners.get()?.0, |Name(table)| Some(table.clone()));
                Some(HashSplit::modulo(owners?))
            }
        }
    }
}

fn split<T>(ranges: impl IntoIterator<Item = (Option<u32>, T)>) -> HashSplit<T> {
    let add = |split: HashSplit<T>, (bound, owner)| match bound {
        Some(bound) => split.less_than(bound, owner),
        None => split.max_value(owner),
    };
    ranges.into_iter().fold(HashSplit::ranges(), add)
}

/// Epochs from their starts: each ends where the next one starts.
fn by_starts(
    field: &Field<Epochs>,
    epochs: &Entries<Instant, Entries<Start, StartDatabaseSection>>,
    context: &Context<'_>,
) -> Option<Vec<SnowflakeEpoch>> {
    let start = |start: &Instant| start.0;
    let epochs = ascending(epochs, start, context, |field, databases| {
        let databases = from_starts(field, databases, context, |_, section| {
            let tables = section.tables.get()?;
            let tables = from_starts(&section.tables, tables, context, |_, Name(table)| {
                Some(table.clone())
            });
            Some(SnowflakeDatabase::new(
                section.database.get()?.0.as_str(),
                tables?,
            ))
        });
        Some(SnowflakeEpoch::new(databases?))
    });
    if epochs.as_ref().is_some_and(Vec::is_empty) {
        context.wrong(field, "is empty; one epoch is enough");
        return None;
    }
    let epochs = epochs?;
    let ends: Vec<DateTime<Utc>> = epochs.iter().skip(1).map(|(start, _)| *start).collect();
    let mut ends = ends.into_iter();
    let end = |(_, epoch): (_, SnowflakeEpoch)| match ends.next() {
        Some(end) => epoch.time_less_than(end),
        None => epoch,
    };
    Some(epochs.into_iter().map(end).collect())
}

/// A split from the starts of its ranges: each ends where the next one starts.
fn from_starts<F, T, U>(
    field: &Field<F>,
    entries: &Entries<Start, T>,
    context: &Context<'_>,
    build: impl Fn(&Field<T>, &T) -> Option<U>,
) -> Option<HashSplit<U>> {
    let ranges = ascending(entries, |start: &Start| start.0, context, build);
    if entries.0.is_empty() {
        context.wrong(field, "is empty; the whole is one range from 0x0000");
        return None;
    }
    let ranges = ranges?;
    let first = ranges.first().map_or(0, |(start, _)| *start);
    if first > 0 {
        let why = "leaves the hashes before its first range without owner; start with 0x0000";
        context.wrong(field, why);
        return None;
    }
    let ends: Vec<u32> = ranges.iter().skip(1).map(|(start, _)| *start).collect();
    let ends = ends.into_iter().map(Some).chain([None]);
    Some(split(ends.zip(ranges.into_iter().map(|(_, owner)| owner))))
}

/// The entries in the order of what their keys mean, which may be spelled in several ways.
fn ascending<K, S: Ord + Copy, T, U>(
    entries: &Entries<K, T>,
    start: impl Fn(&K) -> S,
    context: &Context<'_>,
    build: impl Fn(&Field<T>, &T) -> Option<U>,
) -> Option<Vec<(S, U)>> {
    let mut all = Some(Vec::new());
    let mut seen: BTreeMap<S, &Field<K>> = BTreeMap::new();
    for (key, value) in &entries.0 {
        let built = value.get().and_then(|item| build(value, item));
        let start = key.get().map(&start);
        let start = start.filter(|start| match seen.entry(*start) {
            Entry::Vacant(entry) => {
                entry.insert(key);
                true
            }
            Entry::Occupied(same) => {
                context.wrong(key, format!("is the same as {}", same.get().at));
                false
            }
        });
        all = all.zip(start.zip(built)).map(|(mut all, pair)| {
            all.push(pair);
            all
        });
    }
    if let Some(all) = &mut all {
        all.sort_by_key(|(start, _)| *start);
    }
    all
}
