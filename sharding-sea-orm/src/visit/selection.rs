//! What a statement selects, as far as the rewrite and the merge need it in SQL.

use sea_orm::Value;
use sea_orm::sea_query::Expr;

use super::aggregate::case_of;
use super::expr::each_part;
use crate::catalog::Ranking;

/// What the items of a shape are in SQL.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// What is selected beyond the select list: what HAVING and ORDER BY compute.
    pub(crate) hidden: Vec<Expr>,
    /// The keys of groups.
    pub(crate) keys: Vec<Expr>,
    /// For each item that is made of aggregates and group keys what it is made of.
    pub(crate) made: Vec<Made>,
    /// The ranking of each item, and of each key of groups, where they have one.
    pub(crate) rankings: Vec<Option<Ranking>>,
    pub(crate) key_rankings: Vec<Option<Ranking>>,
    /// The sharded table, by its position in the topology, and its column by which rows are sorted
    /// first.
    pub(crate) first_order: Option<(usize, String)>,
    /// The sharded table, by its position in the topology, and its column, if every item is an
    /// aggregate of that column alone.
    pub(crate) aggregated: Option<(usize, String)>,
    /// Whether rows of the one table are sorted by its primary key, among others.
    pub(crate) is_total: bool,
    /// The tables of which every row of the answer has a row, by their positions in the topology;
    /// `None` if that is not known.
    pub(crate) required: Option<Vec<usize>>,
}

/// An item made of aggregates and group keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    pub(crate) pieces: Vec<Expr>,
    /// The ranking of each piece, or of an aggregate's argument.
    pub(crate) rankings: Vec<Option<Ranking>>,
    /// The item with a [`slot`] in place of each piece; `None` if it is an aggregate itself.
    pub(crate) template: Option<Expr>,
}

/// What stands for a piece in a template.
pub(crate) fn slot(piece: usize) -> Expr {
    Expr::Values(vec![Value::BigUnsigned(Some(piece as u64))])
}

/// Puts something in each slot of a template.
pub(crate) fn fill(template: &Expr, content: &dyn Fn(usize) -> Expr) -> Expr {
    let of = |part: &Expr| fill(part, content);
    match template {
        Expr::Values(slot) => match slot.as_slice() {
            [Value::BigUnsigned(Some(piece))] => content(*piece as usize),
            _ => template.clone(),
        },
        Expr::Tuple(parts) => Expr::Tuple(parts.iter().map(of).collect()),
        Expr::Unary(operator, inner) => Expr::Unary(*operator, Box::new(of(inner))),
        Expr::AsEnum(name, inner) => Expr::AsEnum(name.clone(), Box::new(of(inner))),
        Expr::Binary(left, operator, right) => {
            Expr::Binary(Box::new(of(left)), *operator, Box::new(of(right)))
        }
        Expr::FunctionCall(call) => {
            let arguments: Vec<Expr> = call.get_args().iter().map(of).collect();
            Expr::FunctionCall(call.clone().args(arguments))
        }
        Expr::Case(_) => {
            let mut parts = Vec::new();
            each_part(template, &mut |part| parts.push(of(part)));
            case_of(parts)
        }
        other => other.clone(),
    }
}
