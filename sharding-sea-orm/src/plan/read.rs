use std::sync::Arc;

use sea_orm::DbBackend;
use sea_orm::sea_query::{Expr, SelectExpr, SelectStatement};
use sharding_core::key::KeySet;
use sharding_core::plan::{self, Clause, Item, Merge, Page, Partial, Reach, ReadPlan};
use sharding_core::topology::{Key, Node, Table};

use super::{Planned, at_least_one, check_others, gathered, reach};
use crate::dialect;
use crate::error::ShardingError;
use crate::execute::Job;
use crate::rewrite::{node_statements, typed_select, union_select};
use crate::shards::{Sharded, Shards};
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
    /// The table's position in the topology.
    pub(crate) at: usize,
    pub(crate) table: Arc<Table>,
    /// The positions of the nodes, in order. With a union there is one job for all of them.
    pub(crate) nodes: Vec<usize>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) plan: ReadPlan,
    /// What the rows of groups look like; `None` without groups.
    pub(crate) groups: Option<GroupColumns>,
}

/// What the rows of groups look like, as far as the statement tells.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "sqlx-sqlite"),
    allow(dead_code, reason = "for SQLite's types")
)]
pub(crate) struct GroupColumns {
    /// The name of each selected item, should it be an average.
    names: Vec<String>,
    /// Each selected item that is a column of a table.
    pub(crate) columns: Vec<Option<Expr>>,
    /// A SELECT of nothing from the same tables, where types come from there.
    pub(crate) typed: Option<SelectStatement>,
}

/// What one sharding key contributed to a route.
#[derive(Clone, Debug)]
pub(crate) struct KeyReason {
    pub(crate) column: String,
    pub(crate) strategy: String,
    pub(crate) keys: String,
}

/// Plans a SELECT.
pub(crate) fn plan_read(
    shards: &Shards,
    select: &SelectStatement,
    want: Want,
) -> Result<Planned<PlannedRead>, ShardingError> {
    let mut view = match Selected::of(select, shards) {
        Selected::Unsharded(others) => {
            return Ok(Planned::Unsharded(gathered(shards, others)?));
        }
        Selected::Refused(sharded, clause) => {
            return Err(shards.refusal(clause, sharded.table, &[]).into());
        }
        Selected::Sharded(view) => view,
    };
    let table = Arc::clone(view.sharded.table);
    let reached = table.route(|column| view.keys(column, shards));
    let nodes = at_least_one(
        &table,
        view.sharded.facts.present(&table, reached),
        view.others,
    );
    check_others(shards, &table, &nodes, view.others)?;
    let reach = reach(&table, &nodes);
    if reach != Reach::OneNode {
        view.complete(select, shards);
    }
    let plan = decide(shards, &view, select, reach, want)
        .map_err(|clause| shards.refusal(clause, &table, &nodes))?;
    let statements = match &plan {
        ReadPlan::Union(_) => {
            let tables: Vec<_> = nodes.iter().map(|&at| table.node(at)).collect();
            vec![shards.backend.build(&union_select(&view, select, &tables))]
        }
        ReadPlan::Pass => node_statements(&view, select, None, &nodes, shards),
        ReadPlan::Merge { merge, page } => {
            node_statements(&view, select, Some((merge, *page)), &nodes, shards)
        }
    };
    let job = |(&node, statement)| Job {
        table: Arc::clone(&table),
        node,
        statement,
    };
    let jobs = nodes.iter().zip(statements).map(job).collect();
    let groups = match &plan {
        ReadPlan::Merge {
            merge: Merge::Groups(_),
            ..
        } => Some(GroupColumns::of(
            &view,
            select,
            &table.node(nodes[0]),
            shards,
        )),
        _ => None,
    };
    Ok(Planned::Sharded(PlannedRead {
        at: view.sharded.at,
        table,
        nodes,
        jobs,
        plan,
        groups,
    }))
}

/// The reasons for a route: what the statement says about each sharding key.
pub(crate) fn key_reasons(shards: &Shards, select: &SelectStatement) -> Vec<KeyReason> {
    let Selected::Sharded(view) = Selected::of(select, shards) else {
        return Vec::new();
    };
    let reason = |key: &Key| reason(key, &key.values(|column| view.keys(column, shards)));
    view.sharded.table.keys().map(reason).collect()
}

pub(crate) fn reason(key: &Key, values: &KeySet<'_>) -> KeyReason {
    KeyReason {
        column: key.label().into_owned(),
        strategy: key.strategy().describe(),
        keys: values.to_string(),
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
    let plan = plan::plan_read(&shape, reach)?;
    // A union names the entity's columns, so `*` over it would leave out any other.
    let leaves_out = || {
        let Sharded { entity, facts, .. } = view.sharded;
        shape.items.contains(&Item::Star) && !facts.has_only(entity)
    };
    match plan {
        ReadPlan::Union(clause) if leaves_out() => Err(clause),
        plan => Ok(plan),
    }
}

impl GroupColumns {
    fn of(
        view: &SelectView<'_>,
        select: &SelectStatement,
        node: &Node<'_>,
        shards: &Shards,
    ) -> Self {
        let items = &view.parts.items;
        let name = |item: &SelectExpr| match &item.alias {
            Some(alias) => alias.to_string(),
            None => dialect::average_name(shards.backend, &item.expr),
        };
        let column =
            |item: &SelectExpr| matches!(item.expr, Expr::Column(_)).then(|| item.expr.clone());
        let typed = (shards.backend == DbBackend::Sqlite).then(|| typed_select(view, select, node));
        Self {
            names: items.iter().map(name).collect(),
            columns: items.iter().map(column).collect(),
            typed,
        }
    }

    /// The name of an average, which its partials do not have.
    pub(crate) fn average_name(&self, partial: Partial) -> Option<&str> {
        match partial {
            Partial::SumOf(item) => self.names.get(item).map(String::as_str),
            _ => None,
        }
    }
}
