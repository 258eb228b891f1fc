//! The whole file.

use serde::Deserialize;
use sharding_core::execute::BreakerRules;
use sharding_core::topology::{Mistake, TableName};

use super::context::Context;
use super::env::Env;
use super::field::{Entries, Field, List};
use super::limits::{BreakerSection, LimitsSection};
use super::path::Path;
use super::read::{Reader, Subject};
use super::scalar::{LogicalName, Name, SourceName};
use super::source::{SourceConfig, SourceSection};
use super::table::{TableConfig, TableSection};
use super::tree::{Node, Value};
use crate::execute::Limits;

/// The configuration of sharding. In every text `${NAME}` and `${NAME:-default}` stand for a
/// variable of the environment, and `$$` for a `$`.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Sharding"))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `sources` and `tables`"
)]
pub(super) struct File {
    /// The data source of tables that are not declared: the first one unless given.
    #[serde(default)]
    default_source: Field<Option<Name>>,
    /// What every statement may take, unless it or its data source has limits of its own.
    #[serde(default)]
    limits: Field<Option<LimitsSection>>,
    /// When a data source that does not answer is left alone, and for how long.
    #[serde(default)]
    breaker: Field<Option<BreakerSection>>,
    /// The data sources by their names, in order. All are of one database system.
    #[serde(default)]
    sources: Field<Option<Entries<SourceName, SourceSection>>>,
    /// Data sources that get no new rows.
    #[serde(default)]
    draining: Field<Option<List<Name>>>,
    /// Tables that are present in full in every data source.
    #[serde(default)]
    broadcast: Field<Option<List<LogicalName>>>,
    /// Tables that are not sharded, each with its data source.
    #[serde(default)]
    single: Field<Option<Entries<LogicalName, Name>>>,
    /// Groups of sharded tables that place rows with equal keys together.
    #[serde(default)]
    co_located: Field<Option<List<List<LogicalName>>>>,
    /// The sharded tables by their names, in order: `order`, or `sales.order` with a schema.
    #[serde(default)]
    tables: Field<Option<Entries<LogicalName, TableSection>>>,
}

/// What a file says.
#[derive(Clone, Default)]
pub(super) struct Contents {
    pub(super) default_source: Option<String>,
    pub(super) limits: Limits,
    pub(super) breaker: Option<BreakerRules>,
    pub(super) sources: Vec<SourceConfig>,
    pub(super) draining: Vec<String>,
    pub(super) broadcast: Vec<TableName>,
    pub(super) single: Vec<(TableName, String)>,
    pub(super) co_located: Vec<Vec<TableName>>,
    pub(super) tables: Vec<TableConfig>,
    /// Whether every source and every table is in the lists.
    pub(super) is_complete: bool,
}

/// Reads a tree, and everything that is wrong with it.
pub(super) fn read(root: &Node, env: Env<'_>) -> (Contents, Vec<Mistake>) {
    let context = Context::new(env);
    let empty = Contents {
        is_complete: true,
        ..Contents::default()
    };
    if matches!(root.value, Value::Null) {
        return (empty, Vec::new());
    }
    let reader = Reader {
        subject: Subject::Value(&root.value),
        place: root.place,
        path: Path::root(),
        context: &context,
        tag: None,
    };
    let contents = match File::deserialize(reader) {
        Ok(file) => file.contents(&context),
        Err(_) => Contents::default(),
    };
    (contents, context.into_mistakes())
}

impl File {
    fn contents(&self, context: &Context<'_>) -> Contents {
        let sources = entries(&self.sources);
        let tables = entries(&self.tables);
        let named_sources = sources
            .iter()
            .filter_map(|(name, section)| Some(section.config(name.get()?, context)));
        let named_sources: Vec<_> = named_sources.collect();
        let known_tables = tables
            .iter()
            .filter_map(|(name, section)| Some(section.config(name.get()?, context)));
        let known_tables: Vec<_> = known_tables.collect();
        let singles = entries(&self.single)
            .iter()
            .filter_map(|(table, source)| Some((table.get()?.0.clone(), source.get()?.0.clone())));
        let groups = items(&self.co_located).filter_map(List::all);
        let tables_of = |group: Vec<LogicalName>| group.into_iter().map(|table| table.0).collect();
        Contents {
            default_source: self.default_source.given().map(|name| name.0.clone()),
            limits: self
                .limits
                .given()
                .map_or(Limits::new(), LimitsSection::limits),
            breaker: self.breaker.given().map(BreakerSection::rules),
            draining: items(&self.draining).map(|name| name.0.clone()).collect(),
            broadcast: items(&self.broadcast).map(|name| name.0.clone()).collect(),
            single: singles.collect(),
            co_located: groups.map(tables_of).collect(),
            is_complete: self.sources.value.is_some()
                && named_sources.len() == sources.len()
                && self.tables.value.is_some()
                && known_tables.len() == tables.len(),
            sources: named_sources,
            tables: known_tables,
        }
    }
}

type Pairs<K, T> = [(Field<K>, Field<T>)];

/// The entries of a map, none if it is not there.
fn entries<K, T>(field: &Field<Option<Entries<K, T>>>) -> &Pairs<K, T> {
    field.given().map_or(&[], |entries| &entries.0)
}

/// The items of a list that are right.
fn items<T>(field: &Field<Option<List<T>>>) -> impl Iterator<Item = &T> {
    let list = field.given().map_or(&[][..], |list| &list.0);
    list.iter().filter_map(Field::get)
}
