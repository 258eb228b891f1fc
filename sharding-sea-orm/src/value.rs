//! SeaORM's values as sharding keys.

use std::borrow::Cow;

use bigdecimal::{BigDecimal, FromPrimitive};
use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use sea_orm::sea_query::OptionEnum;
use sea_orm::{DbBackend, Value};
use sharding_core::key::{KeyKind, KeyValue};

/// A value as a key of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AsKey<'a> {
    /// The value, in its normal form.
    Value(KeyValue<'a>),
    /// NULL of any type.
    Null,
    /// A value that the database would have to convert, so that nothing is known.
    Foreign,
    /// A timestamp that SQLite would not compare as an instant.
    NotUtc,
}

/// Reads a value as a key of a column of this kind.
pub(crate) fn as_key(value: &Value, kind: KeyKind, backend: DbBackend) -> AsKey<'_> {
    let int = |value: i128| AsKey::Value(KeyValue::Int(value));
    let numeric = matches!(kind, KeyKind::Integer | KeyKind::Decimal);
    let key = match value {
        value if is_null(value) => AsKey::Null,
        Value::Bool(Some(v)) if kind == KeyKind::Integer => int(i128::from(*v)),
        Value::TinyInt(Some(v)) if numeric => int(i128::from(*v)),
        Value::SmallInt(Some(v)) if numeric => int(i128::from(*v)),
        Value::Int(Some(v)) if numeric => int(i128::from(*v)),
        Value::BigInt(Some(v)) if numeric => int(i128::from(*v)),
        Value::TinyUnsigned(Some(v)) if numeric => int(i128::from(*v)),
        Value::SmallUnsigned(Some(v)) if numeric => int(i128::from(*v)),
        Value::Unsigned(Some(v)) if numeric => int(i128::from(*v)),
        Value::BigUnsigned(Some(v)) if numeric => int(i128::from(*v)),
        Value::Float(Some(v)) if kind == KeyKind::Integer => whole(f64::from(*v)),
        Value::Double(Some(v)) if kind == KeyKind::Integer => whole(*v),
        Value::Decimal(Some(v)) if numeric => match v.to_string().parse::<BigDecimal>() {
            Ok(v) => AsKey::Value(KeyValue::decimal(&v)),
            Err(_) => AsKey::Foreign,
        },
        Value::BigDecimal(Some(v)) if numeric => AsKey::Value(KeyValue::decimal(v)),
        Value::String(Some(v)) if kind == KeyKind::Text => AsKey::Value(KeyValue::text(v.as_str())),
        Value::Char(Some(v)) if kind == KeyKind::Text => {
            AsKey::Value(KeyValue::text(v.to_string()))
        }
        Value::Enum(OptionEnum::Some(v)) if kind == KeyKind::Text => {
            AsKey::Value(KeyValue::text(v.value.as_ref().to_owned()))
        }
        Value::Bytes(Some(v)) if kind == KeyKind::Bytes => {
            AsKey::Value(KeyValue::bytes(Cow::Borrowed(v.as_slice())))
        }
        Value::Uuid(Some(v)) if kind == KeyKind::Uuid => {
            AsKey::Value(KeyValue::Uuid(*v.as_bytes()))
        }
        Value::ChronoDate(Some(v)) if kind == KeyKind::Date => AsKey::Value(KeyValue::Date(*v)),
        Value::TimeDate(Some(v)) if kind == KeyKind::Date => {
            or_foreign(date(*v).map(KeyValue::Date))
        }
        Value::ChronoDateTime(Some(v)) if kind == KeyKind::DateTime => {
            AsKey::Value(KeyValue::DateTime(*v))
        }
        Value::TimeDateTime(Some(v)) if kind == KeyKind::DateTime => {
            or_foreign(date_time(*v).map(KeyValue::DateTime))
        }
        Value::ChronoDateTimeUtc(Some(v)) if kind == KeyKind::Instant => {
            AsKey::Value(KeyValue::Instant(*v))
        }
        Value::ChronoDateTimeLocal(Some(v)) if kind == KeyKind::Instant => {
            instant(v.to_utc(), v.offset().local_minus_utc(), backend)
        }
        Value::ChronoDateTimeWithTimeZone(Some(v)) if kind == KeyKind::Instant => {
            instant(v.to_utc(), v.offset().local_minus_utc(), backend)
        }
        Value::TimeDateTimeWithTimeZone(Some(v)) if kind == KeyKind::Instant => {
            match DateTime::from_timestamp(v.unix_timestamp(), v.nanosecond()) {
                Some(time) => instant(time, v.offset().whole_seconds(), backend),
                None => AsKey::Foreign,
            }
        }
        _ => AsKey::Foreign,
    };
    match key {
        AsKey::Value(value) => AsKey::Value(at_driver_precision(value, backend)),
        other => other,
    }
}

/// Whether the value is NULL, whatever its type.
fn is_null(value: &Value) -> bool {
    *value == value.as_null()
}

/// Databases compare integers with floating point numbers as the latter, exactly so up to 2^53.
fn whole(value: f64) -> AsKey<'static> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match i128::from_f64(value) {
        Some(integer) if value.fract() == 0.0 && value.abs() < EXACT => {
            AsKey::Value(KeyValue::Int(integer))
        }
        _ => AsKey::Foreign,
    }
}

