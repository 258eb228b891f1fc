//! Texts that are no YAML or TOML, and what YAML can do.

use super::{Config, nothing, sound, texts};

#[test]
fn yaml_that_cannot_be_read_has_a_line_and_a_column() {
    for (text, expected) in [
        (
            "a: 1\nb: [1\nc: 2",
            "line 3, column 2: is no YAML: illegal placement of ':' indicator",
        ),
        (
            "sources:\n  ds0: *secret\n",
            "line 2, column 8: is no YAML: there is no anchor of this name; a text that begins \
             with `*` needs quotes",
        ),
        (
            "sources:\n  ds0: @secret\n",
            "line 2, column 8: is no YAML: a text that begins with this character needs quotes",
        ),
        (
            "tables: { a: { b: c{ } }",
            "line 1, column 20: is no YAML: while parsing a flow mapping, did not find expected \
             ',' or '}'; a text with a comma, a bracket or a brace needs quotes here",
        ),
        (
            "a: 1\n---\nb: 2\n",
            "line 3, column 1: is a second document; only one is possible",
        ),
        (
            "tables: !rule {}\n",
            "line 1, column 15: has a tag that means nothing here; remove it",
        ),
        (
            "? [a]\n: 1\n",
            "line 1, column 3: has to be a text, since it is a key",
        ),
        (
            "tables: &a { b: *a }\n",
            "line 1, column 17: is an alias of what it is in",
        ),
    ] {
        let config = Config::from_yaml_with(text, &nothing);
        assert_eq!(texts(config.mistakes()), [expected], "{text}");
        assert!(!config.is_complete());
    }
}

#[test]
fn aliases_cannot_make_a_file_huge() {
    let mut text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
    for level in 1..9 {
        let before = level - 1;
        let copies = vec![format!("*a{before}"); 10].join(", ");
        text += &format!("a{level}: &a{level} [{copies}]\n");
    }
    let config = Config::from_yaml_with(&text, &nothing);
    let [mistake] = &texts(config.mistakes())[..] else {
        panic!("not one mistake")
    };
    assert!(mistake.ends_with("is an alias too many; the file grows too large"));
    let deep = "[".repeat(100_000);
    assert_eq!(Config::from_yaml_with(&deep, &nothing).mistakes().len(), 1);
    let deep = format!("a = {deep}");
    assert!(
        !Config::from_toml_with(&deep, &nothing)
            .mistakes()
            .is_empty()
    );
}

#[test]
fn every_line_of_toml_that_cannot_be_read_is_reported() {
    let text = "draining = []\ndraining = []\n[sources]\nds0 = sqlite\nds1 = 'sqlite:a\n";
    assert_eq!(
        texts(Config::from_toml_with(text, &nothing).mistakes()),
        [
            "line 2, column 1: is no TOML: duplicate key",
            "line 4, column 7: is no TOML: string values must be quoted, expected literal string",
            "line 5, column 16: is no TOML: invalid literal string, expected `'`",
        ]
    );
}

#[test]
fn variables_need_no_quotes_in_braces() {
    let env = |name: &str| match name {
        "KEY" => Some("user_id".to_owned()),
        "SHARDS" => Some("4".to_owned()),
        _ => None,
    };
    let text = "tables: { t: { table: { key: [${KEY}, \"${KEY}${NONE:-2}\"], # ${COMMENT}\n\
                by: { strategy: ${NONE:-hash_modulo}, shards: ${SHARDS} } } } }\n";
    let config = sound(Config::from_yaml_with(text, &env));
    let draft = &super::drafts(&config)[0];
    let key = &draft.table.as_ref().unwrap().key;
    let columns: Vec<_> = key.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(columns, ["user_id", "user_id2"]);
    assert_eq!(key.strategy.describe(), "hash modulo 4");
}
