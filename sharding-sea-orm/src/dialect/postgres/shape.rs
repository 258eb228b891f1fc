use chrono::{Datelike, NaiveDate, NaiveDateTime, TimeDelta};
use sea_orm::sea_query::{Expr, Query};
use sea_orm::{DbBackend, Statement};
use sharding_core::merge::Datum;

use crate::dialect::text::{decimal, hex, json_rows};
use crate::dialect::{Shape, TypeName, Unshapeable};

/// The values travel as one JSON text.
pub(in crate::dialect) fn chunk_size(_shape: &Shape<'_>) -> usize {
    10_000
}

/// Elements of a JSON array, cast from text to the columns' types, which is without loss. A union
/// of as many terms would take the planner a time that grows with their square.
pub(in crate::dialect) fn shape(
    shape: &Shape<'_>,
    rows: &[&[Datum]],
) -> Result<Statement, Unshapeable> {
    let text_of = |at: usize, type_name: &str| format!("CAST(t.r ->> {at} AS {type_name})");
    let value = |at: usize| Ok(Expr::cust(text_of(at, &shape.types[at])));
    let quotient = |sum: usize, count: usize| {
        let type_name = quotient_type(&shape.types[sum]).ok_or_else(|| shape.types[sum].clone())?;
        Ok(Expr::cust(format!(
            "({} / {})",
            text_of(sum, type_name),
            text_of(count, type_name)
        )))
    };
    let mut selected = Query::select();
    for column in &shape.columns {
        selected.expr_as(column.expr(&value, &quotient)?, column.name.clone());
    }
    let Statement { sql, values, .. } = DbBackend::Postgres.build(&selected);
    let mut values = values.map_or_else(Vec::new, |values| values.0);
    values.push(json_rows(shape, rows, text)?.into());
    let sql = format!(
        "{sql} FROM json_array_elements(CAST(${} AS json)) WITH ORDINALITY AS t(r, i) \
         ORDER BY t.i",
        values.len()
    );
    Ok(Statement::from_sql_and_values(
        DbBackend::Postgres,
        sql,
        values,
    ))
}

/// AVG of integers and decimals is a division of `numeric`, of others one of `float8`.
fn quotient_type(sum: &str) -> Option<&'static str> {
    match sum {
        "INT8" | "NUMERIC" => Some("NUMERIC"),
        "FLOAT8" => Some("FLOAT8"),
        _ => None,
    }
}

fn text(datum: &Datum, type_name: &TypeName) -> Result<Option<String>, TypeName> {
    Ok(Some(match datum {
        Datum::Null => return Ok(None),
        Datum::Bool(value) => value.to_string(),
        Datum::Int(value) => value.to_string(),
        // The shortest text that reads back as the same number.
        Datum::Float(value) => value.to_string(),
        Datum::Decimal(value) => decimal(value),
        Datum::Time(value) => time(*value, type_name).ok_or_else(|| type_name.clone())?,
        Datum::Text(text) | Datum::Ranked { text, .. } => text.clone(),
        Datum::Bytes(value) if type_name == "UUID" => hex(value),
        Datum::Bytes(value) => format!("\\x{}", hex(value)),
        _ => return Err(type_name.clone()),
    }))
}

/// Times count from 2000-01-01, in days for dates and in microseconds for others.
fn time(value: i64, type_name: &str) -> Option<String> {
    let epoch = NaiveDate::from_ymd_opt(2000, 1, 1)?;
    let midnight = epoch.and_hms_opt(0, 0, 0)?;
    match (type_name, value) {
        ("DATE", value) => Some(match i32::try_from(value).ok()? {
            i32::MAX => "infinity".to_owned(),
            i32::MIN => "-infinity".to_owned(),
            days => in_years(epoch.checked_add_signed(TimeDelta::days(days.into()))?)?,
        }),
        // The end of the day is a time of its own.
        ("TIME", 86_400_000_000) => Some("24:00:00".to_owned()),
        ("TIME", micros) => Some(
            (midnight + TimeDelta::microseconds(micros))
                .format("%H:%M:%S%.6f")
                .to_string(),
        ),
        (_, i64::MAX) => Some("infinity".to_owned()),
        (_, i64::MIN) => Some("-infinity".to_owned()),
        (_, micros) => {
            let time: NaiveDateTime =
                midnight.checked_add_signed(TimeDelta::microseconds(micros))?;
            let zone = if type_name == "TIMESTAMPTZ" {
                "+00"
            } else {
                ""
            };
            Some(format!(
                "{} {}{zone}",
                in_years(time.date())?,
                time.format("%H:%M:%S%.6f")
            ))
        }
    }
}

/// Years outside of 1 to 9999 are written otherwise; they are left to the database.
fn in_years(date: NaiveDate) -> Option<String> {
    (1..=9999)
        .contains(&date.year())
        .then(|| date.format("%Y-%m-%d").to_string())
}
