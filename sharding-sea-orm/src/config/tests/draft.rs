//! What a file gives to a connection.

use std::sync::Arc;
use std::time::Duration;

use sharding_core::execute::{BreakerRules, ConnectionMode};
use sharding_core::strategy::{HashModulo, Modulo};
use sharding_core::topology::{
    ColumnDraft, KeyDraft, RuleDraft, TableDraft, TableName, TailsDraft,
};

use super::super::scalar::Secret;
use super::{Config, column, drafts, nothing, sound, texts, topology};
use crate::execute::{Limits, Retry};

const YAML: &str = r#"
default_source: ds1
limits:
  max_query_connections: 4
  connection_mode: memory_strictly
  max_nodes: 12
  statement_timeout_seconds: 0.5
  acquire_timeout_seconds: "1.5"
  retry: { times: 2, pause_seconds: 0 }
breaker: { failures: 3, pause_seconds: 0.25 }
sources:
  ds1:
    url: ${DS1_URL}
    max_connections: ${POOL}
    min_connections: 0
    connect_timeout_seconds: 1
    acquire_timeout_seconds: 0x2
    idle_timeout_seconds: 3
    max_lifetime_seconds: 4
    connect_lazy: true
    test_before_acquire: false
    test_before_acquire_if_idle_for_seconds: 5
    sqlx_logging: false
    schema_search_path: sales, public
    limits: { connection_mode: connection_strictly, acquire_timeout_seconds: 0 }
  ds0: sqlite://${DIR:-data}/a$$b.db
draining: [ds0]
broadcast: [carrier, sales.rate]
single: { job: ds0, log: ds1 }
co_located: [[order, sales.order_item]]
tables:
  order:
    separator: ""
    source: &source { key: user_id, by: { strategy: hash_modulo, shards: 2 }, names: [ds0, ds1] }
    table: &table
      key: [user_id, id]
      by: { strategy: hash_modulo, shards: 3 }
      also:
        - { key: text, by: { strategy: embedded, from: 0, length: 1, names: { strategy: modulo, shards: 3 } } }
    tails: { ds0: ["0..1"], ds1: "1.." }
  sales.order_item:
    separator: _
    source: *source
    table: *table
    tails: { ds0: [0, 1], ds1: [1.., 1] }
"#;

const TOML: &str = r#"
default_source = "ds1"
limits.max_query_connections = 4
limits.connection_mode = "memory_strictly"
limits.max_nodes = 12
limits.statement_timeout_seconds = 0.5
limits.acquire_timeout_seconds = "1.5"
limits.retry = { times = 2, pause_seconds = 0 }
breaker = { failures = 3, pause_seconds = 0.25 }
draining = ["ds0"]
broadcast = ["carrier", "sales.rate"]
co_located = [["order", "sales.order_item"]]

[sources.ds1]
url = "${DS1_URL}"
max_connections = "${POOL}"
min_connections = 0
connect_timeout_seconds = 1
acquire_timeout_seconds = 0x2
idle_timeout_seconds = 3
max_lifetime_seconds = 4
connect_lazy = true
test_before_acquire = false
test_before_acquire_if_idle_for_seconds = 5
sqlx_logging = false
schema_search_path = "sales, public"
limits = { connection_mode = "connection_strictly", acquire_timeout_seconds = 0 }

[sources]
ds0 = "sqlite://${DIR:-data}/a$$b.db"

[single]
job = "ds0"
log = "ds1"

[tables.order]
separator = ""
source = { key = "user_id", by = { strategy = "hash_modulo", shards = 2 }, names = ["ds0", "ds1"] }
tails = { ds0 = ["0..1"], ds1 = ["1.."] }

[tables.order.table]
key = ["user_id", "id"]
by = { strategy = "hash_modulo", shards = 3 }

[[tables.order.table.also]]
key = ["text"]
by = { strategy = "embedded", from = 0, length = 1, names = { strategy = "modulo", shards = 3 } }

[tables."sales.order_item"]
separator = "_"
source = { key = "user_id", by = { strategy = "hash_modulo", shards = 2 }, names = ["ds0", "ds1"] }
tails = { ds0 = [0, 1], ds1 = ["1..", 1] }

[tables."sales.order_item".table]
key = ["user_id", "id"]
by = { strategy = "hash_modulo", shards = 3 }
also = [
  { key = "text", by = { strategy = "embedded", from = 0, length = 1, names = { strategy = "modulo", shards = 3 } } },
]
"#;

fn env(name: &str) -> Option<String> {
    match name {
        "DS1_URL" => Some("sqlite://b.db\n".to_owned()),
        "POOL" => Some("10".to_owned()),
        _ => None,
    }
}

