use std::ops::RangeInclusive;

use chrono::{DateTime, TimeDelta, Utc};

use super::SnowflakeLayout;

/// A part of all ids made by their time and hashes: a span of time × a span of database hashes × a
/// span of table hashes. [`SnowflakeHash::span`](super::SnowflakeHash::span) gives the nodes that
/// can hold such ids.
///
/// It has a numeric form, two *virtual bounds*: integers that look like ids but are not. The upper
/// 32 bits hold the time in units of 1,024 ms, one less than that of the span's first instant, and
/// one more than that of its last; the middle 16 bits a database hash, and the lower 16 bits a
/// table hash. It holds whole units of time only, so a span that was encoded comes back wider, by
/// up to 2 units at either end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnowflakeSpan {
    /// When the ids were made.
    pub time: RangeInclusive<DateTime<Utc>>,
    /// The upper 16 bits of the ids' hashes.
    pub database_hash: RangeInclusive<u16>,
    /// The lower 16 bits of the ids' hashes.
    pub table_hash: RangeInclusive<u16>,
}

/// Milliseconds are shifted by this many bits into units of 1,024.
const UNIT_BITS: u32 = 10;

impl SnowflakeSpan {
    /// All ids made in a span of time.
    pub fn of_time(time: RangeInclusive<DateTime<Utc>>) -> Self {
        Self {
            time,
            database_hash: 0..=u16::MAX,
            table_hash: 0..=u16::MAX,
        }
    }

    /// The virtual bounds, lower and upper, in a layout's epoch; `None` if a time is outside of
    /// the 41 bits that an id has for it.
    pub fn encode(&self, layout: SnowflakeLayout) -> Option<(i64, i64)> {
        let bound = |time: &DateTime<Utc>, step: i64, database: u16, table: u16| {
            let ticks = time.timestamp_millis() - layout.epoch;
            let units = (ticks >> UNIT_BITS) + step;
            let fits = (0..1 << 31).contains(&units);
            fits.then(|| (units << 32) | i64::from(database) << 16 | i64::from(table))
        };
        let (database, table) = (&self.database_hash, &self.table_hash);
        Some((
            bound(self.time.start(), -1, *database.start(), *table.start())?,
            bound(self.time.end(), 1, *database.end(), *table.end())?,
        ))
    }

    /// The span of two virtual bounds: all of the time that they may stand for. `None` if a time
    /// is further away than a timestamp reaches.
    pub fn decode(lower: i64, upper: i64, layout: SnowflakeLayout) -> Option<Self> {
        let time = |bound: i64, units: i64| {
            let ticks = ((bound >> 32) + units) << UNIT_BITS;
            DateTime::from_timestamp_millis(ticks.checked_add(layout.epoch)?)
        };
        // The lower 32 bits are two hashes of 16.
        let hashes = |bound: i64| ((bound >> 16) as u16, bound as u16);
        let ((first_database, first_table), (last_database, last_table)) =
            (hashes(lower), hashes(upper));
        Some(Self {
            time: time(lower, 1)?..=time(upper, 0)? - TimeDelta::nanoseconds(1),
            database_hash: first_database..=last_database,
            table_hash: first_table..=last_table,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_bounds() {
        // An epoch of 0 and a time of 5,000 × 1,024 ms + 7 ms, by the published formula.
        let layout = SnowflakeLayout::new(0, 22);
        let time = |ms| DateTime::from_timestamp_millis(ms).unwrap();
        let span = SnowflakeSpan {
            time: time(5_000 * 1_024 + 7)..=time(6_000 * 1_024 + 9),
            database_hash: 0x1234..=0x5678,
            table_hash: 0x9abc..=0xdef0,
        };
        let (lower, upper) = span.encode(layout).unwrap();
        assert_eq!(lower, (4_999 << 32) | 0x1234_9abc);
        assert_eq!(upper, (6_001 << 32) | 0x5678_def0);
        let decoded = SnowflakeSpan::decode(lower, upper, layout).unwrap();
        assert_eq!(decoded.database_hash, span.database_hash);
        assert_eq!(decoded.table_hash, span.table_hash);
        assert_eq!(*decoded.time.start(), time(5_000 * 1_024));
        assert_eq!(
            *decoded.time.end(),
            time(6_001 * 1_024) - TimeDelta::nanoseconds(1)
        );
        assert_eq!(
            SnowflakeSpan::of_time(time(-5)..=time(9)).encode(layout),
            None
        );
    }
}
