//! Which rows of two tables are sure to be together.

use super::SourceId;
use super::rule::{KeyColumn, Rule};
use super::table::{Layout, Table};

/// How finely rows are divided where a statement is answered part by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// By node: each physical table answers for itself.
    Node,
    /// By data source: each answers for all of its physical tables.
    Source,
}

impl Table {
    /// The columns whose values decide in which unit a row is: in which node, or in which data
    /// source. None if all rows are in one data source.
    pub fn deciding(&self, unit: Unit) -> Vec<&KeyColumn> {
        match (unit, &self.layout) {
            (Unit::Source, Layout::Grid { source_rule, .. }) => {
                let rule = source_rule.as_ref();
                rule.map_or_else(Vec::new, |rule| rule.key().columns().iter().collect())
            }
            _ => self.deciding_columns().collect(),
        }
    }

    /// The pairs of columns, the own one first, whose equality puts rows of both tables into one
    /// unit; `None` if no equality does.
    pub fn together<'t>(
        &'t self,
        other: &'t Self,
        unit: Unit,
    ) -> Option<Vec<(&'t KeyColumn, &'t KeyColumn)>> {
        let is_alike = match (unit, &self.layout, &other.layout) {
            (
                Unit::Source,
                Layout::Grid {
                    source_rule: a,
                    sources: a_sources,
                    ..
                },
                Layout::Grid {
                    source_rule: b,
                    sources: b_sources,
                    ..
                },
            ) => a_sources == b_sources && are_alike(a.as_ref(), b.as_ref()),
            _ => self.is_alike(other),
        };
        let pairs = || self.deciding(unit).into_iter().zip(other.deciding(unit));
        is_alike.then(|| pairs().collect())
    }

    /// Whether rows with equal keys are in corresponding nodes of both tables, at every position
    /// and in the same data source.
    pub fn is_alike(&self, other: &Self) -> bool {
        let rules = |a: &Option<Rule>, b: &Option<Rule>| are_alike(a.as_ref(), b.as_ref());
        match (&self.layout, &other.layout) {
            (
                Layout::Grid {
                    source_rule: a_source,
                    table_rule: a_table,
                    sources: a_sources,
                    present: a_present,
                    ..
                },
                Layout::Grid {
                    source_rule: b_source,
                    table_rule: b_table,
                    sources: b_sources,
                    present: b_present,
                    ..
                },
            ) => {
                rules(a_source, b_source)
                    && rules(a_table, b_table)
                    && (a_sources, a_present) == (b_sources, b_present)
            }
            (
                Layout::Spread {
                    rule: a,
                    homes: a_homes,
                    ..
                },
                Layout::Spread {
                    rule: b,
                    homes: b_homes,
                    ..
                },
            ) => a.is_alike(b) && a_homes == b_homes,
            (
                Layout::Direct {
                    rule: a,
                    nodes: a_nodes,
                },
                Layout::Direct {
                    rule: b,
                    nodes: b_nodes,
                },
            ) => {
                // The strategies name the physical tables, which differ; places are compared
                // by the strategies' own word.
                let sources = |nodes: &[(SourceId, String)]| {
                    nodes.iter().map(|(source, _)| *source).collect::<Vec<_>>()
                };
                sources(a_nodes) == sources(b_nodes) && a.is_alike(b)
            }
            _ => false,
        }
    }
}

fn are_alike(a: Option<&Rule>, b: Option<&Rule>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.is_alike(b),
        (None, None) => true,
        _ => false,
    }
}
