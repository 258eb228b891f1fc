use std::cmp::Ordering;

use bigdecimal::num_bigint::Sign;
use bigdecimal::{BigDecimal, ToPrimitive};

use super::{Datum, compare_rows};
use crate::plan::{Direction, Nulls, SortKey, TextOrder};

/// The order of what is merged.
pub trait Order<H> {
    /// The order of two heads.
    fn compare(&self, a: &H, b: &H) -> Ordering;

    /// What most pairs of heads are told apart by already, without a look at either: if it is less
    /// for one head, that one comes before the other. Heads with the same abbreviation may be in
    /// any order. (PostgreSQL sorts with such keys, too.)
    fn abbreviate(&self, _head: &H) -> u64 {
        0
    }
}

impl<H, F: Fn(&H, &H) -> Ordering> Order<H> for F {
    fn compare(&self, a: &H, b: &H) -> Ordering {
        self(a, b)
    }
}

/// The order of rows of values by sort keys, whose columns are positions in the rows.
#[derive(Clone, Debug)]
pub struct ByKeys(pub Vec<SortKey>);

impl<H: AsRef<[Datum]>> Order<H> for ByKeys {
    fn compare(&self, a: &H, b: &H) -> Ordering {
        compare_rows(&self.0, a.as_ref(), b.as_ref())
    }

    fn abbreviate(&self, head: &H) -> u64 {
        match self.0.first() {
            Some(key) => abbreviate(key, &head.as_ref()[key.column]),
            None => 0,
        }
    }
}

/// A bit for NULL, or what is before it; three for the class; the others for the value.
fn abbreviate(key: &SortKey, datum: &Datum) -> u64 {
    const VALUE: u64 = u64::MAX >> 1;

    if datum.is_null() {
        return match key.nulls {
            Nulls::First => 0,
            Nulls::Last => u64::MAX,
        };
    }
    let value = datum.class() << 60 | begin(datum, key.text) >> 4;
    VALUE
        + 1
        + match key.direction {
            Direction::Ascending => value,
            Direction::Descending => VALUE - value,
        }
}

/// Grows with the value within its class.
fn begin(datum: &Datum, text: TextOrder) -> u64 {
    match datum {
        Datum::Null => 0,
        Datum::Bool(value) => u64::from(*value) << 63,
        Datum::Int(value) => of_float(whole(*value)),
        Datum::Float(value) => of_float(value.trunc()),
        Datum::Decimal(value) => of_float(whole_part(value)),
        Datum::Time(value) | Datum::Ranked { rank: value, .. } => of_int(*value),
        Datum::Text(value) => of_text(value, text),
        Datum::Bytes(value) => of_bytes(value.iter().copied(), 0),
    }
}

