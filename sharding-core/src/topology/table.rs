use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::SourceId;
use crate::error::KeyError;
use crate::key::{KeyKind, KeySet, KeyValue};
use crate::strategy::{Misplaced, Strategy};

/// The logical name of a table, as entities and statements spell it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// The schema, if the entity names one.
    pub schema: Option<Cow<'static, str>>,
    /// The table.
    pub table: Cow<'static, str>,
}

impl TableName {
    /// A table of the default schema.
    pub fn new(table: impl Into<Cow<'static, str>>) -> Self {
        Self {
            schema: None,
            table: table.into(),
        }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write!(f, "{schema}.")?;
        }
        f.write_str(&self.table)
    }
}

/// A sharding key and the strategy that places rows by it.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) column: Cow<'static, str>,
    pub(super) kind: KeyKind,
    pub(super) strategy: Arc<dyn Strategy>,
}

impl Rule {
    /// The name of the key column in the database.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// What the key column holds.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The strategy.
    pub fn strategy(&self) -> &dyn Strategy {
        &*self.strategy
    }
}

/// A sharded table: a grid of data sources × tails, in which each axis has a rule or one place.
#[derive(Clone, Debug)]
pub struct Table {
    pub(super) name: TableName,
    pub(super) source_rule: Option<Rule>,
    pub(super) table_rule: Option<Rule>,
    /// The source of each partition of the source rule; a single one without that rule.
    pub(super) sources: Vec<SourceId>,
    /// The physical name of each partition of the table rule; the logical one without that rule.
    pub(super) physical: Vec<String>,
    /// The tail of each partition of the table rule.
    pub(super) tails: Vec<String>,
}

/// One place where rows of a table are: a physical table in a data source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// The data source.
    pub source: SourceId,
    /// The physical table, in the schema of the logical one.
    pub table: &'a str,
    /// The tail that distinguishes it from the logical table; empty without a table rule.
    pub tail: &'a str,
}

impl Table {
    /// The logical name.
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// The rule that chooses the data source.
    pub fn source_rule(&self) -> Option<&Rule> {
        self.source_rule.as_ref()
    }

    /// The rule that chooses the tail.
    pub fn table_rule(&self) -> Option<&Rule> {
        self.table_rule.as_ref()
    }

    /// The rules, the one of the source first.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.source_rule.iter().chain(&self.table_rule)
    }

    /// How many nodes there are: at least one.
    pub fn node_count(&self) -> usize {
        self.sources.len() * self.physical.len()
    }

    /// The node at a position less than [`Table::node_count`].
    pub fn node(&self, position: usize) -> Node<'_> {
        let tails = self.physical.len();
        Node {
            source: self.sources[position / tails],
            table: &self.physical[position % tails],
            tail: self.tails.get(position % tails).map_or("", String::as_str),
        }
    }

    /// The position of a row's node. `key` gives the row's value of a key column: `None` if the row does not
    /// say, `Some(None)` if it is NULL.
    ///
    /// # Errors
    /// If a key is missing, NULL, of another kind than its column, or outside of all partitions.
    pub fn place<'v>(
        &self,
        mut key: impl FnMut(&Rule) -> Option<Option<KeyValue<'v>>>,
    ) -> Result<usize, KeyError> {
        let mut partition = |rule: &Option<Rule>, count: usize| match rule {
            None => Ok(0),
            Some(rule) => self.partition(rule, key(rule), count),
        };
        let source = partition(&self.source_rule, self.sources.len())?;
        let tail = partition(&self.table_rule, self.physical.len())?;
        Ok(source * self.physical.len() + tail)
    }

    /// Whether a row of the node would stay there if its key for this rule were the value.
    pub fn is_placed_on(&self, position: usize, rule: &Rule, value: &KeyValue<'_>) -> bool {
        let (source, tail) = (
            position / self.physical.len(),
            position % self.physical.len(),
        );
        let is_source_rule = self
            .source_rule
            .as_ref()
            .is_some_and(|own| std::ptr::eq(own, rule));
        let partition = if is_source_rule { source } else { tail };
        value.is_of(rule.kind) && rule.strategy.place(value) == Ok(partition as u32)
    }

    fn partition(
        &self,
        rule: &Rule,
        key: Option<Option<KeyValue<'_>>>,
        count: usize,
    ) -> Result<usize, KeyError> {
        let names = || (self.name.to_string(), rule.column.to_string());
        let value = match key {
            Some(Some(value)) => value,
            Some(None) => {
                let (table, column) = names();
                return Err(KeyError::Null { table, column });
            }
            None => {
                let (table, column) = names();
                return Err(KeyError::Missing { table, column });
            }
        };
        let placed = if value.is_of(rule.kind) {
            rule.strategy.place(&value)
        } else {
            Err(Misplaced::Kind)
        };
        match placed {
            Ok(partition) if (partition as usize) < count => Ok(partition as usize),
            Ok(_) | Err(Misplaced::Outside) => {
                let ((table, column), strategy) = (names(), rule.strategy.describe());
                Err(KeyError::Outside {
                    table,
                    column,
                    value: value.to_string(),
                    strategy,
                })
            }
            Err(Misplaced::Kind) => {
                let ((table, column), kind) = (names(), rule.kind);
                Err(KeyError::Kind {
                    table,
                    column,
                    kind,
                    value: value.to_string(),
                })
            }
        }
    }

    /// The positions of the nodes that can hold rows whose keys are in the sets that `keys` gives
    /// for each rule, in order. None is possible: then no row can match.
    pub fn route<'v>(&self, mut keys: impl FnMut(&Rule) -> KeySet<'v>) -> Vec<usize> {
        let mut partitions = |rule: &Option<Rule>, count: usize| -> Vec<u32> {
            // A topology never has more partitions than fit.
            let count = count as u32;
            match rule {
                // A row whose key is NULL is refused, so there is no node for NULL.
                Some(rule) => rule.strategy.route(&keys(rule)).below(count).collect(),
                None => (0..count).collect(),
            }
        };
        let sources = partitions(&self.source_rule, self.sources.len());
        let tails = partitions(&self.table_rule, self.physical.len());
        if sources == [0] {
            return tails.into_iter().map(|tail| tail as usize).collect();
        }
        let width = self.physical.len();
        sources
            .iter()
            .flat_map(|&source| {
                tails
                    .iter()
                    .map(move |&t| source as usize * width + t as usize)
            })
            .collect()
    }
}
