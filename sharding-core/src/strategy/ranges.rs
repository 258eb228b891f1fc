use std::borrow::Cow;
use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};

use super::bounds::regions;
use super::names::Names;
use super::{Extent, Flaw, Misplaced, Partitions, Strategy};
use crate::key::{Interval, KeyKind, KeySet, KeyValue};

/// Values by explicit ranges: everything less than a bound and not less than the one before it.
///
/// Equality, `IN` and every range reach exactly the partitions they touch. Text is cut by its
/// bytes and narrows on equality and `IN`, since the order of text is the collation's.
///
/// Without [`Ranges::max_value`] values from the last bound on are refused, and further ranges
/// can be added behind it without moving a row. A partition may own several ranges.
///
/// ```
/// use sharding_core::strategy::Ranges;
///
/// let by_id = Ranges::new()
///     .less_than(10_000_000, "2022")
///     .less_than(25_000_000, "2023")
///     .max_value("recent");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    /// The bound of each range, exclusive, and the partition that owns the range.
    cuts: Vec<(KeyValue<'static>, u32)>,
    /// The partition of everything from the last bound on.
    rest: Option<u32>,
    names: Names,
    after_rest: usize,
}

impl Ranges {
    /// No ranges yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The partition of the values from the last bound up to this one, which is excluded. Bounds
    /// ascend and are of one kind, checked when the topology is built.
    #[must_use]
    pub fn less_than(
        mut self,
        bound: impl Into<KeyValue<'static>>,
        partition: impl Into<String>,
    ) -> Self {
        self.after_rest += usize::from(self.rest.is_some());
        let partition = self.names.intern(partition);
        self.cuts.push((bound.into(), partition));
        self
    }

    /// The partition of all values from the last bound on.
    #[must_use]
    pub fn max_value(mut self, partition: impl Into<String>) -> Self {
        self.after_rest += usize::from(self.rest.is_some());
        self.rest = Some(self.names.intern(partition));
        self
    }

    fn owner(&self, region: usize) -> Option<u32> {
        self.cuts.get(region).map(|(_, owner)| *owner).or(self.rest)
    }

    fn owners(&self, interval: &Interval<'_>) -> impl Iterator<Item = RangeInclusive<u32>> {
        regions(&self.cuts, interval, |(bound, _)| bound)
            .filter_map(|region| self.owner(region))
            .map(|owner| owner..=owner)
    }
}

impl Strategy for Ranges {
    fn keeps_order(&self) -> bool {
        let owners = self.cuts.iter().map(|(_, owner)| *owner).chain(self.rest);
        owners.is_sorted()
    }

    fn describe(&self) -> String {
        let bounds: Vec<_> = self
            .cuts
            .iter()
            .take(3)
            .map(|(b, _)| b.to_string())
            .collect();
        let more = if self.cuts.len() > 3 { ", …" } else { "" };
        let end = if self.rest.is_some() {
            ", MAXVALUE"
        } else {
            ""
        };
        format!("ranges less than {}{more}{end}", bounds.join(", "))
    }

    fn accepts(&self, kind: KeyKind) -> bool {
        self.cuts.iter().all(|(bound, _)| bound.is_of(kind))
    }

