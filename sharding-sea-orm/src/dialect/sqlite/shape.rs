use sea_orm::sea_query::{BinOper, Expr, ExprTrait, Keyword, Query, SelectStatement, UnionType};
use sea_orm::{DbBackend, Statement, Value};
use sharding_core::merge::Datum;

use crate::dialect::{Shape, TypeName, Unshapeable};

/// SQLite takes 500 terms in a compound SELECT and 32,766 values in a statement.
pub(in crate::dialect) fn chunk_size(shape: &Shape<'_>) -> usize {
    (32_000 / (2 * shape.types.len().max(shape.columns.len())).max(1)).clamp(1, 400)
}

/// A union of one term for each row.
pub(in crate::dialect) fn shape(
    shape: &Shape<'_>,
    rows: &[&[Datum]],
) -> Result<Statement, Unshapeable> {
    let terms = rows.iter().map(|row| term(shape, row));
    let terms: Vec<_> = typed(shape)
        .into_iter()
        .map(Ok)
        .chain(terms)
        .collect::<Result<_, _>>()?;
    let mut terms = terms.into_iter();
    let mut select = terms.next().unwrap_or_default();
    select.unions(terms.map(|term| (UnionType::All, term)));
    Ok(DbBackend::Sqlite.build(&select))
}

fn term(shape: &Shape<'_>, row: &[Datum]) -> Result<SelectStatement, Unshapeable> {
    let mut select = Query::select();
    for column in &shape.columns {
        let value = |at: usize| literal(&row[at]);
        let quotient = |sum: usize, count: usize| quotient(&row[sum], &row[count]);
        select.expr_as(column.expr(&value, &quotient)?, column.name.clone());
    }
    Ok(select)
}

/// The first term gives the columns their declared types, and has no rows.
fn typed(shape: &Shape<'_>) -> Option<SelectStatement> {
    let mut typed = shape.typed?.clone();
    for column in &shape.columns {
        let expr = column
            .typed
            .cloned()
            .unwrap_or(Expr::Keyword(Keyword::Null));
        typed.expr_as(expr, column.name.clone());
    }
    Some(typed)
}

/// A bound value keeps its storage class, so it needs no cast.
fn literal(datum: &Datum) -> Result<Expr, TypeName> {
    Ok(match datum {
        Datum::Null => Expr::val(Value::Int(None)),
        Datum::Int(value) => match i64::try_from(*value) {
            Ok(value) => Expr::val(value),
            // SQLite's own SUM fails in the same way.
            Err(_) => return Err("INTEGER (integer overflow)".to_owned()),
        },
        Datum::Float(value) => Expr::val(*value),
        Datum::Text(text) | Datum::Ranked { text, .. } => Expr::val(text.clone()),
        Datum::Bytes(value) => Expr::val(value.clone()),
        other => return Err(format!("{other:?}")),
    })
}

/// SQLite's AVG is always a floating point number.
fn quotient(sum: &Datum, count: &Datum) -> Result<Expr, TypeName> {
    let sum = literal(sum)?.cast_as("REAL");
    Ok(sum.binary(BinOper::Div, literal(count)?))
}
