//! Ids that hold a time.

use sharding_core::key::KeyKind;
use sharding_core::strategy::{
    HashSplit, Monthly, SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash, SnowflakeLayout,
    SnowflakeTime,
};
use sharding_core::topology::{RuleDraft, TableDraft, TableName, Topology};

use super::{build, by, check, check_nodes, key, time};

/// The first ids of the months, (milliseconds − 1,288,834,974,657) · 2²²:
///
/// | 2022-06-01 | 2022-07-01 | 2022-08-01 |
/// |---|---|---|
/// | 1531787609502646272 | 1542659245470646272 | 1553893269304246272 |
///
/// 1541815603606036480 was made on 2022-06-28.
#[test]
fn ids_by_month() {
    let months = Monthly::starting(2022, 5).through(2022, 8);
    let months = SnowflakeTime::new(SnowflakeLayout::TWITTER, months);
    let table = by([("id", KeyKind::Integer)], months);
    check(
        &table,
        &[
            ("id = 1541815603606036480", "202206"),
            ("1541815603606036480 = id", "202206"),
            ("id = 1542659245470646271", "202206"),
            ("id = 1542659245470646272", "202207"),
            ("id < 1542659245470646272", "202205 202206"),
            ("1542659245470646272 > id", "202205 202206"),
            ("id <= 1542659245470646272", "202205 202206 202207"),
            ("id > 1542659245470646271", "202207 202208"),
            (
                "id >= 1542659245470646272 AND id < 1553893269304246272",
                "202207",
            ),
            (
                "id BETWEEN 1531787609502646272 AND 1542659245470646271",
                "202206",
            ),
            (
                "id BETWEEN 1541815603606036480 AND 1553893269304246272",
                "202206 202207 202208",
            ),
            (
                "id IN (1541815603606036480, 1531787609502646271, NULL)",
                "202205 202206",
            ),
            ("id = 1541815603606036480 AND id = 1541815603606036481", ""),
            ("id <> 1541815603606036480", "*"),
            ("id = 0", ""),
            ("id = -1", ""),
            ("id < 1000", ""),
            ("id BETWEEN 0 AND 9223372036854775807", "*"),
            ("id > 9000000000000000000", ""),
        ],
    );
}

/// Two sources with two tables each, and two others for ids from 2016-11-20 09:00 on, the first of
/// which is 800262404305846272.
fn by_hash() -> Topology {
    let halves = |source: &str, first: u32| {
        let tables = HashSplit::ranges()
            .less_than(0x8000, format!("event_{first}"))
            .max_value(format!("event_{}", first + 1));
        SnowflakeDatabase::new(source, tables)
    };
    let epoch = |low, high| {
        let split = HashSplit::ranges().less_than(0x8000, low);
        SnowflakeEpoch::new(split.max_value(high))
    };
    let strategy = SnowflakeHash::new([
        epoch(halves("ds0", 0), halves("ds1", 2)).time_less_than(time("2016-11-20T09:00:00Z")),
        epoch(halves("ds2", 4), halves("ds3", 6)),
    ]);
    let table = TableDraft {
        node: Some(RuleDraft::new(key([("id", KeyKind::Integer)], strategy))),
        ..TableDraft::new(TableName::new("event"))
    };
    build(&["ds0", "ds1", "ds2", "ds3"], table)
}

const BEFORE: &str = "ds0.event_0 ds0.event_1 ds1.event_2 ds1.event_3";
const SINCE: &str = "ds2.event_4 ds2.event_5 ds3.event_6 ds3.event_7";

/// The hashes of ids 0, 1 and 2 are 0x63852AFC, 0x53075D44 and 0xC61FA2F4; of the first id of the
/// second epoch 0x3AB12DDB, of the one before it 0x6CB7997C, and of 1542659245470646272
/// 0x7A1A08F7.
#[test]
fn ids_by_hash() {
    let events = by_hash();
    check_nodes(
        &events,
        &[
            ("id = 0", "ds0.event_0"),
            ("id = 1", "ds0.event_0"),
            ("id = 2", "ds1.event_3"),
            ("id = 2.0", "ds1.event_3"),
            ("id = 2.5", ""),
            ("id IN (1, 2, 1)", "ds0.event_0 ds1.event_3"),
            ("id = 800262404305846271", "ds0.event_1"),
            ("id = 800262404305846272", "ds2.event_4"),
            ("id = 1542659245470646272", "ds2.event_4"),
            ("id IN (2, 800262404305846272)", "ds1.event_3 ds2.event_4"),
            ("id BETWEEN 1 AND 1", "ds0.event_0"),
            ("id BETWEEN 1 AND 2", BEFORE),
            ("id < 800262404305846272", BEFORE),
            ("id >= 800262404305846272", SINCE),
            ("id > 800262404305846271", SINCE),
            ("id > 800262404305846270", "*"),
            ("id BETWEEN 800262404305846271 AND 800262404305846272", "*"),
            ("id BETWEEN 0 AND 2147483647", BEFORE),
            ("id BETWEEN 0 AND 9223372036854775807", "*"),
            ("id < 0", BEFORE),
            ("id BETWEEN 2 AND 1", ""),
            ("id = 1 AND id = 2", ""),
            ("id IS NULL", ""),
            ("id <> 1", "*"),
        ],
    );
}

#[test]
fn without_the_key_each_node_is_reached_once() {
    let all = format!("{BEFORE} {SINCE}");
    check_nodes(
        &by_hash(),
        &[
            ("TRUE", &all),
            ("other = 5", &all),
            ("id = 1 OR other = 5", &all),
        ],
    );
}
