//! Strategies that say that they keep the order of keys do.

#![allow(clippy::unwrap_used, reason = "a test panics to fail")]

use chrono::{DateTime, FixedOffset, NaiveDate, TimeDelta, Utc};
use sharding_core::key::KeyValue;
use sharding_core::strategy::{
    Daily, EveryDays, HashBuckets, HashModulo, Lists, Modulo, Monthly, Quarterly, Ranges,
    SnowflakeLayout, SnowflakeTime, Strategy, Weekly, Yearly,
};

/// The oracle is the order of the values themselves: partitions of sorted keys are sorted.
fn keeps(strategy: &dyn Strategy, keys: &[KeyValue<'_>]) -> bool {
    let places: Vec<u32> = keys
        .iter()
        .filter_map(|key| strategy.place(key).ok())
        .collect();
    assert!(places.len() > 20, "{} places few keys", strategy.describe());
    places.is_sorted()
}

fn instants() -> Vec<DateTime<Utc>> {
    let start: DateTime<Utc> = "2012-11-30T22:59:59Z".parse().unwrap();
    (0..4_000)
        .map(|step| start + TimeDelta::minutes(step * 311))
        .collect()
}

#[test]
fn calendars_and_ranges_do() {
    let times: Vec<KeyValue<'static>> = instants().into_iter().map(KeyValue::from).collect();
    let offset = FixedOffset::west_opt(5 * 3_600).unwrap();
    let calendars: Vec<Box<dyn Strategy>> = vec![
        Box::new(Daily::starting(2013, 1, 1).through(2014, 1, 1)),
        Box::new(
            Weekly::starting(2013, 1, 1)
                .through(2014, 1, 1)
                .zone(offset),
        ),
        Box::new(Monthly::starting(2013, 1).through(2014, 6).zone(offset)),
        Box::new(Quarterly::starting(2013, 1).through(2014, 2)),
        Box::new(Yearly::starting(2012).through(2016)),
        Box::new(EveryDays::starting(10, 2013, 1, 1).through(2014, 1, 1)),
    ];
    for calendar in &calendars {
        assert!(
            calendar.keeps_order() && keeps(&**calendar, &times),
            "{}",
            calendar.describe()
        );
    }
    let numbers: Vec<KeyValue<'static>> = (-500..500_i64).map(KeyValue::from).collect();
    let ranges = Ranges::new()
        .less_than(-7, "a")
        .less_than(30, "b")
        .max_value("c");
    assert!(ranges.keeps_order() && keeps(&ranges, &numbers));
    let ids: Vec<KeyValue<'static>> = (0..400_i64)
        .map(|step| KeyValue::from(step << 54 | 0x3f_ffff))
        .collect();
    let calendar = Yearly::starting(1970).through(2100);
    let snowflake = SnowflakeTime::new(SnowflakeLayout::default(), calendar);
    assert!(snowflake.keeps_order() && keeps(&snowflake, &ids));
}

/// On 2009-11-01 at 00:01 the clocks of St. John's went back to 23:01 of the day before.
#[test]
fn clocks_that_go_back_across_midnight_do_not() {
    let days = Daily::starting(2009, 10, 1)
        .through(2009, 12, 1)
        .zone(chrono_tz::America::St_Johns);
    let first: DateTime<Utc> = "2009-11-01T02:00:00Z".parse().unwrap();
    let minutes = (0..120).map(|minute| KeyValue::from(first + TimeDelta::minutes(minute)));
    assert!(!keeps(&days, &minutes.collect::<Vec<_>>()));
    assert!(!days.keeps_order());
}

#[test]
fn others_say_nothing() {
    let again = Ranges::new()
        .less_than(-7, "a")
        .less_than(30, "b")
        .max_value("a");
    let others: Vec<Box<dyn Strategy>> = vec![
        Box::new(Modulo::new(4)),
        Box::new(HashModulo::new(4)),
        Box::new(HashBuckets::new(8)),
        Box::new(Lists::new().values("a", [1, 2]).otherwise("b")),
        Box::new(again),
    ];
    for other in &others {
        assert!(!other.keeps_order(), "{}", other.describe());
    }
}

#[test]
fn dates_do() {
    let first = NaiveDate::from_ymd_opt(2012, 12, 1).unwrap();
    let days: Vec<KeyValue<'static>> = first.iter_days().take(500).map(KeyValue::from).collect();
    assert!(keeps(&Monthly::starting(2013, 1).through(2013, 12), &days));
}
