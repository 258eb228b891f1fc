use std::cmp::Ordering;
use std::collections::HashSet;

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use sea_orm::prelude::Uuid;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{DbBackend, EntityTrait, IntoActiveModel, Value};
use sharding_sea_orm::ShardingConnection;

use super::random::Random;
use crate::entity::Event;
use crate::world::{World, events, make_text_binary};
use crate::zoo;

/// A row that satisfies a condition, as three-valued logic has it, is on a node that the condition
/// is routed to, for random conditions over every sharding. `SHARDING_TEST_SEED` chooses other
/// conditions, and `SHARDING_TEST_ROUTES` their number.
pub async fn sound(backend: DbBackend) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed: u64 = number("SHARDING_TEST_SEED").unwrap_or(1);
    let conditions: u64 = number("SHARDING_TEST_ROUTES").unwrap_or(400);

    let world = World::bare(backend).await;
    let db = zoo::builder(world.urls()).connect().await.unwrap();
    db.create_tables().await.unwrap();
    if backend == DbBackend::MySql {
        make_text_binary(&db).await;
    }
    let events = events();
    let uids: Vec<Uuid> = events.iter().take(9).map(|event| event.uid).collect();
    let places: Vec<(&str, Vec<String>)> = nodes_of_rows(&db, &events);
    let (mut narrowed, mut matched) = (0_u64, 0_u64);
    for seed in seed..seed + conditions {
        let mut random = Random::new(seed);
        let condition = condition(&mut random, 4, &uids);
        let rows: Vec<usize> = (0..events.len())
            .filter(|&row| condition.is_true_for(&events[row]) == Some(true))
            .collect();
        matched += rows.len() as u64;
        for (table, places) in &places {
            let alias = if random.one_in(2) { "e" } else { *table };
            let expr = condition.expr(&mut random, alias);
            let mut select = Query::select();
            select.column((alias.to_owned(), "id")).and_where(expr);
            select.from_as(*table, alias.to_owned());
            let route = db.explain(&select).unwrap();
            narrowed += u64::from(route.nodes.len() < route.of);
            let reached: HashSet<String> = route.nodes.iter().map(name).collect();
            for &row in &rows {
                assert!(
                    reached.contains(&places[row]),
                    "seed {seed}: row {} of {} is not reached by {}",
                    events[row].id,
                    places[row],
                    backend.build(&select),
                );
            }
        }
    }
    assert!(
        narrowed > conditions && matched > conditions,
        "{narrowed} narrowed, {matched} matched"
    );
    db.close().await.unwrap();
    world.end().await;
}

fn name(node: &sharding_sea_orm::ExplainedNode) -> String {
    format!("{}.{}", node.source, node.table)
}

/// The node of each row, by what an INSERT of it does.
fn nodes_of_rows<'a>(db: &ShardingConnection, events: &[Event]) -> Vec<(&'a str, Vec<String>)> {
    macro_rules! nodes {
        ($($name:ident),+) => {{
            let mut tables = Vec::new();
            $({
                let place = |event: &Event| {
                    let row = zoo::$name::Model::from(event.clone()).into_active_model();
                    name(&db.explain(&zoo::$name::Entity::insert(row)).unwrap().nodes[0])
                };
                let table = concat!("event_", stringify!($name));
                tables.push((table, events.iter().map(place).collect()));
            })+
            tables
        }};
    }
    nodes!(
        weekly, quarterly, by_range, by_letter, by_list, bucketed, scattered, paired, snowflake
    )
}

