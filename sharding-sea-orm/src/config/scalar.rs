//! Scalars of the model.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Unexpected, Visitor};
use sharding_core::topology::TableName;

use super::field::RAW;
use super::number::integer;
use super::path::looks_secret;
use super::time;
use super::tree::Style;

/// A value that is read from a text.
trait Parse: Sized {
    /// What the text has to be.
    const WHAT: &'static str;

    fn parse(text: &str) -> Option<Self>;
}

struct ParseVisitor<T>(PhantomData<T>);

impl<T: Parse> Visitor<'_> for ParseVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WHAT)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        T::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Other("a text"), &self))
    }
}

macro_rules! deserialize_parsed {
    ($($scalar:ty),+ $(,)?) => {
        $(
            impl<'de> Deserialize<'de> for $scalar {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    deserializer.deserialize_str(ParseVisitor(PhantomData))
                }
            }
        )+
    };
}

deserialize_parsed!(
    Name,
    Text,
    SourceName,
    LogicalName,
    Secret,
    Switch,
    Count,
    Positive,
    Seconds,
    Timeout,
    Bound,
    Start,
    Instant,
    Epoch,
    Zone,
);

/// A name of a source, a column, a partition or a table.
#[derive(Clone)]
pub(super) struct Name(pub(super) String);

impl Parse for Name {
    const WHAT: &'static str = "a name";

    fn parse(text: &str) -> Option<Self> {
        // The core shows names in its messages.
        (!text.is_empty() && !looks_secret(text)).then(|| Self(text.to_owned()))
    }
}

/// A text, which may be empty.
#[derive(Clone)]
pub(super) struct Text(pub(super) String);

impl Parse for Text {
    const WHAT: &'static str = "a text";

    fn parse(text: &str) -> Option<Self> {
        (!looks_secret(text)).then(|| Self(text.to_owned()))
    }
}

/// The name of a source where it is declared.
#[derive(Clone)]
pub(super) struct SourceName(pub(super) String);

impl Parse for SourceName {
    const WHAT: &'static str = "a name of letters, digits, `_` and `-`";

    fn parse(text: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let is_name = !text.is_empty() && text.chars().all(is_plain);
        is_name.then(|| Self(text.to_owned()))
    }
}

/// The name of a table, with its schema or without: `sales.order`.
#[derive(Clone)]
pub(super) struct LogicalName(pub(super) TableName);

impl Parse for LogicalName {
    const WHAT: &'static str = "a table, or `schema.table`";

    fn parse(text: &str) -> Option<Self> {
        let (schema, table) = match text.split_once('.') {
            Some((schema, table)) => (Some(schema), table),
            None => (None, text),
        };
        let is_name = |name: &str| !name.is_empty() && !name.contains('.') && !looks_secret(name);
        if !is_name(table) || !schema.is_none_or(is_name) {
            return None;
        }
        Some(Self(TableName {
            schema: schema.map(|schema| schema.to_owned().into()),
            table: table.to_owned().into(),
        }))
    }
}

/// The URL of a database, which may hold a password: nothing shows it.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    /// The URL.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Parse for Secret {
    const WHAT: &'static str = "a URL that begins with `sqlite:`, `postgres:` or `mysql:`";

    fn parse(text: &str) -> Option<Self> {
        // Which drivers there are is for the connection to say.
        let text = text.trim();
        let (scheme, rest) = text.split_once(':')?;
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let is_url = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(is_scheme)
            && !rest.is_empty();
        is_url.then(|| Self(text.to_owned()))
    }
}

/// A truth value.
#[derive(Clone, Copy)]
pub(super) struct Switch(pub(super) bool);

impl Parse for Switch {
    const WHAT: &'static str = "true or false";

    fn parse(text: &str) -> Option<Self> {
        match text {
            "true" | "True" | "TRUE" => Some(Self(true)),
            "false" | "False" | "FALSE" => Some(Self(false)),
            _ => None,
        }
    }
}

/// A whole number.
#[derive(Clone, Copy)]
pub(super) struct Count(pub(super) u32);

impl Parse for Count {
    const WHAT: &'static str = "a whole number from 0 to 4294967295";

    fn parse(text: &str) -> Option<Self> {
        u32::try_from(integer(text)?).ok().map(Self)
    }
}

/// A whole number, at least 1.
#[derive(Clone, Copy)]
pub(super) struct Positive(pub(super) u32);

impl Parse for Positive {
    const WHAT: &'static str = "a whole number from 1 to 4294967295";

    fn parse(text: &str) -> Option<Self> {
        let Count(count) = Count::parse(text)?;
        (count > 0).then_some(Self(count))
    }
}

