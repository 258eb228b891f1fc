use sea_orm::Value;
use sea_orm::sea_query::{BinOper, Expr, ExprTrait};
use sharding_core::merge::Datum;

/// A bound value keeps its storage class, so it needs no cast.
pub(in crate::dialect) fn literal(datum: &Datum, _type_name: &str) -> Result<Expr, String> {
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
pub(in crate::dialect) fn quotient(
    sum: &Datum,
    sum_type: &str,
    count: &Datum,
    count_type: &str,
) -> Result<Expr, String> {
    let sum = literal(sum, sum_type)?.cast_as("REAL");
    Ok(sum.binary(BinOper::Div, literal(count, count_type)?))
}
