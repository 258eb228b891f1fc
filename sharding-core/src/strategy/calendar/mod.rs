//! Calendar strategies: one partition for each slot of time.

mod slot;
mod stamp;

use std::borrow::Cow;
use std::ops::{Bound, RangeInclusive};

use chrono::{DateTime, NaiveDateTime, NaiveTime, TimeDelta, Utc};

use self::stamp::Stamp;
use super::bounds::{NO_RUN, integers, point_run};
use super::{Extent, Flaw, MAX_PARTITIONS, Misplaced, Partitions, Strategy, Zone};
use crate::key::{Interval, KeyKind, KeySet, KeyValue};

pub use slot::{Day, Days, Hour, Month, Quarter, Slot, Week, Year};

/// Dates and timestamps by the slot of the calendar in which they lie: [`Hourly`] to [`Yearly`].
///
/// Equality, `IN` and every range reach exactly the slots they touch: `<` the first instant of a
/// slot does not reach it, `<=` does, `>` its last instant does not. `<>` reaches every slot.
///
/// Slots are counted from the first, which is fixed for ever; a row before it is refused. Slots
/// are added at the end without moving a row: as time goes by, or by a later
/// [`Calendar::through_date`].
///
/// | slot | name | of 2013-03-09 10:20 |
/// |---|---|---|
/// | [`Hour`] | `YYYYMMDDHH` | `2013030910` |
/// | [`Day`] | `YYYYMMDD` | `20130309` |
/// | [`Week`] (ISO) | `YYYYMMDD` of its Monday | `20130304` |
/// | [`Month`] | `YYYYMM` | `201303` |
/// | [`Quarter`] | `YYYYqN` | `2013q1` |
/// | [`Year`] | `YYYY` | `2013` |
/// | [`Days`] | `YYYYMMDD` of its first day | |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calendar<S> {
    slot: S,
    first: Stamp,
    end: End,
    zone: Zone,
    unix: Option<UnixTime>,
}

/// Hours: see [`Calendar`].
pub type Hourly = Calendar<Hour>;
/// Days: see [`Calendar`].
pub type Daily = Calendar<Day>;
/// ISO weeks, which begin on Monday: see [`Calendar`].
pub type Weekly = Calendar<Week>;
/// Months: see [`Calendar`].
pub type Monthly = Calendar<Month>;
/// Quarters: see [`Calendar`].
pub type Quarterly = Calendar<Quarter>;
/// Years: see [`Calendar`].
pub type Yearly = Calendar<Year>;
/// Runs of a fixed count of days: see [`Calendar`].
pub type EveryDays = Calendar<Days>;

/// What an integer counts since 1970-01-01 00:00 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnixTime {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Through(Stamp),
    Ahead(u32),
}

impl Hourly {
    /// From this hour on: 0 to 23.
    pub const fn starting(year: i32, month: u32, day: u32, hour: u32) -> Self {
        Self::from_stamp(Hour, Stamp::new(year, month, day, hour))
    }

    /// The last hour, included.
    #[must_use]
    pub const fn through(self, year: i32, month: u32, day: u32, hour: u32) -> Self {
        self.through_stamp(Stamp::new(year, month, day, hour))
    }
}

impl Daily {
    /// From this day on.
    pub const fn starting(year: i32, month: u32, day: u32) -> Self {
        Self::from_stamp(Day, Stamp::day(year, month, day))
    }

    /// The last day, included.
    #[must_use]
    pub const fn through(self, year: i32, month: u32, day: u32) -> Self {
        self.through_stamp(Stamp::day(year, month, day))
    }
}

impl Weekly {
    /// From the week of this day on.
    pub const fn starting(year: i32, month: u32, day: u32) -> Self {
        Self::from_stamp(Week, Stamp::day(year, month, day))
    }

    /// Through the week of this day.
    #[must_use]
    pub const fn through(self, year: i32, month: u32, day: u32) -> Self {
        self.through_stamp(Stamp::day(year, month, day))
    }
}

impl Monthly {
    /// From this month on.
    pub const fn starting(year: i32, month: u32) -> Self {
        Self::from_stamp(Month, Stamp::day(year, month, 1))
    }

