//! What the documentation shows can be read.

use super::{Config, sound, strategy_of_yaml, topology};

/// The blocks of YAML in the documentation of [`Config`].
fn blocks() -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in include_str!("../mod.rs").lines() {
        let Some(line) = line.strip_prefix("///") else {
            continue;
        };
        let line = line.strip_prefix(' ').unwrap_or(line);
        match &mut open {
            None if line == "```yaml" => open = Some(String::new()),
            None => {}
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some(block) => {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    blocks
}

#[test]
fn the_examples_are_right() {
    let [file, strategies] = &blocks()[..] else {
        panic!("not two blocks")
    };
    let env = |name: &str| (name == "DS0_URL").then(|| "sqlite:a".to_owned());
    let config = sound(Config::from_yaml_with(file, &env));
    assert_eq!(topology(&config).unwrap().tables().len(), 4);
    let strategies: Vec<_> = strategies.split("\n- ").collect();
    assert_eq!(strategies.len(), 16);
    for by in strategies {
        // The dash of the list makes way, and everything is indented below the key.
        let by = format!("\n  {}", by.trim_start_matches("- "));
        let by = by.replace('\n', "\n        ");
        assert_eq!(strategy_of_yaml(&by).flaws(), [], "{by}");
    }
}
