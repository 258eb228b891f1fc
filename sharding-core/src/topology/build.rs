use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::mistake::{ConfigError, Mistake};
use super::table::{Rule, Table, TableName};
use super::{SourceId, Topology};
use crate::key::KeyKind;
use crate::strategy::Strategy;

/// A topology as it was written down, not checked yet.
#[derive(Clone, Debug, Default)]
pub struct TopologyDraft {
    /// The names of the data sources.
    pub sources: Vec<String>,
    /// The source of tables that are not sharded: the first if `None`.
    pub default_source: Option<String>,
    /// The sharded tables.
    pub tables: Vec<TableDraft>,
    /// Mistakes that the caller found while it wrote the draft; they are reported first.
    pub mistakes: Vec<Mistake>,
}

/// A sharded table as it was written down, not checked yet.
#[derive(Clone, Debug)]
pub struct TableDraft {
    /// The logical name.
    pub name: TableName,
    /// What stands between the logical name and the tail: may be empty.
    pub separator: Cow<'static, str>,
    /// The rule for the data source.
    pub source: Option<RuleDraft>,
    /// The source of each partition of the source rule: all of them in order if `None`.
    pub source_names: Option<Vec<Cow<'static, str>>>,
    /// The rule for the tail.
    pub table: Option<RuleDraft>,
}

/// A rule as it was written down, not checked yet.
#[derive(Clone, Debug)]
pub struct RuleDraft {
    /// The key column's name in the database.
    pub column: Cow<'static, str>,
    /// What the column holds, or the name of a type that cannot be a key.
    pub kind: Result<KeyKind, String>,
    /// The strategy.
    pub strategy: Arc<dyn Strategy>,
}

/// PostgreSQL takes 63 bytes, MySQL and MariaDB 64 characters, SQLite any number.
const NAME_LIMIT: usize = 63;

impl TopologyDraft {
    /// Checks everything. `now` decides which calendar tails exist.
    ///
    /// # Errors
    /// All mistakes at once, each with its place.
    pub fn build(self, now: DateTime<Utc>) -> Result<Topology, ConfigError> {
        let mut mistakes = self.mistakes;
        check_sources(&self.sources, &mut mistakes);
        let ids: HashMap<&str, SourceId> = self
            .sources
            .iter()
            .zip(0..)
            .map(|(name, id)| (name.as_str(), SourceId(id)))
            .collect();
        let default = match &self.default_source {
            None => SourceId(0),
            Some(name) => ids.get(name.as_str()).copied().unwrap_or_else(|| {
                mistakes.push(Mistake::UnknownDefault { name: name.clone() });
                SourceId(0)
            }),
        };
        let context = Context {
            now,
            ids: &ids,
            default,
        };
        let mut tables = Vec::with_capacity(self.tables.len());
        let mut by_name = HashMap::with_capacity(self.tables.len());
        for draft in self.tables {
            match by_name.entry(draft.name.clone()) {
                Entry::Occupied(entry) => {
                    mistakes.push(Mistake::DuplicateTable {
                        table: entry.key().to_string(),
                    });
                }
                Entry::Vacant(entry) => {
                    if let Some(table) = context.table(draft, &mut mistakes) {
                        entry.insert(tables.len());
                        tables.push(Arc::new(table));
                    }
                }
            }
        }
        check_physical(&tables, &by_name, &mut mistakes);
        match ConfigError::new(mistakes) {
            Some(error) => Err(error),
            None => Ok(Topology {
                sources: self.sources,
                default,
                tables,
                by_name,
            }),
        }
    }
}

fn check_sources(sources: &[String], mistakes: &mut Vec<Mistake>) {
    if sources.is_empty() {
        mistakes.push(Mistake::NoSource);
    }
    let mut seen = HashSet::new();
    for name in sources {
        if !is_name(name, "_-") || name.is_empty() {
            mistakes.push(Mistake::BadSourceName { name: name.clone() });
        }
        if !seen.insert(name) {
            mistakes.push(Mistake::DuplicateSource { name: name.clone() });
        }
    }
}

fn is_name(text: &str, also: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || also.contains(c))
}

