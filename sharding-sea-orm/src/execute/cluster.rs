use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::{DatabaseConnection, DbErr};
use sharding_core::topology::SourceId;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

use crate::catalog::{self, Loaded};
use crate::error::ShardingError;
use crate::shards::Shards;

/// The state of a sharded connection, which is replaced as a whole under running statements.
pub(crate) struct Cluster {
    pub(crate) max_query_connections: usize,
    shards: RwLock<Arc<Shards>>,
    clock: Clock,
    /// Changes happen one after the other; statements do not wait for them.
    pub(crate) changing: Mutex<()>,
}

/// What tells the time.
pub(crate) type Clock = Box<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// A data source and the right to use its connections.
///
/// A statement takes a permit for each connection that it will hold, all at once, so statements
/// that hold several never wait for each other in a circle within a source.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) connection: DatabaseConnection,
    pub(crate) size: u32,
    pub(crate) acquire_timeout: Duration,
    pub(crate) permits: Arc<Semaphore>,
}

impl Cluster {
    pub(crate) fn new(shards: Shards, clock: Clock, max_query_connections: usize) -> Self {
        Self {
            max_query_connections,
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

    /// How many statements of one query run at once in a data source.
    pub(crate) fn width(&self, source: &Source) -> usize {
        self.max_query_connections.min(source.size as usize).max(1)
    }

    /// Reads the catalogs again.
    pub(crate) async fn refresh(&self) -> Result<(), DbErr> {
        let _changing = self.changing.lock().await;
        let shards = self.shards();
        let Loaded {
            topology,
            known,
            plain,
        } = catalog::load(&shards.topology, &shards.sources).await?;
        self.replace(Shards {
            topology,
            known,
            plain_known: plain,
            ..Shards::clone(&shards)
        });
        Ok(())
    }

    /// Takes what has been found out in place of what was known, unless the topology has become
    /// another in the meantime: then it is found out again when it is needed.
    pub(crate) fn learn(&self, learn: impl FnOnce(&Shards) -> Shards, before: &Shards) {
        let mut shards = self.shards.write().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&shards.topology, &before.topology) {
            *shards = Arc::new(learn(&shards));
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
            .field("max_query_connections", &self.max_query_connections)
            .field("shards", &self.last())
            .finish_non_exhaustive()
    }
}

impl Source {
    /// Waits for the right to hold so many connections, at most as long as the pool would wait.
    pub(crate) async fn permit(&self, count: u32) -> Result<OwnedSemaphorePermit, DbErr> {
        let wanted = count.clamp(1, self.size);
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_many_owned(wanted) {
            return Ok(permit);
        }
        let acquire = Arc::clone(&self.permits).acquire_many_owned(wanted);
        match tokio::time::timeout(self.acquire_timeout, acquire).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(ShardingError::NoConnection {
                data_source: self.name.clone(),
                wanted: count,
                size: self.size,
            }
            .into()),
        }
    }

    /// Waits until no statement holds a connection, lets none begin, and closes the pool.
    pub(crate) async fn retire(&self) -> Result<(), DbErr> {
        let all = self.permit(self.size).await;
        self.permits.close();
        drop(all);
        self.connection.close_by_ref().await
    }
}
