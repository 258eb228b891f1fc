use std::sync::Arc;

use chrono::{
    DateTime, Datelike, Days, FixedOffset, LocalResult, Months, NaiveDate, NaiveDateTime,
    NaiveTime, Offset, TimeDelta, TimeZone, Timelike, Utc,
};
use chrono_tz::{TZ_VARIANTS, Tz};
use sharding_core::strategy::{
    Calendar, Daily, Embedded, EveryDays, Hourly, Monthly, Quarterly, Slot, SnowflakeLayout,
    SnowflakeTime, Strategy, UnixTime, Weekly, Yearly, Zone,
};

use crate::random::Random;

/// The clock and the time of a case, around which everything happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Era {
    pub(crate) clock: Clock,
    pub(crate) now: DateTime<Utc>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    Utc,
    Fixed(FixedOffset),
    Named(Tz),
}

impl Era {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let mut years = (1_866, 2_035);
        let clock = match random.below(8) {
            0 => Clock::Utc,
            1 => {
                let seconds = *random.pick(&[8 * 3_600, -5 * 3_600 - 1_800, 43_200, -86_399]);
                FixedOffset::east_opt(seconds).map_or(Clock::Utc, Clock::Fixed)
            }
            2 => Clock::Named(*random.pick(&TZ_VARIANTS)),
            3..6 => Clock::Named(*random.pick(&SPECIAL)),
            // At a minute past midnight, clocks were set back into the day before.
            _ => {
                years = (1_988, 2_010);
                Clock::Named(Tz::America__St_Johns)
            }
        };
        let year = random.between(years.0, years.1) - 1_970;
        let second = year * 31_556_952 + random.between(0, 31_556_952);
        let mut now = DateTime::from_timestamp(second, 0).unwrap_or_default();
        if random.chance(70) {
            now = clock.change_after(now).unwrap_or(now);
        }
        now += TimeDelta::seconds(*random.pick(&[0, 0, -1, 1, 1_800, -3_600, 40_000, 100_000]));
        Self { clock, now }
    }
}

/// Zones in which clocks were set by half an hour, at midnight, by a whole day or over a date
/// line, and two as everybody knows them.
const SPECIAL: [Tz; 9] = [
    Tz::America__New_York,
    Tz::Europe__Prague,
    Tz::Australia__Lord_Howe,
    Tz::America__Sao_Paulo,
    Tz::America__Havana,
    Tz::Asia__Beirut,
    Tz::America__Adak,
    Tz::Pacific__Apia,
    Tz::Pacific__Kwajalein,
];

impl Clock {
    pub(crate) fn zone(self) -> Zone {
        match self {
            Self::Utc => Zone::from(Utc),
            Self::Fixed(offset) => Zone::from(offset),
            Self::Named(zone) => Zone::from(zone),
        }
    }

    pub(crate) fn shows(self, instant: DateTime<Utc>) -> NaiveDateTime {
        instant.naive_utc() + self.offset(instant)
    }

    fn offset(self, instant: DateTime<Utc>) -> FixedOffset {
        match self {
            Self::Utc => Utc.fix(),
            Self::Fixed(offset) => offset,
            Self::Named(zone) => zone.offset_from_utc_datetime(&instant.naive_utc()).fix(),
        }
    }

    /// One of the instants at which the clock shows the time.
    pub(crate) fn instant(self, shown: NaiveDateTime, random: &mut Random) -> DateTime<Utc> {
        match self {
            Self::Utc => shown.and_utc(),
            Self::Fixed(offset) => (shown - offset).and_utc(),
            Self::Named(zone) => match zone.from_local_datetime(&shown) {
                LocalResult::Single(instant) => instant.to_utc(),
                LocalResult::Ambiguous(first, second) => {
                    (if random.chance(50) { first } else { second }).to_utc()
                }
                LocalResult::None => shown.and_utc(),
            },
        }
    }

    /// The next time at which the clock is set, in the years that follow.
    fn change_after(self, start: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let before = self.offset(start);
        let mut times = (1..60).map(|n| start + TimeDelta::days(25 * n));
        let mut after = times.find(|time| self.offset(*time) != before)?;
        let mut until = after - TimeDelta::days(25);
        while after - until > TimeDelta::seconds(1) {
            let middle = until + (after - until) / 2;
            if self.offset(middle) == before {
                until = middle;
            } else {
                after = middle;
            }
        }
        after.with_nanosecond(0)
    }
}

/// A calendar as it was drawn.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    pub(crate) era: Era,
    unit: Unit,
    first: NaiveDateTime,
    end: End,
}

#[derive(Clone, Copy, Debug)]
enum Unit {
    Hour,
    Day,
    Week,
    Days(u32),
    Month,
    Quarter,
    Year,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Count(u32),
    Ahead(u32),
}

/// What the keys of a calendar are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keys {
    Times,
    Unix(UnixTime),
    Ids(SnowflakeLayout),
    /// Text in which the name comes after so many characters and has so many.
    Names(usize, usize),
}

