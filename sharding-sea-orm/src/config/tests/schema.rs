//! The file beside the crate is the schema of the model.

use super::super::json_schema;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/sharding.schema.json");

#[test]
fn the_file_is_up_to_date() {
    let schema = json_schema();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        let text = serde_json::to_string_pretty(&schema).unwrap();
        std::fs::write(FILE, text + "\n").unwrap();
    }
    let text = std::fs::read_to_string(FILE).unwrap();
    let written: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(
        written == schema,
        "run the tests with UPDATE_SCHEMA=1, and read what changes"
    );
}

#[test]
fn fields_and_strategies_are_described() {
    let schema = json_schema();
    let described = |value: &serde_json::Value| value["description"].is_string();
    let fields = schema["properties"].as_object().unwrap();
    assert!(fields.len() == 9 && fields.values().all(described));
    let strategies = schema["definitions"]["Strategy"]["oneOf"]
        .as_array()
        .unwrap();
    assert_eq!(strategies.len(), 15);
    for strategy in strategies {
        assert!(described(strategy), "{strategy}");
        let fields = strategy["properties"].as_object().unwrap();
        let mut fields = fields.iter().filter(|(name, _)| *name != "strategy");
        assert!(fields.all(|(_, field)| described(field)), "{strategy}");
    }
}