/// A time in seconds, which may have a fraction.
#[derive(Clone, Copy)]
pub(super) struct Seconds(pub(super) Duration);

impl Parse for Seconds {
    const WHAT: &'static str = "a number of seconds such as 30 or 0.5";

    fn parse(text: &str) -> Option<Self> {
        if let Some(whole) = integer(text) {
            return u64::try_from(whole).ok().map(Duration::from_secs).map(Self);
        }
        let is_decimal = text.chars().all(|c| c.is_ascii_digit() || c == '.');
        let seconds = is_decimal.then(|| text.parse().ok()).flatten()?;
        Duration::try_from_secs_f64(seconds).ok().map(Self)
    }
}

/// A time in seconds that is not zero, with which nothing could succeed.
#[derive(Clone, Copy)]
pub(super) struct Timeout(pub(super) Duration);

impl Parse for Timeout {
    const WHAT: &'static str = "a number of seconds such as 30 or 0.5, more than 0";

    fn parse(text: &str) -> Option<Self> {
        let Seconds(timeout) = Seconds::parse(text)?;
        (!timeout.is_zero()).then_some(Self(timeout))
    }
}

/// Where a range of hashes or hash buckets ends; `None` is MAXVALUE.
#[derive(Clone, Copy)]
pub(super) struct Bound(pub(super) Option<u32>);

impl Parse for Bound {
    const WHAT: &'static str = "a whole number or MAXVALUE";

    fn parse(text: &str) -> Option<Self> {
        if is_max_value(text) {
            return Some(Self(None));
        }
        Count::parse(text).map(|Count(bound)| Self(Some(bound)))
    }
}

/// Whether a bound is beyond every value.
pub(super) fn is_max_value(text: &str) -> bool {
    text.eq_ignore_ascii_case("MAXVALUE")
}

/// Where a range of hashes starts.
#[derive(Clone, Copy)]
pub(super) struct Start(pub(super) u32);

impl Parse for Start {
    const WHAT: &'static str = "where a range of hashes starts, from 0x0000 to 0xFFFF";

    fn parse(text: &str) -> Option<Self> {
        let start = u16::try_from(integer(text)?).ok()?;
        Some(Self(u32::from(start)))
    }
}

/// A point in time.
#[derive(Clone, Copy)]
pub(super) struct Instant(pub(super) DateTime<Utc>);

impl Parse for Instant {
    const WHAT: &'static str = "a time such as 2016-11-20T17:00:00+08:00";

    fn parse(text: &str) -> Option<Self> {
        time::instant(text).map(Self)
    }
}

/// A point in time, in milliseconds since 1970.
#[derive(Clone, Copy)]
pub(super) struct Epoch(pub(super) i64);

impl Parse for Epoch {
    const WHAT: &'static str =
        "milliseconds since 1970, or a time such as 2010-11-04T01:42:54.657Z";

    fn parse(text: &str) -> Option<Self> {
        let number = integer(text).and_then(|number| i64::try_from(number).ok());
        number
            .or_else(|| Some(time::instant(text)?.timestamp_millis()))
            .map(Self)
    }
}

/// A time zone.
#[derive(Clone, Copy)]
pub(super) struct Zone(pub(super) sharding_core::strategy::Zone);

impl Parse for Zone {
    const WHAT: &'static str = "UTC, an offset such as +08:00, or a zone such as Asia/Shanghai";

    fn parse(text: &str) -> Option<Self> {
        time::zone(text).map(Self)
    }
}

/// A scalar that means what something beside it says.
#[derive(Clone)]
pub(super) struct Raw {
    pub(super) text: String,
    /// How a message may show it; empty if it may not.
    shown: String,
    pub(super) style: Style,
}

impl Raw {
    /// The text of a mistake.
    pub(super) fn has_to_be(&self, what: &str) -> String {
        match self.shown.as_str() {
            "" => format!("has to be {what}"),
            shown => format!("has to be {what}, not {shown}"),
        }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawVisitor;

        impl<'de> Visitor<'de> for RawVisitor {
            type Value = Raw;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text or a date")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Raw, A::Error> {
                let missing = || A::Error::invalid_type(Unexpected::Seq, &self);
                let text = parts.next_element()?.ok_or_else(missing)?;
                let shown = parts.next_element()?.ok_or_else(missing)?;
                let style: String = parts.next_element()?.ok_or_else(missing)?;
                let style = match style.as_str() {
                    "plain" => Style::Plain,
                    "time" => Style::Time,
                    _ => Style::Quoted,
                };
                Ok(Raw { text, shown, style })
            }
        }

        deserializer.deserialize_newtype_struct(RAW, RawVisitor)
    }
}
