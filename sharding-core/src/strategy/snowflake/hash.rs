use std::borrow::Cow;
use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::{HashSplit, SnowflakeLayout, SnowflakeSpan};
use crate::key::{Interval, KeyKind, KeySet, KeyValue};
use crate::strategy::bounds::integers;
use crate::strategy::names::Names;
use crate::strategy::{Extent, Flaw, Misplaced, Partitions, Strategy, hash};

/// Snowflake ids by the hash of the id, with a map of its own for each epoch of time: the rule of
/// a node, which decides data source and table together.
///
/// `database_hash` is the upper and `table_hash` the lower half of [`hash`] of the id. The time in
/// an id chooses the epoch; there ranges of `database_hash` choose a database, and in it ranges of
/// `table_hash` a table. Two halves, since with one hash the tables of a database would only ever
/// see the hashes of their database.
///
/// Equality and `IN` reach one node for each value; a range of ids reaches all nodes of the epochs
/// it touches; without the key every mapped node is reached once.
///
/// Growth adds an epoch: the last one gets an end in the future, and ids made from then on use the
/// map of the next. No row moves.
///
/// Partitions are named `database.table`.
///
/// ```
/// use sharding_core::strategy::{HashSplit, SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash};
///
/// let tables = HashSplit::ranges().less_than(32_768, "event_0").max_value("event_1");
/// let all = SnowflakeEpoch::new(HashSplit::whole(SnowflakeDatabase::new("ds0", tables)));
/// let by_id = SnowflakeHash::new([all]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnowflakeHash {
    layout: SnowflakeLayout,
    epochs: Vec<Epoch>,
    names: Names,
}

/// A map of hashes, for the ids that were made before a point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnowflakeEpoch {
    time_less_than: Option<DateTime<Utc>>,
    databases: HashSplit<SnowflakeDatabase>,
}

/// A data source and the map of its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnowflakeDatabase {
    database: String,
    tables: HashSplit<String>,
}

impl SnowflakeEpoch {
    /// A map for all ids, or for those from the end of the epoch before it on.
    pub fn new(databases: HashSplit<SnowflakeDatabase>) -> Self {
        Self {
            time_less_than: None,
            databases,
        }
    }

    /// Only for ids made before this time. The last epoch has no such end.
    #[must_use]
    pub fn time_less_than(mut self, time: DateTime<Utc>) -> Self {
        self.time_less_than = Some(time);
        self
    }
}

impl SnowflakeDatabase {
    /// The data source of this name and its physical tables.
    pub fn new<T: Into<String>>(database: impl Into<String>, tables: HashSplit<T>) -> Self {
        Self {
            database: database.into(),
            tables: tables.map(Into::into),
        }
    }
}

/// An epoch whose tables are numbers of partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Epoch {
    before: Option<DateTime<Utc>>,
    databases: HashSplit<HashSplit<u32>>,
    /// Every partition of the epoch, once.
    all: Vec<u32>,
}

impl SnowflakeHash {
    /// Epochs in the order of time, for ids of [`SnowflakeLayout::TWITTER`].
    pub fn new(epochs: impl IntoIterator<Item = SnowflakeEpoch>) -> Self {
        let mut names = Names::default();
        let mut number =
            |database: &str, table: String| names.intern(format!("{database}.{table}"));
        let epochs = epochs.into_iter().map(|epoch| {
            let databases = epoch
                .databases
                .map(|SnowflakeDatabase { database, tables }| {
                    tables.map(|table| number(&database, table))
                });
            let all: BTreeSet<u32> = databases
                .owners()
                .flat_map(HashSplit::owners)
                .copied()
                .collect();
            Epoch {
                before: epoch.time_less_than,
                databases,
                all: all.into_iter().collect(),
            }
        });
        Self {
            layout: SnowflakeLayout::TWITTER,
            epochs: epochs.collect(),
            names,
        }
    }

    /// The layout of the ids.
    #[must_use]
    pub fn layout(mut self, layout: SnowflakeLayout) -> Self {
        self.layout = layout;
        self
    }

    /// The halves of the hash of an id: `database_hash` and `table_hash`.
    pub fn hashes(id: i64) -> (u16, u16) {
        let hash = hash(&KeyValue::Int(i128::from(id)));
        ((hash >> 16) as u16, hash as u16)
    }

    /// The partitions that can hold ids of the span.
    pub fn span(&self, span: &SnowflakeSpan) -> Partitions {
        let first = self.epoch_of(*span.time.start());
        let last = self.epoch_of(*span.time.end());
        if span.time.is_empty() {
            return Partitions::none();
        }
        let (database, table) = (&span.database_hash, &span.table_hash);
        let epochs = self.epochs.get(first..=last.min(self.epochs.len() - 1));
        let databases = epochs.unwrap_or_default().iter().flat_map(|epoch| {
            epoch
                .databases
                .owners_between(*database.start(), *database.end())
        });
        databases
            .flat_map(|tables| tables.owners_between(*table.start(), *table.end()))
            .copied()
            .collect()
    }

