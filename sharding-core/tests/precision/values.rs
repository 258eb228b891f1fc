//! Ranges and lists of values.

use chrono::NaiveDate;
use sharding_core::key::{KeyKind, KeyValue};
use sharding_core::strategy::{Lists, Ranges};

use super::{by, check};

#[test]
fn edges_of_ranges() {
    let open = || {
        Ranges::new()
            .less_than(10, "a")
            .less_than(20, "b")
            .less_than(30, "a")
    };
    let table = by([("id", KeyKind::Integer)], open().max_value("rest"));
    check(
        &table,
        &[
            ("id = 9", "a"),
            ("id = 10", "b"),
            ("id = 11", "b"),
            ("id = 19", "b"),
            ("id = 20", "a"),
            ("id = 29", "a"),
            ("id = 30", "rest"),
            ("id = 9.0", "a"),
            ("id = -9223372036854775808", "a"),
            ("id = 9223372036854775807", "rest"),
            ("id < 10", "a"),
            ("id <= 9", "a"),
            ("id <= 10", "a b"),
            ("id < 11", "a b"),
            ("id >= 30", "rest"),
            ("id > 30", "rest"),
            ("id >= 29", "a rest"),
            ("id BETWEEN 10 AND 19", "b"),
            ("id BETWEEN 9 AND 19", "a b"),
            ("id BETWEEN 10 AND 20", "a b"),
            ("id >= 10 AND id < 20", "b"),
            ("id >= 12.5 AND id < 19.5", "b"),
            ("id BETWEEN 19 AND 12", ""),
            ("id BETWEEN 0 AND 2147483647", "*"),
            ("id BETWEEN 30 AND 9223372036854775807", "rest"),
            ("id IN (9, 29, 40)", "a rest"),
            ("id < 5 OR id > 35", "a rest"),
            ("id NOT BETWEEN 10 AND 40", "a rest"),
            ("NOT id >= 10", "a"),
            ("id <> 15", "*"),
            // Between 19 and 20 there is no integer, but ranges are of any numbers.
            ("id > 19 AND id < 20", "b"),
        ],
    );
    let without_rest = by([("id", KeyKind::Integer)], open());
    check(
        &without_rest,
        &[
            ("id = 29", "a"),
            ("id = 30", ""),
            ("id >= 30", ""),
            ("id > 9223372036854775807", ""),
            ("id > 12", "a b"),
            ("id < -1000", "a"),
            ("id <> 15", "*"),
        ],
    );
}

/// A value on the left turns the comparison round.
#[test]
fn mirrored_comparisons() {
    let halves = Ranges::new().less_than(5, "low").max_value("high");
    let halves = by([("id", KeyKind::Integer)], halves);
    check(
        &halves,
        &[
            ("id < 5", "low"),
            ("5 > id", "low"),
            ("id <= 5", "low high"),
            ("5 >= id", "low high"),
            ("id > 5", "high"),
            ("5 < id", "high"),
            ("id >= 5", "high"),
            ("5 <= id", "high"),
            ("4 = id", "low"),
            ("5 = id", "high"),
            ("NOT 5 > id", "high"),
            ("NOT 5 <= id", "low"),
            ("3 <= id AND 5 > id", "low"),
        ],
    );
}

#[test]
fn ranges_of_other_kinds() {
    let price = Ranges::new()
        .less_than(KeyValue::decimal(&"9.99".parse().unwrap()), "cheap")
        .less_than(100, "fair")
        .max_value("dear");
    let price = by([("price", KeyKind::Decimal)], price);
    check(
        &price,
        &[
            ("price = 9.98", "cheap"),
            ("price = 9.990", "fair"),
            ("price < 9.99", "cheap"),
            ("price <= 9.99", "cheap fair"),
            ("price > 9.99 AND price < 100.00", "fair"),
            ("price BETWEEN 9.99 AND 1e2", "fair dear"),
        ],
    );
    let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    let seasons = Ranges::new()
        .less_than(date("2013-03-20"), "winter")
        .less_than(date("2013-06-21"), "spring");
    let seasons = by([("day", KeyKind::Date)], seasons);
    check(
        &seasons,
        &[
            ("day = '2013-03-19'", "winter"),
            ("day = '2013-03-20'", "spring"),
            ("day = '2013-06-21'", ""),
            ("day < '2013-03-20'", "winter"),
            ("day >= '2013-03-20'", "spring"),
            ("day BETWEEN '2013-03-19' AND '2013-03-20'", "winter spring"),
            ("day >= '2013-06-21'", ""),
        ],
    );
}

