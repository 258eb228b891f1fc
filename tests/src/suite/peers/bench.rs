//! Runs the cases of a file one behind the other over the same databases.

use std::any::Any;
use std::mem::take;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::join_all;
use sea_orm::DbBackend;
use tokio::sync::OnceCell;

use super::Peers;
use crate::world::Databases;

/// The databases of a file's cases, and what the cases found. To create and to drop a database
/// takes longer than most cases do, so files that run at the same time or one behind the other
/// hand theirs on.
#[derive(Debug)]
pub struct Bench {
    /// The database system.
    pub backend: DbBackend,
    pub(super) faults: Arc<Mutex<Vec<String>>>,
    kept: OnceCell<Peers>,
    failed: Mutex<Vec<String>>,
}

/// The databases of this process that nobody uses at the moment.
static SPARE: Mutex<Spare> = Mutex::new(Spare {
    benches: 0,
    databases: Vec::new(),
});

struct Spare {
    /// How many benches there are; the last one drops the databases.
    benches: usize,
    databases: Vec<Databases<4>>,
}

impl Bench {
    /// Without any database yet.
    pub fn new(backend: DbBackend) -> Self {
        SPARE.lock().unwrap().benches += 1;
        Self {
            backend,
            faults: Arc::default(),
            kept: OnceCell::new(),
            failed: Mutex::default(),
        }
    }

    /// Runs a case. What it finds is told by [`Self::end`], so that the cases behind it run, too.
    pub async fn run(&self, name: &str, case: impl AsyncFnOnce(&Self)) {
        let ran = AssertUnwindSafe(case(self)).catch_unwind().await;
        let mut faults = take(&mut *self.faults.lock().unwrap());
        if let Err(panic) = ran {
            faults.push(format!("PANICKED: {}", message(&*panic)));
        }
        if !faults.is_empty() {
            let found = format!("{name}, {} faults\n{}", faults.len(), faults.join("\n"));
            self.failed.lock().unwrap().push(found);
        }
    }

    /// The one fixture that is kept for all cases of the file, made for the first that asks.
    pub async fn keep<F: Future<Output = Peers>>(&self, make: impl FnOnce() -> F) -> &Peers {
        self.kept.get_or_init(make).await
    }

    /// Four empty databases.
    pub(super) async fn databases(&self) -> Databases<4> {
        let spare = SPARE.lock().unwrap().databases.pop();
        match spare {
            Some(databases) => databases,
            None => Databases::create(self.backend).await,
        }
    }

    /// Takes databases that are empty again.
    pub(super) fn give_back(databases: Databases<4>) {
        SPARE.lock().unwrap().databases.push(databases);
    }

    /// Fails with all faults of all cases; the databases are then left to be looked at.
    pub async fn end(self) {
        let failed = self.failed.into_inner().unwrap();
        if let (Some(kept), true) = (self.kept.into_inner(), failed.is_empty()) {
            kept.end().await;
        }
        let last = {
            let mut spare = SPARE.lock().unwrap();
            spare.benches -= 1;
            match spare.benches {
                0 => take(&mut spare.databases),
                _ => Vec::new(),
            }
        };
        join_all(last.into_iter().map(Databases::drop)).await;
        assert!(
            failed.is_empty(),
            "{} cases failed\n{}",
            failed.len(),
            failed.join("\n")
        );
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}
