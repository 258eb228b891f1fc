//! Whether an expression is computed from one row alone.

use sea_orm::DbBackend;
use sea_orm::sea_query::{BinOper, Expr, SelectStatement, SubQueryStatement, TableRef, UnionType};

use super::aggregate::is_aggregate;
use super::dissect::dissect_select;
use super::expr::each_part;
use super::raw::is_expression;
use super::route::column_of;
use super::scan::{Scan, is_count_of_rows, scan_expr, scan_function};

/// Whether an expression is computed from one row alone.
pub(super) fn is_of_one_row(expr: &Expr) -> bool {
    if let Expr::SubQuery(_, query) = expr {
        return match &**query {
            SubQueryStatement::SelectStatement(select) => has_own_aggregates(select),
            _ => false,
        };
    }
    if is_aggregate(expr) {
        return false;
    }
    let mut has_parts = false;
    let mut parts_are = true;
    each_part(expr, &mut |part| {
        has_parts = true;
        parts_are &= is_of_one_row(part);
    });
    // What an expression is besides its parts: a function, an operator, text.
    let mut scan = Scan::default();
    match expr {
        Expr::FunctionCall(call) => {
            scan_function(call, &mut scan);
        }
        Expr::Custom(_) | Expr::CustomWithExpr(..) | Expr::Keyword(_) if !has_parts => {
            scan_expr(expr, &mut scan);
        }
        Expr::CustomWithExpr(..) => scan.opaque = true,
        Expr::Binary(_, operator, _) => {
            scan.opaque = matches!(operator, BinOper::Custom(text) if !is_expression(text));
        }
        _ => {}
    }
    parts_are && !scan.opaque && !scan.aggregate
}

/// Whether the aggregates of a subquery are over its own rows: one whose columns are all of the
/// statement around it combines rows of that.
fn has_own_aggregates(select: &SelectStatement) -> bool {
    let parts = dissect_select(select, DbBackend::Sqlite);
    let tables = parts
        .from
        .iter()
        .chain(parts.joins.iter().map(|join| &*join.table));
    let aliases: Vec<String> = tables
        .filter_map(|table| match table {
            TableRef::Table(name, alias) => Some(alias.as_ref().unwrap_or(&name.1).to_string()),
            TableRef::SubQuery(_, alias) => Some(alias.to_string()),
            _ => None,
        })
        .collect();
    let having = parts.having.clone().map(Expr::from);
    let condition = parts.condition.clone().map(Expr::from);
    let exprs = parts
        .items
        .iter()
        .map(|item| &item.expr)
        .chain(&having)
        .chain(&condition);
    let exprs = exprs.chain(parts.order.iter().map(|key| &key.expr));
    exprs
        .into_iter()
        .all(|expr| aggregates_are_of(expr, &aliases))
        && parts
            .unions
            .iter()
            .all(|(_, branch): &(UnionType, _)| has_own_aggregates(branch))
}

fn aggregates_are_of(expr: &Expr, aliases: &[String]) -> bool {
    if let Expr::SubQuery(_, query) = expr {
        return match &**query {
            SubQueryStatement::SelectStatement(select) => has_own_aggregates(select),
            _ => false,
        };
    }
    if is_aggregate(expr) {
        let (mut own, mut any) = (false, false);
        columns(expr, &mut |table| {
            any = true;
            own |= table.is_some_and(|table| aliases.iter().any(|alias| alias == table));
        });
        return own || !any;
    }
    let mut all = true;
    each_part(expr, &mut |part| all &= aggregates_are_of(part, aliases));
    // Text may hold an aggregate of whatever columns.
    let is_text = matches!(expr, Expr::Custom(text) | Expr::CustomWithExpr(text, _) if !is_expression(text) && !is_count_of_rows(text));
    all && !is_text
}

/// Looks at the tables of the columns in an expression.
fn columns(expr: &Expr, look: &mut dyn FnMut(Option<&str>)) {
    if let Some((table, _)) = column_of(expr) {
        look(table.as_deref());
    }
    each_part(expr, &mut |part| columns(part, look));
}
