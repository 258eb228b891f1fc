use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};

use super::bounds::{NO_RUN, integers};
use super::{Extent, Flaw, Misplaced, Partitions, Strategy, count_flaw};
use crate::key::{Interval, KeyKind, KeySet, KeyValue};

/// Integers by their remainder: partition = `key mod shards`, never negative (`-1 mod 4` is 3).
///
/// Equality and `IN` reach exactly the partitions of their values; a closed range reaches all its
/// remainders, so one as wide as the count of shards reaches every partition.
///
/// Partitions are named `0`, `1`, …; changing their count moves nearly all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulo {
    shards: u32,
}

impl Modulo {
    /// Over `shards` partitions: 1 to 65,536, checked when the topology is built.
    pub const fn new(shards: u32) -> Self {
        Self { shards }
    }

    fn remainder(self, key: i128) -> u32 {
        // The remainder is less than `shards`, so it fits.
        key.rem_euclid(i128::from(self.shards)) as u32
    }

    /// The remainders of the integers in the interval.
    fn remainders(self, interval: &Interval<'_>) -> [RangeInclusive<u32>; 2] {
        let all = [0..=self.shards - 1, NO_RUN];
        let (Some(low), Some(high)) = integers(interval) else {
            return all;
        };
        if low > high {
            return [NO_RUN, NO_RUN];
        }
        if high
            .checked_sub(low)
            .is_none_or(|width| width >= i128::from(self.shards) - 1)
        {
            return all;
        }
        let (low, high) = (self.remainder(low), self.remainder(high));
        if low <= high {
            [low..=high, NO_RUN]
        } else {
            [0..=high, low..=self.shards - 1]
        }
    }
}

impl Strategy for Modulo {
    fn describe(&self) -> String {
        format!("modulo {}", self.shards)
    }

    fn accepts(&self, kind: KeyKind) -> bool {
        kind == KeyKind::Integer
    }

    fn flaws(&self) -> Vec<Flaw> {
        count_flaw("shards", self.shards).into_iter().collect()
    }

    fn extent(&self, _now: DateTime<Utc>) -> Extent {
        Extent::fixed(self.shards)
    }

    fn place(&self, key: &KeyValue<'_>) -> Result<u32, Misplaced> {
        match key {
            KeyValue::Int(key) => Ok(self.remainder(*key)),
            _ => Err(Misplaced::Kind),
        }
    }

    fn route(&self, keys: &KeySet<'_>) -> Partitions {
        Partitions::from_runs(keys.intervals().iter().flat_map(|run| self.remainders(run)))
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Comparison, Predicate};

    #[track_caller]
    fn check(shards: u32, predicate: Predicate<'_>, expected: &[u32]) {
        let routed = Modulo::new(shards).route(&predicate.keys());
        assert_eq!(routed.below(shards).collect::<Vec<_>>(), expected);
    }

    fn int(value: i128) -> KeyValue<'static> {
        KeyValue::Int(value)
    }

    #[test]
    fn remainders_are_not_negative() {
        let place = |key| Modulo::new(4).place(&int(key)).unwrap();
        assert_eq!(
            [-5, -4, -1, 0, 5, i128::from(u64::MAX)].map(place),
            [3, 0, 3, 0, 1, 3]
        );
    }

    #[test]
    fn ranges_reach_their_remainders() {
        check(4, Predicate::between(int(5), int(6)), &[1, 2]);
        check(4, Predicate::between(int(7), int(9)), &[0, 1, 3]);
        check(4, Predicate::between(int(7), int(10)), &[0, 1, 2, 3]);
        check(4, Predicate::between(int(-1), int(0)), &[0, 3]);
        check(4, Predicate::between(int(9), int(7)), &[]);
        check(
            4,
            Predicate::Compare(Comparison::Less, int(7)),
            &[0, 1, 2, 3],
        );
        check(1, Predicate::between(int(3), int(3)), &[0]);
        let open = Predicate::And(vec![
            Predicate::Compare(Comparison::Greater, int(4)),
            Predicate::Compare(Comparison::Less, int(7)),
        ]);
        check(4, open, &[1, 2]);
        check(
            4,
            Predicate::between(int(i128::MIN), int(i128::MAX)),
            &[0, 1, 2, 3],
        );
    }

    #[test]
    fn negations_reach_everything() {
        let equal = Predicate::Compare(Comparison::Equal, int(2));
        check(4, equal.clone(), &[2]);
        check(4, Predicate::Not(Box::new(equal)), &[0, 1, 2, 3]);
        check(4, Predicate::IsNull, &[]);
    }
}
