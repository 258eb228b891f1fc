use std::ops::{Bound, RangeInclusive};

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, TimeDelta, Utc};

use super::{MAX_PARTITIONS, Misplaced, Partitions, Strategy, Zone};
use crate::key::{Interval, KeyKind, KeySet, KeyValue};

/// Dates and timestamps by their calendar month.
///
/// Equality, `IN` and every range reach exactly the months they touch: `<` the first instant of a
/// month does not reach it, `<=` does. `<>` reaches every month.
///
/// Partitions are named `YYYYMM`. A row before the first or after the last month is refused.
/// Months are added at the end without moving a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monthly {
    first: YearMonth,
    end: End,
    zone: Zone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Through(YearMonth),
    Ahead(u32),
}

impl Monthly {
    /// Months from this one on, through the month after the current one. Years run from 1 to
    /// 9999 and months from 1 to 12, checked when the topology is built.
    pub const fn starting(year: i32, month: u32) -> Self {
        Self {
            first: YearMonth { year, month },
            end: End::Ahead(1),
            zone: Zone::Utc,
        }
    }

    /// The last month, included.
    #[must_use]
    pub const fn through(self, year: i32, month: u32) -> Self {
        Self {
            end: End::Through(YearMonth { year, month }),
            ..self
        }
    }

    /// How many months exist after the current one: 1 by default. The current month is read when
    /// the topology is built, in the strategy's zone.
    #[must_use]
    pub const fn ahead(self, months: u32) -> Self {
        Self {
            end: End::Ahead(months),
            ..self
        }
    }

    /// The zone in which instants are read: UTC by default.
    #[must_use]
    pub fn zone(self, zone: impl Into<Zone>) -> Self {
        Self {
            zone: zone.into(),
            ..self
        }
    }

    /// The partition of a month: negative before the first.
    fn number(self, time: NaiveDateTime) -> i64 {
        YearMonth::of(time.date()).index() - self.first.index()
    }

    /// The months between two bounds, cut at the first.
    fn months(self, interval: &Interval<'_>) -> RangeInclusive<u32> {
        let low = self.number_from(&interval.low).unwrap_or(0).max(0);
        let high = self
            .number_until(&interval.high)
            .unwrap_or(i64::from(u32::MAX));
        match (u32::try_from(low), u32::try_from(high)) {
            (Ok(low), Ok(high)) => low..=high,
            (Ok(low), Err(_)) if high > 0 => low..=u32::MAX,
            #[allow(
                clippy::reversed_empty_ranges,
                reason = "an empty run is what is meant"
            )]
            _ => 1..=0,
        }
    }

    fn number_from(self, low: &Bound<KeyValue<'_>>) -> Option<i64> {
        let time = match low {
            Bound::Unbounded => return None,
            Bound::Included(KeyValue::Date(date)) => date.and_time(chrono::NaiveTime::MIN),
            // Dates are whole days, so the next one is the first that the bound lets in.
            Bound::Excluded(KeyValue::Date(date)) => {
                date.succ_opt()?.and_time(chrono::NaiveTime::MIN)
            }
            Bound::Included(KeyValue::DateTime(time)) => *time,
            Bound::Excluded(KeyValue::DateTime(time)) => time.checked_add_signed(TICK)?,
            Bound::Included(KeyValue::Instant(time)) => self.zone.earliest_from(*time)?,
            Bound::Excluded(KeyValue::Instant(time)) => {
                self.zone.earliest_from(time.checked_add_signed(TICK)?)?
            }
            _ => return None,
        };
        Some(self.number(time))
    }

    fn number_until(self, high: &Bound<KeyValue<'_>>) -> Option<i64> {
        let time = match high {
            Bound::Unbounded => return None,
            Bound::Included(KeyValue::Date(date)) => date.and_time(chrono::NaiveTime::MIN),
            Bound::Excluded(KeyValue::Date(date)) => {
                date.pred_opt()?.and_time(chrono::NaiveTime::MIN)
            }
            Bound::Included(KeyValue::DateTime(time)) => *time,
            Bound::Excluded(KeyValue::DateTime(time)) => time.checked_sub_signed(TICK)?,
            Bound::Included(KeyValue::Instant(time)) => self.zone.latest_until(*time)?,
            Bound::Excluded(KeyValue::Instant(time)) => {
                self.zone.latest_until(time.checked_sub_signed(TICK)?)?
            }
            _ => return None,
        };
        Some(self.number(time))
    }
}

