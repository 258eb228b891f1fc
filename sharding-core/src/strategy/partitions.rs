use std::ops::RangeInclusive;

/// A set of partition numbers, as sorted runs that neither touch nor overlap.
///
/// A set may name partitions that do not exist; [`Partitions::below`] cuts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitions(Vec<RangeInclusive<u32>>);

impl Partitions {
    /// Every partition.
    pub fn all() -> Self {
        Self(vec![0..=u32::MAX])
    }

    /// No partition.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// The partitions of the runs, which may come in any order and overlap; empty runs are fine.
    pub fn from_runs(runs: impl IntoIterator<Item = RangeInclusive<u32>>) -> Self {
        let mut runs: Vec<_> = runs.into_iter().filter(|run| !run.is_empty()).collect();
        if runs.len() < 2 {
            return Self(runs);
        }
        runs.sort_unstable_by_key(|run| *run.start());
        let mut merged: Vec<RangeInclusive<u32>> = Vec::with_capacity(runs.len());
        for run in runs {
            match merged.last_mut() {
                Some(last) if *run.start() <= last.end().saturating_add(1) => {
                    if run.end() > last.end() {
                        *last = *last.start()..=*run.end();
                    }
                }
                _ => merged.push(run),
            }
        }
        Self(merged)
    }

    /// The members that are less than `count`, in order.
    pub fn below(&self, count: u32) -> impl Iterator<Item = u32> + '_ {
        self.0
            .iter()
            .cloned()
            .flatten()
            .take_while(move |number| *number < count)
    }

    /// The members of both sets.
    pub fn intersect(&self, other: &Self) -> Self {
        let (mut own, mut others) = (self.0.iter(), other.0.iter());
        let (mut a, mut b) = (own.next(), others.next());
        let mut shared = Vec::new();
        while let (Some(x), Some(y)) = (a, b) {
            let run = *x.start().max(y.start())..=*x.end().min(y.end());
            if !run.is_empty() {
                shared.push(run);
            }
            if x.end() <= y.end() {
                a = own.next();
            } else {
                b = others.next();
            }
        }
        Self(shared)
    }

    /// The partitions from which on membership is another: the first of each run, and the one
    /// behind its last.
    pub(crate) fn edges(&self) -> impl Iterator<Item = u32> + '_ {
        let edges = |run: &RangeInclusive<u32>| [*run.start(), run.end().saturating_add(1)];
        self.0.iter().flat_map(edges)
    }

    /// Whether the partition is a member.
    pub fn contains(&self, number: u32) -> bool {
        let at = self.0.partition_point(|run| *run.end() < number);
        self.0.get(at).is_some_and(|run| run.contains(&number))
    }
}

impl FromIterator<u32> for Partitions {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        Self::from_runs(numbers.into_iter().map(|number| number..=number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_merge() {
        let set = Partitions::from_runs([7..=9, 1..=2, 3..=3, 8..=12, u32::MAX..=u32::MAX]);
        assert_eq!(set.0, [1..=3, 7..=12, u32::MAX..=u32::MAX]);
        assert_eq!(set.below(9).collect::<Vec<_>>(), [1, 2, 3, 7, 8]);
        assert!(set.contains(12) && !set.contains(13) && !set.contains(0));
        let edges = set.edges().collect::<Vec<_>>();
        assert_eq!(edges, [1, 4, 7, 13, u32::MAX, u32::MAX]);
        let other = Partitions::from_runs([2..=8, 12..=20]);
        assert_eq!(set.intersect(&other).0, [2..=3, 7..=8, 12..=12]);
        assert_eq!(other.intersect(&set), set.intersect(&other));
        assert_eq!(set.intersect(&Partitions::all()), set);
        assert_eq!(Partitions::all().below(3).count(), 3);
        assert_eq!(Partitions::none().below(3).count(), 0);
    }
}
