//! Strategies: the rules from key values to partitions.
//!
//! A strategy numbers its partitions from 0 and names them; the topology turns names into tails
//! or data sources. Rules are stable for ever: a row is found where an older version put it.

mod hash_modulo;
mod modulo;
mod monthly;
mod partitions;
mod zone;

use std::fmt;

use chrono::{DateTime, Utc};

pub use hash_modulo::{HashModulo, hash};
pub use modulo::Modulo;
pub use monthly::Monthly;
pub use partitions::Partitions;
pub use zone::Zone;

use crate::key::{KeyKind, KeySet, KeyValue};

/// The rule that places rows by the value of one sharding key.
///
/// The two directions must agree: if [`Strategy::place`] puts a value into partition `p`, then
/// [`Strategy::route`] of every set that contains the value contains `p`.
pub trait Strategy: fmt::Debug + Send + Sync + 'static {
    /// The strategy and its parameters as a reader would name them: `modulo 4`.
    fn describe(&self) -> String;

    /// Whether the strategy can place values of this kind.
    fn accepts(&self, kind: KeyKind) -> bool;

    /// The names of all partitions that exist at `now`, in order.
    ///
    /// # Errors
    /// What is wrong with the parameters, as a sentence without its subject: `has no shards`.
    fn partitions(&self, now: DateTime<Utc>) -> Result<Vec<String>, String>;

    /// The partition of a row with this value.
    ///
    /// # Errors
    /// Why no partition takes the value. The topology also refuses partitions that do not exist.
    fn place(&self, value: &KeyValue<'_>) -> Result<u32, Misplaced>;

    /// The partitions that can hold rows with keys in the set: never too few.
    fn route(&self, keys: &KeySet<'_>) -> Partitions;
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

/// The most partitions that one strategy may have.
pub const MAX_PARTITIONS: u32 = 65_536;

/// The numbers of a strategy with a fixed count of partitions as their names.
fn numbered(count: u32) -> Result<Vec<String>, String> {
    match count {
        0 => Err("has no shards; give it at least 1".into()),
        1..=MAX_PARTITIONS => Ok((0..count).map(|number| number.to_string()).collect()),
        _ => Err(format!(
            "has {count} shards; at most {MAX_PARTITIONS} are possible"
        )),
    }
}
