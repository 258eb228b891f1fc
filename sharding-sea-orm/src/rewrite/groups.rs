use sea_orm::DbBackend;
use sea_orm::sea_query::{Expr, ExprTrait, NullOrdering, Order, SelectExpr, SelectStatement};
use sharding_core::plan::{GroupPlan, Partial};

use crate::visit::Parts;

/// Replaces what a SELECT selects by the partials of the plan, sorted by the group keys with NULL
/// first, as the merge expects them.
pub(super) fn select_partials(
    select: &mut SelectStatement,
    parts: &Parts,
    plan: &GroupPlan,
    backend: DbBackend,
) {
    select.clear_selects().clear_order_by();
    for partial in &plan.partials {
        select.expr(partial_expr(partial, parts));
    }
    for key in &parts.group {
        match backend {
            DbBackend::Postgres => {
                select.order_by_expr_with_nulls(key.clone(), Order::Asc, NullOrdering::First)
            }
            _ => select.order_by_expr(key.clone(), Order::Asc),
        };
    }
}

fn partial_expr(partial: &Partial, parts: &Parts) -> SelectExpr {
    let bare = |expr: Expr| SelectExpr {
        expr,
        alias: None,
        window: None,
    };
    match partial {
        Partial::Item(at) => parts.items[*at].clone(),
        Partial::Key(at) => bare(parts.group[*at].clone()),
        Partial::SumOf(at) => bare(argument(parts, *at).sum()),
        Partial::CountOf(at) => bare(argument(parts, *at).count()),
    }
}

/// The argument of the AVG at this position of the select list.
fn argument(parts: &Parts, at: usize) -> Expr {
    match &parts.items[at].expr {
        Expr::FunctionCall(call) => match call.get_args() {
            [argument] => argument.clone(),
            _ => unreachable!("the planner takes averages of one argument only"),
        },
        _ => unreachable!("the planner takes function calls for averages only"),
    }
}