    fn flaws(&self) -> Vec<Flaw> {
        let mut flaws: Vec<Flaw> = self.names.flaws().into_iter().collect();
        for (at, pair) in self.cuts.windows(2).enumerate() {
            let [(low, _), (high, _)] = pair else {
                continue;
            };
            let why = if !low.is_alike(high) {
                format!("{high} is of another kind than {low}")
            } else if high <= low {
                format!("less_than {high} leaves no value: the range before it ends with {low}")
            } else {
                continue;
            };
            flaws.push(Flaw::new(format!("ranges[{}]", at + 1), why));
        }
        if self.after_rest > 0 {
            flaws.push(Flaw::new(
                "ranges",
                "go on after MAXVALUE, which has to be the last",
            ));
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
        if self
            .cuts
            .first()
            .is_some_and(|(bound, _)| !bound.is_alike(key))
        {
            return Err(Misplaced::Kind);
        }
        let region = self.cuts.partition_point(|(bound, _)| bound <= key);
        self.owner(region).ok_or(Misplaced::Outside)
    }

    fn route(&self, keys: &KeySet<'_>) -> Partitions {
        let owners = keys.intervals().iter().flat_map(|run| self.owners(run));
        Partitions::from_runs(owners)
    }

    fn identity(&self) -> String {
        format!("{:?} {:?}", self.cuts, self.rest)
    }

    fn extends(&self, older: &dyn Strategy, _now: DateTime<Utc>) -> bool {
        let older: &dyn std::any::Any = older;
        older.downcast_ref::<Self>().is_some_and(|older| {
            self == older
                || (older.rest.is_none()
                    && self.cuts.starts_with(&older.cuts)
                    && self.names.begin_with(&older.names))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Comparison, Predicate};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn ranges() -> Ranges {
        Ranges::new()
            .less_than(10, "a")
            .less_than(20, "b")
            .less_than(30, "a")
    }

    #[track_caller]
    fn check(strategy: &Ranges, predicate: Predicate<'_>, expected: &[&str]) {
        let route = strategy.route(&predicate.keys());
        let names: Vec<_> = route.below(9).map(|n| strategy.name(n)).collect();
        assert_eq!(names, expected);
    }

    fn compare(comparison: Comparison, value: i128) -> Predicate<'static> {
        Predicate::Compare(comparison, KeyValue::Int(value))
    }

    #[test]
    fn edges_are_exact() {
        let closed = ranges().max_value("c");
        check(&closed, compare(Comparison::Equal, 10), &["b"]);
        check(&closed, compare(Comparison::Less, 10), &["a"]);
        check(&closed, compare(Comparison::LessOrEqual, 10), &["a", "b"]);
        check(&closed, compare(Comparison::GreaterOrEqual, 30), &["c"]);
        check(&closed, compare(Comparison::Greater, 29), &["a", "c"]);
        check(&ranges(), compare(Comparison::GreaterOrEqual, 30), &[]);
        let between = Predicate::between(KeyValue::Int(10), KeyValue::Int(19));
        check(&closed, between, &["b"]);
        let not = Predicate::Not(Box::new(compare(Comparison::Equal, 15)));
        check(&closed, not, &["a", "b", "c"]);
    }

    #[test]
    fn values_beyond_the_last_bound_need_max_value() {
        assert_eq!(ranges().place(&KeyValue::Int(30)), Err(Misplaced::Outside));
        assert_eq!(ranges().max_value("c").place(&KeyValue::Int(30)), Ok(2));
        assert_eq!(ranges().place(&KeyValue::text("x")), Err(Misplaced::Kind));
    }

    #[test]
    fn text_is_cut_by_its_bytes() {
        let names = Ranges::new()
            .less_than("g", "a_f")
            .less_than("n", "g_m")
            .max_value("n_z");
        let place = |text| names.place(&KeyValue::text(text)).unwrap();
        assert_eq!(["", "fzz", "g", "Z", "ž"].map(place), [0, 0, 1, 0, 2]);
        assert!(names.accepts(KeyKind::Text) && !names.accepts(KeyKind::Integer));
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = ranges()
            .less_than(30, "x")
            .less_than("y", "z")
            .max_value("m")
            .max_value("n");
        let texts: Vec<_> = wrong
            .flaws()
            .into_iter()
            .map(|f| f.at + " " + &f.why)
            .collect();
        assert_eq!(
            texts,
            [
                "ranges[3] less_than 30 leaves no value: the range before it ends with 30",
                "ranges[4] 'y' is of another kind than 30",
                "ranges go on after MAXVALUE, which has to be the last",
            ]
        );
        assert_eq!(Ranges::new().flaws().len(), 1);
    }

    #[test]
    fn ranges_behind_the_last_move_no_row() {
        let longer = ranges().less_than(40, "d");
        assert!(longer.extends(&ranges(), NOW) && !ranges().extends(&longer, NOW));
        assert!(
            !ranges()
                .max_value("c")
                .less_than(40, "d")
                .extends(&ranges().max_value("c"), NOW)
        );
        assert!(ranges().max_value("c").extends(&ranges(), NOW));
    }
}
