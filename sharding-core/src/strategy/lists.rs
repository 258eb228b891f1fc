use std::borrow::Cow;
use std::ops::Bound;

use chrono::{DateTime, Utc};

use super::names::Names;
use super::{Extent, Flaw, Misplaced, Partitions, Strategy};
use crate::key::{Interval, KeyKind, KeySet, KeyValue};

/// Listed values, each list with a partition, and optionally one partition for all others.
///
/// Equality and `IN` reach exactly the partitions of their values; a range reaches those of the
/// listed values in it, and that of all others.
///
/// Without [`Lists::otherwise`] other values are refused, and can be listed later without moving
/// a row.
///
/// ```
/// use sharding_core::strategy::Lists;
///
/// let by_country = Lists::new()
///     .values("eu", ["cz", "de", "fr"])
///     .values("us", ["us"])
///     .otherwise("rest");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// The values, sorted once they are looked up, and their partitions.
    values: Vec<(KeyValue<'static>, u32)>,
    rest: Option<u32>,
    names: Names,
    flaws: Vec<(String, String)>,
    lists: usize,
}

impl Lists {
    /// No lists yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The partition of these values, of one kind and none of them listed before, checked when
    /// the topology is built.
    #[must_use]
    pub fn values<V: Into<KeyValue<'static>>>(
        mut self,
        partition: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let partition = self.names.intern(partition);
        let mut any = false;
        let place = format!("lists[{}]", self.lists);
        self.lists += 1;
        for value in values {
            any = true;
            let value = value.into();
            if self
                .values
                .first()
                .is_some_and(|(first, _)| !first.is_alike(&value))
            {
                let why = format!("{value} is of another kind than {}", self.values[0].0);
                self.flaws.push((place.clone(), why));
                continue;
            }
            match self
                .values
                .binary_search_by(|(listed, _)| listed.cmp(&value))
            {
                Ok(at) => {
                    let other = self.names.name(self.values[at].1);
                    let why = format!("{value} is listed already, for `{other}`");
                    self.flaws.push((place.clone(), why));
                }
                Err(at) => self.values.insert(at, (value, partition)),
            }
        }
        if !any {
            self.flaws.push((place, "lists no value".to_owned()));
        }
        self
    }

    /// The partition of all values that are not listed.
    #[must_use]
    pub fn otherwise(mut self, partition: impl Into<String>) -> Self {
        if self.rest.is_some() {
            let why = "is given twice".to_owned();
            self.flaws.push(("otherwise".to_owned(), why));
        }
        self.rest = Some(self.names.intern(partition));
        self
    }

    fn owner(&self, key: &KeyValue<'_>) -> Option<u32> {
        let found = self.values.binary_search_by(|(listed, _)| listed.cmp(key));
        found.ok().map(|at| self.values[at].1).or(self.rest)
    }

    fn listed(&self, interval: &Interval<'_>) -> &[(KeyValue<'static>, u32)] {
        let from = match &interval.low {
            Bound::Unbounded => 0,
            Bound::Included(low) => self.values.partition_point(|(value, _)| value < low),
            Bound::Excluded(low) => self.values.partition_point(|(value, _)| value <= low),
        };
        let to = match &interval.high {
            Bound::Unbounded => self.values.len(),
            Bound::Included(high) => self.values.partition_point(|(value, _)| value <= high),
            Bound::Excluded(high) => self.values.partition_point(|(value, _)| value < high),
        };
        self.values.get(from..to).unwrap_or_default()
    }
}

impl Strategy for Lists {
    fn describe(&self) -> String {
        let rest = if self.rest.is_some() {
            " and the rest"
        } else {
            ""
        };
        format!("lists of {} values{rest}", self.values.len())
    }

    fn accepts(&self, kind: KeyKind) -> bool {
        self.values.iter().all(|(value, _)| value.is_of(kind))
    }

