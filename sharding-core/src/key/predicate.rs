use std::borrow::Cow;
use std::ops::Bound;

use super::{KeySet, KeyValue};

/// What a condition says about one sharding key column, in SQL's three-valued logic.
///
/// Whatever is not understood is [`Predicate::Unknown`] and stands for "any row may match": it
/// widens, so a row that satisfies the condition is always in [`Predicate::keys`].
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate<'a> {
    /// A condition that says nothing about the key.
    Unknown,
    /// A condition with a constant outcome; `None` is SQL's NULL.
    Constant(Option<bool>),
    /// The key compared with a value.
    Compare(Comparison, KeyValue<'a>),
    /// The key is one of the values.
    In(Vec<KeyValue<'a>>),
    /// The key is in a set wherever the condition is true, and in another wherever it is false;
    /// the sets may overlap.
    Within {
        /// The keys for which it may be true.
        when_true: KeySet<'a>,
        /// The keys for which it may be false.
        when_false: KeySet<'a>,
    },
    /// The key is NULL.
    IsNull,
    /// All conditions hold.
    And(Vec<Predicate<'a>>),
    /// One of the conditions holds.
    Or(Vec<Predicate<'a>>),
    /// The condition does not hold.
    Not(Box<Predicate<'a>>),
}

/// A comparison of a text key in a database that orders text by its bytes. The key's normal form
/// lacks trailing spaces, which moves it down in that order, below characters that come before the
/// space; bounds leave room for that.
pub fn compare_text<'a>(comparison: Comparison, text: &'a str) -> Predicate<'a> {
    let control = text.find(|c: char| c < ' ').unwrap_or(text.len());
    let low = || Bound::Included(KeyValue::text(&text[..control]));
    // As it is written: a bound above the normal forms of all smaller texts.
    let high = || KeyValue::Text(Cow::Borrowed(text));
    let above = || KeySet::range(low(), Bound::Unbounded);
    let below = || KeySet::range(Bound::Unbounded, Bound::Excluded(high()));
    let until = || KeySet::range(Bound::Unbounded, Bound::Included(high()));
    let (when_true, when_false) = match comparison {
        Comparison::Equal => return Predicate::Compare(comparison, KeyValue::text(text)),
        Comparison::Less => (below(), above()),
        Comparison::LessOrEqual => (until(), above()),
        Comparison::Greater => (above(), until()),
        Comparison::GreaterOrEqual => (above(), below()),
    };
    Predicate::Within {
        when_true,
        when_false,
    }
}

/// How the key compares with a value: `key < value` is [`Comparison::Less`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// The comparison with the sides exchanged: `value < key` is `key > value`.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }
}

impl<'a> Predicate<'a> {
    /// A list of values, one of which may be NULL: with a NULL the predicate is true for the
    /// other values and never false. An empty list is false, also for a key that is NULL.
    pub fn in_list(values: Vec<KeyValue<'a>>, has_null: bool) -> Self {
        let list = if values.is_empty() {
            Self::Constant(Some(false))
        } else {
            Self::In(values)
        };
        if has_null {
            Self::Or(vec![list, Self::Constant(None)])
        } else {
            list
        }
    }

    /// `BETWEEN low AND high`, both included.
    pub fn between(low: KeyValue<'a>, high: KeyValue<'a>) -> Self {
        Self::And(vec![
            Self::Compare(Comparison::GreaterOrEqual, low),
            Self::Compare(Comparison::LessOrEqual, high),
        ])
    }

    /// The keys that a row can have for which the predicate is true: never too few of them.
    pub fn keys(self) -> KeySet<'a> {
        self.keys_where(Outcome::True)
    }

    fn keys_where(self, wanted: Outcome) -> KeySet<'a> {
        match self {
            Self::Unknown => KeySet::all(),
            Self::Constant(outcome) if outcome == Some(wanted == Outcome::True) => KeySet::all(),
            Self::Constant(_) => KeySet::none(),
            Self::Compare(comparison, value) => compare(comparison, value).only(wanted),
            // Not even NULL is in a list of nothing.
            Self::In(values) if values.is_empty() => Self::Constant(Some(false)).keys_where(wanted),
            Self::In(values) => KeySet::points(values).only(wanted),
            Self::Within { when_true, .. } if wanted == Outcome::True => when_true,
            Self::Within { when_false, .. } => when_false,
            Self::IsNull if wanted == Outcome::True => KeySet::null(),
            Self::IsNull => KeySet::not_null(),
            Self::Not(inner) => inner.keys_where(wanted.negated()),
            Self::And(parts) => combine(parts, wanted, wanted == Outcome::True),
            Self::Or(parts) => combine(parts, wanted, wanted == Outcome::False),
        }
    }
}

/// The outcome of a predicate that is asked for; NULL is neither.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    True,
    False,
}

impl Outcome {
    fn negated(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
        }
    }
}

impl<'a> KeySet<'a> {
    /// This set is where a comparison is true; where it is false is the rest, NULL aside. A value
    /// that stands for several is in the rest too: where `'a'` and `'a '` differ, a row with the
    /// one satisfies `<>` the other.
    fn only(self, wanted: Outcome) -> Self {
        match wanted {
            Outcome::True => self,
            Outcome::False if self.bounds().all(KeyValue::is_exact) => self.complement(),
            Outcome::False => Self::not_null(),
        }
    }
}

