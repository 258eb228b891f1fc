use std::sync::Arc;

use sea_orm::sea_query::SelectStatement;
use sharding_core::key::KeySet;
use sharding_core::plan::{self, Clause, Merge, Page, Partial, Reach, ReadPlan};
use sharding_core::topology::{Rule, Table};

use super::{at_least_one, check_others, reach};
use crate::dialect;
use crate::error::ShardingError;
use crate::execute::Job;
use crate::rewrite::{node_select, union_select};
use crate::shards::Shards;
use crate::visit::{SelectView, Selected};

/// How many rows a caller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    All,
    One,
}

/// A SELECT of a sharded table, ready to run.
#[derive(Debug)]
pub(crate) struct PlannedRead {
    pub(crate) table: Arc<Table>,
    /// The positions of the nodes, in order. With a union there is one job for all of them.
    pub(crate) nodes: Vec<usize>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) plan: ReadPlan,
    /// Names of computed columns that no node gives; only for groups.
    pub(crate) names: Vec<Option<String>>,
}

/// What one sharding key contributed to a route.
#[derive(Clone, Debug)]
pub(crate) struct KeyReason {
    pub(crate) column: String,
    pub(crate) strategy: String,
    pub(crate) keys: String,
}

/// Plans a SELECT; `None` if no sharded table is in it.
pub(crate) fn plan_read(
    shards: &Shards,
    select: &SelectStatement,
    want: Want,
) -> Result<Option<PlannedRead>, ShardingError> {
    let view = match Selected::of(select, shards) {
        Selected::Unsharded => return Ok(None),
        Selected::Nested(sharded) => {
            let refusal = shards.refusal(Clause::NestedTable, sharded.table, &[]);
            return Err(refusal.into());
        }
        Selected::Sharded(view) => view,
    };
    let table = Arc::clone(view.sharded.table);
    let nodes = at_least_one(table.route(|rule| view.keys(rule, shards)));
    check_others(shards, &table, &nodes, view.has_others)?;
    let reach = reach(&table, &nodes);
    let plan = decide(shards, &view, select, reach, want)
        .map_err(|clause| shards.refusal(clause, &table, &nodes))?;
    let statements = match &plan {
        ReadPlan::Union(_) => {
            let tables: Vec<_> = nodes.iter().map(|&at| table.node(at)).collect();
            vec![(nodes[0], union_select(&view, select, &tables))]
        }
        plan => {
            let merge = match plan {
                ReadPlan::Merge { merge, page } => Some((merge, *page)),
                _ => None,
            };
            let rewrite = |&at: &usize| {
                (
                    at,
                    node_select(&view, select, merge, table.node(at), shards),
                )
            };
            nodes.iter().map(rewrite).collect()
        }
    };
    let jobs = statements
        .into_iter()
        .map(|(node, select)| Job {
            table: Arc::clone(&table),
            node,
            statement: shards.backend.build(&select),
        })
        .collect();
    let names = match &plan {
        ReadPlan::Merge {
            merge: Merge::Groups(_),
            ..
        } => names(&view, shards),
        _ => Vec::new(),
    };
    Ok(Some(PlannedRead {
        table,
        nodes,
        jobs,
        plan,
        names,
    }))
}

/// The reasons for a route: what the statement says about each sharding key.
pub(crate) fn key_reasons(shards: &Shards, select: &SelectStatement) -> Vec<KeyReason> {
    let Selected::Sharded(view) = Selected::of(select, shards) else {
        return Vec::new();
    };
    view.sharded
        .table
        .rules()
        .map(|rule| reason(rule, &view.keys(rule, shards)))
        .collect()
}

pub(crate) fn reason(rule: &Rule, keys: &KeySet<'_>) -> KeyReason {
    KeyReason {
        column: rule.column().to_owned(),
        strategy: rule.strategy().describe(),
        keys: keys.to_string(),
    }
}

fn decide(
    shards: &Shards,
    view: &SelectView<'_>,
    select: &SelectStatement,
    reach: Reach,
    want: Want,
) -> Result<ReadPlan, Clause> {
    if reach == Reach::OneNode {
        return Ok(ReadPlan::Pass);
    }
    let mut shape = view.shape(select, shards);
    if want == Want::One && !shape.locks {
        // The caller reads the first row only, so more need not be fetched.
        let limit = shape.page.limit.map_or(1, |limit| limit.min(1));
        shape.page = Page {
            limit: Some(limit),
            ..shape.page
        };
    }
    plan::plan_read(&shape, reach)
}

fn names(view: &SelectView<'_>, shards: &Shards) -> Vec<Option<String>> {
    let name = |item: &sea_orm::sea_query::SelectExpr| match &item.alias {
        Some(alias) => Some(alias.to_string()),
        None => Some(dialect::average_name(shards.backend, &item.expr)),
    };
    view.parts.items.iter().map(name).collect()
}

impl PlannedRead {
    /// The name of an output of a group plan, which is the name of the partial that it comes from
    /// unless it is an average.
    pub(crate) fn average_name(&self, partial: Partial) -> Option<&str> {
        match partial {
            Partial::SumOf(item) => self.names.get(item)?.as_deref(),
            _ => None,
        }
    }
}
