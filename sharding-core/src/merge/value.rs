use std::cmp::Ordering;

use bigdecimal::{BigDecimal, FromPrimitive, Zero};

use crate::plan::{Direction, Nulls, SortKey, TextOrder};

/// A value out of a row, in a form that compares as the database compares it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Datum {
    /// NULL.
    Null,
    /// A boolean: false before true.
    Bool(bool),
    /// An integer of any width.
    Int(i128),
    /// A binary floating point number; NaN equals itself and comes after everything.
    Float(f64),
    /// An exact decimal; the digits after the point are kept.
    Decimal(BigDecimal),
    /// Days, microseconds or another count of time that grows with it.
    Time(i64),
    /// Text.
    Text(String),
    /// Text, with its rank among all texts that it will be compared with.
    Ranked {
        /// Equal for texts that are equal to the database.
        rank: i64,
        /// The text itself.
        text: String,
    },
    /// Bytes, also UUIDs: compared as unsigned bytes.
    Bytes(Vec<u8>),
}

impl Datum {
    /// Whether this is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether a condition that has this value holds.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Decimal(value) => !value.is_zero(),
            _ => false,
        }
    }

    /// The order of two values that are not NULL. Numbers of all types compare by value; across
    /// other types the order is that of SQLite's storage classes: numbers, text, bytes.
    pub fn compare(&self, other: &Self, text: TextOrder) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => match text {
                TextOrder::Bytes | TextOrder::NoText | TextOrder::Ranked => a.cmp(b),
                TextOrder::PaddedBytes => compare_padded(a.as_bytes(), b.as_bytes()),
                TextOrder::NoCase => {
                    let (a, b) = (a.bytes(), b.bytes());
                    let lower = |byte: u8| byte.to_ascii_lowercase();
                    a.map(lower).cmp(b.map(lower))
                }
                TextOrder::TrimmedBytes => a.trim_end_matches(' ').cmp(b.trim_end_matches(' ')),
            },
            (Self::Ranked { rank: a, .. }, Self::Ranked { rank: b, .. }) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => compare_floats(*a, *b),
            (Self::Decimal(a), Self::Decimal(b)) => a.cmp(b),
            (Self::Int(a), Self::Decimal(b)) => BigDecimal::from(*a).cmp(b),
            (Self::Decimal(a), Self::Int(b)) => a.cmp(&BigDecimal::from(*b)),
            (Self::Int(a), Self::Float(b)) => compare_exact(&BigDecimal::from(*a), *b),
            (Self::Float(a), Self::Int(b)) => compare_exact(&BigDecimal::from(*b), *a).reverse(),
            (Self::Decimal(a), Self::Float(b)) => compare_exact(a, *b),
            (Self::Float(a), Self::Decimal(b)) => compare_exact(b, *a).reverse(),
            _ => self.class().cmp(&other.class()),
        }
    }

    pub(super) fn class(&self) -> u64 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Int(_) | Self::Float(_) | Self::Decimal(_) => 2,
            Self::Time(_) => 3,
            Self::Text(_) | Self::Ranked { .. } => 4,
            Self::Bytes(_) => 5,
        }
    }
}

/// The order of two rows by the keys.
pub fn compare_rows(keys: &[SortKey], a: &[Datum], b: &[Datum]) -> Ordering {
    for key in keys {
        let order = compare_by(key, &a[key.column], &b[key.column]);
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

fn compare_by(key: &SortKey, a: &Datum, b: &Datum) -> Ordering {
    let null = match key.nulls {
        Nulls::First => Ordering::Less,
        Nulls::Last => Ordering::Greater,
    };
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => null,
        (false, true) => null.reverse(),
        (false, false) => match key.direction {
            Direction::Ascending => a.compare(b, key.text),
            Direction::Descending => b.compare(a, key.text),
        },
    }
}

fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

fn compare_exact(exact: &BigDecimal, float: f64) -> Ordering {
    match BigDecimal::from_f64(float) {
        Some(float) => exact.cmp(&float),
        None if float == f64::NEG_INFINITY => Ordering::Greater,
        None => Ordering::Less,
    }
}

fn compare_padded(a: &[u8], b: &[u8]) -> Ordering {
    let shared = a.len().min(b.len());
    let rest_against_spaces = |rest: &[u8]| {
        rest.iter()
            .map(|byte| byte.cmp(&b' '))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    };
    a[..shared]
        .cmp(&b[..shared])
        .then_with(|| rest_against_spaces(&a[shared..]))
        .then_with(|| rest_against_spaces(&b[shared..]).reverse())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(a: &Datum, b: &Datum) -> Ordering {
        a.compare(b, TextOrder::Bytes)
    }

    #[test]
    fn numbers_compare_by_value_whatever_their_type() {
        let big = 9_007_199_254_740_993_i128; // 2^53 + 1: no f64
        let ascending = [
            Datum::Float(f64::NEG_INFINITY),
            Datum::Decimal("-1.5".parse().unwrap()),
            Datum::Int(-1),
            Datum::Float(0.1),
            Datum::Float(9_007_199_254_740_992.0),
            Datum::Int(big),
            Datum::Decimal("9007199254740993.5".parse().unwrap()),
            Datum::Float(9_007_199_254_740_994.0),
            Datum::Float(f64::INFINITY),
            Datum::Float(f64::NAN),
            Datum::Text("1".into()),
            Datum::Bytes(vec![0]),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(compare(a, b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
        assert_eq!(
            compare(&Datum::Float(-0.0), &Datum::Float(0.0)),
            Ordering::Equal
        );
        assert_eq!(compare(&Datum::Int(2), &Datum::Float(2.0)), Ordering::Equal);
    }

    #[test]
    fn text_may_be_padded() {
        let padded = |a: &str, b: &str| {
            Datum::Text(a.into()).compare(&Datum::Text(b.into()), TextOrder::PaddedBytes)
        };
        assert_eq!(padded("a", "a  "), Ordering::Equal);
        assert_eq!(padded("a\t", "a"), Ordering::Less);
        assert_eq!(padded("a", "a\t"), Ordering::Greater);
        assert_eq!(padded("a ", "a!"), Ordering::Less);
        assert_eq!(padded("é", "z"), Ordering::Greater);
    }

    #[test]
    fn nulls_go_where_the_key_says() {
        let key = |direction, nulls| SortKey {
            column: 0,
            direction,
            nulls,
            text: TextOrder::Bytes,
        };
        for direction in [Direction::Ascending, Direction::Descending] {
            for (nulls, order) in [
                (Nulls::First, Ordering::Less),
                (Nulls::Last, Ordering::Greater),
            ] {
                let keys = [key(direction, nulls)];
                assert_eq!(compare_rows(&keys, &[Datum::Null], &[Datum::Int(1)]), order);
                assert_eq!(
                    compare_rows(&keys, &[Datum::Null], &[Datum::Null]),
                    Ordering::Equal
                );
            }
        }
    }
}
