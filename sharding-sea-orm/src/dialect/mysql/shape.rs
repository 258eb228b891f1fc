use std::fmt::Write;

use chrono::{DateTime, NaiveDate};
use sea_orm::sea_query::{Expr, Query};
use sea_orm::{DbBackend, Statement};
use sharding_core::merge::Datum;

use super::datum::BINARY_ORDER;
use crate::dialect::text::{decimal, hex, json_rows};
use crate::dialect::{Shape, TypeName, Unshapeable};

/// The values travel as one JSON text, far below the least `max_allowed_packet`.
pub(in crate::dialect) fn chunk_size(_shape: &Shape<'_>) -> usize {
    2_000
}

/// A JSON table gives each column its exact type, which CAST cannot: it knows no TIMESTAMP, no
/// BOOLEAN and no small integers. MariaDB has it since 10.6, MySQL since 8.0.
pub(in crate::dialect) fn shape(
    shape: &Shape<'_>,
    rows: &[&[Datum]],
) -> Result<Statement, Unshapeable> {
    let mut columns = String::new();
    for (at, type_name) in shape.types.iter().enumerate() {
        let refuse = || Unshapeable {
            column: shape.column_of(at),
            type_name: type_name.clone(),
        };
        let column_type = column_type(type_name, at, rows).ok_or_else(refuse)?;
        let _ = write!(columns, ", c{at} {column_type} PATH '$[{at}]'");
    }
    let value = |at: usize| {
        Ok(Expr::cust(match is_binary(&shape.types[at]) {
            true => format!("UNHEX(t.c{at})"),
            false => format!("t.c{at}"),
        }))
    };
    // AVG divides as the operator does: four digits more than its argument, or a floating point
    // number.
    let quotient = |sum: usize, count: usize| Ok(Expr::cust(format!("(t.c{sum} / t.c{count})")));
    let mut selected = Query::select();
    for column in &shape.columns {
        selected.expr_as(column.expr(&value, &quotient)?, column.name.clone());
    }
    let Statement { sql, values, .. } = DbBackend::MySql.build(&selected);
    let mut values = values.map_or_else(Vec::new, |values| values.0);
    values.push(json_rows(shape, rows, text)?.into());
    let sql = format!(
        "{sql} FROM JSON_TABLE(?, '$[*]' COLUMNS(i FOR ORDINALITY{columns})) AS t ORDER BY t.i"
    );
    Ok(Statement::from_sql_and_values(
        DbBackend::MySql,
        sql,
        values,
    ))
}

fn column_type(type_name: &TypeName, at: usize, rows: &[&[Datum]]) -> Option<String> {
    if let Some(text) = type_name.strip_suffix(BINARY_ORDER) {
        let text = column_type(&text.to_owned(), at, rows)?;
        return Some(format!("{text} COLLATE utf8mb4_bin"));
    }
    Some(match type_name.as_str() {
        "BOOLEAN" => "TINYINT(1)".to_owned(),
        "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" | "FLOAT" | "DOUBLE" | "DATE" => {
            type_name.clone()
        }
        name if name.ends_with(" UNSIGNED") => type_name.clone(),
        // The sums of a column have the scale of the column.
        "DECIMAL" => {
            let scale = |row: &&[Datum]| match &row[at] {
                Datum::Decimal(value) => value.fractional_digit_count(),
                _ => 0,
            };
            format!("DECIMAL(65, {})", rows.iter().map(scale).max().unwrap_or(0))
        }
        "DATETIME" | "TIMESTAMP" => format!("{type_name}(6)"),
        // A union makes the same of an ENUM.
        "VARCHAR" | "CHAR" | "ENUM" => {
            let length = |row: &&[Datum]| match &row[at] {
                Datum::Text(text) | Datum::Ranked { text, .. } => text.chars().count(),
                _ => 0,
            };
            let longest = rows.iter().map(length).max().unwrap_or(0).max(1);
            format!("VARCHAR({longest}) CHARACTER SET utf8mb4")
        }
        "TINYTEXT" | "TEXT" | "MEDIUMTEXT" | "LONGTEXT" => {
            format!("{type_name} CHARACTER SET utf8mb4")
        }
        name if is_binary(name) => "LONGTEXT CHARACTER SET utf8mb4".to_owned(),
        _ => return None,
    })
}

/// JSON has no bytes; they travel in hexadecimal.
fn is_binary(type_name: &str) -> bool {
    matches!(
        type_name,
        "VARBINARY" | "BINARY" | "TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB"
    )
}

fn text(datum: &Datum, type_name: &TypeName) -> Result<Option<String>, TypeName> {
    let unknown = || type_name.clone();
    Ok(Some(match datum {
        Datum::Null => return Ok(None),
        Datum::Bool(value) => u8::from(*value).to_string(),
        Datum::Int(value) => value.to_string(),
        // The shortest text that reads back as the same number.
        Datum::Float(value) => format!("{value:e}"),
        Datum::Decimal(value) => decimal(value),
        Datum::Text(text) | Datum::Ranked { text, .. } => text.clone(),
        Datum::Bytes(value) => hex(value),
        Datum::Time(days) if type_name == "DATE" => {
            let days = i32::try_from(*days).map_err(|_| unknown())?;
            NaiveDate::from_epoch_days(days)
                .ok_or_else(unknown)?
                .to_string()
        }
        Datum::Time(micros) => {
            let time = DateTime::from_timestamp_micros(*micros).ok_or_else(unknown)?;
            time.format("%Y-%m-%d %H:%M:%S%.6f").to_string()
        }
        _ => return Err(unknown()),
    }))
}
