//! Every mistake of a file is reported at once, at its place, with the way out.

use super::super::TableConfig;
use super::{Config, nothing, texts, topology};

#[track_caller]
fn yaml(text: &str, expected: &[&str]) {
    assert_eq!(
        texts(Config::from_yaml_with(text, &nothing).mistakes()),
        expected
    );
}

/// Mistakes of a strategy, without the path to it.
#[track_caller]
fn strategy(by: &str, expected: &[&str]) {
    let text = format!("tables:\n  t:\n    table:\n      key: k\n      by: {by}\n");
    let config = Config::from_yaml_with(&text, &nothing);
    let found = texts(config.mistakes());
    let found: Vec<_> = found
        .iter()
        .map(|text| text.strip_prefix("tables.t.table.by.").unwrap_or(text))
        .collect();
    assert_eq!(found, expected, "{by}");
    assert!(!config.tables()[0].is_sound());
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let text = r#"
default_sorce: ds0
limits:
  max_query_connections: 0
  connection_mode: memory_strict
  max_node: 3
  statement_timeout_seconds: 0
  acquire_timeout_seconds: -1
  retry: { times: 2 }
breaker: { failures: none, pause_seconds: 1e400 }
sources:
  ds0: { url: "sqlite:a", max_conections: 3, max_connections: many, min_connections: -1 }
  ds1: ${DS1_URL}
  ds2: [sqlite:a]
  "a b": sqlite:a
  ds3:
  ds4: { max_connections: 4, min_connections: 5 }
  ds4: sqlite:a
  ds5: localhost
  ds6: { url: "sqlite:a", limits: { max_nodes: 3 } }
draining: ds1
broadcast: [a.b.c, [carrier]]
single: { job: }
co_located: [[order, order_item], other]
tables:
  order:
    seperator: _
    source: { key: user_id, by: { strategy: hash_modul, shards: 2 }, names: [ds0, { ds1: 1 }] }
    table:
      key: []
      by: { strategy: monthly, starting: 2013-13, through: 2013, zone: Europe/Prag, ahead: x }
      also:
        - { key: order_no, by: { strategy: embedded, from: 0, length: 0, names: { strategy: weekly, starting: 2013 } } }
        - { by: { strategy: modulo } }
    tails: { ds0: ["0..1"], ds1: {} }
  order: {}
  both: { table: { key: a, by: { strategy: modulo, shards: 0 } }, node: 4 }
  none:
"#;
    let config = Config::from_yaml_with(text, &nothing);
    assert_eq!(
        texts(config.mistakes()),
        [
            "default_sorce: is not known; did you mean `default_source`?",
            "limits.max_query_connections: has to be a whole number from 1 to 4294967295, not `0`",
            "limits.connection_mode: `memory_strict` is not known; did you mean `memory_strictly`?",
            "limits.max_node: is not known; did you mean `max_nodes`?",
            "limits.statement_timeout_seconds: has to be a number of seconds such as 30 or 0.5, \
             more than 0, not `0`",
            "limits.acquire_timeout_seconds: has to be a number of seconds such as 30 or 0.5, not \
             `-1`",
            "limits.retry.pause_seconds: is missing; it has to be a number of seconds such as 30 \
             or 0.5",
            "breaker.failures: has to be a whole number from 1 to 4294967295, not `none`",
            "breaker.pause_seconds: has to be a number of seconds such as 30 or 0.5, not `1e400`",
            "sources.ds0.max_conections: is not known; did you mean `max_connections`?",
            "sources.ds0.max_connections: has to be a whole number from 1 to 4294967295",
            "sources.ds0.min_connections: has to be a whole number from 0 to 4294967295",
            "sources.ds1: the environment variable `DS1_URL` is not set; set it, or give a default \
             as in `${DS1_URL:-default}`",
            "sources.ds2: has to be a URL, or a mapping with `url`, not a list",
            "sources (line 15, column 3): the key has to be a name of letters, digits, `_` and `-`",
            "sources.ds3: is missing; it has to be a URL, or a mapping with `url`",
            "sources.ds4.url: is missing; it has to be a URL that begins with `sqlite:`, \
             `postgres:` or `mysql:`",
            "sources.ds4.min_connections: is more than `max_connections`",
            "sources.ds4: is given twice, on line 17 and on line 18; remove one",
            "sources.ds5: has to be a URL that begins with `sqlite:`, `postgres:` or `mysql:`",
            "sources.ds6.limits.max_nodes: counts the tables of all data sources; give it in the \
             limits of the file",
            "draining: has to be a list, not `ds1`",
            "broadcast[0]: has to be a table, or `schema.table`, not `a.b.c`",
            "broadcast[1]: has to be a table, or `schema.table`, not a list",
            "single.job: is missing; it has to be a name",
            "co_located[1]: has to be a list, not `other`",
            "tables.order.seperator: is not known; did you mean `separator`?",
            "tables.order.source.by.strategy: `hash_modul` is not known; did you mean \
             `hash_modulo`?",
            "tables.order.source.names[1]: has to be a name, not a mapping",
            "tables.order.table.by.starting: has to be a month such as 2013-01, not `2013-13`",
            "tables.order.table.by.through: has to be a month such as 2013-01, not `2013`",
            "tables.order.table.by.zone: has to be UTC, an offset such as +08:00, or a zone such \
             as Asia/Shanghai, not `Europe/Prag`",
            "tables.order.table.by.ahead: has to be a whole number from 0 to 4294967295, not `x`",
            "tables.order.table.by.ahead: is given beside `through`; they exclude each other, so \
             remove one",
            "tables.order.table.also[0].by.length: has to be a whole number from 1 to 4294967295, \
             not `0`",
            "tables.order.table.also[0].by.names.starting: has to be a day such as 2013-01-31, not \
             `2013`",
            "tables.order.table.also[1].key: is missing; it has to be a text or a list of texts",
            "tables.order.table.also[1].by.shards: is missing; it has to be a whole number from 0 \
             to 4294967295",
            "tables.order.tails.ds1: has to be a text or a list of texts, not a mapping",
            "tables.order: is given twice, on line 26 and on line 36; remove one",
            "tables.both.table.by.shards: is 0; at least 1 is needed",
            "tables.both.node: has to be a mapping with `key` and `by`, not `4`",
            "tables.none: is missing; it has to be a mapping with `source`, `table` or `node`",
        ]
    );
    // What is left is there, so that nothing seems to be missing.
    let sources: Vec<_> = config.sources().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(sources, ["ds0", "ds1", "ds2", "ds3", "ds4", "ds5", "ds6"]);
    let tables = config.tables().iter();
    let tables: Vec<_> = tables.map(|t| (t.name.to_string(), t.is_sound())).collect();
    let unsound = ["order", "both", "none"].map(|name| (name.to_owned(), false));
    assert_eq!(tables, unsound);
    assert!(!config.is_complete());
}

