//! Remainders and hashes.

use sharding_core::key::KeyKind;
use sharding_core::strategy::{HashBuckets, HashModulo, Modulo};

use super::{by, check, check_nodes};

#[test]
fn remainders_of_single_values() {
    let four = by([("id", KeyKind::Integer)], Modulo::new(4));
    check(
        &four,
        &[
            ("id = 5", "1"),
            ("5 = id", "1"),
            ("id = 0", "0"),
            ("id = -1", "3"),
            ("id = -4", "0"),
            ("id = -5", "3"),
            // One more than a double tells apart.
            ("id = 9007199254740993", "1"),
            ("id = 9007199254740995", "3"),
            ("id = 9223372036854775807", "3"),
            ("id = -9223372036854775808", "0"),
            ("id = 18446744073709551615", "3"),
            ("id = 5.0", "1"),
            ("id = 5.5", ""),
            ("id IN (1, 5, 9)", "1"),
            ("id IN (1, 2, 1)", "1 2"),
            ("id IN (7, NULL)", "3"),
            ("id IN (5.0, 6.5)", "1"),
            ("id IN (-1, 9007199254740993)", "1 3"),
            ("id = 2 OR id = 3", "2 3"),
            ("id = 2 OR id = 3 OR id = 7", "2 3"),
            ("id IN (1, 2, 3) AND id > 2", "3"),
            ("id IN (1, 2) AND id IN (2, 3)", "2"),
            ("(id = 1 OR id = 2) AND NOT id = 2", "1"),
            ("NOT id <> 5", "1"),
            ("NOT NOT id = 5", "1"),
            ("NOT id NOT IN (5, 9)", "1"),
        ],
    );
}

#[test]
fn remainders_of_ranges() {
    let four = by([("id", KeyKind::Integer)], Modulo::new(4));
    check(
        &four,
        &[
            ("id BETWEEN 5 AND 6", "1 2"),
            ("id BETWEEN 7 AND 9", "0 1 3"),
            ("id BETWEEN 7 AND 10", "*"),
            ("id BETWEEN 5 AND 5", "1"),
            ("id BETWEEN -1 AND 0", "0 3"),
            ("id BETWEEN 9 AND 7", ""),
            ("id BETWEEN 5.5 AND 6.5", "2"),
            ("id BETWEEN 5.2 AND 5.8", ""),
            ("id > 4 AND id < 7", "1 2"),
            ("4 < id AND 7 > id", "1 2"),
            ("id >= 5 AND id <= 5", "1"),
            ("id > 4 AND id < 6", "1"),
            ("id > 5 AND id < 6", ""),
            ("NOT (id < 5 OR id > 6)", "1 2"),
            ("id > 4", "*"),
            ("id <= 4", "*"),
            ("id BETWEEN 0 AND 2147483647", "*"),
            ("id BETWEEN 0 AND 9223372036854775807", "*"),
            (
                "id BETWEEN -9223372036854775808 AND 9223372036854775807",
                "*",
            ),
            (
                "id BETWEEN 9223372036854775806 AND 9223372036854775807",
                "2 3",
            ),
            (
                "id > 9223372036854775806 AND id < 9223372036854775809",
                "0 3",
            ),
            ("id BETWEEN 9007199254740993 AND 9007199254740994", "1 2"),
        ],
    );
}

/// What no row or any row satisfies, whatever the strategy.
#[test]
fn conditions_that_say_nothing_or_too_much() {
    let modulo = by([("id", KeyKind::Integer)], Modulo::new(4));
    let hash = by([("id", KeyKind::Integer)], HashModulo::new(4));
    for topology in [modulo, hash] {
        check(
            &topology,
            &[
                ("id = 1 AND id = 2", ""),
                ("id = 1 AND id IN (2, 3)", ""),
                ("id > 5 AND id < 5", ""),
                ("id IN ()", ""),
                ("id IN (NULL)", ""),
                ("id = 1 AND id IN ()", ""),
                ("id = NULL", ""),
                ("id <> NULL", ""),
                ("id < NULL", ""),
                ("NULL >= id", ""),
                ("id BETWEEN NULL AND 5", ""),
                ("NOT id = NULL", ""),
                ("id NOT IN (1, NULL)", ""),
                ("id IS NULL", ""),
                ("id = 1 AND id IS NULL", ""),
                ("FALSE", ""),
                ("NULL", ""),
                ("NOT TRUE", ""),
                ("id = 1 AND FALSE", ""),
                ("id = 1 AND NULL", ""),
                ("id IS NOT NULL", "*"),
                ("id NOT IN ()", "*"),
                ("id NOT IN (0)", "*"),
                ("id <> 0", "*"),
                ("0 <> id", "*"),
                ("NOT id = 0", "*"),
                ("NOT id IN (0, 1)", "*"),
                ("id NOT BETWEEN 1 AND 2", "*"),
                ("NOT id BETWEEN 1 AND 2", "*"),
                ("id <> 1 AND id <> 2", "*"),
                ("id = 1 OR id <> 1", "*"),
                ("TRUE", "*"),
                ("other = 1", "*"),
                ("NOT other = 1", "*"),
                ("id = other", "*"),
                ("id = 1 OR other = 3", "*"),
                ("other = 3 OR id = 1", "*"),
                ("(id = 1 AND other = 3) OR other = 4", "*"),
                ("id = 1 OR TRUE", "*"),
                ("(id = 1 OR TRUE)", "*"),
                ("NOT (id = 1 AND other = 3)", "*"),
                ("NOT (id <> 1 AND other = 3)", "*"),
            ],
        );
    }
}

