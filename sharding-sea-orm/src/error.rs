//! What can go wrong, grouped by who must act.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sea_orm::DbErr;
pub use sharding_core::error::{Clause, ConfigError, KeyError, Mistake, Refusal};
pub use sharding_core::merge::MergeError;

/// An error of the sharding layer. Errors of the databases are passed through as [`DbErr`].
///
/// Inside of SeaORM's calls it travels as the source of a [`DbErr`]; [`ShardingError::of`] finds
/// it again.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShardingError {
    // For the author of the entities and the configuration.
    /// The configuration has mistakes, all of which are listed. Correct them.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A foreign key of a sharded table leads to a table that is not in the same place. Give the
    /// relation `skip_fk`.
    #[error("the foreign key from `{table}` to `{target}` cannot be kept: {why}")]
    ForeignKey {
        /// The sharded table.
        table: String,
        /// The table that the key leads to.
        target: String,
        /// Why the target is out of reach.
        why: &'static str,
    },

    // For the author of the statement.
    /// The statement cannot be answered exactly over the nodes that it reaches. The text names the
    /// clause and the way out.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A row to insert has no usable sharding key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A row's key would be rounded by the database to a value that may belong to another node.
    /// Round the value first, or give the column enough digits.
    #[error(
        "the database would round `{column}` = {value} for `{table}`, possibly to another tail; \
         round it first"
    )]
    RoundedKey {
        /// The table.
        table: String,
        /// The key column.
        column: String,
        /// The value.
        value: String,
    },
    /// A key with a UTC offset other than zero for SQLite, which compares timestamps as text.
    /// Convert it to UTC.
    #[error(
        "SQLite compares timestamps as text, so `{column}` of `{table}` must be in UTC, not {value}"
    )]
    KeyNotUtc {
        /// The table.
        table: String,
        /// The key column.
        column: String,
        /// The value.
        value: String,
    },
    /// A row to insert belongs to a data source that is being drained. Choose another key, or end
    /// the draining.
    #[error("a row for `{table}` belongs to data source `{data_source}`, which is being drained")]
    Draining {
        /// The table.
        table: String,
        /// The data source.
        data_source: String,
    },
    /// A transaction stays on one data source. Write to the other one in a transaction of its own.
    #[error(
        "this transaction is on data source `{first}`; a statement that reaches `{second}` cannot \
         take part"
    )]
    SecondSource {
        /// The source of the transaction.
        first: String,
        /// The other source that the statement needs.
        second: String,
    },
    /// A column has values that cannot be merged: of a type whose order is not known, or that
    /// cannot be given back unchanged. Select the rows themselves, or add the sharding key.
    #[error("values of the type {type_name} in column `{column}` cannot be merged across nodes")]
    UnmergeableType {
        /// The column in the select list.
        column: String,
        /// The database's name of the type.
        type_name: String,
    },
    /// The statement would reach more physical tables than it may. Add the sharding key, or raise
    /// the limit.
    #[error("the statement would reach {nodes} physical tables, and may reach {max}: {tables}")]
    TooManyNodes {
        /// The sharded tables.
        tables: String,
        /// How many physical tables it would reach.
        nodes: usize,
        /// How many it may.
        max: usize,
    },
    /// Rows of several nodes cannot be merged.
    #[error(transparent)]
    Merge(#[from] MergeError),

    // For the operator.
    /// Physical tables are missing. `create_tables` creates them.
    #[error(
        "the table `{table}` has no physical table `{physical}` in data source `{data_source}`; \
         `create_tables` creates it"
    )]
    MissingTable {
        /// The logical table.
        table: String,
        /// The first missing physical table.
        physical: String,
        /// The data source.
        data_source: String,
    },
    /// A data source could not be reached while connecting.
    #[error("data source `{data_source}` cannot be reached: {error}")]
    Unreachable {
        /// The data source.
        data_source: String,
        /// What its driver said.
        #[source]
        error: DbErr,
    },
    /// No connection of a data source became free in time. Raise the pool's size or its acquire
    /// timeout, or hold fewer streams and transactions open at once.
    #[error(
        "no connection of data source `{data_source}` became free in time: {wanted} wanted, \
         {free} of {size} free{}",
        while_holding(held)
    )]
    NoConnection {
        /// The data source.
        data_source: String,
        /// How many connections the statement wanted at once.
        wanted: u32,
        /// How many were free when it gave up; others may have waited for them before it.
        free: u32,
        /// The size of the pool.
        size: u32,
        /// The connections of other data sources that the statement held meanwhile.
        held: Vec<(String, u32)>,
    },
    /// A query that saves memory strictly needs a cursor for each physical table, and the pool has
    /// fewer connections. Raise its size, or choose another connection mode.
    #[error(
        "{wanted} cursors are needed in data source `{data_source}`, whose pool has {size} \
         connections; choose another connection mode, or a larger pool"
    )]
    TooFewConnections {
        /// The data source.
        data_source: String,
        /// How many cursors are needed.
        wanted: usize,
        /// The size of the pool.
        size: u32,
    },
    /// A data source did not answer within the statement timeout. Look at the statement, or at the
    /// data source.
    #[error("data source `{data_source}` did not answer within {timeout:?}")]
    Timeout {
        /// The data source.
        data_source: String,
        /// The timeout.
        timeout: Duration,
    },
    /// A data source has failed several times in a row, and is left alone for a while. Look at the
    /// data source; statements are tried again by themselves.
    #[error("data source `{data_source}` has failed and is left alone for another {pause:?}")]
    SourceDown {
        /// The data source.
        data_source: String,
        /// How long it is still left alone; zero while another statement is tried.
        pause: Duration,
    },
    /// Physical tables of a statement that reached several have failed; what each of them said is
    /// listed. The others were given up.
    #[error("{} of {asked} nodes failed: {}", failures.len(), listed(failures))]
    NodesFailed {
        /// The failures, at least one; the first one is that which ended the statement.
        failures: Vec<NodeFailure>,
        /// How many nodes the statement reached.
        asked: usize,
    },
    /// A database answered otherwise than SQL promises. Please report it.
    #[error("unexpected answer: {0}")]
    Unexpected(&'static str),
    /// A database error while tables were created or examined.
    #[error(transparent)]
    Db(#[from] DbErr),
}

impl ShardingError {
    /// The sharding error inside of a database error, if there is one.
    pub fn of(error: &DbErr) -> Option<&Self> {
        match error {
            DbErr::TryIntoErr { source, .. } => source.downcast_ref(),
            _ => None,
        }
    }
}

/// What one node said that has failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeFailure {
    /// The data source.
    pub data_source: String,
    /// The physical table; the first one if the statement was for several.
    pub table: String,
    /// What the database, or the way to it, said.
    pub error: DbErr,
}

