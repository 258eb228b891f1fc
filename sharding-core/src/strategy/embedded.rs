use std::borrow::Cow;
use std::ops::Range;

use chrono::{DateTime, Utc};

use super::{Extent, Flaw, Misplaced, Strategy};
use crate::key::{KeyKind, KeyValue};

/// Text that holds the name of its partition at a fixed place, such as an order number that
/// begins with its month, `202301-000017`.
///
/// Equality and `IN` reach exactly the partitions of their values; any other predicate reaches
/// every partition. Best as a secondary key beside the one whose strategy it shares.
#[derive(Clone, Debug)]
pub struct Embedded<S> {
    place: Range<usize>,
    names: S,
}

impl<S: Strategy> Embedded<S> {
    /// The name of a partition of `strategy` is in the characters of this range, counted from 0.
    pub fn new(place: Range<usize>, strategy: S) -> Self {
        Self {
            place,
            names: strategy,
        }
    }
}

impl<S: Strategy> Strategy for Embedded<S> {
    fn describe(&self) -> String {
        let Range { start, end } = self.place;
        format!("characters {start} to {end}, {}", self.names.describe())
    }

    fn accepts(&self, kind: KeyKind) -> bool {
        kind == KeyKind::Text
    }

    fn flaws(&self) -> Vec<Flaw> {
        let empty = self
            .place
            .is_empty()
            .then(|| Flaw::new("place", "is an empty range of characters"));
        let inner = self
            .names
            .flaws()
            .into_iter()
            .map(|flaw| flaw.within("names"));
        empty.into_iter().chain(inner).collect()
    }

    fn extent(&self, now: DateTime<Utc>) -> Extent {
        self.names.extent(now)
    }

    fn name(&self, partition: u32) -> Cow<'_, str> {
        self.names.name(partition)
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.names.number(name)
    }

    fn place(&self, key: &KeyValue<'_>) -> Result<u32, Misplaced> {
        let KeyValue::Text(text) = key else {
            return Err(Misplaced::Kind);
        };
        let Range { start, end } = self.place;
        let name: String = text.chars().skip(start).take(end - start).collect();
        self.names.number(&name).ok_or(Misplaced::Outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::{Modulo, Monthly};

    #[test]
    fn the_name_is_cut_out_of_the_text() {
        let months = Embedded::new(2..8, Monthly::starting(2013, 1));
        let place = |text| months.place(&KeyValue::text(text));
        assert_eq!(place("ž-201303-17"), Ok(2));
        assert_eq!(place("x-201213-17"), Err(Misplaced::Outside));
        assert_eq!(place("x-2013"), Err(Misplaced::Outside));
        assert_eq!(months.place(&KeyValue::Int(201_303)), Err(Misplaced::Kind));
        let digit = Embedded::new(0..1, Modulo::new(4));
        assert_eq!(digit.place(&KeyValue::text("3x")), Ok(3));
    }
}
