use std::cmp::Ordering;
use std::fmt;
use std::ops::Bound;

use super::KeyValue;

/// A set of values of one sharding key column, NULL included or not.
///
/// Sets are closed under union and intersection. The intervals are sorted, disjoint and not
/// empty, so two equal sets of the same kind print alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySet<'a> {
    null: bool,
    intervals: Vec<Interval<'a>>,
}

/// A run of values between two bounds; a single value is an interval whose bounds both include it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval<'a> {
    /// Where the run begins.
    pub low: Bound<KeyValue<'a>>,
    /// Where the run ends.
    pub high: Bound<KeyValue<'a>>,
}

impl<'a> KeySet<'a> {
    /// Every value, and NULL.
    pub fn all() -> Self {
        Self {
            null: true,
            ..Self::not_null()
        }
    }

    /// No value, and not NULL.
    pub fn none() -> Self {
        Self {
            null: false,
            intervals: Vec::new(),
        }
    }

    /// NULL alone.
    pub fn null() -> Self {
        Self {
            null: true,
            intervals: Vec::new(),
        }
    }

    /// Every value but NULL.
    pub fn not_null() -> Self {
        let everything = Interval {
            low: Bound::Unbounded,
            high: Bound::Unbounded,
        };
        Self {
            null: false,
            intervals: vec![everything],
        }
    }

    /// One value.
    pub fn point(value: KeyValue<'a>) -> Self {
        Self {
            null: false,
            intervals: vec![Interval::point(value)],
        }
    }

    /// The listed values; the list may repeat itself.
    pub fn points(mut values: Vec<KeyValue<'a>>) -> Self {
        values.sort_unstable();
        values.dedup();
        Self {
            null: false,
            intervals: values.into_iter().map(Interval::point).collect(),
        }
    }

    /// The values between two bounds: none if they cross.
    pub fn range(low: Bound<KeyValue<'a>>, high: Bound<KeyValue<'a>>) -> Self {
        let interval = Interval { low, high };
        let intervals = if interval.is_empty() {
            Vec::new()
        } else {
            vec![interval]
        };
        Self {
            null: false,
            intervals,
        }
    }

    /// The tuples whose parts are in the sets, one set for each column of a composite key, in
    /// order: exact as long as the sets list at most `limit` tuples in all, else every tuple.
    pub fn tuples(columns: &[Self], limit: usize) -> Self {
        if columns.iter().any(|set| set.intervals.is_empty()) {
            // A row whose key is NULL in part is on no node, as one whose key is NULL.
            return Self::none();
        }
        let is_listed = |set: &Self| set.intervals.iter().all(|run| run.as_point().is_some());
        let mut count = 1_usize;
        for set in columns {
            count = count.saturating_mul(set.intervals.len());
            if count > limit || !is_listed(set) {
                return Self::not_null();
            }
        }
        let tuple = |number: usize| {
            // The number's digits, each in the base of its column's length.
            let mut rest = number;
            let parts = columns.iter().filter_map(|set| {
                let digit = rest % set.intervals.len();
                rest /= set.intervals.len();
                set.intervals[digit].as_point().cloned()
            });
            KeyValue::Tuple(parts.collect())
        };
        Self::points((0..count).map(tuple).collect())
    }

    /// Every value but NULL and the values of this set.
    pub fn complement(self) -> Self {
        let mut intervals = Vec::with_capacity(self.intervals.len() + 1);
        let mut low = Bound::Unbounded;
        for interval in self.intervals {
            let gap = Interval {
                low,
                high: flip(interval.low),
            };
            if !matches!(gap.high, Bound::Unbounded) && !gap.is_empty() {
                intervals.push(gap);
            }
            if matches!(interval.high, Bound::Unbounded) {
                return Self {
                    null: false,
                    intervals,
                };
            }
            low = flip(interval.high);
        }
        intervals.push(Interval {
            low,
            high: Bound::Unbounded,
        });
        Self {
            null: false,
            intervals,
        }
    }

    /// The values that are in either set.
    pub fn union(self, other: Self) -> Self {
        Self::union_all([self, other])
    }

    /// The values that are in any of the sets.
    pub fn union_all(sets: impl IntoIterator<Item = Self>) -> Self {
        let mut null = false;
        let mut all = Vec::new();
        for set in sets {
            null |= set.null;
            if all.is_empty() {
                all = set.intervals;
            } else {
                all.extend(set.intervals);
            }
        }
        all.sort_by(|a, b| cmp_low(&a.low, &b.low));
        let mut intervals: Vec<Interval<'a>> = Vec::with_capacity(all.len());
        for next in all {
            match intervals.last_mut() {
                Some(last) if touches(&last.high, &next.low) => {
                    if cmp_high(&next.high, &last.high).is_gt() {
                        last.high = next.high;
                    }
                }
                _ => intervals.push(next),
            }
        }
        Self { null, intervals }
    }

