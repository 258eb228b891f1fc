//! Makes a difference small: parts of the statement, rows and nodes are left out as long as it
//! stays.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::Value;

use super::databases::Databases;
use super::judge::{Difference, Verdict, expect, judge};
use super::replay::Replay;
use super::schema::Row;
use super::sharding::Sharding;
use super::statement::Case;
use super::statement::promise::is_determined;
use super::world::World;

struct Shrinker<'a> {
    databases: &'a Databases,
    replay: Replay,
    difference: Difference,
    until: Instant,
}

/// A smaller case with a difference of the same kind, looked for during so many seconds.
pub async fn shrink(
    replay: Replay,
    difference: Difference,
    databases: &Databases,
    patience: u64,
) -> (Replay, Difference) {
    let until = Instant::now() + Duration::from_secs(patience);
    let mut shrinker = Shrinker {
        databases,
        replay,
        difference,
        until,
    };
    while !shrinker.is_late() {
        let before = shrinker.replay.clone();
        shrinker.statement().await;
        shrinker.rows().await;
        shrinker.world().await;
        if shrinker.replay == before {
            break;
        }
    }
    (shrinker.replay, shrinker.difference)
}

impl Shrinker<'_> {
    fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    /// The difference that a case has in a world, if it is of the kind that is looked for.
    async fn differs(&self, world: &World, case: &Case) -> Option<Difference> {
        if !is_determined(&case.statement, &world.spec) {
            return None;
        }
        let expected = expect(world, case).await;
        match judge(&world.shardings[0], case, &expected).await {
            Verdict::Differ(difference) if difference.kind == self.difference.kind => {
                Some(difference)
            }
            _ => None,
        }
    }

    async fn build(&self, replay: &Replay) -> Option<World> {
        let possible = replay.world.shardings.iter().all(Sharding::is_possible);
        if !possible {
            return None;
        }
        // A rule that makes no sense may be told by a panic.
        let build = AssertUnwindSafe(World::build(replay.world.clone(), self.databases));
        build.catch_unwind().await.ok()?.ok()
    }

    /// Takes a case over if it still differs.
    async fn attempt(&mut self, replay: Replay) -> bool {
        if self.is_late() || replay == self.replay {
            return false;
        }
        let Some(world) = self.build(&replay).await else {
            return false;
        };
        let difference = self.differs(&world, &replay.case).await;
        world.end(self.databases).await;
        let Some(difference) = difference else {
            return false;
        };
        self.replay = replay;
        self.difference = difference;
        true
    }

    /// Leaves out parts of the statement, in one world.
    async fn statement(&mut self) {
        let Some(world) = self.build(&self.replay).await else {
            return;
        };
        'again: while let Ok(whole) = serde_json::to_value(&self.replay.case) {
            for smaller in smaller(&whole) {
                if self.is_late() {
                    break 'again;
                }
                let Ok(case) = serde_json::from_value::<Case>(smaller) else {
                    continue;
                };
                if case == self.replay.case {
                    continue;
                }
                if let Some(difference) = self.differs(&world, &case).await {
                    self.replay.case = case;
                    self.difference = difference;
                    continue 'again;
                }
            }
            break;
        }
        world.end(self.databases).await;
    }

    /// Leaves out rows: halves, quarters and so on down to single ones, in one world.
    async fn rows(&mut self) {
        let Some(mut world) = self.build(&self.replay).await else {
            return;
        };
        for table in 0..self.replay.world.rows.len() {
            let mut size = self.replay.world.rows[table].len();
            while size > 0 {
                let mut at = 0;
                while at < self.replay.world.rows[table].len() && !self.is_late() {
                    let mut all = self.replay.world.rows.clone();
                    let rows: &mut Vec<Row> = &mut all[table];
                    let end = (at + size).min(rows.len());
                    rows.drain(at..end);
                    let difference = match world.refill(all.clone()).await {
                        Ok(()) => self.differs(&world, &self.replay.case).await,
                        Err(_) => None,
                    };
                    match difference {
                        Some(difference) => {
                            self.replay.world.rows = all;
                            self.difference = difference;
                        }
                        None => at += size,
                    }
                }
                size /= 2;
            }
        }
        world.end(self.databases).await;
    }

    /// Makes the sharding and the schema simpler.
    async fn world(&mut self) {
        for at in 0..2 {
            let mut replay = self.replay.clone();
            replay.world.collations[at] = None;
            self.attempt(replay).await;
        }
        let mut replay = self.replay.clone();
        replay.world.shardings[0].co_located = false;
        replay.world.shardings[0].connections = 1;
        self.attempt(replay).await;
        'again: while let Ok(whole) = serde_json::to_value(&self.replay.world.shardings[0]) {
            for smaller in smaller(&whole) {
                let Ok(sharding) = serde_json::from_value(smaller) else {
                    continue;
                };
                let mut replay = self.replay.clone();
                replay.world.shardings[0] = sharding;
                if self.is_late() {
                    return;
                }
                if self.attempt(replay).await {
                    continue 'again;
                }
            }
            return;
        }
    }
}

/// Every value that is like this one with something less in it: a missing part, one element less,
/// a part in the place of the whole, a smaller number.
fn smaller(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Array(parts) => {
            for at in 0..parts.len() {
                let mut less = parts.clone();
                less.remove(at);
                all.push(Value::Array(less));
            }
            for (at, part) in parts.iter().enumerate() {
                for smaller in smaller(part) {
                    let mut less = parts.clone();
                    less[at] = smaller;
                    all.push(Value::Array(less));
                }
            }
        }
        Value::Object(fields) => {
            // What is inside may stand for the whole, as an operand does for its operator.
            all.extend(inside(value));
            for (name, field) in fields {
                if !field.is_null() {
                    let mut less = fields.clone();
                    less.insert(name.clone(), Value::Null);
                    all.push(Value::Object(less));
                }
                for smaller in smaller(field) {
                    let mut less = fields.clone();
                    less.insert(name.clone(), smaller);
                    all.push(Value::Object(less));
                }
            }
        }
        Value::Number(number) => {
            if let Some(number) = number.as_u64().filter(|number| *number > 0) {
                all.push(0.into());
                all.push((number / 2).into());
                all.push((number - 1).into());
            }
        }
        Value::Bool(true) => all.push(false.into()),
        _ => {}
    }
    all
}

/// The objects directly inside of a value.
fn inside(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    let parts: Vec<&Value> = match value {
        Value::Array(parts) => parts.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    };
    for part in parts {
        match part {
            Value::Object(_) => found.push(part.clone()),
            Value::Array(_) => found.extend(inside(part)),
            _ => {}
        }
    }
    found
}
