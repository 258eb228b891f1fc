use sea_orm::sea_query::{BinOper, Expr, ExprTrait, Keyword, SelectStatement};
use sea_orm::{DbBackend, Statement, Value};
use sharding_core::merge::Datum;

use crate::dialect::union::{self, Values};
use crate::dialect::{Shape, TypeName, Unshapeable};

/// SQLite takes 500 terms in a compound SELECT and 32,766 values in a statement.
pub(in crate::dialect) fn chunk_size(shape: &Shape<'_>) -> usize {
    (32_000 / (2 * shape.outputs.len()).max(1)).clamp(1, 400)
}

pub(in crate::dialect) fn shape(
    shape: &Shape<'_>,
    rows: &[&[Datum]],
) -> Result<Statement, Unshapeable> {
    let select = union::select(shape, typed(shape), rows, &Values { literal, quotient })?;
    Ok(DbBackend::Sqlite.build(&select))
}

/// The first term gives the columns their declared types, and has no rows.
fn typed(shape: &Shape<'_>) -> Option<SelectStatement> {
    let mut typed = shape.columns.typed.clone()?;
    for (output, column) in shape.outputs.iter().zip(&shape.columns.columns) {
        let column = column.clone().unwrap_or(Expr::Keyword(Keyword::Null));
        typed.expr_as(column, shape.names[output.first()].clone());
    }
    Some(typed)
}

/// A bound value keeps its storage class, so it needs no cast.
fn literal(datum: &Datum, _type_name: &TypeName) -> Result<Expr, TypeName> {
    Ok(match datum {
        Datum::Null => Expr::val(Value::Int(None)),
        Datum::Int(value) => match i64::try_from(*value) {
            Ok(value) => Expr::val(value),
            // SQLite's own SUM fails in the same way.
            Err(_) => return Err("INTEGER (integer overflow)".to_owned()),
        },
        Datum::Float(value) => Expr::val(*value),
        Datum::Text(value) => Expr::val(value.clone()),
        Datum::Bytes(value) => Expr::val(value.clone()),
        other => return Err(format!("{other:?}")),
    })
}

/// SQLite's AVG is always a floating point number.
fn quotient(sum: &Datum, sum_type: &TypeName, count: &Datum) -> Result<Expr, TypeName> {
    let sum = literal(sum, sum_type)?.cast_as("REAL");
    Ok(sum.binary(BinOper::Div, literal(count, sum_type)?))
}
