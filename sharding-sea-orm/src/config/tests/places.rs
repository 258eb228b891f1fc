//! Strategies of files place like those made by calls.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset, NaiveDate, Utc};
use chrono_tz::Tz;
use sharding_core::key::KeyValue;
use sharding_core::strategy::{
    Daily, Embedded, EveryDays, HashBuckets, HashModulo, HashSplit, Hourly, Lists, Modulo, Monthly,
    Quarterly, Ranges, SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash, SnowflakeLayout,
    SnowflakeTime, Strategy, UnixTime, Weekly, Yearly, is_alike,
};

use super::{strategy_of_toml, strategy_of_yaml};

/// Both languages give this strategy, which places the keys.
#[track_caller]
fn check<const N: usize>(yaml: &str, toml: &str, expected: impl Strategy, keys: [KeyValue<'_>; N]) {
    assert_eq!(expected.flaws(), []);
    let now = time("2013-06-15T00:00:00Z");
    let extent = expected.extent(now);
    let keys = keys.map(|key| (expected.place(&key), key));
    let expected: Arc<dyn Strategy> = Arc::new(expected);
    for strategy in [strategy_of_yaml(yaml), strategy_of_toml(toml)] {
        assert_eq!(strategy.flaws(), []);
        assert!(is_alike(&*strategy, &*expected), "{}", strategy.describe());
        assert_eq!(strategy.describe(), expected.describe());
        for (place, key) in &keys {
            assert_eq!(strategy.place(key), *place, "{key}");
        }
        assert_eq!(strategy.extent(now), extent);
        for partition in 0..extent.count.min(5) {
            assert_eq!(strategy.name(partition), expected.name(partition));
        }
    }
}

fn time(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn ints() -> [KeyValue<'static>; 5] {
    [-1, 0, 7, 10_000_000, 1_541_815_603_606_036_480].map(KeyValue::Int)
}

fn instants() -> [KeyValue<'static>; 4] {
    [
        "2013-01-31T16:30:00Z",
        "2013-02-01T00:00:00Z",
        "2013-12-31T23:59:59Z",
        "2012-12-31T23:59:59Z",
    ]
    .map(|text| time(text).into())
}

#[test]
fn remainders() {
    check(
        "{ strategy: modulo, shards: 4 }",
        "{ strategy = 'modulo', shards = 4 }",
        Modulo::new(4),
        ints(),
    );
    check(
        "{ strategy: hash_modulo, shards: 0x10 }",
        "{ strategy = 'hash_modulo', shards = 0x10 }",
        HashModulo::new(16),
        ints(),
    );
    check(
        "{ strategy: hash_modulo, shards: '0x10' }",
        "{ strategy = 'hash_modulo', shards = '16' }",
        HashModulo::new(16),
        ints(),
    );
}

#[test]
fn hash_buckets() {
    check(
        "{ strategy: hash_buckets, even: 3 }",
        "{ strategy = 'hash_buckets', even = 3 }",
        HashBuckets::even(3),
        ints(),
    );
    check(
        "{ strategy: hash_buckets, buckets: 64, ranges: [{ less_than: 0x20, partition: a },
           { less_than: 48, partition: 7 }, { less_than: MAXVALUE, partition: a }] }",
        "{ strategy = 'hash_buckets', buckets = 64, ranges = [{ less_than = 0x20, partition = 'a' },
           { less_than = '48', partition = 7 }, { less_than = 'maxvalue', partition = 'a' }] }",
        HashBuckets::new(64)
            .less_than(32, "a")
            .less_than(48, "7")
            .less_than(64, "a"),
        ints(),
    );
}

