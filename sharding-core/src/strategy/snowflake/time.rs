use std::borrow::Cow;
use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};

use super::SnowflakeLayout;
use crate::key::{Interval, KeyKind, KeySet, KeyValue};
use crate::strategy::bounds::{NO_RUN, integers, point_run};
use crate::strategy::{Calendar, Extent, Flaw, Misplaced, Partitions, Slot, Strategy};

/// Snowflake ids by the slot of the calendar in which they were made.
///
/// Equality, `IN` and every range of ids reach exactly the slots they touch.
///
/// ```
/// use sharding_core::strategy::{Monthly, SnowflakeLayout, SnowflakeTime};
///
/// let by_id = SnowflakeTime::new(SnowflakeLayout::TWITTER, Monthly::starting(2022, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnowflakeTime<S> {
    layout: SnowflakeLayout,
    calendar: Calendar<S>,
}

impl<S: Slot> SnowflakeTime<S> {
    /// Ids of this layout by a calendar; what the calendar says about integers does not matter.
    pub const fn new(layout: SnowflakeLayout, calendar: Calendar<S>) -> Self {
        Self { layout, calendar }
    }

    fn slots(&self, interval: &Interval<'_>) -> RangeInclusive<u32> {
        if let Some(run) = point_run(self, interval) {
            return run;
        }
        let (first, last) = integers(interval);
        if first.zip(last).is_some_and(|(first, last)| first > last) {
            return NO_RUN;
        }
        let time = |id: i128| self.layout.time(i64::try_from(id).ok()?);
        self.calendar
            .instants(first.and_then(time), last.and_then(time))
    }
}

impl<S: Slot> Strategy for SnowflakeTime<S> {
    fn keeps_order(&self) -> bool {
        self.calendar.keeps_order()
    }

    fn describe(&self) -> String {
        format!("Snowflake ids by {}", self.calendar.describe())
    }

    fn accepts(&self, kind: KeyKind) -> bool {
        kind == KeyKind::Integer
    }

    fn flaws(&self) -> Vec<Flaw> {
        let calendar = self.calendar.flaws().into_iter();
        let calendar = calendar.map(|flaw| flaw.within("calendar"));
        self.layout.flaw().into_iter().chain(calendar).collect()
    }

    fn extent(&self, now: DateTime<Utc>) -> Extent {
        self.calendar.extent(now)
    }

    fn name(&self, partition: u32) -> Cow<'_, str> {
        self.calendar.name(partition)
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.calendar.number(name)
    }

    fn place(&self, key: &KeyValue<'_>) -> Result<u32, Misplaced> {
        let KeyValue::Int(id) = key else {
            return Err(Misplaced::Kind);
        };
        let time = i64::try_from(*id).ok().and_then(|id| self.layout.time(id));
        self.calendar.place_instant(time.ok_or(Misplaced::Outside)?)
    }

    fn route(&self, keys: &KeySet<'_>) -> Partitions {
        Partitions::from_runs(keys.intervals().iter().map(|interval| self.slots(interval)))
    }

    fn extends(&self, older: &dyn Strategy, now: DateTime<Utc>) -> bool {
        let older: &dyn std::any::Any = older;
        older.downcast_ref::<Self>().is_some_and(|older| {
            self.layout == older.layout && self.calendar.extends(&older.calendar, now)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Comparison, Predicate};
    use crate::strategy::Monthly;

    #[test]
    fn ids_reach_the_months_of_their_times() {
        let layout = SnowflakeLayout::TWITTER;
        let months = SnowflakeTime::new(layout, Monthly::starting(2022, 5).through(2022, 8));
        assert_eq!(months.flaws(), []);
        let tails = |predicate: Predicate<'_>| {
            let route = months.route(&predicate.keys());
            route
                .below(4)
                .map(|n| months.name(n).into_owned())
                .collect::<Vec<_>>()
        };
        let id = |n: i64| KeyValue::Int(n.into());
        let compare = |comparison, n| Predicate::Compare(comparison, id(n));
        let made = 1_541_815_603_606_036_480; // on 2022-06-28
        assert_eq!(tails(compare(Comparison::Equal, made)), ["202206"]);
        let july = layout.first_id("2022-07-01T00:00:00Z".parse().unwrap());
        assert_eq!(tails(compare(Comparison::Less, july)), ["202205", "202206"]);
        assert_eq!(
            tails(compare(Comparison::LessOrEqual, july)),
            ["202205", "202206", "202207"]
        );
        assert_eq!(
            tails(Predicate::between(id(made), id(july))),
            ["202206", "202207"]
        );
        assert_eq!(
            tails(compare(Comparison::Greater, july - 1)),
            ["202207", "202208"]
        );
        assert_eq!(months.place(&id(0)), Err(Misplaced::Outside));
    }
}