#[test]
fn toml_has_the_same_mistakes() {
    let text = r#"
default_sorce = "ds0"
limits = { max_query_connections = 1.5, statement_timeout_seconds = 1979-05-27 }
[sources]
ds0 = { url = "sqlite:a", max_conections = 3, sqlx_logging = 1 }
ds1 = "${DS1_URL}"
[tables.order]
source = { key = "user_id", by = { shards = "-1" }, names = "ds0" }
[tables.order.table]
key = 2013-01-01
by = { strategy = "daily", starting = 07:00:00, ahead = 0xFFFFFFFFF, "un.ix" = 1 }
"#;
    assert_eq!(
        texts(Config::from_toml_with(text, &nothing).mistakes()),
        [
            "default_sorce: is not known; did you mean `default_source`?",
            "limits.max_query_connections: has to be a whole number from 1 to 4294967295, not `1.5`",
            "limits.statement_timeout_seconds: has to be a number of seconds such as 30 or 0.5, \
             more than 0, not `1979-05-27`",
            "sources.ds0.max_conections: is not known; did you mean `max_connections`?",
            "sources.ds0.sqlx_logging: has to be true or false",
            "sources.ds1: the environment variable `DS1_URL` is not set; set it, or give a default \
             as in `${DS1_URL:-default}`",
            "tables.order.source.by.strategy: is missing; it has to be one of `modulo`, \
             `hash_modulo`, `hash_buckets`, `ranges`, `lists`, `hourly`, `daily`, `weekly`, \
             `monthly`, `quarterly`, `yearly`, `every_days`, `snowflake_time`, `snowflake_hash`, \
             `embedded`",
            "tables.order.source.names: has to be a list, not `ds0`",
            "tables.order.table.by.starting: has to be a day such as 2013-01-31, not `07:00:00`",
            "tables.order.table.by.ahead: has to be a whole number from 0 to 4294967295, not \
             `0xFFFFFFFFF`",
            "tables.order.table.by.un.ix: is not known; did you mean `unix`?",
        ]
    );
}

