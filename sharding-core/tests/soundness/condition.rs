use std::cmp::Ordering;
use std::fmt;

use chrono::{DateTime, Utc};
use sharding_core::key::{Comparison, KeyKind, Predicate, compare_text};

use crate::random::Random;
use crate::value::{Collation, Value};

/// A column of the table, and values at which something happens.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: KeyKind,
    pub(crate) pool: Vec<Value>,
}

/// The values of the columns; `None` is NULL.
pub(crate) type Row = Vec<Option<Value>>;

/// A condition on the columns, which are given by their positions.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Constant(Option<bool>),
    Compare(Sides, Operator),
    /// One column compared with another.
    Columns(usize, Operator, usize),
    In(usize, Vec<Option<Value>>),
    Between(usize, Option<Value>, Option<Value>),
    IsNull(usize),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
}

/// A column and a value, in this order or the other one.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    column: usize,
    value: Option<Value>,
    is_value_left: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    const ALL: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
    ];

    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

impl Condition {
    /// What SQL says about a row: `None` is NULL.
    pub(crate) fn outcome(&self, row: &Row, collation: Collation) -> Option<bool> {
        let compare = |left: Option<&Value>, operator: Operator, right: Option<&Value>| {
            Some(operator.holds(collation.compare(left?, right?)))
        };
        match self {
            Self::Constant(outcome) => *outcome,
            Self::Compare(sides, operator) => {
                let (column, value) = (row[sides.column].as_ref(), sides.value.as_ref());
                if sides.is_value_left {
                    compare(value, *operator, column)
                } else {
                    compare(column, *operator, value)
                }
            }
            Self::Columns(left, operator, right) => {
                compare(row[*left].as_ref(), *operator, row[*right].as_ref())
            }
            Self::In(column, list) => any(list
                .iter()
                .map(|value| compare(row[*column].as_ref(), Operator::Equal, value.as_ref()))),
            Self::Between(column, low, high) => {
                let own = row[*column].as_ref();
                all([
                    compare(own, Operator::GreaterOrEqual, low.as_ref()),
                    compare(own, Operator::LessOrEqual, high.as_ref()),
                ])
            }
            Self::IsNull(column) => Some(row[*column].is_none()),
            Self::And(parts) => all(parts.iter().map(|part| part.outcome(row, collation))),
            Self::Or(parts) => any(parts.iter().map(|part| part.outcome(row, collation))),
            Self::Not(inner) => inner.outcome(row, collation).map(|outcome| !outcome),
        }
    }

    /// What the condition says about one column: a leaf that is about another is unknown, and so
    /// is one about the order of a kind that every database orders in its own way.
    pub(crate) fn about<'a>(
        &'a self,
        own: usize,
        kind: KeyKind,
        collation: Collation,
    ) -> Predicate<'a> {
        let is_own = |column: &usize| *column == own;
        let compare = |comparison, value| compare(comparison, value, kind, collation);
        let about = |part: &'a Self| part.about(own, kind, collation);
        let parts = |parts: &'a [Self]| parts.iter().map(about).collect();
        match self {
            Self::Constant(outcome) => Predicate::Constant(*outcome),
            Self::Compare(sides, operator) if is_own(&sides.column) => {
                let (comparison, is_negated) = match operator {
                    Operator::Equal => (Comparison::Equal, false),
                    Operator::NotEqual => (Comparison::Equal, true),
                    Operator::Less => (Comparison::Less, false),
                    Operator::LessOrEqual => (Comparison::LessOrEqual, false),
                    Operator::Greater => (Comparison::Greater, false),
                    Operator::GreaterOrEqual => (Comparison::GreaterOrEqual, false),
                };
                let comparison = if sides.is_value_left {
                    comparison.mirrored()
                } else {
                    comparison
                };
                let leaf = compare(comparison, &sides.value);
                if is_negated { not(leaf) } else { leaf }
            }
            Self::In(column, list) if is_own(column) => {
                let values: Vec<_> = list.iter().flatten().map(Value::key).collect();
                if list.iter().all(Option::is_some) && list.len() % 2 == 0 {
                    // The same as `in_list` makes of it, also if there is nothing in it.
                    return Predicate::In(values);
                }
                Predicate::in_list(values, list.iter().any(Option::is_none))
            }
            Self::Between(column, low, high) if is_own(column) => Predicate::And(vec![
                compare(Comparison::GreaterOrEqual, low),
                compare(Comparison::LessOrEqual, high),
            ]),
            Self::IsNull(column) if is_own(column) => Predicate::IsNull,
            Self::And(own) => Predicate::And(parts(own)),
            Self::Or(own) => Predicate::Or(parts(own)),
            Self::Not(inner) => not(about(inner)),
            Self::Compare(..)
            | Self::Columns(..)
            | Self::In(..)
            | Self::Between(..)
            | Self::IsNull(_) => Predicate::Unknown,
        }
    }
}

