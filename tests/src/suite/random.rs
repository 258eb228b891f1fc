use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::DbBackend;
use sea_orm::sea_query::{
    Condition, Expr, ExprTrait, Func, NullOrdering, Order, Query, SelectStatement,
};
use sharding_sea_orm::{ShardingConnection, ShardingError};

use crate::json;
use crate::world::World;

/// Random statements over three shardings.
pub async fn statements(backend: DbBackend) {
    let world = World::filled(backend).await;
    let tables = ["event_monthly", "event_hashed", "event_spread"];
    let answered = compare_all(&world.db, backend, &tables, &["event_spread"], 400).await;
    assert!(answered > 900, "{answered} answered");
    world.end().await;
}

/// Asks random statements, the same of every table and of the unsharded one, and gives the count
/// of answers. Tables over several data sources may refuse some. `SHARDING_TEST_SEED` chooses
/// other statements than the usual ones.
pub(super) async fn compare_all(
    db: &ShardingConnection,
    backend: DbBackend,
    tables: &[&'static str],
    may_refuse: &[&str],
    statements: u64,
) -> u64 {
    let first = std::env::var("SHARDING_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let first: u64 = first.unwrap_or(1);
    let mut answered = 0;
    for seed in first..first + statements {
        let (whole, ordered) = select("event_whole", seed);
        let expected = json::rows(db, &whole).await;
        for table in tables {
            let (sharded, _) = select(table, seed);
            let about = || format!("seed {seed}: {}", backend.build(&sharded));
            match (json::rows(db, &sharded).await, &expected) {
                (Ok(rows), Ok(expected)) => {
                    answered += 1;
                    let rows = json::renamed(rows, table);
                    if ordered {
                        json::assert_same(&rows, expected, &about());
                    } else {
                        let expected = json::sorted(expected.clone());
                        json::assert_same(&json::sorted(rows), &expected, &about());
                    }
                }
                (Err(error), _) if ShardingError::of(&error).is_some() => {
                    assert!(may_refuse.contains(table), "{error}: {}", about());
                }
                (Err(_), Err(_)) => {}
                (rows, expected) => {
                    panic!(
                        "{}\nsharded: {:?}\nwhole: {:?}",
                        about(),
                        rows.err(),
                        expected
                    )
                }
            }
        }
    }
    answered
}

pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(super) fn below(&mut self, below: u64) -> u64 {
        // Constants of Knuth's MMIX generator.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    pub(super) fn one_in(&mut self, share: u64) -> bool {
        self.below(share) == 0
    }

    pub(super) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

const COLUMNS: [&str; 12] = [
    "id", "at", "day", "kind", "note", "n", "big", "score", "amount", "flag", "data", "uid",
];
const NUMBERS: [&str; 4] = ["n", "big", "score", "amount"];

/// A SELECT over the table, and whether it orders its rows totally.
fn select(table: &'static str, seed: u64) -> (SelectStatement, bool) {
    let mut random = Random::new(seed);
    let random = &mut random;
    let mut select = Query::select().from(table).to_owned();
    if !random.one_in(5) {
        select.cond_where(condition(random, table, 3));
    }
    if random.one_in(3) {
        return (grouped(random, table, select), false);
    }
    for column in COLUMNS {
        if column == "id" || random.one_in(2) {
            select.column((table, column));
        }
    }
    if random.one_in(6) {
        select.distinct();
    }
    if random.one_in(4) {
        return (select, false);
    }
    for _ in 0..random.below(3) {
        let column = (table, random.of(&COLUMNS));
        let order = if random.one_in(2) {
            Order::Asc
        } else {
            Order::Desc
        };
        match random.below(4) {
            0 => select.order_by_with_nulls(column, order, NullOrdering::First),
            1 => select.order_by_with_nulls(column, order, NullOrdering::Last),
            _ => select.order_by(column, order),
        };
    }
    select.order_by(
        (table, "id"),
        if random.one_in(2) {
            Order::Asc
        } else {
            Order::Desc
        },
    );
    if random.one_in(2) {
        select.limit(random.of(&[0, 1, 7, 50, 1000]));
        if random.one_in(2) {
            select.offset(random.of(&[0, 1, 13, 399, 500]));
        }
    }
    (select, true)
}

fn grouped(
    random: &mut Random,
    table: &'static str,
    mut select: SelectStatement,
) -> SelectStatement {
    for key in ["kind", "flag", "n", "day", "note"] {
        if random.one_in(4) {
            select.column((table, key)).group_by_col((table, key));
        }
    }
    for number in 0..1 + random.below(4) {
        let column = || Expr::col((table, NUMBERS[number as usize]));
        let aggregate: Expr = match random.below(7) {
            0 => Func::count(Expr::col((table, "id"))).into(),
            1 => column().count(),
            2 => column().sum(),
            3 => column().avg(),
            4 => column().min(),
            5 => column().max(),
            _ => column().count_distinct(),
        };
        select.expr_as(aggregate, format!("x{number}"));
    }
    if random.one_in(5) {
        select.and_having(Expr::col((table, "id")).count().gt(random.below(40)));
    }
    select
}

fn condition(random: &mut Random, table: &'static str, depth: u64) -> Condition {
    if depth == 0 || random.one_in(3) {
        return Condition::all().add(comparison(random, table));
    }
    let mut condition = if random.one_in(2) {
        Condition::all()
    } else {
        Condition::any()
    };
    for _ in 0..1 + random.below(3) {
        condition = condition.add(self::condition(random, table, depth - 1));
    }
    if random.one_in(4) {
        condition.not()
    } else {
        condition
    }
}

fn comparison(random: &mut Random, table: &'static str) -> Expr {
    let column = |name: &'static str| Expr::col((table, name));
    let start: DateTime<Utc> = "2012-12-20T00:00:00Z".parse().unwrap();
    let time = |random: &mut Random| match random.below(3) {
        0 => random
            .of(&[
                "2013-01-01T00:00:00Z",
                "2013-02-01T00:00:00Z",
                "2013-07-01T00:00:00Z",
            ])
            .parse()
            .unwrap(),
        _ => start + TimeDelta::hours(random.below(200 * 24) as i64),
    };
    match random.below(9) {
        0 => compare(random, column("at"), time),
        1 => {
            let (low, high) = (time(random), time(random));
            if random.one_in(3) {
                column("at").not_between(low, high)
            } else {
                column("at").between(low, high)
            }
        }
        2 => {
            let times: Vec<DateTime<Utc>> = (0..random.below(4)).map(|_| time(random)).collect();
            if random.one_in(3) {
                column("at").is_not_in(times)
            } else {
                column("at").is_in(times)
            }
        }
        3 => compare(random, column("id"), |random| random.below(420) as i64 - 10),
        4 => {
            let ids: Vec<Option<i64>> = (0..random.below(6))
                .map(|_| (!random.one_in(5)).then(|| random.below(400) as i64))
                .collect();
            if random.one_in(3) {
                column("id").is_not_in(ids)
            } else {
                column("id").is_in(ids)
            }
        }
        5 => {
            let kinds = ["a", "A", "b", "Zebra", "äther", "", "a b", "nobody"];
            if random.one_in(2) {
                column("kind").eq(random.of(&kinds))
            } else {
                column("kind").is_in([random.of(&kinds), random.of(&kinds)])
            }
        }
        6 => {
            let name = random.of(&["at", "kind", "n", "note"]);
            if random.one_in(2) {
                column(name).is_null()
            } else {
                column(name).is_not_null()
            }
        }
        7 => compare(random, column("n"), |random| random.of(&[-1, 0, 1, 7])),
        _ => column("flag").eq(random.one_in(2)),
    }
}

/// A comparison with the column on either side.
fn compare<V: Into<sea_orm::Value>>(
    random: &mut Random,
    column: Expr,
    value: impl Fn(&mut Random) -> V,
) -> Expr {
    let value = Expr::val(value(random));
    let (left, right) = if random.one_in(3) {
        (value, column)
    } else {
        (column, value)
    };
    match random.below(6) {
        0 | 1 => left.eq(right),
        2 => left.ne(right),
        3 => left.lt(right),
        4 => left.lte(right),
        _ => left.gte(right),
    }
}
