use std::borrow::Cow;
use std::sync::Arc;

use crate::error::KeyError;
use crate::key::{KeyKind, KeySet, KeyValue};
use crate::strategy::{Misplaced, Partitions, Strategy, is_alike};

/// A column of a sharding key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    pub(super) name: Cow<'static, str>,
    pub(super) kind: KeyKind,
}

impl KeyColumn {
    /// The name of the column in the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the column holds.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }
}

/// A sharding key of one column or several, and the strategy that places rows by it.
#[derive(Clone, Debug)]
pub struct Key {
    pub(super) columns: Vec<KeyColumn>,
    pub(super) strategy: Arc<dyn Strategy>,
}

/// What chooses the data source, the tail or the node of a row: a key, and secondary keys that
/// choose the same and so narrow routes too.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) key: Key,
    pub(super) secondary: Vec<Key>,
}

/// A row's value of a key column: `None` if the row does not say, `Some(None)` if it is NULL.
pub type RowKey<'v> = Option<Option<KeyValue<'v>>>;

/// The most tuples of a composite key that a route looks at one by one.
const MAX_TUPLES: usize = 10_000;

impl Key {
    /// The columns, at least one.
    pub fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }

    /// The strategy.
    pub fn strategy(&self) -> &dyn Strategy {
        &*self.strategy
    }

    /// The columns' names, as a reader writes them.
    pub fn label(&self) -> Cow<'_, str> {
        match self.columns.as_slice() {
            [one] => Cow::Borrowed(&*one.name),
            several => {
                let names: Vec<_> = several.iter().map(|column| &*column.name).collect();
                Cow::Owned(names.join(", "))
            }
        }
    }

    /// The values of the whole key, from those of each column.
    pub fn values<'v>(&self, mut of: impl FnMut(&KeyColumn) -> KeySet<'v>) -> KeySet<'v> {
        match self.columns.as_slice() {
            [one] => of(one),
            several => {
                let sets: Vec<_> = several.iter().map(of).collect();
                KeySet::tuples(&sets, MAX_TUPLES)
            }
        }
    }

    /// Whether two keys place rows with equal values alike.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let kinds = |key: &Self| key.columns.iter().map(|c| c.kind).collect::<Vec<_>>();
        kinds(self) == kinds(other) && is_alike(&*self.strategy, &*other.strategy)
    }

    /// The partition of a row; `None` if a column is NULL.
    fn place<'v>(
        &self,
        table: &dyn std::fmt::Display,
        of: &mut dyn FnMut(&KeyColumn) -> RowKey<'v>,
    ) -> Result<Option<u32>, KeyError> {
        let mut parts = Vec::new();
        for column in &self.columns {
            let (table, name) = (|| table.to_string(), || column.name.to_string());
            match of(column) {
                None => {
                    let (table, column) = (table(), name());
                    return Err(KeyError::Missing { table, column });
                }
                Some(None) => return Ok(None),
                Some(Some(value)) if value.is_of(column.kind) => parts.push(value),
                Some(Some(value)) => {
                    return Err(KeyError::Kind {
                        table: table(),
                        column: name(),
                        kind: column.kind,
                        value: value.to_string(),
                    });
                }
            }
        }
        let value = match (parts.len(), parts.pop()) {
            (1, Some(value)) => value,
            (_, last) => {
                parts.extend(last);
                KeyValue::Tuple(parts)
            }
        };
        match self.strategy.place(&value) {
            Ok(partition) => Ok(Some(partition)),
            Err(Misplaced::Outside) => Err(self.outside(table, &value)),
            Err(Misplaced::Kind) => Err(KeyError::Kind {
                table: table.to_string(),
                column: self.label().into_owned(),
                kind: self.columns[0].kind,
                value: value.to_string(),
            }),
        }
    }

    fn outside(&self, table: &dyn std::fmt::Display, value: &dyn std::fmt::Display) -> KeyError {
        KeyError::Outside {
            table: table.to_string(),
            column: self.label().into_owned(),
            value: value.to_string(),
            strategy: self.strategy.describe(),
        }
    }
}

impl Rule {
    /// The key that decides.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The secondary keys. A row must give each of them a value that chooses the same as the key
    /// does, or NULL.
    pub fn secondary(&self) -> &[Key] {
        &self.secondary
    }

    /// All keys, the one that decides first.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.key).chain(&self.secondary)
    }

    /// Whether two rules place rows with equal keys alike.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.key.is_alike(&other.key)
    }

    /// The partition of a row, less than `count`.
    pub(super) fn place<'v>(
        &self,
        table: &dyn std::fmt::Display,
        of: &mut dyn FnMut(&KeyColumn) -> RowKey<'v>,
        count: u32,
    ) -> Result<u32, KeyError> {
        let label = || self.key.label().into_owned();
        let Some(partition) = self.key.place(table, of)? else {
            let table = table.to_string();
            return Err(KeyError::Null {
                table,
                column: label(),
            });
        };
        if partition >= count {
            let value = Shown(
                self.key
                    .columns
                    .iter()
                    .filter_map(|c| of(c).flatten())
                    .collect(),
            );
            return Err(self.key.outside(table, &value));
        }
        for secondary in &self.secondary {
            let other = secondary.place(table, of)?;
            if other.is_some_and(|other| other != partition) {
                return Err(KeyError::Disagree {
                    table: table.to_string(),
                    key: label(),
                    secondary: secondary.label().into_owned(),
                });
            }
        }
        Ok(partition)
    }

    /// The partitions that can hold rows whose columns are in the sets.
    pub(super) fn route<'v>(&self, of: &mut dyn FnMut(&KeyColumn) -> KeySet<'v>) -> Partitions {
        // A row whose key is NULL is refused, so there is no partition for NULL.
        let mut found = self.key.strategy.route(&self.key.values(&mut *of));
        for secondary in &self.secondary {
            // A secondary key may be NULL in any partition.
            let mut may_be_null = false;
            let values = secondary.values(|column| {
                let set = of(column);
                may_be_null |= set.has_null();
                set
            });
            if !may_be_null {
                found = found.intersect(&secondary.strategy.route(&values));
            }
        }
        found
    }
}

/// Values of a key as one.
struct Shown<'v>(Vec<KeyValue<'v>>);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.as_slice() {
            [one] => one.fmt(f),
            several => KeyValue::Tuple(several.to_vec()).fmt(f),
        }
    }
}
