//! Snowflake ids: integers whose upper bits are a time.

mod hash;
mod span;
mod split;
mod time;

use chrono::{DateTime, Utc};

use super::Flaw;

pub use hash::{SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash};
pub use span::SnowflakeSpan;
pub use split::HashSplit;
pub use time::SnowflakeTime;

/// How an id is made up: a sign bit, milliseconds since an epoch, and lower bits that tell apart
/// what was made in one millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnowflakeLayout {
    /// Milliseconds from 1970-01-01 to the time of id 0.
    epoch: i64,
    /// The count of bits below the time.
    lower_bits: u32,
}

impl SnowflakeLayout {
    /// 41 bits of time since 2010-11-04 01:42:54.657 UTC, 10 bits for the worker and 12 for the
    /// sequence: the layout that Twitter published.
    pub const TWITTER: Self = Self {
        epoch: 1_288_834_974_657,
        lower_bits: 22,
    };

    /// The time of id 0, in milliseconds since 1970-01-01 00:00 UTC, and the count of bits below
    /// the time: worker and sequence together, 1 to 40, checked when the topology is built.
    pub const fn new(epoch: i64, lower_bits: u32) -> Self {
        Self { epoch, lower_bits }
    }

    /// The bits of an id above the lower ones: milliseconds since the epoch.
    pub fn ticks(self, id: i64) -> i64 {
        id >> self.lower_bits
    }

    /// The time at which an id was made; `None` if it is further away than a timestamp reaches.
    pub fn time(self, id: i64) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp_millis(self.ticks(id).checked_add(self.epoch)?)
    }

    /// The least id that can be made at this time or later, such as for `id >= …`; the nearest one
    /// possible if there is none.
    pub fn first_id(self, time: DateTime<Utc>) -> i64 {
        // Rounded up: an id tells whole milliseconds.
        let rest = i64::from(!time.timestamp_subsec_nanos().is_multiple_of(1_000_000));
        let ticks = time.timestamp_millis() + rest - self.epoch;
        let most = i64::MAX >> self.lower_bits;
        if ticks > most {
            i64::MAX
        } else {
            ticks.max(-most) << self.lower_bits
        }
    }

    pub(super) fn flaw(self) -> Option<Flaw> {
        let wrong = !(1..=40).contains(&self.lower_bits);
        let why = || format!("is {}; 1 to 40 are possible", self.lower_bits);
        wrong.then(|| Flaw::new("layout.lower_bits", why()))
    }
}

impl Default for SnowflakeLayout {
    fn default() -> Self {
        Self::TWITTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Wikipedia's article: 1541815603606036480 was made on 2022-06-28 16:07:40.105.
    #[test]
    fn the_time_of_an_id() {
        let time = "2022-06-28T16:07:40.105Z".parse::<DateTime<Utc>>().unwrap();
        let layout = SnowflakeLayout::TWITTER;
        assert_eq!(layout.time(1_541_815_603_606_036_480), Some(time));
        let first = layout.first_id(time);
        assert_eq!(first >> 22 << 22, first);
        assert_eq!(layout.time(first), Some(time));
        assert!(layout.time(first - 1) < Some(time));
        let later = time + chrono::TimeDelta::nanoseconds(1);
        assert!(layout.time(layout.first_id(later)) >= Some(later));
        assert_eq!(layout.first_id(DateTime::<Utc>::MAX_UTC), i64::MAX);
        assert_eq!(
            layout.time(-1).map(|t| t.timestamp_millis()),
            Some(layout.epoch - 1)
        );
    }
}
