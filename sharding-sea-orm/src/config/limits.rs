//! Limits of the model.

use serde::Deserialize;
use sharding_core::execute::{BreakerRules, ConnectionMode};

use super::context::Context;
use super::field::Field;
use super::scalar::{Count, Positive, Seconds, Timeout};
use crate::execute::{Limits, Retry};

/// What a statement may take.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Limits"))]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct LimitsSection {
    /// How many connections of one data source a query uses: the available parallelism unless
    /// given, and never more than the pool's size.
    #[serde(default)]
    max_query_connections: Field<Option<Positive>>,
    /// Whether a query that has several statements for a data source saves memory or connections:
    /// `auto` unless given.
    #[serde(default)]
    connection_mode: Field<Option<Mode>>,
    /// How many physical tables one statement may reach, of all data sources together: not limited
    /// unless given. It is not for one source.
    #[serde(default)]
    max_nodes: Field<Option<Positive>>,
    /// How long a node may take for its statement; of a stream, until its next row. Not limited
    /// unless given.
    #[serde(default)]
    statement_timeout_seconds: Field<Option<Timeout>>,
    /// How long a statement waits for the connections that it needs of a data source: as long as the
    /// pool would wait unless given.
    #[serde(default)]
    acquire_timeout_seconds: Field<Option<Seconds>>,
    /// Whether reads are tried again after their connection has failed: not unless given.
    #[serde(default)]
    retry: Field<Option<RetrySection>>,
}

/// What a query saves.
#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ConnectionMode"))]
#[serde(
    rename_all = "snake_case",
    expecting = "`auto`, `memory_strictly` or `connection_strictly`"
)]
pub(super) enum Mode {
    /// Connections if there are more statements than connections of the query, memory otherwise.
    Auto,
    /// Memory: a connection for each statement.
    MemoryStrictly,
    /// Connections: statements in groups, with the rows of the page kept.
    ConnectionStrictly,
}

/// How often a read is tried again whose connection has failed.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Retry"))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `times` and `pause_seconds`"
)]
pub(super) struct RetrySection {
    /// How many times at most, after the first one.
    times: Field<Count>,
    /// How long to wait before each.
    pause_seconds: Field<Seconds>,
}

/// When a data source that does not answer is left alone, and for how long.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Breaker"))]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct BreakerSection {
    /// After so many failures in a row: 5 unless given.
    #[serde(default)]
    failures: Field<Option<Positive>>,
    /// For so long: a second unless given.
    #[serde(default)]
    pause_seconds: Field<Option<Seconds>>,
}

impl LimitsSection {
    pub(super) fn limits(&self) -> Limits {
        let mut limits = Limits::new();
        if let Some(Positive(count)) = self.max_query_connections.given() {
            limits = limits.max_query_connections(*count as usize);
        }
        if let Some(mode) = self.connection_mode.given() {
            limits = limits.connection_mode(match mode {
                Mode::Auto => ConnectionMode::Auto,
                Mode::MemoryStrictly => ConnectionMode::MemoryStrictly,
                Mode::ConnectionStrictly => ConnectionMode::ConnectionStrictly,
            });
        }
        if let Some(Positive(count)) = self.max_nodes.given() {
            limits = limits.max_nodes(*count as usize);
        }
        if let Some(Timeout(timeout)) = self.statement_timeout_seconds.given() {
            limits = limits.statement_timeout(*timeout);
        }
        if let Some(Seconds(timeout)) = self.acquire_timeout_seconds.given() {
            limits = limits.acquire_timeout(*timeout);
        }
        if let Some(RetrySection {
            times,
            pause_seconds,
        }) = self.retry.given()
            && let (Some(times), Some(pause)) = (times.get(), pause_seconds.get())
        {
            limits = limits.retry(Retry {
                times: times.0,
                pause: pause.0,
            });
        }
        limits
    }

    /// The limits of one data source.
    pub(super) fn of_source(&self, context: &Context<'_>) -> Limits {
        if self.max_nodes.is_given() {
            let why = "counts the tables of all data sources; give it in the limits of the file";
            context.wrong(&self.max_nodes, why);
        }
        Limits {
            max_nodes: None,
            ..self.limits()
        }
    }
}

impl BreakerSection {
    pub(super) fn rules(&self) -> BreakerRules {
        let default = BreakerRules::default();
        BreakerRules {
            failures: self
                .failures
                .given()
                .map_or(default.failures, |count| count.0),
            pause: self
                .pause_seconds
                .given()
                .map_or(default.pause, |pause| pause.0),
        }
    }
}
