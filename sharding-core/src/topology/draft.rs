use std::borrow::Cow;
use std::sync::Arc;

use super::Topology;
use super::mistake::Mistake;
use super::table::TableName;
use crate::key::KeyKind;
use crate::strategy::Strategy;

/// A topology as it was written down, not checked yet.
#[derive(Clone, Debug, Default)]
pub struct TopologyDraft {
    /// The names of the data sources.
    pub sources: Vec<String>,
    /// Which of them get no new rows.
    pub draining: Vec<String>,
    /// The source of tables that are not declared: the first if `None`.
    pub default_source: Option<String>,
    /// The sharded tables.
    pub tables: Vec<TableDraft>,
    /// Tables that are present in full in every data source.
    pub broadcast: Vec<TableName>,
    /// Tables that are not sharded, each with the name of its data source.
    pub single: Vec<(TableName, String)>,
    /// Groups of sharded tables that are meant to place rows with equal keys together.
    pub co_located: Vec<Vec<TableName>>,
    /// References between columns of tables. Where one leads from the key of a sharded table to the
    /// key of another and both place rows alike, the tables are co-located.
    pub links: Vec<LinkDraft>,
    /// Mistakes that the caller found while it wrote the draft; they are reported first.
    pub mistakes: Vec<Mistake>,
}

/// A column that holds values of another table's column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkDraft {
    /// The table and the column that refer.
    pub from: (TableName, String),
    /// The table and the column that are referred to.
    pub to: (TableName, String),
}

impl TopologyDraft {
    /// Writes down what a topology that was built from this draft took from the circumstances, so
    /// that it stays when sources are added: the default source, and the sources of rules.
    pub fn freeze(&mut self, built: &Topology) {
        self.default_source = Some(built.source(built.default_source()).to_owned());
        for (draft, table) in self.tables.iter_mut().zip(built.tables()) {
            if draft.source.is_some() && draft.source_names.is_none() {
                let names = table
                    .axis()
                    .iter()
                    .map(|id| built.source(*id).to_owned().into());
                draft.source_names = Some(names.collect());
            }
        }
    }
}

/// A sharded table as it was written down, not checked yet. It has a rule for the data source, a
/// rule for the tail, both, or one for the node.
#[derive(Clone, Debug)]
pub struct TableDraft {
    /// The logical name.
    pub name: TableName,
    /// What stands between the logical name and the tail: may be empty.
    pub separator: Cow<'static, str>,
    /// The rule for the data source.
    pub source: Option<RuleDraft>,
    /// The source of each partition of the source rule. If `None`, it is the source of the
    /// partition's name if all partitions have one, else all sources in order.
    pub source_names: Option<Vec<Cow<'static, str>>>,
    /// The rule for the tail.
    pub table: Option<RuleDraft>,
    /// The tails of each data source, if they differ. Without a source rule each tail has to be in
    /// exactly one.
    pub tails: Option<Vec<TailsDraft>>,
    /// The rule for source and table together, whose partitions are named `source.table`.
    pub node: Option<RuleDraft>,
}

/// The tails of one data source as they were written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TailsDraft {
    /// The name of the data source.
    pub source: Cow<'static, str>,
    /// Names of tails, and runs of them: `a..b`, both included, `a..` or `..b`.
    pub tails: Vec<Cow<'static, str>>,
}

/// A rule as it was written down, not checked yet.
#[derive(Clone, Debug)]
pub struct RuleDraft {
    /// The key that decides.
    pub key: KeyDraft,
    /// Keys that choose the same.
    pub secondary: Vec<KeyDraft>,
}

/// A key as it was written down, not checked yet.
#[derive(Clone, Debug)]
pub struct KeyDraft {
    /// The columns.
    pub columns: Vec<ColumnDraft>,
    /// The strategy.
    pub strategy: Arc<dyn Strategy>,
}

/// A key column as it was written down, not checked yet.
#[derive(Clone, Debug)]
pub struct ColumnDraft {
    /// The column's name in the database.
    pub name: Cow<'static, str>,
    /// What the column holds.
    pub kind: ColumnKind,
}

/// What is known of a key column's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// It can be a key.
    Key(KeyKind),
    /// It cannot be a key; the text says what it is.
    Unusable(String),
    /// There is no such column.
    Unknown,
}

impl TableDraft {
    /// A table without rules yet, with the separator `_`.
    pub fn new(name: TableName) -> Self {
        Self {
            name,
            separator: Cow::Borrowed("_"),
            source: None,
            source_names: None,
            table: None,
            tails: None,
            node: None,
        }
    }

    /// The rules that are given.
    pub fn rules(&self) -> impl Iterator<Item = &RuleDraft> {
        self.source.iter().chain(&self.table).chain(&self.node)
    }

    /// The rules that are given, to change.
    pub fn rules_mut(&mut self) -> impl Iterator<Item = &mut RuleDraft> {
        self.source
            .iter_mut()
            .chain(&mut self.table)
            .chain(&mut self.node)
    }
}

impl RuleDraft {
    /// A rule of one key.
    pub fn new(key: KeyDraft) -> Self {
        Self {
            key,
            secondary: Vec::new(),
        }
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &KeyDraft> {
        std::iter::once(&self.key).chain(&self.secondary)
    }

    /// All keys, to change.
    pub fn keys_mut(&mut self) -> impl Iterator<Item = &mut KeyDraft> {
        std::iter::once(&mut self.key).chain(&mut self.secondary)
    }
}
