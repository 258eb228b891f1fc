//! Ranges and lists of values in the model.

use serde::Deserialize;
use sharding_core::key::KeyValue;
use sharding_core::strategy::{Lists, Ranges};

use super::context::Context;
use super::field::{Field, List};
use super::number::{decimal, integer};
use super::scalar::{Name, Raw, is_max_value};
use super::time;
use super::tree::Style;

/// Values by explicit ranges.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Ranges"))]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct RangesSection {
    /// The ranges in ascending order, each from where the one before it ends. Without one that is
    /// less than MAXVALUE, values from the last bound on are refused.
    ranges: Field<List<RangeSection>>,
    /// How the bounds are read: integers and decimals as numbers, everything else as text unless
    /// given.
    #[serde(default)]
    kind: Field<Option<Kind>>,
}

/// One range of values.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Range"))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `less_than` and `partition`"
)]
pub(super) struct RangeSection {
    /// Where the range ends, excluded, or MAXVALUE.
    less_than: Field<Raw>,
    /// The name of the partition, which may own several ranges.
    partition: Field<Name>,
}

/// Listed values.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Lists"))]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct ListsSection {
    /// The lists.
    lists: Field<List<ListSection>>,
    /// The partition of all other values, which are refused unless it is given.
    #[serde(default)]
    otherwise: Field<Option<Name>>,
    /// How the values are read: integers and decimals as numbers, everything else as text unless
    /// given.
    #[serde(default)]
    kind: Field<Option<Kind>>,
}

/// One list of values.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "List"))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `values` and `partition`"
)]
pub(super) struct ListSection {
    /// The values.
    values: Field<List<Raw>>,
    /// The name of the partition.
    partition: Field<Name>,
}

/// What values are.
#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    rename_all = "snake_case",
    expecting = "`integer`, `decimal`, `text`, `date`, `timestamp` or `instant`"
)]
pub(super) enum Kind {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Decimal,
    /// Texts.
    Text,
    /// Dates: 2013-01-31.
    Date,
    /// Timestamps without a time zone: 2013-01-31T05:00:00.
    Timestamp,
    /// Timestamps with a time zone: 2013-01-31T05:00:00+08:00.
    Instant,
}

impl RangesSection {
    /// `None` if something is wrong, which is reported then.
    pub(super) fn build(&self, context: &Context<'_>) -> Option<Ranges> {
        let kind = self.kind.value?;
        let mut all = Some(Ranges::new());
        for range in &self.ranges.get()?.0 {
            let bound = range.value.as_ref().and_then(|range| {
                let bound = range.bound(kind, context);
                bound.zip(range.partition.get())
            });
            all = all
                .zip(bound)
                .map(|(ranges, (bound, Name(partition)))| match bound {
                    Some(bound) => ranges.less_than(bound, partition),
                    None => ranges.max_value(partition),
                });
        }
        all
    }
}

impl RangeSection {
    /// The bound; `Some(None)` for MAXVALUE.
    fn bound(
        &self,
        kind: Option<Kind>,
        context: &Context<'_>,
    ) -> Option<Option<KeyValue<'static>>> {
        let raw = self.less_than.get()?;
        if is_max_value(&raw.text) {
            return Some(None);
        }
        value(raw, &self.less_than, kind, context).map(Some)
    }
}

impl ListsSection {
    /// `None` if something is wrong, which is reported then.
    pub(super) fn build(&self, context: &Context<'_>) -> Option<Lists> {
        let kind = self.kind.value?;
        let mut all = Some(Lists::new());
        for list in &self.lists.get()?.0 {
            let list = list.value.as_ref().and_then(|list| {
                let values = list.values(kind, context);
                values.zip(list.partition.get())
            });
            all = all
                .zip(list)
                .map(|(lists, (values, Name(partition)))| lists.values(partition, values));
        }
        match &self.otherwise.value {
            Some(Some(Name(rest))) => all.map(|lists| lists.otherwise(rest)),
            Some(None) => all,
            None => None,
        }
    }
}

impl ListSection {
    fn values(&self, kind: Option<Kind>, context: &Context<'_>) -> Option<Vec<KeyValue<'static>>> {
        let values = self.values.get()?.0.iter();
        let values = values.map(|field| value(field.get()?, field, kind, context));
        // Every value is looked at, also after one that is wrong.
        let values: Vec<_> = values.collect();
        values.into_iter().collect()
    }
}

fn value<T>(
    raw: &Raw,
    field: &Field<T>,
    kind: Option<Kind>,
    context: &Context<'_>,
) -> Option<KeyValue<'static>> {
    let text = raw.text.as_str();
    let number = || Some(KeyValue::decimal(&decimal(text)?));
    let (value, what) = match kind {
        None => return guess(raw, field, context),
        Some(Kind::Integer) => (integer(text).map(KeyValue::Int), "a whole number"),
        Some(Kind::Decimal) => (integer(text).map(KeyValue::Int).or_else(number), "a number"),
        Some(Kind::Text) => (Some(KeyValue::text(text.to_owned())), "a text"),
        Some(Kind::Date) => (
            time::date(text).map(KeyValue::Date),
            "a date such as 2013-01-31",
        ),
        Some(Kind::Timestamp) => (
            time::timestamp(text).map(KeyValue::DateTime),
            "a timestamp without an offset, such as 2013-01-31T05:00:00",
        ),
        Some(Kind::Instant) => (
            time::instant(text).map(KeyValue::Instant),
            "a time such as 2013-01-31T05:00:00+08:00",
        ),
    };
    if value.is_none() {
        context.wrong(field, raw.has_to_be(what));
    }
    value
}

/// The value by its spelling.
fn guess<T>(raw: &Raw, field: &Field<T>, context: &Context<'_>) -> Option<KeyValue<'static>> {
    let text = raw.text.as_str();
    match raw.style {
        Style::Quoted => Some(KeyValue::text(text.to_owned())),
        Style::Plain if matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE") => {
            let why = "is a truth value; write 1 or 0 for that, or put a text in quotes";
            context.wrong(field, why);
            None
        }
        Style::Plain => {
            let number = integer(text).map(KeyValue::Int);
            let number = number.or_else(|| Some(KeyValue::decimal(&decimal(text)?)));
            Some(number.unwrap_or_else(|| KeyValue::text(text.to_owned())))
        }
        Style::Time => {
            let date = time::date(text).map(KeyValue::Date);
            let value = date
                .or_else(|| time::timestamp(text).map(KeyValue::DateTime))
                .or_else(|| time::instant(text).map(KeyValue::Instant));
            if value.is_none() {
                context.wrong(field, raw.has_to_be("a date or a timestamp"));
            }
            value
        }
    }
}