fn compare(
    comparison: Comparison,
    value: &Option<Value>,
    kind: KeyKind,
    collation: Collation,
) -> Predicate<'_> {
    match value {
        Some(Value::Text(text)) if collation.is_of_bytes() => compare_text(comparison, text),
        _ if comparison != Comparison::Equal && !kind.is_ordered() => Predicate::Unknown,
        None => Predicate::Constant(None),
        Some(value) => Predicate::Compare(comparison, value.key()),
    }
}

fn not(predicate: Predicate<'_>) -> Predicate<'_> {
    Predicate::Not(Box::new(predicate))
}

fn any(outcomes: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut found = Some(false);
    for outcome in outcomes {
        match outcome {
            Some(true) => return Some(true),
            Some(false) => {}
            None => found = None,
        }
    }
    found
}

fn all(outcomes: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let negated = |outcome: Option<bool>| outcome.map(|outcome| !outcome);
    negated(any(outcomes.into_iter().map(negated)))
}

/// Draws conditions over the columns of a table, mostly about values that the rows have.
pub(crate) struct Conditions<'a> {
    pub(crate) columns: &'a [Column],
    pub(crate) rows: &'a [Row],
    pub(crate) now: DateTime<Utc>,
}

impl Conditions<'_> {
    pub(crate) fn draw(&self, random: &mut Random) -> Condition {
        if random.chance(20) {
            return self.of_row(random);
        }
        let depth = *random.pick(&[0, 0, 1, 1, 1, 2, 2, 3]);
        // What is about many columns rarely says much about one.
        let count = self.columns.len();
        let all: Vec<_> = (0..count).collect();
        let own = if random.chance(70) {
            vec![random.below(count); 5]
                .into_iter()
                .chain(all)
                .collect()
        } else {
            all
        };
        self.nested(random, depth, &own)
    }

    /// A condition on many columns that is true for a row.
    fn of_row(&self, random: &mut Random) -> Condition {
        let row = random.pick(self.rows);
        let mut parts = Vec::new();
        for (column, value) in row.iter().enumerate() {
            if random.chance(10) {
                continue;
            }
            let Some(value) = value else {
                parts.push(Condition::IsNull(column));
                continue;
            };
            parts.push(self.true_of(random, column, value));
            if random.chance(50) {
                parts.push(self.true_of(random, column, value));
            }
        }
        Condition::And(parts)
    }

    /// A condition on one column that is true for its value.
    fn true_of(&self, random: &mut Random, column: usize, value: &Value) -> Condition {
        match (random.below(3), self.constant(random, column)) {
            (0, _) => Condition::Compare(
                Sides {
                    column,
                    value: Some(value.clone()),
                    is_value_left: random.chance(50),
                },
                Operator::Equal,
            ),
            (1, Some(other)) => {
                let mut ends = [Some(value.clone()), Some(other.clone())];
                if Collation::default().compare(value, &other).is_gt() {
                    ends.reverse();
                }
                let [low, high] = ends;
                Condition::Between(column, low, high)
            }
            _ => {
                let mut list = self.list(random, column);
                list.push(Some(value.clone()));
                Condition::In(column, list)
            }
        }
    }

    /// A condition on the listed columns, which may repeat.
    fn nested(&self, random: &mut Random, depth: usize, of: &[usize]) -> Condition {
        if depth == 0 {
            let column = *random.pick(of);
            return self.leaf(random, column);
        }
        let kind = random.below(6);
        if kind == 0 {
            return Condition::Not(Box::new(self.nested(random, depth - 1, of)));
        }
        let count = *random.pick(&[0, 1, 2, 2, 2, 2, 2, 3, 3, 4]);
        let parts = (0..count)
            .map(|_| self.nested(random, depth - 1, of))
            .collect();
        if kind < 4 {
            Condition::And(parts)
        } else {
            Condition::Or(parts)
        }
    }

    fn leaf(&self, random: &mut Random, column: usize) -> Condition {
        match random.below(20) {
            0 => Condition::Constant(*random.pick(&[None, Some(false), Some(true)])),
            1 => Condition::IsNull(column),
            2 => {
                let kind = self.columns[column].kind;
                let alike = |at: &usize| self.columns[*at].kind == kind;
                let others: Vec<_> = (0..self.columns.len()).filter(alike).collect();
                let operator = *random.pick(&Operator::ALL);
                Condition::Columns(column, operator, *random.pick(&others))
            }
            3..7 => Condition::In(column, self.list(random, column)),
            7..11 => {
                let (low, high) = (self.constant(random, column), self.constant(random, column));
                Condition::Between(column, low, high)
            }
            _ => Condition::Compare(
                Sides {
                    column,
                    value: self.constant(random, column),
                    is_value_left: random.chance(50),
                },
                *random.pick(&Operator::ALL),
            ),
        }
    }

    fn list(&self, random: &mut Random, column: usize) -> Vec<Option<Value>> {
        let count = *random.pick(&[0, 1, 2, 2, 3, 5]);
        let mut list: Vec<_> = (0..count).map(|_| self.constant(random, column)).collect();
        if count > 1 && random.chance(30) {
            list.push(list[0].clone());
        }
        list
    }

    fn constant(&self, random: &mut Random, column: usize) -> Option<Value> {
        let Column { kind, pool, .. } = &self.columns[column];
        let of_row = random.pick(self.rows)[column].clone();
        match random.below(40) {
            0 => None,
            1 => Some(Value::draw(random, *kind, self.now)),
            2 | 3 => {
                let kind = match kind {
                    KeyKind::Integer => &KeyKind::Decimal,
                    kind => kind,
                };
                Some(Value::extreme(random, *kind))
            }
            4..16 => Some(random.pick(pool).clone()),
            16..24 => Some(random.pick(pool).neighbour(random)),
            24..28 => of_row.map(|value| value.neighbour(random)),
            _ => of_row.or_else(|| Some(random.pick(pool).clone())),
        }
    }
}

