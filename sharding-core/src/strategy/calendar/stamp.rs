use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

use super::Flaw;

/// A date and an hour as a user wrote them, not checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    year: i32,
    month: u32,
    day: u32,
    hour: u32,
}

impl Stamp {
    /// The last hour whose year has four digits.
    pub(super) const LAST: Self = Self::new(9999, 12, 31, 23);

    pub(super) const fn new(year: i32, month: u32, day: u32, hour: u32) -> Self {
        Self {
            year,
            month,
            day,
            hour,
        }
    }

    pub(super) const fn day(year: i32, month: u32, day: u32) -> Self {
        Self::new(year, month, day, 0)
    }

    /// The first day of a quarter; one that does not exist becomes a month that does not.
    pub(super) const fn quarter(year: i32, quarter: u32) -> Self {
        let month = match quarter {
            1..=4 => quarter * 3 - 2,
            _ => 0,
        };
        Self::day(year, month, 1)
    }

    pub(super) fn of(time: NaiveDateTime) -> Self {
        Self::new(time.year(), time.month(), time.day(), time.hour())
    }

    /// The time; `None` if there is none, or if its year has not four digits.
    pub(super) fn time(self) -> Option<NaiveDateTime> {
        let date = NaiveDate::from_ymd_opt(self.year, self.month, self.day)?;
        let time = NaiveTime::from_hms_opt(self.hour, 0, 0)?;
        (1..=9999).contains(&self.year).then(|| date.and_time(time))
    }

    pub(super) fn flaw(self, at: &str) -> Option<Flaw> {
        let Self {
            year,
            month,
            day,
            hour,
        } = self;
        let why = || {
            format!(
                "year {year}, month {month}, day {day}, hour {hour} is no time of the years 1 to \
                 9999"
            )
        };
        self.time().is_none().then(|| Flaw::new(at, why()))
    }
}
