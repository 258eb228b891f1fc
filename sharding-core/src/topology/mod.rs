//! Where rows can be: data sources, tables and their nodes.

mod build;
mod mistake;
mod table;

use std::collections::HashMap;
use std::sync::Arc;

pub use build::{RuleDraft, TableDraft, TopologyDraft};
pub use mistake::{ConfigError, Mistake};
pub use table::{Node, Rule, Table, TableName};

/// A data source by its position in the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub(crate) u32);

impl SourceId {
    /// The position, from 0, in the order in which the sources were declared.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All data sources and sharded tables. A topology that exists is valid: names are unique, rules
/// fit their columns, and every partition has a node.
#[derive(Clone, Debug)]
pub struct Topology {
    sources: Vec<String>,
    default: SourceId,
    tables: Vec<Arc<Table>>,
    by_name: HashMap<TableName, usize>,
}

impl Topology {
    /// The names of the data sources, in the order in which they were declared.
    pub fn sources(&self) -> impl Iterator<Item = (SourceId, &str)> {
        self.sources
            .iter()
            .zip(0..)
            .map(|(name, id)| (SourceId(id), name.as_str()))
    }

    /// The name of a data source.
    pub fn source(&self, id: SourceId) -> &str {
        &self.sources[id.index()]
    }

    /// The data source of tables that are not sharded.
    pub fn default_source(&self) -> SourceId {
        self.default
    }

    /// The sharded tables, in the order in which they were declared.
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    /// The sharded table of this logical name.
    pub fn table(&self, name: &TableName) -> Option<&Arc<Table>> {
        self.by_name.get(name).map(|&at| &self.tables[at])
    }

    /// The position among [`Topology::tables`] of the sharded table of this logical name.
    pub fn position(&self, name: &TableName) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Whether no table is sharded.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }
}
