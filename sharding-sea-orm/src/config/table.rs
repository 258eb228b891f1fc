//! Tables of the model.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use sharding_core::strategy::Strategy;
use sharding_core::topology::{
    ColumnDraft, ColumnKind, KeyDraft, Mistake, RuleDraft, TableDraft, TableName, TailsDraft,
};

use super::context::Context;
use super::field::{Entries, Field, List, OneOrMany};
use super::scalar::{LogicalName, Name, Text};
use super::strategy::StrategySection;

/// A sharded table: a rule for the data source, a rule for the tail, both, or one for the node.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Table"))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `source`, `table` or `node`"
)]
pub(super) struct TableSection {
    /// What stands between the table's name and the tail: letters, digits and `_`, or nothing;
    /// `_` unless given.
    #[serde(default)]
    separator: Field<Option<Text>>,
    /// The rule that chooses the data source.
    #[serde(default)]
    source: Field<Option<SourceRuleSection>>,
    /// The rule that chooses the tail.
    #[serde(default)]
    table: Field<Option<RuleSection>>,
    /// The tails of each source, if they differ: names of tails, and runs of them: `a..b`, both
    /// included, `a..` or `..b`.
    #[serde(default)]
    tails: Field<Option<Entries<Name, OneOrMany<Name>>>>,
    /// The rule that chooses source and table together.
    #[serde(default)]
    node: Field<Option<RuleSection>>,
}

/// A rule that chooses the data source.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SourceRule"))]
#[serde(deny_unknown_fields, expecting = "a mapping with `key` and `by`")]
struct SourceRuleSection {
    /// The column that decides, or several.
    key: Field<OneOrMany<Name>>,
    /// The strategy that places rows by it.
    by: Field<StrategySection>,
    /// Secondary keys, which choose the same.
    #[serde(default)]
    also: Field<Option<List<KeySection>>>,
    /// The source of each partition. Without it, it is the source of the partition's name if all
    /// partitions have one, else all sources in order.
    #[serde(default)]
    names: Field<Option<List<Name>>>,
}

/// A rule.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Rule"))]
#[serde(deny_unknown_fields, expecting = "a mapping with `key` and `by`")]
struct RuleSection {
    /// The column that decides, or several.
    key: Field<OneOrMany<Name>>,
    /// The strategy that places rows by it.
    by: Field<StrategySection>,
    /// Secondary keys, which choose the same.
    #[serde(default)]
    also: Field<Option<List<KeySection>>>,
}

/// A secondary key.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Key"))]
#[serde(deny_unknown_fields, expecting = "a mapping with `key` and `by`")]
struct KeySection {
    /// The column, or several.
    key: Field<OneOrMany<Name>>,
    /// The strategy that places rows by it.
    by: Field<StrategySection>,
}

/// What the file says of a table.
#[derive(Clone)]
pub(crate) struct TableConfig {
    /// The logical name.
    pub(crate) name: TableName,
    separator: Option<String>,
    source: Option<RuleConfig>,
    source_names: Option<Vec<String>>,
    table: Option<RuleConfig>,
    tails: Option<Vec<TailsDraft>>,
    node: Option<RuleConfig>,
    is_sound: bool,
}

#[derive(Clone)]
struct RuleConfig {
    key: KeyConfig,
    secondary: Vec<KeyConfig>,
}

#[derive(Clone)]
struct KeyConfig {
    columns: Vec<String>,
    strategy: Arc<dyn Strategy>,
}

impl TableConfig {
    /// Nothing but the name, since everything else is wrong.
    fn unsound(name: &LogicalName) -> Self {
        Self {
            name: name.0.clone(),
            separator: None,
            source: None,
            source_names: None,
            table: None,
            tails: None,
            node: None,
            is_sound: false,
        }
    }

    /// Whether nothing is wrong with what the file says. If something is, a draft with the rest
    /// would only have mistakes that follow from it.
    pub(crate) fn is_sound(&self) -> bool {
        self.is_sound
    }

    /// Overrides a draft; `column` knows the kinds of columns by their names.
    ///
    /// A rule takes the place of the draft's, with all that belongs to it: `source` with the names
    /// of its sources, `node` with everything that cannot be beside it.
    pub(crate) fn apply(&self, draft: &mut TableDraft, column: &dyn Fn(&str) -> ColumnKind) {
        let cow = |text: &String| Cow::Owned(text.clone());
        if let Some(separator) = &self.separator {
            draft.separator = cow(separator);
        }
        if self.node.is_some() {
            draft.source = None;
            draft.source_names = None;
            draft.table = None;
            draft.tails = None;
        } else if self.source.is_some() || self.table.is_some() {
            draft.node = None;
        }
        if let Some(source) = &self.source {
            draft.source = Some(source.draft(column));
            let names = self.source_names.as_ref();
            draft.source_names = names.map(|names| names.iter().map(cow).collect());
        }
        if let Some(table) = &self.table {
            draft.table = Some(table.draft(column));
        }
        if let Some(node) = &self.node {
            draft.node = Some(node.draft(column));
        }
        if let Some(tails) = &self.tails {
            draft.tails = Some(tails.clone());
        }
    }
}