#[test]
fn strategies_say_what_they_need() {
    strategy(
        "monthly",
        &["tables.t.table.by: has to be a mapping with `strategy`, not `monthly`"],
    );
    strategy(
        "{ strategy: modulo, strategy: modulo, shards: 1, shards: 2, count: 3 }",
        &[
            "strategy: is given twice, on line 5 and on line 5; remove one",
            "shards: is given twice, on line 5 and on line 5; remove one",
            "count: is not known; possible are `shards`, `strategy`",
        ],
    );
    strategy(
        "{ strategy: hash_buckets, buckets: 8 }",
        &["even: is missing; give it, or `ranges`"],
    );
    strategy(
        "{ strategy: hash_buckets, buckets: 8, even: 9 }",
        &["even: is more than there are buckets"],
    );
    strategy(
        "{ strategy: hash_buckets, buckets: 4000000000, even: 4000000000 }",
        &["even: is more than there are buckets"],
    );
    strategy(
        "{ strategy: hash_buckets, even: 3, ranges: [{ less_than: x }] }",
        &[
            "ranges: is given beside `even`; they exclude each other, so remove one",
            "ranges[0].partition: is missing; it has to be a name",
            "ranges[0].less_than: has to be a whole number or MAXVALUE, not `x`",
        ],
    );
    strategy(
        "{ strategy: ranges, kind: date, ranges: [{ less_than: 2013-02-30, partition: p },
           { less_than: 2013-02-28, partition: '' }, { less_than: maxvalue, partition: q }] }",
        &[
            "ranges[0].less_than: has to be a date such as 2013-01-31, not `2013-02-30`",
            "ranges[1].partition: has to be a name, not ``",
        ],
    );
    strategy(
        "{ strategy: lists, kind: integr, lists: [{ values: 1, partition: p }] }",
        &[
            "kind: `integr` is not known; did you mean `integer`?",
            "lists[0].values: has to be a list, not `1`",
        ],
    );
    strategy(
        "{ strategy: lists, lists: [{ values: [true, null, [1], x], partition: p }] }",
        &[
            "lists[0].values[0]: is a truth value; write 1 or 0 for that, or put a text in quotes",
            "lists[0].values[1]: is missing; it has to be a number, a text or a date",
            "lists[0].values[2]: has to be a number, a text or a date, not a list",
        ],
    );
    strategy(
        "{ strategy: every_days, starting: 2013-01, through: 2013-02-30 }",
        &[
            "days: is missing; it has to be a whole number from 0 to 4294967295",
            "starting: has to be a day such as 2013-01-31, not `2013-01`",
            "through: has to be a day such as 2013-01-31, not `2013-02-30`",
        ],
    );
    strategy(
        "{ strategy: quarterly, starting: 2013-q5, unix: days }",
        &[
            "starting: has to be a quarter such as 2013-q1, not `2013-q5`",
            "unix: `days` is not known; possible are `seconds`, `milliseconds`, `microseconds`",
        ],
    );
    strategy(
        "{ strategy: snowflake_time, layout: {}, calendar: { strategy: modulo, shards: 4 } }",
        &[
            "layout.epoch: is missing; it has to be milliseconds since 1970, or a time such as \
             2010-11-04T01:42:54.657Z",
            "layout.lower_bits: is missing; it has to be a whole number from 0 to 4294967295",
            "calendar.strategy: `modulo` is not known; possible are `hourly`, `daily`, `weekly`, \
             `monthly`, `quarterly`, `yearly`, `every_days`",
        ],
    );
    strategy(
        "{ strategy: embedded, from: 0, length: 1, names: { strategy: embedded, from: 0,
           length: 1, names: { strategy: modulo, shards: 4 } } }",
        &["names: is embedded itself; give the strategy of its `names`"],
    );
}

#[test]
fn epochs_of_both_forms_are_checked() {
    strategy(
        "{ strategy: snowflake_hash, epochs: { 2016-10-31T17:00:00: {
             0x0001: { database: db0, tables: { 0x0000: t_0, 0x8000: t_1, 32768: t_2 } } } } }",
        &[
            "epochs.\"2016-10-31T17:00:00\".0x0001.tables.32768: is the same as \
             tables.t.table.by.epochs.\"2016-10-31T17:00:00\".0x0001.tables.0x8000",
        ],
    );
    strategy(
        "{ strategy: snowflake_hash, epochs: {
             2016-10-31T17:00:00: { 0x4000: { database: db0, tables: { 0x0000: t_0 } } },
             2016-11-01T01:00:00+08: { 0x0000: { database: db0, tables: { 1: t_0 } } },
             2016-11-01T01:00:00+8: { 0x10000: { database: db0, tables: {} } },
             2017-01-01: {} } }",
        &[
            "epochs.\"2016-10-31T17:00:00\": leaves the hashes before its first range without \
             owner; start with 0x0000",
            "epochs.\"2016-11-01T01:00:00+08\": is the same as \
             tables.t.table.by.epochs.\"2016-10-31T17:00:00\"",
            "epochs.\"2016-11-01T01:00:00+08\".0x0000.tables: leaves the hashes before its first \
             range without owner; start with 0x0000",
            "epochs.\"2016-11-01T01:00:00+8\": the key has to be a time such as \
             2016-11-20T17:00:00+08:00, not `2016-11-01T01:00:00+8`",
            "epochs.\"2016-11-01T01:00:00+8\".0x10000: the key has to be where a range of hashes \
             starts, from 0x0000 to 0xFFFF, not `0x10000`",
            "epochs.\"2016-11-01T01:00:00+8\".0x10000.tables: is empty; the whole is one range \
             from 0x0000",
            "epochs.2017-01-01: is empty; the whole is one range from 0x0000",
        ],
    );
    strategy(
        "{ strategy: snowflake_hash, epochs: {} }",
        &["epochs: is empty; one epoch is enough"],
    );
    strategy(
        "{ strategy: snowflake_hash, epochs: [{ time_less_than: soon, databases: {
             modulo: [db0] } }, { databases: [{ less_than: 70000 }] }] }",
        &[
            "epochs[0].time_less_than: has to be a time such as 2016-11-20T17:00:00+08:00, not \
             `soon`",
            "epochs[0].databases.mod: is missing; it has to be a list",
            "epochs[0].databases.modulo: is not known; did you mean `mod`?",
            "epochs[1].databases[0].database: is missing; it has to be a name",
            "epochs[1].databases[0].tables: is missing; it has to be a list of ranges with \
             `less_than`, or a mapping with `mod`",
        ],
    );
}

