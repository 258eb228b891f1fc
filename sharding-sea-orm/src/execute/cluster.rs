use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use chrono::{DateTime, Utc};
use sea_orm::DbErr;
use sharding_core::execute::BreakerRules;
use sharding_core::topology::SourceId;
use tokio::sync::Mutex;

use super::{Limits, Source};
use crate::catalog;
use crate::shards::Shards;

/// The state of a sharded connection, which is replaced as a whole under running statements.
pub(crate) struct Cluster {
    /// What holds where neither a statement nor a data source says otherwise.
    limits: Limits,
    /// For data sources that are added.
    pub(crate) breaker: BreakerRules,
    shards: RwLock<Arc<Shards>>,
    clock: Clock,
    /// Changes happen one after the other; statements do not wait for them.
    pub(crate) changing: Mutex<()>,
}

/// What tells the time.
pub(crate) type Clock = Box<dyn Fn() -> DateTime<Utc> + Send + Sync>;

impl Cluster {
    pub(crate) fn new(shards: Shards, clock: Clock, breaker: BreakerRules, limits: Limits) -> Self {
        Self {
            limits,
            breaker,
            shards: RwLock::new(Arc::new(shards)),
            clock,
            changing: Mutex::new(()),
        }
    }

    /// What is known now; a statement asks once.
    pub(crate) fn shards(&self) -> Arc<Shards> {
        let shards = self.last();
        match shards.topology.until() {
            Some(until) if until <= self.now() => self.grow(),
            _ => shards,
        }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        (self.clock)()
    }

    /// A data source; it keeps its id for ever.
    pub(crate) fn source(&self, id: SourceId) -> Arc<Source> {
        Arc::clone(&self.last().sources[id.index()])
    }

    /// What a statement with limits of its own may take of a data source.
    pub(crate) fn limits(&self, own: Limits, source: &Source) -> Limits {
        own.or(source.limits).or(self.limits)
    }

    /// What a statement with limits of its own may reach at all.
    pub(crate) fn max_nodes(&self, own: Limits) -> Option<usize> {
        own.or(self.limits).max_nodes
    }

    /// Reads the catalogs again.
    pub(crate) async fn refresh(&self) -> Result<(), DbErr> {
        let _changing = self.changing.lock().await;
        let shards = self.shards();
        let loaded = catalog::load(&shards.topology, &shards.sources).await?;
        self.replace(Shards::clone(&shards).with(loaded));
        Ok(())
    }

    /// Takes what has been found out in place of what was known, unless the topology has become
    /// another in the meantime: then it is found out again when it is needed.
    pub(crate) fn learn(&self, learn: impl FnOnce(&Shards) -> Shards, before: &Shards) {
        self.learn_any(|shards| {
            let is_same = Arc::ptr_eq(&shards.topology, &before.topology);
            is_same.then(|| learn(shards))
        });
    }

    /// Takes what has been found out, if anything, of whatever the topology has become.
    pub(crate) fn learn_any(&self, learn: impl FnOnce(&Shards) -> Option<Shards>) {
        let mut shards = self.shards.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(learned) = learn(&shards) {
            *shards = Arc::new(learned);
        }
    }

    /// Takes another state from now on. Whoever calls this holds the lock for changes.
    pub(crate) fn replace(&self, mut shards: Shards) {
        // The clock may have passed the end of the topology while this one was made.
        if shards
            .topology
            .until()
            .is_some_and(|until| until <= self.now())
        {
            shards = grown(&shards, self.now());
        }
        *self.shards.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(shards);
    }

    /// Nothing panics while the lock is held, so a poisoned one still holds a whole value.
    fn last(&self) -> Arc<Shards> {
        Arc::clone(&self.shards.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The tails that have come to exist.
    fn grow(&self) -> Arc<Shards> {
        let mut shards = self.shards.write().unwrap_or_else(PoisonError::into_inner);
        let now = self.now();
        if shards.topology.until().is_some_and(|until| until <= now) {
            *shards = Arc::new(grown(&shards, now));
        }
        Arc::clone(&shards)
    }
}

fn grown(shards: &Shards, now: DateTime<Utc>) -> Shards {
    Shards {
        topology: Arc::new(shards.topology.at(now)),
        ..shards.clone()
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("limits", &self.limits)
            .field("shards", &self.last())
            .finish_non_exhaustive()
    }
}