/// The smallest step of a timestamp.
const TICK: TimeDelta = TimeDelta::nanoseconds(1);

impl Strategy for Monthly {
    fn describe(&self) -> String {
        let zone = if self.zone == Zone::Utc {
            String::new()
        } else {
            format!(" in {}", self.zone)
        };
        match self.end {
            End::Through(last) => format!("months {} to {}{zone}", self.first.tail(), last.tail()),
            End::Ahead(_) => format!("months from {}{zone}", self.first.tail()),
        }
    }

    fn accepts(&self, kind: KeyKind) -> bool {
        matches!(kind, KeyKind::Date | KeyKind::DateTime | KeyKind::Instant)
    }

    fn partitions(&self, now: DateTime<Utc>) -> Result<Vec<String>, String> {
        let first = self.first.checked()?.index();
        let last = match self.end {
            End::Through(last) => last.checked()?.index(),
            End::Ahead(months) => {
                let today = self.zone.wall_clock(now).unwrap_or(now.naive_utc()).date();
                YearMonth::of(today).index() + i64::from(months)
            }
        };
        if last < first {
            let (first, last) = (self.first.tail(), YearMonth::from_index(last).tail());
            return Err(format!("ends with {last}, before it starts with {first}"));
        }
        if last - first >= i64::from(MAX_PARTITIONS) || last > YearMonth::LAST.index() {
            return Err(format!(
                "has {} months; at most {MAX_PARTITIONS}, up to 999912, are possible",
                last - first + 1
            ));
        }
        Ok((first..=last)
            .map(|index| YearMonth::from_index(index).tail())
            .collect())
    }

    fn place(&self, value: &KeyValue<'_>) -> Result<u32, Misplaced> {
        let time = match value {
            KeyValue::Date(date) => date.and_time(chrono::NaiveTime::MIN),
            KeyValue::DateTime(time) => *time,
            KeyValue::Instant(time) => self.zone.wall_clock(*time).ok_or(Misplaced::Outside)?,
            _ => return Err(Misplaced::Kind),
        };
        u32::try_from(self.number(time)).map_err(|_| Misplaced::Outside)
    }