    /// The values that are in both sets.
    pub fn intersect(self, other: Self) -> Self {
        let null = self.null && other.null;
        if self.spans_everything() {
            return Self { null, ..other };
        }
        if other.spans_everything() {
            return Self { null, ..self };
        }
        let mut intervals = Vec::new();
        let (mut left, mut right) = (self.intervals.iter(), other.intervals.iter());
        let (mut a, mut b) = (left.next(), right.next());
        while let (Some(x), Some(y)) = (a, b) {
            let low = if cmp_low(&x.low, &y.low).is_ge() {
                &x.low
            } else {
                &y.low
            };
            let x_ends_first = cmp_high(&x.high, &y.high).is_le();
            let high = if x_ends_first { &x.high } else { &y.high };
            let shared = Interval {
                low: low.clone(),
                high: high.clone(),
            };
            if !shared.is_empty() {
                intervals.push(shared);
            }
            if x_ends_first {
                a = left.next();
            } else {
                b = right.next();
            }
        }
        Self { null, intervals }
    }

    /// Whether nothing is in the set, not even NULL.
    pub fn is_empty(&self) -> bool {
        !self.null && self.intervals.is_empty()
    }

    /// Whether every value is in the set (NULL aside).
    pub fn spans_everything(&self) -> bool {
        matches!(
            self.intervals.as_slice(),
            [Interval {
                low: Bound::Unbounded,
                high: Bound::Unbounded
            }]
        )
    }

    /// Whether NULL is in the set.
    pub fn has_null(&self) -> bool {
        self.null
    }

    /// The runs of values, in order.
    pub fn intervals(&self) -> &[Interval<'a>] {
        &self.intervals
    }

    /// The values at which runs begin or end.
    pub(super) fn bounds(&self) -> impl Iterator<Item = &KeyValue<'a>> {
        let ends = self.intervals.iter().flat_map(|run| [&run.low, &run.high]);
        ends.filter_map(|bound| match bound {
            Bound::Included(value) | Bound::Excluded(value) => Some(value),
            Bound::Unbounded => None,
        })
    }

    /// Whether the value is in the set.
    pub fn contains(&self, value: &KeyValue<'_>) -> bool {
        let at = self
            .intervals
            .partition_point(|interval| !interval.reaches(value));
        self.intervals
            .get(at)
            .is_some_and(|interval| interval.begins_by(value))
    }
}

impl<'a> Interval<'a> {
    fn point(value: KeyValue<'a>) -> Self {
        Self {
            low: Bound::Included(value.clone()),
            high: Bound::Included(value),
        }
    }

    /// The value, if the interval is a single one.
    pub fn as_point(&self) -> Option<&KeyValue<'a>> {
        match (&self.low, &self.high) {
            (Bound::Included(low), Bound::Included(high)) if low == high => Some(low),
            _ => None,
        }
    }

    fn is_empty(&self) -> bool {
        match (&self.low, &self.high) {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Included(low), Bound::Included(high)) => low > high,
            (
                Bound::Included(low) | Bound::Excluded(low),
                Bound::Included(high) | Bound::Excluded(high),
            ) => low >= high,
        }
    }

    fn begins_by(&self, value: &KeyValue<'_>) -> bool {
        match &self.low {
            Bound::Unbounded => true,
            Bound::Included(low) => low <= value,
            Bound::Excluded(low) => low < value,
        }
    }

    fn reaches(&self, value: &KeyValue<'_>) -> bool {
        match &self.high {
            Bound::Unbounded => true,
            Bound::Included(high) => high >= value,
            Bound::Excluded(high) => high > value,
        }
    }
}

/// The bound of the neighbouring interval.
fn flip<T>(bound: Bound<T>) -> Bound<T> {
    match bound {
        Bound::Included(value) => Bound::Excluded(value),
        Bound::Excluded(value) => Bound::Included(value),
        Bound::Unbounded => Bound::Unbounded,
    }
}

fn cmp_low(a: &Bound<KeyValue<'_>>, b: &Bound<KeyValue<'_>>) -> Ordering {
    cmp_bounds(a, b, Ordering::Less)
}

fn cmp_high(a: &Bound<KeyValue<'_>>, b: &Bound<KeyValue<'_>>) -> Ordering {
    cmp_bounds(a, b, Ordering::Greater)
}

/// `outer` says on which side of all values an open end lies; there an including bound also lies
/// further out than an excluding one of the same value.
fn cmp_bounds(a: &Bound<KeyValue<'_>>, b: &Bound<KeyValue<'_>>, outer: Ordering) -> Ordering {
    match (a, b) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => outer,
        (_, Bound::Unbounded) => outer.reverse(),
        (Bound::Included(a), Bound::Included(b)) | (Bound::Excluded(a), Bound::Excluded(b)) => {
            a.cmp(b)
        }
        (Bound::Included(a), Bound::Excluded(b)) => a.cmp(b).then(outer),
        (Bound::Excluded(a), Bound::Included(b)) => a.cmp(b).then(outer.reverse()),
    }
}

