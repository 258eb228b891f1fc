//! Dates, times and zones as they may be spelled.

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use chrono_tz::Tz;
use sharding_core::strategy::Zone;

/// `2013-01-31`.
pub(super) fn date(text: &str) -> Option<NaiveDate> {
    let is_plain = text.len() == 10 && text.bytes().all(|c| c.is_ascii_digit() || c == b'-');
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    (is_plain && date.year() > 0).then_some(date)
}

/// `2013-01-31T05:00:00`, with a space for the `T`, with fractions of a second, or without seconds.
pub(super) fn timestamp(text: &str) -> Option<NaiveDateTime> {
    let (day, clock) = text.split_once(['T', 't', ' '])?;
    let formats = ["%H:%M:%S%.f", "%H:%M"];
    let clock = formats
        .iter()
        .find_map(|format| NaiveTime::parse_from_str(clock, format).ok())?;
    Some(date(day)?.and_time(clock))
}

/// A timestamp with an offset, or in UTC without one; or a date, for its first instant in UTC.
pub(super) fn instant(text: &str) -> Option<DateTime<Utc>> {
    let Some(at) = text.find(['T', 't', ' ']) else {
        return Some(date(text)?.and_time(NaiveTime::MIN).and_utc());
    };
    let sign = text[at..].find(['+', '-', 'Z', 'z']).map(|sign| at + sign);
    let (time, zone) = text.split_at(sign.unwrap_or(text.len()));
    let time = timestamp(time.trim_end())?;
    match zone {
        "" | "Z" | "z" => Some(time.and_utc()),
        zone => Some(time.checked_sub_offset(offset(zone)?)?.and_utc()),
    }
}

/// `+08`, `+0800` or `+08:00`.
fn offset(text: &str) -> Option<FixedOffset> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = match digits.len() {
        2 => (digits, "00"),
        4 => digits.split_at_checked(2)?,
        _ => digits.split_once(':')?,
    };
    let number = |text: &str| {
        let is_pair = text.len() == 2 && text.bytes().all(|c| c.is_ascii_digit());
        is_pair.then(|| text.parse::<i32>().ok()).flatten()
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (minutes < 60).then(|| FixedOffset::east_opt(sign * (hours * 3_600 + minutes * 60)))?
}

/// `UTC`, an offset, or the name of an IANA zone.
pub(super) fn zone(text: &str) -> Option<Zone> {
    match text {
        "UTC" | "utc" | "Z" => Some(Zone::Utc),
        text => match offset(text) {
            Some(offset) => Some(offset.into()),
            None => text.parse::<Tz>().ok().map(Zone::Named),
        },
    }
}

/// A point in time as finely as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Year(i32),
    /// Year and quarter.
    Quarter(i32, u32),
    /// Year and month.
    Month(i32, u32),
    Day(NaiveDate),
    /// Day and hour.
    Hour(NaiveDate, u32),
}

