//! Strategies of the model.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use sharding_core::strategy::{
    Day, Embedded, HashBuckets, HashModulo, Hour, MAX_SHARDS, Modulo, Month, Quarter,
    SnowflakeLayout, SnowflakeTime, Strategy, Week, Year,
};

use super::calendar::{CalendarSection, EveryDaysSection};
use super::context::Context;
use super::field::{Field, List};
use super::scalar::{Bound, Count, Name, Positive};
use super::snowflake::{LayoutSection, SnowflakeHashSection, layout};
use super::values::{ListsSection, RangesSection};

/// The rule from key values to partitions.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Strategy", tag = "strategy"))]
#[serde(
    rename = "strategy",
    rename_all = "snake_case",
    expecting = "a mapping with `strategy`"
)]
pub(super) enum StrategySection {
    /// Integers by their remainder.
    Modulo(ShardsSection),
    /// Any key by the remainder of its hash.
    HashModulo(ShardsSection),
    /// Any key by ranges of hash buckets.
    HashBuckets(HashBucketsSection),
    /// Values by explicit ranges.
    Ranges(RangesSection),
    /// Listed values.
    Lists(ListsSection),
    /// Hours, written as 2013-01-31T05.
    Hourly(CalendarSection),
    /// Days, written as 2013-01-31.
    Daily(CalendarSection),
    /// ISO weeks, each written as one of its days: 2013-01-31.
    Weekly(CalendarSection),
    /// Months, written as 2013-01.
    Monthly(CalendarSection),
    /// Quarters, written as 2013-q1.
    Quarterly(CalendarSection),
    /// Years, written as 2013.
    Yearly(CalendarSection),
    /// Runs of so many days, each written as one of its days: 2013-01-31.
    EveryDays(EveryDaysSection),
    /// Snowflake ids by the slot of the calendar in which they were made.
    SnowflakeTime(SnowflakeTimeSection),
    /// Snowflake ids by the hash of the id, with a map for each epoch: the rule of a node.
    SnowflakeHash(SnowflakeHashSection),
    /// Text that holds the name of its partition at a fixed place.
    Embedded(EmbeddedSection),
}

/// A calendar.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename = "CalendarStrategy", tag = "strategy")
)]
#[serde(
    rename = "strategy",
    rename_all = "snake_case",
    expecting = "a mapping with `strategy`, which is a calendar"
)]
pub(super) enum CalendarStrategy {
    /// Hours, written as 2013-01-31T05.
    Hourly(CalendarSection),
    /// Days, written as 2013-01-31.
    Daily(CalendarSection),
    /// ISO weeks, each written as one of its days: 2013-01-31.
    Weekly(CalendarSection),
    /// Months, written as 2013-01.
    Monthly(CalendarSection),
    /// Quarters, written as 2013-q1.
    Quarterly(CalendarSection),
    /// Years, written as 2013.
    Yearly(CalendarSection),
    /// Runs of so many days, each written as one of its days: 2013-01-31.
    EveryDays(EveryDaysSection),
}

/// A count of partitions, named `0`, `1`, ….
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Shards"))]
#[serde(deny_unknown_fields, expecting = "a mapping with `shards`")]
pub(super) struct ShardsSection {
    /// How many partitions there are: 1 to 65,536.
    shards: Field<Count>,
}

/// Hash buckets, in equal ranges or explicit ones: one of the two.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "HashBuckets"))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("oneOf" = serde_json::json!([
        { "required": ["even"] },
        { "required": ["ranges"] },
    ])))
)]
#[serde(deny_unknown_fields, expecting = "a mapping with `even` or `ranges`")]
pub(super) struct HashBucketsSection {
    /// How many buckets there are, which is fixed for ever: 1,024 unless given, up to 65,536.
    #[serde(default)]
    buckets: Field<Option<Count>>,
    /// All buckets in equal ranges over so many partitions, named `0`, `1`, ….
    #[serde(default)]
    even: Field<Option<Positive>>,
    /// The ranges in ascending order, each from where the one before it ends.
    #[serde(default)]
    ranges: Field<Option<List<BucketRange>>>,
}

/// A range of hash buckets.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `less_than` and `partition`"
)]
struct BucketRange {
    /// Where the range ends, excluded: the last one with the count of buckets, or MAXVALUE.
    less_than: Field<Bound>,
    /// The name of the partition, which may own several ranges.
    partition: Field<Name>,
}

/// Snowflake ids by a calendar.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SnowflakeTime"))]
#[serde(deny_unknown_fields, expecting = "a mapping with `calendar`")]
pub(super) struct SnowflakeTimeSection {
    /// How ids are made up: Twitter's layout unless given.
    #[serde(default)]
    layout: Field<Option<LayoutSection>>,
    /// The calendar.
    calendar: Field<CalendarStrategy>,
}

/// Text that holds the name of its partition.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Embedded"))]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `from`, `length` and `names`"
)]
pub(super) struct EmbeddedSection {
    /// The position of the name's first character, counted from 0.
    from: Field<Count>,
    /// How many characters the name has.
    length: Field<Positive>,
    /// The strategy whose names they are.
    names: Field<Box<StrategySection>>,
}

/// What becomes of a strategy once its type is known. Types are kept, since strategies of
/// different types never place alike.
trait Wrap: Sized {
    fn wrap<S: Strategy>(self, strategy: S) -> Arc<dyn Strategy>;
}

/// The strategy as it is.
struct Bare;

