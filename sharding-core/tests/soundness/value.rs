use std::cmp::Ordering;
use std::fmt;

use bigdecimal::BigDecimal;
use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use sharding_core::key::{KeyKind, KeyValue};

use crate::random::Random;

/// A value of a column, as a program has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Number(Number),
    Text(String),
    Bytes(Vec<u8>),
    Uuid([u8; 16]),
    Date(NaiveDate),
    DateTime(NaiveDateTime),
    Instant(DateTime<Utc>),
}

/// A number with three digits after the point; the first and the last are 10⁴⁰ from zero, beyond
/// what 128 bits hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Number {
    Lowest,
    Thousandths(i128),
    Highest,
}

/// How a database compares text and bytes: to the byte unless drawn otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Collation {
    /// Whether trailing spaces and zeros do not count.
    padded: bool,
    /// Whether text is ordered otherwise than by its bytes.
    backwards: bool,
}

impl Collation {
    pub(crate) fn draw(random: &mut Random) -> Self {
        Self {
            padded: random.chance(50),
            backwards: random.chance(50),
        }
    }

    /// Whether text is compared byte by byte.
    pub(crate) fn is_of_bytes(self) -> bool {
        !self.padded && !self.backwards
    }

    /// The order of two values of one kind.
    pub(crate) fn compare(self, a: &Value, b: &Value) -> Ordering {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) if self.padded => {
                self.text(a.trim_end_matches(' '), b.trim_end_matches(' '))
            }
            (Value::Text(a), Value::Text(b)) => self.text(a, b),
            (Value::Bytes(a), Value::Bytes(b)) if self.padded => {
                without_zeros(a).cmp(without_zeros(b))
            }
            (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
            (Value::Uuid(a), Value::Uuid(b)) => a.cmp(b),
            (Value::Date(a), Value::Date(b)) => a.cmp(b),
            (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
            (Value::Instant(a), Value::Instant(b)) => a.cmp(b),
            _ => panic!("{a} and {b} are of different kinds"),
        }
    }

    fn text(self, a: &str, b: &str) -> Ordering {
        if self.backwards {
            b.chars().rev().cmp(a.chars().rev())
        } else {
            a.cmp(b)
        }
    }
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0);
    &bytes[..end.map_or(0, |end| end + 1)]
}

impl Value {
    pub(crate) fn int(value: impl Into<i128>) -> Self {
        Self::Number(Number::Thousandths(value.into() * 1_000))
    }