#[test]
fn everything_of_a_file_arrives() {
    for config in [
        Config::from_yaml_with(YAML, &env),
        Config::from_toml_with(TOML, &env),
    ] {
        let config = sound(config);
        let urls = config.sources().iter();
        let urls: Vec<_> = urls
            .map(|source| {
                (
                    source.name.as_str(),
                    source.url.as_ref().map(Secret::expose),
                )
            })
            .collect();
        assert_eq!(
            urls,
            [
                ("ds1", Some("sqlite://b.db")),
                ("ds0", Some("sqlite://data/a$b.db"))
            ]
        );
        let [pool, plain] = config.sources() else {
            panic!("not two sources")
        };
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(pool.max_connections, Some(10));
        assert_eq!(pool.min_connections, Some(0));
        assert_eq!(pool.connect_timeout, seconds(1));
        assert_eq!(pool.acquire_timeout, seconds(2));
        assert_eq!(pool.idle_timeout, seconds(3));
        assert_eq!(pool.max_lifetime, seconds(4));
        assert_eq!(pool.connect_lazy, Some(true));
        assert_eq!(pool.test_before_acquire, Some(false));
        assert_eq!(pool.test_if_idle_for, seconds(5));
        assert_eq!(pool.sqlx_logging, Some(false));
        assert_eq!(pool.schema_search_path.as_deref(), Some("sales, public"));
        assert_eq!((plain.max_connections, plain.sqlx_logging), (None, None));

        assert_eq!(config.default_source(), Some("ds1"));
        let limits = Limits::new()
            .max_query_connections(4)
            .connection_mode(ConnectionMode::MemoryStrictly)
            .max_nodes(12)
            .statement_timeout(Duration::from_millis(500))
            .acquire_timeout(Duration::from_millis(1_500))
            .retry(Retry {
                times: 2,
                pause: Duration::ZERO,
            });
        assert_eq!(config.limits(), limits);
        let limits = Limits::new()
            .connection_mode(ConnectionMode::ConnectionStrictly)
            .acquire_timeout(Duration::ZERO);
        assert_eq!((pool.limits, plain.limits), (limits, Limits::new()));
        let rules = BreakerRules {
            failures: 3,
            pause: Duration::from_millis(250),
        };
        assert_eq!(config.breaker(), Some(rules));
        assert_eq!(config.draining(), ["ds0"]);
        let in_sales = |table: &'static str| TableName {
            schema: Some("sales".into()),
            table: table.into(),
        };
        let carrier = TableName::new("carrier");
        assert_eq!(config.broadcast(), [carrier, in_sales("rate")]);
        let single = [("job", "ds0"), ("log", "ds1")];
        let single = single.map(|(table, source)| (TableName::new(table), source.to_owned()));
        assert_eq!(config.single(), single);
        let group = vec![TableName::new("order"), in_sales("order_item")];
        assert_eq!(config.co_located(), [group]);

        let [order, item] = &drafts(&config)[..] else {
            panic!("not two tables")
        };
        assert_eq!((&*order.separator, &*item.separator), ("", "_"));
        assert_eq!(item.name, in_sales("order_item"));
        let table = order.table.as_ref().unwrap();
        let columns = |key: &KeyDraft| {
            let columns = key.columns.iter();
            columns
                .map(|c| (c.name.to_string(), c.kind.clone()))
                .collect::<Vec<_>>()
        };
        let known = |name: &str| (name.to_owned(), column(name));
        assert_eq!(columns(&table.key), [known("user_id"), known("id")]);
        assert_eq!(columns(&table.secondary[0]), [known("text")]);
        assert!(order.node.is_none());
        let tails = |source: &'static str, tails: &[&'static str]| TailsDraft {
            source: source.into(),
            tails: tails.iter().map(|tail| (*tail).into()).collect(),
        };
        let expected = [tails("ds0", &["0..1"]), tails("ds1", &["1.."])];
        assert_eq!(order.tails.as_deref(), Some(&expected[..]));
        let expected = [tails("ds0", &["0", "1"]), tails("ds1", &["1..", "1"])];
        assert_eq!(item.tails.as_deref(), Some(&expected[..]));
        assert_eq!(topology(&config).unwrap().tables().len(), 2);
    }
}

#[test]
fn sources_keep_the_order_of_the_file() {
    let names = ["z", "a", "m", "b", "y", "0", "c"];
    let yaml: String = names
        .iter()
        .map(|n| format!("  {n}: sqlite:{n}\n"))
        .collect();
    let toml: String = names
        .iter()
        .map(|n| format!("{n} = 'sqlite:{n}'\n"))
        .collect();
    for config in [
        Config::from_yaml_with(&format!("sources:\n{yaml}"), &nothing),
        Config::from_toml_with(&format!("[sources]\n{toml}"), &nothing),
    ] {
        let config = sound(config);
        let found: Vec<_> = config.sources().iter().map(|s| s.name.as_str()).collect();
        assert_eq!(found, names);
    }
}

