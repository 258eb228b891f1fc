//! Sharding keys: their values, and sets of values.

mod predicate;
mod set;
mod value;

pub use predicate::{Comparison, Predicate, compare_text};
pub use set::{Interval, KeySet};
pub use value::{KeyKind, KeyValue};
