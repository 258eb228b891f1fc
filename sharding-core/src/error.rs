//! What can go wrong, grouped by who must act.

use crate::key::KeyKind;
pub use crate::plan::{Clause, Refusal};
pub use crate::topology::{ConfigError, Mistake};

/// A row's sharding key does not lead to a node. The author of the statement must act.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// A row to insert does not name its sharding key. Set it: a default of the database comes
    /// too late to choose the node.
    #[error("a row for `{table}` does not set its sharding key `{column}`")]
    Missing {
        /// The table.
        table: String,
        /// The key column.
        column: String,
    },
    /// A row to insert has NULL for its sharding key. Give it a value.
    #[error("a row for `{table}` has NULL for its sharding key `{column}`")]
    Null {
        /// The table.
        table: String,
        /// The key column.
        column: String,
    },
    /// A row to insert has a key of another kind than its column, so that it depends on the
    /// database's conversion where the row would be found. Convert the value first.
    #[error("`{value}` is no {kind} and cannot place a row of `{table}` by `{column}`")]
    Kind {
        /// The table.
        table: String,
        /// The key column.
        column: String,
        /// What the column holds.
        kind: KeyKind,
        /// The value.
        value: String,
    },
    /// A row to insert has a key outside of all partitions, such as a date before the first month
    /// or after the last. Extend the strategy, or correct the value.
    #[error("no tail of `{table}` takes `{column}` = {value}: {strategy}")]
    Outside {
        /// The table.
        table: String,
        /// The key column.
        column: String,
        /// The value.
        value: String,
        /// The strategy, described.
        strategy: String,
    },
    /// A secondary key leads to another place than the key that decides, so the row would not be
    /// found by it. Correct one of the values.
    #[error("a row for `{table}` has its `{secondary}` in another place than its `{key}`")]
    Disagree {
        /// The table.
        table: String,
        /// The columns that decide.
        key: String,
        /// The columns of the secondary key.
        secondary: String,
    },
    /// A row's data source does not have its tail. List the tail for that source.
    #[error("the data source of a row for `{table}` has no tail `{tail}`")]
    NoTail {
        /// The table.
        table: String,
        /// The tail.
        tail: String,
    },
}
