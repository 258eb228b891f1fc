//! The configuration as a file.
//!
//! A text is parsed into a tree that knows places and spellings (`tree`), read as the serde model
//! that begins with `file`, and made into drafts that override those of the code. Whatever is
//! wrong is reported at its place, and reading goes on (`read`, `field`).

mod access;
mod calendar;
mod context;
mod env;
mod error;
mod field;
mod file;
mod from_toml;
mod from_yaml;
mod limits;
mod number;
mod path;
mod read;
mod scalar;
#[cfg(feature = "schema")]
mod schema;
mod snowflake;
mod source;
mod strategy;
mod suggest;
mod table;
mod time;
mod tree;
mod values;

use std::ffi::OsStr;
use std::fmt;

use sharding_core::execute::BreakerRules;
use sharding_core::topology::{Mistake, TableName};

use self::env::Env;
use self::file::Contents;
use self::tree::Node;
use crate::execute::Limits;

#[cfg(feature = "schema")]
pub use schema::json_schema;
pub(crate) use source::SourceConfig;
pub(crate) use table::TableConfig;

/// A configuration file, read from YAML or TOML: data sources, and the rules of tables, which take
/// the place of those in the code.
///
/// Reading never fails. What is wrong is kept, and reported by
/// [`connect`](super::ShardingBuilder::connect) together with everything else that is wrong.
///
/// ```yaml
/// default_source: ds0
/// limits:                       # of every statement
///   max_query_connections: 4
///   connection_mode: auto       # or memory_strictly, connection_strictly
///   max_nodes: 100
///   statement_timeout_seconds: 30
///   acquire_timeout_seconds: 2.5
///   retry: { times: 2, pause_seconds: 0.1 }
/// breaker: { failures: 5, pause_seconds: 1 }
/// sources:                      # in the order of the file
///   ds0:
///     url: ${DS0_URL}
///     max_connections: 10       # min_connections, connect_timeout_seconds,
///                               # acquire_timeout_seconds, idle_timeout_seconds,
///                               # max_lifetime_seconds, connect_lazy, test_before_acquire,
///                               # test_before_acquire_if_idle_for_seconds, sqlx_logging,
///                               # schema_search_path
///     limits: { max_query_connections: 2 }
///   ds1: ${DS1_URL:-sqlite://ds1.db}
/// draining: [ds1]               # gets no new rows
/// broadcast: [carrier]          # in every source
/// single: { job: ds0 }          # in one
/// co_located: [[order, order_item]]
/// tables:
///   order: &order
///     separator: _
///     source: { key: user_id, by: { strategy: hash_modulo, shards: 2 }, names: [ds0, ds1] }
///     table:
///       key: [tenant, id]       # a column or several
///       by: { strategy: hash_modulo, shards: 4 }
///       also:                   # secondary keys
///         - { key: number, by: { strategy: embedded, from: 0, length: 1,
///                                names: { strategy: modulo, shards: 4 } } }
///     tails: { ds0: [0..2], ds1: [3..] }
///   order_item: *order
///   sales.flight:               # in TOML in quotes: [tables."sales.flight"]
///     table: { key: created_at, by: { strategy: monthly, starting: 2013-01, zone: +08 } }
///   event:
///     node:
///       key: id
///       by:
///         strategy: snowflake_hash
///         epochs:               # from these times on, by where ranges of hashes start
///           2016-10-31T17:00:00Z:
///             0x0000: { database: ds0, tables: { 0x0000: event_0, 0x8000: event_1 } }
///           2016-11-20T17:00:00+08:
///             0x0000: { database: ds0, tables: { 0x0000: event_2 } }
///             0x8000: { database: ds1, tables: { 0x0000: event_3 } }
/// ```
///
/// A `source`, `table` or `node` of the file takes the place of the code's with all that belongs
/// to it: `source` with the `names`, `node` with everything that cannot be beside it. `separator`
/// and `tails` are taken one by one.
///
/// # Strategies
///
/// ```yaml
/// - { strategy: modulo, shards: 4 }
/// - { strategy: hash_modulo, shards: 4 }
/// - { strategy: hash_buckets, buckets: 1024, even: 4 }
/// - { strategy: hash_buckets, ranges: [{ less_than: MAXVALUE, partition: a }] }
/// - { strategy: ranges, ranges: [{ less_than: 100, partition: a }, { less_than: MAXVALUE, partition: b }] }
/// - { strategy: lists, lists: [{ values: [cz, de], partition: eu }], otherwise: rest }
/// - { strategy: hourly, starting: 2013-01-31T05, through: 2013-12-31T23 }
/// - { strategy: daily, starting: 2013-01-31, ahead: 7 }
/// - { strategy: weekly, starting: 2013-01-31, zone: Europe/Prague }
/// - { strategy: monthly, starting: 2013-01, unix: seconds }
/// - { strategy: quarterly, starting: 2013-q1 }
/// - { strategy: yearly, starting: 2013 }
/// - { strategy: every_days, days: 10, starting: 2013-01-31 }
/// - { strategy: snowflake_time, calendar: { strategy: monthly, starting: 2013-01 },
///     layout: { epoch: 2010-11-04T01:42:54.657Z, lower_bits: 22 } }
/// - strategy: snowflake_hash    # or with less_than instead of starts
///   epochs:
///     - time_less_than: 2016-11-20T17:00:00+08:00
///       databases: [{ less_than: MAXVALUE, database: ds0, tables: [{ less_than: MAXVALUE, table: t_0 }] }]
///     - databases: { mod: [{ database: ds0, tables: { mod: [t_1, t_2] } }] }
/// - { strategy: embedded, from: 0, length: 6, names: { strategy: monthly, starting: 2013-01 } }
/// ```
///
/// Bounds and values are numbers if they look so and have no quotes, dates if TOML calls them that,
/// and texts otherwise, unless `kind` says that they are `integer`, `decimal`, `text`, `date`,
/// `timestamp` or `instant`. Numbers are decimal or hexadecimal, elsewhere also in quotes. A time
/// without an offset is in UTC.
///
/// # Variables and secrets
///
/// In every text, `${NAME}` stands for a variable of the environment, `${NAME:-default}` for one
/// that may be missing or empty, and `$$` for a `$`. In TOML they are in quotes.
///
/// A URL, and the value of a variable, is in no message about the file and in no `Debug` output. A
/// value that becomes a name, such as that of a source or a partition, is shown later on like any
/// other name.
#[derive(Clone)]
pub struct Config {
    contents: Contents,
    mistakes: Vec<Mistake>,
}

