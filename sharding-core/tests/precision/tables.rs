//! Keys and rules together: several columns, secondary keys, sources and tails.

use std::borrow::Cow;

use sharding_core::key::KeyKind;
use sharding_core::strategy::{
    Embedded, HashModulo, Lists, Modulo, Monthly, SnowflakeLayout, SnowflakeTime,
};
use sharding_core::topology::{RuleDraft, TableDraft, TableName, TailsDraft};

use super::{build, by, check, check_nodes, key};

/// Source and tail narrow each on their own.
#[test]
fn sources_and_tails() {
    let table = TableDraft {
        source: Some(RuleDraft::new(key(
            [("id", KeyKind::Integer)],
            Modulo::new(2),
        ))),
        table: Some(RuleDraft::new(key(
            [("day", KeyKind::Date)],
            Monthly::starting(2013, 1).through(2013, 3),
        ))),
        ..TableDraft::new(TableName::new("t"))
    };
    let grid = build(&["ds0", "ds1"], table);
    check_nodes(
        &grid,
        &[
            ("id = 7 AND day = '2013-02-03'", "ds1.t_201302"),
            ("id = 7", "ds1.t_201301 ds1.t_201302 ds1.t_201303"),
            ("day = '2013-02-03'", "ds0.t_201302 ds1.t_201302"),
            ("id IN (1, 3) AND day < '2013-02-01'", "ds1.t_201301"),
            (
                "id IN (1, 2) AND day >= '2013-03-01'",
                "ds0.t_201303 ds1.t_201303",
            ),
            // Each column is looked at alone, so this reaches all four.
            (
                "(id = 1 AND day = '2013-01-05') OR (id = 2 AND day = '2013-02-05')",
                "ds0.t_201301 ds0.t_201302 ds1.t_201301 ds1.t_201302",
            ),
            ("id = 1 OR day = '2013-01-05'", "*"),
            ("id = 1 AND id = 2 AND day = '2013-01-05'", ""),
            ("id = 1 AND day < '2013-01-01'", ""),
            ("id IS NULL AND day = '2013-01-05'", ""),
            ("other = 5", "*"),
        ],
    );
}

/// Tails that are not in every source, and tails that are in one each.
#[test]
fn listed_tails() {
    let months = || {
        let key = key(
            [("day", KeyKind::Date)],
            Monthly::starting(2013, 1).through(2013, 4),
        );
        Some(RuleDraft::new(key))
    };
    let list = |source: &'static str, tails: &[&'static str]| TailsDraft {
        source: source.into(),
        tails: tails.iter().map(|tail| Cow::Borrowed(*tail)).collect(),
    };
    let own = TableDraft {
        table: months(),
        tails: Some(vec![
            list("ds1", &["201301", "201303.."]),
            list("ds0", &["201302"]),
        ]),
        ..TableDraft::new(TableName::new("t"))
    };
    check_nodes(
        &build(&["ds0", "ds1"], own.clone()),
        &[
            (
                "TRUE",
                "ds1.t_201301 ds0.t_201302 ds1.t_201303 ds1.t_201304",
            ),
            ("day = '2013-02-01'", "ds0.t_201302"),
            (
                "day > '2013-01-31' AND day < '2013-04-01'",
                "ds0.t_201302 ds1.t_201303",
            ),
        ],
    );
    let shared = TableDraft {
        source: Some(RuleDraft::new(key(
            [("id", KeyKind::Integer)],
            Modulo::new(2),
        ))),
        tails: Some(vec![
            list("ds0", &["..201303"]),
            list("ds1", &["201302", "201304"]),
        ]),
        ..own
    };
    check_nodes(
        &build(&["ds0", "ds1"], shared),
        &[
            (
                "TRUE",
                "ds0.t_201301 ds0.t_201302 ds0.t_201303 ds1.t_201302 ds1.t_201304",
            ),
            ("id = 0", "ds0.t_201301 ds0.t_201302 ds0.t_201303"),
            ("id = 1 AND day < '2013-04-01'", "ds1.t_201302"),
            ("id = 1 AND day = '2013-01-01'", ""),
            ("day = '2013-02-01'", "ds0.t_201302 ds1.t_201302"),
        ],
    );
}

