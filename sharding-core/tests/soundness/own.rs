//! Strategies as a user of the crate writes them.

use std::borrow::Cow;
use std::ops::Bound;

use chrono::{DateTime, Utc};
use sharding_core::key::{Interval, KeyKind, KeySet, KeyValue};
use sharding_core::strategy::{Extent, Misplaced, Partitions, Strategy};

/// Text by its length, and several columns by how they print: only what a strategy has to say.
#[derive(Debug)]
pub(crate) struct Length(pub(crate) u32);

impl Strategy for Length {
    fn describe(&self) -> String {
        format!("length modulo {}", self.0)
    }

    fn accepts(&self, kind: KeyKind) -> bool {
        kind == KeyKind::Text
    }

    fn accepts_tuple(&self, _kinds: &[KeyKind]) -> bool {
        true
    }

    fn extent(&self, _now: DateTime<Utc>) -> Extent {
        Extent::fixed(self.0)
    }

    fn place(&self, key: &KeyValue<'_>) -> Result<u32, Misplaced> {
        let length = match key {
            KeyValue::Text(text) => text.chars().count(),
            KeyValue::Tuple(_) => key.to_string().len(),
            _ => return Err(Misplaced::Kind),
        };
        Ok(length as u32 % self.0)
    }
}

/// Integers in stripes of a width that take turns: with names, a route for ranges, and no place
/// for negative numbers.
#[derive(Debug)]
pub(crate) struct Stripes {
    pub(crate) width: i128,
    pub(crate) names: Vec<String>,
}

impl Stripes {
    fn turns(&self, interval: &Interval<'_>) -> Vec<u32> {
        let count = self.names.len() as i128;
        let (Bound::Included(KeyValue::Int(low)), Bound::Included(KeyValue::Int(high))) =
            (&interval.low, &interval.high)
        else {
            return (0..count as u32).collect();
        };
        let (first, last) = (low.max(&0) / self.width, high.div_euclid(self.width));
        let last = last.min(first + count - 1);
        (first..=last).map(|turn| (turn % count) as u32).collect()
    }
}

impl Strategy for Stripes {
    fn describe(&self) -> String {
        format!("stripes of {}", self.width)
    }

    fn accepts(&self, kind: KeyKind) -> bool {
        kind == KeyKind::Integer
    }

    fn extent(&self, _now: DateTime<Utc>) -> Extent {
        Extent::fixed(self.names.len() as u32)
    }

    fn name(&self, partition: u32) -> Cow<'_, str> {
        self.names
            .get(partition as usize)
            .map_or(Cow::Borrowed(""), |name| Cow::Borrowed(name))
    }

    fn number(&self, name: &str) -> Option<u32> {
        let at = self.names.iter().position(|own| own == name);
        at.map(|at| at as u32)
    }

    fn place(&self, key: &KeyValue<'_>) -> Result<u32, Misplaced> {
        match key {
            KeyValue::Int(value) if *value >= 0 => {
                Ok((value / self.width % self.names.len() as i128) as u32)
            }
            KeyValue::Int(_) => Err(Misplaced::Outside),
            _ => Err(Misplaced::Kind),
        }
    }

    fn route(&self, keys: &KeySet<'_>) -> Partitions {
        let turns = keys.intervals().iter().flat_map(|run| self.turns(run));
        turns.collect()
    }
}
