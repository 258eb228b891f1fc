use super::*;
use crate::key::{Comparison, Predicate};

fn time(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// A database with two tables, each of half of the table hashes.
fn halves(database: &str, first: u32) -> SnowflakeDatabase {
    let name = |number: u32| format!("t_snowflake_hash_{number}");
    let tables = HashSplit::ranges()
        .less_than(0x8000, name(first))
        .max_value(name(first + 1));
    SnowflakeDatabase::new(database, tables)
}

fn epoch(databases: [SnowflakeDatabase; 2]) -> SnowflakeEpoch {
    let [low, high] = databases;
    SnowflakeEpoch::new(HashSplit::ranges().less_than(0x8000, low).max_value(high))
}

const GROWTH: &str = "2016-11-20T09:00:00Z";

/// The example of the proposal: two databases, and two others for ids made later.
fn example() -> SnowflakeHash {
    SnowflakeHash::new([
        epoch([halves("db0", 0), halves("db1", 2)]).time_less_than(time(GROWTH)),
        epoch([halves("db2", 4), halves("db3", 6)]),
    ])
}

fn names(predicate: Predicate<'_>) -> Vec<String> {
    let example = example();
    let route = example.route(&predicate.keys());
    route
        .below(8)
        .map(|n| example.name(n).into_owned())
        .collect()
}

fn id(id: i64) -> KeyValue<'static> {
    KeyValue::from(id)
}

/// Hashes of ids from an independent implementation of MurmurHash3.
#[test]
fn hashes_agree_with_the_vectors() {
    let lines = include_str!("../../../../tests/murmur3_snowflake.csv")
        .lines()
        .skip(1);
    let mut checked = 0;
    for line in lines {
        let fields: Vec<i64> = line
            .split(',')
            .map(|field| field.parse().unwrap())
            .collect();
        let [id, _, database, table, ticks] = fields[..] else {
            panic!("{line}")
        };
        let (database_hash, table_hash) = SnowflakeHash::hashes(id);
        assert_eq!(
            (i64::from(database_hash), i64::from(table_hash)),
            (database, table),
            "{id}"
        );
        // The file takes the bits for unsigned, also those of negative numbers.
        let bits = SnowflakeLayout::TWITTER.ticks(id) & ((1 << 42) - 1);
        assert_eq!(bits, ticks, "{id}");
        checked += 1;
    }
    assert_eq!(checked, 120);
}

/// The hash of id 1 is 0x53075D44, and that of id 0 0x63852AFC: both are in the lower half of
/// database hashes, and one in each half of table hashes below.
#[test]
fn ids_reach_the_node_of_their_hash_and_epoch() {
    let equal = |n| names(Predicate::Compare(Comparison::Equal, id(n)));
    // Ids 0 and 1 were made in 2010.
    assert_eq!(SnowflakeHash::hashes(1), (0x5307, 0x5d44));
    assert_eq!(equal(1), ["db0.t_snowflake_hash_0"]);
    // The hash of id 2 is 0xC61FA2F4.
    assert_eq!(equal(2), ["db1.t_snowflake_hash_3"]);
    let list = Predicate::in_list(vec![id(1), id(2), id(1)], true);
    assert_eq!(
        names(list),
        ["db0.t_snowflake_hash_0", "db1.t_snowflake_hash_3"]
    );
    let late = SnowflakeLayout::TWITTER.first_id(time(GROWTH));
    assert!(equal(late)[0].starts_with("db2.") || equal(late)[0].starts_with("db3."));
    assert!(equal(late - 1)[0].starts_with("db0.") || equal(late - 1)[0].starts_with("db1."));
}

#[test]
fn ranges_of_ids_reach_the_nodes_of_their_epochs() {
    let growth = SnowflakeLayout::TWITTER.first_id(time(GROWTH));
    let databases = |predicate| {
        let mut databases: Vec<_> = names(predicate)
            .iter()
            .map(|name| name[..3].to_owned())
            .collect();
        databases.dedup();
        databases
    };
    assert_eq!(
        databases(Predicate::between(id(growth - 9), id(growth - 1))),
        ["db0", "db1"]
    );
    assert_eq!(
        databases(Predicate::between(id(growth), id(i64::MAX))),
        ["db2", "db3"]
    );
    let all = ["db0", "db1", "db2", "db3"];
    assert_eq!(
        databases(Predicate::between(id(growth - 1), id(growth))),
        all
    );
    assert_eq!(
        databases(Predicate::Compare(Comparison::Less, id(growth))),
        ["db0", "db1"]
    );
    assert_eq!(
        databases(Predicate::Compare(Comparison::LessOrEqual, id(growth))),
        all
    );
}

#[test]
fn without_the_key_every_node_is_reached_once() {
    let expected: Vec<_> = (0..8)
        .map(|n| format!("db{}.t_snowflake_hash_{n}", n / 2))
        .collect();
    assert_eq!(names(Predicate::Unknown), expected);
    // The same map twice is the same nodes.
    let same = || epoch([halves("db0", 0), halves("db1", 2)]);
    let twice = SnowflakeHash::new([same().time_less_than(time(GROWTH)), same()]);
    assert_eq!(twice.extent(DateTime::UNIX_EPOCH).count, 4);
    assert_eq!(twice.route(&KeySet::all()).below(9).count(), 4);
}

