//! Aggregates, and expressions over them.

use sea_orm::DbBackend;
use sea_orm::sea_query::{BinOper, CaseStatement, Condition, Expr, Func, FunctionCall, Keyword};
use sharding_core::plan::{Aggregate, Function, Item, Piece, Proof, RowItem, TextOrder};

use super::expr::{each_part, parts_of_case};
use super::one_row::is_of_one_row;
use super::proof::{adds, is_number};
use super::raw::is_expression;
use super::route::column_of;
use super::scan::{Scan, is_count_of_rows, scan_function};
use super::shape::Reader;

/// The keys of groups.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) texts: Vec<String>,
}

/// `COUNT(*)`.
pub(super) fn count_of_rows() -> Item {
    Item::Aggregate(Aggregate {
        function: Function::Count,
        distinct: None,
        proof: Proof::Proven(TextOrder::NoText),
    })
}

/// Whether an expression is a call of what is known to be an aggregate function.
pub(super) fn is_aggregate(expr: &Expr) -> bool {
    matches!(expr, Expr::FunctionCall(call) if function(call).is_some())
}

/// The aggregate that an expression is: `Some(None)` if it is one that does not decompose.
pub(super) fn aggregate(reader: &Reader<'_, '_>, expr: &Expr) -> Option<Option<Aggregate>> {
    let Expr::FunctionCall(call) = expr else {
        return None;
    };
    Some(decomposed(reader, call, function(call)?))
}

fn function(call: &FunctionCall) -> Option<Function> {
    Some(match call.get_func() {
        Func::Count => Function::Count,
        Func::Sum => Function::Sum,
        Func::Min => Function::Min,
        Func::Max => Function::Max,
        Func::Avg => Function::Avg,
        Func::BitAnd => Function::BitAnd,
        Func::BitOr => Function::BitOr,
        Func::Custom(name) => match name.inner().to_ascii_lowercase().as_str() {
            "count" => Function::Count,
            "sum" => Function::Sum,
            "min" | "bool_and" | "every" => Function::Min,
            "max" | "bool_or" => Function::Max,
            "avg" => Function::Avg,
            "bit_and" => Function::BitAnd,
            "bit_or" => Function::BitOr,
            _ => return None,
        },
        _ => return None,
    })
}

fn decomposed(
    reader: &Reader<'_, '_>,
    call: &FunctionCall,
    function: Function,
) -> Option<Aggregate> {
    let [argument] = call.get_args() else {
        return None;
    };
    let filter = call.get_filter().cloned().map(Expr::from);
    if !is_of_one_row(argument) || filter.is_some_and(|filter| !is_of_one_row(&filter)) {
        return None;
    }
    let is_distinct = call.get_mods().iter().any(|modifier| modifier.distinct);
    let column_type = reader.column_type(argument);
    let no_text = Proof::Proven(TextOrder::NoText);
    let order = || match column_of(argument) {
        Some(_) => reader.column_proof(argument),
        None => reader.computed(argument).proof,
    };
    let proof = match (function, column_type) {
        (Function::Count | Function::BitAnd | Function::BitOr, _) => no_text,
        (Function::Sum | Function::Avg, None) => match reader.shards.backend {
            DbBackend::MySql if !adds_exactly(reader, argument) => {
                Proof::Unproven("may have more digits than the database shows".into())
            }
            _ => no_text,
        },
        (Function::Sum | Function::Avg, Some(column_type)) => {
            adds(column_type, reader.shards.backend)
        }
        (Function::Min | Function::Max, _) => match order() {
            Proof::Proven(TextOrder::Ranked) if reader.shards.backend == DbBackend::MySql => {
                Proof::Unproven("is an ENUM, which is compared by its text there".into())
            }
            order => order,
        },
    };
    // With a filter, units would have to group by what the filter lets through.
    if is_distinct && call.get_filter().is_some() {
        return None;
    }
    Some(Aggregate {
        function,
        distinct: is_distinct.then(|| RowItem {
            text: reader.text(argument),
            proof: order(),
        }),
        proof,
    })
}