impl Slots {
    /// So many slots, or a growing calendar if the count is `None`.
    pub(crate) fn draw(random: &mut Random, era: Era, count: Option<u32>) -> Self {
        let unit = match random.below(9) {
            0 => Unit::Hour,
            1 | 2 => Unit::Day,
            3 => Unit::Week,
            4 => Unit::Days(random.between(1, 9) as u32),
            5 | 6 => Unit::Month,
            7 => Unit::Quarter,
            _ => Unit::Year,
        };
        let ahead = random.between(0, 2) as u32;
        let end = count.map_or(End::Ahead(ahead), End::Count);
        let before = random.between(0, i64::from(count.unwrap_or(5)));
        let own = Self {
            era,
            unit,
            first: unit.start_of(era.clock.shows(era.now)),
            end,
        };
        let first = unit.start_of(own.start(-before));
        Self { first, ..own }
    }

    /// When a slot begins, on the clock.
    pub(crate) fn start(&self, slot: i64) -> NaiveDateTime {
        let first = self.first;
        let days = |days: u32| first + TimeDelta::days(slot * i64::from(days));
        let months = |months: u32| {
            let steps = Months::new(slot.unsigned_abs() as u32 * months);
            let moved = if slot < 0 {
                first.checked_sub_months(steps)
            } else {
                first.checked_add_months(steps)
            };
            moved.unwrap_or(first)
        };
        match self.unit {
            Unit::Hour => first + TimeDelta::hours(slot),
            Unit::Day => days(1),
            Unit::Week => days(7),
            Unit::Days(count) => days(count),
            Unit::Month => months(1),
            Unit::Quarter => months(3),
            Unit::Year => months(12),
        }
    }

    pub(crate) fn name_length(&self) -> usize {
        match self.unit {
            Unit::Hour => 10,
            Unit::Day | Unit::Week | Unit::Days(_) => 8,
            Unit::Month | Unit::Quarter => 6,
            Unit::Year => 4,
        }
    }

    pub(crate) fn strategy(&self, keys: Keys) -> Arc<dyn Strategy> {
        let first = self.first;
        let (year, month, day) = (first.year(), first.month(), first.day());
        match self.unit {
            Unit::Hour => self.of(
                Hourly::starting(year, month, day, first.hour()),
                keys,
                |c, t| c.through(t.year(), t.month(), t.day(), t.hour()),
            ),
            Unit::Day => self.of(Daily::starting(year, month, day), keys, through_date),
            Unit::Week => self.of(Weekly::starting(year, month, day), keys, through_date),
            Unit::Days(days) => self.of(
                EveryDays::starting(days, year, month, day),
                keys,
                through_date,
            ),
            Unit::Month => self.of(Monthly::starting(year, month), keys, through_date),
            Unit::Quarter => self.of(Quarterly::starting(year, quarter(first)), keys, |c, t| {
                c.through(t.year(), quarter(t))
            }),
            Unit::Year => self.of(Yearly::starting(year), keys, through_date),
        }
    }

    fn of<S: Slot + Copy>(
        &self,
        calendar: Calendar<S>,
        keys: Keys,
        through: impl Fn(Calendar<S>, NaiveDateTime) -> Calendar<S>,
    ) -> Arc<dyn Strategy> {
        let calendar = calendar.zone(self.era.clock.zone());
        let calendar = match self.end {
            End::Count(count) => through(calendar, self.start(i64::from(count) - 1)),
            End::Ahead(slots) => calendar.ahead(slots),
        };
        match keys {
            Keys::Times => Arc::new(calendar),
            Keys::Unix(unit) => Arc::new(calendar.unix(unit)),
            Keys::Ids(layout) => Arc::new(SnowflakeTime::new(layout, calendar)),
            Keys::Names(at, length) => Arc::new(Embedded::new(at..at + length, calendar)),
        }
    }
}

fn through_date<S: Slot>(calendar: Calendar<S>, last: NaiveDateTime) -> Calendar<S> {
    calendar.through_date(last.date())
}

fn quarter(time: NaiveDateTime) -> u32 {
    time.month0() / 3 + 1
}

impl Unit {
    fn start_of(self, time: NaiveDateTime) -> NaiveDateTime {
        let date = time.date();
        let date = match self {
            Self::Hour => {
                return date.and_time(NaiveTime::MIN) + TimeDelta::hours(time.hour().into());
            }
            Self::Day | Self::Days(_) => date,
            Self::Week => date - Days::new(date.weekday().num_days_from_monday().into()),
            Self::Month => NaiveDate::from_ymd_opt(date.year(), date.month(), 1).unwrap_or(date),
            Self::Quarter => {
                let month = date.month0() / 3 * 3 + 1;
                NaiveDate::from_ymd_opt(date.year(), month, 1).unwrap_or(date)
            }
            Self::Year => NaiveDate::from_ymd_opt(date.year(), 1, 1).unwrap_or(date),
        };
        date.and_time(NaiveTime::MIN)
    }
}
