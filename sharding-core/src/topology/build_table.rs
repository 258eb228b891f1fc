use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use super::SourceId;
use super::draft::{ColumnKind, KeyDraft, RuleDraft, TableDraft, TailsDraft};
use super::mistake::Mistake;
use super::names::{self, Checked};
use super::rule::{Key, KeyColumn, Rule};
use super::table::{Layout, Table, TableName};
use super::tails;
use crate::strategy::{Extent, HashModulo, Modulo};

/// What is known while the tables of a topology are built.
pub(super) struct Context<'a> {
    pub(super) now: DateTime<Utc>,
    pub(super) ids: &'a HashMap<&'a str, SourceId>,
    /// The sources in the order in which the draft lists them.
    pub(super) in_order: &'a [SourceId],
    pub(super) default: SourceId,
    pub(super) checked: Checked,
}

/// The rules of a table that has one for the source, one for the tail, or both.
struct Axes<'a> {
    separator: &'a str,
    source: Option<RuleDraft>,
    source_names: Option<Vec<Cow<'static, str>>>,
    tail: Option<RuleDraft>,
    tails: Option<Vec<TailsDraft>>,
}

impl Context<'_> {
    /// `None` if the draft has mistakes, which are then in the list.
    pub(super) fn table(
        &mut self,
        draft: TableDraft,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<Table> {
        let before = mistakes.len();
        let table = draft.name.to_string();
        if draft.rules().next().is_none() {
            let table = table.clone();
            mistakes.push(Mistake::NoRule { table });
        }
        if !names::is_plain(&draft.separator, "_") {
            mistakes.push(Mistake::BadSeparator {
                table: table.clone(),
                separator: draft.separator.to_string(),
            });
        }
        let (layout, until) = match draft.node {
            Some(node) => {
                let beside = [
                    (draft.source.is_some(), "source"),
                    (draft.source_names.is_some(), "source.names"),
                    (draft.table.is_some(), "table"),
                    (draft.tails.is_some(), "tails"),
                ];
                for (_, other) in beside.into_iter().filter(|(given, _)| *given) {
                    let table = table.clone();
                    mistakes.push(Mistake::RuleConflict { table, other });
                }
                (self.direct(&table, node, mistakes)?, None)
            }
            None => {
                let axes = Axes {
                    separator: &draft.separator,
                    source: draft.source,
                    source_names: draft.source_names,
                    tail: draft.table,
                    tails: draft.tails,
                };
                self.axes(&draft.name, axes, mistakes)?
            }
        };
        let table = Table {
            name: draft.name,
            separator: draft.separator,
            layout,
            until,
        };
        check_reachable(&table, self, mistakes);
        (mistakes.len() == before).then_some(table)
    }

    fn axes(
        &mut self,
        name: &TableName,
        axes: Axes<'_>,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<(Layout, Option<DateTime<Utc>>)> {
        let before = mistakes.len();
        let Axes {
            separator,
            source,
            source_names,
            tail,
            tails,
        } = axes;
        let table = &*name.to_string();
        let has_source_rule = source.is_some();
        let source = source.and_then(|draft| self.rule(table, "source", draft, mistakes));
        let sources = self.sources(table, source.as_ref(), source_names, mistakes);
        let tail = tail.and_then(|draft| {
            let (rule, extent) = self.rule(table, "table", draft, mistakes)?;
            let strategy = rule.key.strategy();
            self.checked
                .check(name, separator, strategy, extent.count, mistakes);
            Some((rule, extent))
        });
        let until = tail.as_ref().and_then(|(_, extent)| extent.until);
        let count = tail.as_ref().map_or(1, |(_, extent)| extent.count);
        let listed = match (&tails, &tail) {
            (Some(lists), Some((rule, extent))) => {
                let (strategy, extent) = (rule.key.strategy(), *extent);
                let own = has_source_rule.then_some(sources.as_slice());
                Some(tails::read(
                    table, lists, strategy, extent, self.ids, own, mistakes,
                ))
            }
            (Some(_), None) => {
                mistakes.push(Mistake::BadTails {
                    table: table.to_owned(),
                    data_source: "*".to_owned(),
                    text: "tails".to_owned(),
                    why: "are listed, but the table has no `table` rule",
                });
                return None;
            }
            (None, _) => None,
        };
        if mistakes.len() > before {
            return None;
        }
        if let (Some(lists), Some((rule, extent))) = (&listed, &tail) {
            let (strategy, is_spread) = (rule.key.strategy(), !has_source_rule);
            tails::check(table, lists, strategy, *extent, is_spread, mistakes);
        }
        let layout = match (tail, listed) {
            (Some((rule, _)), Some(homes)) if !has_source_rule => Layout::Spread {
                rule,
                tails: count,
                homes,
            },
            (tail, listed) => Layout::Grid {
                source_rule: source.map(|(rule, _)| rule),
                table_rule: tail.map(|(rule, _)| rule),
                present: listed.map(|lists| tails::of_sources(lists, &sources)),
                sources,
                tails: count,
            },
        };
        Some((layout, until))
    }

    fn direct(
        &mut self,
        table: &str,
        draft: RuleDraft,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<Layout> {
        let (rule, extent) = self.rule(table, "node", draft, mistakes)?;
        self.refuse_growth(table, "node", &rule, extent, mistakes);
        let mut nodes = Vec::with_capacity(extent.count as usize);
        let mut seen = HashSet::new();
        for partition in 0..extent.count {
            let name = rule.key.strategy.name(partition);
            let Some((source, physical)) = name.split_once('.') else {
                let (table, name) = (table.to_owned(), name.into_owned());
                mistakes.push(Mistake::BadNode { table, name });
                continue;
            };
            let id = self.ids.get(source).copied();
            if id.is_none() {
                mistakes.push(Mistake::UnknownSource {
                    table: table.to_owned(),
                    rule: "node.by",
                    name: source.to_owned(),
                });
            }
            names::check_name(table, physical, mistakes);
            if !seen.insert(name.to_lowercase()) {
                mistakes.push(Mistake::BadPartitionName {
                    table: table.to_owned(),
                    rule: "node",
                    name: name.to_string(),
                    why: "is given twice",
                });
            }
            nodes.push((id.unwrap_or(self.default), physical.to_owned()));
        }
        Some(Layout::Direct { rule, nodes })
    }

    fn rule(
        &self,
        table: &str,
        name: &'static str,
        draft: RuleDraft,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<(Rule, Extent)> {
        let key = self.key(table, name, draft.key, mistakes);
        let secondary: Vec<Option<Key>> = draft
            .secondary
            .into_iter()
            .enumerate()
            .map(|(at, key)| self.key(table, &format!("{name}.also[{at}]"), key, mistakes))
            .collect();
        let key = key?;
        let secondary: Vec<Key> = secondary.into_iter().collect::<Option<_>>()?;
        let extent = key.strategy.extent(self.now);
        let mut alike = true;
        for (at, secondary) in secondary.iter().enumerate() {
            let own = secondary.strategy.extent(self.now);
            let count = extent.count.max(own.count);
            let differs = |n: &u32| key.strategy.name(*n) != secondary.strategy.name(*n);
            let other = (0..count).find(differs);
            let other = other.or_else(|| (extent != own).then_some(extent.count.min(own.count)));
            if let Some(number) = other {
                alike = false;
                mistakes.push(Mistake::SecondaryPartitions {
                    table: table.to_owned(),
                    rule: format!("{name}.also[{at}]"),
                    strategy: secondary.strategy.describe(),
                    name: key.strategy.name(number).into_owned(),
                });
            }
        }
        alike.then_some((Rule { key, secondary }, extent))
    }

    fn key(
        &self,
        table: &str,
        rule: &str,
        draft: KeyDraft,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<Key> {
        let before = mistakes.len();
        let (table, rule) = (|| table.to_owned(), || rule.to_owned());
        let KeyDraft { columns, strategy } = draft;
        if columns.is_empty() {
            let (table, rule) = (table(), rule());
            mistakes.push(Mistake::NoColumn { table, rule });
        }
        let mut key_columns = Vec::with_capacity(columns.len());
        for column in columns {
            match column.kind {
                ColumnKind::Key(kind) => key_columns.push(KeyColumn {
                    name: column.name,
                    kind,
                }),
                ColumnKind::Unusable(column_type) => mistakes.push(Mistake::UnusableKey {
                    table: table(),
                    rule: rule(),
                    column: column.name.into_owned(),
                    column_type,
                }),
                ColumnKind::Unknown => mistakes.push(Mistake::UnknownColumn {
                    table: table(),
                    rule: rule(),
                    column: column.name.into_owned(),
                }),
            }
        }
        let kinds: Vec<_> = key_columns.iter().map(|column| column.kind).collect();
        let has_kinds = mistakes.len() == before;
        let flaws = strategy.flaws();
        let is_sound = flaws.is_empty();
        mistakes.extend(flaws.into_iter().map(|flaw| Mistake::BadStrategy {
            table: table(),
            rule: rule(),
            at: flaw.at,
            why: flaw.why,
        }));
        let accepts = match kinds.as_slice() {
            [one] => strategy.accepts(*one),
            several => strategy.accepts_tuple(several),
        };
        let key = Key {
            columns: key_columns,
            strategy,
        };
        if has_kinds && is_sound && !accepts {
            let kinds: Vec<_> = kinds.iter().map(ToString::to_string).collect();
            mistakes.push(Mistake::StrategyKind {
                table: table(),
                rule: rule(),
                strategy: key.strategy.describe(),
                column: key.label().into_owned(),
                kinds: kinds.join(", "),
            });
        }
        (mistakes.len() == before).then_some(key)
    }

    fn refuse_growth(
        &self,
        table: &str,
        name: &'static str,
        rule: &Rule,
        extent: Extent,
        mistakes: &mut Vec<Mistake>,
    ) {
        if extent.until.is_some() {
            mistakes.push(Mistake::Growing {
                table: table.to_owned(),
                rule: name,
                strategy: rule.key.strategy.describe(),
            });
        }
    }

    fn sources(
        &self,
        table: &str,
        rule: Option<&(Rule, Extent)>,
        names: Option<Vec<Cow<'static, str>>>,
        mistakes: &mut Vec<Mistake>,
    ) -> Vec<SourceId> {
        let Some((rule, extent)) = rule else {
            return vec![self.default];
        };
        self.refuse_growth(table, "source", rule, *extent, mistakes);
        let strategy = rule.key.strategy();
        let sources = match names {
            Some(names) => self.named(table, &names, mistakes),
            None => {
                let by_name = (0..extent.count).map(|n| self.ids.get(&*strategy.name(n)).copied());
                let by_name: Option<Vec<_>> = by_name.collect();
                by_name.unwrap_or_else(|| self.in_order.to_vec())
            }
        };
        if sources.len() != extent.count as usize {
            mistakes.push(Mistake::SourceCount {
                table: table.to_owned(),
                strategy: strategy.describe(),
                partitions: extent.count as usize,
                sources: sources.len(),
            });
        }
        sources
    }

    fn named(
        &self,
        table: &str,
        names: &[Cow<'static, str>],
        mistakes: &mut Vec<Mistake>,
    ) -> Vec<SourceId> {
        let mut seen = HashSet::new();
        let mut sources = Vec::with_capacity(names.len());
        for name in names {
            let (table, name) = (table.to_owned(), name.to_string());
            match self.ids.get(name.as_str()) {
                Some(&id) => {
                    sources.push(id);
                    if !seen.insert(id) {
                        mistakes.push(Mistake::RepeatedSource { table, name });
                    }
                }
                None => {
                    let rule = "source.names";
                    mistakes.push(Mistake::UnknownSource { table, rule, name });
                    sources.push(self.default);
                }
            }
        }
        sources
    }

    /// The name of a source.
    fn source_name(&self, id: SourceId) -> String {
        let found = self.ids.iter().find(|(_, own)| **own == id);
        found.map_or_else(String::new, |(name, _)| (*name).to_owned())
    }
}

/// With remainders of one key on both axes, only pairs that agree modulo the greatest common
/// divisor of the counts get rows.
fn check_reachable(table: &Table, context: &Context<'_>, mistakes: &mut Vec<Mistake>) {
    let Layout::Grid {
        source_rule: Some(source),
        table_rule: Some(tail),
        sources,
        tails,
        ..
    } = &table.layout
    else {
        return;
    };
    let kind = |key: &Key| {
        let strategy: &dyn std::any::Any = key.strategy();
        (strategy.is::<Modulo>(), strategy.is::<HashModulo>())
    };
    if source.key.columns != tail.key.columns
        || kind(&source.key) != kind(&tail.key)
        || kind(&source.key) == (false, false)
    {
        return;
    }
    let divisor = greatest_common_divisor(sources.len(), *tails as usize);
    let is_lost = |at: &usize| {
        let (source, tail) = (at / *tails as usize, at % *tails as usize);
        source % divisor != tail % divisor
    };
    let mut lost = table.positions().filter(is_lost);
    if let Some(first) = lost.next() {
        let node = table.node(first);
        mistakes.push(Mistake::UnreachableTails {
            table: table.name.to_string(),
            unreachable: 1 + lost.count(),
            all: table.node_count(),
            tail: node.tail.into_owned(),
            data_source: context.source_name(node.source),
        });
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