impl Moment {
    /// `2013`, `2013-q1`, `2013-01`, `2013-01-31`, `2013-01-31T05` or a whole timestamp.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let year = text.get(..4)?;
        let rest = text.get(4..)?;
        let year: i32 = if year.bytes().all(|c| c.is_ascii_digit()) {
            year.parse().ok()?
        } else {
            return None;
        };
        let quarter = rest.trim_start_matches('-').strip_prefix(['q', 'Q']);
        match (rest, quarter) {
            _ if year < 1 => None,
            ("", _) => Some(Self::Year(year)),
            (_, Some("1")) => Some(Self::Quarter(year, 1)),
            (_, Some("2")) => Some(Self::Quarter(year, 2)),
            (_, Some("3")) => Some(Self::Quarter(year, 3)),
            (_, Some("4")) => Some(Self::Quarter(year, 4)),
            _ if text.len() == 7 => {
                let month = date(&format!("{text}-01"))?.month();
                Some(Self::Month(year, month))
            }
            _ if text.len() == 10 => date(text).map(Self::Day),
            _ => {
                let (day, clock) = text.split_once(['T', 't', ' '])?;
                let hour = match clock.len() {
                    2 => NaiveTime::parse_from_str(&format!("{clock}:00"), "%H:%M").ok()?,
                    _ => timestamp(text)?.time(),
                };
                Some(Self::Hour(date(day)?, chrono::Timelike::hour(&hour)))
            }
        }
    }

    pub(super) fn year(self) -> i32 {
        match self {
            Self::Year(year) | Self::Quarter(year, _) | Self::Month(year, _) => year,
            Self::Day(day) | Self::Hour(day, _) => day.year(),
        }
    }

    /// The quarter in which it lies.
    pub(super) fn quarter(self) -> Option<u32> {
        match self {
            Self::Quarter(_, quarter) => Some(quarter),
            finer => Some((finer.month()? - 1) / 3 + 1),
        }
    }

    /// The month in which it lies.
    pub(super) fn month(self) -> Option<u32> {
        match self {
            Self::Year(_) | Self::Quarter(..) => None,
            Self::Month(_, month) => Some(month),
            Self::Day(day) | Self::Hour(day, _) => Some(day.month()),
        }
    }

    /// The day of the month on which it lies.
    pub(super) fn day(self) -> Option<u32> {
        match self {
            Self::Year(_) | Self::Quarter(..) | Self::Month(..) => None,
            Self::Day(day) | Self::Hour(day, _) => Some(day.day()),
        }
    }

    pub(super) fn hour(self) -> Option<u32> {
        match self {
            Self::Hour(_, hour) => Some(hour),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_with_offsets_of_every_form() {
        let expected = "2016-11-20T09:00:00Z".parse().ok();
        for text in [
            "2016-11-20T17:00:00+08",
            "2016-11-20T17:00:00+0800",
            "2016-11-20T17:00:00+08:00",
            "2016-11-20 17:00+08",
            "2016-11-20 17:00:00.000 +08:00",
            "2016-11-20T09:00:00Z",
            "2016-11-20T09:00:00",
            "2016-11-20t05:30:00-0330",
        ] {
            assert_eq!(instant(text), expected, "{text}");
        }
        assert_eq!(instant("2016-11-20"), "2016-11-20T00:00:00Z".parse().ok());
        for text in [
            "",
            "17:00:00",
            "2016-11-20T",
            "2016-13-20T09:00:00",
            "2016-11-20T25:00:00",
            "2016-11-20T09:00:00+8",
            "2016-11-20T09:00:00+08:0",
            "2016-11-20T09:00:00+08:60",
            "2016-11-20T09:00:00+25",
            "2016-11-20T09:00:00+é",
            "16-11-20",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
    }

    #[test]
    fn zones() {
        let hours = |hours: i32| FixedOffset::east_opt(hours * 3_600).map(Zone::from);
        assert_eq!(zone("UTC"), Some(Zone::Utc));
        assert_eq!(zone("+08"), hours(8));
        assert_eq!(zone("-08:00"), hours(-8));
        let half = FixedOffset::west_opt(12_600).map(Zone::from);
        assert_eq!(zone("-0330"), half);
        assert_eq!(zone("Asia/Shanghai"), Some(Tz::Asia__Shanghai.into()));
        for text in ["", "8", "+8", "Asia", "+08:00:00", "+é"] {
            assert_eq!(zone(text), None, "{text}");
        }
    }

    #[test]
    fn moments_of_every_fineness() {
        let day = NaiveDate::from_ymd_opt(2013, 1, 31).unwrap();
        for (text, expected) in [
            ("2013", Moment::Year(2013)),
            ("2013-q1", Moment::Quarter(2013, 1)),
            ("2013Q4", Moment::Quarter(2013, 4)),
            ("2013-01", Moment::Month(2013, 1)),
            ("2013-01-31", Moment::Day(day)),
            ("2013-01-31T05", Moment::Hour(day, 5)),
            ("2013-01-31 05:30", Moment::Hour(day, 5)),
            ("2013-01-31T05:00:00", Moment::Hour(day, 5)),
        ] {
            assert_eq!(Moment::parse(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "13",
            "0000",
            "20130",
            "2013-13",
            "2013-q5",
            "2013-02-30",
            "2013-01-31T24",
            "2013-01-31T05Z",
            "2013-01-31T05:00:00Z",
            "2013/01",
            "2013-1",
            "+013",
            "20é3",
        ] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
        let quarter = |text| Moment::parse(text).and_then(Moment::quarter);
        assert_eq!(quarter("2013-07-15"), Some(3));
        assert_eq!(quarter("2013"), None);
    }
}
