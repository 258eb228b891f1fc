//! From a statement to the jobs of its nodes: visit, route, plan and rewrite, without IO.

mod paging;
mod ranked;
mod read;
mod route;
mod write;

pub(crate) use paging::{FAR, Paging, with_page};
pub(crate) use read::{Computed, KeyReason, PlannedRead, Reached, Want, plan_read};
pub(crate) use route::key_reasons;
pub(crate) use write::{PlannedWrite, plan_delete, plan_insert, plan_update};

use sharding_core::plan::{Clause, Reach};
use sharding_core::topology::{SourceId, Table};

use crate::error::ShardingError;
use crate::shards::{Gathering, Shards};

/// How far the nodes of all tables are apart.
fn reach<'r>(tables: impl Iterator<Item = (&'r Table, &'r [usize])> + Clone) -> Reach {
    let sources = tables.clone();
    let sources = sources.flat_map(|(table, nodes)| nodes.iter().map(|&at| table.source(at)));
    let mut sources = sources.peekable();
    let first = sources.peek().copied();
    if !sources.all(|source| Some(source) == first) {
        Reach::ManySources
    } else if { tables }.all(|(_, nodes)| nodes.len() <= 1) {
        Reach::OneNode
    } else {
        Reach::OneSource
    }
}

/// If no node can have matching rows, one must still give the well-formed answer of no rows: one
/// that is beside the other tables.
fn at_least_one(table: &Table, nodes: Vec<usize>, others: Gathering) -> Vec<usize> {
    if !nodes.is_empty() {
        return nodes;
    }
    let is_beside = |node: &usize| match others {
        Gathering::At(source) => table.source(*node) == source,
        Gathering::Anywhere | Gathering::Torn => true,
    };
    let beside = table.positions().find(is_beside);
    beside
        .or_else(|| table.positions().next())
        .into_iter()
        .collect()
}

/// The other tables of a statement have to be in the data source of every node.
fn check_others(
    shards: &Shards,
    table: &Table,
    nodes: &[usize],
    others: Gathering,
) -> Result<(), ShardingError> {
    let is_reached = |&node: &usize| match others {
        Gathering::Anywhere => true,
        Gathering::At(source) => table.source(node) == source,
        Gathering::Torn => false,
    };
    if nodes.iter().all(is_reached) {
        return Ok(());
    }
    Err(shards
        .refusal(Clause::JoinAcrossSources, table, nodes)
        .into())
}

/// Where a statement without a sharded table goes.
pub(crate) fn gathered(shards: &Shards, others: Gathering) -> Result<SourceId, ShardingError> {
    match others {
        Gathering::Anywhere => Ok(shards.topology.default_source()),
        Gathering::At(source) => Ok(source),
        Gathering::Torn => {
            let tables = "tables of different data sources".to_owned();
            Err(Shards::refusal_of(Clause::JoinAcrossSources, tables).into())
        }
    }
}

/// A write to a table of which every data source has a copy.
fn refuse_copy<T>(table: String) -> Result<T, ShardingError> {
    Err(Shards::refusal_of(Clause::BroadcastWrite, table).into())
}

/// What is planned for a statement.
#[derive(Debug)]
pub(crate) enum Planned<T> {
    /// It has a sharded table.
    Sharded(T),
    /// It has none, and goes to this data source as it stands.
    Unsharded(SourceId),
}
