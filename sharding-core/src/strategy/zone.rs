use std::fmt;
use std::str::FromStr;

use chrono::{
    DateTime, FixedOffset, LocalResult, NaiveDateTime, Offset, TimeDelta, TimeZone, Timelike, Utc,
};
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
        let shown = self.wall_clock(instant)?;
        let Self::Named(_) = self else {
            return Some(shown);
        };
        let after = instant.checked_add_signed(SETTLED)?;
        if self.seconds(after) >= self.seconds(instant) {
            return Some(shown);
        }
        let set_back = self.change(instant, after);
        Some(shown.min(self.wall_clock(set_back)?))
    }

    /// The latest that a clock in the zone showed at the instant or at any time before it.
    pub(super) fn latest_until(self, instant: DateTime<Utc>) -> Option<NaiveDateTime> {
        let shown = self.wall_clock(instant)?;
        let Self::Named(_) = self else {
            return Some(shown);
        };
        let before = instant.checked_sub_signed(SETTLED)?;
        if self.seconds(before) <= self.seconds(instant) {
            return Some(shown);
        }
        let set_back = self.change(before, instant);
        let last = set_back.checked_sub_signed(TimeDelta::nanoseconds(1))?;
        Some(shown.max(self.wall_clock(last)?))
    }

    /// The first instant at which a clock in the zone shows this time or a later one.
    pub(super) fn first_shown(self, time: NaiveDateTime) -> Option<DateTime<Utc>> {
        let Self::Named(zone) = self else {
            // An offset is the same at all times.
            let offset = self.offset(DateTime::UNIX_EPOCH);
            return Some(time.checked_sub_offset(offset)?.and_utc());
        };
        match zone.from_local_datetime(&time) {
            LocalResult::Single(instant) | LocalResult::Ambiguous(instant, _) => {
                Some(instant.to_utc())
            }
            // The time is skipped by clocks set forward: it is when that happens.
            LocalResult::None => {
                let before = time.and_utc().checked_sub_signed(SETTLED)?;
                let after = time.and_utc().checked_add_signed(SETTLED)?;
                Some(self.change(before, after))
            }
        }
    }

    /// The first instant with the later offset, to the second, between two of different offsets.
    fn change(self, mut before: DateTime<Utc>, mut after: DateTime<Utc>) -> DateTime<Utc> {
        let later = self.seconds(after);
        // Offsets change at whole seconds.
        let whole = |time: DateTime<Utc>| time.with_nanosecond(0).unwrap_or(time);
        (before, after) = (whole(before), whole(after));
        while after - before > TimeDelta::seconds(1) {
            let middle = before + TimeDelta::seconds((after - before).num_seconds() / 2);
            if self.seconds(middle) == later {
                after = middle;
            } else {
                before = middle;
            }
        }
        after
    }

    fn seconds(self, instant: DateTime<Utc>) -> i32 {
        self.offset(instant).local_minus_utc()
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

/// `UTC`, an offset such as `+08`, `-0330` or `+05:45`, or an IANA name.
impl FromStr for Zone {
    type Err = UnknownZone;

    fn from_str(text: &str) -> Result<Self, UnknownZone> {
        if text.eq_ignore_ascii_case("utc") || text.eq_ignore_ascii_case("z") {
            return Ok(Self::Utc);
        }
        let zone = match offset(text) {
            Some(offset) => Some(Self::Offset(offset)),
            None => text.parse().ok().map(Self::Named),
        };
        zone.ok_or_else(|| UnknownZone(text.to_owned()))
    }
}

fn offset(text: &str) -> Option<FixedOffset> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = text[1..].replacen(':', "", 1);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let (hours, minutes) = match digits.len() {
        2 if is_number => (digits.as_str(), "0"),
        4 if is_number => digits.split_at(2),
        _ => return None,
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = (minutes < 60).then_some((hours * 60 + minutes) * 60)?;
    FixedOffset::east_opt(sign * seconds)
}

/// A text that is no time zone. It is `UTC`, an offset of hours and minutes from it, or a name of
/// the IANA database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no time zone: neither `UTC`, nor an offset such as `+08:00`, nor an IANA name")]
pub struct UnknownZone(pub String);

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utc => f.write_str("UTC"),
            Self::Offset(offset) => offset.fmt(f),
            Self::Named(zone) => f.write_str(zone.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_read() {
        let zone = |text: &str| text.parse::<Zone>();
        let east = |seconds| Ok(Zone::Offset(FixedOffset::east_opt(seconds).unwrap()));
        assert_eq!(zone("utc"), Ok(Zone::Utc));
        assert_eq!(zone("+08"), east(8 * 3_600));
        assert_eq!(zone("-0330"), east(-12_600));
        assert_eq!(zone("+05:45"), east(20_700));
        assert_eq!(zone("Asia/Tokyo"), Ok(Zone::Named(chrono_tz::Asia::Tokyo)));
        for wrong in [
            "",
            "+",
            "+8",
            "+24:00",
            "+08:60",
            "+é",
            "Mars/Base",
            "+08:0",
            "++08",
        ] {
            assert_eq!(zone(wrong), Err(UnknownZone(wrong.to_owned())));
        }
    }
}
