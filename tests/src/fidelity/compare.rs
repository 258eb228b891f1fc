//! Whether two answers are the same, as far as SQL promises.

use super::answer::{Answer, Cell};
use super::statement::promise::{Ordering, Promise};

/// What may differ between two right answers.
#[derive(Clone, Copy, Debug)]
pub struct Leniency {
    /// Texts that are equal for the database, though not byte for byte, stand for each other.
    pub loose: bool,
    /// The same among the keys of an order.
    pub loose_keys: bool,
    /// Floating point numbers are sums, which depend on the order of summation, by so much.
    pub sums: Option<f64>,
    /// Columns of a union have the type of their values, but not its display width, as on MariaDB:
    /// a boolean is a TINYINT there, an ENUM a VARCHAR.
    pub unions: bool,
}

/// Why an answer is wrong; `None` if it is right.
///
/// `all` are the rows among which LIMIT or OFFSET has chosen, if that may be any.
pub fn difference(
    expected: &Answer,
    found: &Answer,
    promise: &Promise,
    all: Option<&Answer>,
    leniency: Leniency,
) -> Option<String> {
    if expected.rows.len() != found.rows.len() {
        return Some(format!(
            "{} rows instead of {}",
            found.rows.len(),
            expected.rows.len()
        ));
    }
    let same_column = |(a, b): (&(String, String), &(String, String))| {
        a == b || (leniency.unions && a.0 == b.0 && are_alike(&a.1, &b.1))
    };
    let mut columns = expected.columns.iter().zip(&found.columns);
    if expected.columns.len() != found.columns.len() || !columns.all(same_column) {
        let place = expected
            .columns
            .iter()
            .zip(&found.columns)
            .position(|(a, b)| a != b);
        let at = place.unwrap_or_default();
        return Some(format!(
            "column {} is {:?} instead of {:?}",
            at + 1,
            found.columns.get(at),
            expected.columns.get(at)
        ));
    }
    let keys: Vec<usize> = match &promise.order {
        Ordering::Total => (0..expected.columns.len()).collect(),
        Ordering::Keys(keys) => keys.clone(),
    };
    let among_keys = Leniency {
        loose: leniency.loose || (leniency.loose_keys && promise.order != Ordering::Total),
        ..leniency
    };
    for (row, (expected, found)) in expected.rows.iter().zip(&found.rows).enumerate() {
        for &key in &keys {
            if !same(&expected[key], &found[key], among_keys) {
                return Some(format!(
                    "row {}, column {}: {} instead of {}",
                    row + 1,
                    key + 1,
                    found[key],
                    expected[key]
                ));
            }
        }
    }
    if promise.order == Ordering::Total {
        return None;
    }
    if promise.cut {
        let all = all?;
        let mut left: Vec<&Vec<Cell>> = all.rows.iter().collect();
        for row in &found.rows {
            let place = left.iter().position(|other| same_row(row, other, leniency));
            match place {
                Some(place) => drop(left.swap_remove(place)),
                None => return Some(format!("the row {} is not among all", show(row))),
            }
        }
        return None;
    }
    let sorted = |answer: &Answer| {
        let mut rows: Vec<Vec<Cell>> = answer.rows.clone();
        rows.sort_by_cached_key(|row| {
            let keys: Vec<String> = row
                .iter()
                .map(|cell| cell.sort_key(leniency.loose))
                .collect();
            keys
        });
        rows
    };
    let (expected, found) = (sorted(expected), sorted(found));
    let differ =
        |(expected, found): &(&Vec<Cell>, &Vec<Cell>)| !same_row(expected, found, leniency);
    let pair = expected.iter().zip(&found).find(differ)?;
    Some(format!(
        "as sets, {} instead of {}",
        show(pair.1),
        show(pair.0)
    ))
}

/// Whether a union makes one of these types of the other.
fn are_alike(a: &str, b: &str) -> bool {
    const ALIKE: [[&str; 2]; 5] = [
        ["BINARY", "VARBINARY"],
        ["BOOLEAN", "TINYINT"],
        ["CHAR", "VARCHAR"],
        ["ENUM", "VARCHAR"],
        ["CHAR", "ENUM"],
    ];
    // Texts and bytes of whatever length are one.
    let sizeless = |name: &str| {
        let mut sizes = ["TINY", "MEDIUM", "LONG"].iter();
        let rest = sizes.find_map(|size| name.strip_prefix(size));
        let rest = rest.filter(|rest| matches!(*rest, "TEXT" | "BLOB"));
        rest.unwrap_or(name).to_owned()
    };
    sizeless(a) == sizeless(b) || ALIKE.iter().any(|pair| *pair == [a, b] || *pair == [b, a])
}

/// A row, to be read.
pub fn show(row: &[Cell]) -> String {
    let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
    format!("({})", cells.join(", "))
}

fn same_row(expected: &[Cell], found: &[Cell], leniency: Leniency) -> bool {
    let mut cells = expected.iter().zip(found);
    expected.len() == found.len() && cells.all(|(a, b)| same(a, b, leniency))
}

fn same(expected: &Cell, found: &Cell, leniency: Leniency) -> bool {
    match (expected, found) {
        (Cell::Float(a), Cell::Float(b)) => {
            a == b
                || (a.is_nan() && b.is_nan())
                || leniency
                    .sums
                    .is_some_and(|sums| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) + sums)
        }
        (Cell::Text(a), Cell::Text(b)) if leniency.loose => {
            super::text::fold(a) == super::text::fold(b)
        }
        (a, b) => a == b,
    }
}
