//! One day, two ranges and three days, in many spellings.

use chrono::FixedOffset;
use sharding_core::key::KeyKind;
use sharding_core::strategy::{Calendar, Daily, Day, UnixTime};

use super::{Row, by, check};

/// 2013-03-09 was a Saturday; none of these reaches a day beside it.
const ONE_DAY: [&str; 30] = [
    "at = '2013-03-09 10:20:00'",
    "'2013-03-09 10:20:00' = at",
    "at = '2013-03-09'",
    "at = '2013-03-09 23:59:59.999999999'",
    "at IN ('2013-03-09 10:20:00')",
    "at IN ('2013-03-09 10:20:00', '2013-03-09 10:20:00')",
    "at IN ('2013-03-09 00:00:00', '2013-03-09 23:59:59', NULL)",
    "at >= '2013-03-09' AND at < '2013-03-10'",
    "at < '2013-03-10' AND at >= '2013-03-09'",
    "'2013-03-09' <= at AND '2013-03-10' > at",
    "at >= '2013-03-09 00:00:00' AND at <= '2013-03-09 23:59:59.999'",
    "at BETWEEN '2013-03-09' AND '2013-03-09 23:59:59.999999999'",
    "at > '2013-03-08 23:59:59.999999999' AND at < '2013-03-10'",
    "at >= '2013-03-09 01:00:00' AND at <= '2013-03-09 02:00:00'",
    "at > '2013-03-09' AND at < '2013-03-10'",
    "NOT (at < '2013-03-09' OR at >= '2013-03-10')",
    "NOT ('2013-03-09' > at OR '2013-03-10' <= at)",
    "NOT at NOT BETWEEN '2013-03-09' AND '2013-03-09 23:00:00'",
    "NOT at <> '2013-03-09 10:20:00'",
    "NOT NOT at = '2013-03-09 10:20:00'",
    "at = '2013-03-09 10:20:00' AND other = 7",
    "other = 7 AND (at >= '2013-03-09' AND (other = 8 AND at < '2013-03-10'))",
    "at = '2013-03-09 10:20:00' OR FALSE",
    "at = '2013-03-09 10:20:00' OR NULL",
    "at = '2013-03-09 10:20:00' OR at = '2013-03-09 11:00:00'",
    "at >= '2013-03-09' AND at < '2013-03-10' AND at <> '2013-03-09 10:20:00'",
    "(at >= '2013-03-09' OR FALSE) AND (at < '2013-03-10' OR at IS NULL)",
    "(FALSE OR at >= '2013-03-09') AND (TRUE OR at > '2013-03-20') AND at < '2013-03-10'",
    "at >= '2013-03-09' AND at < '9999-12-31' AND at < '2013-03-10'",
    "at IN ('2013-03-08', '2013-03-09') AND at IN ('2013-03-09', '2013-03-11')",
];

const DAY: &str = "20130309";

const TWO_RANGES: [&str; 7] = [
    "(at >= '2013-03-03' AND at < '2013-03-05') OR (at >= '2013-03-08' AND at < '2013-03-10')",
    "(at >= '2013-03-08' AND at < '2013-03-10') OR (at >= '2013-03-03' AND at < '2013-03-05')",
    "at BETWEEN '2013-03-03' AND '2013-03-04 23:59:59' \
     OR at BETWEEN '2013-03-08' AND '2013-03-09 23:59:59'",
    "at >= '2013-03-03' AND at < '2013-03-10' AND (at < '2013-03-05' OR at >= '2013-03-08')",
    "at >= '2013-03-03' AND at < '2013-03-10' \
     AND NOT (at >= '2013-03-05' AND at < '2013-03-08')",
    "(at >= '2013-03-03' AND at < '2013-03-05' AND other = 1) \
     OR (other = 2 AND '2013-03-08' <= at AND '2013-03-10' > at)",
    "at IN ('2013-03-03 12:00:00', '2013-03-04 00:00:00') \
     OR (at >= '2013-03-08' AND at < '2013-03-10')",
];

