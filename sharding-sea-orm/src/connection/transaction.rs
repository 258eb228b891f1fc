use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use sea_orm::{
    DatabaseTransaction, DbBackend, DbErr, TransactionOptions, TransactionSession, TransactionTrait,
};
use sharding_core::topology::SourceId;
use tokio::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};

use crate::error::ShardingError;
use crate::execute::{Caller, Cluster, Finishing, Hold, Limits, Permit, Session};

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
    progress: Arc<Mutex<Progress>>,
}

pub(crate) enum Progress {
    /// No statement yet, so no data source.
    Fresh,
    Open(Open),
    Finished,
}

pub(crate) struct Open {
    source: SourceId,
    transaction: DatabaseTransaction,
    /// The right to the connection; a savepoint uses its parent's.
    permit: Option<Permit>,
}

impl ShardingTransaction {
    pub(super) fn new(cluster: Arc<Cluster>, limits: Limits, options: TransactionOptions) -> Self {
        let progress = Arc::new(Mutex::new(Progress::Fresh));
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
        let progress = Arc::new(Mutex::new(Progress::Fresh));
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
        Session::Transaction(self, Caller::new(self.limits))
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The open transaction on a source; it begins with the first statement.
    pub(crate) async fn on(&self, source: SourceId) -> Result<OpenTransaction, DbErr> {
        self.state.on(&self.cluster, self.limits, source).await
    }

    /// The data source that it is on, if it is on one already and no statement is running.
    pub(crate) fn source(&self) -> Option<SourceId> {
        let mut state = Some(&self.state);
        while let Some(own) = state {
            if let Progress::Open(open) = &*own.progress.try_lock().ok()? {
                return Some(open.source);
            }
            state = own.parent.as_ref();
        }
        None
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
            Some(open) => {
                self.end(open, |transaction| Box::pin(transaction.commit()))
                    .await
            }
            None => Ok(()),
        }
    }

    /// Undoes everything.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn rollback(self) -> Result<(), DbErr> {
        match self.finish().await {
            Some(open) => {
                self.end(open, |transaction| Box::pin(transaction.rollback()))
                    .await
            }
            None => Ok(()),
        }
    }

    async fn end(
        &self,
        open: Open,
        end: fn(DatabaseTransaction) -> BoxFuture<'static, Result<(), DbErr>>,
    ) -> Result<(), DbErr> {
        let source = self.cluster.source(open.source);
        let limits = self.cluster.limits(self.limits, &source);
        let backend = source.connection.get_database_backend();
        let ending = Finishing::new(end(open.transaction), open.permit, backend);
        source.within(limits, ending).await
    }

    async fn finish(&self) -> Option<Open> {
        let mut progress = self.state.progress.lock().await;
        match std::mem::replace(&mut *progress, Progress::Finished) {
            Progress::Open(open) => Some(open),
            Progress::Fresh | Progress::Finished => None,
        }
    }
}

/// The transaction on its source, for one statement at a time.
pub(crate) type OpenTransaction = OwnedMappedMutexGuard<Progress, DatabaseTransaction>;

type OnSource<'s> = Pin<Box<dyn Future<Output = Result<OpenTransaction, DbErr>> + Send + 's>>;

impl State {
    /// Boxed, since a savepoint asks its parent in the same way.
    fn on<'s>(&'s self, cluster: &'s Cluster, limits: Limits, source: SourceId) -> OnSource<'s> {
        Box::pin(async move {
            // A stream of the same transaction may be open, which could only end after this.
            let on = cluster.source(source);
            let lock = Arc::clone(&self.progress).lock_owned();
            let mut progress = on.in_time(cluster.limits(limits, &on), lock).await?;
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
            let open = OwnedMutexGuard::try_map(progress, |progress| match progress {
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
            let open = parent.on(cluster, limits, source).await?;
            let begin: BoxFuture<'static, _> = Box::pin(async move { open.begin().await });
            let transaction = Finishing::new(begin, None, cluster.shards().backend).await?;
            return Ok(Open {
                source,
                transaction,
                permit: None,
            });
        }
        let on = cluster.source(source);
        let limits = cluster.limits(limits, &on);
        let permit = on.permit(limits, 1, Hold::OneSource).await?;
        let attempt = on.attempt(Caller::new(limits).number)?;
        let (connection, options) = (on.connection.clone(), self.options);
        let begin = Box::pin(async move { connection.begin_with_options(options).await });
        let backend = on.connection.get_database_backend();
        let mut begun = Finishing::new(begin, Some(permit), backend);
        let outcome = on.within(limits, &mut begun).await;
        attempt.end(outcome.as_ref().err());
        let transaction = outcome?;
        Ok(Open {
            source,
            transaction,
            permit: begun.into_permit(),
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