/// Numbers of all types compare by value, so all are abbreviated alike: to the whole number towards
/// zero, as a float. What is beyond the integers is not told apart.
fn of_float(whole: f64) -> u64 {
    const SIGN: u64 = 1 << 63;

    if whole.is_nan() {
        return u64::MAX;
    }
    // There is one zero, and what is added takes its sign away.
    let bits = (whole.clamp(i128::MIN as f64, i128::MAX as f64) + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn whole(value: i128) -> f64 {
    match i64::try_from(value) {
        Ok(value) => value as f64,
        Err(_) => value as f64,
    }
}

fn whole_part(value: &BigDecimal) -> f64 {
    /// Those of the greatest integers.
    const DIGITS: i64 = 39;

    let digits = i64::try_from(value.digits()).unwrap_or(i64::MAX);
    let is_near = digits.saturating_sub(value.fractional_digit_count()) <= DIGITS;
    match (is_near.then(|| value.to_i128()).flatten(), value.sign()) {
        (Some(integer), _) => whole(integer),
        (None, Sign::Minus) => f64::NEG_INFINITY,
        (None, _) => f64::INFINITY,
    }
}

fn of_int(value: i64) -> u64 {
    value.cast_unsigned() ^ 1 << 63
}

fn of_text(text: &str, order: TextOrder) -> u64 {
    let bytes = text.bytes();
    match order {
        TextOrder::Bytes | TextOrder::NoText | TextOrder::Ranked => of_bytes(bytes, 0),
        TextOrder::PaddedBytes => of_bytes(bytes, b' '),
        TextOrder::NoCase => of_bytes(bytes.map(|byte| byte.to_ascii_lowercase()), 0),
        TextOrder::TrimmedBytes => of_bytes(text.trim_end_matches(' ').bytes(), 0),
    }
}

fn of_bytes(bytes: impl Iterator<Item = u8>, filler: u8) -> u64 {
    let mut begin = [filler; 8];
    begin
        .iter_mut()
        .zip(bytes)
        .for_each(|(to, byte)| *to = byte);
    u64::from_be_bytes(begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values near each other and near the ends of what is told apart.
    fn zoo() -> Vec<Datum> {
        let texts = [
            "",
            " ",
            "  ",
            "\t",
            "\u{1}",
            "a",
            "A",
            "a ",
            "a\t",
            "a\0",
            "b",
            "é",
            "z",
            "Z9",
            "abcdefg",
            "abcdefgh",
            "abcdefghi",
            "ABCDEFGH",
            "abcdefg ",
            "abcdefg\u{1f}",
            "zzzzzzzzz",
        ];
        let floats = [
            f64::NEG_INFINITY,
            f64::MIN,
            -1e39,
            -1.5,
            -1.0,
            -0.5,
            -0.0,
            0.0,
            0.1,
            0.9,
            1.0,
            2.0,
            2.5,
            9_007_199_254_740_992.0,
            9_007_199_254_740_994.0,
            1.8e19,
            1.7e38,
            1.8e38,
            1e39,
            1e300,
            f64::INFINITY,
            f64::NAN,
        ];
        let decimals = [
            "-1e400",
            "-1e39",
            "-2",
            "-1.5",
            "-0.99",
            "0",
            "0.0",
            "0.99",
            "1",
            "1.0",
            "1.5",
            "2.50",
            "9007199254740993",
            "9007199254740993.5",
            "170141183460469231731687303715884105727",
            "170141183460469231731687303715884105728.5",
            "1e39",
            "1e1000",
            "1e-1000",
            "-1e-1000",
        ];
        let integers = [
            i128::MIN,
            i64::MIN.into(),
            -(1 << 53) - 1,
            -2,
            -1,
            0,
            1,
            2,
            1 << 53,
            (1 << 53) + 1,
            (1 << 53) + 3,
            i64::MAX.into(),
            u64::MAX.into(),
            i128::MAX,
        ];
        let times = [i64::MIN, -1, 0, 15, 16, 17, i64::MAX];
        let bytes: [&[u8]; 6] = [&[], &[0], &[0, 0], &[1], &[255; 8], &[255; 9]];
        let mut zoo = vec![Datum::Null, Datum::Bool(false), Datum::Bool(true)];
        zoo.extend(texts.map(|text| Datum::Text(text.to_owned())));
        zoo.extend(floats.map(Datum::Float));
        zoo.extend(decimals.map(|text| Datum::Decimal(text.parse().unwrap())));
        zoo.extend(integers.map(Datum::Int));
        zoo.extend(times.map(Datum::Time));
        zoo.extend(bytes.map(|bytes| Datum::Bytes(bytes.to_vec())));
        zoo
    }

    #[test]
    fn abbreviations_agree_with_comparisons() {
        let orders = [
            TextOrder::Bytes,
            TextOrder::PaddedBytes,
            TextOrder::NoCase,
            TextOrder::TrimmedBytes,
        ];
        let zoo = zoo();
        for direction in [Direction::Ascending, Direction::Descending] {
            for nulls in [Nulls::First, Nulls::Last] {
                for text in orders {
                    let column = 0;
                    let key = SortKey {
                        column,
                        direction,
                        nulls,
                        text,
                    };
                    let order = ByKeys(vec![key]);
                    for a in &zoo {
                        for b in &zoo {
                            let (a, b) = ([a.clone()], [b.clone()]);
                            let short = order.abbreviate(&a).cmp(&order.abbreviate(&b));
                            let whole = order.compare(&a, &b);
                            assert!(short.is_eq() || short == whole, "{key:?} {a:?} {b:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn abbreviations_tell_most_values_apart() {
        let key = SortKey {
            column: 0,
            direction: Direction::Ascending,
            nulls: Nulls::First,
            text: TextOrder::Bytes,
        };
        let told_apart = |a: Datum, b: Datum| abbreviate(&key, &a) < abbreviate(&key, &b);
        assert!(told_apart(Datum::Int(1_000_000), Datum::Int(1_000_001)));
        assert!(told_apart(Datum::Int(-1_000_001), Datum::Int(-1_000_000)));
        assert!(told_apart(Datum::Float(1.5), Datum::Float(2.5)));
        assert!(told_apart(
            Datum::Time(1_600_000_000_000_000),
            Datum::Time(1_600_000_000_001_000)
        ));
        assert!(told_apart(
            Datum::Text("abcdefg".into()),
            Datum::Text("abcdefh".into())
        ));
        assert!(told_apart(Datum::Bool(false), Datum::Bool(true)));
    }
}
