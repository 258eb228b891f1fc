//! Random rows: skewed, rich in NULLs and duplicates, with accents, mixed case and extremes.

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::DbBackend;
use serde::{Deserialize, Serialize};

use super::random::Random;
use super::schema::{Kind, Row, Table};

/// The time that the rows of a world are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Span {
    /// Seven days of March 2023.
    Days,
    /// Seven months from January 2023 on.
    Months,
    /// The years 2020 to 2022.
    Years,
}

/// How rows are made.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The database system, which bounds some values.
    pub backend: DbBackend,
    /// The time that the rows are from.
    pub span: Span,
    /// Ids hold the time.
    pub snowflake: bool,
    /// Floating point numbers whose sums are exact in every order.
    pub exact_floats: bool,
    /// One in so many values of a nullable column is there; 0 for hardly a NULL.
    pub nulls: usize,
    /// Values from both ends of their types.
    pub extremes: bool,
}

const TEXTS: [&str; 24] = [
    "a", "A", "b", "B", "Zebra", "zebra", "äther", "Äther", "ather", "", "a b", "ß", "ss", "é",
    "e", "a ", "ab", "z", "日本", "%", "_", "a%b", "it's", "\\",
];

impl Span {
    /// The first instant.
    pub fn start(self) -> DateTime<Utc> {
        let text = match self {
            Self::Days => "2023-03-01T00:00:00Z",
            Self::Months => "2023-01-01T00:00:00Z",
            Self::Years => "2020-01-01T00:00:00Z",
        };
        text.parse().unwrap()
    }

    /// The first instant behind.
    pub fn end(self) -> DateTime<Utc> {
        let text = match self {
            Self::Days => "2023-03-08T00:00:00Z",
            Self::Months => "2023-08-01T00:00:00Z",
            Self::Years => "2023-01-01T00:00:00Z",
        };
        text.parse().unwrap()
    }
}

/// An id that holds a time, in a layout with two lower bits whose epoch is the span's start.
fn snowflake(span: Span, at: DateTime<Utc>, sequence: usize) -> i64 {
    ((at - span.start()).num_milliseconds() + sequence as i64 / 4) << 2 | (sequence as i64 % 4)
}

/// The rows of all tables, in the tables' order.
pub fn rows(random: &mut Random, recipe: &Recipe) -> Vec<Vec<Row>> {
    let facts = random.weighted(&[(2, 0), (2, 1), (4, 8), (10, 40), (30, 120), (10, 250)]);
    let owners = random.of(&[0, 1, 4, 6]);
    let tags = random.of(&[0, 2, 5, 9]);
    let mut fact: Vec<Row> = Vec::with_capacity(facts);
    // Some days get most of the rows, and some get none.
    let slots: Vec<usize> = (0..7).filter(|_| !random.one_in(3)).collect();
    let offset = random.of(&[0_i64, 0, 1000, -60]);
    for number in 0..facts {
        let at = instant(random, recipe.span, &slots);
        let id = if recipe.snowflake {
            snowflake(recipe.span, at, number)
        } else if recipe.extremes && number < 2 {
            [i64::MAX, i64::MIN + 1][number]
        } else {
            number as i64 + offset
        };
        let parent = match random.below(4) {
            0 => None,
            1 => Some(random.between(-2, facts as i64 + 2).to_string()),
            _ => random.pick(&fact).and_then(|row| row[0].clone()),
        };
        let columns = Table::Fact.columns().iter().map(|column| {
            let text = match column.name {
                "id" => Some(id.to_string()),
                "at" => Some(at.to_rfc3339()),
                "day" => {
                    let days = random.below(3) as i64 % (recipe.span.end() - at).num_days().max(1);
                    Some((at + TimeDelta::days(days)).date_naive().to_string())
                }
                "owner_id" => Some(random.between(1, owners + 2).to_string()),
                "parent_id" => parent.clone(),
                "ratio" => Some(format!("{:?}", random.between(-400, 400) as f32 / 4.0)),
                _ => Some(text(random, recipe, column.kind)),
            };
            text.filter(|_| !column.nullable || keep(random, recipe))
        });
        let columns = columns.collect();
        fact.push(columns);
    }
    let items = facts.min(160) * random.of(&[0, 1, 1, 2]);
    let item = (0..items).map(|number| {
        let parent = random.pick(&fact).filter(|_| !random.one_in(8)).cloned();
        let parent = parent.unwrap_or_else(|| {
            let at = instant(random, recipe.span, &slots);
            let id = if recipe.snowflake {
                snowflake(recipe.span, at, 3)
            } else {
                random.between(-2, facts as i64 + 5)
            };
            vec![
                Some(id.to_string()),
                Some(at.to_rfc3339()),
                Some(text(random, recipe, Kind::Text)),
                Some(text(random, recipe, Kind::Big)),
            ]
        });
        let columns = Table::Item.columns().iter().map(|column| {
            let text = match column.name {
                "id" => Some((number as i64 * 3 + 1).to_string()),
                "fact_id" => parent[0].clone(),
                "at" => parent[1].clone(),
                "kind" => parent[2].clone(),
                "big" => parent[3].clone(),
                "price" => Some(format!(
                    "{:.2}",
                    random.between(-99_999, 99_999) as f64 / 100.0
                )),
                "tag_id" => Some(random.between(1, tags + 2).to_string()),
                _ => Some(text(random, recipe, column.kind)),
            };
            text.filter(|_| !column.nullable || keep(random, recipe))
        });
        columns.collect()
    });
    let item = item.collect();
    let mut small = |table: Table, count: i64| -> Vec<Row> {
        let row = |number: i64| {
            let columns = table.columns().iter().map(|column| {
                let text = match column.name {
                    "id" => Some(number.to_string()),
                    _ => Some(text(random, recipe, column.kind)),
                };
                text.filter(|_| !column.nullable || keep(random, recipe))
            });
            columns.collect()
        };
        (1..=count).map(row).collect()
    };
    let tag = small(Table::Tag, tags);
    let owner = small(Table::Owner, owners);
    vec![fact, item, tag, owner]
}