#[test]
fn ranges() {
    check(
        "{ strategy: ranges, ranges: [{ less_than: 0x10, partition: '2022' },
           { less_than: 25000000.10, partition: 2023 }, { less_than: MaxValue, partition: rest }] }",
        "{ strategy = 'ranges', ranges = [{ less_than = 0x10, partition = '2022' },
           { less_than = 25000000.10, partition = 2023 },
           { less_than = 'MAXVALUE', partition = 'rest' }] }",
        Ranges::new()
            .less_than(16, "2022")
            .less_than(KeyValue::decimal(&"25000000.1".parse().unwrap()), "2023")
            .max_value("rest"),
        ints(),
    );
    let day = |text: &str| text.parse::<NaiveDate>().unwrap();
    check(
        "{ strategy: ranges, kind: date, ranges: [{ less_than: 2013-01-31, partition: a }] }",
        "{ strategy = 'ranges', ranges = [{ less_than = 2013-01-31, partition = 'a' }] }",
        Ranges::new().less_than(day("2013-01-31"), "a"),
        ["2013-01-30", "2013-01-31"].map(|text| day(text).into()),
    );
    check(
        "{ strategy: ranges, kind: instant, ranges: [{ less_than: 2013-02-01T08:00:00+08, partition: a }] }",
        "{ strategy = 'ranges', ranges = [{ less_than = 2013-02-01T08:00:00+08:00, partition = 'a' }] }",
        Ranges::new().less_than(time("2013-02-01T00:00:00Z"), "a"),
        instants(),
    );
    check(
        "{ strategy: ranges, ranges: [{ less_than: !!timestamp 2013-02-01 08:00:00, partition: a }] }",
        "{ strategy = 'ranges', kind = 'timestamp', ranges = [{ less_than = '2013-02-01 08:00:00', partition = 'a' }] }",
        Ranges::new().less_than(time("2013-02-01T08:00:00Z").naive_utc(), "a"),
        [time("2013-02-01T00:00:00Z").naive_utc().into()],
    );
}

#[test]
fn lists() {
    check(
        "{ strategy: lists, lists: [{ values: [cz, '1', de], partition: eu },
           { values: [2013-01-01], partition: date }], otherwise: rest }",
        "{ strategy = 'lists', lists = [{ values = ['cz', '1', 'de'], partition = 'eu' },
           { values = ['2013-01-01'], partition = 'date' }], otherwise = 'rest' }",
        Lists::new()
            .values("eu", ["cz", "1", "de"])
            .values("date", ["2013-01-01"])
            .otherwise("rest"),
        ["cz", "1", "2013-01-01", "x"].map(KeyValue::text),
    );
    check(
        "{ strategy: lists, lists: [{ values: [1, -0x2, 3.0], partition: a }, { values: [1.5], partition: b }] }",
        "{ strategy = 'lists', kind = 'decimal', lists = [{ values = ['1', '-2', '3'], partition = 'a' },
           { values = [1.5], partition = 'b' }] }",
        Lists::new()
            .values("a", [1, -2, 3])
            .values("b", [KeyValue::decimal(&"1.5".parse().unwrap())]),
        ints(),
    );
    check(
        "{ strategy: lists, kind: text, lists: [{ values: [1, 0x2, true], partition: a }] }",
        "{ strategy = 'lists', kind = 'text', lists = [{ values = ['1', '0x2', true], partition = 'a' }] }",
        Lists::new().values("a", ["1", "0x2", "true"]),
        ["1", "2", "true"].map(KeyValue::text),
    );
    check(
        "{ strategy: lists, kind: integer, lists: [{ values: ['1', \"0x2\"], partition: a }] }",
        "{ strategy = 'lists', lists = [{ values = [1, 0x2], partition = 'a' }] }",
        Lists::new().values("a", [1, 2]),
        ints(),
    );
}

#[test]
fn calendars() {
    check(
        "{ strategy: hourly, starting: 2013-01-31T05, through: 2013-02-01 06:00 }",
        "{ strategy = 'hourly', starting = 2013-01-31T05:00:00, through = '2013-02-01T06' }",
        Hourly::starting(2013, 1, 31, 5).through(2013, 2, 1, 6),
        instants(),
    );
    check(
        "{ strategy: daily, starting: 2013-01-31, ahead: 3 }",
        "{ strategy = 'daily', starting = 2013-01-31, ahead = 3 }",
        Daily::starting(2013, 1, 31).ahead(3),
        instants(),
    );
    check(
        "{ strategy: weekly, starting: 2013-01-31, through: 2013-12-31 }",
        "{ strategy = 'weekly', starting = 2013-01-31, through = '2013-12-31' }",
        Weekly::starting(2013, 1, 31).through(2013, 12, 31),
        instants(),
    );
    let zone = FixedOffset::east_opt(8 * 3_600).unwrap();
    for (yaml, toml) in [("+08", "+08"), ("'+0800'", "+0800"), ("+08:00", "+08:00")] {
        check(
            &format!("{{ strategy: monthly, starting: 2013-01, zone: {yaml} }}"),
            &format!("{{ strategy = 'monthly', starting = '2013-01', zone = '{toml}' }}"),
            Monthly::starting(2013, 1).zone(zone),
            instants(),
        );
    }
    check(
        "{ strategy: monthly, starting: 2013-01, through: 2013-12-31, zone: Asia/Shanghai }",
        "{ strategy = 'monthly', starting = 2013-01-01, through = '2013-12', zone = 'Asia/Shanghai' }",
        Monthly::starting(2013, 1)
            .through(2013, 12)
            .zone(Tz::Asia__Shanghai),
        instants(),
    );
    check(
        "{ strategy: quarterly, starting: 2013-q1, through: 2013Q4, zone: UTC }",
        "{ strategy = 'quarterly', starting = '2013-Q1', through = 2013-10-01 }",
        Quarterly::starting(2013, 1).through(2013, 4),
        instants(),
    );
    check(
        "{ strategy: yearly, starting: 2013, through: '2014' }",
        "{ strategy = 'yearly', starting = 2013, through = '2014' }",
        Yearly::starting(2013).through(2014),
        instants(),
    );
    check(
        "{ strategy: every_days, days: 10, starting: 2013-01-31, zone: -0330 }",
        "{ strategy = 'every_days', days = 10, starting = 2013-01-31, zone = '-03:30' }",
        EveryDays::starting(10, 2013, 1, 31).zone(FixedOffset::west_opt(12_600).unwrap()),
        instants(),
    );
    for (unit, unix, scale) in [
        ("seconds", UnixTime::Seconds, 1),
        ("milliseconds", UnixTime::Milliseconds, 1_000),
        ("microseconds", UnixTime::Microseconds, 1_000_000),
    ] {
        check(
            &format!("{{ strategy: monthly, starting: 2013-01, unix: {unit} }}"),
            &format!("{{ strategy = 'monthly', starting = '2013-01', unix = '{unit}' }}"),
            Monthly::starting(2013, 1).unix(unix),
            [1_359_676_800 * scale, 1_359_676_799 * scale].map(KeyValue::Int),
        );
    }
}

