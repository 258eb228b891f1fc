use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use sea_orm::sqlx::mysql::{MySqlColumn, MySqlRow};
use sea_orm::sqlx::{Column, Decode, MySql, Row, Type, TypeInfo, ValueRef};
use sharding_core::merge::Datum;

pub(in crate::dialect) fn read(row: &MySqlRow, column: usize) -> Result<Datum, String> {
    let raw = row.try_get_raw(column).map_err(|error| error.to_string())?;
    if raw.is_null() {
        return Ok(Datum::Null);
    }
    let plain = row
        .columns()
        .get(column)
        .map_or("", |column| plain_name(column).0);
    parse(row, column, plain).ok_or_else(|| type_name(row, column))
}

/// What follows the name of a text type under a binary collation.
pub(in crate::dialect) const BINARY_ORDER: &str = " BINARY";

pub(in crate::dialect) fn type_name(row: &MySqlRow, column: usize) -> String {
    let Some(column) = row.columns().get(column) else {
        return String::new();
    };
    let (name, collation) = plain_name(column);
    format!("{name}{collation}")
}

/// The name of a type, and what follows it.
fn plain_name(column: &MySqlColumn) -> (&str, &'static str) {
    let type_info = column.type_info();
    // Text under a binary collation is announced as bytes; its character set tells.
    let is_text = <String as Type<MySql>>::compatible(type_info);
    let name = match type_info.name() {
        "VARBINARY" if is_text => "VARCHAR",
        "BINARY" if is_text => "CHAR",
        "TINYBLOB" if is_text => "TINYTEXT",
        "BLOB" if is_text => "TEXT",
        "MEDIUMBLOB" if is_text => "MEDIUMTEXT",
        "LONGBLOB" if is_text => "LONGTEXT",
        name => return (name, ""),
    };
    (name, BINARY_ORDER)
}

fn parse(row: &MySqlRow, column: usize, type_name: &str) -> Option<Datum> {
    Some(match type_name {
        "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => {
            Datum::Int(get::<i64>(row, column)?.into())
        }
        name if name.ends_with(" UNSIGNED") => Datum::Int(get::<u64>(row, column)?.into()),
        "FLOAT" => Datum::Float(get::<f32>(row, column)?.into()),
        "DOUBLE" => Datum::Float(get(row, column)?),
        // The driver's own decimals are too narrow; on the wire they are text.
        "DECIMAL" => {
            let text: String = row.try_get_unchecked(column).ok()?;
            Datum::Decimal(text.parse().ok()?)
        }
        "DATE" => Datum::Time(get::<NaiveDate>(row, column)?.to_epoch_days().into()),
        "DATETIME" => Datum::Time(
            get::<NaiveDateTime>(row, column)?
                .and_utc()
                .timestamp_micros(),
        ),
        "TIMESTAMP" => Datum::Time(get::<DateTime<Utc>>(row, column)?.timestamp_micros()),
        "VARCHAR" | "CHAR" | "TINYTEXT" | "TEXT" | "MEDIUMTEXT" | "LONGTEXT" | "ENUM" => {
            Datum::Text(get(row, column)?)
        }
        "VARBINARY" | "BINARY" | "TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB" => {
            Datum::Bytes(get(row, column)?)
        }
        _ => return None,
    })
}

fn get<'r, T: Decode<'r, MySql> + Type<MySql>>(row: &'r MySqlRow, column: usize) -> Option<T> {
    row.try_get(column).ok()
}
