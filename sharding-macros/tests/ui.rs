//! What the derive accepts, and what it says about everything else.

use std::fs;

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    for kind in fs::read_dir("tests/ui").expect("the directory of the cases") {
        let kind = kind.expect("a kind of mistake").path();
        if kind.is_dir() && !kind.ends_with("pass") {
            cases.compile_fail(kind.join("*.rs").to_str().expect("a path in UTF-8"));
        }
    }
}