#[test]
fn snowflake_times() {
    check(
        "{ strategy: snowflake_time, calendar: { strategy: monthly, starting: 2022-05 } }",
        "{ strategy = 'snowflake_time', calendar = { strategy = 'monthly', starting = '2022-05' } }",
        SnowflakeTime::new(SnowflakeLayout::TWITTER, Monthly::starting(2022, 5)),
        ints(),
    );
    check(
        "{ strategy: snowflake_time, layout: { epoch: 2020-01-01T00:00:00Z, lower_bits: 16 },
           calendar: { strategy: every_days, days: 7, starting: 2022-05-01 } }",
        "{ strategy = 'snowflake_time', layout = { epoch = 1577836800000, lower_bits = 0x10 },
           calendar = { strategy = 'every_days', days = 7, starting = 2022-05-01 } }",
        SnowflakeTime::new(
            SnowflakeLayout::new(1_577_836_800_000, 16),
            EveryDays::starting(7, 2022, 5, 1),
        ),
        ints(),
    );
}

#[test]
fn names_in_texts() {
    check(
        "{ strategy: embedded, from: 2, length: 6, names: { strategy: monthly, starting: 2013-01 } }",
        "{ strategy = 'embedded', from = 2, length = 6,
           names = { strategy = 'monthly', starting = '2013-01' } }",
        Embedded::new(2..8, Monthly::starting(2013, 1)),
        ["x-201303-17", "x-201213-17", "x"].map(KeyValue::text),
    );
    check(
        "{ strategy: embedded, from: 0, length: 1, names: { strategy: modulo, shards: 4 } }",
        "{ strategy = 'embedded', from = 0, length = 1, names = { strategy = 'modulo', shards = 4 } }",
        Embedded::new(0..1, Modulo::new(4)),
        ["3x", "4x"].map(KeyValue::text),
    );
}

/// The example of the proposal, made by calls.
fn proposal() -> SnowflakeHash {
    let name = |number: u32| format!("t_snowflake_hash_{number}");
    let halves = |database: &str, first: u32| {
        let tables = HashSplit::ranges()
            .less_than(0x8000, name(first))
            .max_value(name(first + 1));
        SnowflakeDatabase::new(database, tables)
    };
    let epoch =
        |low, high| SnowflakeEpoch::new(HashSplit::ranges().less_than(0x8000, low).max_value(high));
    SnowflakeHash::new([
        epoch(halves("db0", 0), halves("db1", 2)).time_less_than(time("2016-11-20T09:00:00Z")),
        epoch(halves("db2", 4), halves("db3", 6)),
    ])
}

/// Ids before the growth, at it and after it.
fn ids() -> [KeyValue<'static>; 6] {
    let growth = SnowflakeLayout::TWITTER.first_id(time("2016-11-20T09:00:00Z"));
    [1, 2, growth - 1, growth, growth + 1, i64::MAX].map(KeyValue::from)
}