fn keep(random: &mut Random, recipe: &Recipe) -> bool {
    match recipe.nulls {
        0 => !random.one_in(50),
        share => random.one_in(share),
    }
}

/// A whole second of the span.
fn instant(random: &mut Random, span: Span, slots: &[usize]) -> DateTime<Utc> {
    let seconds = (span.end() - span.start()).num_seconds();
    let slot = match slots {
        [] => 3,
        [first, ..] if random.percent(60) => *first,
        _ => random.of(slots),
    };
    let (width, begin) = (seconds / 7, seconds / 7 * slot as i64);
    let within = match random.below(8) {
        0 => 0,
        1 => width - 1,
        _ => random.between(0, width - 1),
    };
    span.start() + TimeDelta::seconds(begin + within)
}

/// A random value, as text.
pub fn text(random: &mut Random, recipe: &Recipe, kind: Kind) -> String {
    let extreme = recipe.extremes && random.one_in(8);
    match kind {
        Kind::Small if extreme => random.of(&[i16::MIN, i16::MAX]).to_string(),
        Kind::Int if extreme => random.of(&[i32::MIN, i32::MAX]).to_string(),
        Kind::Big if extreme => {
            let edge = (1_i64 << 53) + 1;
            random.of(&[edge, -edge, 1 << 40, 1 << 60]).to_string()
        }
        Kind::Unsigned if extreme => match recipe.backend {
            DbBackend::Postgres => i32::MAX.to_string(),
            _ => u32::MAX.to_string(),
        },
        Kind::Small | Kind::Int | Kind::Big => random.between(-5, 12).to_string(),
        Kind::Unsigned => random.between(0, 12).to_string(),
        Kind::Real => format!("{:?}", random.between(-400, 400) as f32 / 4.0),
        Kind::Double if recipe.exact_floats => {
            format!("{:?}", random.between(-4000, 4000) as f64 / 8.0)
        }
        Kind::Double => format!("{:?}", random.of(&[0.1, -0.3, 1e6, 1e-3, 2.7, -1e5]) * 1.7),
        Kind::Decimal if extreme => random.of(&["9999999999999999.9999", "-0.0001"]).to_owned(),
        Kind::Decimal => {
            let digits = random.of(&[0, 1, 2, 4]);
            sea_orm::prelude::Decimal::new(random.between(-20_000, 20_000), digits).to_string()
        }
        Kind::Bool => random.one_in(2).to_string(),
        Kind::Text => {
            let one = random.of(&TEXTS).to_owned();
            if random.one_in(10) {
                format!("{one}{}", random.of(&TEXTS))
            } else {
                one
            }
        }
        Kind::Char => random
            .of(&["x", "X", "ab", "AB", "äb", "abcd", ""])
            .to_owned(),
        Kind::Bytes => random
            .of(&["", "7f", "80", "7f00", "ffffff", "00"])
            .to_owned(),
        Kind::Uuid => {
            let (high, low) = (random.below(1 << 30) as u128, random.below(1 << 30) as u128);
            sea_orm::prelude::Uuid::from_u128(high << 98 | low).to_string()
        }
        Kind::Date => {
            let start = recipe.span.start().date_naive();
            (start + TimeDelta::days(random.between(-3, 10))).to_string()
        }
        Kind::Time => random
            .of(&["00:00:00", "07:30:15", "23:59:59", "12:00:00"])
            .to_owned(),
        Kind::DateTime => random
            .of(&[
                "2023-03-01T00:00:00",
                "2023-03-01T00:00:01.250",
                "1970-01-02T03:04:05",
                "2037-12-31T23:59:59",
                "2023-06-15T12:00:00.000001",
            ])
            .to_owned(),
        Kind::Instant => {
            let seconds = (recipe.span.end() - recipe.span.start()).num_seconds();
            let at = recipe.span.start() + TimeDelta::seconds(random.between(0, seconds - 1));
            at.to_rfc3339()
        }
        Kind::Json => random
            .of(&[
                "{\"a\":1}",
                "[1,2]",
                "\"x\"",
                "{}",
                "{\"a\":{\"b\":null}}",
                "1.5",
            ])
            .to_owned(),
        Kind::Mood => random.of(&["glad", "calm", "sad"]).to_owned(),
        Kind::Grade => random.of(&["A", "B", "C"]).to_owned(),
    }
}
