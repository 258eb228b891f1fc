use std::fmt;

use crate::key::KeyKind;

/// Everything that is wrong with a configuration, found before any database is touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    mistakes: Vec<Mistake>,
}

impl ConfigError {
    /// `None` if there are no mistakes.
    pub(super) fn new(mistakes: Vec<Mistake>) -> Option<Self> {
        (!mistakes.is_empty()).then_some(Self { mistakes })
    }

    /// The mistakes, in the order of the configuration: at least one.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mistakes.as_slice() {
            [one] => write!(f, "the sharding configuration has a mistake: {one}"),
            all => {
                write!(f, "the sharding configuration has {} mistakes:", all.len())?;
                all.iter()
                    .try_for_each(|mistake| write!(f, "\n- {mistake}"))
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// One mistake in a configuration. Its text begins with the place of the mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// No data source was declared. Declare at least one.
    #[error("sources: none is declared; declare at least one data source")]
    NoSource,
    /// Two data sources have one name. Rename one.
    #[error("sources.{name}: declared twice")]
    DuplicateSource {
        /// The name.
        name: String,
    },
    /// A data source has no name, or one with other characters than letters, digits, `_`, `-`.
    #[error("sources.{name:?}: a name consists of letters, digits, `_` and `-`")]
    BadSourceName {
        /// The name.
        name: String,
    },
    /// The URL of a data source is not one that a driver accepts.
    #[error("sources.{name}: {why}")]
    BadSourceUrl {
        /// The source.
        name: String,
        /// What is wrong; never the URL itself, which may hold a password.
        why: String,
    },
    /// Data sources are of different database systems. Statements are written for one.
    #[error("sources.{name}: is {backend}, but {first} is {first_backend}; all must be alike")]
    MixedBackends {
        /// The source that differs.
        name: String,
        /// Its database system.
        backend: String,
        /// The source it was compared with.
        first: String,
        /// That source's database system.
        first_backend: String,
    },
    /// The default source is not declared. Declare it or choose another.
    #[error("default_source: `{name}` is not among the sources")]
    UnknownDefault {
        /// The name.
        name: String,
    },
    /// Two entities name one table. Register one of them.
    #[error("tables.{table}: two entities name this table; register only one of them")]
    DuplicateTable {
        /// The table.
        table: String,
    },
    /// A sharded table has neither a source rule nor a table rule.
    #[error("tables.{table}: has no rule; add a `table` or a `source` rule")]
    NoRule {
        /// The table.
        table: String,
    },
    /// A separator would make physical names that need care to quote.
    #[error("tables.{table}.separator: {separator:?} may only hold letters, digits and `_`")]
    BadSeparator {
        /// The table.
        table: String,
        /// The separator.
        separator: String,
    },
    /// A strategy's parameters are wrong: no shards, too many, months that end before they start.
    #[error("tables.{table}.{rule}.by: {strategy} {why}")]
    BadStrategy {
        /// The table.
        table: String,
        /// `source` or `table`.
        rule: &'static str,
        /// The strategy, described.
        strategy: String,
        /// What is wrong with it.
        why: String,
    },
    /// A key column's type cannot be a sharding key.
    #[error("tables.{table}.{rule}.key: `{column}` is {column_type} and cannot be a key")]
    UnusableKey {
        /// The table.
        table: String,
        /// `source` or `table`.
        rule: &'static str,
        /// The key column.
        column: String,
        /// Its type.
        column_type: String,
    },
    /// A strategy does not place values of the key's kind.
    #[error("tables.{table}.{rule}.by: {strategy} cannot place `{column}`, which is {kind}")]
    StrategyKind {
        /// The table.
        table: String,
        /// `source` or `table`.
        rule: &'static str,
        /// The strategy, described.
        strategy: String,
        /// The key column.
        column: String,
        /// What the key column holds.
        kind: KeyKind,
    },
    /// A source rule names a data source that is not declared.
    #[error("tables.{table}.source.names: `{name}` is not among the sources")]
    UnknownSource {
        /// The table.
        table: String,
        /// The name.
        name: String,
    },
    /// A source rule names a data source twice.
    #[error("tables.{table}.source.names: `{name}` is listed twice")]
    RepeatedSource {
        /// The table.
        table: String,
        /// The name.
        name: String,
    },
    /// A source rule has another number of partitions than of sources.
    #[error(
        "tables.{table}.source: {strategy} has {partitions} partitions for {sources} data sources"
    )]
    SourceCount {
        /// The table.
        table: String,
        /// The strategy, described.
        strategy: String,
        /// How many partitions it has.
        partitions: usize,
        /// How many sources there are for them.
        sources: usize,
    },
    /// A physical name is longer than every database allows.
    #[error("tables.{table}: the physical name `{physical}` is longer than {limit} bytes")]
    LongName {
        /// The table.
        table: String,
        /// The physical name.
        physical: String,
        /// The longest name that all databases take.
        limit: usize,
    },
    /// Two tables would share a physical table.
    #[error("tables.{table}: the physical table `{physical}` also belongs to `{other}`")]
    SharedPhysical {
        /// The table.
        table: String,
        /// The physical name.
        physical: String,
        /// The other table.
        other: String,
    },
}
