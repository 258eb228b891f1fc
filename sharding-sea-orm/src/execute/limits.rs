use std::num::NonZeroUsize;
use std::time::Duration;

use sharding_core::execute::ConnectionMode;

/// What a statement may take of the data sources.
///
/// Limits are given for a whole connection ([`ShardingBuilder::limits`]), for one data source
/// ([`ShardingBuilder::source_limits`]) and for single statements
/// ([`ShardingConnection::with_limits`]). What is not given in a closer place holds from the wider
/// one.
///
/// ```
/// use std::time::Duration;
///
/// use sharding_sea_orm::{ConnectionMode, Limits};
///
/// let report = Limits::new()
///     .connection_mode(ConnectionMode::MemoryStrictly)
///     .statement_timeout(Duration::from_secs(60))
///     .max_nodes(12);
/// ```
///
/// [`ShardingBuilder::limits`]: crate::ShardingBuilder::limits
/// [`ShardingBuilder::source_limits`]: crate::ShardingBuilder::source_limits
/// [`ShardingConnection::with_limits`]: crate::ShardingConnection::with_limits
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Limits {
    pub(crate) max_query_connections: Option<NonZeroUsize>,
    pub(crate) connection_mode: Option<ConnectionMode>,
    pub(crate) max_nodes: Option<usize>,
    pub(crate) statement_timeout: Option<Duration>,
    pub(crate) acquire_timeout: Option<Duration>,
    pub(crate) retry: Option<Retry>,
}

/// How often a read is tried again whose connection has failed before it gave a row. Nothing is
/// tried again within a transaction, after a timeout, or if it writes or locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How many times at most, after the first one.
    pub times: u32,
    /// How long to wait before each.
    pub pause: Duration,
}

impl Limits {
    /// No limit of its own.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many connections of one data source a query uses, at least 1: the available parallelism
    /// unless given, and never more than the pool's size.
    /// [`ConnectionMode::MemoryStrictly`] uses more.
    pub fn max_query_connections(self, count: usize) -> Self {
        Self {
            max_query_connections: NonZeroUsize::new(count.max(1)),
            ..self
        }
    }

    /// Whether a query that has several statements for a data source saves memory or connections:
    /// [`ConnectionMode::Auto`] unless given.
    pub fn connection_mode(self, mode: ConnectionMode) -> Self {
        Self {
            connection_mode: Some(mode),
            ..self
        }
    }

    /// How many physical tables one statement may reach, of all data sources together. One that
    /// would reach more is refused before any database is asked. Not limited unless given; a
    /// mistake in the limits of one data source.
    pub fn max_nodes(self, count: usize) -> Self {
        Self {
            max_nodes: Some(count),
            ..self
        }
    }

    /// How long a node may take for its statement, from when it has a connection until its last
    /// row; of a stream, how long until the next row. Not limited unless given. With zero every
    /// statement fails.
    pub fn statement_timeout(self, timeout: Duration) -> Self {
        Self {
            statement_timeout: Some(timeout),
            ..self
        }
    }

    /// How long a statement waits for the connections that it needs of a data source: as long as
    /// the pool would wait unless given, 30 seconds by default.
    pub fn acquire_timeout(self, timeout: Duration) -> Self {
        Self {
            acquire_timeout: Some(timeout),
            ..self
        }
    }

    /// Whether reads are tried again after their connection has failed: not unless given.
    pub fn retry(self, retry: Retry) -> Self {
        Self {
            retry: Some(retry),
            ..self
        }
    }

    /// The names of the limits that these and others give differently.
    #[cfg(feature = "config")]
    pub(crate) fn conflicts(self, other: Self) -> Vec<&'static str> {
        fn differ<T: PartialEq>(own: Option<T>, other: Option<T>) -> bool {
            own.zip(other).is_some_and(|(own, other)| own != other)
        }
        let (a, b) = (self, other);
        let conflicts = [
            (
                "max_query_connections",
                differ(a.max_query_connections, b.max_query_connections),
            ),
            (
                "connection_mode",
                differ(a.connection_mode, b.connection_mode),
            ),
            ("max_nodes", differ(a.max_nodes, b.max_nodes)),
            (
                "statement_timeout_seconds",
                differ(a.statement_timeout, b.statement_timeout),
            ),
            (
                "acquire_timeout_seconds",
                differ(a.acquire_timeout, b.acquire_timeout),
            ),
            ("retry", differ(a.retry, b.retry)),
        ];
        let conflicts = conflicts.into_iter().filter(|(_, differ)| *differ);
        conflicts.map(|(name, _)| name).collect()
    }

    /// These limits, and others where these say nothing.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            max_query_connections: self.max_query_connections.or(other.max_query_connections),
            connection_mode: self.connection_mode.or(other.connection_mode),
            max_nodes: self.max_nodes.or(other.max_nodes),
            statement_timeout: self.statement_timeout.or(other.statement_timeout),
            acquire_timeout: self.acquire_timeout.or(other.acquire_timeout),
            retry: self.retry.or(other.retry),
        }
    }
}
