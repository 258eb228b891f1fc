//! What a data source that stalls costs the others: statements of one source, answered in a second,
//! while 32 callers ask the other source, or both, over and over.
//!
//! `cargo bench -p tests --bench bulkhead -- [postgres|mysql] [rounds]`, with the server's URL in
//! `SHARDING_TEST_POSTGRES` or `SHARDING_TEST_MYSQL`. The other source is behind a proxy. Each
//! round measures how it is without those callers, with them, and with them while the source
//! stalls; the figures at the end are medians of the rounds' ratios.

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
use tests::suite::faults::{Behind, answered, behind_a_proxy, of, of_both, of_one};
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
    for asked in [Asked::TheOther, Asked::Both] {
        println!("callers ask {asked:?}");
        let (mut of_normal, mut of_alone) = (Vec::new(), Vec::new());
        println!(
            "{:>12}{:>16}{:>16}{:>14}",
            "alone/s", "with callers/s", "while stalled/s", "longest"
        );
        for _ in 0..rounds {
            let (alone, _) = answered(&db, HOW_LONG).await;
            let (normal, _) = beside(&db, asked).await;
            proxy.set(Way::Stalled);
            let (stalled, longest) = beside(&db, asked).await;
            assert_ne!(of(&db, "b").breaker, BreakerState::Closed);
            proxy.set(Way::Open);
            while of_both(&db, 0).await.is_err() || of_both(&db, 1).await.is_err() {
                tokio::time::sleep(PAUSE).await;
            }
            println!("{alone:>12}{normal:>16}{stalled:>16}{longest:>14.1?}");
            of_normal.push(stalled as f64 / normal as f64);
            of_alone.push(stalled as f64 / alone as f64);
        }
        println!(
            "while stalled: {:.2} of what is answered beside the callers, {:.2} of what is \
             answered alone",
            median(of_normal),
            median(of_alone),
        );
    }
    db.close().await.unwrap();
    databases.drop().await;
}

/// Which sources the callers ask.
#[derive(Clone, Copy, Debug)]
enum Asked {
    TheOther,
    Both,
}

/// Statements of the first source, and the longest of them, while others ask.
async fn beside(db: &ShardingConnection, asked: Asked) -> (u64, Duration) {
    let stop = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..CALLERS)
        .map(|number| {
            let (db, stop) = (db.clone(), Arc::clone(&stop));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    // Whether it is answered is not what is measured.
                    let _ = match asked {
                        Asked::TheOther => of_one(&db, 43).await,
                        Asked::Both => of_both(&db, number).await.map(drop),
                    };
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