    /// The last month, included.
    #[must_use]
    pub const fn through(self, year: i32, month: u32) -> Self {
        self.through_stamp(Stamp::day(year, month, 1))
    }
}

impl Quarterly {
    /// From this quarter on: 1 to 4.
    pub const fn starting(year: i32, quarter: u32) -> Self {
        Self::from_stamp(Quarter, Stamp::quarter(year, quarter))
    }

    /// The last quarter, included.
    #[must_use]
    pub const fn through(self, year: i32, quarter: u32) -> Self {
        self.through_stamp(Stamp::quarter(year, quarter))
    }
}

impl Yearly {
    /// From this year on.
    pub const fn starting(year: i32) -> Self {
        Self::from_stamp(Year, Stamp::day(year, 1, 1))
    }

    /// The last year, included.
    #[must_use]
    pub const fn through(self, year: i32) -> Self {
        self.through_stamp(Stamp::day(year, 1, 1))
    }
}

impl EveryDays {
    /// Slots of `days` days, 1 to 36,525, the first of which begins on this day.
    pub const fn starting(days: u32, year: i32, month: u32, day: u32) -> Self {
        let anchor = Stamp::day(year, month, day);
        Self::from_stamp(Days::anchored(days, anchor), anchor)
    }

    /// Through the slot of this day.
    #[must_use]
    pub const fn through(self, year: i32, month: u32, day: u32) -> Self {
        self.through_stamp(Stamp::day(year, month, day))
    }
}

impl<S> Calendar<S> {
    const fn from_stamp(slot: S, first: Stamp) -> Self {
        Self {
            slot,
            first,
            end: End::Ahead(1),
            zone: Zone::Utc,
            unix: None,
        }
    }

    const fn through_stamp(mut self, last: Stamp) -> Self
    where
        S: Copy,
    {
        self.end = End::Through(last);
        self
    }

    /// Through the slot in which this day begins.
    #[must_use]
    pub fn through_date(mut self, last: chrono::NaiveDate) -> Self {
        self.end = End::Through(Stamp::of(last.and_time(NaiveTime::MIN)));
        self
    }

    /// How many slots exist after the current one: 1 unless given, and as time goes by their
    /// number grows. The current slot is that of the strategy's zone.
    #[must_use]
    pub const fn ahead(mut self, slots: u32) -> Self
    where
        S: Copy,
    {
        self.end = End::Ahead(slots);
        self
    }

    /// The zone in which instants are read: UTC unless given.
    #[must_use]
    pub fn zone(mut self, zone: impl Into<Zone>) -> Self {
        self.zone = zone.into();
        self
    }

    /// Keys are integers that count time since 1970 in this unit.
    #[must_use]
    pub const fn unix(mut self, unit: UnixTime) -> Self
    where
        S: Copy,
    {
        self.unix = Some(unit);
        self
    }
}

impl<S: Slot> Calendar<S> {
    fn first_index(&self) -> i64 {
        self.first.time().map_or(0, |time| self.slot.index(time))
    }

    /// The partition of a wall-clock time: negative before the first.
    fn number_of(&self, time: NaiveDateTime) -> i64 {
        self.slot.index(time) - self.first_index()
    }

    /// The partition of an instant.
    pub(super) fn place_instant(&self, instant: DateTime<Utc>) -> Result<u32, Misplaced> {
        let time = self.zone.wall_clock(instant).ok_or(Misplaced::Outside)?;
        u32::try_from(self.number_of(time)).map_err(|_| Misplaced::Outside)
    }

    /// The partitions of the instants from the first to the last; `None` for an open end.
    pub(super) fn instants(
        &self,
        first: Option<DateTime<Utc>>,
        last: Option<DateTime<Utc>>,
    ) -> RangeInclusive<u32> {
        let first = first.and_then(|first| self.zone.earliest_from(first));
        let last = last.and_then(|last| self.zone.latest_until(last));
        self.run(first, last)
    }