#[test]
fn constants_and_other_columns_beside_the_key() {
    let four = by([("id", KeyKind::Integer)], Modulo::new(4));
    check(
        &four,
        &[
            ("id = 1 AND other = 3", "1"),
            ("other = 3 AND id = 1", "1"),
            ("id = 1 AND NOT other = 3", "1"),
            ("id = 1 AND TRUE", "1"),
            ("id = 1 OR FALSE", "1"),
            ("id = 1 OR NULL", "1"),
            ("(id = 1 OR other = 3) AND id IN (1, 2)", "1 2"),
            ("(id = 1 AND other = 3) OR (id = 2 AND other = 4)", "1 2"),
            ("id = 1 AND (id = 1 OR other = 3)", "1"),
            ("NOT (id <> 1 OR other = 3)", "1"),
        ],
    );
}

/// One name is the end of another: `t_1` of `t_11` and `t_111`.
#[test]
fn names_that_end_alike() {
    let many = by([("id", KeyKind::Integer)], Modulo::new(120));
    check_nodes(
        &many,
        &[
            ("id = 1", "ds0.t_1"),
            ("id = 11", "ds0.t_11"),
            ("id = 111", "ds0.t_111"),
            ("id = 121", "ds0.t_1"),
            ("id IN (1, 11)", "ds0.t_1 ds0.t_11"),
            ("id BETWEEN 119 AND 120", "ds0.t_0 ds0.t_119"),
            ("id BETWEEN 9 AND 12", "ds0.t_9 ds0.t_10 ds0.t_11 ds0.t_12"),
            ("id BETWEEN 1 AND 120", "*"),
        ],
    );
}

/// MurmurHash3 of 0, 1 and -1 is 1669671676, 1392991556 and 1651860712; of the greatest 64-bit
/// integer 2188461247, and of `N14228` 734630004.
#[test]
fn hashes() {
    let ten = by([("id", KeyKind::Integer)], HashModulo::new(10));
    check(
        &ten,
        &[
            ("id = 1", "6"),
            ("1 = id", "6"),
            ("id = 1.0", "6"),
            ("id = -1", "2"),
            ("id IN (0, 1)", "6"),
            ("id IN (1, -1, 1, NULL)", "2 6"),
            ("id = 9223372036854775807", "7"),
            ("id BETWEEN 1 AND 1", "6"),
            ("id >= 1 AND id <= 1", "6"),
            ("id IN (1, -1) AND id < 0", "2"),
            ("id BETWEEN 0 AND 1", "*"),
            ("id > 1", "*"),
            ("id = 1 OR id > 7", "*"),
        ],
    );
    let texts = by([("code", KeyKind::Text)], HashModulo::new(10));
    check(
        &texts,
        &[
            ("code = 'N14228'", "4"),
            ("code = 'N14228  '", "4"),
            ("code IN ('', 'N14228')", "0 4"),
            ("code < 'N14228'", "*"),
            ("code BETWEEN 'N14228' AND 'N14228'", "*"),
            ("code <> 'N14228'", "*"),
            ("code = 'N14228' AND code > 'A'", "4"),
        ],
    );
}

/// The buckets of 0, 1, -1 and 3 are 764, 324, 232 and 947.
#[test]
fn hash_buckets() {
    let even = by([("id", KeyKind::Integer)], HashBuckets::even(4));
    check(
        &even,
        &[
            ("id = 0", "2"),
            ("id = 1", "1"),
            ("id IN (-1, 3)", "0 3"),
            ("id > 3", "*"),
        ],
    );
    let grown = HashBuckets::new(1_024)
        .less_than(324, "a")
        .less_than(764, "b")
        .less_than(765, "c")
        .less_than(1_024, "a");
    let grown = by([("id", KeyKind::Integer)], grown);
    check(
        &grown,
        &[
            ("id = -1", "a"),
            ("id = 1", "b"),
            ("id = 0", "c"),
            ("id = 3", "a"),
            ("id IN (3, 1, -1)", "a b"),
            ("id <> 0", "a b c"),
        ],
    );
}
