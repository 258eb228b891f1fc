//! The page as text. It is the memory of what the other database systems answer, too.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use sea_orm::DbBackend;

use super::construct::Section;

const INTRODUCTION: &str = include_str!("introduction.md");

/// What is said of a construct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Over several nodes of one data source.
    pub one: String,
    /// Over several data sources.
    pub several: String,
}

impl Cells {
    /// The same for both situations.
    pub fn both(text: &str) -> Self {
        Self {
            one: text.to_owned(),
            several: text.to_owned(),
        }
    }
}

/// The page for what one database system answers. What is known of the others is kept.
pub(super) fn render(
    sections: &[Section],
    found: &BTreeMap<String, Cells>,
    backend: DbBackend,
    before: &str,
) -> String {
    let before = rows(before);
    let mut page = INTRODUCTION.to_owned();
    for section in sections {
        write!(page, "\n## {}\n\n", section.title).unwrap();
        if !section.text.is_empty() {
            write!(page, "{}\n\n", section.text).unwrap();
        }
        page.push_str("| | one data source | several data sources |\n|---|---|---|\n");
        for construct in &section.constructs {
            let name = format!("{}: {}", section.title, construct.name);
            let nothing = (String::new(), String::new());
            let (one, several) = before.get(&name).unwrap_or(&nothing);
            let cells = &found[&name];
            let one = cell(one, backend, &cells.one);
            let several = cell(several, backend, &cells.several);
            let example = escape(&construct.example());
            write!(page, "| {}<br>`{example}`", construct.name).unwrap();
            if let Some(note) = construct.note {
                write!(page, "<br>{note}").unwrap();
            }
            writeln!(page, " | {one} | {several} |").unwrap();
        }
    }
    page
}

/// Compares the page with the one that is published, or takes its place if `UPDATE_SUPPORT` is set.
pub(super) fn check(page: &str) {
    if env::var_os("UPDATE_SUPPORT").is_some() {
        fs::write(path(), page).unwrap();
        return;
    }
    let published = published();
    let lines = published.lines().zip(page.lines());
    let different = lines.filter(|(published, page)| published != page);
    let different: Vec<_> = different
        .map(|(published, page)| format!("- {published}\n+ {page}"))
        .collect();
    assert!(
        published == page,
        "docs/support.md is not what the library does. Read what is different; if it is meant, \
         `UPDATE_SUPPORT=1 cargo test -p tests support` writes the page anew.\n{}",
        different.join("\n")
    );
}

/// The page as it is published, or nothing.
pub(super) fn published() -> String {
    fs::read_to_string(path()).unwrap_or_default()
}

fn path() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "docs", "support.md"]
        .iter()
        .collect()
}

/// The cells of the published page by section and name.
fn rows(page: &str) -> BTreeMap<String, (String, String)> {
    let mut title = "";
    let mut rows = BTreeMap::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            title = heading;
        }
        let Some(line) = line.strip_prefix("| ") else {
            continue;
        };
        let columns: Vec<_> = line.trim_end_matches(" |").split(" | ").collect();
        if let [construct, one, several] = columns[..] {
            let name = construct.split("<br>").next().unwrap_or(construct);
            rows.insert(
                format!("{title}: {name}"),
                (one.to_owned(), several.to_owned()),
            );
        }
    }
    rows
}

/// A cell: what most databases do, and what the others do otherwise. Those that did what SQLite did
/// are taken to do so still; if they do not, their own run says so.
fn cell(before: &str, backend: DbBackend, found: &str) -> String {
    let found = escape(found);
    let mut parts = before.split("<br>");
    let common = parts.next().unwrap_or_default();
    let common = if common.is_empty() { &found } else { common };
    let mut texts: BTreeMap<_, _> = ORDER.map(|name| (name, common.to_owned())).into();
    texts.extend(
        parts
            .filter_map(|part| part.split_once(": "))
            .filter_map(|(other, text)| {
                let name = ORDER.into_iter().find(|name| *name == other)?;
                Some((name, text.to_owned()))
            }),
    );
    if backend == DbBackend::Sqlite {
        let before = texts[name(backend)].clone();
        for text in texts.values_mut().filter(|text| **text == before) {
            text.clone_from(&found);
        }
    }
    texts.insert(name(backend), found);
    // The first of the most frequent ones.
    let count = |name: &&str| texts.values().filter(|text| **text == texts[name]).count();
    let common = ORDER.into_iter().rev().max_by_key(count).unwrap();
    let others = ORDER.iter().filter(|name| texts[*name] != texts[common]);
    others.fold(texts[common].clone(), |cell, name| {
        format!("{cell}<br>{name}: {}", texts[name])
    })
}

const ORDER: [&str; 3] = ["SQLite", "PostgreSQL", "MariaDB"];

fn name(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => "PostgreSQL",
        DbBackend::MySql => "MariaDB",
        _ => "SQLite",
    }
}

/// Text for a cell.
fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}
