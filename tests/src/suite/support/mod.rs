//! The page `docs/support.md`: what is answered, and on which rung of the ladder.
//!
//! Every line of the page is asked of four tables in one data source and of two tables in each of
//! two, and each answer is compared with that of a plain database. What `explain` says beforehand
//! must be what happens. The page is made of this; the test fails if the published one differs,
//! and `UPDATE_SUPPORT=1 cargo test -p tests support` writes it anew.

pub mod construct;
mod helpers;
mod joins;
mod nested;
pub mod page;
mod reads;
pub mod shop;
mod sums;
mod verify;
mod windows;
mod writes;

use std::collections::BTreeMap;

use sea_orm::DbBackend;

use super::peers::Bench;
use construct::Section;

fn sections() -> Vec<Section> {
    vec![
        reads::filters(),
        reads::orders(),
        reads::pages(),
        sums::aggregates(),
        sums::groups(),
        sums::distinct(),
        joins::joins(),
        nested::subqueries(),
        nested::sets(),
        nested::common_tables(),
        windows::windows(),
        windows::locks(),
        helpers::calls(),
        helpers::relations(),
        helpers::raw(),
        writes::inserts(),
        writes::updates(),
        writes::transactions(),
    ]
}

/// Asks every line, and compares the page with the published one.
pub async fn page(backend: DbBackend) {
    let bench = Bench::new(backend);
    let peers = shop::open(&bench).await;
    let sections = sections();
    let mut found = BTreeMap::new();
    let mut faults = Vec::new();
    for section in &sections {
        for construct in &section.constructs {
            let name = format!("{}: {}", section.title, construct.name);
            match verify::verify(&peers, construct).await {
                Ok(cells) => {
                    let before = found.insert(name.clone(), cells);
                    assert!(before.is_none(), "{name} comes twice");
                }
                Err(fault) => {
                    faults.push(format!("{name}\n  {}\n  {fault}", construct.example()));
                }
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
    peers.end().await;
    bench.end().await;
    page::check(&page::render(
        &sections,
        &found,
        backend,
        &page::published(),
    ));
}
