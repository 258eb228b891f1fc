//! Strategies: the rules from key values to partitions.
//!
//! A strategy numbers its partitions from 0 and names them; the topology turns names into tails,
//! data sources or nodes. Rules are stable for ever: a row is found where an older version put it.
//!
//! | strategy | keys | partition | narrows on |
//! |---|---|---|---|
//! | [`Modulo`] | integers | remainder | `=`, `IN`, short ranges |
//! | [`HashModulo`] | any | remainder of the hash | `=`, `IN` |
//! | [`HashBuckets`] | any | range of hash buckets | `=`, `IN` |
//! | [`Ranges`] | any of an order | range of values | `=`, `IN`, ranges |
//! | [`Lists`] | any | listed values | `=`, `IN` |
//! | [`Calendar`] | dates, timestamps, Unix time | hour to year | `=`, `IN`, ranges |
//! | [`SnowflakeTime`] | Snowflake ids | calendar slot of the id's time | `=`, `IN`, ranges |
//! | [`SnowflakeHash`] | Snowflake ids | node of the id's time and hash | `=`, `IN`, ranges by epoch |
//! | [`Embedded`] | text | the partition's name inside of the text | `=`, `IN` |
//!
//! # A strategy of one's own
//!
//! Four methods are enough. What [`Strategy::place`] gives for a value is what equality and `IN`
//! narrow to; everything else reaches all partitions.
//!
//! ```
//! use chrono::{DateTime, Utc};
//! use sharding_core::key::{KeyKind, KeySet, KeyValue};
//! use sharding_core::strategy::{Extent, Misplaced, Strategy};
//!
//! /// Telephone numbers by their country: Europe or elsewhere.
//! #[derive(Debug)]
//! struct Dialling;
//!
//! impl Strategy for Dialling {
//!     fn describe(&self) -> String {
//!         "dialling code".into()
//!     }
//!
//!     fn accepts(&self, kind: KeyKind) -> bool {
//!         kind == KeyKind::Text
//!     }
//!
//!     fn extent(&self, _now: DateTime<Utc>) -> Extent {
//!         Extent::fixed(2)
//!     }
//!
//!     fn place(&self, key: &KeyValue<'_>) -> Result<u32, Misplaced> {
//!         match key {
//!             KeyValue::Text(number) => Ok(u32::from(!number.starts_with("+3"))),
//!             _ => Err(Misplaced::Kind),
//!         }
//!     }
//! }
//!
//! assert_eq!(Dialling.place(&KeyValue::text("+420 2")), Ok(1));
//! let route = Dialling.route(&KeySet::point(KeyValue::text("+33 1")));
//! assert_eq!(route.below(2).collect::<Vec<_>>(), [0]);
//! ```

mod bounds;
mod calendar;
mod embedded;
mod hash;
mod hash_buckets;
mod hash_modulo;
mod lists;
mod modulo;
mod names;
mod partitions;
mod ranges;
mod snowflake;
mod zone;

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use chrono::{DateTime, Utc};

pub use calendar::{
    Calendar, Daily, Day, Days, EveryDays, Hour, Hourly, Month, Monthly, Quarter, Quarterly, Slot,
    UnixTime, Week, Weekly, Year, Yearly,
};
pub use embedded::Embedded;
pub use hash::hash;
pub use hash_buckets::HashBuckets;
pub use hash_modulo::HashModulo;
pub use lists::Lists;
pub use modulo::Modulo;
pub use partitions::Partitions;
pub use ranges::Ranges;
pub use snowflake::{
    HashSplit, SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash, SnowflakeLayout, SnowflakeSpan,
    SnowflakeTime,
};
pub use zone::{UnknownZone, Zone};

use crate::key::{Interval, KeyKind, KeySet, KeyValue};

/// The rule that places rows by the value of a sharding key.
///
/// The two directions must agree: if [`Strategy::place`] puts a value into partition `p`, then
/// [`Strategy::route`] of every set that contains the value contains `p`. The provided method of
/// the latter follows from the former.
///
/// The key of a rule over several columns is one [`KeyValue::Tuple`].
pub trait Strategy: Any + fmt::Debug + Send + Sync {
    /// The strategy and its parameters as a reader would name them: `modulo 4`.
    fn describe(&self) -> String;

    /// Whether the strategy can place values of this kind.
    fn accepts(&self, kind: KeyKind) -> bool;

    /// Whether the strategy can place tuples of values of these kinds, at least two: no unless it
    /// says so.
    fn accepts_tuple(&self, kinds: &[KeyKind]) -> bool {
        let _ = kinds;
        false
    }

