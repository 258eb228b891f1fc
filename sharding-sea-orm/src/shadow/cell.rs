//! One value of an answer, to be compared and to be shown.

use std::fmt;

use bigdecimal::BigDecimal;
use chrono::{DateTime, NaiveDate, TimeDelta};
use sea_orm::{DbErr, QueryResult};
use sharding_core::merge::Datum;

use crate::dialect;
use crate::error::ShardingError;

/// A value, by the type that its column has in the driver.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Null,
    Bool(bool),
    Int(i128),
    Float {
        value: f64,
        /// How far apart, by its own size, two numbers of this type may be and count as the same.
        tolerance: f64,
    },
    /// With the digits after the point that are shown.
    Decimal(BigDecimal),
    Time(i64, TimeScale),
    Text(String),
    Bytes(Vec<u8>),
    /// Of a type that is compared by its bytes on the wire.
    Wire(Vec<u8>),
}

/// What a count of time means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeScale {
    /// Days since a date.
    Days(NaiveDate),
    /// Microseconds since the start of a date.
    Micros(NaiveDate),
    /// Microseconds since midnight.
    Clock,
}

/// Sums depend on the order of summation in their last digits.
const DOUBLE: f64 = 1e-9;
const SINGLE: f64 = 1e-6;

impl Cell {
    /// Reads a value out of a driver's row.
    pub(super) fn read(row: &QueryResult, column: usize) -> Result<Self, DbErr> {
        Ok(match dialect::read(row, column) {
            Ok(Datum::Null) => Self::Null,
            Ok(Datum::Bool(value)) => Self::Bool(value),
            Ok(Datum::Int(value)) => Self::Int(value),
            Ok(Datum::Float(value)) => Self::Float {
                value,
                tolerance: match dialect::type_name(row, column).as_str() {
                    "FLOAT" | "FLOAT4" => SINGLE,
                    _ => DOUBLE,
                },
            },
            Ok(Datum::Decimal(value)) => Self::Decimal(value),
            Ok(Datum::Time(value)) => {
                let scale = TimeScale::of(row, &dialect::type_name(row, column));
                Self::Time(value, scale)
            }
            Ok(Datum::Text(value) | Datum::Ranked { text: value, .. }) => Self::Text(value),
            Ok(Datum::Bytes(value)) => Self::Bytes(value),
            // A type that cannot be merged can still be compared.
            Ok(_) | Err(ShardingError::UnmergeableType { .. }) => Self::Wire(wire(row, column)?),
            Err(error) => return Err(error.into()),
        })
    }

    /// Whether the two count as the same value.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (
                Self::Float {
                    value: a,
                    tolerance,
                },
                Self::Float { value: b, .. },
            ) => {
                a == b
                    || (a.is_nan() && b.is_nan())
                    || (a.is_finite()
                        && b.is_finite()
                        && (a - b).abs() <= tolerance * a.abs().max(b.abs()))
            }
            (Self::Decimal(a), Self::Decimal(b)) => {
                a.as_bigint_and_exponent() == b.as_bigint_and_exponent()
            }
            (Self::Time(a, scale), Self::Time(b, other)) => a == b && scale == other,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) | (Self::Wire(a), Self::Wire(b)) => a == b,
            _ => false,
        }
    }

    /// Writes what is the same for the same values; of a floating point number nothing but that
    /// it is one, unless its bits are asked for.
    pub(super) fn write_key(&self, floats: Floats, key: &mut Vec<u8>) {
        let mut put = |tag: u8, bytes: &[u8]| {
            key.push(tag);
            key.extend_from_slice(&(bytes.len() as u64).to_ne_bytes());
            key.extend_from_slice(bytes);
        };
        match self {
            Self::Null => put(0, &[]),
            Self::Bool(value) => put(1, &[u8::from(*value)]),
            Self::Int(value) => put(2, &value.to_ne_bytes()),
            Self::Float { value, .. } => match floats {
                Floats::Bits => put(3, &value.to_bits().to_ne_bytes()),
                Floats::Any => put(3, &[]),
            },
            Self::Decimal(value) => {
                let (digits, scale) = value.as_bigint_and_exponent();
                put(4, &digits.to_signed_bytes_be());
                put(4, &scale.to_ne_bytes());
            }
            Self::Time(value, _) => put(5, &value.to_ne_bytes()),
            Self::Text(value) => put(6, value.as_bytes()),
            Self::Bytes(value) => put(7, value),
            Self::Wire(value) => put(8, value),
        }
    }
}

/// How floating point numbers go into a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Floats {
    Bits,
    Any,
}

impl TimeScale {
    fn of(row: &QueryResult, type_name: &str) -> Self {
        // PostgreSQL counts from 2000, everything else from 1970.
        let start = match postgres_year(row) {
            Some(year) => NaiveDate::from_ymd_opt(year, 1, 1).unwrap_or_default(),
            None => NaiveDate::default(),
        };
        match type_name {
            "DATE" => Self::Days(start),
            "TIME" => Self::Clock,
            _ => Self::Micros(start),
        }
    }
}

