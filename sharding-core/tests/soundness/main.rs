//! Routes lose no row: random tables, conditions and rows, against an evaluator of its own that
//! knows SQL's three-valued logic and nothing of key sets.
//!
//! `SHARDING_SOUNDNESS_CASES` gives the number of tables, and `SHARDING_TEST_SEED` other ones. A
//! failure names the seed and the case; `SHARDING_SOUNDNESS_CASE` runs that case alone.

mod condition;
mod era;
mod keys;
mod own;
mod random;
mod table;
mod value;

use std::collections::HashSet;
use std::env;

use chrono::TimeDelta;
use sharding_core::error::KeyError;
use sharding_core::key::KeySet;
use sharding_core::topology::{Table, Topology};

use self::condition::{Condition, Conditions, Row, Shown, shown};
use self::random::Random;
use self::table::World;
use self::value::Value;

const CASES: u64 = 4_000;
const SEED: u64 = 20_130_309;
const ROWS: usize = 10;
const CONDITIONS: usize = 12;

#[test]
fn routes_lose_no_row() {
    let seed = number("SHARDING_TEST_SEED").unwrap_or(SEED);
    let mut tally = Tally::default();
    if let Some(case) = number("SHARDING_SOUNDNESS_CASE") {
        check(seed, case, &mut tally);
        return;
    }
    let cases = number("SHARDING_SOUNDNESS_CASES").unwrap_or(CASES);
    for case in 0..cases {
        check(seed, case, &mut tally);
    }
    println!("{cases} cases of seed {seed}: {tally:?}");
    // Whatever fails to place rows or to be true of them tests nothing.
    if cases >= 100 {
        let Tally {
            built,
            rows,
            placed,
            asked,
            matched,
            narrowed,
        } = tally;
        assert!(built * 100 > cases * 95, "{tally:?}");
        assert!(placed * 100 > rows * 50, "{tally:?}");
        assert!(matched * 100 > asked * 20, "{tally:?}");
        assert!(narrowed * 100 > asked * 3, "{tally:?}");
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
    )
}

/// What the cases were good for.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    built: u64,
    rows: u64,
    placed: u64,
    /// Pairs of a condition and a row that has a place.
    asked: u64,
    /// Those in which the condition is true.
    matched: u64,
    /// Those in which the condition is true and the route is not that to everything.
    narrowed: u64,
}

/// Says which case it was if the case does not end well.
struct Case {
    seed: u64,
    number: u64,
}

impl Drop for Case {
    #[allow(clippy::print_stderr, reason = "a panic elsewhere names no case")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { seed, number } = self;
            eprintln!("SHARDING_TEST_SEED={seed} SHARDING_SOUNDNESS_CASE={number}");
        }
    }
}

fn check(seed: u64, number: u64, tally: &mut Tally) {
    let _case = Case { seed, number };
    let mut random = Random::new(seed, number);
    let world = World::draw(&mut random);
    let Some(topology) = world.build(world.era.now) else {
        return;
    };
    tally.built += 1;
    let mut now = world.era.now;
    let mut step = || {
        now += TimeDelta::hours(*random.pick(&[0, 1, 5, 25, 25, 100, 800]));
        now
    };
    let later = topology.at(step());
    let latest = later.at(step());
    let table = &topology.tables()[0];
    let rows: Vec<Row> = (0..ROWS).map(|_| world.row(&mut random, table)).collect();
    let conditions = Conditions {
        columns: &world.columns,
        rows: &rows,
        now: world.era.now,
    };
    let conditions: Vec<_> = (0..CONDITIONS)
        .map(|_| conditions.draw(&mut random))
        .collect();
    let asked: Vec<Asked> = conditions
        .iter()
        .map(|condition| Asked::new(condition, &world, &rows))
        .collect();
    let at = |topology| Checked {
        world: &world,
        topology,
        rows: &rows,
        asked: &asked,
    };
    for topology in [&topology, &later, &latest] {
        at(topology).check(tally);
    }
    at(&topology).is_kept(&later);
    at(&later).is_kept(&latest);
    if let Some(rebuilt) = world.build(now) {
        at(&latest).is_kept(&rebuilt);
        at(&rebuilt).is_kept(&latest);
    }
}

/// A condition, the keys for which it may be true, and the rows for which it is.
struct Asked<'a> {
    condition: &'a Condition,
    /// For each column.
    keys: Vec<KeySet<'a>>,
    /// For each row.
    matches: Vec<bool>,
}

impl<'a> Asked<'a> {
    fn new(condition: &'a Condition, world: &World, rows: &[Row]) -> Self {
        let columns = world.columns.iter().enumerate();
        let outcomes = rows
            .iter()
            .map(|row| condition.outcome(row, world.collation));
        Self {
            condition,
            keys: columns
                .map(|(at, column)| {
                    let about = condition.about(at, column.kind, world.collation);
                    about.keys()
                })
                .collect(),
            matches: outcomes.map(|outcome| outcome == Some(true)).collect(),
        }
    }
}