/// Whether an interval that ends at `high` leaves no gap before one that begins at `low`.
fn touches(high: &Bound<KeyValue<'_>>, low: &Bound<KeyValue<'_>>) -> bool {
    match (high, low) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => true,
        (Bound::Excluded(high), Bound::Excluded(low)) => low < high,
        (
            Bound::Included(high) | Bound::Excluded(high),
            Bound::Included(low) | Bound::Excluded(low),
        ) => low <= high,
    }
}

/// The set as a reader writes it, at most four runs of it.
impl fmt::Display for KeySet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 4;
        if self.spans_everything() {
            return f.write_str(if self.null {
                "any value"
            } else {
                "any value but NULL"
            });
        }
        if self.is_empty() {
            return f.write_str("no value");
        }
        let mut separator = "";
        for interval in self.intervals.iter().take(SHOWN) {
            write!(f, "{separator}{interval}")?;
            separator = ", ";
        }
        if self.intervals.len() > SHOWN {
            write!(f, "{separator}and {} more", self.intervals.len() - SHOWN)?;
        }
        if self.null {
            write!(f, "{separator}NULL")?;
        }
        Ok(())
    }
}

impl fmt::Display for Interval<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.as_point() {
            return value.fmt(f);
        }
        match &self.low {
            Bound::Unbounded => f.write_str("(-∞")?,
            Bound::Included(value) => write!(f, "[{value}")?,
            Bound::Excluded(value) => write!(f, "({value}")?,
        }
        match &self.high {
            Bound::Unbounded => f.write_str(" .. ∞)"),
            Bound::Included(value) => write!(f, " .. {value}]"),
            Bound::Excluded(value) => write!(f, " .. {value})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use bigdecimal::BigDecimal;

    use super::*;

    fn int(value: i128) -> KeyValue<'static> {
        KeyValue::Int(value)
    }

    fn closed(low: i128, high: i128) -> KeySet<'static> {
        KeySet::range(Bound::Included(int(low)), Bound::Included(int(high)))
    }

    fn below(high: i128) -> KeySet<'static> {
        KeySet::range(Bound::Unbounded, Bound::Excluded(int(high)))
    }

    #[test]
    fn unions_join_what_touches() {
        assert_eq!(
            below(5).union(KeySet::point(int(5))).to_string(),
            "(-∞ .. 5]"
        );
        assert_eq!(closed(1, 3).union(closed(2, 9)), closed(1, 9));
        assert_eq!(
            closed(7, 9).union(closed(1, 3)).to_string(),
            "[1 .. 3], [7 .. 9]"
        );
        assert!(below(5).union(below(5).complement()).spans_everything());
    }

    #[test]
    fn intersections_keep_what_is_shared() {
        assert_eq!(closed(1, 5).intersect(closed(4, 9)), closed(4, 5));
        assert!(closed(1, 3).intersect(closed(4, 9)).is_empty());
        assert!(below(5).intersect(below(5).complement()).is_empty());
        let list = KeySet::points(vec![int(9), int(1), int(4), int(1)]);
        assert_eq!(
            list.intersect(below(5)),
            KeySet::points(vec![int(1), int(4)])
        );
    }

    #[test]
    fn null_is_a_member_of_its_own() {
        assert!(!KeySet::null().complement().has_null());
        assert!(KeySet::all().intersect(KeySet::null()).has_null());
        assert!(KeySet::not_null().intersect(KeySet::null()).is_empty());
    }

    /// Every operation against membership of each value on its own.
    #[test]
    fn operations_agree_with_membership() {
        let mut pool = vec![KeySet::none(), KeySet::not_null()];
        for low in 0..5 {
            pool.push(KeySet::point(int(low)));
            for high in 0..5 {
                for low in [Bound::Included(int(low)), Bound::Excluded(int(low))] {
                    for high in [Bound::Included(int(high)), Bound::Excluded(int(high))] {
                        pool.push(KeySet::range(low.clone(), high.clone()));
                        pool.push(KeySet::range(low.clone(), Bound::Unbounded));
                    }
                }
            }
        }
        let two = pool.clone().into_iter().zip(pool.clone().into_iter().rev());
        pool.extend(two.map(|(a, b)| a.union(b)).collect::<Vec<_>>());
        // Halves stand for the values between two integers.
        let halves: Vec<KeyValue<'_>> = (-2..12)
            .map(|n| KeyValue::decimal(&(BigDecimal::from(n) / 2)))
            .collect();
        for a in &pool {
            for b in &pool {
                let union = a.clone().union(b.clone());
                let both = a.clone().intersect(b.clone());
                let not = a.clone().complement();
                for value in &halves {
                    let (in_a, in_b) = (a.contains(value), b.contains(value));
                    assert_eq!(union.contains(value), in_a || in_b, "{value}: {a} or {b}");
                    assert_eq!(both.contains(value), in_a && in_b, "{value}: {a} and {b}");
                    assert_eq!(not.contains(value), !in_a, "{value}: not {a}");
                }
            }
        }
    }
}
