use std::sync::Arc;

use sea_orm::Statement;
use sea_orm::sea_query::{DeleteStatement, InsertStatement, UpdateStatement};
use sharding_core::plan::{self, Clause, Reach};
use sharding_core::topology::{Node, Table};

use super::read::{KeyReason, reason};
use super::{at_least_one, check_others, reach};
use crate::error::ShardingError;
use crate::execute::Job;
use crate::rewrite::{node_delete, node_insert, node_update};
use crate::shards::Shards;
use crate::visit::{InsertView, Inserted, WriteView, Written};

/// A write to a sharded table, ready to run. Several jobs are of one source and happen together.
#[derive(Debug)]
pub(crate) struct PlannedWrite {
    pub(crate) table: Arc<Table>,
    pub(crate) jobs: Vec<Job>,
    /// For an INSERT, the positions of each job's rows among the rows of the statement.
    pub(crate) rows: Vec<Vec<usize>>,
    /// Which keys lead to the nodes, for an explanation.
    pub(crate) keys: Vec<KeyReason>,
}

/// Plans an INSERT; `None` if its table is not sharded.
pub(crate) fn plan_insert(
    shards: &Shards,
    insert: &InsertStatement,
) -> Result<Option<PlannedWrite>, ShardingError> {
    let view = match InsertView::of(insert, shards) {
        Inserted::Unsharded => return Ok(None),
        Inserted::Refused(sharded, clause) => {
            return Err(shards.refusal(clause, sharded.table, &[]).into());
        }
        Inserted::Sharded(view) => view,
    };
    let table = Arc::clone(view.sharded.table);
    let places = view.place(shards)?;
    let mut by_node: Vec<(usize, Vec<usize>)> = Vec::new();
    for (row, node) in places.into_iter().enumerate() {
        match by_node.binary_search_by_key(&node, |(node, _)| *node) {
            Ok(at) => by_node[at].1.push(row),
            Err(at) => by_node.insert(at, (node, vec![row])),
        }
    }
    let nodes: Vec<usize> = by_node.iter().map(|(node, _)| *node).collect();
    if reach(&table, &nodes) == Reach::ManySources {
        return Err(shards
            .refusal(Clause::WriteAcrossSources, &table, &nodes)
            .into());
    }
    let jobs = by_node
        .iter()
        .map(|(node, rows)| {
            let rows: Vec<_> = rows.iter().map(|&row| view.rows[row].clone()).collect();
            let insert = node_insert(&view, &rows, table.node(*node), shards);
            Job {
                table: Arc::clone(&table),
                node: *node,
                statement: shards.backend.build(&insert),
            }
        })
        .collect();
    let rows = by_node.into_iter().map(|(_, rows)| rows).collect();
    Ok(Some(PlannedWrite {
        table,
        jobs,
        rows,
        keys: Vec::new(),
    }))
}

/// Plans an UPDATE; `None` if its table is not sharded.
pub(crate) fn plan_update(
    shards: &Shards,
    update: &UpdateStatement,
) -> Result<Option<PlannedWrite>, ShardingError> {
    plan_write(shards, Written::update(update, shards), |view, node| {
        shards.backend.build(&node_update(view, update, node))
    })
}

/// Plans a DELETE; `None` if its table is not sharded.
pub(crate) fn plan_delete(
    shards: &Shards,
    delete: &DeleteStatement,
) -> Result<Option<PlannedWrite>, ShardingError> {
    plan_write(shards, Written::delete(delete, shards), |view, node| {
        node_delete(view, delete, node, shards)
    })
}

fn plan_write(
    shards: &Shards,
    written: Written<'_>,
    rewrite: impl Fn(&WriteView<'_>, Node<'_>) -> Statement,
) -> Result<Option<PlannedWrite>, ShardingError> {
    let view = match written {
        Written::Unsharded => return Ok(None),
        Written::Refused(sharded, clause) => {
            return Err(shards.refusal(clause, sharded.table, &[]).into());
        }
        Written::Sharded(view) => view,
    };
    let table = Arc::clone(view.sharded.table);
    let nodes = at_least_one(table.route(|rule| view.keys(rule, shards)));
    check_others(shards, &table, &nodes, view.has_others())?;
    let shape = view.shape(&nodes, shards.backend);
    plan::plan_write(&shape, reach(&table, &nodes))
        .map_err(|clause| shards.refusal(clause, &table, &nodes))?;
    let jobs = nodes
        .iter()
        .map(|&node| Job {
            table: Arc::clone(&table),
            node,
            statement: rewrite(&view, table.node(node)),
        })
        .collect();
    let keys = table
        .rules()
        .map(|rule| reason(rule, &view.keys(rule, shards)))
        .collect();
    Ok(Some(PlannedWrite {
        table,
        jobs,
        rows: Vec::new(),
        keys,
    }))
}