/// A topology at one time, with rows to place and conditions to route by.
struct Checked<'a> {
    world: &'a World,
    topology: &'a Topology,
    rows: &'a [Row],
    asked: &'a [Asked<'a>],
}

impl Checked<'_> {
    fn check(&self, tally: &mut Tally) {
        let positions = self.nodes();
        let places: Vec<_> = self
            .rows
            .iter()
            .map(|row| self.place(row, &positions))
            .collect();
        tally.rows += places.len() as u64;
        tally.placed += places.iter().flatten().count() as u64;
        for asked in self.asked {
            let route = self.route(asked);
            let condition = Shown(asked.condition, &self.world.columns);
            let is_ascending = route.is_sorted_by(|a, b| a < b);
            let exists = route.iter().all(|at| positions.binary_search(at).is_ok());
            if !is_ascending || !exists {
                self.fail(&format!("{route:?} is the route of\n{condition}"));
            }
            for ((row, place), matches) in self.rows.iter().zip(&places).zip(&asked.matches) {
                let Some(place) = place else { continue };
                tally.asked += 1;
                tally.matched += u64::from(*matches);
                tally.narrowed += u64::from(*matches && route.len() < positions.len());
                if *matches && route.binary_search(place).is_err() {
                    let row = self.shown(row);
                    self.fail(&format!(
                        "the row {row} is at {place}, but {route:?} is the route of\n{condition}"
                    ));
                }
            }
        }
    }

    /// Whatever has a place keeps it later, and whatever is reached still is.
    fn is_kept(&self, later: &Topology) {
        let name = |topology: &Topology, position: usize| {
            let node = topology.tables()[0].node(position);
            (
                topology.source(node.source).to_owned(),
                node.table.into_owned(),
            )
        };
        let after = Checked {
            topology: later,
            ..*self
        };
        for row in self.rows {
            let Ok(place) = self.key_place(row) else {
                continue;
            };
            let own = name(self.topology, place);
            let place = after.key_place(row).map(|place| name(later, place));
            if place.as_ref() != Ok(&own) {
                let row = self.shown(row);
                self.fail(&format!("{row} moves from {own:?} to {place:?}"));
            }
        }
        for asked in self.asked {
            let found: HashSet<_> = after
                .route(asked)
                .into_iter()
                .map(|at| name(later, at))
                .collect();
            for position in self.route(asked) {
                let node = name(self.topology, position);
                if !found.contains(&node) {
                    let condition = Shown(asked.condition, &self.world.columns);
                    self.fail(&format!("{node:?} is lost later by\n{condition}"));
                }
            }
        }
    }

    fn route(&self, asked: &Asked<'_>) -> Vec<usize> {
        self.table()
            .route(|column| asked.keys[self.world.position(column.name())].clone())
    }

    /// The positions of all nodes, whose names differ.
    fn nodes(&self) -> Vec<usize> {
        let (table, topology) = (self.table(), self.topology);
        let positions: Vec<_> = table.positions().collect();
        let mut names = HashSet::new();
        for position in &positions {
            let node = table.node(*position);
            let source = topology.source(node.source);
            if !names.insert((node.source, node.table.to_lowercase())) {
                self.fail(&format!("two nodes are {source}.{}", node.table));
            }
            if node.source != table.source(*position) || !self.world.lists(source, &node.tail) {
                self.fail(&format!("{source}.{} is in no list", node.table));
            }
        }
        if positions.len() != table.node_count() {
            self.fail("the count of nodes is another than that of positions");
        }
        positions
    }

    /// The position of the row, to which the values of its keys lead too.
    fn place(&self, row: &Row, positions: &[usize]) -> Option<usize> {
        let place = self.key_place(row).ok()?;
        let exact = self
            .table()
            .route(|column| match &row[self.world.position(column.name())] {
                Some(value) => KeySet::point(value.key()),
                None => KeySet::null(),
            });
        if exact != [place] || !positions.contains(&place) {
            let row = self.shown(row);
            self.fail(&format!(
                "the row {row} is at {place}, but its keys lead to {exact:?}"
            ));
        }
        Some(place)
    }

    fn key_place(&self, row: &Row) -> Result<usize, KeyError> {
        self.table().place(|column| {
            let value = &row[self.world.position(column.name())];
            Some(value.as_ref().map(Value::key))
        })
    }

    fn table(&self) -> &Table {
        &self.topology.tables()[0]
    }

    fn shown(&self, row: &Row) -> String {
        let columns = self.world.columns.iter().zip(row);
        let values: Vec<_> = columns
            .map(|(column, value)| format!("{} = {}", column.name, shown(value)))
            .collect();
        values.join(", ")
    }

    fn fail(&self, what: &str) -> ! {
        panic!("{what}\n{}", self.world.describe())
    }
}
