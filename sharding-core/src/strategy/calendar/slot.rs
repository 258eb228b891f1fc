use std::fmt;

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike};

use super::{Flaw, Stamp};

/// What a calendar counts in. Slots are numbered, also before the first that a strategy uses.
pub trait Slot: Clone + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// The unit in the plural: `months`.
    fn plural(&self) -> String;

    /// The number of the slot in which a time lies. It never falls as time goes on.
    fn index(&self, time: NaiveDateTime) -> i64;

    /// The first time of a slot; `None` beyond representable time.
    fn start(&self, index: i64) -> Option<NaiveDateTime>;

    /// The name of the slot that begins then.
    fn name(&self, start: NaiveDateTime) -> String;

    /// A time in the slot of this name; `None` if it is none.
    fn parse(&self, name: &str) -> Option<NaiveDateTime>;

    /// What is wrong with the unit's own parameters.
    fn flaws(&self) -> Vec<Flaw> {
        Vec::new()
    }
}

/// Hours as the clock shows them: when it is set back, the repeated hour is one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hour;

/// Days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day;

/// ISO weeks: Monday to Sunday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Week;

/// Months.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month;

/// Quarters: January to March is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quarter;

/// Years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Year;

/// Runs of a fixed count of days, one of which begins on an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days {
    days: u32,
    anchor: Stamp,
}

impl Days {
    pub(super) const fn anchored(days: u32, anchor: Stamp) -> Self {
        Self { days, anchor }
    }

    fn anchor(self) -> i64 {
        self.anchor.time().map_or(0, day_number)
    }
}

impl Slot for Hour {
    fn plural(&self) -> String {
        "hours".into()
    }

    fn index(&self, time: NaiveDateTime) -> i64 {
        day_number(time) * 24 + i64::from(time.hour())
    }

    fn start(&self, index: i64) -> Option<NaiveDateTime> {
        day(index.div_euclid(24))?.checked_add_signed(TimeDelta::hours(index.rem_euclid(24)))
    }

    fn name(&self, start: NaiveDateTime) -> String {
        format!("{}{:02}", Day.name(start), start.hour())
    }

    fn parse(&self, name: &str) -> Option<NaiveDateTime> {
        let (date, hour) = name.split_at_checked(8)?;
        let hour = NaiveTime::from_hms_opt(digits(hour)?, 0, 0)?;
        Some(Day.parse(date)?.date().and_time(hour))
    }
}

impl Slot for Day {
    fn plural(&self) -> String {
        "days".into()
    }

    fn index(&self, time: NaiveDateTime) -> i64 {
        day_number(time)
    }

    fn start(&self, index: i64) -> Option<NaiveDateTime> {
        day(index)
    }

    fn name(&self, start: NaiveDateTime) -> String {
        format!("{}{:02}", Month.name(start), start.day())
    }

    fn parse(&self, name: &str) -> Option<NaiveDateTime> {
        let (month, day) = name.split_at_checked(6)?;
        let month = Month.parse(month)?;
        Some(
            month
                .date()
                .with_day(digits(day)?)?
                .and_time(NaiveTime::MIN),
        )
    }
}

impl Slot for Week {
    fn plural(&self) -> String {
        "weeks".into()
    }

    /// Day 1 of the common era was a Monday.
    fn index(&self, time: NaiveDateTime) -> i64 {
        (day_number(time) - 1).div_euclid(7)
    }

    fn start(&self, index: i64) -> Option<NaiveDateTime> {
        day(index.checked_mul(7)? + 1)
    }

    fn name(&self, start: NaiveDateTime) -> String {
        Day.name(start)
    }

    fn parse(&self, name: &str) -> Option<NaiveDateTime> {
        Day.parse(name)
    }
}

impl Slot for Month {
    fn plural(&self) -> String {
        "months".into()
    }

    fn index(&self, time: NaiveDateTime) -> i64 {
        i64::from(time.year()) * 12 + i64::from(time.month0())
    }