impl fmt::Display for NodeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` in `{}`: {}",
            self.table, self.data_source, self.error
        )
    }
}

/// The error of a statement that reached several nodes. What is wrong with the statement itself, or
/// with the tables, is told as it is.
pub(crate) fn nodes_failed(mut failures: Vec<NodeFailure>, asked: usize) -> DbErr {
    let told = failures.iter().position(|failure| {
        !matches!(
            ShardingError::of(&failure.error),
            None | Some(
                ShardingError::Timeout { .. }
                    | ShardingError::SourceDown { .. }
                    | ShardingError::NoConnection { .. }
            )
        )
    });
    match told {
        Some(at) => failures.swap_remove(at).error,
        None => ShardingError::NodesFailed { failures, asked }.into(),
    }
}

fn listed(failures: &[NodeFailure]) -> String {
    let texts: Vec<String> = failures.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

fn while_holding(held: &[(String, u32)]) -> String {
    if held.is_empty() {
        return String::new();
    }
    let texts: Vec<String> = held
        .iter()
        .map(|(name, count)| format!("{count} of `{name}`"))
        .collect();
    format!(", while it held {}", texts.join(" and "))
}

/// SeaORM's error has one variant that keeps any error as its source: a failed conversion, here of
/// a statement into the statements of the nodes.
impl From<ShardingError> for DbErr {
    fn from(error: ShardingError) -> Self {
        match error {
            ShardingError::Db(error) => error,
            error => Self::TryIntoErr {
                from: "statement",
                into: "statements of the nodes",
                source: Arc::new(error),
            },
        }
    }
}
