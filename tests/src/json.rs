//! Comparison of answers as JSON.

use serde_json::Value;

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
