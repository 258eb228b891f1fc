use std::fmt;

use chrono::{DateTime, FixedOffset, NaiveDateTime, Offset, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

/// The time zone in which a calendar strategy reads instants. It is part of the rule: never the
/// zone of the host.
///
/// Timestamps without a time zone and dates are taken as they stand; the zone does not move them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Zone {
    /// UTC: the default.
    Utc,
    /// A constant offset from UTC.
    Offset(FixedOffset),
    /// An IANA time zone with its history of offsets and daylight saving time.
    Named(Tz),
}

impl Zone {
    /// What a clock in the zone shows at the instant; `None` at the ends of representable time.
    pub fn wall_clock(self, instant: DateTime<Utc>) -> Option<NaiveDateTime> {
        instant.naive_utc().checked_add_offset(self.offset(instant))
    }

    /// The earliest that a clock in the zone shows at the instant or at any time after it. That
    /// is earlier than [`Zone::wall_clock`] while clocks are about to be set back.
    pub(super) fn earliest_from(self, instant: DateTime<Utc>) -> Option<NaiveDateTime> {
        let after = instant.checked_add_signed(SETTLED)?;
        let offset = self.offset(instant).min_by_seconds(self.offset(after));
        instant.naive_utc().checked_add_offset(offset)
    }

    /// The latest that a clock in the zone showed at the instant or at any time before it.
    pub(super) fn latest_until(self, instant: DateTime<Utc>) -> Option<NaiveDateTime> {
        let before = instant.checked_sub_signed(SETTLED)?;
        let offset = self.offset(instant).max_by_seconds(self.offset(before));
        instant.naive_utc().checked_add_offset(offset)
    }

    fn offset(self, instant: DateTime<Utc>) -> FixedOffset {
        match self {
            Self::Utc => Utc.fix(),
            Self::Offset(offset) => offset,
            Self::Named(zone) => zone.offset_from_utc_datetime(&instant.naive_utc()).fix(),
        }
    }
}

/// No clock is ever set back by more than a day, so a day later (or earlier) every clock has
/// passed what it showed before. Zones change their offset at most once in that time.
const SETTLED: TimeDelta = TimeDelta::days(1);

trait BySeconds {
    fn min_by_seconds(self, other: Self) -> Self;
    fn max_by_seconds(self, other: Self) -> Self;
}

impl BySeconds for FixedOffset {
    fn min_by_seconds(self, other: Self) -> Self {
        if other.local_minus_utc() < self.local_minus_utc() {
            other
        } else {
            self
        }
    }

    fn max_by_seconds(self, other: Self) -> Self {
        if other.local_minus_utc() > self.local_minus_utc() {
            other
        } else {
            self
        }
    }
}

impl From<Utc> for Zone {
    fn from(_: Utc) -> Self {
        Self::Utc
    }
}

impl From<FixedOffset> for Zone {
    fn from(offset: FixedOffset) -> Self {
        Self::Offset(offset)
    }
}

impl From<Tz> for Zone {
    fn from(zone: Tz) -> Self {
        Self::Named(zone)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utc => f.write_str("UTC"),
            Self::Offset(offset) => offset.fmt(f),
            Self::Named(zone) => f.write_str(zone.name()),
        }
    }
}