    /// Everything that is wrong with the parameters: nothing unless it says so. No other method
    /// is called if there is something.
    fn flaws(&self) -> Vec<Flaw> {
        Vec::new()
    }

    /// How many partitions exist at `now`.
    fn extent(&self, now: DateTime<Utc>) -> Extent;

    /// The name of a partition of the extent: its number unless the strategy gives another. Names
    /// differ from each other, and consist of ASCII letters, digits and `_` if they become tails.
    fn name(&self, partition: u32) -> Cow<'_, str> {
        Cow::Owned(partition.to_string())
    }

    /// The partition of this name, which may lie beyond the extent. Has to be overridden together
    /// with [`Strategy::name`].
    fn number(&self, name: &str) -> Option<u32> {
        let number = name.parse().ok()?;
        (self.name(number) == name).then_some(number)
    }

    /// The partition of a row with this value.
    ///
    /// # Errors
    /// Why no partition takes the value. The topology also refuses partitions that do not exist.
    fn place(&self, key: &KeyValue<'_>) -> Result<u32, Misplaced>;

    /// The partitions that can hold rows with keys in the set: never too few.
    fn route(&self, keys: &KeySet<'_>) -> Partitions {
        route_points(self, keys)
    }

    /// Whether a greater key is never in an earlier partition. Rows in the order of the key are
    /// then read one partition after the other. `false` unless said otherwise.
    fn keeps_order(&self) -> bool {
        false
    }

    /// What decides the partition's number of a row. Two strategies of one type with the same
    /// identity place alike: what `Debug` shows unless the strategy says otherwise.
    fn identity(&self) -> String {
        format!("{self:?}")
    }

    /// Whether every row that the older strategy of the same type has placed until `now` stays where
    /// it is, and every partition keeps its number: only if the identities are the same, unless
    /// the strategy knows better.
    fn extends(&self, older: &dyn Strategy, now: DateTime<Utc>) -> bool {
        let _ = now;
        is_alike(self, older)
    }
}

/// Whether two strategies place every row alike.
pub fn is_alike<A: Strategy + ?Sized, B: Strategy + ?Sized>(a: &A, b: &B) -> bool {
    a.type_id() == b.type_id() && a.identity() == b.identity()
}

/// The partitions of listed values; every partition as soon as the set holds more than those.
/// This is the route of strategies that know nothing of order.
fn route_points<S: Strategy + ?Sized>(strategy: &S, keys: &KeySet<'_>) -> Partitions {
    let place = |interval: &Interval<'_>| interval.as_point().map(|key| strategy.place(key).ok());
    let points: Option<Vec<Option<u32>>> = keys.intervals().iter().map(place).collect();
    match points {
        Some(points) => points.into_iter().flatten().collect(),
        None => Partitions::all(),
    }
}

/// How many partitions a strategy has, and until when that is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The count of partitions: at least 1.
    pub count: u32,
    /// The instant at which the count grows; `None` if it never does.
    pub until: Option<DateTime<Utc>>,
}

impl Extent {
    /// A count of partitions that time does not change.
    pub fn fixed(count: u32) -> Self {
        Self { count, until: None }
    }
}

/// Something wrong with the parameters of a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The place inside of the strategy, such as `epochs[1].databases[0]`; empty for the whole.
    pub at: String,
    /// What is wrong and what would be right.
    pub why: String,
}

impl Flaw {
    /// A flaw of a part.
    pub fn new(at: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            at: at.into(),
            why: why.into(),
        }
    }

    /// The same flaw of a part that is inside of another.
    #[must_use]
    pub fn within(mut self, part: &str) -> Self {
        let dot = if self.at.is_empty() { "" } else { "." };
        self.at = format!("{part}{dot}{}", self.at);
        self
    }

    /// A flaw of the whole strategy.
    pub fn of_whole(why: impl Into<String>) -> Self {
        Self::new("", why)
    }
}

/// Why a strategy has no partition for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misplaced {
    /// The strategy does not place values of this kind.
    Kind,
    /// The value lies outside of the partitions, such as a date before the first month.
    Outside,
}

/// The most shards or hash buckets that a strategy with a fixed count may have.
pub const MAX_SHARDS: u32 = 65_536;

/// The most partitions that one strategy may have: enough for 119 years of hours.
pub const MAX_PARTITIONS: u32 = 1 << 20;

/// The flaw of a count out of bounds.
fn count_flaw(at: &str, count: u32) -> Option<Flaw> {
    match count {
        0 => Some(Flaw::new(at, "is 0; at least 1 is needed")),
        1..=MAX_SHARDS => None,
        _ => Some(Flaw::new(
            at,
            format!("is {count}; at most {MAX_SHARDS} are possible"),
        )),
    }
}
