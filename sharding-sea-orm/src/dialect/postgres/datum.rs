use sea_orm::sqlx::postgres::{PgRow, PgTypeKind, PgValueFormat};
use sea_orm::sqlx::{Column, Row, TypeInfo, ValueRef};
use sharding_core::merge::Datum;

use super::numeric;

/// The value from its binary form on the wire, where it has one that is known exactly.
pub(in crate::dialect) fn read(row: &PgRow, column: usize) -> Result<Datum, String> {
    let raw = row.try_get_raw(column).map_err(|error| error.to_string())?;
    if raw.is_null() {
        return Ok(Datum::Null);
    }
    let type_info = raw.type_info();
    let parsed = || {
        let bytes = raw.as_bytes().ok()?;
        match type_info.kind() {
            PgTypeKind::Enum(_) => String::from_utf8(bytes.to_vec()).map(Datum::Text).ok(),
            _ => parse(type_info.name(), bytes),
        }
    };
    let is_binary = raw.format() == PgValueFormat::Binary;
    let parsed = is_binary.then(parsed).flatten();
    parsed.ok_or_else(|| type_name(row, column))
}

pub(in crate::dialect) fn type_name(row: &PgRow, column: usize) -> String {
    row.columns()
        .get(column)
        .map_or_else(String::new, |c| c.type_info().name().to_owned())
}

/// Formats: PostgreSQL's `*send` functions, all big-endian; times count from 2000-01-01.
fn parse(type_name: &str, bytes: &[u8]) -> Option<Datum> {
    let int = |value: i64| Datum::Int(value.into());
    Some(match type_name {
        "BOOL" => Datum::Bool(*bytes.first()? != 0),
        "INT2" => int(i16::from_be_bytes(bytes.try_into().ok()?).into()),
        "INT4" => int(i32::from_be_bytes(bytes.try_into().ok()?).into()),
        "INT8" => int(i64::from_be_bytes(bytes.try_into().ok()?)),
        "FLOAT4" => Datum::Float(f32::from_be_bytes(bytes.try_into().ok()?).into()),
        "FLOAT8" => Datum::Float(f64::from_be_bytes(bytes.try_into().ok()?)),
        "NUMERIC" => numeric::parse(bytes)?,
        "TEXT" | "VARCHAR" => Datum::Text(String::from_utf8(bytes.to_vec()).ok()?),
        "BYTEA" | "UUID" => Datum::Bytes(bytes.to_vec()),
        "DATE" => Datum::Time(i32::from_be_bytes(bytes.try_into().ok()?).into()),
        "TIME" | "TIMESTAMP" | "TIMESTAMPTZ" => {
            Datum::Time(i64::from_be_bytes(bytes.try_into().ok()?))
        }
        _ => return None,
    })
}