    /// The partitions of the wall-clock times from the first to the last.
    fn run(
        &self,
        first: Option<NaiveDateTime>,
        last: Option<NaiveDateTime>,
    ) -> RangeInclusive<u32> {
        let first = first.map_or(0, |time| self.number_of(time).max(0));
        let last = last.map_or(i64::from(u32::MAX), |time| self.number_of(time));
        if last < first {
            return NO_RUN;
        }
        // Both are not negative here, and what does not fit is beyond all partitions.
        let fit = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        fit(first)..=fit(last)
    }

    fn slots(&self, interval: &Interval<'_>) -> RangeInclusive<u32> {
        if let Some(run) = point_run(self, interval) {
            return run;
        }
        if let Some(unit) = self.unix {
            let (first, last) = integers(interval);
            if first.zip(last).is_some_and(|(first, last)| first > last) {
                return NO_RUN;
            }
            let instant = |number: Option<i128>| number.and_then(|number| unit.instant(number));
            return self.instants(instant(first), instant(last));
        }
        let (first, last) = (self.first_of(&interval.low), self.last_of(&interval.high));
        self.run(first, last)
    }

    fn first_of(&self, low: &Bound<KeyValue<'_>>) -> Option<NaiveDateTime> {
        match low {
            Bound::Unbounded => None,
            Bound::Included(KeyValue::Date(date)) => Some(date.and_time(NaiveTime::MIN)),
            // Dates are whole days, so the next one is the first that the bound lets in.
            Bound::Excluded(KeyValue::Date(date)) => {
                Some(date.succ_opt()?.and_time(NaiveTime::MIN))
            }
            Bound::Included(KeyValue::DateTime(time)) => Some(*time),
            Bound::Excluded(KeyValue::DateTime(time)) => time.checked_add_signed(TICK),
            Bound::Included(KeyValue::Instant(time)) => self.zone.earliest_from(*time),
            Bound::Excluded(KeyValue::Instant(time)) => {
                self.zone.earliest_from(time.checked_add_signed(TICK)?)
            }
            _ => None,
        }
    }

    fn last_of(&self, high: &Bound<KeyValue<'_>>) -> Option<NaiveDateTime> {
        match high {
            Bound::Unbounded => None,
            Bound::Included(KeyValue::Date(date)) => Some(date.and_time(NaiveTime::MIN)),
            Bound::Excluded(KeyValue::Date(date)) => {
                Some(date.pred_opt()?.and_time(NaiveTime::MIN))
            }
            Bound::Included(KeyValue::DateTime(time)) => Some(*time),
            Bound::Excluded(KeyValue::DateTime(time)) => time.checked_sub_signed(TICK),
            Bound::Included(KeyValue::Instant(time)) => self.zone.latest_until(*time),
            Bound::Excluded(KeyValue::Instant(time)) => {
                self.zone.latest_until(time.checked_sub_signed(TICK)?)
            }
            _ => None,
        }
    }

    fn name_of(&self, index: i64) -> String {
        self.slot
            .start(index)
            .map_or_else(|| index.to_string(), |start| self.slot.name(start))
    }

    /// The index of the last slot that exists at `now`, and when there will be another.
    fn last_index(&self, now: DateTime<Utc>) -> (i64, Option<DateTime<Utc>>) {
        match self.end {
            End::Through(last) => (last.time().map_or(0, |time| self.slot.index(time)), None),
            End::Ahead(slots) => {
                // The latest time that the clock has shown, so that setting it back takes no
                // slot away.
                let today = self.zone.latest_until(now).unwrap_or(now.naive_utc());
                let current = self.slot.index(today);
                let next = self.slot.start(current + 1);
                let until = next.and_then(|start| self.zone.first_shown(start));
                (current + i64::from(slots), until)
            }
        }
    }
}

impl UnixTime {
    /// The instant; `None` if it is further away than a timestamp reaches.
    pub fn instant(self, count: i128) -> Option<DateTime<Utc>> {
        let count = i64::try_from(count).ok()?;
        match self {
            Self::Seconds => DateTime::from_timestamp(count, 0),
            Self::Milliseconds => DateTime::from_timestamp_millis(count),
            Self::Microseconds => DateTime::from_timestamp_micros(count),
        }
    }
}

/// The smallest step of a timestamp.
const TICK: TimeDelta = TimeDelta::nanoseconds(1);

