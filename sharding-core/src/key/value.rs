use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use bigdecimal::{BigDecimal, ToPrimitive};
use chrono::{DateTime, NaiveDate, NaiveDateTime, SecondsFormat, Utc};

/// The family of values that a sharding key column holds.
///
/// Values of another family are never compared with the key: a predicate that does so widens to
/// "any value", and a row that does so cannot be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyKind {
    /// Signed and unsigned integers of any width, and booleans (as 0 and 1).
    Integer,
    /// Exact decimal numbers.
    Decimal,
    /// Character strings, also the names of an enum's variants.
    Text,
    /// Byte strings.
    Bytes,
    /// UUIDs.
    Uuid,
    /// Calendar dates without a time.
    Date,
    /// Timestamps without a time zone: what a clock on the wall shows.
    DateTime,
    /// Timestamps with a time zone: instants.
    Instant,
}

impl KeyKind {
    /// Whether `<` in every supported database agrees with the order of [`KeyValue`].
    ///
    /// Text is compared by collations (see [`compare_text`](super::compare_text) for the order of
    /// bytes), and the comparison of bytes and UUIDs depends on how the column stores them, so for
    /// those only equality narrows a route.
    pub fn is_ordered(self) -> bool {
        match self {
            Self::Integer | Self::Decimal | Self::Date | Self::DateTime | Self::Instant => true,
            Self::Text | Self::Bytes | Self::Uuid => false,
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Integer => "integer",
            Self::Decimal => "decimal",
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::Uuid => "UUID",
            Self::Date => "date",
            Self::DateTime => "timestamp without time zone",
            Self::Instant => "timestamp with time zone",
        })
    }
}

/// One value of a sharding key, in a normal form: values that a database calls equal are equal
/// here, whatever width or spelling they came in.
///
/// - Numbers without a fraction are [`KeyValue::Int`], whatever type they had.
/// - Text has no trailing spaces, because `CHAR` columns and padding collations ignore them.
/// - Bytes have no trailing zeros, because fixed-length binary columns add them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyValue<'a> {
    /// An integer.
    Int(i128),
    /// A number with a fraction (or beyond 38 digits), without trailing zeros.
    Decimal(BigDecimal),
    /// A string without trailing spaces.
    Text(Cow<'a, str>),
    /// Bytes without trailing zeros.
    Bytes(Cow<'a, [u8]>),
    /// A UUID, most significant byte first.
    Uuid([u8; 16]),
    /// A date.
    Date(NaiveDate),
    /// A timestamp without time zone.
    DateTime(NaiveDateTime),
    /// An instant.
    Instant(DateTime<Utc>),
    /// The values of a composite key's columns, in the order in which the rule names them.
    Tuple(Vec<KeyValue<'a>>),
}

impl<'a> KeyValue<'a> {
    /// The normal form of a decimal number.
    pub fn decimal(number: &BigDecimal) -> Self {
        if number.is_integer()
            && let Some(integer) = number.to_i128()
        {
            return Self::Int(integer);
        }
        Self::Decimal(number.normalized())
    }

    /// The normal form of a string.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(match text.into() {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_end_matches(' ')),
            Cow::Owned(mut text) => {
                text.truncate(text.trim_end_matches(' ').len());
                Cow::Owned(text)
            }
        })
    }

    /// The normal form of a byte string.
    pub fn bytes(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        let kept = |bytes: &[u8]| {
            bytes
                .iter()
                .rposition(|&byte| byte != 0)
                .map_or(0, |at| at + 1)
        };
        Self::Bytes(match bytes.into() {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..kept(bytes)]),
            Cow::Owned(mut bytes) => {
                bytes.truncate(kept(&bytes));
                Cow::Owned(bytes)
            }
        })
    }

    /// Whether a column of this kind can hold the value.
    pub fn is_of(&self, kind: KeyKind) -> bool {
        matches!(
            (self, kind),
            (Self::Int(_), KeyKind::Integer | KeyKind::Decimal)
                | (Self::Decimal(_), KeyKind::Decimal)
                | (Self::Text(_), KeyKind::Text)
                | (Self::Bytes(_), KeyKind::Bytes)
                | (Self::Uuid(_), KeyKind::Uuid)
                | (Self::Date(_), KeyKind::Date)
                | (Self::DateTime(_), KeyKind::DateTime)
                | (Self::Instant(_), KeyKind::Instant)
        )
    }

    /// Whether the values are of one family, so that their order means something.
    pub fn is_alike(&self, other: &KeyValue<'_>) -> bool {
        self.rank() == other.rank()
    }

    /// Whether no two values that a database may tell apart have this normal form.
    pub(super) fn is_exact(&self) -> bool {
        match self {
            Self::Text(_) | Self::Bytes(_) => false,
            Self::Tuple(parts) => parts.iter().all(Self::is_exact),
            Self::Int(_)
            | Self::Decimal(_)
            | Self::Uuid(_)
            | Self::Date(_)
            | Self::DateTime(_)
            | Self::Instant(_) => true,
        }
    }

    /// A copy that borrows nothing.
    pub fn into_owned(self) -> KeyValue<'static> {
        match self {
            Self::Int(v) => KeyValue::Int(v),
            Self::Decimal(v) => KeyValue::Decimal(v),
            Self::Text(v) => KeyValue::Text(Cow::Owned(v.into_owned())),
            Self::Bytes(v) => KeyValue::Bytes(Cow::Owned(v.into_owned())),
            Self::Uuid(v) => KeyValue::Uuid(v),
            Self::Date(v) => KeyValue::Date(v),
            Self::DateTime(v) => KeyValue::DateTime(v),
            Self::Instant(v) => KeyValue::Instant(v),
            Self::Tuple(parts) => {
                KeyValue::Tuple(parts.into_iter().map(KeyValue::into_owned).collect())
            }
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Int(_) | Self::Decimal(_) => 0,
            Self::Text(_) => 1,
            Self::Bytes(_) => 2,
            Self::Uuid(_) => 3,
            Self::Date(_) => 4,
            Self::DateTime(_) => 5,
            Self::Instant(_) => 6,
            Self::Tuple(_) => 7,
        }
    }
}

