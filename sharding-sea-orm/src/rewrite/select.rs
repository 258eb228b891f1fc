use std::borrow::Cow;

use sea_orm::Statement;
use sea_orm::sea_query::{DynIden, Expr, ExprTrait, Query, SelectStatement, TableRef, UnionType};
use sharding_core::plan::{Merge, Page};
use sharding_core::topology::Node;

use super::groups::select_partials;
use super::template::Template;
use crate::shards::{Shards, physical};
use crate::visit::{SelectView, scan_statement};

/// The statements of the nodes, in their order; `merge` is how their answers will be merged, if
/// they are.
pub(crate) fn node_statements(
    view: &SelectView<'_>,
    select: &SelectStatement,
    merge: Option<(&Merge, Page)>,
    nodes: &[usize],
    shards: &Shards,
) -> Vec<Statement> {
    let table = view.sharded.table;
    let select = match merge {
        Some((merge, page)) => Cow::Owned(for_merge(view, select, merge, page, shards)),
        None => Cow::Borrowed(select),
    };
    let (logical, depth) = view.place();
    let template = if view.is_flat() {
        Template::of(&select, logical, depth, shards.backend)
    } else {
        None
    };
    let statement = |&node: &usize| match &template {
        Some(template) => {
            template.with_table(&physical(table, &table.node(node), &view.table_alias()))
        }
        None => {
            let swapped = swap(view, &select, &|alias| {
                physical(table, &table.node(node), alias)
            });
            shards.backend.build(&swapped)
        }
    };
    nodes.iter().map(statement).collect()
}

/// The SELECT whose answers can be merged: more than the page, or partials instead of groups.
fn for_merge(
    view: &SelectView<'_>,
    select: &SelectStatement,
    merge: &Merge,
    page: Page,
    shards: &Shards,
) -> SelectStatement {
    let mut select = select.clone();
    match merge {
        Merge::Groups(plan) => {
            select.reset_limit().reset_offset();
            select_partials(&mut select, &view.parts, plan, shards.backend);
        }
        Merge::Concatenate | Merge::Order(_) if page.is_everything() => {}
        Merge::Concatenate | Merge::Order(_) => {
            select.reset_limit().reset_offset();
            if let Some(limit) = page.node_limit() {
                select.limit(limit);
            }
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
) -> SelectStatement {
    /// Values are bound once more for each node, and statements take some ten thousand of them.
    const MOST_VALUES: usize = 1_000;

    let table = view.sharded.table;
    let scan = scan_statement(select);
    let is_needed = |name: &str| {
        !scan.texts.is_empty()
            || scan
                .columns
                .iter()
                .any(|column| column == "*" || column == name)
    };
    let entity = view.sharded.entity;
    let needed = || {
        entity
            .columns
            .iter()
            .filter(|column| is_needed(column.name))
    };
    // A statement that names no column counts rows, of which any column will do.
    let columns: Vec<DynIden> = match needed().next() {
        Some(_) => needed().map(|column| column.name.into()).collect(),
        None => entity
            .columns
            .iter()
            .take(1)
            .map(|column| column.name.into())
            .collect(),
    };
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
    swap(view, select, &|alias| {
        let mut tables = nodes.iter().map(|node| rows(node, alias));
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
    node: &Node<'_>,
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