fn postgres_year(row: &QueryResult) -> Option<i32> {
    #[cfg(feature = "sqlx-postgres")]
    if row.try_as_pg_row().is_some() {
        return Some(2000);
    }
    let _ = row;
    None
}

/// The bytes of a value as the driver has them.
fn wire(row: &QueryResult, column: usize) -> Result<Vec<u8>, DbErr> {
    #[cfg(feature = "sqlx-postgres")]
    if let Some(row) = row.try_as_pg_row() {
        return postgres_wire(row, column);
    }
    #[cfg(feature = "sqlx-mysql")]
    if let Some(row) = row.try_as_mysql_row() {
        use sea_orm::sqlx::Row;
        return row.try_get_unchecked(column).map_err(undecoded);
    }
    #[cfg(feature = "sqlx-sqlite")]
    if let Some(row) = row.try_as_sqlite_row() {
        use sea_orm::sqlx::Row;
        return row.try_get_unchecked(column).map_err(undecoded);
    }
    let _ = (row, column);
    Err(DbErr::Type("a row of a driver that is not enabled".into()))
}

#[cfg(feature = "sqlx-postgres")]
fn postgres_wire(row: &sea_orm::sqlx::postgres::PgRow, column: usize) -> Result<Vec<u8>, DbErr> {
    use sea_orm::sqlx::{Row, TypeInfo, ValueRef};

    let raw = row.try_get_raw(column).map_err(undecoded)?;
    let is_array = raw.type_info().name().ends_with("[]");
    let mut bytes = raw.as_bytes().map_err(undecoded)?.to_vec();
    // An array names the type of its elements by a number of this very database: behind the
    // number of dimensions and a flag.
    if is_array && let Some(element) = bytes.get_mut(8..12) {
        element.fill(0);
    }
    Ok(bytes)
}

#[cfg(any(
    feature = "sqlx-postgres",
    feature = "sqlx-mysql",
    feature = "sqlx-sqlite"
))]
fn undecoded(error: impl fmt::Display) -> DbErr {
    DbErr::Type(format!("a value cannot be read: {error}"))
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float { value, .. } => write!(f, "{value:?}"),
            Self::Decimal(value) => f.write_str(&value.to_plain_string()),
            Self::Time(value, scale) => match scale.text(*value) {
                Some(text) => f.write_str(&text),
                None => write!(f, "the time {value}"),
            },
            Self::Text(value) => write!(f, "{value:?}"),
            Self::Bytes(value) => write_bytes(f, value),
            Self::Wire(value) => match std::str::from_utf8(value) {
                Ok(text) if !text.contains(|c: char| c.is_control()) => write!(f, "{text:?}"),
                _ => write_bytes(f, value),
            },
        }
    }
}

impl TimeScale {
    fn text(self, value: i64) -> Option<String> {
        let micros = |start: NaiveDate| {
            let start = start.and_time(chrono::NaiveTime::MIN);
            start.checked_add_signed(TimeDelta::microseconds(value))
        };
        Some(match self {
            Self::Days(start) => {
                let days = TimeDelta::try_days(value)?;
                start.checked_add_signed(days)?.to_string()
            }
            Self::Micros(start) => micros(start)?.to_string(),
            Self::Clock => DateTime::from_timestamp_micros(value)?.time().to_string(),
        })
    }
}

fn write_bytes(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("0x")?;
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> Cell {
        Cell::Float {
            value,
            tolerance: DOUBLE,
        }
    }

    #[test]
    fn last_digits_of_floats_do_not_count() {
        assert!(double(0.1 + 0.2).is_same(&double(0.3)));
        assert!(double(f64::NAN).is_same(&double(f64::NAN)));
        assert!(double(f64::INFINITY).is_same(&double(f64::INFINITY)));
        assert!(!double(f64::INFINITY).is_same(&double(1e300)));
        assert!(!double(1.0).is_same(&double(1.000_001)));
        assert!(!double(1.0).is_same(&Cell::Int(1)));
    }

    #[test]
    fn digits_of_decimals_count() {
        let decimal = |text: &str| Cell::Decimal(text.parse().unwrap_or_default());
        assert!(decimal("1.50").is_same(&decimal("1.50")));
        assert!(!decimal("1.50").is_same(&decimal("1.5")));
    }

    #[test]
    fn times_are_shown_as_such() {
        let start = NaiveDate::from_ymd_opt(2000, 1, 1).unwrap_or_default();
        let show = |value, scale| Cell::Time(value, scale).to_string();
        assert_eq!(show(31, TimeScale::Days(start)), "2000-02-01");
        assert_eq!(
            show(1_500_000, TimeScale::Micros(start)),
            "2000-01-01 00:00:01.500"
        );
        assert_eq!(show(60_000_000, TimeScale::Clock), "00:01:00");
        let infinity = format!("the time {}", i64::MAX);
        assert_eq!(show(i64::MAX, TimeScale::Micros(start)), infinity);
    }
}