/// A condition over the columns of a row.
enum Condition {
    Constant(Option<bool>),
    Compare(&'static str, Order, Literal),
    In(&'static str, Vec<Option<Literal>>),
    Between(&'static str, Literal, Literal),
    IsNull(&'static str),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
}

#[derive(Clone, Copy)]
enum Order {
    Equal,
    Less,
    LessOrEqual,
}

/// A value, and the ways to write it.
#[derive(Clone)]
enum Literal {
    /// Halves of a number.
    Halves(i128),
    Text(&'static str),
    Time(DateTime<Utc>),
    Uuid(Uuid),
    Bool(bool),
}

impl Condition {
    /// The outcome of three-valued logic; `None` is NULL.
    fn is_true_for(&self, row: &Event) -> Option<bool> {
        match self {
            Self::Constant(outcome) => *outcome,
            Self::Compare(column, order, literal) => {
                let ordering = of(row, column)?.cmp(literal);
                Some(match order {
                    Order::Equal => ordering == Ordering::Equal,
                    Order::Less => ordering == Ordering::Less,
                    Order::LessOrEqual => ordering != Ordering::Greater,
                })
            }
            Self::In(_, literals) if literals.is_empty() => Some(false),
            Self::In(column, literals) => {
                let value = of(row, column)?;
                let equal = |literal: &Option<Literal>| {
                    literal
                        .as_ref()
                        .map(|literal| value.cmp(literal) == Ordering::Equal)
                };
                any(literals.iter().map(equal))
            }
            Self::Between(column, low, high) => {
                let value = of(row, column)?;
                Some(value.cmp(low) != Ordering::Less && value.cmp(high) != Ordering::Greater)
            }
            Self::IsNull(column) => Some(of(row, column).is_none()),
            Self::And(parts) => {
                any(parts.iter().map(|part| part.is_true_for(row).map(|is| !is))).map(|is| !is)
            }
            Self::Or(parts) => any(parts.iter().map(|part| part.is_true_for(row))),
            Self::Not(inner) => inner.is_true_for(row).map(|is| !is),
        }
    }

    fn expr(&self, random: &mut Random, alias: &str) -> Expr {
        let column = |random: &mut Random, name: &'static str| {
            if random.one_in(4) {
                Expr::col(name)
            } else {
                Expr::col((alias.to_owned(), name))
            }
        };
        match self {
            Self::Constant(Some(outcome)) => {
                if random.one_in(2) {
                    Expr::val(*outcome)
                } else {
                    Expr::val(1).eq(if *outcome { 1 } else { 2 })
                }
            }
            Self::Constant(None) => Expr::val(1).eq(Value::Int(None)),
            Self::Compare(name, order, literal) => {
                let (column, value) = (column(random, name), Expr::val(literal.value(random)));
                match (order, random.one_in(2)) {
                    (Order::Equal, true) => value.eq(column),
                    (Order::Equal, false) => column.eq(value),
                    (Order::Less, true) => value.gt(column),
                    (Order::Less, false) => column.lt(value),
                    (Order::LessOrEqual, true) => value.gte(column),
                    (Order::LessOrEqual, false) => column.lte(value),
                }
            }
            Self::In(name, literals) => {
                let column = column(random, name);
                let values: Vec<Value> = literals
                    .iter()
                    .map(|literal| match literal {
                        Some(literal) => literal.value(random),
                        None => Value::BigInt(None),
                    })
                    .collect();
                column.is_in(values)
            }
            Self::Between(name, low, high) => {
                let (low, high) = (low.value(random), high.value(random));
                column(random, name).between(low, high)
            }
            Self::IsNull(name) => column(random, name).is_null(),
            Self::And(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| part.expr(random, alias)).collect();
                parts
                    .into_iter()
                    .reduce(Expr::and)
                    .unwrap_or_else(|| Expr::val(true))
            }
            Self::Or(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| part.expr(random, alias)).collect();
                parts
                    .into_iter()
                    .reduce(Expr::or)
                    .unwrap_or_else(|| Expr::val(false))
            }
            Self::Not(inner) => negated(inner, random, alias),
        }
    }
}

/// Some negations have a form of their own.
fn negated(inner: &Condition, random: &mut Random, alias: &str) -> Expr {
    let column = |name: &'static str| Expr::col((alias.to_owned(), name));
    match inner {
        Condition::Compare(name, Order::Equal, literal) if random.one_in(2) => {
            column(name).ne(literal.value(random))
        }
        Condition::Between(name, low, high) if random.one_in(2) => {
            let (low, high) = (low.value(random), high.value(random));
            column(name).not_between(low, high)
        }
        Condition::IsNull(name) if random.one_in(2) => column(name).is_not_null(),
        inner => inner.expr(random, alias).not(),
    }
}

impl Literal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Halves(a), Self::Halves(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::Uuid(a), Self::Uuid(b)) => a.cmp(b),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            _ => unreachable!("columns are compared with values of their own type"),
        }
    }

    /// The value in one of the types that it may come in.
    fn value(&self, random: &mut Random) -> Value {
        match self {
            Self::Halves(halves) if halves % 2 != 0 => Value::from(
                sea_orm::prelude::Decimal::from_i128_with_scale(halves * 5, 1),
            ),
            Self::Halves(halves) => {
                let whole = halves / 2;
                let fits = [
                    i16::try_from(whole).ok().map(Value::from),
                    i32::try_from(whole).ok().map(Value::from),
                    u32::try_from(whole).ok().map(Value::from),
                    u64::try_from(whole).ok().map(Value::from),
                    Some(Value::from(
                        sea_orm::prelude::Decimal::from_i128_with_scale(whole * 10, 1),
                    )),
                ];
                let wide = i64::try_from(whole).map(Value::from).unwrap();
                fits[random.below(5) as usize].clone().unwrap_or(wide)
            }
            Self::Text(text) => Value::from(*text),
            Self::Time(time) => match random.below(3) {
                0 => Value::from(time.with_timezone(&FixedOffset::east_opt(8 * 3600).unwrap())),
                _ => Value::from(*time),
            },
            Self::Uuid(uuid) => Value::from(*uuid),
            Self::Bool(is) => Value::from(*is),
        }
    }
}