impl RuleConfig {
    fn draft(&self, column: &dyn Fn(&str) -> ColumnKind) -> RuleDraft {
        let key = |key: &KeyConfig| KeyDraft {
            columns: key
                .columns
                .iter()
                .map(|name| ColumnDraft {
                    kind: column(name),
                    name: Cow::Owned(name.clone()),
                })
                .collect(),
            strategy: Arc::clone(&key.strategy),
        };
        RuleDraft {
            key: key(&self.key),
            secondary: self.secondary.iter().map(key).collect(),
        }
    }
}

impl Field<TableSection> {
    /// What the section says, as far as it is right.
    pub(super) fn config(&self, name: &LogicalName, context: &Context<'_>) -> TableConfig {
        let Some(section) = self.get() else {
            return TableConfig::unsound(name);
        };
        let before = context.count();
        let source = section.source.given().map(|rule| Parts {
            key: &rule.key,
            by: &rule.by,
            also: &rule.also,
        });
        let names = section.source.given().and_then(|rule| rule.names.given());
        let mut rules = Rules {
            table: name.0.to_string(),
            context,
            strategies: Vec::new(),
        };
        let source = rules.rule("source", source);
        let table = rules.rule("table", section.table.given().map(RuleSection::parts));
        let node = rules.rule("node", section.node.given().map(RuleSection::parts));
        let is_sound = self.is_sound && context.count() == before;
        if !is_sound {
            rules.report_flaws();
        }
        TableConfig {
            name: name.0.clone(),
            separator: section.separator.given().map(|text| text.0.clone()),
            source,
            source_names: names
                .and_then(List::all)
                .map(|names| names.into_iter().map(|name| name.0).collect()),
            table,
            tails: section.tails.given().and_then(tails),
            node,
            is_sound,
        }
    }
}

fn tails(entries: &Entries<Name, OneOrMany<Name>>) -> Option<Vec<TailsDraft>> {
    let lists = entries.0.iter().map(|(source, tails)| {
        let tails = tails.get()?.all()?.into_iter();
        Some(TailsDraft {
            source: source.get()?.0.clone().into(),
            tails: tails.map(|tail| tail.0.into()).collect(),
        })
    });
    lists.collect()
}

/// What a rule consists of.
struct Parts<'a> {
    key: &'a Field<OneOrMany<Name>>,
    by: &'a Field<StrategySection>,
    also: &'a Field<Option<List<KeySection>>>,
}

impl RuleSection {
    fn parts(&self) -> Parts<'_> {
        Parts {
            key: &self.key,
            by: &self.by,
            also: &self.also,
        }
    }
}

/// The rules of one table.
struct Rules<'a> {
    table: String,
    context: &'a Context<'a>,
    /// The strategies so far, each with the place of its rule.
    strategies: Vec<(usize, String, Arc<dyn Strategy>)>,
}

impl Rules<'_> {
    fn rule(&mut self, name: &str, parts: Option<Parts<'_>>) -> Option<RuleConfig> {
        let Parts { key, by, also } = parts?;
        let key = self.key(name.to_owned(), key, by);
        let also = also.given().map_or(&[][..], |also| &also.0);
        let mut secondary = Vec::with_capacity(also.len());
        for (at, other) in also.iter().enumerate() {
            let name = format!("{name}.also[{at}]");
            let other = other.get();
            secondary.push(other.and_then(|other| self.key(name, &other.key, &other.by)));
        }
        Some(RuleConfig {
            key: key?,
            secondary: secondary.into_iter().collect::<Option<_>>()?,
        })
    }

    fn key(
        &mut self,
        name: String,
        key: &Field<OneOrMany<Name>>,
        by: &Field<StrategySection>,
    ) -> Option<KeyConfig> {
        let columns = key.get().and_then(OneOrMany::all);
        let strategy = by.get().and_then(|by| by.build(self.context))?;
        self.strategies
            .push((by.offset, name, Arc::clone(&strategy)));
        Some(KeyConfig {
            columns: columns?.into_iter().map(|column| column.0).collect(),
            strategy,
        })
    }

    /// Reports what the core would find in the strategies. It will not see them, since the table
    /// has mistakes of another kind.
    fn report_flaws(&self) {
        for (offset, rule, strategy) in &self.strategies {
            for flaw in strategy.flaws() {
                let mistake = Mistake::BadStrategy {
                    table: self.table.clone(),
                    rule: rule.clone(),
                    at: flaw.at,
                    why: flaw.why,
                };
                self.context.add(*offset, mistake);
            }
        }
    }
}