/// Of `(7, 'UA')`, `(9, 'UA')`, `(7, 'AA')` and `(9, 'AA')` the hashes are 2652869015, 3511302650,
/// 2012286466 and 2478501742.
#[test]
fn several_columns() {
    let columns = [("no", KeyKind::Integer), ("carrier", KeyKind::Text)];
    let pairs = by(columns, HashModulo::new(5));
    check(
        &pairs,
        &[
            ("no = 7 AND carrier = 'UA'", "0"),
            ("carrier = 'UA  ' AND 7.0 = no", "0"),
            ("no = 7 AND carrier IN ('UA', 'AA')", "0 1"),
            ("no IN (7, 9) AND carrier = 'AA'", "1 2"),
            ("no IN (7, 9) AND carrier = 'UA'", "0"),
            ("no IN (7, 9) AND carrier IN ('AA', 'UA')", "0 1 2"),
            ("no = 7", "*"),
            ("carrier = 'UA'", "*"),
            ("no = 7 OR carrier = 'UA'", "*"),
            ("no > 7 AND carrier = 'UA'", "*"),
            ("no = 7 AND no = 9", ""),
            ("no = 7 AND carrier IN ()", ""),
            ("no = 7 AND carrier IS NULL", ""),
            ("no = 7 AND carrier = 'UA' AND carrier <> 'AA'", "0"),
        ],
    );
}

/// Orders by the month of their time; also their Snowflake ids and their numbers tell it.
/// 1541815603606036480 was made on 2022-06-28, and 1553893269304246272 at the beginning of August.
#[test]
fn secondary_keys() {
    let months = Monthly::starting(2022, 5).through(2022, 8);
    let ids = SnowflakeTime::new(SnowflakeLayout::TWITTER, months);
    let mut rule = RuleDraft::new(key([("at", KeyKind::DateTime)], months));
    rule.secondary = vec![
        key([("id", KeyKind::Integer)], ids),
        key([("code", KeyKind::Text)], Embedded::new(2..8, months)),
    ];
    let table = TableDraft {
        table: Some(rule),
        ..TableDraft::new(TableName::new("t"))
    };
    check(
        &build(&["ds0"], table),
        &[
            ("at = '2022-06-28 16:07:40'", "202206"),
            ("id = 1541815603606036480", "202206"),
            ("code = 'A-202206-17'", "202206"),
            (
                "id IN (1541815603606036480, 1553893269304246272)",
                "202206 202208",
            ),
            ("id NOT IN (1541815603606036480)", "*"),
            ("id = 1541815603606036480 AND at >= '2022-06-01'", "202206"),
            ("id = 1541815603606036480 AND at >= '2022-08-01'", ""),
            ("id = 1541815603606036480 OR at >= '2022-08-01'", "*"),
            (
                "id >= 1541815603606036480 AND at < '2022-08-01'",
                "202206 202207",
            ),
            ("id = 1541815603606036480 AND code = 'A-202207-17'", ""),
            ("code IN ('A-202205-1', 'B-202208-2')", "202205 202208"),
            ("code = 'unclear'", ""),
            // A secondary key may be NULL in any month.
            ("id IS NULL", "*"),
            ("id = 1541815603606036480 OR id IS NULL", "*"),
            ("id IS NULL AND at < '2022-06-01'", "202205"),
            ("at IS NULL", ""),
            ("id IS NULL AND code = 'A-202206-17'", "202206"),
        ],
    );
}

/// A source by region, whose partitions have the names of the sources.
#[test]
fn sources_by_name() {
    let regions = Lists::new()
        .values("eu", ["cz", "de"])
        .values("us", ["us"])
        .otherwise("rest");
    let table = TableDraft {
        source: Some(RuleDraft::new(key([("country", KeyKind::Text)], regions))),
        ..TableDraft::new(TableName::new("customer"))
    };
    check_nodes(
        &build(&["us", "eu", "rest"], table),
        &[
            ("country = 'cz'", "eu.customer"),
            ("country IN ('us', 'cz')", "eu.customer us.customer"),
            ("country = 'jp'", "rest.customer"),
            (
                "country = 'cz' OR other = 1",
                "eu.customer us.customer rest.customer",
            ),
            ("country = 'cz' AND country = 'us'", ""),
        ],
    );
}