/// A condition with the names of its columns.
pub(crate) struct Shown<'a>(pub(crate) &'a Condition, pub(crate) &'a [Column]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(condition, columns) = self;
        let name = |column: &usize| columns[*column].name;
        let chain = |f: &mut fmt::Formatter<'_>, parts: &[Condition], link: &str| {
            write!(f, "{link}(")?;
            for (at, part) in parts.iter().enumerate() {
                let comma = if at == 0 { "" } else { ", " };
                write!(f, "{comma}{}", Shown(part, columns))?;
            }
            f.write_str(")")
        };
        match condition {
            Condition::Constant(outcome) => write!(f, "{outcome:?}"),
            Condition::Compare(sides, operator) => {
                let (column, value) = (name(&sides.column), shown(&sides.value));
                let sign = operator.sign();
                if sides.is_value_left {
                    write!(f, "{value} {sign} {column}")
                } else {
                    write!(f, "{column} {sign} {value}")
                }
            }
            Condition::Columns(left, operator, right) => {
                write!(f, "{} {} {}", name(left), operator.sign(), name(right))
            }
            Condition::In(column, list) => {
                let list: Vec<_> = list.iter().map(shown).collect();
                write!(f, "{} IN ({})", name(column), list.join(", "))
            }
            Condition::Between(column, low, high) => {
                let (low, high) = (shown(low), shown(high));
                write!(f, "{} BETWEEN {low} AND {high}", name(column))
            }
            Condition::IsNull(column) => write!(f, "{} IS NULL", name(column)),
            Condition::And(parts) => chain(f, parts, "ALL"),
            Condition::Or(parts) => chain(f, parts, "ANY"),
            Condition::Not(inner) => write!(f, "NOT ({})", Self(inner, columns)),
        }
    }
}

pub(crate) fn shown(value: &Option<Value>) -> String {
    value
        .as_ref()
        .map_or_else(|| "NULL".to_owned(), ToString::to_string)
}