fn compare(comparison: Comparison, value: KeyValue<'_>) -> KeySet<'_> {
    match comparison {
        Comparison::Equal => KeySet::point(value),
        Comparison::Less => KeySet::range(Bound::Unbounded, Bound::Excluded(value)),
        Comparison::LessOrEqual => KeySet::range(Bound::Unbounded, Bound::Included(value)),
        Comparison::Greater => KeySet::range(Bound::Excluded(value), Bound::Unbounded),
        Comparison::GreaterOrEqual => KeySet::range(Bound::Included(value), Bound::Unbounded),
    }
}

/// A conjunction is true where all parts are, and false where one of them is; a disjunction the
/// other way round.
fn combine<'a>(parts: Vec<Predicate<'a>>, wanted: Outcome, all: bool) -> KeySet<'a> {
    let sets = parts.into_iter().map(|part| part.keys_where(wanted));
    if all {
        sets.fold(KeySet::all(), KeySet::intersect)
    } else {
        KeySet::union_all(sets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i128) -> KeyValue<'static> {
        KeyValue::Int(value)
    }

    fn equal(value: i128) -> Predicate<'static> {
        Predicate::Compare(Comparison::Equal, int(value))
    }

    fn not(inner: Predicate<'_>) -> Predicate<'_> {
        Predicate::Not(Box::new(inner))
    }

    #[track_caller]
    fn check(predicate: Predicate<'_>, keys: &str) {
        assert_eq!(predicate.keys().to_string(), keys);
    }

    #[test]
    fn leaves() {
        check(equal(5), "5");
        check(not(equal(5)), "(-∞ .. 5), (5 .. ∞)");
        check(Predicate::between(int(3), int(9)), "[3 .. 9]");
        check(Predicate::between(int(9), int(3)), "no value");
        check(Predicate::IsNull, "NULL");
        check(not(Predicate::IsNull), "any value but NULL");
        check(Predicate::Unknown, "any value");
        check(not(Predicate::Unknown), "any value");
    }

    #[test]
    fn null_is_neither_true_nor_false() {
        check(Predicate::Constant(None), "no value");
        check(not(Predicate::Constant(None)), "no value");
        check(Predicate::in_list(vec![int(1)], true), "1");
        check(not(Predicate::in_list(vec![int(1)], true)), "no value");
        check(
            not(Predicate::in_list(vec![int(1)], false)),
            "(-∞ .. 1), (1 .. ∞)",
        );
    }

    /// `'a'` stands for `'a '` too, which is another value where padding counts.
    #[test]
    fn negations_keep_padded_values() {
        let text = || KeyValue::text("a");
        let equal = || Predicate::Compare(Comparison::Equal, text());
        check(equal(), "'a'");
        check(not(equal()), "any value but NULL");
        check(not(not(equal())), "'a'");
        check(not(Predicate::In(vec![text()])), "any value but NULL");
        let bytes = Predicate::Compare(Comparison::Equal, KeyValue::bytes(vec![1]));
        check(not(bytes), "any value but NULL");
        check(Predicate::And(vec![equal(), not(equal())]), "'a'");
    }

    #[test]
    fn nesting() {
        check(Predicate::And(vec![equal(1), equal(2)]), "no value");
        check(Predicate::Or(vec![equal(1), equal(2)]), "1, 2");
        check(
            Predicate::Or(vec![equal(1), Predicate::Unknown]),
            "any value",
        );
        check(Predicate::And(vec![equal(1), Predicate::Unknown]), "1");
        check(
            not(Predicate::And(vec![equal(1), Predicate::Unknown])),
            "any value",
        );
        check(
            not(Predicate::Or(vec![equal(1), equal(2)])),
            "(-∞ .. 1), (1 .. 2), (2 .. ∞)",
        );
        check(not(not(equal(1))), "1");
    }

    /// Every short text against every other, by the order of bytes.
    #[test]
    fn texts_compare_by_bytes_whatever_their_spaces() {
        let mut texts = vec![String::new()];
        for length in 0..3 {
            let longest: Vec<_> = texts
                .iter()
                .filter(|t| t.len() == length)
                .cloned()
                .collect();
            for text in longest {
                texts.extend(["\u{1}", " ", "a", "b"].map(|letter| format!("{text}{letter}")));
            }
        }
        type Holds = fn(&str, &str) -> bool;
        let comparisons: [(Comparison, Holds); 4] = [
            (Comparison::Less, |a, b| a < b),
            (Comparison::LessOrEqual, |a, b| a <= b),
            (Comparison::Greater, |a, b| a > b),
            (Comparison::GreaterOrEqual, |a, b| a >= b),
        ];
        let mut narrowed = 0;
        for value in &texts {
            for (comparison, holds) in comparisons {
                let is_true = compare_text(comparison, value).keys();
                let is_false = not(compare_text(comparison, value)).keys();
                for row in &texts {
                    let key = KeyValue::text(row.as_str());
                    let keys = if holds(row, value) {
                        &is_true
                    } else {
                        &is_false
                    };
                    assert!(keys.contains(&key), "{row:?} {comparison:?} {value:?}");
                    narrowed += usize::from(!is_true.contains(&key));
                }
            }
        }
        assert!(narrowed > 1_000);
    }

    #[test]
    fn empty_lists() {
        check(Predicate::in_list(vec![], false), "no value");
        check(not(Predicate::in_list(vec![], false)), "any value");
        check(not(Predicate::in_list(vec![], true)), "no value");
        check(Predicate::In(vec![]), "no value");
        check(not(Predicate::In(vec![])), "any value");
        check(Predicate::And(vec![]), "any value");
        check(Predicate::Or(vec![]), "no value");
    }
}
