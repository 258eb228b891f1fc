//! Comparison of answers as JSON.

use sea_orm::{ConnectionTrait, DbErr, FromQueryResult, QueryResult, StatementBuilder, TryGetable};
use serde_json::{Value, json};

/// A row with all its columns. SeaORM's own conversion leaves out a value whose type the database
/// does not tell, as is that of everything computed by SQLite.
///
/// # Panics
/// If a value has no JSON, since it would not be compared.
pub fn row(row: &QueryResult) -> Result<Value, DbErr> {
    let Value::Object(mut columns) = Value::from_query_result(row, "")? else {
        unreachable!("a row is an object");
    };
    for (at, name) in row.column_names().into_iter().enumerate() {
        if !columns.contains_key(&name) {
            let value = value(row, at);
            columns.insert(name, value);
        }
    }
    Ok(Value::Object(columns))
}

/// The rows of a query, with all their columns.
pub async fn rows(
    db: &impl ConnectionTrait,
    query: &impl StatementBuilder,
) -> Result<Vec<Value>, DbErr> {
    db.query_all(query).await?.iter().map(row).collect()
}

/// A value by its own type, not by its column's.
fn value(row: &QueryResult, at: usize) -> Value {
    fn of<T: TryGetable>(row: &QueryResult, at: usize) -> Option<Option<T>> {
        row.try_get_by_index::<Option<T>>(at).ok()
    }
    of::<i64>(row, at)
        .map(|n| json!(n))
        .or_else(|| of::<f64>(row, at).map(|n| json!(n)))
        .or_else(|| of::<String>(row, at).map(|text| json!(text)))
        .or_else(|| of::<Vec<u8>>(row, at).map(|bytes| json!(bytes)))
        .or_else(|| enum_of(row, at))
        .unwrap_or_else(|| panic!("column {at} of {:?} has no JSON", row.column_names()))
}

/// The text of an ENUM of PostgreSQL.
fn enum_of(row: &QueryResult, at: usize) -> Option<Value> {
    use sea_orm::sqlx::{Row, TypeInfo, ValueRef, postgres::PgTypeKind};

    let value = row.try_as_pg_row()?.try_get_raw(at).ok()?;
    match value.type_info().kind() {
        PgTypeKind::Enum(_) if value.is_null() => Some(Value::Null),
        PgTypeKind::Enum(_) => Some(json!(value.as_str().ok()?)),
        _ => panic!("{} has no JSON", value.type_info().name()),
    }
}

/// Whether two answers are the same, floating point numbers up to the order of their summation.
pub fn same(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b))
}

/// Fails with both answers if they differ.
#[track_caller]
pub fn assert_same(sharded: &[Value], whole: &[Value], query: &str) {
    if !same(sharded, whole) {
        let show = |rows: &[Value]| {
            rows.iter()
                .take(20)
                .map(|row| format!("\n  {row}"))
                .collect::<String>()
        };
        panic!(
            "{query}\nsharded, {} rows:{}\nwhole, {} rows:{}",
            sharded.len(),
            show(sharded),
            whole.len(),
            show(whole),
        );
    }
}

/// The answer as the unsharded table would have named its columns.
pub fn renamed(rows: Vec<Value>, table: &str) -> Vec<Value> {
    let rename = |row: Value| match row {
        Value::Object(columns) => Value::Object(
            columns
                .into_iter()
                .map(|(name, v)| (name.replace(table, "event_whole"), v))
                .collect(),
        ),
        other => other,
    };
    rows.into_iter().map(rename).collect()
}

/// The answer in an order of its own, for queries that promise none.
pub fn sorted(mut rows: Vec<Value>) -> Vec<Value> {
    rows.sort_by_key(ToString::to_string);
    rows
}

fn close(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) if x.is_f64() && y.is_f64() => {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            x == y || (x - y).abs() <= 1e-12 * x.abs().max(y.abs())
        }
        (Value::Array(a), Value::Array(b)) => same(a, b),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((k, a), (l, b))| k == l && close(a, b))
        }
        (a, b) => a == b,
    }
}
