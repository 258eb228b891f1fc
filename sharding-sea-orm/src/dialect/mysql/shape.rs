use chrono::{DateTime, NaiveDate};
use sea_orm::Value;
use sea_orm::sea_query::{BinOper, Expr, ExprTrait};
use sharding_core::merge::Datum;

/// The value cast to the type, as far as CAST has types: drivers read the wider ones alike.
pub(in crate::dialect) fn literal(datum: &Datum, type_name: &str) -> Result<Expr, String> {
    let unknown = || type_name.to_owned();
    let target = match type_name {
        name if name.ends_with(" UNSIGNED") => "UNSIGNED".to_owned(),
        "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => "SIGNED".to_owned(),
        "FLOAT" | "DOUBLE" => "DOUBLE".to_owned(),
        "DECIMAL" => match datum {
            Datum::Decimal(value) => format!("DECIMAL(65, {})", value.fractional_digit_count()),
            _ => "DECIMAL(65, 0)".to_owned(),
        },
        "DATE" => "DATE".to_owned(),
        "DATETIME" | "TIMESTAMP" => "DATETIME(6)".to_owned(),
        "VARBINARY" | "BINARY" | "TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB" => match datum {
            Datum::Text(_) => "CHAR".to_owned(),
            _ => "BINARY".to_owned(),
        },
        "VARCHAR" | "CHAR" | "TINYTEXT" | "TEXT" | "MEDIUMTEXT" | "LONGTEXT" => "CHAR".to_owned(),
        _ => return Err(unknown()),
    };
    let value: Value = match datum {
        Datum::Null => Value::String(None),
        Datum::Int(value) => value.to_string().into(),
        Datum::Float(value) => (*value).into(),
        Datum::Decimal(value) => value.to_plain_string().into(),
        Datum::Text(value) => value.clone().into(),
        Datum::Bytes(value) => value.clone().into(),
        Datum::Time(days) if type_name == "DATE" => {
            let days = i32::try_from(*days).map_err(|_| unknown())?;
            NaiveDate::from_epoch_days(days).ok_or_else(unknown)?.into()
        }
        Datum::Time(micros) => DateTime::from_timestamp_micros(*micros)
            .ok_or_else(unknown)?
            .naive_utc()
            .into(),
        _ => return Err(unknown()),
    };
    Ok(Expr::val(value).cast_as(target))
}

/// AVG divides as the operator does: four digits more than its argument, or a floating point
/// number.
pub(in crate::dialect) fn quotient(
    sum: &Datum,
    sum_type: &str,
    count: &Datum,
    count_type: &str,
) -> Result<Expr, String> {
    match sum_type {
        "DECIMAL" | "DOUBLE" => {
            Ok(literal(sum, sum_type)?.binary(BinOper::Div, literal(count, count_type)?))
        }
        other => Err(other.to_owned()),
    }
}