impl<S: Slot> Strategy for Calendar<S> {
    /// A clock that is set back across midnight shows an earlier day at a later time, so the zones
    /// that do that with their clocks are not relied on.
    fn keeps_order(&self) -> bool {
        !matches!(self.zone, Zone::Named(_))
    }

    fn describe(&self) -> String {
        let first = self.name_of(self.first_index());
        let span = match self.end {
            End::Through(last) => {
                let last = last.time().map_or(0, |time| self.slot.index(time));
                format!("{first} to {}", self.name_of(last))
            }
            End::Ahead(_) => format!("from {first}"),
        };
        let zone = match self.zone {
            Zone::Utc => String::new(),
            zone => format!(" in {zone}"),
        };
        format!("{} {span}{zone}", self.slot.plural())
    }

    fn accepts(&self, kind: KeyKind) -> bool {
        match self.unix {
            Some(_) => kind == KeyKind::Integer,
            None => matches!(kind, KeyKind::Date | KeyKind::DateTime | KeyKind::Instant),
        }
    }

    fn flaws(&self) -> Vec<Flaw> {
        let mut flaws = self.slot.flaws();
        flaws.extend(self.first.flaw("starting"));
        if let End::Through(last) = self.end {
            flaws.extend(last.flaw("through"));
            let (Some(first), Some(last)) = (self.first.time(), last.time()) else {
                return flaws;
            };
            let count = self.slot.index(last) - self.slot.index(first) + 1;
            let name = |time| self.name_of(self.slot.index(time));
            if count < 1 {
                let (first, last) = (name(first), name(last));
                let why = format!("ends with {last}, before it starts with {first}");
                flaws.push(Flaw::new("through", why));
            } else if count > i64::from(MAX_PARTITIONS) {
                let unit = self.slot.plural();
                let why = format!("makes {count} {unit}; at most {MAX_PARTITIONS} are possible");
                flaws.push(Flaw::new("through", why));
            }
        }
        flaws
    }

    fn extent(&self, now: DateTime<Utc>) -> Extent {
        let (last, until) = self.last_index(now);
        // A name has four digits for its year.
        let end = self.slot.index(Stamp::LAST.time().unwrap_or_default());
        let count = last.min(end) - self.first_index() + 1;
        let count = count.clamp(1, i64::from(MAX_PARTITIONS)) as u32;
        Extent { count, until }
    }

    fn name(&self, partition: u32) -> Cow<'_, str> {
        Cow::Owned(self.name_of(self.first_index() + i64::from(partition)))
    }

    fn number(&self, name: &str) -> Option<u32> {
        let number = self.number_of(self.slot.parse(name)?);
        let number = u32::try_from(number).ok()?;
        (self.name(number) == name).then_some(number)
    }

    fn place(&self, key: &KeyValue<'_>) -> Result<u32, Misplaced> {
        let time = match (key, self.unix) {
            (KeyValue::Int(count), Some(unit)) => {
                return self.place_instant(unit.instant(*count).ok_or(Misplaced::Outside)?);
            }
            (KeyValue::Instant(time), None) => return self.place_instant(*time),
            (KeyValue::Date(date), None) => date.and_time(NaiveTime::MIN),
            (KeyValue::DateTime(time), None) => *time,
            _ => return Err(Misplaced::Kind),
        };
        u32::try_from(self.number_of(time)).map_err(|_| Misplaced::Outside)
    }

    fn route(&self, keys: &KeySet<'_>) -> Partitions {
        Partitions::from_runs(keys.intervals().iter().map(|interval| self.slots(interval)))
    }

    /// The end may come later.
    fn extends(&self, older: &dyn Strategy, _now: DateTime<Utc>) -> bool {
        let older: &dyn std::any::Any = older;
        older.downcast_ref::<Self>().is_some_and(|older| {
            let later = match (self.end, older.end) {
                (End::Ahead(own), End::Ahead(before)) => own >= before,
                (End::Through(own), End::Through(before)) => own.time() >= before.time(),
                (End::Ahead(_), End::Through(_)) => true,
                (End::Through(_), End::Ahead(_)) => false,
            };
            later
                && Self {
                    end: older.end,
                    ..self.clone()
                } == *older
        })
    }
}

#[cfg(test)]
mod tests;
