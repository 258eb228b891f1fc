//! The nodes that a SELECT reaches, and the reasons for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sea_orm::sea_query::SelectStatement;
use sharding_core::key::KeySet;
use sharding_core::topology::Key;

use super::at_least_one;
use super::read::{KeyReason, Reached};
use crate::shards::{Gathering, Shards};
use crate::visit::{SelectView, Selected, Tree, keys};

/// The nodes of the one table of a statement.
pub(super) fn route_simple(view: &SelectView<'_>, shards: &Shards) -> Reached {
    let sharded = view.sharded;
    let table = Arc::clone(sharded.table);
    let reached = table.route(|column| view.keys(column, shards));
    let present = sharded.facts.present(&table, reached);
    Reached {
        at: sharded.at,
        nodes: at_least_one(&table, present, view.others),
        table,
    }
}

/// The nodes of each table, for all its uses together.
pub(super) fn route_tree(tree: &Tree<'_>, shards: &Shards) -> Vec<Reached> {
    let mut tables: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut order = Vec::new();
    tree.each_table(&mut |around, used, sharded| {
        let reads_as_tree = !tree.scan.breaks_out;
        let nodes = sharded.table.route(|column| match reads_as_tree {
            true => keys(around, used, column, shards),
            false => KeySet::all(),
        });
        let nodes = sharded.facts.present(sharded.table, nodes);
        if !order.contains(&sharded.at) {
            order.push(sharded.at);
        }
        tables.entry(sharded.at).or_default().extend(nodes);
    });
    let others = shards.gather(&tree.scan);
    let mut reached: Vec<Reached> = Vec::with_capacity(order.len());
    for at in order {
        let sharded = shards.at(at);
        let nodes: Vec<usize> = tables[&at].iter().copied().collect();
        reached.push(Reached {
            at,
            table: Arc::clone(sharded.table),
            nodes,
        });
    }
    // A table without rows to read still lends its columns, beside the others if it can.
    let first = reached.iter().find(|table| !table.nodes.is_empty());
    let beside = first.map(|reached| reached.table.source(reached.nodes[0]));
    let beside = beside.map_or(others, Gathering::At);
    for table in &mut reached {
        let nodes = std::mem::take(&mut table.nodes);
        table.nodes = at_least_one(&table.table, nodes, beside);
    }
    reached
}

/// The reasons for a route: what the statement says about each sharding key of its first sharded
/// table.
pub(crate) fn key_reasons(shards: &Shards, select: &SelectStatement) -> Vec<KeyReason> {
    match Selected::of(select, shards) {
        Selected::Sharded(view) => {
            let reason = |key: &Key| reason(key, &key.values(|column| view.keys(column, shards)));
            view.sharded.table.keys().map(reason).collect()
        }
        Selected::Nested => {
            let Ok(tree) = Tree::of(select, shards) else {
                return Vec::new();
            };
            let mut reasons = Vec::new();
            tree.each_table(&mut |around, used, sharded| {
                for key in sharded.table.keys() {
                    let values = key.values(|column| keys(around, used, column, shards));
                    reasons.push(KeyReason {
                        column: format!("{}.{}", sharded.table.name(), key.label()),
                        ..reason(key, &values)
                    });
                }
            });
            reasons
        }
        _ => Vec::new(),
    }
}

pub(crate) fn reason(key: &Key, values: &KeySet<'_>) -> KeyReason {
    KeyReason {
        column: key.label().into_owned(),
        strategy: key.strategy().describe(),
        keys: values.to_string(),
    }
}