impl Config {
    /// Reads YAML, with the variables of the process.
    pub fn from_yaml(text: &str) -> Self {
        Self::from_yaml_with(text, &process)
    }

    /// Reads YAML, with variables of the environment from elsewhere.
    pub fn from_yaml_with(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Self {
        Self::of(from_yaml::parse(text).map_err(|mistake| vec![mistake]), env)
    }

    /// Reads TOML, with the variables of the process.
    pub fn from_toml(text: &str) -> Self {
        Self::from_toml_with(text, &process)
    }

    /// Reads TOML, with variables of the environment from elsewhere.
    pub fn from_toml_with(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Self {
        Self::of(from_toml::parse(text), env)
    }

    /// Reads a file that ends with `.yaml`, `.yml` or `.toml`, with the variables of the process.
    /// A file that cannot be read is a mistake like others.
    pub fn read(path: impl AsRef<std::path::Path>) -> Self {
        Self::read_with(path, &process)
    }

    /// Reads a file that ends with `.yaml`, `.yml` or `.toml`, with variables of the environment
    /// from elsewhere. A file that cannot be read is a mistake like others.
    pub fn read_with(
        path: impl AsRef<std::path::Path>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let path = path.as_ref();
        let unreadable = |why: String| {
            let at = path.display().to_string();
            Self::of(Err(vec![Mistake::File { at, why }]), env)
        };
        let is_toml = match path.extension().and_then(OsStr::to_str) {
            Some("yaml" | "yml") => false,
            Some("toml") => true,
            _ => return unreadable("has to end with `.yaml`, `.yml` or `.toml`".to_owned()),
        };
        match std::fs::read_to_string(path) {
            Ok(text) if is_toml => Self::from_toml_with(&text, env),
            Ok(text) => Self::from_yaml_with(&text, env),
            Err(error) => unreadable(format!("cannot be read: {error}")),
        }
    }

    fn of(parsed: Result<Node, Vec<Mistake>>, env: Env<'_>) -> Self {
        let (contents, mistakes) = match parsed {
            Ok(root) => file::read(&root, env),
            Err(mistakes) => (Contents::default(), mistakes),
        };
        Self { contents, mistakes }
    }

    /// Everything that is wrong with the form of the file, in its order.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    /// Whether every source and table of the file is known, right or wrong. If not, the mistakes
    /// that a topology without them has follow from those of the file.
    pub(crate) fn is_complete(&self) -> bool {
        self.contents.is_complete
    }

    /// The data sources, in order.
    pub(crate) fn sources(&self) -> &[SourceConfig] {
        &self.contents.sources
    }

    /// The data source of tables that are not declared.
    pub(crate) fn default_source(&self) -> Option<&str> {
        self.contents.default_source.as_deref()
    }

    /// What every statement may take.
    pub(crate) fn limits(&self) -> Limits {
        self.contents.limits
    }

    /// When a data source is left alone.
    pub(crate) fn breaker(&self) -> Option<BreakerRules> {
        self.contents.breaker
    }

    /// The data sources that get no new rows.
    pub(crate) fn draining(&self) -> &[String] {
        &self.contents.draining
    }

    /// The tables that are present in full in every data source.
    pub(crate) fn broadcast(&self) -> &[TableName] {
        &self.contents.broadcast
    }

    /// The tables that are not sharded, each with its data source.
    pub(crate) fn single(&self) -> &[(TableName, String)] {
        &self.contents.single
    }

    /// Groups of tables that place rows with equal keys together.
    pub(crate) fn co_located(&self) -> &[Vec<TableName>] {
        &self.contents.co_located
    }

    /// The sharded tables, in order.
    pub(crate) fn tables(&self) -> &[TableConfig] {
        &self.contents.tables
    }
}

/// Counts instead of contents, any of which may come from the environment.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("sources", &self.contents.sources.len())
            .field("tables", &self.contents.tables.len())
            .field("mistakes", &self.mistakes)
            .finish_non_exhaustive()
    }
}

fn process(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[cfg(test)]
mod tests;
