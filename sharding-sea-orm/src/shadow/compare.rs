//! Whether two answers are the same, as far as the statement promises.

use std::collections::HashMap;

use super::answer::{Answer, Row};
use super::cell::Floats;
use super::difference::{Difference, Side, show_cells, show_rows};

/// What a statement says about the rows of its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Promise {
    /// `None` if it has no ORDER BY.
    pub(super) order: Option<Order>,
    /// The most rows that it wants.
    pub(super) limit: Option<u64>,
    /// Whether it skips rows.
    pub(super) skips: bool,
}

/// By what rows are ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// By these columns of the answer.
    By(Vec<usize>),
    /// By something that is not in the answer, or not found there.
    Unknown,
}

/// The first difference that matters; `None` if the answers are the same.
pub(super) fn difference(
    plain: &Answer,
    sharded: &Answer,
    promise: impl FnOnce() -> Promise,
) -> Option<Difference> {
    if !plain.rows.is_empty() && !sharded.rows.is_empty() && plain.columns != sharded.columns {
        return Some(columns(plain, sharded));
    }
    let mut pairs = plain.rows.iter().zip(&sharded.rows);
    let first = pairs.position(|(a, b)| !a.is_same(b));
    if plain.rows.len() != sharded.rows.len() {
        return Some(count(plain, sharded));
    }
    // Most answers end here.
    let first = first?;
    let promise = promise();
    let left = Left::of(&plain.rows, &sharded.rows);
    if !left.plain.is_empty() {
        return Some(rows(plain, sharded, &left, &promise));
    }
    let order = promise.order?;
    if order.same_keys(plain, sharded) {
        return None;
    }
    let (plain, sharded) = show_rows(&plain.rows[first], &sharded.rows[first]);
    Some(Difference::Order {
        row: first + 1,
        plain,
        sharded,
    })
}

fn columns(plain: &Answer, sharded: &Answer) -> Difference {
    let count = plain.columns.len().max(sharded.columns.len());
    let differs = |at: &usize| plain.columns.get(*at) != sharded.columns.get(*at);
    let at = (0..count).find(differs).unwrap_or_default();
    let show = |answer: &Answer| answer.columns.get(at).map(ToString::to_string);
    Difference::Columns {
        number: at + 1,
        plain: show(plain),
        sharded: show(sharded),
    }
}

fn count(plain: &Answer, sharded: &Answer) -> Difference {
    let left = Left::of(&plain.rows, &sharded.rows);
    let only = |side, answer: &Answer, left: &[usize]| {
        let row = &answer.rows[*left.first()?];
        Some((side, show_rows(row, row).0))
    };
    let row = if plain.rows.len() > sharded.rows.len() {
        only(Side::Plain, plain, &left.plain)
    } else {
        only(Side::Sharded, sharded, &left.sharded)
    };
    Difference::Count {
        plain: plain.rows.len(),
        sharded: sharded.rows.len(),
        row,
    }
}

/// The difference between answers that have as many rows, of which some differ.
fn rows(plain: &Answer, sharded: &Answer, left: &Left, promise: &Promise) -> Difference {
    // More are not looked through for the row that is most alike.
    const CANDIDATES: usize = 1000;
    let at = left.plain[0];
    let row = &plain.rows[at];
    let candidates = left.sharded.iter().take(CANDIDATES);
    let others = candidates.map(|&other| &sharded.rows[other]);
    // Of rows that are equally alike the first one counts.
    let other = others.rev().max_by_key(|other| row.agreement(other));
    let Some(other) = other else {
        return count(plain, sharded);
    };
    if promise.leaves_open(plain, sharded, left) {
        let (plain, sharded) = show_rows(row, other);
        return Difference::Page {
            row: at + 1,
            plain,
            sharded,
        };
    }
    match row.first_difference(other) {
        Some(column) if row.agreement(other) > 0 || row.0.len() == 1 => {
            let (shown, other) = show_cells(&row.0[column], &other.0[column]);
            Difference::Value {
                row: at + 1,
                column: plain.name(column),
                plain: shown,
                sharded: other,
            }
        }
        _ => {
            let (plain, sharded) = show_rows(row, other);
            Difference::Row {
                row: at + 1,
                plain,
                sharded,
            }
        }
    }
}

impl Promise {
    /// Whether these rows of a page may be there in place of each other: they tie with what is
    /// beyond the page.
    fn leaves_open(&self, plain: &Answer, sharded: &Answer, left: &Left) -> bool {
        let count = plain.rows.len();
        let cut = self.limit.is_some_and(|limit| count as u64 >= limit);
        if !cut && !self.skips {
            return false;
        }
        let keys = match &self.order {
            None => return true,
            Some(Order::Unknown) => return false,
            Some(Order::By(keys)) => keys,
        };
        if !same_keys(keys, plain, sharded) {
            return false;
        }
        let ties = |a: usize, b: usize| ties(keys, &plain.rows[a], &plain.rows[b]);
        // The keys are the same on both sides, so one side's tell for both.
        let at_edge = |&at: &usize| (self.skips && ties(at, 0)) || (cut && ties(at, count - 1));
        left.plain.iter().all(at_edge) && left.sharded.iter().all(at_edge)
    }
}

impl Order {
    fn same_keys(&self, plain: &Answer, sharded: &Answer) -> bool {
        match self {
            Self::By(keys) => same_keys(keys, plain, sharded),
            Self::Unknown => false,
        }
    }
}

/// Whether the rows of both sides have the same keys one by one.
fn same_keys(keys: &[usize], plain: &Answer, sharded: &Answer) -> bool {
    let mut pairs = plain.rows.iter().zip(&sharded.rows);
    pairs.all(|(a, b)| ties(keys, a, b))
}

