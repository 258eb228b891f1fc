//! From a statement to the jobs of its nodes: visit, route, plan and rewrite, without IO.

mod read;
mod write;

pub(crate) use read::{GroupColumns, KeyReason, PlannedRead, Want, key_reasons, plan_read};
pub(crate) use write::{PlannedWrite, plan_delete, plan_insert, plan_update};

use sharding_core::plan::{Clause, Reach};
use sharding_core::topology::Table;

use crate::error::ShardingError;
use crate::shards::Shards;

/// How far the nodes are apart.
fn reach(table: &Table, nodes: &[usize]) -> Reach {
    let mut sources = nodes.iter().map(|&at| table.node(at).source);
    match (sources.next(), nodes.len()) {
        (None, _) | (_, 1) => Reach::OneNode,
        (Some(first), _) if sources.all(|source| source == first) => Reach::OneSource,
        _ => Reach::ManySources,
    }
}

/// No node can have matching rows, but one must give the well-formed answer of no rows.
fn at_least_one(nodes: Vec<usize>) -> Vec<usize> {
    if nodes.is_empty() { vec![0] } else { nodes }
}

/// Tables that are not sharded are in the default source only.
fn check_others(
    shards: &Shards,
    table: &Table,
    nodes: &[usize],
    has_others: bool,
) -> Result<(), ShardingError> {
    let default = shards.topology.default_source();
    if has_others && nodes.iter().any(|&at| table.node(at).source != default) {
        return Err(shards
            .refusal(Clause::JoinAcrossSources, table, nodes)
            .into());
    }
    Ok(())
}
