use std::sync::{Arc, RwLock};
use std::time::Duration;

use sea_orm::{DatabaseConnection, DbErr};
use sharding_core::topology::SourceId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::catalog;
use crate::error::ShardingError;
use crate::shards::Shards;

/// The data sources of a sharded connection, and what is known of their tables.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) sources: Vec<Source>,
    pub(crate) max_query_connections: usize,
    shards: RwLock<Arc<Shards>>,
}

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
    pub(crate) fn new(shards: Shards, sources: Vec<Source>, max_query_connections: usize) -> Self {
        Self {
            sources,
            max_query_connections,
            shards: RwLock::new(Arc::new(shards)),
        }
    }

    /// What is known now; a statement asks once.
    pub(crate) fn shards(&self) -> Arc<Shards> {
        // Nothing panics while the lock is held, so a poisoned one still holds a whole value.
        Arc::clone(
            &self
                .shards
                .read()
                .unwrap_or_else(std::sync::PoisonError::into_inner),
        )
    }

    pub(crate) fn source(&self, id: SourceId) -> &Source {
        &self.sources[id.index()]
    }

    /// How many statements of one query run at once in a data source.
    pub(crate) fn width(&self, source: &Source) -> usize {
        self.max_query_connections.min(source.size as usize).max(1)
    }

    /// Reads the catalogs again.
    pub(crate) async fn refresh(&self) -> Result<(), DbErr> {
        let shards = self.shards();
        let connections: Vec<_> = self
            .sources
            .iter()
            .map(|source| source.connection.clone())
            .collect();
        let known = catalog::load(&shards.topology, &connections).await?;
        let refreshed = Arc::new(Shards {
            backend: shards.backend,
            topology: Arc::clone(&shards.topology),
            entities: Arc::clone(&shards.entities),
            known,
        });
        *self
            .shards
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = refreshed;
        Ok(())
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
}
