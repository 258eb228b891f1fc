mod docs;
mod draft;
mod mistakes;
mod places;
#[cfg(feature = "schema")]
mod schema;
mod secrets;
mod syntax;

use std::sync::Arc;

use chrono::DateTime;
use sharding_core::key::KeyKind;
use sharding_core::strategy::Strategy;
use sharding_core::topology::{ColumnKind, Mistake, TableDraft, Topology, TopologyDraft};

use super::Config;

/// An environment without variables.
fn nothing(_: &str) -> Option<String> {
    None
}

fn texts(mistakes: &[Mistake]) -> Vec<String> {
    mistakes.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn sound(config: Config) -> Config {
    assert_eq!(texts(config.mistakes()), [""; 0]);
    assert!(config.is_complete());
    config
}

/// Every column is an integer, but those that say otherwise by their names.
fn column(name: &str) -> ColumnKind {
    ColumnKind::Key(match name {
        "text" | "number" => KeyKind::Text,
        "created_at" => KeyKind::Instant,
        _ => KeyKind::Integer,
    })
}

fn drafts(config: &Config) -> Vec<TableDraft> {
    let drafts = config.tables().iter().map(|table| {
        let mut draft = TableDraft::new(table.name.clone());
        table.apply(&mut draft, &column);
        draft
    });
    drafts.collect()
}

/// What a connection does with a file, when there is nothing in the code.
fn topology(config: &Config) -> Result<Topology, Vec<String>> {
    let draft = TopologyDraft {
        sources: config.sources().iter().map(|s| s.name.clone()).collect(),
        draining: config.draining().to_vec(),
        default_source: config.default_source().map(ToOwned::to_owned),
        tables: drafts(config),
        broadcast: config.broadcast().to_vec(),
        single: config.single().to_vec(),
        co_located: config.co_located().to_vec(),
        mistakes: config.mistakes().to_vec(),
        ..TopologyDraft::default()
    };
    draft
        .build(DateTime::UNIX_EPOCH)
        .map_err(|error| texts(error.mistakes()))
}

/// The strategy of the node rule of the only table.
#[track_caller]
fn strategy(config: Config) -> Arc<dyn Strategy> {
    let [draft] = &drafts(&sound(config))[..] else {
        panic!("not one table");
    };
    Arc::clone(&draft.node.as_ref().unwrap().key.strategy)
}

#[track_caller]
fn strategy_of_yaml(by: &str) -> Arc<dyn Strategy> {
    let text = format!("tables:\n  t:\n    node:\n      key: k\n      by: {by}\n");
    strategy(Config::from_yaml_with(&text, &nothing))
}

#[track_caller]
fn strategy_of_toml(by: &str) -> Arc<dyn Strategy> {
    let text = format!("[tables.t.node]\nkey = 'k'\nby = {}\n", by.trim());
    strategy(Config::from_toml_with(&text, &nothing))
}