/// Whether MySQL computes a number with exactly the digits that it gives out. Quotients have more of
/// them as long as they are computed with, so the sum of their sums is not their sum.
fn adds_exactly(reader: &Reader<'_, '_>, expr: &Expr) -> bool {
    let exact = |part: &Expr| adds_exactly(reader, part);
    match expr {
        Expr::Column(_) => reader.column_type(expr).is_some_and(is_number),
        Expr::Value(_) | Expr::Constant(_) => true,
        Expr::Binary(left, BinOper::Add | BinOper::Sub | BinOper::Mul | BinOper::Mod, right) => {
            exact(left) && exact(right)
        }
        Expr::Case(case) => {
            // Conditions and values in turn; what is left over is the value of ELSE.
            let parts = parts_of_case(case);
            let values = parts.chunks(2).filter_map(<[Expr]>::last);
            values.into_iter().all(exact)
        }
        Expr::FunctionCall(call) => {
            let is_known = matches!(call.get_func(), Func::Abs | Func::Coalesce | Func::IfNull);
            is_known && call.get_args().iter().all(exact)
        }
        _ => false,
    }
}

/// Whether an aggregate is among the parts of an expression, those of subqueries aside.
pub(super) fn holds_aggregate(expr: &Expr) -> bool {
    let mut found =
        is_aggregate(expr) || matches!(expr, Expr::Custom(text) if is_count_of_rows(text));
    each_part(expr, &mut |part| found = found || holds_aggregate(part));
    found
}

/// The pieces of an expression over groups, in order; `None` if it is not made of group keys,
/// aggregates and what is computed from these.
pub(super) fn compound(
    reader: &Reader<'_, '_>,
    groups: &Groups,
    expr: &Expr,
) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut keep = |_: &Expr, piece: Piece| {
        pieces.push(piece);
        Expr::Keyword(Keyword::Null)
    };
    with_pieces(reader, groups, expr, &mut keep)?;
    Some(pieces)
}

/// The expression with something else in the place of each piece, which is given with what it is.
pub(super) fn with_pieces(
    reader: &Reader<'_, '_>,
    groups: &Groups,
    expr: &Expr,
    replace: &mut dyn FnMut(&Expr, Piece) -> Expr,
) -> Option<Expr> {
    if let Some(aggregate) = aggregate(reader, expr) {
        return Some(replace(expr, Piece::Aggregate(aggregate?)));
    }
    if let (Expr::Custom(text), Item::Aggregate(count)) = (expr, count_of_rows())
        && text.eq_ignore_ascii_case("COUNT(*)")
    {
        return Some(replace(expr, Piece::Aggregate(count)));
    }
    let text = reader.text(expr);
    if groups.texts.contains(&text) {
        return Some(replace(expr, Piece::Key(text)));
    }
    let mut of = |part: &Expr| with_pieces(reader, groups, part, replace);
    Some(match expr {
        Expr::Value(_) | Expr::Constant(_) | Expr::Keyword(_) | Expr::TypeName(_) => expr.clone(),
        // The type of a cast.
        Expr::Custom(text) if is_expression(text) => expr.clone(),
        Expr::Tuple(parts) => Expr::Tuple(parts.iter().map(of).collect::<Option<_>>()?),
        Expr::Unary(operator, inner) => Expr::Unary(*operator, Box::new(of(inner)?)),
        Expr::AsEnum(name, inner) => Expr::AsEnum(name.clone(), Box::new(of(inner)?)),
        Expr::Binary(left, operator, right) => {
            let left = Box::new(of(left)?);
            Expr::Binary(left, *operator, Box::new(of(right)?))
        }
        Expr::FunctionCall(call) => {
            let mut scan = Scan::default();
            scan_function(call, &mut scan);
            if call.get_filter().is_some() || scan.opaque || scan.aggregate {
                return None;
            }
            let arguments: Vec<Expr> = call.get_args().iter().map(of).collect::<Option<_>>()?;
            Expr::FunctionCall(call.clone().args(arguments))
        }
        Expr::Case(_) => {
            let mut parts = Vec::new();
            each_part(expr, &mut |part| parts.push(of(part)));
            case_of(parts.into_iter().collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// CASE from its conditions and values in turn, and the value of ELSE.
pub(super) fn case_of(parts: Vec<Expr>) -> Expr {
    let mut case = CaseStatement::new();
    let mut parts = parts.into_iter();
    while let Some(first) = parts.next() {
        case = match parts.next() {
            Some(value) => case.case(Condition::all().add(first), value),
            None => case.finally(first),
        };
    }
    Expr::Case(Box::new(case))
}