impl Wrap for Bare {
    fn wrap<S: Strategy>(self, strategy: S) -> Arc<dyn Strategy> {
        Arc::new(strategy)
    }
}

/// The strategy whose names are at a place in a text.
struct Within(Range<usize>);

impl Wrap for Within {
    fn wrap<S: Strategy>(self, strategy: S) -> Arc<dyn Strategy> {
        Arc::new(Embedded::new(self.0, strategy))
    }
}

impl StrategySection {
    /// `None` if something is wrong, which is reported then.
    pub(super) fn build(&self, context: &Context<'_>) -> Option<Arc<dyn Strategy>> {
        match self {
            Self::Embedded(section) => section.build(context),
            other => other.build_wrapped(context, Bare),
        }
    }

    fn build_wrapped<W: Wrap>(&self, context: &Context<'_>, wrap: W) -> Option<Arc<dyn Strategy>> {
        Some(match self {
            Self::Modulo(section) => wrap.wrap(Modulo::new(section.shards.get()?.0)),
            Self::HashModulo(section) => wrap.wrap(HashModulo::new(section.shards.get()?.0)),
            Self::HashBuckets(section) => wrap.wrap(section.build(context)?),
            Self::Ranges(section) => wrap.wrap(section.build(context)?),
            Self::Lists(section) => wrap.wrap(section.build(context)?),
            Self::Hourly(calendar) => wrap.wrap(calendar.build::<Hour>(context)?),
            Self::Daily(calendar) => wrap.wrap(calendar.build::<Day>(context)?),
            Self::Weekly(calendar) => wrap.wrap(calendar.build::<Week>(context)?),
            Self::Monthly(calendar) => wrap.wrap(calendar.build::<Month>(context)?),
            Self::Quarterly(calendar) => wrap.wrap(calendar.build::<Quarter>(context)?),
            Self::Yearly(calendar) => wrap.wrap(calendar.build::<Year>(context)?),
            Self::EveryDays(calendar) => wrap.wrap(calendar.build(context)?),
            Self::SnowflakeTime(section) => return section.build(context, wrap),
            Self::SnowflakeHash(section) => wrap.wrap(section.build(context)?),
            Self::Embedded(_) => return None,
        })
    }
}

impl HashBucketsSection {
    fn build(&self, context: &Context<'_>) -> Option<HashBuckets> {
        match (self.even.is_given(), self.ranges.is_given()) {
            (true, true) => {
                let why = "is given beside `even`; they exclude each other, so remove one";
                context.wrong(&self.ranges, why);
                return None;
            }
            (false, false) => {
                let why = "is missing; give it, or `ranges`";
                context.wrong(&self.even, why);
                return None;
            }
            _ => {}
        }
        let buckets = self.buckets.value?;
        let buckets = buckets.map_or(HashBuckets::BUCKETS, |buckets| buckets.0);
        let empty = HashBuckets::new(buckets);
        if let Some(Positive(even)) = self.even.given() {
            // A wrong count of buckets is for the core to say.
            if *even > MAX_SHARDS || (1..*even).contains(&buckets) {
                context.wrong(&self.even, "is more than there are buckets");
                return None;
            }
            return Some(empty.evenly(*even));
        }
        let mut all = Some(empty);
        for range in &self.ranges.given()?.0 {
            let range = range.get().and_then(|range| {
                let bound = range.less_than.get()?.0.unwrap_or(buckets);
                Some((bound, range.partition.get()?.0.as_str()))
            });
            all = all
                .zip(range)
                .map(|(all, (bound, partition))| all.less_than(bound, partition));
        }
        all
    }
}

impl SnowflakeTimeSection {
    fn build<W: Wrap>(&self, context: &Context<'_>, wrap: W) -> Option<Arc<dyn Strategy>> {
        let layout = layout(&self.layout);
        self.calendar.get()?.build(layout, context, wrap)
    }
}

impl CalendarStrategy {
    fn build<W: Wrap>(
        &self,
        layout: Option<SnowflakeLayout>,
        context: &Context<'_>,
        wrap: W,
    ) -> Option<Arc<dyn Strategy>> {
        macro_rules! by {
            ($calendar:expr) => {{
                let calendar = $calendar?;
                wrap.wrap(SnowflakeTime::new(layout?, calendar))
            }};
        }
        Some(match self {
            Self::Hourly(calendar) => by!(calendar.build::<Hour>(context)),
            Self::Daily(calendar) => by!(calendar.build::<Day>(context)),
            Self::Weekly(calendar) => by!(calendar.build::<Week>(context)),
            Self::Monthly(calendar) => by!(calendar.build::<Month>(context)),
            Self::Quarterly(calendar) => by!(calendar.build::<Quarter>(context)),
            Self::Yearly(calendar) => by!(calendar.build::<Year>(context)),
            Self::EveryDays(calendar) => by!(calendar.build(context)),
        })
    }
}

impl EmbeddedSection {
    fn build(&self, context: &Context<'_>) -> Option<Arc<dyn Strategy>> {
        let place = self.from.get().zip(self.length.get());
        let place = place.map(|(from, length)| {
            let from = from.0 as usize;
            from..from.saturating_add(length.0 as usize)
        });
        let names = self.names.get()?;
        if matches!(**names, StrategySection::Embedded(_)) {
            let why = "is embedded itself; give the strategy of its `names`";
            context.wrong(&self.names, why);
            return None;
        }
        // Mistakes in the strategy are reported even if the place is wrong.
        let strategy = names.build_wrapped(context, Within(place.clone().unwrap_or(0..1)));
        place.and(strategy)
    }
}
