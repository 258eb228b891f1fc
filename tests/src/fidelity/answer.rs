//! Answers as the drivers give them: names, types and values of every cell.

use std::fmt;

use sea_orm::QueryResult;
use sea_orm::sqlx::mysql::MySqlRow;
use sea_orm::sqlx::postgres::{PgRow, PgValueFormat};
use sea_orm::sqlx::sqlite::SqliteRow;
use sea_orm::sqlx::{Column, Database, Row, TypeInfo, ValueRef};

use super::text::fold;

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The names and types of the columns; none if there is no row.
    pub columns: Vec<(String, String)>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// NULL.
    Null,
    /// An integer, or a time in units of the driver.
    Int(i128),
    /// A floating point number.
    Float(f64),
    /// A decimal with all of its digits.
    Decimal(String),
    /// Text.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Decimal(value) => f.write_str(value),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::Bytes(value) => {
                f.write_str("0x")?;
                value.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

impl Cell {
    /// The cell as something to sort by, which is the same for cells that count as the same.
    pub fn sort_key(&self, loose: bool) -> String {
        match self {
            Self::Text(text) if loose => format!("t{}", fold(text)),
            // Sums in another order differ in their last digits.
            Self::Float(value) => format!("f{value:.6e}"),
            other => other.to_string(),
        }
    }
}

impl Answer {
    /// An answer of SeaORM's models, each as one cell.
    pub fn of_models<M: fmt::Debug>(models: &[M]) -> Self {
        let row = |model: &M| vec![Cell::Text(format!("{model:?}"))];
        Self {
            columns: vec![("model".to_owned(), String::new())],
            rows: models.iter().map(row).collect(),
        }
    }

    /// The answer of a driver's rows.
    ///
    /// # Errors
    /// If a row is not the driver's, or a value is not what its type says.
    pub fn of_rows(rows: &[QueryResult]) -> Result<Self, String> {
        let mut answer = Self::default();
        for row in rows {
            let (columns, cells) = if let Some(row) = row.try_as_sqlite_row() {
                (names(row), sqlite(row)?)
            } else if let Some(row) = row.try_as_pg_row() {
                (names(row), postgres(row)?)
            } else if let Some(row) = row.try_as_mysql_row() {
                (names(row), mysql(row)?)
            } else {
                return Err("a row is not the driver's".to_owned());
            };
            if answer.rows.is_empty() {
                answer.columns = columns;
            } else if answer.columns != columns {
                return Err(format!(
                    "columns differ from row to row: {:?} and {columns:?}",
                    answer.columns
                ));
            }
            answer.rows.push(cells);
        }
        Ok(answer)
    }
}

fn names<R: Row>(row: &R) -> Vec<(String, String)> {
    let of = |column: &<R::Database as Database>::Column| {
        let kind = column.type_info().name().to_owned();
        (column.name().to_owned(), kind)
    };
    row.columns().iter().map(of).collect()
}

fn wrong(error: impl fmt::Display) -> String {
    format!("a value cannot be decoded: {error}")
}

fn sqlite(row: &SqliteRow) -> Result<Vec<Cell>, String> {
    let cell = |at: usize| {
        let raw = row.try_get_raw(at).map_err(wrong)?;
        if raw.is_null() {
            return Ok(Cell::Null);
        }
        let kind = raw.type_info().name().to_owned();
        drop(raw);
        Ok(match &*kind {
            "INTEGER" => {
                let value: i64 = row.try_get_unchecked(at).map_err(wrong)?;
                Cell::Int(value.into())
            }
            "REAL" => Cell::Float(row.try_get_unchecked(at).map_err(wrong)?),
            "TEXT" => Cell::Text(row.try_get_unchecked(at).map_err(wrong)?),
            _ => Cell::Bytes(row.try_get_unchecked(at).map_err(wrong)?),
        })
    };
    (0..row.len()).map(cell).collect()
}

