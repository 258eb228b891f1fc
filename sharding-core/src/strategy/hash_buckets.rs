use std::borrow::Cow;

use chrono::{DateTime, Utc};

use super::names::Names;
use super::{Extent, Flaw, Misplaced, Strategy, count_flaw, hash};
use crate::key::{KeyKind, KeyValue};

/// Any key by its hash bucket: bucket = `hash(key) mod buckets`, with [`hash`], and a partition
/// owns ranges of buckets.
///
/// The count of buckets is fixed for ever: 1,024 unless given. To grow, give some buckets another
/// partition and move their rows; all other rows stay.
///
/// Equality and `IN` reach exactly the partitions of their values; any other predicate reaches
/// every partition. Several columns may be hashed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashBuckets {
    buckets: u32,
    /// Where each range of buckets ends, exclusive, and the partition that owns it.
    ranges: Vec<(u32, u32)>,
    names: Names,
}

impl HashBuckets {
    /// The count of buckets unless another is given.
    pub const BUCKETS: u32 = 1_024;

    /// So many buckets, 1 to 65,536, without a partition yet: [`HashBuckets::less_than`] gives
    /// them one.
    pub fn new(buckets: u32) -> Self {
        Self {
            buckets,
            ranges: Vec::new(),
            names: Names::default(),
        }
    }

    /// 1,024 buckets in equal ranges over so many partitions, named `0`, `1`, ….
    pub fn even(partitions: u32) -> Self {
        Self::new(Self::BUCKETS).evenly(partitions)
    }

    /// All buckets in equal ranges over so many partitions, named `0`, `1`, …: bucket `b` is in
    /// partition `b · partitions ÷ buckets`, rounded down.
    #[must_use]
    pub fn evenly(mut self, partitions: u32) -> Self {
        self.ranges.clear();
        self.names = Names::default();
        let (buckets, partitions) = (u64::from(self.buckets), u64::from(partitions));
        // One more than there are buckets is enough to be found wanting.
        for number in 0..partitions.min(buckets + 1) {
            let end = ((number + 1) * buckets).div_ceil(partitions);
            let name = self.names.intern(number.to_string());
            self.ranges.push((end as u32, name));
        }
        self
    }

    /// The partition of the buckets from the end of the last range up to `bucket`, which is
    /// excluded. The last range must end with the count of buckets. A partition may own several
    /// ranges.
    #[must_use]
    pub fn less_than(mut self, bucket: u32, partition: impl Into<String>) -> Self {
        let partition = self.names.intern(partition);
        self.ranges.push((bucket, partition));
        self
    }

    /// The bucket of a key.
    pub fn bucket(&self, key: &KeyValue<'_>) -> u32 {
        hash(key) % self.buckets
    }
}

impl Strategy for HashBuckets {
    fn describe(&self) -> String {
        format!("{} hash buckets over {}", self.buckets, self.names.count())
    }

    fn accepts(&self, _kind: KeyKind) -> bool {
        true
    }

    fn accepts_tuple(&self, _kinds: &[KeyKind]) -> bool {
        true
    }

    fn flaws(&self) -> Vec<Flaw> {
        let mut flaws: Vec<Flaw> = count_flaw("buckets", self.buckets)
            .into_iter()
            .chain(self.names.flaws())
            .collect();
        let mut start = 0;
        for (at, (end, _)) in self.ranges.iter().enumerate() {
            if *end <= start {
                let why = format!(
                    "less_than {end} leaves no bucket: the range before it ends with {start}"
                );
                flaws.push(Flaw::new(format!("ranges[{at}]"), why));
            }
            start = start.max(*end);
        }
        if start != self.buckets && !self.ranges.is_empty() {
            let why = format!(
                "end with {start}, but there are {} buckets; the last must be less_than {}",
                self.buckets, self.buckets
            );
            flaws.push(Flaw::new("ranges", why));
        }
        flaws
    }

    fn extent(&self, _now: DateTime<Utc>) -> Extent {
        Extent::fixed(self.names.count())
    }

    fn name(&self, partition: u32) -> Cow<'_, str> {
        Cow::Borrowed(self.names.name(partition))
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.names.number(name)
    }

    fn place(&self, key: &KeyValue<'_>) -> Result<u32, Misplaced> {
        let bucket = self.bucket(key);
        let range = self.ranges.partition_point(|(end, _)| *end <= bucket);
        let owner = self.ranges.get(range).ok_or(Misplaced::Outside)?;
        Ok(owner.1)
    }

    fn identity(&self) -> String {
        format!("{} {:?}", self.buckets, self.ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_ranges_cover_all_buckets() {
        for partitions in [1, 2, 3, 7, 1_000, 1_024] {
            let even = HashBuckets::even(partitions);
            assert_eq!(even.flaws(), []);
            let mut counts = vec![0_u32; partitions as usize];
            let mut start = 0;
            for (end, partition) in &even.ranges {
                counts[*partition as usize] += end - start;
                start = *end;
            }
            let (min, max) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(max - min <= 1, "{partitions}: {min} to {max}");
        }
    }

    /// From two partitions to three by moving a third of each: what is not moved stays.
    #[test]
    fn growth_moves_buckets_only() {
        let two = HashBuckets::even(2);
        let three = HashBuckets::new(1_024)
            .less_than(341, "0")
            .less_than(512, "2")
            .less_than(853, "1")
            .less_than(1_024, "2");
        assert_eq!(three.flaws(), []);
        let name = |strategy: &HashBuckets, key: i128| {
            let place = strategy.place(&KeyValue::Int(key)).unwrap();
            strategy.name(place).into_owned()
        };
        let moved: Vec<_> = (0..10_000)
            .filter(|key| name(&two, *key) != name(&three, *key))
            .collect();
        assert!(moved.iter().all(|key| name(&three, *key) == "2"));
        assert!((3_000..3_700).contains(&moved.len()), "{}", moved.len());
    }

    #[test]
    fn gaps_and_overlaps_are_named() {
        let text = |strategy: HashBuckets| {
            let flaw = |flaw: Flaw| format!("{} {}", flaw.at, flaw.why);
            strategy.flaws().into_iter().map(flaw).collect::<Vec<_>>()
        };
        assert_eq!(
            text(
                HashBuckets::new(8)
                    .less_than(4, "a")
                    .less_than(4, "b")
                    .less_than(7, "c")
            ),
            [
                "ranges[1] less_than 4 leaves no bucket: the range before it ends with 4",
                "ranges end with 7, but there are 8 buckets; the last must be less_than 8",
            ]
        );
        assert_eq!(
            text(HashBuckets::new(70_000)),
            [
                "buckets is 70000; at most 65536 are possible",
                " has no partition; name at least one",
            ]
        );
        assert!(text(HashBuckets::even(0))[0].contains("no partition"));
        assert!(!text(HashBuckets::even(2_000)).is_empty());
    }
}