fn or_foreign(value: Option<KeyValue<'_>>) -> AsKey<'_> {
    value.map_or(AsKey::Foreign, AsKey::Value)
}

/// SQLite keeps timestamps as text, offset included, and compares them so.
fn instant(time: DateTime<Utc>, offset: i32, backend: DbBackend) -> AsKey<'static> {
    if backend == DbBackend::Sqlite && offset != 0 {
        return AsKey::NotUtc;
    }
    AsKey::Value(KeyValue::Instant(time))
}

fn date(date: sea_orm::prelude::TimeDate) -> Option<NaiveDate> {
    NaiveDate::from_yo_opt(date.year(), u32::from(date.ordinal()))
}

fn date_time(time: sea_orm::prelude::TimeDateTime) -> Option<NaiveDateTime> {
    let (hour, minute, second, nano) = time.as_hms_nano();
    date(time.date())?.and_hms_nano_opt(hour.into(), minute.into(), second.into(), nano)
}

/// The drivers of PostgreSQL and MySQL send whole microseconds and drop the rest.
fn at_driver_precision(value: KeyValue<'_>, backend: DbBackend) -> KeyValue<'_> {
    use chrono::SubsecRound;

    if backend == DbBackend::Sqlite {
        return value;
    }
    match value {
        KeyValue::DateTime(time) => KeyValue::DateTime(time.trunc_subsecs(6)),
        KeyValue::Instant(time) => KeyValue::Instant(time.trunc_subsecs(6)),
        other => other,
    }
}

/// The values that a column with so many digits after the point may store for this one: itself if
/// it fits, else its neighbours on both sides.
pub(crate) fn stored_as<'a>(value: &KeyValue<'a>, digits: u32) -> Vec<KeyValue<'a>> {
    let step = 10_i64.pow(9 - digits.min(9));
    let rest = |nanos: u32| i64::from(nanos) % step;
    match value {
        KeyValue::DateTime(time) => {
            let rest = rest(time.and_utc().timestamp_subsec_nanos());
            if rest == 0 {
                return vec![value.clone()];
            }
            let down = *time - TimeDelta::nanoseconds(rest);
            vec![
                KeyValue::DateTime(down),
                KeyValue::DateTime(down + TimeDelta::nanoseconds(step)),
            ]
        }
        KeyValue::Instant(time) => {
            let rest = rest(time.timestamp_subsec_nanos());
            if rest == 0 {
                return vec![value.clone()];
            }
            let down = *time - TimeDelta::nanoseconds(rest);
            vec![
                KeyValue::Instant(down),
                KeyValue::Instant(down + TimeDelta::nanoseconds(step)),
            ]
        }
        KeyValue::Decimal(number) => {
            use bigdecimal::RoundingMode::{Ceiling, Floor};

            if number.fractional_digit_count() <= i64::from(digits) {
                return vec![value.clone()];
            }
            [Floor, Ceiling]
                .map(|mode| KeyValue::decimal(&number.with_scale_round(i64::from(digits), mode)))
                .to_vec()
        }
        _ => vec![value.clone()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_has_one_key_whatever_its_type() {
        let five = [
            Value::from(5_i8),
            Value::from(5_i64),
            Value::from(5_u64),
            Value::from(5.0_f64),
            Value::from("5.00".parse::<BigDecimal>().unwrap()),
            Value::from("5.0".parse::<sea_orm::prelude::Decimal>().unwrap()),
        ];
        for value in five {
            let key = as_key(&value, KeyKind::Integer, DbBackend::Postgres);
            assert_eq!(key, AsKey::Value(KeyValue::Int(5)), "{value:?}");
        }
        for value in [Value::from(5.5_f64), Value::from(1e300), Value::from("5")] {
            let key = as_key(&value, KeyKind::Integer, DbBackend::Postgres);
            assert_eq!(key, AsKey::Foreign, "{value:?}");
        }
        assert_eq!(
            as_key(&Value::Int(None), KeyKind::Integer, DbBackend::Postgres),
            AsKey::Null
        );
    }

    #[test]
    fn sqlite_takes_instants_in_utc_only() {
        let time = "2013-02-01T02:00:00+08:00"
            .parse::<DateTime<chrono::FixedOffset>>()
            .unwrap();
        let value = Value::from(time);
        let key = |backend| as_key(&value, KeyKind::Instant, backend);
        assert_eq!(key(DbBackend::Sqlite), AsKey::NotUtc);
        assert_eq!(
            key(DbBackend::Postgres),
            AsKey::Value(KeyValue::Instant(time.to_utc()))
        );
    }

    #[test]
    fn rounding_is_seen_from_both_sides() {
        let time = |text: &str| KeyValue::DateTime(text.parse().unwrap());
        let late = time("2013-01-31T23:59:59.7");
        assert_eq!(stored_as(&late, 1), std::slice::from_ref(&late));
        let seconds = ["2013-01-31T23:59:59", "2013-02-01T00:00:00"].map(time);
        assert_eq!(stored_as(&late, 0), seconds);
        let number = KeyValue::decimal(&"1.25".parse().unwrap());
        assert_eq!(stored_as(&number, 0), [KeyValue::Int(1), KeyValue::Int(2)]);
        assert_eq!(stored_as(&number, 2), [number]);
    }
}