#[test]
fn spans_choose_time_and_hashes() {
    let example = example();
    let nodes = |span: &SnowflakeSpan| {
        let route = example.span(span);
        route
            .below(8)
            .map(|n| example.name(n).into_owned())
            .collect::<Vec<_>>()
    };
    let before = time("2016-11-01T00:00:00Z")..=time("2016-11-02T00:00:00Z");
    let mut span = SnowflakeSpan::of_time(before);
    assert_eq!(nodes(&span).len(), 4);
    span.database_hash = 0x9000..=0x9fff;
    span.table_hash = 0..=0x7fff;
    assert_eq!(nodes(&span), ["db1.t_snowflake_hash_2"]);
    span.time = *span.time.start()..=time(GROWTH);
    assert_eq!(
        nodes(&span),
        ["db1.t_snowflake_hash_2", "db3.t_snowflake_hash_6"]
    );
    let layout = SnowflakeLayout::TWITTER;
    let (lower, upper) = span.encode(layout).unwrap();
    let decoded = SnowflakeSpan::decode(lower, upper, layout).unwrap();
    assert_eq!(nodes(&decoded), nodes(&span));
    // Every id is on a node of each span that holds it.
    for step in 0..2_000_i64 {
        let made = layout.first_id(time("2016-11-19T00:00:00Z")) + step * 400_000_000_000;
        let (database, table) = SnowflakeHash::hashes(made);
        let at = layout.time(made).unwrap();
        let own = SnowflakeSpan {
            time: at..=at,
            database_hash: database..=database,
            table_hash: table..=table,
        };
        assert_eq!(
            example.span(&own),
            [example.place(&id(made)).unwrap()].into_iter().collect()
        );
    }
}

#[test]
fn remainders_instead_of_ranges() {
    let tables = HashSplit::modulo(["t_0", "t_1", "t_2"]);
    let databases =
        HashSplit::modulo(["a", "b"].map(|d| SnowflakeDatabase::new(d, tables.clone())));
    let modulo = SnowflakeHash::new([SnowflakeEpoch::new(databases)]);
    assert_eq!(modulo.flaws(), []);
    for n in 0..500 {
        let (database, table) = SnowflakeHash::hashes(n);
        let expected = format!("{}.t_{}", ["a", "b"][database as usize % 2], table % 3);
        assert_eq!(modulo.name(modulo.place(&id(n)).unwrap()), expected);
    }
}

#[test]
fn mistakes_are_named_with_their_places() {
    let gap = SnowflakeDatabase::new("db0", HashSplit::ranges().less_than(0x8000, "t_0"));
    let overlap = SnowflakeDatabase::new(
        "db1",
        HashSplit::ranges()
            .less_than(0x8000, "t_0")
            .less_than(0x4000, "t_1")
            .max_value("t_2"),
    );
    let wrong = SnowflakeHash::new([
        epoch([halves("db0", 0), halves("db1", 2)]),
        epoch([gap, overlap]).time_less_than(time(GROWTH)),
    ])
    .layout(SnowflakeLayout::new(0, 0));
    let texts: Vec<_> = wrong
        .flaws()
        .into_iter()
        .map(|f| format!("{}: {}", f.at, f.why))
        .collect();
    assert_eq!(
        texts,
        [
            "layout.lower_bits: is 0; 1 to 40 are possible",
            "epochs[0].time_less_than: is missing; only the last epoch has no end",
            "epochs[1].time_less_than: ids from 2016-11-20 09:00:00 UTC on have no map; the last \
             epoch has no end",
            "epochs[1].databases[0].tables: leaves 32768..65536 without owner; end with MAXVALUE",
            "epochs[1].databases[1].tables[1]: range 0..16384 overlaps the one before it, which \
             ends with 32768",
        ]
    );
    assert_eq!(SnowflakeHash::new([]).flaws().len(), 1);
}

/// An epoch that begins later moves no row, and ids that exist stay where they are.
#[test]
fn growth_adds_an_epoch() {
    let before = SnowflakeHash::new([epoch([halves("db0", 0), halves("db1", 2)])]);
    let now = time("2016-11-10T00:00:00Z");
    assert!(example().extends(&before, now));
    assert!(!example().extends(&before, time("2016-12-01T00:00:00Z")));
    assert!(!before.extends(&example(), now));
    let end = SnowflakeLayout::TWITTER.first_id(time(GROWTH));
    for step in 1..1_000_i64 {
        let made = id(end - step * 1_000_003);
        assert_eq!(example().place(&made), before.place(&made));
    }
    let other = SnowflakeHash::new([
        epoch([halves("db1", 0), halves("db0", 2)]).time_less_than(time(GROWTH)),
        epoch([halves("db2", 4), halves("db3", 6)]),
    ]);
    assert!(!other.extends(&before, now));
}