/// What the form of the file does not tell is for the core to say, at the same paths.
#[test]
fn paths_are_those_of_the_core() {
    let text = "
sources: { ds0: 'sqlite:a' }
draining: [ds1]
single: { job: ds2 }
tables:
  sales.event:
    separator: '-'
    node:
      key: id
      by:
        strategy: snowflake_hash
        layout: { epoch: 0, lower_bits: 41 }
        epochs:
        - databases:
          - less_than: MAXVALUE
            database: ds0
            tables: [{ less_than: 7, table: a }, { less_than: 7, table: b }]
    tails: {}
  flight:
    table: { key: id, by: { strategy: modulo, shards: 2 }, also: [{ key: id, by: { strategy: modulo, shards: 0 } }] }
";
    let config = Config::from_yaml_with(text, &nothing);
    assert_eq!(texts(config.mistakes()), [""; 0]);
    let expected = [
        "draining: `ds1` is not among the sources",
        "tables.sales.event.separator: \"-\" may only hold letters, digits and `_`",
        "tables.sales.event.node: decides source and table together; remove the `tails` beside it",
        "tables.sales.event.node.by.layout.lower_bits: is 41; 1 to 40 are possible",
        "tables.sales.event.node.by.epochs[0].databases[0].tables[1]: range 0..7 overlaps the one \
         before it, which ends with 7",
        "tables.sales.event.node.by.epochs[0].databases[0].tables: leaves 7..65536 without owner; \
         end with MAXVALUE",
        "tables.flight.table.also[0].by.shards: is 0; at least 1 is needed",
        "tables.job.single: `ds2` is not among the sources",
    ];
    assert_eq!(topology(&config).unwrap_err(), expected);

    // With a mistake of form in the same table the strategies are still looked at.
    let config = Config::from_yaml_with(&text.replace("tails: {}", "tials: {}"), &nothing);
    assert_eq!(
        texts(config.mistakes()),
        [
            expected[3],
            expected[4],
            expected[5],
            "tables.sales.event.tials: is not known; did you mean `tails`?",
        ]
    );
    let sound: Vec<_> = config.tables().iter().map(TableConfig::is_sound).collect();
    assert_eq!(sound, [false, true]);
}

#[test]
fn what_is_no_mapping_at_all() {
    let what = "has to be a mapping with `sources` and `tables`";
    yaml("- 1", &[&format!("the file: {what}, not a list")]);
    yaml("sources", &[&format!("the file: {what}, not `sources`")]);
    yaml(
        "sources: [ds0]\ntables: 4",
        &[
            "sources: has to be a mapping, not a list",
            "tables: has to be a mapping, not `4`",
        ],
    );
    assert!(!Config::from_yaml("sources: [ds0]").is_complete());
    assert!(!Config::from_yaml("tables: { a.b.c: {} }").is_complete());
    assert!(Config::from_yaml("tables: { a: 1 }").is_complete());
}

#[test]
fn keys_are_the_same_once_variables_have_values() {
    let env = |name: &str| (name == "NAME").then(|| "order".to_owned());
    let text = "tables:\n  order: {}\n  ${NAME}: {}\n  ${NONE}: {}\n";
    assert_eq!(
        texts(Config::from_yaml_with(text, &env).mistakes()),
        [
            "tables.\"${NAME}\": is given twice, on line 2 and on line 3; remove one",
            "tables.\"${NONE}\": the environment variable `NONE` is not set; set it, or give a \
             default as in `${NONE:-default}`",
        ]
    );
}