    fn flaws(&self) -> Vec<Flaw> {
        let own = self.flaws.iter().map(|(at, why)| Flaw::new(at, why));
        self.names.flaws().into_iter().chain(own).collect()
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
            .values
            .first()
            .is_some_and(|(value, _)| !value.is_alike(key))
        {
            return Err(Misplaced::Kind);
        }
        self.owner(key).ok_or(Misplaced::Outside)
    }

    fn route(&self, keys: &KeySet<'_>) -> Partitions {
        let mut found = Vec::new();
        for interval in keys.intervals() {
            match interval.as_point() {
                Some(key) => found.extend(self.owner(key)),
                None => {
                    found.extend(self.listed(interval).iter().map(|(_, owner)| *owner));
                    found.extend(self.rest);
                }
            }
        }
        found.into_iter().collect()
    }

    fn identity(&self) -> String {
        format!("{:?} {:?}", self.values, self.rest)
    }

    fn extends(&self, older: &dyn Strategy, _now: DateTime<Utc>) -> bool {
        let older: &dyn std::any::Any = older;
        older.downcast_ref::<Self>().is_some_and(|older| {
            self == older
                || (older.rest.is_none()
                    && self.names.begin_with(&older.names)
                    && older.values.iter().all(|value| self.values.contains(value)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Comparison, Predicate};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn countries() -> Lists {
        Lists::new().values("eu", ["cz", "de"]).values("us", ["us"])
    }

    #[track_caller]
    fn check(strategy: &Lists, predicate: Predicate<'_>, expected: &[&str]) {
        let route = strategy.route(&predicate.keys());
        let names: Vec<_> = route.below(9).map(|n| strategy.name(n)).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn values_reach_their_lists() {
        let text = |text| KeyValue::text(text);
        let equal = |value| Predicate::Compare(Comparison::Equal, KeyValue::text(value));
        check(&countries(), equal("de"), &["eu"]);
        check(&countries(), equal("jp"), &[]);
        check(&countries().otherwise("rest"), equal("jp"), &["rest"]);
        let list = Predicate::in_list(vec![text("us"), text("jp"), text("us")], true);
        check(
            &countries().otherwise("rest"),
            list.clone(),
            &["us", "rest"],
        );
        check(&countries(), list, &["us"]);
        // The row may have `us` with a space behind it.
        let not = Predicate::Not(Box::new(equal("us")));
        check(
            &countries().otherwise("rest"),
            not.clone(),
            &["eu", "us", "rest"],
        );
        check(&countries(), not, &["eu", "us"]);
    }

    #[test]
    fn numbers_have_ranges() {
        let lists = Lists::new().values("low", [1, 2]).values("high", [8, 9]);
        let between = |low, high| Predicate::between(KeyValue::Int(low), KeyValue::Int(high));
        check(&lists, between(2, 7), &["low"]);
        check(&lists, between(3, 7), &[]);
        check(
            &lists.clone().otherwise("rest"),
            between(3, 8),
            &["high", "rest"],
        );
        check(
            &lists,
            Predicate::Compare(Comparison::Greater, KeyValue::Int(8)),
            &["high"],
        );
        let not = Predicate::in_list(vec![KeyValue::Int(1), KeyValue::Int(2)], false);
        check(&lists, Predicate::Not(Box::new(not)), &["high"]);
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = countries()
            .values("as", ["jp", "de"])
            .values("none", [""; 0])
            .values("n", [1]);
        let texts: Vec<_> = wrong
            .flaws()
            .into_iter()
            .map(|f| f.at + " " + &f.why)
            .collect();
        assert_eq!(
            texts,
            [
                "lists[2] 'de' is listed already, for `eu`",
                "lists[3] lists no value",
                "lists[4] 1 is of another kind than 'cz'",
            ]
        );
    }

    #[test]
    fn new_values_move_no_row_without_a_rest() {
        let more = countries().values("eu", ["fr"]).values("as", ["jp"]);
        assert!(more.extends(&countries(), NOW) && !countries().extends(&more, NOW));
        let rest = || countries().otherwise("rest");
        assert!(!rest().values("eu", ["fr"]).extends(&rest(), NOW));
    }
}
