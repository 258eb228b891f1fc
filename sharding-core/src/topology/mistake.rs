use std::fmt;

/// Everything that is wrong with a configuration, found before any database is touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    mistakes: Vec<Mistake>,
}

impl ConfigError {
    /// `None` if there are no mistakes.
    pub fn new(mistakes: Vec<Mistake>) -> Option<Self> {
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
    /// A data source that is to be drained, resumed, removed or limited is not declared.
    #[error("{at}: `{name}` is not among the sources")]
    NoSuchSource {
        /// What is to happen to it.
        at: &'static str,
        /// The name.
        name: String,
    },
    /// The limits of one data source count physical tables, which are counted over all of them.
    /// Give `max_nodes` for the connection or for statements.
    #[error("source_limits: `{name}` has `max_nodes`, which counts the tables of all sources")]
    WholeLimit {
        /// The source.
        name: String,
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
    /// A table was declared as two things: sharded, broadcast and single exclude each other.
    #[error("tables.{table}: is declared as {first} and as {second}")]
    TwoRoles {
        /// The table.
        table: String,
        /// What it was declared as.
        first: &'static str,
        /// What it was declared as also.
        second: &'static str,
    },
    /// A single table is in a data source that is not declared.
    #[error("tables.{table}.single: `{name}` is not among the sources")]
    UnknownHome {
        /// The table.
        table: String,
        /// The name of the source.
        name: String,
    },
    /// A group of co-located tables names a table that is not sharded.
    #[error("co_located: `{table}` is not a sharded table")]
    UnknownMember {
        /// The table.
        table: String,
    },
    /// Tables are declared as co-located, but their rules place rows differently.
    #[error(
        "co_located: `{table}` places rows otherwise than `{other}`; give both the same strategies, \
         key types and sources"
    )]
    NotCoLocated {
        /// The table.
        table: String,
        /// The first table of its group.
        other: String,
    },
    /// A table's name, or a physical one, is empty, or has characters that are left out of names
    /// for safety's sake: quotes, dots, backslashes and control characters.
    #[error(
        "tables.{table}: the name {name:?} is not possible; names have no quotes, dots, backslashes \
         and control characters"
    )]
    BadTableName {
        /// The table.
        table: String,
        /// The name.
        name: String,
    },
    /// A sharded table has no rule.
    #[error("tables.{table}: has no rule; add a `table`, a `source` or a `node` rule")]
    NoRule {
        /// The table.
        table: String,
    },
    /// A node rule decides source and tail together, so there can be no other rule beside it.
    #[error(
        "tables.{table}.node: decides source and table together; remove the `{other}` beside it"
    )]
    RuleConflict {
        /// The table.
        table: String,
        /// What is given beside the node rule.
        other: &'static str,
    },
    /// A separator would make physical names that need care to quote.
    #[error("tables.{table}.separator: {separator:?} may only hold letters, digits and `_`")]
    BadSeparator {
        /// The table.
        table: String,
        /// The separator.
        separator: String,
    },
    /// A strategy's parameters are wrong: no shards, too many, ranges that overlap.
    #[error("tables.{table}.{rule}.by{}: {why}", within(at))]
    BadStrategy {
        /// The table.
        table: String,
        /// `source`, `table` or `node`, and the position of a secondary key.
        rule: String,
        /// The place inside of the strategy; empty for the whole.
        at: String,
        /// What is wrong with it.
        why: String,
    },
    /// A strategy gives two partitions one name, in upper or lower case, or one that cannot be a
    /// tail.
    #[error("tables.{table}.{rule}.by: the partition name {name:?} {why}")]
    BadPartitionName {
        /// The table.
        table: String,
        /// `source`, `table` or `node`.
        rule: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A strategy whose partitions become more as time goes by chooses data sources or nodes, of
    /// which there is a fixed list. Give it an end.
    #[error("tables.{table}.{rule}.by: {strategy} grows with time; give it an end")]
    Growing {
        /// The table.
        table: String,
        /// `source` or `node`.
        rule: &'static str,
        /// The strategy, described.
        strategy: String,
    },
    /// A key names no column.
    #[error("tables.{table}.{rule}.key: names no column")]
    NoColumn {
        /// The table.
        table: String,
        /// `source`, `table` or `node`, and the position of a secondary key.
        rule: String,
    },
    /// A key names a column that the table does not have.
    #[error("tables.{table}.{rule}.key: the table has no column `{column}`")]
    UnknownColumn {
        /// The table.
        table: String,
        /// `source`, `table` or `node`, and the position of a secondary key.
        rule: String,
        /// The column.
        column: String,
    },
    /// A key column's type cannot be a sharding key.
    #[error("tables.{table}.{rule}.key: `{column}` is {column_type} and cannot be a key")]
    UnusableKey {
        /// The table.
        table: String,
        /// `source`, `table` or `node`, and the position of a secondary key.
        rule: String,
        /// The key column.
        column: String,
        /// Its type.
        column_type: String,
    },
    /// A strategy does not place values of the key's kind.
    #[error("tables.{table}.{rule}.by: {strategy} cannot place `{column}`, which is {kinds}")]
    StrategyKind {
        /// The table.
        table: String,
        /// `source`, `table` or `node`, and the position of a secondary key.
        rule: String,
        /// The strategy, described.
        strategy: String,
        /// The key columns.
        column: String,
        /// What they hold.
        kinds: String,
    },
    /// A secondary key has other partitions than the key.
    #[error(
        "tables.{table}.{rule}.by: {strategy} has other partitions than the key: {name:?} is not \
         among both"
    )]
    SecondaryPartitions {
        /// The table.
        table: String,
        /// `source`, `table` or `node`, and the position of the secondary key.
        rule: String,
        /// The secondary key's strategy, described.
        strategy: String,
        /// The first partition at which they differ.
        name: String,
    },
    /// The database makes the sharding key's values, which is too late to choose a node, and no
    /// generator makes them before.
    #[error(
        "tables.{table}: the database numbers the key `{column}`, which is too late to choose a \
         node; give it `auto_increment = false` and make its values"
    )]
    GeneratedKey {
        /// The table.
        table: String,
        /// The key column.
        column: String,
    },
    /// A source rule names a data source that is not declared.
    #[error("tables.{table}.{rule}: `{name}` is not among the sources")]
    UnknownSource {
        /// The table.
        table: String,
        /// The part of the table that names it.
        rule: &'static str,
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
    /// A node rule's partition is not named `source.table`.
    #[error("tables.{table}.node.by: the partition {name:?} is not of the form `source.table`")]
    BadNode {
        /// The table.
        table: String,
        /// The partition's name.
        name: String,
    },
    /// The list of tails of a source has something that is not a tail of the strategy.
    #[error("tables.{table}.tails.{data_source}: {text:?} {why}")]
    BadTails {
        /// The table.
        table: String,
        /// The data source.
        data_source: String,
        /// The entry of the list.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A tail is in no source, so rows that belong there would be refused; or, without a source
    /// rule, in two.
    #[error("tables.{table}.tails: the tail `{tail}` is in {place}")]
    MisplacedTail {
        /// The table.
        table: String,
        /// The tail.
        tail: String,
        /// Where it is.
        place: &'static str,
    },
    /// Source and tail are chosen by remainders of the same key, so that some tails of a source
    /// can never get a row.
    #[error(
        "tables.{table}: no row can reach {unreachable} of the {all} tables, such as `{tail}` in \
         `{data_source}`, since source and tail follow from remainders of the same key; list the \
         `tails` of each source, or choose one of them by something else"
    )]
    UnreachableTails {
        /// The table.
        table: String,
        /// How many tables get no row.
        unreachable: usize,
        /// How many there are.
        all: usize,
        /// One of those tails.
        tail: String,
        /// Its data source.
        data_source: String,
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
    /// A change at runtime would move rows that exist, or lose sight of them.
    #[error("tables.{table}: {why}")]
    Moves {
        /// The table.
        table: String,
        /// What would move.
        why: String,
    },
    /// A data source that is to be removed still has tables.
    #[error("sources.{name}: still holds `{physical}` of `{table}`")]
    SourceInUse {
        /// The source.
        name: String,
        /// A table that has a node there.
        table: String,
        /// The physical table.
        physical: String,
    },
    /// A mistake in a configuration file, or between it and the code.
    #[error("{at}: {why}")]
    File {
        /// The place in the file.
        at: String,
        /// What is wrong.
        why: String,
    },
}

fn within(at: &str) -> String {
    if at.is_empty() {
        String::new()
    } else {
        format!(".{at}")
    }
}