/// Numbers by value, dates and times by time, everything else by its bytes. Values of different
/// kinds have an order too, but it means nothing.
impl Ord for KeyValue<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Decimal(a), Self::Decimal(b)) => a.cmp(b),
            (Self::Int(a), Self::Decimal(b)) => BigDecimal::from(*a).cmp(b),
            (Self::Decimal(a), Self::Int(b)) => a.cmp(&BigDecimal::from(*b)),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Uuid(a), Self::Uuid(b)) => a.cmp(b),
            (Self::Date(a), Self::Date(b)) => a.cmp(b),
            (Self::DateTime(a), Self::DateTime(b)) => a.cmp(b),
            (Self::Instant(a), Self::Instant(b)) => a.cmp(b),
            (Self::Tuple(a), Self::Tuple(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for KeyValue<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for KeyValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(v) => v.fmt(f),
            Self::Decimal(v) => v.fmt(f),
            Self::Text(v) => write!(f, "'{v}'"),
            Self::Bytes(v) => {
                f.write_str("x'")?;
                v.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str("'")
            }
            Self::Uuid(v) => {
                for (at, byte) in v.iter().enumerate() {
                    let dash = if matches!(at, 4 | 6 | 8 | 10) {
                        "-"
                    } else {
                        ""
                    };
                    write!(f, "{dash}{byte:02x}")?;
                }
                Ok(())
            }
            Self::Date(v) => v.fmt(f),
            Self::DateTime(v) => v.fmt(f),
            Self::Instant(v) => f.write_str(&v.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
            Self::Tuple(parts) => {
                f.write_str("(")?;
                for (at, part) in parts.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{part}")?;
                }
                f.write_str(")")
            }
        }
    }
}

macro_rules! from_integers {
    ($($integer:ty)+) => {
        $(
            impl From<$integer> for KeyValue<'_> {
                fn from(value: $integer) -> Self {
                    Self::Int(i128::from(value))
                }
            }
        )+
    };
}

from_integers!(bool i8 i16 i32 i64 i128 u8 u16 u32 u64);

impl<'a> From<&'a str> for KeyValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::text(text)
    }
}

impl From<String> for KeyValue<'_> {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&BigDecimal> for KeyValue<'_> {
    fn from(number: &BigDecimal) -> Self {
        Self::decimal(number)
    }
}

impl From<NaiveDate> for KeyValue<'_> {
    fn from(date: NaiveDate) -> Self {
        Self::Date(date)
    }
}

impl From<NaiveDateTime> for KeyValue<'_> {
    fn from(time: NaiveDateTime) -> Self {
        Self::DateTime(time)
    }
}

impl From<DateTime<Utc>> for KeyValue<'_> {
    fn from(time: DateTime<Utc>) -> Self {
        Self::Instant(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form() {
        let parse = |s: &str| KeyValue::decimal(&s.parse().unwrap());
        assert_eq!(parse("5.00"), KeyValue::Int(5));
        assert_eq!(parse("5e0"), parse("5"));
        assert_eq!(parse("1.50"), parse("1.5"));
        assert!(parse("1.5") > KeyValue::Int(1));
        assert!(parse("1.5") < KeyValue::Int(2));
    }

    #[test]
    fn padding_is_not_part_of_a_value() {
        assert_eq!(KeyValue::text("ab  "), KeyValue::text(String::from("ab")));
        assert_ne!(KeyValue::text(" ab"), KeyValue::text("ab"));
        assert_eq!(KeyValue::bytes(&[1, 0, 0][..]), KeyValue::bytes(vec![1]));
        assert_ne!(KeyValue::bytes(&[0, 1][..]), KeyValue::bytes(vec![1]));
    }

    #[test]
    fn values_print_as_a_reader_writes_them() {
        let mut uuid = [0; 16];
        uuid[0] = 0xab;
        assert_eq!(
            KeyValue::Uuid(uuid).to_string(),
            "ab000000-0000-0000-0000-000000000000"
        );
        assert_eq!(KeyValue::bytes(vec![0xca, 0xfe]).to_string(), "x'cafe'");
    }
}