#[test]
fn ranges_of_text() {
    let letters = || Ranges::new().less_than("g", "a_f").max_value("g_z");
    let by_collation = by([("code", KeyKind::Text)], letters());
    check(
        &by_collation,
        &[
            ("code = 'fzz'", "a_f"),
            ("code = 'g'", "g_z"),
            ("code IN ('a', 'b')", "a_f"),
            ("code < 'g'", "*"),
            ("code BETWEEN 'a' AND 'b'", "*"),
            ("code <> 'g'", "*"),
        ],
    );
    let by_bytes = by([("ascii", KeyKind::Text)], letters());
    check(
        &by_bytes,
        &[
            ("ascii = 'fzz'", "a_f"),
            ("ascii < 'g'", "a_f"),
            ("'g' > ascii", "a_f"),
            ("ascii <= 'g'", "a_f g_z"),
            ("ascii >= 'g'", "g_z"),
            ("ascii > 'fzz'", "a_f g_z"),
            ("ascii BETWEEN 'a' AND 'b'", "a_f"),
            ("ascii > 'b' AND ascii < 'c'", "a_f"),
            ("NOT ascii < 'g'", "g_z"),
            ("ascii < NULL", ""),
        ],
    );
}

#[test]
fn lists_of_text() {
    let lists = || {
        Lists::new()
            .values("eu", ["cz", "de"])
            .values("us", ["us"])
            .values("as", ["jp"])
    };
    let table = by([("country", KeyKind::Text)], lists().otherwise("rest"));
    check(
        &table,
        &[
            ("country = 'de'", "eu"),
            ("'de' = country", "eu"),
            ("country = 'br'", "rest"),
            ("country IN ('de', 'cz')", "eu"),
            ("country IN ('jp', 'br', 'us', 'jp')", "us as rest"),
            ("country = 'de' OR country = 'us'", "eu us"),
            (
                "(country = 'de' OR country = 'us') AND country <> 'jp'",
                "eu us",
            ),
            ("country = 'de' AND country = 'us'", ""),
            ("country = 'de' AND country <> 'jp'", "eu"),
            ("country <> 'jp'", "*"),
            ("country NOT IN ('cz', 'de')", "*"),
            ("country < 'de'", "*"),
            ("country IS NULL", ""),
        ],
    );
    let without_rest = by([("country", KeyKind::Text)], lists());
    check(
        &without_rest,
        &[
            ("country = 'br'", ""),
            ("country IN ('br', 'us')", "us"),
            ("country <> 'br'", "*"),
        ],
    );
}

#[test]
fn lists_of_numbers() {
    let lists = || Lists::new().values("low", [1, 2]).values("high", [8, 9]);
    let table = by([("id", KeyKind::Integer)], lists());
    check(
        &table,
        &[
            ("id = 2", "low"),
            ("id = 5", ""),
            ("id BETWEEN 2 AND 7", "low"),
            ("id BETWEEN 3 AND 7", ""),
            ("id > 2 AND id < 8", ""),
            ("id > 8", "high"),
            ("9 < id", ""),
            ("id NOT IN (1, 2)", "high"),
            ("id NOT IN (1, 8)", "low high"),
        ],
    );
    let with_rest = by([("id", KeyKind::Integer)], lists().otherwise("rest"));
    check(
        &with_rest,
        &[
            ("id = 5", "rest"),
            ("id BETWEEN 3 AND 7", "rest"),
            ("id BETWEEN 3 AND 8", "high rest"),
            ("id >= 9", "high rest"),
            ("id NOT IN (1, 2, 8, 9)", "rest"),
            ("id = 2.5", "rest"),
        ],
    );
}