/// Physical names are unique over all tables and differ from every other logical name, so that a
/// name in a statement always means one thing.
fn check_physical(
    tables: &[Arc<Table>],
    by_name: &HashMap<TableName, usize>,
    mistakes: &mut Vec<Mistake>,
) {
    let mut owners: HashMap<(Option<&str>, &str), &Table> = HashMap::new();
    for table in tables {
        for physical in &table.physical {
            let name = TableName {
                schema: table.name.schema.clone(),
                table: Cow::Owned(physical.clone()),
            };
            let named = by_name.get(&name).map(|&at| &*tables[at]);
            let owner = owners.insert((table.name.schema.as_deref(), physical), table);
            let other = owner.or(named).filter(|other| other.name != table.name);
            if let Some(other) = other {
                mistakes.push(Mistake::SharedPhysical {
                    table: table.name.to_string(),
                    physical: physical.clone(),
                    other: other.name.to_string(),
                });
            }
            if physical.len() > NAME_LIMIT {
                mistakes.push(Mistake::LongName {
                    table: table.name.to_string(),
                    physical: physical.clone(),
                    limit: NAME_LIMIT,
                });
                break;
            }
        }
    }
}

struct Context<'a> {
    now: DateTime<Utc>,
    ids: &'a HashMap<&'a str, SourceId>,
    default: SourceId,
}