fn of(row: &Event, column: &str) -> Option<Literal> {
    Some(match column {
        "id" => Literal::Halves(i128::from(row.id) * 2),
        "big" => Literal::Halves(i128::from(row.big) * 2),
        "n" => Literal::Halves(i128::from(row.n?) * 2),
        "at" => Literal::Time(row.at),
        "kind" => Literal::Text(KINDS.iter().find(|kind| **kind == row.kind)?),
        "uid" => Literal::Uuid(row.uid),
        _ => Literal::Bool(row.flag),
    })
}

/// The kinds of the events, and one that none has.
const KINDS: [&str; 13] = [
    "a", "A", "b", "B", "Zebra", "äther", "Äther", "zebra", "", "a b", "ß", "ss", "nobody",
];

fn any(outcomes: impl Iterator<Item = Option<bool>>) -> Option<bool> {
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

fn condition(random: &mut Random, depth: u64, uids: &[Uuid]) -> Condition {
    let parts = |random: &mut Random| {
        (0..1 + random.below(3))
            .map(|_| condition(random, depth - 1, uids))
            .collect()
    };
    match random.below(if depth == 0 { 5 } else { 10 }) {
        0 if random.one_in(4) => Condition::Constant(random.of(&[None, Some(true), Some(false)])),
        0 | 1 => {
            let column = column(random);
            let order = random.of(&[Order::Equal, Order::Less, Order::LessOrEqual]);
            Condition::Compare(column, order, literal(random, column, uids))
        }
        2 => {
            let column = column(random);
            let literals = (0..random.below(5))
                .map(|_| (!random.one_in(6)).then(|| literal(random, column, uids)));
            Condition::In(column, literals.collect())
        }
        3 => {
            let column = column(random);
            Condition::Between(
                column,
                literal(random, column, uids),
                literal(random, column, uids),
            )
        }
        4 => Condition::IsNull(column(random)),
        5 | 6 => Condition::And(parts(random)),
        7 | 8 => Condition::Or(parts(random)),
        _ => Condition::Not(Box::new(condition(random, depth - 1, uids))),
    }
}

fn column(random: &mut Random) -> &'static str {
    random.of(&[
        "id", "id", "big", "n", "at", "at", "kind", "kind", "uid", "flag",
    ])
}

fn literal(random: &mut Random, column: &str, uids: &[Uuid]) -> Literal {
    match column {
        "id" => Literal::Halves(i128::from(random.below(840)) - 20),
        "big" | "n" => {
            let wide = [
                i64::MIN,
                -(1 << 53) - 1,
                -5,
                0,
                5,
                7,
                (1 << 53) + 1,
                i64::MAX,
            ];
            Literal::Halves(i128::from(random.of(&wide)) * 2 + i128::from(random.below(2)))
        }
        "at" => {
            let start: DateTime<Utc> = "2012-12-25T00:00:00Z".parse().unwrap();
            let step = if random.one_in(2) { 24 } else { 1 };
            Literal::Time(start + TimeDelta::hours(random.below(200 * 24) as i64 / step * step))
        }
        "kind" => Literal::Text(random.of(&KINDS)),
        "uid" => Literal::Uuid(uids[random.below(uids.len() as u64) as usize]),
        _ => Literal::Bool(random.one_in(2)),
    }
}
