//! URLs and values of variables are in no message and in no `Debug` output.

use super::{Config, texts};

/// Pieces of a password, of which nothing may show.
const PIECES: [&str; 3] = ["hunter", "sword", "fish"];

#[track_caller]
fn check(config: &Config, text: &str) {
    let names: Vec<_> = config.sources().iter().map(|s| &s.name).collect();
    let urls: Vec<_> = config.sources().iter().map(|s| &s.url).collect();
    let shown = format!(
        "{config:?} {:#?} {names:?} {urls:?}",
        texts(config.mistakes())
    );
    for piece in PIECES {
        assert!(!shown.contains(piece), "{text}\n{shown}");
    }
}

fn env(name: &str) -> Option<String> {
    Some(match name {
        "URL" => "postgres://u:hunter@h/swordfish".to_owned(),
        "WORD" => "hunter".to_owned(),
        "LONG" => "hunter swordfish ".repeat(9),
        _ => return None,
    })
}

#[test]
fn wrong_urls_are_not_shown() {
    for url in [
        "hunter@swordfish",
        "[postgres://u:hunter@h/swordfish]",
        "{ postgres://u:hunter@h/swordfish: 1 }",
        "{ postgres://u:hunter@h/swordfish }",
        "{ url: [postgres://u:hunter@h/swordfish] }",
        "{ url: hunter, max_connections: swordfish }",
        "{ url: postgres://u:a,hunter,swordfish@h/db }",
        "{ url: 'postgres://h', sqlx_logging: hunter, schema_search_path: [swordfish] }",
        "foo://u:hunter@h/swordfish",
        "${URL}",
        "${WORD}",
        "{ url: \"${WORD}\", min_connections: \"${WORD}\" }",
        "postgres://u:${WORD}@h/swordfish${",
        "postgres://u:hunter@h/swordfish${NONE}",
        "*hunter",
        "&hunter !swordfish x",
        "\"hunter",
        "postgres://u:hunter: swordfish",
    ] {
        let text = format!("sources:\n  ds0: {url}\n");
        check(&Config::from_yaml_with(&text, &env), &text);
        let text = format!("sources: {{ ds0: {url} }}\n");
        check(&Config::from_yaml_with(&text, &env), &text);
        let text = format!("[sources]\nds0 = {url}\n");
        check(&Config::from_toml_with(&text, &env), &text);
        let text = format!("[sources]\nds0 = '{url}'\n");
        check(&Config::from_toml_with(&text, &env), &text);
    }
}

#[test]
fn urls_at_wrong_places_are_not_shown() {
    let url = "postgres://u:hunter@h/swordfish";
    for text in [
        format!("sources: {url}\n"),
        format!("sources: [{url}]\n"),
        format!("sources:\n  {url}:\n"),
        format!("sources:\n  {url}: 1\n"),
        "sources: { ds0: postgres://u:a,hunter,swordfish@h/db }\n".to_owned(),
        format!("default_source: {url}\n"),
        format!("draining: [{url}]\n"),
        format!("draining: {url}\n"),
        format!("single: {{ job: {url} }}\n"),
        format!("single:\n  {url}: ds0\n"),
        format!("limits: {url}\n"),
        format!("limits: {{ max_nodes: {url}, connection_mode: {url} }}\n"),
        format!("{url}: 1\n"),
        format!("{url}\n"),
        format!("tables:\n  {url}: 1\n"),
        format!("tables:\n  a: {url}\n"),
        format!("tables:\n  a: {{ separator: '{url}' }}\n"),
        format!("tables:\n  a: {{ table: {{ by: {{ strategy: '{url}' }} }} }}\n"),
        format!("tables:\n  a: {{ table: {{ by: {{ strategy: daily, starting: '{url}' }} }} }}\n"),
        format!("tables:\n  a: {{ tails: {{ '{url}': '{url}' }} }}\n"),
    ] {
        let config = Config::from_yaml_with(&text, &env);
        assert!(!config.mistakes().is_empty(), "{text}");
        check(&config, &text);
    }
}

#[test]
fn values_of_variables_are_not_shown() {
    for value in [
        "${WORD}",
        "a${WORD}b",
        "${LONG}",
        "${URL}",
        "x${WORD}${NONE}",
    ] {
        for text in [
            format!("limits: {{ max_nodes: {value}, connection_mode: {value} }}\n"),
            format!("breaker: {{ pause_seconds: {value} }}\n"),
            format!("draining: {value}\n"),
            format!("{value}: 1\n"),
            format!("tables:\n  {value}: 1\n"),
            format!("tables:\n  t: {{ table: {{ key: k, by: {{ strategy: {value} }} }} }}\n"),
            format!(
                "tables:\n  t: {{ table: {{ key: k, by: {{ strategy: modulo, shards: {value} }} }} }}\n"
            ),
            format!(
                "tables:\n  t: {{ table: {{ key: k, by: {{ strategy: daily, starting: {value}, zone: {value} }} }} }}\n"
            ),
            format!(
                "tables:\n  t: {{ table: {{ key: k, by: {{ strategy: lists, kind: {value}, lists: [{{ values: [{value}] }}] }} }} }}\n"
            ),
            format!(
                "tables:\n  t: {{ table: {{ key: k, by: {{ strategy: lists, kind: date, lists: [{{ values: [{value}] }}] }} }} }}\n"
            ),
            format!(
                "tables:\n  t: {{ node: {{ key: k, by: {{ strategy: snowflake_hash, epochs: {{ {value}: {{ {value}: 1 }} }} }} }} }}\n"
            ),
        ] {
            let config = Config::from_yaml_with(&text, &env);
            assert!(!config.mistakes().is_empty(), "{text}");
            check(&config, &text);
        }
    }
}

/// Whatever slip of the pen is made in a URL, nothing of it is shown.
#[test]
fn slips_show_nothing() {
    let files = [
        "sources:\n  ds0:\n    url: postgres://u:hunter@swordfish/sword?fish=hunter\n    max_connections: 3\n",
        "sources:\n  ds0: postgres://u:hunter@swordfish/sword?fish=hunter\n",
        "sources: { ds0: { max_connections: 3, url: postgres://u:hunter@swordfish/sword?fish=hunter } }\n",
        "sources: { ds0: 'postgres://u:hunter@swordfish/sword?fish=hunter' }\n",
        "sources: { ds0: postgres://u:hunter@swordfish/sword?fish=hunter, ds1: 'sqlite:a' }\n",
        "[sources]\nds0 = 'postgres://u:hunter@swordfish/sword?fish=hunter'\n",
        "[sources.ds0]\nurl = \"postgres://u:hunter@swordfish/sword?fish=hunter\"\n",
    ];
    let slips = [
        "", ",", ", ", ":", ": ", "{", "}", "[", "\"", "'", " #", "&", "*", "!", "@", "\n",
        "\n    ", "\t", "${",
    ];
    for file in files {
        for at in 0..=file.len() {
            for slip in slips {
                // The empty one stands for a character left out.
                let rest = file.get(at + usize::from(slip.is_empty())..);
                let text = format!("{}{slip}{}", &file[..at], rest.unwrap_or_default());
                let config = if file.starts_with('[') {
                    Config::from_toml_with(&text, &env)
                } else {
                    Config::from_yaml_with(&text, &env)
                };
                check(&config, &text);
            }
        }
    }
}