    fn start(&self, index: i64) -> Option<NaiveDateTime> {
        let year = i32::try_from(index.div_euclid(12)).ok()?;
        // A remainder of a division by 12 fits.
        let month = index.rem_euclid(12) as u32 + 1;
        Some(NaiveDate::from_ymd_opt(year, month, 1)?.and_time(NaiveTime::MIN))
    }

    fn name(&self, start: NaiveDateTime) -> String {
        format!("{:04}{:02}", start.year(), start.month())
    }

    fn parse(&self, name: &str) -> Option<NaiveDateTime> {
        let (year, month) = name.split_at_checked(4)?;
        let year = i32::try_from(digits(year)?).ok()?;
        let first = NaiveDate::from_ymd_opt(year, digits(month)?, 1)?;
        Some(first.and_time(NaiveTime::MIN))
    }
}

impl Slot for Quarter {
    fn plural(&self) -> String {
        "quarters".into()
    }

    fn index(&self, time: NaiveDateTime) -> i64 {
        Month.index(time).div_euclid(3)
    }

    fn start(&self, index: i64) -> Option<NaiveDateTime> {
        Month.start(index.checked_mul(3)?)
    }

    fn name(&self, start: NaiveDateTime) -> String {
        format!("{:04}q{}", start.year(), start.month0() / 3 + 1)
    }

    fn parse(&self, name: &str) -> Option<NaiveDateTime> {
        let (year, quarter) = name.split_once('q')?;
        let year = i32::try_from(digits(year)?).ok()?;
        let month = digits(quarter)?.checked_mul(3)?.checked_sub(2)?;
        Some(NaiveDate::from_ymd_opt(year, month, 1)?.and_time(NaiveTime::MIN))
    }
}

impl Slot for Year {
    fn plural(&self) -> String {
        "years".into()
    }

    fn index(&self, time: NaiveDateTime) -> i64 {
        i64::from(time.year())
    }

    fn start(&self, index: i64) -> Option<NaiveDateTime> {
        let year = i32::try_from(index).ok()?;
        Some(NaiveDate::from_ymd_opt(year, 1, 1)?.and_time(NaiveTime::MIN))
    }

    fn name(&self, start: NaiveDateTime) -> String {
        format!("{:04}", start.year())
    }

    fn parse(&self, name: &str) -> Option<NaiveDateTime> {
        self.start(i64::from(digits(name)?))
    }
}

impl Slot for Days {
    fn plural(&self) -> String {
        format!("slots of {} days", self.days)
    }

    fn index(&self, time: NaiveDateTime) -> i64 {
        (day_number(time) - self.anchor()).div_euclid(i64::from(self.days.max(1)))
    }

    fn start(&self, index: i64) -> Option<NaiveDateTime> {
        day(index
            .checked_mul(i64::from(self.days))?
            .checked_add(self.anchor())?)
    }

    fn name(&self, start: NaiveDateTime) -> String {
        Day.name(start)
    }

    fn parse(&self, name: &str) -> Option<NaiveDateTime> {
        Day.parse(name)
    }

    fn flaws(&self) -> Vec<Flaw> {
        const CENTURY: u32 = 36_525;
        let wrong = !(1..=CENTURY).contains(&self.days);
        let why = || format!("is {}; 1 to {CENTURY} are possible", self.days);
        wrong
            .then(|| Flaw::new("days", why()))
            .into_iter()
            .collect()
    }
}

/// Days since the last one before the common era.
fn day_number(time: NaiveDateTime) -> i64 {
    i64::from(time.date().num_days_from_ce())
}

fn day(number: i64) -> Option<NaiveDateTime> {
    let date = NaiveDate::from_num_days_from_ce_opt(i32::try_from(number).ok()?)?;
    Some(date.and_time(NaiveTime::MIN))
}

fn digits(text: &str) -> Option<u32> {
    let all = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}
