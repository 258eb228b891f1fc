//! What may change while statements run: nothing that moves a row or loses sight of one.

use std::any::Any;

use chrono::{DateTime, Utc};

use super::mistake::Mistake;
use super::rule::{Key, Rule};
use super::table::Table;
use super::{Home, SourceState, Topology};

/// Compares a topology with the one before it.
pub(super) fn check(
    before: &Topology,
    after: &Topology,
    now: DateTime<Utc>,
    mistakes: &mut Vec<Mistake>,
) {
    for (name, home) in before.homes() {
        let moves = |why: &str| Mistake::Moves {
            table: name.to_string(),
            why: why.to_owned(),
        };
        match (home, after.home(name)) {
            (Home::Sharded(old), Some(Home::Sharded(new))) => {
                let (old, new) = (&before.tables()[old], &after.tables()[new]);
                if let Err(why) = check_table(before, old, new, now) {
                    mistakes.push(moves(&why));
                }
            }
            (Home::Broadcast, Some(Home::Broadcast)) => {}
            (Home::Single(old), Some(Home::Single(new))) if old == new => {}
            (_, None) => mistakes.push(moves("is not declared any more")),
            _ => mistakes.push(moves(
                "is declared otherwise than before; its rows would be lost",
            )),
        }
    }
    if before.default_source() != after.default_source() {
        mistakes.push(Mistake::Moves {
            table: "*".to_owned(),
            why: "the default source cannot change: tables that are not declared are there"
                .to_owned(),
        });
    }
    for (id, name) in before.sources() {
        if after.state(id) != SourceState::Removed {
            continue;
        }
        for table in before.tables() {
            if let Some(at) = table.positions().find(|at| table.source(*at) == id) {
                mistakes.push(Mistake::SourceInUse {
                    name: name.to_owned(),
                    table: table.name().to_string(),
                    physical: table.node(at).table.into_owned(),
                });
            }
        }
    }
}

fn check_table(
    before: &Topology,
    old: &Table,
    new: &Table,
    now: DateTime<Utc>,
) -> Result<(), String> {
    if old.rules().count() != new.rules().count()
        || std::mem::discriminant(&old.layout) != std::mem::discriminant(&new.layout)
    {
        return Err("has other rules than before, so its rows would not be found".to_owned());
    }
    for (old, new) in old.rules().zip(new.rules()) {
        check_rule(old, new, now)?;
    }
    // Tails beyond the clock's, that were found in a catalog, will be found there again.
    let is_beyond = |tail: usize| new.until.is_some() && tail >= new.tail_count();
    let stays = |at: &usize| {
        let place = old.coordinates(*at);
        is_beyond(place.1) || new.node_of(place) == Some(old.node(*at))
    };
    let Some(lost) = old.positions().find(|at| !stays(at)) else {
        return Ok(());
    };
    let node = old.node(lost);
    let source = before.source(node.source);
    Err(format!(
        "rows of `{}` in `{source}` would be looked for elsewhere",
        node.table
    ))
}

fn check_rule(old: &Rule, new: &Rule, now: DateTime<Utc>) -> Result<(), String> {
    let same = |old: &Key, new: &Key| old.columns() == new.columns();
    if !same(old.key(), new.key()) || old.secondary().len() > new.secondary().len() {
        return Err(format!("has another key than `{}`", old.key().label()));
    }
    let keys = old.keys().zip(new.keys());
    for (old, new) in keys {
        let (before, after) = (old.strategy(), new.strategy());
        let is_of_one_type = (before as &dyn Any).type_id() == (after as &dyn Any).type_id();
        if !same(old, new) || !is_of_one_type || !after.extends(before, now) {
            let (before, after) = (before.describe(), after.describe());
            return Err(format!("would move rows: {after} does not extend {before}"));
        }
    }
    // Rows that are there may not agree with a secondary key that nobody checked.
    if new.secondary().len() > old.secondary().len() {
        return Err(
            "has a new secondary key, which rows that are there may not agree with".to_owned(),
        );
    }
    Ok(())
}