fn ties(keys: &[usize], a: &Row, b: &Row) -> bool {
    let same = |key: &usize| match (a.0.get(*key), b.0.get(*key)) {
        (Some(a), Some(b)) => a.is_same(b),
        _ => false,
    };
    keys.iter().all(same)
}

/// The rows of either side that have no partner on the other, whatever the order.
#[derive(Debug, Default)]
struct Left {
    plain: Vec<usize>,
    sharded: Vec<usize>,
}

impl Left {
    fn of(plain: &[Row], sharded: &[Row]) -> Self {
        let all = Self {
            plain: (0..plain.len()).collect(),
            sharded: (0..sharded.len()).collect(),
        };
        let all = all.without_pairs(plain, sharded, Floats::Bits);
        // What is left may differ in the last digits of floating point numbers.
        all.without_pairs(plain, sharded, Floats::Any)
    }

    /// Pairs rows of equal keys that are the same.
    fn without_pairs(self, plain: &[Row], sharded: &[Row], floats: Floats) -> Self {
        if self.plain.is_empty() || self.sharded.is_empty() {
            return self;
        }
        let key = |row: &Row| {
            let mut key = Vec::new();
            row.0
                .iter()
                .for_each(|cell| cell.write_key(floats, &mut key));
            key
        };
        let mut by_key: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for &at in self.sharded.iter().rev() {
            by_key.entry(key(&sharded[at])).or_default().push(at);
        }
        let mut left = Self::default();
        for &at in &self.plain {
            let row = &plain[at];
            let others = by_key.get_mut(&key(row));
            let partner = others.and_then(|others| {
                let place = others
                    .iter()
                    .rposition(|&other| row.is_same(&sharded[other]))?;
                Some(others.remove(place))
            });
            if partner.is_none() {
                left.plain.push(at);
            }
        }
        left.sharded = by_key.into_values().flatten().collect();
        left.sharded.sort_unstable();
        left
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::Column;
    use super::super::cell::Cell;
    use super::super::difference::DifferenceKind;
    use super::*;

    const DOUBLE: f64 = 1e-9;

    /// Rows of an integer and a floating point number.
    fn answer(rows: &[(i128, f64)]) -> Answer {
        let column = |name: &str| Column {
            name: name.to_owned(),
            type_name: String::new(),
        };
        let row = |&(id, value): &(i128, f64)| {
            let value = Cell::Float {
                value,
                tolerance: DOUBLE,
            };
            Row(vec![Cell::Int(id), value])
        };
        Answer {
            columns: vec![column("id"), column("value")],
            rows: rows.iter().map(row).collect(),
        }
    }

    fn by(keys: &[usize]) -> Promise {
        Promise {
            order: Some(Order::By(keys.to_vec())),
            ..Promise::default()
        }
    }

    fn page(promise: Promise) -> Promise {
        Promise {
            limit: Some(2),
            ..promise
        }
    }

    #[track_caller]
    fn check(
        plain: &[(i128, f64)],
        sharded: &[(i128, f64)],
        promise: Promise,
        expected: Option<DifferenceKind>,
    ) {
        let found = difference(&answer(plain), &answer(sharded), || promise);
        assert_eq!(found.as_ref().map(Difference::kind), expected, "{found:?}");
    }

    #[test]
    fn without_order_rows_are_a_multiset() {
        let none = Promise::default();
        let rows = [(1, 0.1), (2, 0.3), (2, 0.3)];
        check(
            &rows,
            &[(2, 0.1 + 0.2), (1, 0.1), (2, 0.3)],
            none.clone(),
            None,
        );
        let value = Some(DifferenceKind::Value);
        check(&rows, &[(2, 0.3), (1, 0.1), (1, 0.1)], none.clone(), value);
        check(&rows, &rows[..2], none, Some(DifferenceKind::Count));
    }

    #[test]
    fn keys_tell_ties_from_another_order() {
        let (rows, tied) = (
            [(1, 0.0), (2, 0.0), (3, 1.0)],
            [(2, 0.0), (1, 0.0), (3, 1.0)],
        );
        check(&rows, &tied, by(&[1]), None);
        check(&rows, &tied, by(&[0]), Some(DifferenceKind::Order));
        let unknown = Promise {
            order: Some(Order::Unknown),
            ..Promise::default()
        };
        check(&rows, &tied, unknown, Some(DifferenceKind::Order));
    }

    #[test]
    fn pages_may_end_among_ties() {
        let (page_kind, value) = (Some(DifferenceKind::Page), Some(DifferenceKind::Value));
        let (rows, tied) = ([(1, 0.0), (2, 1.0)], [(1, 0.0), (3, 1.0)]);
        check(&rows, &tied, page(by(&[1])), page_kind);
        check(&rows, &tied, by(&[1]), value);
        check(&rows, &tied, page(by(&[0])), value);
        check(&rows, &tied, page(Promise::default()), page_kind);
        // The first row is not among the ties that the page cuts.
        check(&rows, &[(4, 0.0), (2, 1.0)], page(by(&[1])), value);
        let skipping = Promise {
            skips: true,
            ..page(by(&[1]))
        };
        check(&rows, &[(4, 0.0), (2, 1.0)], skipping, page_kind);
        // Less than the limit is all there is.
        check(&rows[..1], &[(4, 0.0)], page(by(&[1])), value);
    }

    #[test]
    fn the_row_that_is_most_alike_is_named() {
        let found = difference(
            &answer(&[(1, 0.5), (2, 0.25)]),
            &answer(&[(2, 0.75), (1, 0.5)]),
            Promise::default,
        );
        let text = found.map(|found| found.to_string());
        let expected = "row 2, column `value`: the sharded side has 0.75, the plain side 0.25";
        assert_eq!(text.as_deref(), Some(expected));
    }
}