    /// The value as the crate under test takes it.
    pub(crate) fn key(&self) -> KeyValue<'static> {
        match self {
            Self::Number(number) => KeyValue::decimal(&number.decimal()),
            Self::Text(text) => KeyValue::text(text.clone()),
            Self::Bytes(bytes) => KeyValue::bytes(bytes.clone()),
            Self::Uuid(bytes) => KeyValue::Uuid(*bytes),
            Self::Date(date) => KeyValue::Date(*date),
            Self::DateTime(time) => KeyValue::DateTime(*time),
            Self::Instant(time) => KeyValue::Instant(*time),
        }
    }

    /// Whether a column of the kind can hold the value: one of integers has no fractions.
    pub(crate) fn fits(&self, kind: KeyKind) -> bool {
        match self {
            Self::Number(Number::Thousandths(n)) => kind != KeyKind::Integer || n % 1_000 == 0,
            Self::Number(_) => false,
            _ => true,
        }
    }

    /// Some value of the kind, close to others that are drawn.
    pub(crate) fn draw(random: &mut Random, kind: KeyKind, now: DateTime<Utc>) -> Self {
        let time = |random: &mut Random| {
            let unit = *random.pick(&[1, 60, 3_600, 86_400]);
            now + TimeDelta::seconds(random.between(-50, 50) * unit)
        };
        match kind {
            KeyKind::Decimal => {
                let step = *random.pick(&[1, 250, 1_000]);
                Self::Number(Number::Thousandths(i128::from(
                    random.between(-60, 60) * step,
                )))
            }
            KeyKind::Text => {
                let letters = ["a", "b", "A", "ž", " ", "1", "x"];
                let length = random.below(4);
                Self::Text((0..length).map(|_| *random.pick(&letters)).collect())
            }
            KeyKind::Bytes => {
                let length = random.below(4);
                Self::Bytes((0..length).map(|_| *random.pick(&[0, 1, 2, 255])).collect())
            }
            KeyKind::Uuid => {
                let mut bytes = [7; 16];
                bytes[*random.pick(&[0, 15])] = random.below(6) as u8;
                Self::Uuid(bytes)
            }
            KeyKind::Date => Self::Date(time(random).date_naive()),
            KeyKind::DateTime => Self::DateTime(time(random).naive_utc()),
            KeyKind::Instant => Self::Instant(time(random)),
            _ if random.chance(60) => Self::int(random.between(-5, 12)),
            _ => Self::int(random.between(-40, 60)),
        }
    }

    /// A value at an end of what is possible.
    pub(crate) fn extreme(random: &mut Random, kind: KeyKind) -> Self {
        let date = |random: &mut Random| {
            let years = [
                NaiveDate::from_ymd_opt(1, 1, 1),
                NaiveDate::from_ymd_opt(9999, 12, 31),
                Some(NaiveDate::MIN),
                Some(NaiveDate::MAX),
            ];
            random.pick(&years).unwrap_or_default()
        };
        let time = |random: &mut Random| {
            let times = [NaiveDateTime::MIN, NaiveDateTime::MAX, date(random).into()];
            *random.pick(&times)
        };
        match kind {
            KeyKind::Decimal if random.chance(50) => {
                Self::Number(*random.pick(&[Number::Lowest, Number::Highest]))
            }
            KeyKind::Integer | KeyKind::Decimal => {
                let ends = [
                    i128::from(i64::MIN),
                    i128::from(i64::MAX),
                    i128::from(i64::MAX) + 1,
                    i128::from(u64::MAX),
                    i128::from(i32::MAX),
                    (1 << 53) + 1,
                    0,
                ];
                Self::int(*random.pick(&ends))
            }
            KeyKind::Text => Self::Text(
                random
                    .pick(&["", "~~~~~~~~~~~~~~~~", "\u{10ffff}"])
                    .to_string(),
            ),
            KeyKind::Bytes => Self::Bytes(vec![255; random.below(2) * 9]),
            KeyKind::Date => Self::Date(date(random)),
            KeyKind::DateTime => Self::DateTime(time(random)),
            KeyKind::Instant => Self::Instant(time(random).and_utc()),
            _ => Self::Uuid([*random.pick(&[0, 255]); 16]),
        }
    }

    /// A value that is hardly another, or the same.
    pub(crate) fn neighbour(&self, random: &mut Random) -> Self {
        let step = |random: &mut Random| {
            let steps = [
                TimeDelta::nanoseconds(1),
                TimeDelta::nanoseconds(1),
                TimeDelta::microseconds(1),
                TimeDelta::microseconds(1),
                TimeDelta::milliseconds(1),
                TimeDelta::seconds(1),
                TimeDelta::minutes(30),
                TimeDelta::hours(1),
                TimeDelta::days(1),
            ];
            let step = *random.pick(&steps);
            if random.chance(50) { step } else { -step }
        };
        match self {
            Self::Number(Number::Thousandths(n)) => {
                let step = *random.pick(&[-1_000, -500, -1, 1, 500, 1_000]);
                Self::Number(Number::Thousandths(n + step))
            }
            Self::Number(number) => Self::Number(*number),
            Self::Text(text) => {
                let mut text = text.clone();
                if random.chance(30) {
                    text.pop();
                } else {
                    text.push(*random.pick(&[' ', ' ', 'a', '\t']));
                }
                Self::Text(text)
            }
            Self::Bytes(bytes) => {
                let mut bytes = bytes.clone();
                bytes.push(*random.pick(&[0, 0, 1]));
                Self::Bytes(bytes)
            }
            Self::Uuid(bytes) => {
                let mut bytes = *bytes;
                bytes[15] ^= 1 + random.below(99) as u8;
                Self::Uuid(bytes)
            }
            Self::Date(date) => {
                let step = TimeDelta::days(random.between(-1, 1));
                Self::Date(date.checked_add_signed(step).unwrap_or(*date))
            }
            Self::DateTime(time) => {
                Self::DateTime(time.checked_add_signed(step(random)).unwrap_or(*time))
            }
            Self::Instant(time) => {
                Self::Instant(time.checked_add_signed(step(random)).unwrap_or(*time))
            }
        }
    }
}

impl Number {
    fn decimal(self) -> BigDecimal {
        match self {
            Self::Thousandths(n) => BigDecimal::new(n.into(), 3),
            Self::Lowest => BigDecimal::new((-1).into(), -40),
            Self::Highest => BigDecimal::new(1.into(), -40),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{}", number.decimal()),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::DateTime(time) => write!(f, "{time:?}"),
            Self::Instant(time) => write!(f, "{time:?}"),
            Self::Date(_) | Self::Bytes(_) | Self::Uuid(_) => self.key().fmt(f),
        }
    }
}