    /// The position of the epoch of ids made at this time.
    fn epoch_of(&self, time: DateTime<Utc>) -> usize {
        self.epochs
            .partition_point(|epoch| epoch.before.is_some_and(|before| before <= time))
    }

    fn owner(&self, id: i64) -> Option<u32> {
        let time = self.layout.time(id)?;
        let (database, table) = Self::hashes(id);
        let epoch = self.epochs.get(self.epoch_of(time))?;
        epoch.databases.owner(database)?.owner(table).copied()
    }

    /// The epochs that the interval touches.
    fn epochs_of(&self, interval: &Interval<'_>) -> &[Epoch] {
        let (first, last) = integers(interval);
        if first.zip(last).is_some_and(|(first, last)| first > last) {
            return &[];
        }
        let epoch = |id: Option<i128>| {
            let id = id.and_then(|id| i64::try_from(id).ok())?;
            Some(self.epoch_of(self.layout.time(id)?))
        };
        let first = epoch(first).unwrap_or(0);
        let last = epoch(last).unwrap_or(usize::MAX).min(self.epochs.len() - 1);
        self.epochs.get(first..=last).unwrap_or_default()
    }
}

impl Strategy for SnowflakeHash {
    fn describe(&self) -> String {
        let (epochs, nodes) = (self.epochs.len(), self.names.count());
        format!("Snowflake hash, {epochs} epochs over {nodes} nodes")
    }

    fn accepts(&self, kind: KeyKind) -> bool {
        kind == KeyKind::Integer
    }

    fn flaws(&self) -> Vec<Flaw> {
        let mut flaws: Vec<Flaw> = self.layout.flaw().into_iter().collect();
        if self.epochs.is_empty() {
            flaws.push(Flaw::new("epochs", "is empty; one without end is enough"));
        }
        for (at, epoch) in self.epochs.iter().enumerate() {
            let is_last = at + 1 == self.epochs.len();
            match epoch.before {
                Some(end) if is_last => {
                    let why = format!("ids from {end} on have no map; the last epoch has no end");
                    flaws.push(Flaw::new(format!("epochs[{at}].time_less_than"), why));
                }
                None if !is_last => {
                    let why = "is missing; only the last epoch has no end";
                    flaws.push(Flaw::new(format!("epochs[{at}].time_less_than"), why));
                }
                _ => {}
            }
            let before = at
                .checked_sub(1)
                .and_then(|before| self.epochs[before].before);
            if let (Some(before), Some(end)) = (before, epoch.before)
                && end <= before
            {
                let why = format!("{end} is not after {before}, where the epoch begins");
                flaws.push(Flaw::new(format!("epochs[{at}].time_less_than"), why));
            }
            let place = format!("epochs[{at}].databases");
            flaws.extend(epoch.databases.flaws(&place));
            for (database, tables) in epoch.databases.owners().enumerate() {
                let place = epoch.databases.place(&place, database);
                flaws.extend(tables.flaws(&format!("{place}.tables")));
            }
        }
        flaws
    }

    fn extent(&self, _now: DateTime<Utc>) -> Extent {
        Extent::fixed(self.names.count())
    }

    fn name(&self, partition: u32) -> Cow<'_, str> {
        Cow::Borrowed(self.names.name(partition))
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.names.number(name)
    }

    fn place(&self, key: &KeyValue<'_>) -> Result<u32, Misplaced> {
        let KeyValue::Int(id) = key else {
            return Err(Misplaced::Kind);
        };
        let id = i64::try_from(*id).map_err(|_| Misplaced::Outside)?;
        self.owner(id).ok_or(Misplaced::Outside)
    }

    fn route(&self, keys: &KeySet<'_>) -> Partitions {
        let mut found = Vec::new();
        for interval in keys.intervals() {
            match interval.as_point() {
                Some(id) => found.extend(self.place(id).ok()),
                None => {
                    let epochs = self.epochs_of(interval).iter();
                    found.extend(epochs.flat_map(|epoch| &epoch.all).copied());
                }
            }
        }
        found.into_iter().collect()
    }

    fn identity(&self) -> String {
        format!("{:?} {:?}", self.layout, self.epochs)
    }

    /// Epochs may follow, if those before them stay as they are but for the end of the last, which
    /// comes after `now`.
    fn extends(&self, older: &dyn Strategy, now: DateTime<Utc>) -> bool {
        let older: &dyn std::any::Any = older;
        older.downcast_ref::<Self>().is_some_and(|older| {
            let mut maps = self.epochs.iter().zip(&older.epochs);
            let stays = |(own, before): (&Epoch, &Epoch)| {
                let has_ended = own.before != before.before
                    && (before.before.is_some() || own.before.is_some_and(|end| end < now));
                own.databases == before.databases && !has_ended
            };
            self.layout == older.layout
                && self.names.begin_with(&older.names)
                && self.epochs.len() >= older.epochs.len()
                && maps.all(stays)
        })
    }
}

#[cfg(test)]
mod tests;
