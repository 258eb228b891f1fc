use sea_orm::sqlx::sqlite::SqliteRow;
use sea_orm::sqlx::{Row, TypeInfo, ValueRef};
use sharding_core::merge::Datum;

/// The value by its storage class, whatever type the column was declared with: that is what
/// SQLite compares.
pub(in crate::dialect) fn read(row: &SqliteRow, column: usize) -> Result<Datum, String> {
    let raw = row.try_get_raw(column).map_err(|error| error.to_string())?;
    if raw.is_null() {
        return Ok(Datum::Null);
    }
    let class = raw.type_info();
    let read = match class.name() {
        "REAL" => row.try_get_unchecked(column).map(Datum::Float),
        "TEXT" => row.try_get_unchecked(column).map(Datum::Text),
        "BLOB" => row.try_get_unchecked(column).map(Datum::Bytes),
        "INTEGER" | "BOOLEAN" => row
            .try_get_unchecked::<i64, _>(column)
            .map(|value| Datum::Int(value.into())),
        name => return Err(name.to_owned()),
    };
    read.map_err(|_| class.name().to_owned())
}
