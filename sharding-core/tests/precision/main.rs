//! Routes reach no more than they have to: tables of conditions and the nodes that they reach,
//! worked out by hand.

mod calendars;
mod day;
mod numbers;
mod snowflake;
mod sql;
mod tables;
mod values;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use sharding_core::key::KeyKind;
use sharding_core::strategy::Strategy;
use sharding_core::topology::{
    ColumnDraft, ColumnKind, KeyDraft, RuleDraft, TableDraft, TableName, Topology, TopologyDraft,
};

/// A condition, and the nodes that it reaches with spaces between them: `*` for all of them.
type Row<'a> = (&'a str, &'a str);

/// A table whose tails are the partitions of the strategy.
fn by<const N: usize>(columns: [(&'static str, KeyKind); N], strategy: impl Strategy) -> Topology {
    let table = TableDraft {
        table: Some(RuleDraft::new(key(columns, strategy))),
        ..TableDraft::new(TableName::new("t"))
    };
    build(&["ds0"], table)
}

fn key<const N: usize>(columns: [(&'static str, KeyKind); N], strategy: impl Strategy) -> KeyDraft {
    let column = |(name, kind): (&'static str, KeyKind)| ColumnDraft {
        name: name.into(),
        kind: ColumnKind::Key(kind),
    };
    KeyDraft {
        columns: columns.map(column).to_vec(),
        strategy: Arc::new(strategy),
    }
}

fn build(sources: &[&str], table: TableDraft) -> Topology {
    let draft = TopologyDraft {
        sources: sources.iter().map(ToString::to_string).collect(),
        tables: vec![table],
        ..TopologyDraft::default()
    };
    let now = time("2013-03-15T12:00:00Z");
    draft.build(now).unwrap_or_else(|error| panic!("{error}"))
}

fn time(text: &str) -> DateTime<Utc> {
    text.parse().unwrap_or_else(|_| panic!("{text} is no time"))
}

/// Checks which tails the conditions reach.
#[track_caller]
fn check(topology: &Topology, rows: &[Row<'_>]) {
    check_names(topology, rows, |position| {
        topology.tables()[0].node(position).tail.into_owned()
    });
}

/// Checks which physical tables the conditions reach, in which sources.
#[track_caller]
fn check_nodes(topology: &Topology, rows: &[Row<'_>]) {
    check_names(topology, rows, |position| {
        let node = topology.tables()[0].node(position);
        format!("{}.{}", topology.source(node.source), node.table)
    });
}

#[track_caller]
fn check_names(topology: &Topology, rows: &[Row<'_>], name: impl Fn(usize) -> String) {
    let table = &topology.tables()[0];
    let names = |positions: Vec<usize>| positions.into_iter().map(&name).collect::<Vec<_>>();
    let all = names(table.positions().collect());
    let mut wrong = Vec::new();
    for (condition, expected) in rows {
        let route = names(table.route(|column| sql::keys(condition, column)));
        let as_expected = match *expected {
            "*" => route == all,
            expected => route == expected.split_whitespace().collect::<Vec<_>>(),
        };
        if !as_expected {
            let route = route.join(" ");
            wrong.push(format!(
                "{condition}\n  expected {expected}\n  reached  {route}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
