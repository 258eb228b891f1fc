use std::sync::Arc;

use sea_orm::Statement;
use sea_orm::sea_query::{DeleteStatement, InsertStatement, UpdateStatement};
use sharding_core::plan::{self, Clause, Reach};
use sharding_core::topology::{Node, SourceState, Table};

use super::read::KeyReason;
use super::route::reason;
use super::{Planned, at_least_one, check_others, gathered, reach, refuse_copy};
use crate::error::ShardingError;
use crate::execute::Job;
use crate::rewrite::{node_delete, node_insert, node_update};
use crate::shards::Shards;
use crate::visit::{InsertView, Inserted, WriteView, Written};

/// A write to a sharded table, ready to run. Several jobs are of one source and happen together.
#[derive(Debug)]
pub(crate) struct PlannedWrite {
    /// The table's position in the topology.
    pub(crate) at: usize,
    pub(crate) table: Arc<Table>,
    pub(crate) jobs: Vec<Job>,
    /// For an INSERT, the positions of each job's rows among the rows of the statement.
    pub(crate) rows: Vec<Vec<usize>>,
    /// Which keys lead to the nodes, for an explanation.
    pub(crate) keys: Vec<KeyReason>,
}

/// Plans an INSERT.
pub(crate) fn plan_insert(
    shards: &Shards,
    insert: &InsertStatement,
) -> Result<Planned<PlannedWrite>, ShardingError> {
    let view = match InsertView::of(insert, shards) {
        Inserted::Unsharded(others) => {
            return Ok(Planned::Unsharded(gathered(shards, others)?));
        }
        Inserted::SpreadCopy(table) => return refuse_copy(table),
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
    check_draining(shards, &table, &nodes)?;
    if reach(std::iter::once((&*table, &*nodes))) == Reach::ManySources {
        return Err(shards
            .refusal(Clause::WriteAcrossSources, &table, &nodes)
            .into());
    }
    let jobs = by_node
        .iter()
        .map(|(node, rows)| {
            let rows: Vec<_> = rows.iter().map(|&row| view.rows[row].clone()).collect();
            let insert = node_insert(&view, &rows, &table.node(*node), shards);
            Job {
                table: Arc::clone(&table),
                node: *node,
                others: Vec::new(),
                statement: shards.backend.build(&insert),
            }
        })
        .collect();
    let rows = by_node.into_iter().map(|(_, rows)| rows).collect();
    Ok(Planned::Sharded(PlannedWrite {
        at: view.sharded.at,
        table,
        jobs,
        rows,
        keys: Vec::new(),
    }))
}

/// A data source that is being drained gets no new rows.
fn check_draining(shards: &Shards, table: &Table, nodes: &[usize]) -> Result<(), ShardingError> {
    let mut sources = nodes.iter().map(|&node| table.source(node));
    match sources.find(|id| shards.topology.state(*id) == SourceState::Draining) {
        Some(id) => Err(ShardingError::Draining {
            table: table.name().to_string(),
            data_source: shards.topology.source(id).to_owned(),
        }),
        None => Ok(()),
    }
}

/// Plans an UPDATE.
pub(crate) fn plan_update(
    shards: &Shards,
    update: &UpdateStatement,
) -> Result<Planned<PlannedWrite>, ShardingError> {
    plan_write(shards, Written::update(update, shards), |view, node| {
        shards.backend.build(&node_update(view, update, node))
    })
}

/// Plans a DELETE.
pub(crate) fn plan_delete(
    shards: &Shards,
    delete: &DeleteStatement,
) -> Result<Planned<PlannedWrite>, ShardingError> {
    plan_write(shards, Written::delete(delete, shards), |view, node| {
        node_delete(view, delete, node, shards)
    })
}

fn plan_write(
    shards: &Shards,
    written: Written<'_>,
    rewrite: impl Fn(&WriteView<'_>, &Node<'_>) -> Statement,
) -> Result<Planned<PlannedWrite>, ShardingError> {
    let view = match written {
        Written::Unsharded(others) => {
            return Ok(Planned::Unsharded(gathered(shards, others)?));
        }
        Written::SpreadCopy(table) => return refuse_copy(table),
        Written::Refused(sharded, clause) => {
            return Err(shards.refusal(clause, sharded.table, &[]).into());
        }
        Written::Sharded(view) => view,
    };
    let table = Arc::clone(view.sharded.table);
    let reached = table.route(|column| view.keys(column, shards));
    let nodes = at_least_one(
        &table,
        view.sharded.facts.present(&table, reached),
        view.others,
    );
    check_others(shards, &table, &nodes, view.others)?;
    let shape = view.shape(&nodes, shards);
    plan::plan_write(&shape, reach(std::iter::once((&*table, &*nodes))))
        .map_err(|clause| shards.refusal(clause, &table, &nodes))?;
    let jobs = nodes
        .iter()
        .map(|&node| Job {
            table: Arc::clone(&table),
            node,
            others: Vec::new(),
            statement: rewrite(&view, &table.node(node)),
        })
        .collect();
    let keys = table
        .keys()
        .map(|key| reason(key, &key.values(|column| view.keys(column, shards))))
        .collect();
    Ok(Planned::Sharded(PlannedWrite {
        at: view.sharded.at,
        table,
        jobs,
        rows: Vec::new(),
        keys,
    }))
}
