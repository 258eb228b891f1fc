use sea_orm::sea_query::{DynIden, Expr, ExprTrait, Query, SelectStatement, TableRef, UnionType};
use sharding_core::plan::{Merge, Page};
use sharding_core::topology::Node;

use super::groups::select_partials;
use crate::shards::{Shards, physical};
use crate::visit::SelectView;

/// The SELECT for one node; `merge` is how its answer will be merged, if it is.
pub(crate) fn node_select(
    view: &SelectView<'_>,
    select: &SelectStatement,
    merge: Option<(&Merge, Page)>,
    node: Node<'_>,
    shards: &Shards,
) -> SelectStatement {
    let table = view.sharded.table;
    let mut select = swap(view, select, &|alias| physical(table, node, alias));
    match merge {
        None => {}
        Some((Merge::Groups(plan), _)) => {
            select.reset_limit().reset_offset();
            select_partials(&mut select, &view.parts, plan, shards.backend);
        }
        Some((Merge::Concatenate | Merge::Order(_), page)) => {
            if !page.is_everything() {
                select.reset_limit().reset_offset();
                if let Some(limit) = page.node_limit() {
                    select.limit(limit);
                }
            }
        }
    }
    select
}

/// The SELECT over the union of the nodes' tables, all of one data source.
pub(crate) fn union_select(
    view: &SelectView<'_>,
    select: &SelectStatement,
    nodes: &[Node<'_>],
) -> SelectStatement {
    let columns = || {
        view.sharded
            .entity
            .columns
            .iter()
            .map(|column| DynIden::from(column.name))
    };
    let rows = |node: &Node<'_>| {
        let from = crate::shards::physical_name(view.sharded.table, *node);
        Query::select().columns(columns()).from(from).to_owned()
    };
    swap(view, select, &|alias| {
        let mut tables = nodes.iter().map(rows);
        let mut union = tables.next().unwrap_or_default();
        union.unions(tables.map(|table| (UnionType::All, table)));
        TableRef::SubQuery(Box::new(union), alias.clone())
    })
}

/// A SELECT of nothing from the same tables: what it selects is still to be added. SQLite takes
/// the declared types of a union's columns from its first part.
pub(crate) fn typed_select(
    view: &SelectView<'_>,
    select: &SelectStatement,
    node: Node<'_>,
) -> SelectStatement {
    let mut typed = swap(view, select, &|alias| {
        physical(view.sharded.table, node, alias)
    });
    typed
        .clear_selects()
        .clear_group_by()
        .clear_order_by()
        .reset_limit()
        .reset_offset();
    typed.and_where(Expr::val(1).eq(0));
    typed
}

/// The same SELECT with another table in place of the sharded one. Everything else is the clone
/// of what was there, so nothing can be lost.
fn swap(
    view: &SelectView<'_>,
    select: &SelectStatement,
    replacement: &dyn Fn(&DynIden) -> TableRef,
) -> SelectStatement {
    let mut from = view.parts.from.iter();
    let first = match (from.next(), &view.derived) {
        (Some(TableRef::SubQuery(inner, alias)), Some(derived)) => {
            TableRef::SubQuery(Box::new(swap(derived, inner, replacement)), alias.clone())
        }
        _ => replacement(&view.alias()),
    };
    let mut swapped = select.clone();
    swapped.from_clear().from(first);
    for table in from {
        swapped.from(table.clone());
    }
    swapped
}
