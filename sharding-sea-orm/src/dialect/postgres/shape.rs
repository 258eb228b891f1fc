use chrono::{NaiveDate, NaiveDateTime, TimeDelta};
use sea_orm::sea_query::{BinOper, Expr, ExprTrait};
use sea_orm::{DbBackend, Statement, Value};
use sharding_core::merge::Datum;

use crate::dialect::union::{self, Values};
use crate::dialect::{Shape, TypeName, Unshapeable};

/// PostgreSQL takes 65,535 values in a statement.
pub(in crate::dialect) fn chunk_size(shape: &Shape<'_>) -> usize {
    (60_000 / (2 * shape.outputs.len()).max(1)).clamp(1, 1_000)
}

pub(in crate::dialect) fn shape(
    shape: &Shape<'_>,
    rows: &[&[Datum]],
) -> Result<Statement, Unshapeable> {
    let select = union::select(shape, None, rows, &Values { literal, quotient })?;
    Ok(DbBackend::Postgres.build(&select))
}

/// The value cast to the type. Most travel as text, which PostgreSQL reads without loss.
fn literal(datum: &Datum, type_name: &TypeName) -> Result<Expr, TypeName> {
    let value: Value = match datum {
        Datum::Null => Value::String(None),
        Datum::Bool(value) => value.to_string().into(),
        Datum::Int(value) => value.to_string().into(),
        // The shortest text that reads back as the same number.
        Datum::Float(value) => value.to_string().into(),
        Datum::Decimal(value) => value.to_plain_string().into(),
        Datum::Time(value) => time(*value, type_name)
            .ok_or_else(|| type_name.clone())?
            .into(),
        Datum::Text(value) => value.clone().into(),
        Datum::Bytes(value) if type_name == "UUID" => hex(value).into(),
        Datum::Bytes(value) => format!("\\x{}", hex(value)).into(),
        _ => return Err(type_name.clone()),
    };
    Ok(Expr::val(value).cast_as(type_name.clone()))
}

/// PostgreSQL's AVG of integers and decimals is a division of `numeric`, of others one of
/// `float8`.
fn quotient(sum: &Datum, sum_type: &TypeName, count: &Datum) -> Result<Expr, TypeName> {
    let type_name = match sum_type.as_str() {
        "INT8" | "NUMERIC" => "NUMERIC".to_owned(),
        "FLOAT8" => "FLOAT8".to_owned(),
        _ => return Err(sum_type.clone()),
    };
    Ok(literal(sum, &type_name)?.binary(BinOper::Div, literal(count, &type_name)?))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn time(value: i64, type_name: &str) -> Option<String> {
    let epoch = NaiveDate::from_ymd_opt(2000, 1, 1)?;
    if type_name == "DATE" {
        let text = match i32::try_from(value).ok()? {
            i32::MAX => "infinity".to_owned(),
            i32::MIN => "-infinity".to_owned(),
            days => in_years(epoch.checked_add_signed(TimeDelta::days(days.into()))?)?,
        };
        return Some(text);
    }
    if type_name == "TIME" {
        let midnight = epoch.and_hms_opt(0, 0, 0)?;
        // 24:00:00 is a time of its own.
        if value == 86_400_000_000 {
            return Some("24:00:00".to_owned());
        }
        return Some(
            (midnight + TimeDelta::microseconds(value))
                .format("%H:%M:%S%.6f")
                .to_string(),
        );
    }
    Some(match value {
        i64::MAX => "infinity".to_owned(),
        i64::MIN => "-infinity".to_owned(),
        micros => {
            let time: NaiveDateTime = epoch
                .and_hms_opt(0, 0, 0)?
                .checked_add_signed(TimeDelta::microseconds(micros))?;
            let zone = if type_name == "TIMESTAMPTZ" {
                "+00"
            } else {
                ""
            };
            format!(
                "{} {}{zone}",
                in_years(time.date())?,
                time.format("%H:%M:%S%.6f")
            )
        }
    })
}

/// Years outside of 1 to 9999 are written otherwise; they are left to the database.
fn in_years(date: NaiveDate) -> Option<String> {
    use chrono::Datelike;

    (1..=9999)
        .contains(&date.year())
        .then(|| date.format("%Y-%m-%d").to_string())
}
