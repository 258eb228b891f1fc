use sea_orm::sea_query::{DynIden, Expr, ExprTrait, Query, SelectStatement, TableRef};
use sea_orm::{DbBackend, Statement};
use sharding_core::plan::{Clause, Merge, ReadPlan};
use sharding_core::topology::Node;

use super::bind::{needed_columns, union_all};
use super::groups::{order_by_position, select_partials};
use super::template::Template;
use crate::shards::{Shards, physical};
use crate::visit::{Parts, SelectView, Selection, scan_statement};

/// Makes the statement for one node, whose table takes the place of the sharded one.
pub(super) fn node_statement<'s>(
    view: &'s SelectView<'_>,
    select: &'s SelectStatement,
    shards: &'s Shards,
) -> impl Fn(usize) -> Statement + 's {
    let table = view.sharded.table;
    let (logical, depth) = view.place();
    let template = if view.is_flat() {
        Template::of(select, logical, depth, shards.backend)
    } else {
        None
    };
    move |node| match &template {
        Some(template) => {
            template.with_table(&physical(table, &table.node(node), &view.table_alias()))
        }
        None => {
            let swapped = swap(view, select, &|alias| {
                physical(table, &table.node(node), alias)
            });
            shards.backend.build(&swapped)
        }
    }
}

/// The SELECT whose answers can be merged: more than the page, what is sorted by, or partials
/// instead of groups.
pub(crate) fn for_merge(
    select: &SelectStatement,
    parts: &Parts,
    selection: &Selection,
    plan: &ReadPlan,
    backend: DbBackend,
) -> SelectStatement {
    let mut select = select.clone();
    let ReadPlan::Merge {
        merge,
        page,
        strips,
    } = plan
    else {
        return select;
    };
    if let Merge::Groups(plan) = merge {
        select_partials(&mut select, parts, selection, plan, backend);
        return select;
    }
    if *strips {
        for (at, hidden) in selection.hidden.iter().enumerate() {
            select.expr_as(hidden.clone(), format!("sharding_{at}"));
        }
    }
    if let Merge::Distinct(keys) = merge {
        for key in keys.iter().skip(parts.order.len()) {
            order_by_position(&mut select, key, backend);
        }
    }
    if !page.is_everything() {
        select.reset_limit().reset_offset();
        if let Some(limit) = page.node_limit() {
            select.limit(limit);
        }
    }
    select
}

/// The SELECT over the union of the nodes' tables, all of one data source. Databases that build
/// the union before they filter it get no more than the statement needs: the columns that it names
/// and, if it is about this table alone, the rows that its condition lets through.
pub(crate) fn union_select(
    view: &SelectView<'_>,
    select: &SelectStatement,
    nodes: &[Node<'_>],
    backend: DbBackend,
) -> Result<SelectStatement, Clause> {
    /// Values are bound once more for each node, and statements take some ten thousand of them.
    const MOST_VALUES: usize = 1_000;

    let table = view.sharded.table;
    let scan = scan_statement(select);
    let columns = needed_columns(view.sharded, &scan, backend)?;
    let condition = view
        .own_condition()
        .filter(|_| scan.values * nodes.len() <= MOST_VALUES);
    let rows = |node: &Node<'_>, alias: &DynIden| {
        let mut rows = Query::select();
        rows.columns(columns.iter().map(|column| (alias.clone(), column.clone())));
        rows.from(physical(table, node, alias));
        if let Some(condition) = condition {
            rows.cond_where(condition.clone());
        }
        rows.take()
    };
    Ok(swap(view, select, &|alias| {
        let parts = nodes.iter().map(|node| rows(node, alias)).collect();
        let union = union_all(parts, &columns, backend);
        TableRef::SubQuery(Box::new(union), alias.clone())
    }))
}

/// A SELECT of nothing from the same tables: what it selects is still to be added. SQLite takes
/// the declared types of a union's columns from its first part.
pub(crate) fn typed_select(mut bound: SelectStatement) -> SelectStatement {
    bound
        .clear_selects()
        .clear_group_by()
        .clear_having()
        .clear_order_by()
        .reset_limit()
        .reset_offset();
    bound.and_where(Expr::val(1).eq(0));
    bound
}

/// The same SELECT with another table in place of the sharded one. Everything else is the clone
/// of what was there, so nothing can be lost.
pub(super) fn swap(
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
