//! The ends of intervals, as strategies over numbers and over cut lines need them.

use std::ops::{Bound, RangeInclusive};

use bigdecimal::{BigDecimal, RoundingMode, ToPrimitive};

use super::{Misplaced, Strategy};
use crate::key::{Interval, KeyValue};

/// A run of no partition.
#[allow(
    clippy::reversed_empty_ranges,
    reason = "an empty run is what is meant"
)]
pub(super) const NO_RUN: RangeInclusive<u32> = 1..=0;

/// The integers of an interval, from the first to the last; `None` for an end that is open. A
/// bound that is no number counts as open.
pub(super) fn integers(interval: &Interval<'_>) -> (Option<i128>, Option<i128>) {
    (first(&interval.low), last(&interval.high))
}

fn first(low: &Bound<KeyValue<'_>>) -> Option<i128> {
    match low {
        Bound::Included(KeyValue::Int(low)) => Some(*low),
        Bound::Excluded(KeyValue::Int(low)) => Some(low.saturating_add(1)),
        Bound::Included(KeyValue::Decimal(low)) | Bound::Excluded(KeyValue::Decimal(low)) => {
            rounded(low, RoundingMode::Ceiling)
        }
        _ => None,
    }
}

fn last(high: &Bound<KeyValue<'_>>) -> Option<i128> {
    match high {
        Bound::Included(KeyValue::Int(high)) => Some(*high),
        Bound::Excluded(KeyValue::Int(high)) => Some(high.saturating_sub(1)),
        Bound::Included(KeyValue::Decimal(high)) | Bound::Excluded(KeyValue::Decimal(high)) => {
            rounded(high, RoundingMode::Floor)
        }
        _ => None,
    }
}

/// A decimal of its own variant has a fraction or is beyond `i128`, so it is never a member.
fn rounded(number: &BigDecimal, mode: RoundingMode) -> Option<i128> {
    number.with_scale_round(0, mode).to_i128()
}

/// The partition of an interval that is a single value; `None` for other intervals, and values of
/// a kind that the strategy does not place.
pub(super) fn point_run(
    strategy: &impl Strategy,
    interval: &Interval<'_>,
) -> Option<RangeInclusive<u32>> {
    match strategy.place(interval.as_point()?) {
        Ok(partition) => Some(partition..=partition),
        Err(Misplaced::Outside) => Some(NO_RUN),
        Err(Misplaced::Kind) => None,
    }
}

/// The regions into which ascending cut lines divide all values, as the run of those that the
/// interval touches. A cut line belongs to the region above it, so region `n` is less than
/// `cuts[n]`, and the last region, `cuts.len()`, has no end.
pub(super) fn regions<T>(
    cuts: &[T],
    interval: &Interval<'_>,
    value: impl Fn(&T) -> &KeyValue<'static>,
) -> RangeInclusive<usize> {
    let reaches = |low: &KeyValue<'_>| cuts.partition_point(|cut| value(cut) <= low);
    let first = match &interval.low {
        Bound::Unbounded => 0,
        Bound::Included(low) | Bound::Excluded(low) => reaches(low),
    };
    let last = match &interval.high {
        Bound::Unbounded => cuts.len(),
        Bound::Included(high) => reaches(high),
        Bound::Excluded(high) => cuts.partition_point(|cut| value(cut) < high),
    };
    first..=last
}
