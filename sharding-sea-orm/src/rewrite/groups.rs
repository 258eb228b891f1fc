use sea_orm::DbBackend;
use sea_orm::sea_query::{Expr, ExprTrait, NullOrdering, Order, SelectExpr, SelectStatement};
use sharding_core::plan::{GroupPlan, Part, Partial, SortKey};

use crate::visit::{Parts, Selection};

/// Replaces what a SELECT selects by the partials of the plan, sorted by the group keys with NULL
/// first, as the merge expects them.
pub(super) fn select_partials(
    select: &mut SelectStatement,
    parts: &Parts,
    selection: &Selection,
    plan: &GroupPlan,
    backend: DbBackend,
) {
    select
        .clear_selects()
        .clear_order_by()
        .clear_group_by()
        .clear_having()
        .reset_limit()
        .reset_offset();
    for partial in &plan.partials {
        select.expr(partial_expr(partial, parts, selection));
    }
    for key in plan.keys.iter().chain(&plan.distinct) {
        select.add_group_by([position(key)]);
        order_by_position(select, key, backend);
    }
}

/// Sorts by an item of the select list, ascending with NULL first.
pub(super) fn order_by_position(select: &mut SelectStatement, key: &SortKey, backend: DbBackend) {
    match backend {
        DbBackend::Postgres => {
            select.order_by_expr_with_nulls(position(key), Order::Asc, NullOrdering::First)
        }
        _ => select.order_by_expr(position(key), Order::Asc),
    };
}

/// An item by its number: the same expression with bound values would be another to PostgreSQL.
fn position(key: &SortKey) -> Expr {
    Expr::cust((key.column + 1).to_string())
}

fn partial_expr(partial: &Partial, parts: &Parts, selection: &Selection) -> SelectExpr {
    let bare = |expr: Expr| SelectExpr {
        expr,
        alias: None,
        window: None,
    };
    match *partial {
        Partial::Item(at) => match parts.items.get(at) {
            Some(item) => item.clone(),
            None => bare(selection.hidden[at - parts.items.len()].clone()),
        },
        Partial::Key(at) => bare(selection.keys[at].clone()),
        Partial::Piece { item, piece, part } => {
            let aggregate = &selection.made[item].pieces[piece];
            bare(match part {
                Part::Whole => aggregate.clone(),
                Part::Argument => argument(aggregate),
                Part::Sum => over(aggregate, ExprTrait::sum),
                Part::Count => over(aggregate, ExprTrait::count),
            })
        }
    }
}

/// Another aggregate over the argument of an AVG, under its filter.
fn over(average: &Expr, of: impl FnOnce(Expr) -> Expr) -> Expr {
    match (average, of(argument(average))) {
        (Expr::FunctionCall(call), Expr::FunctionCall(other)) => match call.get_filter() {
            Some(filter) => Expr::FunctionCall(other.filter(filter.clone())),
            None => Expr::FunctionCall(other),
        },
        (_, other) => other,
    }
}

/// The argument of an aggregate.
fn argument(aggregate: &Expr) -> Expr {
    match aggregate {
        Expr::FunctionCall(call) => match call.get_args() {
            [argument] => argument.clone(),
            _ => unreachable!("the planner takes aggregates of one argument only"),
        },
        _ => unreachable!("the planner takes function calls for aggregates only"),
    }
}