impl Context<'_> {
    /// `None` if the draft has mistakes, which are then in the list.
    fn table(&self, draft: TableDraft, mistakes: &mut Vec<Mistake>) -> Option<Table> {
        let before = mistakes.len();
        let table = draft.name.to_string();
        if draft.source.is_none() && draft.table.is_none() {
            mistakes.push(Mistake::NoRule {
                table: table.clone(),
            });
        }
        if !is_name(&draft.separator, "_") {
            let separator = draft.separator.to_string();
            mistakes.push(Mistake::BadSeparator {
                table: table.clone(),
                separator,
            });
        }
        let source = self.rule(&table, "source", draft.source, mistakes);
        let sources = self.sources(&table, source.as_ref(), draft.source_names, mistakes);
        let tail = self.rule(&table, "table", draft.table, mistakes);
        let (table_rule, tails) = tail.unzip();
        let physical = match &tails {
            None => vec![draft.name.table.to_string()],
            Some(tails) => tails
                .iter()
                .map(|tail| format!("{}{}{tail}", draft.name.table, draft.separator))
                .collect(),
        };
        (mistakes.len() == before).then(|| Table {
            name: draft.name,
            source_rule: source.map(|(rule, _)| rule),
            table_rule,
            sources,
            physical,
            tails: tails.unwrap_or_default(),
        })
    }

    fn rule(
        &self,
        table: &str,
        rule: &'static str,
        draft: Option<RuleDraft>,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<(Rule, Vec<String>)> {
        let RuleDraft {
            column,
            kind,
            strategy,
        } = draft?;
        let described = strategy.describe();
        let kind = match kind {
            Ok(kind) if strategy.accepts(kind) => Some(kind),
            Ok(kind) => {
                mistakes.push(Mistake::StrategyKind {
                    table: table.into(),
                    rule,
                    strategy: described.clone(),
                    column: column.to_string(),
                    kind,
                });
                None
            }
            Err(column_type) => {
                mistakes.push(Mistake::UnusableKey {
                    table: table.into(),
                    rule,
                    column: column.to_string(),
                    column_type,
                });
                None
            }
        };
        match strategy.partitions(self.now) {
            Ok(partitions) => Some((
                Rule {
                    column,
                    kind: kind?,
                    strategy,
                },
                partitions,
            )),
            Err(why) => {
                let table = table.into();
                mistakes.push(Mistake::BadStrategy {
                    table,
                    rule,
                    strategy: described,
                    why,
                });
                None
            }
        }
    }

    fn sources(
        &self,
        table: &str,
        rule: Option<&(Rule, Vec<String>)>,
        names: Option<Vec<Cow<'static, str>>>,
        mistakes: &mut Vec<Mistake>,
    ) -> Vec<SourceId> {
        let Some((rule, partitions)) = rule else {
            return vec![self.default];
        };
        let sources = match names {
            None => (0..self.ids.len() as u32).map(SourceId).collect(),
            Some(names) => self.named(table, &names, mistakes),
        };
        if sources.len() != partitions.len() {
            mistakes.push(Mistake::SourceCount {
                table: table.into(),
                strategy: rule.strategy.describe(),
                partitions: partitions.len(),
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
                    mistakes.push(Mistake::UnknownSource { table, name });
                    sources.push(self.default);
                }
            }
        }
        sources
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{KeySet, KeyValue};
    use crate::strategy::{HashModulo, Modulo, Monthly};

    fn rule(kind: KeyKind, strategy: impl Strategy) -> Option<RuleDraft> {
        Some(RuleDraft {
            column: "k".into(),
            kind: Ok(kind),
            strategy: Arc::new(strategy),
        })
    }

    fn draft(name: &'static str) -> TableDraft {
        TableDraft {
            name: TableName::new(name),
            separator: "_".into(),
            source: None,
            source_names: None,
            table: rule(KeyKind::Integer, Modulo::new(3)),
        }
    }

    fn build(sources: &[&str], tables: Vec<TableDraft>) -> Result<Topology, ConfigError> {
        let sources = sources.iter().map(ToString::to_string).collect();
        TopologyDraft {
            sources,
            tables,
            ..TopologyDraft::default()
        }
        .build(DateTime::UNIX_EPOCH)
    }

    #[track_caller]
    fn mistakes(sources: &[&str], tables: Vec<TableDraft>, expected: &[&str]) {
        let error = build(sources, tables).unwrap_err();
        let texts: Vec<_> = error.mistakes().iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn everything_wrong_is_reported_at_once() {
        let zero = TableDraft {
            table: rule(KeyKind::Integer, Modulo::new(0)),
            ..draft("zero")
        };
        let text = TableDraft {
            table: rule(KeyKind::Text, Modulo::new(2)),
            ..draft("text")
        };
        let bare = TableDraft {
            table: None,
            separator: "-".into(),
            ..draft("bare")
        };
        let lost = TableDraft {
            source: rule(KeyKind::Integer, HashModulo::new(3)),
            source_names: Some(vec!["ds0".into(), "ds9".into(), "ds0".into()]),
            ..draft("lost")
        };
        let few = TableDraft {
            source: rule(KeyKind::Integer, HashModulo::new(3)),
            ..draft("few")
        };
        let float = TableDraft {
            table: Some(RuleDraft {
                column: "f".into(),
                kind: Err("float".into()),
                strategy: Arc::new(Modulo::new(1)),
            }),
            ..draft("float")
        };
        mistakes(
            &["ds0", "a b", "ds0"],
            vec![zero, text, bare, lost, few.clone(), draft("few"), float],
            &[
                "sources.\"a b\": a name consists of letters, digits, `_` and `-`",
                "sources.ds0: declared twice",
                "tables.zero.table.by: modulo 0 has no shards; give it at least 1",
                "tables.text.table.by: modulo 2 cannot place `k`, which is text",
                "tables.bare: has no rule; add a `table` or a `source` rule",
                "tables.bare.separator: \"-\" may only hold letters, digits and `_`",
                "tables.lost.source.names: `ds9` is not among the sources",
                "tables.lost.source.names: `ds0` is listed twice",
                "tables.few.source: hash modulo 3 has 3 partitions for 2 data sources",
                "tables.float.table.key: `f` is float and cannot be a key",
            ],
        );
        mistakes(
            &[],
            vec![],
            &["sources: none is declared; declare at least one data source"],
        );
        mistakes(
            &["ds0"],
            vec![draft("t"), draft("t")],
            &["tables.t: two entities name this table; register only one of them"],
        );
    }

    #[test]
    fn physical_names_belong_to_one_table() {
        let glued = TableDraft {
            separator: "".into(),
            ..draft("t_")
        };
        mistakes(
            &["ds0"],
            vec![draft("t"), glued],
            &[
                "tables.t_: the physical table `t_0` also belongs to `t`",
                "tables.t_: the physical table `t_1` also belongs to `t`",
                "tables.t_: the physical table `t_2` also belongs to `t`",
            ],
        );
        mistakes(
            &["ds0"],
            vec![draft("t"), draft("t_1")],
            &["tables.t: the physical table `t_1` also belongs to `t_1`"],
        );
    }

    #[test]
    fn nodes_form_a_grid() {
        let table = TableDraft {
            source: rule(KeyKind::Integer, Modulo::new(2)),
            table: rule(KeyKind::Date, Monthly::starting(2013, 1).through(2013, 3)),
            ..draft("flight")
        };
        let topology = build(&["ds0", "ds1"], vec![table]).unwrap();
        let table = topology.table(&TableName::new("flight")).unwrap();
        assert_eq!(table.node_count(), 6);
        let node = table.node(4);
        assert_eq!(
            (topology.source(node.source), node.table),
            ("ds1", "flight_201302")
        );
        assert_eq!(node.tail, "201302");

        let march = KeyValue::Date("2013-03-09".parse().unwrap());
        let row = |rule: &Rule| match rule.kind() {
            KeyKind::Integer => Some(Some(KeyValue::Int(7))),
            _ => Some(Some(march.clone())),
        };
        assert_eq!(table.place(row), Ok(5));
        let route = table.route(|rule| match rule.kind() {
            KeyKind::Integer => KeySet::all(),
            _ => KeySet::point(march.clone()),
        });
        assert_eq!(route, [2, 5]);
    }
}