const TWO: &str = "20130303 20130304 20130308 20130309";

const OTHERS: [Row<'_>; 9] = [
    (
        "at IN ('2013-03-01', '2013-03-15 12:00:00', '2013-03-31 23:59:59.999')",
        "20130301 20130315 20130331",
    ),
    (
        "at IN ('2013-02-28', '2013-03-15', '2013-04-01')",
        "20130315",
    ),
    (
        "at = '2013-03-01' OR at = '2013-03-02' OR at = '2013-03-01'",
        "20130301 20130302",
    ),
    ("at < '2013-03-03'", "20130301 20130302"),
    ("at <= '2013-03-03'", "20130301 20130302 20130303"),
    ("at > '2013-03-29 23:59:59.999999999'", "20130330 20130331"),
    ("NOT at < '2013-03-31'", "20130331"),
    // A bound that is not given stands for no bound.
    (
        "(TRUE OR at >= '2013-03-09') AND at < '2013-03-02'",
        "20130301",
    ),
    (
        "(FALSE OR at >= '2013-03-30') AND (TRUE OR at < '2013-03-02')",
        "20130330 20130331",
    ),
];

fn spellings() -> impl Iterator<Item = Row<'static>> {
    let one = ONE_DAY.into_iter().map(|condition| (condition, DAY));
    let two = TWO_RANGES.into_iter().map(|condition| (condition, TWO));
    one.chain(two).chain(OTHERS)
}

fn march() -> Calendar<Day> {
    Daily::starting(2013, 3, 1).through(2013, 3, 31)
}

#[test]
fn spellings_of_timestamps() {
    let topology = by([("at", KeyKind::DateTime)], march());
    for (condition, tails) in spellings() {
        check(&topology, &[(condition, tails)]);
    }
}

/// The same texts as instants, with the offset of the calendar's zone behind them.
#[test]
fn spellings_of_instants() {
    let west = FixedOffset::west_opt(12_600).unwrap();
    let zones = [
        ("Z", march()),
        ("-03:30", march().zone(west)),
        ("+08:00", march().zone(chrono_tz::Asia::Shanghai)),
    ];
    for (offset, calendar) in zones {
        let topology = by([("at", KeyKind::Instant)], calendar);
        let full = |condition: &str| {
            let literals = condition.split('\'').enumerate();
            let literals = literals.map(|(number, text)| match (number % 2, text.len()) {
                (0, _) => text.to_owned(),
                (_, 10) => format!("'{text} 00:00:00{offset}'"),
                _ => format!("'{text}{offset}'"),
            });
            literals.collect::<String>()
        };
        for (condition, tails) in spellings() {
            check(&topology, &[(&full(condition), tails)]);
        }
    }
}

/// 2013-03-09 began 1,362,787,200 seconds after 1970, and a day has 86,400.
#[test]
fn spellings_of_unix_time() {
    let topology = by([("at", KeyKind::Integer)], march().unix(UnixTime::Seconds));
    check(
        &topology,
        &[
            ("at = 1362787200", DAY),
            ("at = 1362873599", DAY),
            ("at = 1362787200.0", DAY),
            ("at = 1362787200.5", ""),
            ("1362830000 = at", DAY),
            ("at IN (1362787200, 1362873599, NULL)", DAY),
            ("at >= 1362787200 AND at < 1362873600", DAY),
            ("at > 1362787199 AND at <= 1362873599", DAY),
            ("at > 1362787199 AND at < 1362873600", DAY),
            ("at > 1362787199.5 AND at < 1362873599.5", DAY),
            ("1362787200 <= at AND 1362873600 > at", DAY),
            ("at BETWEEN 1362787200 AND 1362873599", DAY),
            ("NOT (at < 1362787200 OR at >= 1362873600)", DAY),
            ("at BETWEEN 1362787200 AND 1362873600", "20130309 20130310"),
            ("at >= 1362787199 AND at < 1362873600", "20130308 20130309"),
        ],
    );
}