    fn route(&self, keys: &KeySet<'_>) -> Partitions {
        Partitions::from_runs(
            keys.intervals()
                .iter()
                .map(|interval| self.months(interval)),
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct YearMonth {
    year: i32,
    month: u32,
}

impl YearMonth {
    const LAST: Self = Self {
        year: 9999,
        month: 12,
    };

    fn of(date: NaiveDate) -> Self {
        Self {
            year: date.year(),
            month: date.month(),
        }
    }

    fn checked(self) -> Result<Self, String> {
        if !(1..=9999).contains(&self.year) || !(1..=12).contains(&self.month) {
            let Self { year, month } = self;
            return Err(format!(
                "names year {year}, month {month}; years run from 1 to 9999 and months from 1 to 12"
            ));
        }
        Ok(self)
    }

    /// Months since year 0.
    fn index(self) -> i64 {
        i64::from(self.year) * 12 + i64::from(self.month) - 1
    }

    fn from_index(index: i64) -> Self {
        // Both fit: the index comes from a year and a month.
        Self {
            year: index.div_euclid(12) as i32,
            month: index.rem_euclid(12) as u32 + 1,
        }
    }

    fn tail(self) -> String {
        format!("{:04}{:02}", self.year, self.month)
    }
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;
    use crate::key::{Comparison, Predicate};

    const YEAR: Monthly = Monthly::starting(2013, 1).through(2014, 1);

    fn at(text: &str) -> KeyValue<'static> {
        KeyValue::Instant(text.parse::<DateTime<Utc>>().unwrap())
    }

    fn day(text: &str) -> KeyValue<'static> {
        KeyValue::Date(text.parse().unwrap())
    }

    #[track_caller]
    fn check(strategy: Monthly, predicate: Predicate<'_>, tails: &[&str]) {
        let names = strategy.partitions(DateTime::UNIX_EPOCH).unwrap();
        let routed = strategy.route(&predicate.keys());
        let count = u32::try_from(names.len()).unwrap();
        let routed: Vec<_> = routed
            .below(count)
            .map(|n| names[n as usize].as_str())
            .collect();
        assert_eq!(routed, tails);
    }

    fn compare(comparison: Comparison, value: KeyValue<'static>) -> Predicate<'static> {
        Predicate::Compare(comparison, value)
    }

    #[test]
    fn edges_are_exact() {
        let feb = || at("2013-02-01T00:00:00Z");
        check(YEAR, compare(Comparison::Less, feb()), &["201301"]);
        check(
            YEAR,
            compare(Comparison::LessOrEqual, feb()),
            &["201301", "201302"],
        );
        check(YEAR, compare(Comparison::Equal, feb()), &["201302"]);
        let december = at("2013-12-31T23:59:59.999999999Z");
        check(
            YEAR,
            compare(Comparison::Greater, december.clone()),
            &["201401"],
        );
        check(
            YEAR,
            compare(Comparison::GreaterOrEqual, december),
            &["201312", "201401"],
        );
        check(
            YEAR,
            compare(Comparison::Less, at("2013-01-01T00:00:00Z")),
            &[],
        );
        check(
            YEAR,
            compare(Comparison::GreaterOrEqual, at("2014-02-01T00:00:00Z")),
            &[],
        );
        check(
            YEAR,
            compare(Comparison::Less, day("2013-02-01")),
            &["201301"],
        );
        check(
            YEAR,
            compare(Comparison::Greater, day("2013-12-31")),
            &["201401"],
        );
    }

    #[test]
    fn half_open_ranges_touch_their_months() {
        let spring = Predicate::And(vec![
            compare(Comparison::GreaterOrEqual, at("2013-03-01T00:00:00Z")),
            compare(Comparison::Less, at("2013-06-01T00:00:00Z")),
        ]);
        check(YEAR, spring, &["201303", "201304", "201305"]);
    }

    #[test]
    fn instants_are_read_in_the_zone() {
        let shanghai = YEAR.zone(FixedOffset::east_opt(8 * 3600).unwrap());
        let evening = at("2013-01-31T16:00:00Z");
        check(
            shanghai,
            compare(Comparison::Equal, evening.clone()),
            &["201302"],
        );
        check(shanghai, compare(Comparison::Less, evening), &["201301"]);
        let new_york = YEAR.zone(chrono_tz::America::New_York);
        check(
            new_york,
            compare(Comparison::Equal, at("2013-02-01T04:59:59Z")),
            &["201301"],
        );
        check(
            new_york,
            compare(Comparison::Equal, at("2013-07-01T04:00:00Z")),
            &["201307"],
        );
    }

    /// On 1 November 2009, at 00:01, St. John's set its clocks back to 31 October, 23:01.
    #[test]
    fn clocks_set_back_over_midnight_lose_no_month() {
        let strategy = YEAR.through(2014, 1).zone(chrono_tz::America::St_Johns);
        let strategy = Monthly {
            first: YearMonth {
                year: 2009,
                month: 1,
            },
            ..strategy
        };
        let place = |instant| strategy.place(&KeyValue::Instant(instant)).unwrap();
        let start = "2009-11-01T01:00:00Z".parse::<DateTime<Utc>>().unwrap();
        let minutes: Vec<_> = (0..240).map(|n| start + TimeDelta::minutes(n)).collect();
        let mut set_back = 0;
        for (at, earlier) in minutes.iter().enumerate() {
            let from = Predicate::Compare(Comparison::GreaterOrEqual, KeyValue::Instant(*earlier));
            let from = strategy.route(&from.keys());
            for later in &minutes[at..] {
                set_back += usize::from(place(*later) < place(*earlier));
                assert!(from.contains(place(*later)), "{earlier} <= {later}");
                let until = Predicate::Compare(Comparison::LessOrEqual, KeyValue::Instant(*later));
                let until = strategy.route(&until.keys());
                assert!(until.contains(place(*earlier)), "{earlier} <= {later}");
            }
        }
        assert!(
            set_back > 0,
            "the clocks are set back over the end of a month"
        );
    }

    #[test]
    fn wrong_parameters_are_named() {
        let partitions = |strategy: Monthly| strategy.partitions(DateTime::UNIX_EPOCH);
        assert!(
            partitions(Monthly::starting(2013, 13))
                .unwrap_err()
                .contains("month 13")
        );
        assert!(
            partitions(YEAR.through(2012, 1))
                .unwrap_err()
                .contains("before it starts")
        );
        assert!(
            partitions(Monthly::starting(1, 1).through(9999, 12))
                .unwrap_err()
                .contains("at most")
        );
        assert_eq!(
            partitions(Monthly::starting(1969, 12)).unwrap(),
            ["196912", "197001", "197002"]
        );
    }
}