fn rule(column_name: &'static str) -> Option<RuleDraft> {
    Some(RuleDraft::new(KeyDraft {
        columns: vec![ColumnDraft {
            name: column_name.into(),
            kind: column(column_name),
        }],
        strategy: Arc::new(Modulo::new(2)),
    }))
}

/// A draft from code with everything that there is.
fn code() -> TableDraft {
    TableDraft {
        separator: "x".into(),
        source: rule("old"),
        source_names: Some(vec!["ds0".into()]),
        table: rule("old"),
        tails: Some(Vec::new()),
        node: rule("old"),
        ..TableDraft::new(TableName::new("t"))
    }
}

#[track_caller]
fn applied(section: &str) -> TableDraft {
    let text = format!("tables:\n  t: {section}\n");
    let config = sound(Config::from_yaml_with(&text, &nothing));
    let mut draft = code();
    config.tables()[0].apply(&mut draft, &column);
    draft
}

fn column_of(rule: Option<&RuleDraft>) -> Option<&str> {
    rule.map(|rule| &*rule.key.columns[0].name)
}

#[test]
fn a_file_overrides_the_code() {
    let rule = "{ key: new, by: { strategy: hash_modulo, shards: 2 } }";

    let nothing = applied("{}");
    assert_eq!(format!("{nothing:?}"), format!("{:?}", code()));

    let separator = applied("{ separator: \"\" }");
    assert_eq!(separator.separator, "");
    assert_eq!(column_of(separator.source.as_ref()), Some("old"));

    let node = applied(&format!("{{ node: {rule} }}"));
    assert_eq!(column_of(node.node.as_ref()), Some("new"));
    assert!(node.source.is_none() && node.source_names.is_none());
    assert!(node.table.is_none() && node.tails.is_none());

    let table = applied(&format!("{{ table: {rule} }}"));
    assert_eq!(column_of(table.table.as_ref()), Some("new"));
    assert_eq!(column_of(table.source.as_ref()), Some("old"));
    assert!(table.node.is_none() && table.source_names.is_some() && table.tails.is_some());
    let strategy = &table.table.as_ref().unwrap().key.strategy;
    assert!(sharding_core::strategy::is_alike(
        &**strategy,
        &HashModulo::new(2)
    ));

    let source = applied(&format!("{{ source: {rule} }}"));
    assert_eq!(column_of(source.source.as_ref()), Some("new"));
    assert_eq!(column_of(source.table.as_ref()), Some("old"));
    assert!(source.node.is_none() && source.source_names.is_none());

    let named = "{ key: new, by: { strategy: modulo, shards: 1 }, names: [ds7] }";
    let named = applied(&format!("{{ source: {named}, tails: {{ ds7: [0] }} }}"));
    assert_eq!(named.source_names, Some(vec!["ds7".into()]));
    assert_eq!(named.tails.unwrap()[0].source, "ds7");

    let both = applied(&format!(
        "{{ node: {rule}, table: {rule}, tails: {{ ds0: 0 }} }}"
    ));
    assert_eq!(column_of(both.node.as_ref()), Some("new"));
    assert_eq!(column_of(both.table.as_ref()), Some("new"));
    assert!(both.source.is_none() && both.tails.is_some());
}

#[test]
fn an_empty_file_says_nothing() {
    for config in [
        Config::from_yaml(""),
        Config::from_yaml("# nothing\n"),
        Config::from_yaml("---\n...\n"),
        Config::from_toml(""),
        Config::from_yaml("sources:\ntables:\ndraining:\n"),
    ] {
        let config = sound(config);
        assert!(config.sources().is_empty() && config.tables().is_empty());
        assert_eq!(config.default_source(), None);
    }
}

#[test]
fn files_are_read_by_their_endings() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.yaml", "default_source: a"),
        ("a.yml", "default_source: a"),
        ("a.toml", "default_source = 'a'"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let config = sound(Config::read(&path));
        assert_eq!(config.default_source(), Some("a"), "{name}");
    }
    let missing = Config::read("no/such/file.yaml");
    assert_eq!(
        texts(missing.mistakes()),
        ["no/such/file.yaml: cannot be read: No such file or directory (os error 2)"]
    );
    assert!(!missing.is_complete());
    let other = Config::read("file.json");
    assert_eq!(
        texts(other.mistakes()),
        ["file.json: has to end with `.yaml`, `.yml` or `.toml`"]
    );
}
