//! Data sources of the model.

use std::time::Duration;

use serde::Deserialize;

use super::context::Context;
use super::field::Field;
use super::limits::LimitsSection;
use super::scalar::{Count, Positive, Seconds, Secret, SourceName, Switch, Text};
use crate::execute::Limits;

/// A data source: its URL, or a mapping with the URL and options of its pool.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Source", untagged))]
#[serde(rename = "form", expecting = "a URL, or a mapping with `url`")]
pub(super) enum SourceSection {
    /// The URL.
    #[serde(rename = "text")]
    Url(Field<Secret>),
    /// The URL and options of the pool.
    #[serde(rename = "map")]
    Pool(Box<PoolSection>),
}

/// The URL of a data source and options of its pool.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Pool"))]
#[serde(deny_unknown_fields, expecting = "a mapping with `url`")]
pub(super) struct PoolSection {
    /// The URL, which may hold a password; better `${NAME}`, a variable of the environment.
    url: Field<Secret>,
    /// The most connections that the pool opens.
    #[serde(default)]
    max_connections: Field<Option<Positive>>,
    /// How many connections the pool keeps open.
    #[serde(default)]
    min_connections: Field<Option<Count>>,
    /// How long opening a connection may take.
    #[serde(default)]
    connect_timeout_seconds: Field<Option<Seconds>>,
    /// How long a statement waits for a connection.
    #[serde(default)]
    acquire_timeout_seconds: Field<Option<Seconds>>,
    /// After how long without use a connection is closed.
    #[serde(default)]
    idle_timeout_seconds: Field<Option<Seconds>>,
    /// After how long a connection is closed in any case.
    #[serde(default)]
    max_lifetime_seconds: Field<Option<Seconds>>,
    /// Whether the source is not asked before a statement needs it: false unless given.
    #[serde(default)]
    connect_lazy: Field<Option<Switch>>,
    /// Whether a connection is tried each time before a statement gets it: true unless given.
    #[serde(default)]
    test_before_acquire: Field<Option<Switch>>,
    /// In place of that: after how long without use a connection is tried before a statement gets
    /// it.
    #[serde(default)]
    test_before_acquire_if_idle_for_seconds: Field<Option<Seconds>>,
    /// Whether statements are logged.
    #[serde(default)]
    sqlx_logging: Field<Option<Switch>>,
    /// The schemas in which PostgreSQL looks for tables.
    #[serde(default)]
    schema_search_path: Field<Option<Text>>,
    /// What a statement may take of this data source, unless it has limits of its own.
    #[serde(default)]
    limits: Field<Option<LimitsSection>>,
}

/// What the file says of a data source, without `Debug`, since values may come from the environment.
#[derive(Clone, Default)]
pub(crate) struct SourceConfig {
    /// The name.
    pub(crate) name: String,
    /// The URL; `None` if it is missing or wrong, which is among the mistakes then.
    pub(crate) url: Option<Secret>,
    /// The most connections of the pool, at least 1.
    pub(crate) max_connections: Option<u32>,
    /// The least connections of the pool.
    pub(crate) min_connections: Option<u32>,
    /// How long opening a connection may take.
    pub(crate) connect_timeout: Option<Duration>,
    /// How long a statement waits for a connection.
    pub(crate) acquire_timeout: Option<Duration>,
    /// After how long without use a connection is closed.
    pub(crate) idle_timeout: Option<Duration>,
    /// After how long a connection is closed in any case.
    pub(crate) max_lifetime: Option<Duration>,
    /// Whether it is not asked before a statement needs it.
    pub(crate) connect_lazy: Option<bool>,
    /// Whether a connection is tried each time before a statement gets it.
    pub(crate) test_before_acquire: Option<bool>,
    /// After how long without use a connection is tried before a statement gets it.
    pub(crate) test_if_idle_for: Option<Duration>,
    /// Whether statements are logged.
    pub(crate) sqlx_logging: Option<bool>,
    /// The schemas in which PostgreSQL looks for tables.
    pub(crate) schema_search_path: Option<String>,
    /// What a statement may take of it.
    pub(crate) limits: Limits,
}

impl Field<SourceSection> {
    /// What the section says, as far as it is right.
    pub(super) fn config(&self, name: &SourceName, context: &Context<'_>) -> SourceConfig {
        let named = SourceConfig {
            name: name.0.clone(),
            ..SourceConfig::default()
        };
        match self.get() {
            None => named,
            Some(SourceSection::Url(url)) => SourceConfig {
                url: url.value.clone(),
                ..named
            },
            Some(SourceSection::Pool(pool)) => pool.config(named, context),
        }
    }
}

impl PoolSection {
    fn config(&self, named: SourceConfig, context: &Context<'_>) -> SourceConfig {
        let seconds = |field: &Field<Option<Seconds>>| field.given().map(|seconds| seconds.0);
        let switch = |field: &Field<Option<Switch>>| field.given().map(|switch| switch.0);
        let limits = self.limits.given();
        let (max, min) = (self.max_connections.given(), self.min_connections.given());
        let (max, min) = (max.map(|max| max.0), min.map(|min| min.0));
        if max.zip(min).is_some_and(|(max, min)| min > max) {
            context.wrong(&self.min_connections, "is more than `max_connections`");
        }
        SourceConfig {
            url: self.url.value.clone(),
            max_connections: max,
            min_connections: min,
            connect_timeout: seconds(&self.connect_timeout_seconds),
            acquire_timeout: seconds(&self.acquire_timeout_seconds),
            idle_timeout: seconds(&self.idle_timeout_seconds),
            max_lifetime: seconds(&self.max_lifetime_seconds),
            connect_lazy: switch(&self.connect_lazy),
            test_before_acquire: switch(&self.test_before_acquire),
            test_if_idle_for: seconds(&self.test_before_acquire_if_idle_for_seconds),
            sqlx_logging: switch(&self.sqlx_logging),
            schema_search_path: self.schema_search_path.given().map(|path| path.0.clone()),
            limits: limits.map_or(Limits::new(), |limits| limits.of_source(context)),
            ..named
        }
    }
}
