use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use sea_orm::{
    DatabaseTransaction, DbBackend, DbErr, TransactionOptions, TransactionSession, TransactionTrait,
};
use sharding_core::topology::SourceId;
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

use crate::error::ShardingError;
use crate::execute::{Cluster, Hold, Limits, Permit, Session};

/// A transaction on one data source: the one that its first statement reaches. A statement that
/// reaches another is refused by name. Without [`ShardingTransaction::commit`] everything is rolled
/// back when it is dropped.
pub struct ShardingTransaction {
    cluster: Arc<Cluster>,
    limits: Limits,
    state: Arc<State>,
}

struct State {
    /// The transaction that this one is a savepoint of.
    parent: Option<Arc<State>>,
    options: TransactionOptions,
    progress: Mutex<Progress>,
}

enum Progress {
    /// No statement yet, so no data source.
    Fresh,
    Open(Open),
    Finished,
}

struct Open {
    source: SourceId,
    transaction: DatabaseTransaction,
    /// The right to the connection; a savepoint uses its parent's.
    _permit: Option<Permit>,
}

impl ShardingTransaction {
    pub(super) fn new(cluster: Arc<Cluster>, limits: Limits, options: TransactionOptions) -> Self {
        let progress = Mutex::new(Progress::Fresh);
        Self {
            cluster,
            limits,
            state: Arc::new(State {
                parent: None,
                options,
                progress,
            }),
        }
    }

    pub(super) fn nested(&self, options: TransactionOptions) -> Self {
        let parent = Some(Arc::clone(&self.state));
        let progress = Mutex::new(Progress::Fresh);
        let cluster = Arc::clone(&self.cluster);
        Self {
            cluster,
            limits: self.limits,
            state: Arc::new(State {
                parent,
                options,
                progress,
            }),
        }
    }

    pub(super) fn session(&self) -> Session<'_> {
        Session::Transaction(self, self.limits)
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The open transaction on a source; it begins with the first statement.
    pub(crate) async fn on(
        &self,
        source: SourceId,
    ) -> Result<MappedMutexGuard<'_, DatabaseTransaction>, DbErr> {
        self.state.on(&self.cluster, self.limits, source).await
    }

    /// The database system of the data sources.
    pub fn get_database_backend(&self) -> DbBackend {
        self.cluster.shards().backend
    }

    /// Makes everything permanent. Without any statement there is nothing to do.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn commit(self) -> Result<(), DbErr> {
        match self.finish().await {
            Some(open) => open.transaction.commit().await,
            None => Ok(()),
        }
    }

    /// Undoes everything.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn rollback(self) -> Result<(), DbErr> {
        match self.finish().await {
            Some(open) => open.transaction.rollback().await,
            None => Ok(()),
        }
    }

    async fn finish(&self) -> Option<Open> {
        let mut progress = self.state.progress.lock().await;
        match std::mem::replace(&mut *progress, Progress::Finished) {
            Progress::Open(open) => Some(open),
            Progress::Fresh | Progress::Finished => None,
        }
    }
}

type OnSource<'s> = Pin<
    Box<dyn Future<Output = Result<MappedMutexGuard<'s, DatabaseTransaction>, DbErr>> + Send + 's>,
>;

impl State {
    /// Boxed, since a savepoint asks its parent in the same way.
    fn on<'s>(&'s self, cluster: &'s Cluster, limits: Limits, source: SourceId) -> OnSource<'s> {
        Box::pin(async move {
            let mut progress = self.progress.lock().await;
            if matches!(*progress, Progress::Fresh) {
                *progress = Progress::Open(self.begin(cluster, limits, source).await?);
            }
            match &*progress {
                Progress::Open(open) if open.source == source => {}
                Progress::Open(open) => {
                    return Err(ShardingError::SecondSource {
                        first: cluster.source(open.source).name.clone(),
                        second: cluster.source(source).name.clone(),
                    }
                    .into());
                }
                _ => return Err(FINISHED.clone().into()),
            }
            let open = MutexGuard::try_map(progress, |progress| match progress {
                Progress::Open(open) => Some(&mut open.transaction),
                _ => None,
            });
            open.map_err(|_| FINISHED.clone().into())
        })
    }

    async fn begin(
        &self,
        cluster: &Cluster,
        limits: Limits,
        source: SourceId,
    ) -> Result<Open, DbErr> {
        if let Some(parent) = &self.parent {
            let transaction = parent.on(cluster, limits, source).await?.begin().await?;
            return Ok(Open {
                source,
                transaction,
                _permit: None,
            });
        }
        let on = cluster.source(source);
        let limits = cluster.limits(limits, &on);
        let permit = Some(on.permit(limits, 1, Hold::OneSource).await?);
        let mut begin = || on.connection.begin_with_options(self.options);
        let transaction = on.call(limits, &mut begin).await?;
        Ok(Open {
            source,
            transaction,
            _permit: permit,
        })
    }
}

static FINISHED: ShardingError =
    ShardingError::Unexpected("a savepoint was used after its transaction had ended");

#[async_trait::async_trait]
impl TransactionSession for ShardingTransaction {
    async fn commit(self) -> Result<(), DbErr> {
        Self::commit(self).await
    }

    async fn rollback(self) -> Result<(), DbErr> {
        Self::rollback(self).await
    }
}

impl fmt::Debug for ShardingTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardingTransaction")
            .finish_non_exhaustive()
    }
}
