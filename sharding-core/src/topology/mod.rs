//! Where rows can be: data sources, tables and their nodes.

mod build;
mod build_table;
mod change;
mod draft;
mod mistake;
mod names;
mod order;
mod rule;
mod table;
mod tails;
mod together;

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

pub use draft::{
    ColumnDraft, ColumnKind, KeyDraft, LinkDraft, RuleDraft, TableDraft, TailsDraft, TopologyDraft,
};
pub use mistake::{ConfigError, Mistake};
pub use rule::{Key, KeyColumn, RowKey, Rule};
pub use table::{Node, Table, TableName};
pub use together::Unit;

/// A data source by its position in the topology. It keeps its meaning when the topology changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub(crate) u32);

impl SourceId {
    /// The position, from 0, in the order in which the sources were declared.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All data sources and declared tables. A topology that exists is valid: names are unique, rules
/// fit their columns, and every partition has a node.
#[derive(Clone, Debug)]
pub struct Topology {
    sources: Vec<Source>,
    default: SourceId,
    tables: Vec<Arc<Table>>,
    homes: Arc<HashMap<TableName, Home>>,
    groups: Arc<Vec<Vec<TableName>>>,
    until: Option<DateTime<Utc>>,
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    state: SourceState,
}

/// What a data source is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceState {
    /// Everything.
    Active,
    /// Rows that are there already: it gets no new ones.
    Draining,
    /// Nothing any more.
    Removed,
}

/// Where a declared table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Home {
    /// It is sharded: the position among [`Topology::tables`].
    Sharded(usize),
    /// In every data source, in full.
    Broadcast,
    /// In one data source.
    Single(SourceId),
}

impl Topology {
    /// The data sources that are not removed, in the order in which they were declared.
    pub fn sources(&self) -> impl Iterator<Item = (SourceId, &str)> {
        let present = |(source, _): &(&Source, u32)| source.state != SourceState::Removed;
        let numbered = self.sources.iter().zip(0..).filter(present);
        numbered.map(|(source, id)| (SourceId(id), source.name.as_str()))
    }

    /// The name of a data source.
    pub fn source(&self, id: SourceId) -> &str {
        &self.sources[id.index()].name
    }

    /// The data source of this name, unless it was removed.
    pub fn source_id(&self, name: &str) -> Option<SourceId> {
        self.sources()
            .find(|(_, own)| *own == name)
            .map(|(id, _)| id)
    }

    /// What a data source is there for.
    pub fn state(&self, id: SourceId) -> SourceState {
        self.sources[id.index()].state
    }

    /// The data source of tables that are not declared.
    pub fn default_source(&self) -> SourceId {
        self.default
    }

    /// The sharded tables, in the order in which they were declared.
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    /// The sharded table of this logical name.
    pub fn table(&self, name: &TableName) -> Option<&Arc<Table>> {
        self.position(name).map(|at| &self.tables[at])
    }

    /// The position among [`Topology::tables`] of the sharded table of this logical name.
    pub fn position(&self, name: &TableName) -> Option<usize> {
        match self.homes.get(name) {
            Some(Home::Sharded(at)) => Some(*at),
            _ => None,
        }
    }

    /// Where the table of this logical name is; `None` if it was not declared.
    pub fn home(&self, name: &TableName) -> Option<Home> {
        self.homes.get(name).copied()
    }

    /// Every declared table.
    pub fn homes(&self) -> impl Iterator<Item = (&TableName, Home)> {
        self.homes.iter().map(|(name, home)| (name, *home))
    }

    /// The declared tables that are not sharded.
    pub fn plain(&self) -> impl Iterator<Item = (&TableName, Home)> {
        // Most topologies have none, which need not be looked for.
        let has_some = self.homes.len() > self.tables.len();
        let all = has_some.then(|| self.homes()).into_iter().flatten();
        all.filter(|(_, home)| !matches!(home, Home::Sharded(_)))
    }

    /// The declared groups of tables that place rows with equal keys together.
    pub fn co_located(&self) -> &[Vec<TableName>] {
        &self.groups
    }

    /// Whether no table is sharded.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// When the next tail of any table comes to exist, from where on [`Topology::at`] gives
    /// another topology; `None` if that never happens.
    pub fn until(&self) -> Option<DateTime<Utc>> {
        self.until
    }

    /// The topology in which tables whose tails grow with time have at least so many of them, by
    /// their positions. A tail that is there already, made under another clock or by a longer look
    /// ahead, holds rows like any other.
    #[must_use]
    pub fn reaching(&self, tails: &HashMap<usize, u32>) -> Self {
        let mut tables = self.tables.clone();
        for (at, count) in tails {
            if let Some(longer) = tables[*at].reaching(*count) {
                tables[*at] = Arc::new(longer);
            }
        }
        Self {
            tables,
            ..self.clone()
        }
    }

    /// The topology as it is at `now`, which is this one before [`Topology::until`]. It never has
    /// fewer tails than this.
    #[must_use]
    pub fn at(&self, now: DateTime<Utc>) -> Self {
        let later = |table: &Arc<Table>| {
            let grown = table.at(now).map(Arc::new);
            grown.unwrap_or_else(|| Arc::clone(table))
        };
        let tables: Vec<_> = self.tables.iter().map(later).collect();
        Self {
            until: earliest(&tables),
            tables,
            ..self.clone()
        }
    }
}

fn earliest(tables: &[Arc<Table>]) -> Option<DateTime<Utc>> {
    tables.iter().filter_map(|table| table.until()).min()
}