fn mysql(row: &MySqlRow) -> Result<Vec<Cell>, String> {
    let cell = |at: usize| {
        let raw = row.try_get_raw(at).map_err(wrong)?;
        if raw.is_null() {
            return Ok(Cell::Null);
        }
        let kind = raw.type_info().name().to_owned();
        Ok(match &*kind {
            "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => {
                let value: i64 = row.try_get_unchecked(at).map_err(wrong)?;
                Cell::Int(value.into())
            }
            unsigned if unsigned.ends_with("UNSIGNED") => {
                let value: u64 = row.try_get_unchecked(at).map_err(wrong)?;
                Cell::Int(value.into())
            }
            "FLOAT" => {
                let value: f32 = row.try_get_unchecked(at).map_err(wrong)?;
                Cell::Float(value.into())
            }
            "DOUBLE" => Cell::Float(row.try_get_unchecked(at).map_err(wrong)?),
            "DECIMAL" => Cell::Decimal(row.try_get_unchecked(at).map_err(wrong)?),
            _ => {
                let bytes: Vec<u8> = row.try_get_unchecked(at).map_err(wrong)?;
                match String::from_utf8(bytes) {
                    Ok(text) if !kind.contains("DATE") && !kind.contains("TIME") => {
                        Cell::Text(text)
                    }
                    Ok(text) => Cell::Bytes(text.into_bytes()),
                    Err(error) => Cell::Bytes(error.into_bytes()),
                }
            }
        })
    };
    (0..row.len()).map(cell).collect()
}

fn postgres(row: &PgRow) -> Result<Vec<Cell>, String> {
    let cell = |at: usize| {
        let raw = row.try_get_raw(at).map_err(wrong)?;
        if raw.is_null() {
            return Ok(Cell::Null);
        }
        let bytes = raw.as_bytes().map_err(wrong)?;
        let text = || String::from_utf8(bytes.to_vec()).map_err(wrong);
        if raw.format() == PgValueFormat::Text {
            return Ok(Cell::Text(format!("in text format: {}", text()?)));
        }
        let kind = raw.type_info().name().to_owned();
        Ok(match &*kind {
            "BOOL" | "INT2" | "INT4" | "INT8" | "DATE" | "TIME" | "TIMESTAMP" | "TIMESTAMPTZ"
            | "OID" => Cell::Int(integer(bytes)),
            "FLOAT4" => {
                let bits = bytes.try_into().map_err(wrong)?;
                Cell::Float(f32::from_be_bytes(bits).into())
            }
            "FLOAT8" => Cell::Float(f64::from_be_bytes(bytes.try_into().map_err(wrong)?)),
            "NUMERIC" => Cell::Decimal(numeric(bytes)),
            "BYTEA" | "UUID" => Cell::Bytes(bytes.to_vec()),
            "TEXT" | "VARCHAR" | "CHAR" | "BPCHAR" | "NAME" | "JSON" | "JSONB" | "mood" => {
                Cell::Text(text()?)
            }
            _ => Cell::Bytes(bytes.to_vec()),
        })
    };
    (0..row.len()).map(cell).collect()
}

/// A signed integer of any width.
fn integer(bytes: &[u8]) -> i128 {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let start = if negative { -1 } else { 0 };
    bytes
        .iter()
        .fold(start, |value, byte| value << 8 | i128::from(*byte))
}

/// PostgreSQL's numeric: digits in base 10,000, and how many of them are behind the point.
fn numeric(bytes: &[u8]) -> String {
    let words: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
        .collect();
    let [_, weight, sign, scale, digits @ ..] = &words[..] else {
        return "no numeric".to_owned();
    };
    match sign {
        0xC000 => return "NaN".to_owned(),
        0xD000 => return "Infinity".to_owned(),
        0xF000 => return "-Infinity".to_owned(),
        _ => {}
    }
    let (weight, scale) = (*weight as i16, usize::from(*scale));
    let digit = |at: i32| match usize::try_from(at) {
        Ok(at) => digits.get(at).copied().unwrap_or(0),
        Err(_) => 0,
    };
    let mut whole = String::new();
    for at in 0..=i32::from(weight) {
        whole.push_str(&format!("{:04}", digit(at)));
    }
    let mut fraction = String::new();
    let mut at = i32::from(weight) + 1;
    while fraction.len() < scale {
        fraction.push_str(&format!("{:04}", digit(at)));
        at += 1;
    }
    fraction.truncate(scale);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let minus = if *sign == 0x4000 { "-" } else { "" };
    let point = if scale > 0 { "." } else { "" };
    format!("{minus}{whole}{point}{fraction}")
}