#[test]
fn snowflake_hashes_in_the_form_of_the_proposal() {
    let yaml = "
        strategy: snowflake_hash
        epochs:
          2016-10-31T17:00:00:
            0x0000: { database: db0, tables: { 0x0000: t_snowflake_hash_0, 0x8000: t_snowflake_hash_1 } }
            0x8000: { database: db1, tables: { 0x0000: t_snowflake_hash_2, 0x8000: t_snowflake_hash_3 } }
          2016-11-20T17:00:00+08:
            0x0000: { database: db2, tables: { 0x0000: t_snowflake_hash_4, 0x8000: t_snowflake_hash_5 } }
            0x8000: { database: db3, tables: { 0x0000: t_snowflake_hash_6, 0x8000: t_snowflake_hash_7 } }";
    // What comes first in the file does not matter.
    let toml = "
        { strategy = 'snowflake_hash', epochs = {
          '2016-11-20T17:00:00+0800' = {
            32768 = { database = 'db3', tables = { 0x8000 = 't_snowflake_hash_7', 0 = 't_snowflake_hash_6' } },
            0x0000 = { database = 'db2', tables = { 0x0000 = 't_snowflake_hash_4', '0x8000' = 't_snowflake_hash_5' } },
          },
          '2016-10-31T17:00:00Z' = {
            0x0 = { database = 'db0', tables = { 0x0000 = 't_snowflake_hash_0', 0x8000 = 't_snowflake_hash_1' } },
            0x8000 = { database = 'db1', tables = { 0x0000 = 't_snowflake_hash_2', 0x8000 = 't_snowflake_hash_3' } },
          },
        } }";
    check(yaml, toml, proposal(), ids());
}

#[test]
fn snowflake_hashes_in_the_form_of_the_review() {
    let yaml = "
        strategy: snowflake_hash
        layout: { epoch: 1288834974657, lower_bits: 22 }
        epochs:
        - time_less_than: 2016-11-20T17:00:00+08:00
          databases:
          - less_than: 32768
            database: db0
            tables:
            - { less_than: 0x8000, table: t_snowflake_hash_0 }
            - { less_than: MAXVALUE, table: t_snowflake_hash_1 }
          - less_than: MAXVALUE
            database: db1
            tables:
            - { less_than: 32768, table: t_snowflake_hash_2 }
            - { less_than: 65536, table: t_snowflake_hash_3 }
        - databases:
          - less_than: 32768
            database: db2
            tables:
            - { less_than: 32768, table: t_snowflake_hash_4 }
            - { less_than: MAXVALUE, table: t_snowflake_hash_5 }
          - less_than: 0x10000
            database: db3
            tables:
            - { less_than: 32768, table: t_snowflake_hash_6 }
            - { less_than: MaxValue, table: t_snowflake_hash_7 }";
    let database = |end: &str, name: &str, first: u32| {
        format!(
            "{{ less_than = {end}, database = '{name}', tables = [
               {{ less_than = 0x8000, table = 't_snowflake_hash_{first}' }},
               {{ less_than = 'MAXVALUE', table = 't_snowflake_hash_{}' }} ] }}",
            first + 1
        )
    };
    let toml = format!(
        "{{ strategy = 'snowflake_hash', epochs = [
           {{ time_less_than = 2016-11-20T17:00:00+08:00, databases = [{}, {}] }},
           {{ databases = [{}, {}] }} ] }}",
        database("32768", "db0", 0),
        database("65536", "db1", 2),
        database("'0x8000'", "db2", 4),
        database("'maxvalue'", "db3", 6),
    );
    check(yaml, &toml, proposal(), ids());
}

#[test]
fn snowflake_hashes_by_remainder() {
    let tables = |first: u32| HashSplit::modulo([0, 1].map(|n| format!("t_{}", first + n)));
    let databases = [
        SnowflakeDatabase::new("db0", tables(0)),
        SnowflakeDatabase::new("db1", HashSplit::whole("t_2")),
    ];
    check(
        "{ strategy: snowflake_hash, epochs: [{ databases: { mod: [
           { database: db0, tables: { mod: [t_0, t_1] } },
           { database: db1, tables: [{ less_than: MAXVALUE, table: t_2 }] } ] } }] }",
        "{ strategy = 'snowflake_hash', epochs = [{ databases.mod = [
           { database = 'db0', tables.mod = ['t_0', 't_1'] },
           { database = 'db1', tables = [{ less_than = 'MAXVALUE', table = 't_2' }] } ] }] }",
        SnowflakeHash::new([SnowflakeEpoch::new(HashSplit::modulo(databases))]),
        ids(),
    );
}
