//! What a data source that stalls costs the others: statements of one source, answered in so much
//! time, while 32 callers ask both sources over and over.
//!
//! `cargo bench -p tests --bench bulkhead -- [postgres|mysql] [rounds]`, with the server's URL in
//! `SHARDING_TEST_POSTGRES` or `SHARDING_TEST_MYSQL`. The second source is behind a proxy. Each
//! round measures for a second how it is without those callers, with them, and with them while the
//! second source stalls; the figures are medians of the rounds' ratios.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and panics to fail"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sea_orm::DbBackend;
use sharding_sea_orm::{BreakerState, Limits, ShardingConnection};
use tests::suite::faults::{Behind, answered, behind_a_proxy, of, of_both};
use tests::suite::proxy::Way;

const CALLERS: usize = 32;
const HOW_LONG: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(30);
const TIMEOUT: Duration = Duration::from_millis(400);

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let backend = match arguments.first().map(String::as_str) {
        None | Some("postgres") => DbBackend::Postgres,
        Some("mysql") => DbBackend::MySql,
        Some(other) => panic!("`{other}` is neither postgres nor mysql"),
    };
    let rounds = arguments.get(1).map_or(9, |rounds| rounds.parse().unwrap());
    let Behind {
        db,
        proxy,
        databases,
    } = behind_a_proxy(backend, Limits::new().statement_timeout(TIMEOUT)).await;
    answered(&db, HOW_LONG).await;
    let (mut beside_callers, mut beside_a_stall, mut longest) =
        (Vec::new(), Vec::new(), Duration::ZERO);
    println!(
        "{:>12}{:>16}{:>16}{:>14}",
        "alone/s", "with callers/s", "while stalled/s", "longest"
    );
    for _ in 0..rounds {
        let (alone, _) = answered(&db, HOW_LONG).await;
        let (callers, _) = beside(&db).await;
        proxy.set(Way::Stalled);
        let (stalled, wait) = beside(&db).await;
        assert_ne!(of(&db, "b").breaker, BreakerState::Closed);
        proxy.set(Way::Open);
        while of_both(&db, 0).await.is_err() || of_both(&db, 1).await.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
        println!("{alone:>12}{callers:>16}{stalled:>16}{wait:>14.1?}");
        beside_callers.push(stalled as f64 / callers as f64);
        beside_a_stall.push(stalled as f64 / alone as f64);
        longest = longest.max(wait);
    }
    println!(
        "while stalled, of what is answered with the callers: {:.2}; of what is answered alone: {:.2}",
        median(beside_callers),
        median(beside_a_stall),
    );
    db.close().await.unwrap();
    databases.drop().await;
}

/// Statements of the first source, and the longest of them, while others ask both sources.
async fn beside(db: &ShardingConnection) -> (u64, Duration) {
    let stop = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..CALLERS)
        .map(|number| {
            let (db, stop) = (db.clone(), Arc::clone(&stop));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let _ = of_both(&db, number).await;
                    tokio::time::sleep(PAUSE).await;
                }
            })
        })
        .collect();
    // Until the callers have met what the second source does.
    tokio::time::sleep(2 * TIMEOUT).await;
    let answered = answered(db, HOW_LONG).await;
    stop.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }
    answered
}

fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}
