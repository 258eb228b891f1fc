use std::collections::BTreeMap;
use std::pin::Pin;

use futures_util::{Stream, StreamExt, TryStreamExt};
use sea_orm::{
    ConnectionTrait, DbErr, ExecResult, QueryResult, Statement, StreamTrait, TransactionTrait,
};
use sharding_core::topology::SourceId;
use tokio::sync::OwnedSemaphorePermit;

use super::{Cluster, Job};
use crate::catalog::{Catalog, schemas};
use crate::connection::ShardingTransaction;
use crate::dialect;

/// Rows as they arrive.
pub(crate) type RowStream<'a> = Pin<Box<dyn Stream<Item = Result<QueryResult, DbErr>> + Send + 'a>>;

/// Where statements run: on connections of the pools, or on the one connection of a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Session<'a> {
    Pool(&'a Cluster),
    Transaction(&'a ShardingTransaction),
}

/// Evaluates with a connection of a source: with the right to one of its pool's, or with the one
/// of the transaction. The two have no type in common.
macro_rules! on_connection {
    ($session:expr, $source:expr, $connection:ident => $call:expr) => {
        match $session {
            Session::Pool(cluster) => {
                let source = cluster.source($source);
                let _permit = source.permit(1).await?;
                let $connection = &source.connection;
                $call
            }
            Session::Transaction(transaction) => {
                let open = transaction.on($source).await?;
                let $connection = &*open;
                $call
            }
        }
    };
}

/// What a statement did to one node.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) rows: Vec<QueryResult>,
    pub(crate) affected: u64,
    pub(crate) last_insert_id: u64,
}

impl<'a> Session<'a> {
    pub(crate) fn cluster(self) -> &'a Cluster {
        match self {
            Self::Pool(cluster) => cluster,
            Self::Transaction(transaction) => transaction.cluster(),
        }
    }

    /// The rows of one job.
    pub(crate) async fn query_job(self, job: Job) -> Result<Vec<QueryResult>, DbErr> {
        let answer = self.query_all(job.source(), job.statement.clone()).await;
        answer.map_err(|error| job.explain(error, self.cluster()))
    }

    /// The rows of one statement on a source.
    pub(crate) async fn query_all(
        self,
        source: SourceId,
        statement: Statement,
    ) -> Result<Vec<QueryResult>, DbErr> {
        on_connection!(self, source, connection => connection.query_all_raw(statement).await)
    }

    /// The first row of one statement on a source.
    pub(crate) async fn query_one(
        self,
        source: SourceId,
        statement: Statement,
    ) -> Result<Option<QueryResult>, DbErr> {
        on_connection!(self, source, connection => connection.query_one_raw(statement).await)
    }

    /// The effect of one statement on a source.
    pub(crate) async fn execute(
        self,
        source: SourceId,
        statement: Statement,
    ) -> Result<ExecResult, DbErr> {
        on_connection!(self, source, connection => connection.execute_raw(statement).await)
    }

    /// The catalog of a source.
    pub(crate) async fn catalog(self, source: SourceId) -> Result<Catalog, DbErr> {
        let schemas = schemas(&self.cluster().shards().topology);
        on_connection!(self, source, connection => dialect::catalog(connection, &schemas).await)
    }

    /// The effect of unprepared text on a source.
    pub(crate) async fn execute_unprepared(
        self,
        source: SourceId,
        sql: &str,
    ) -> Result<ExecResult, DbErr> {
        on_connection!(self, source, connection => connection.execute_unprepared(sql).await)
    }

    /// The effects of the jobs, all of one source, as a whole or not at all: in a transaction of
    /// their own, or behind a savepoint of the one that is open.
    pub(crate) async fn write_together(
        self,
        jobs: Vec<Job>,
        returning: Returning,
    ) -> Result<Vec<Written>, DbErr> {
        let Some(first) = jobs.first() else {
            return Ok(Vec::new());
        };
        let source = first.source();
        let (_permit, transaction) = match self {
            Self::Pool(cluster) => {
                let source = cluster.source(source);
                (
                    Some(source.permit(1).await?),
                    source.connection.begin().await?,
                )
            }
            Self::Transaction(transaction) => (None, transaction.on(source).await?.begin().await?),
        };
        let mut written = Vec::with_capacity(jobs.len());
        for job in jobs {
            match write(&transaction, &job, returning).await {
                Ok(done) => written.push(done),
                Err(error) => {
                    transaction.rollback().await?;
                    return Err(job.explain(error, self.cluster()));
                }
            }
        }
        transaction.commit().await?;
        Ok(written)
    }

    /// The rows of one statement as they arrive. The connection is held until the end.
    pub(crate) fn stream(self, source: SourceId, statement: Statement) -> RowStream<'a> {
        Box::pin(async_stream::try_stream! {
            match self {
                Self::Pool(cluster) => {
                    let source = cluster.source(source);
                    let _permit = source.permit(1).await?;
                    let mut rows = source.connection.stream_raw(statement).await?;
                    while let Some(row) = rows.next().await {
                        yield row?;
                    }
                }
                Self::Transaction(transaction) => {
                    let open = transaction.on(source).await?;
                    let mut rows = open.stream_raw(statement).await?;
                    while let Some(row) = rows.next().await {
                        yield row?;
                    }
                }
            }
        })
    }

    /// The rows of one job as they arrive.
    pub(crate) fn stream_job(self, job: Job) -> RowStream<'a> {
        let rows = self.stream(job.source(), job.statement.clone());
        Box::pin(rows.map_err(move |error| job.explain(error, self.cluster())))
    }
}

impl<'a> Session<'a> {
    /// The rows of all jobs side by side, if there are connections for that: every stream holds
    /// one until its end. All connections of a source are granted together, and sources in one
    /// order, so that statements never wait for each other in a circle.
    pub(crate) async fn stream_side_by_side(
        self,
        jobs: &[Job],
    ) -> Result<Option<Vec<RowStream<'a>>>, DbErr> {
        let Self::Pool(cluster) = self else {
            return Ok(None);
        };
        let mut counts: BTreeMap<SourceId, u32> = BTreeMap::new();
        for job in jobs {
            *counts.entry(job.source()).or_default() += 1;
        }
        let fits =
            |(id, count): (&SourceId, &u32)| *count as usize <= cluster.width(&cluster.source(*id));
        if !counts.iter().all(fits) {
            return Ok(None);
        }
        let mut permits = BTreeMap::new();
        for (id, wanted) in counts {
            permits.insert(id, cluster.source(id).permit(wanted).await?);
        }
        let mut streams = Vec::with_capacity(jobs.len());
        for job in jobs {
            let own = permits
                .get_mut(&job.source())
                .and_then(|permit| permit.split(1));
            streams.push(held_stream(cluster, job.clone(), own));
        }
        Ok(Some(streams))
    }
}

/// The rows of a job, which already has the right to a connection.
fn held_stream(cluster: &Cluster, job: Job, permit: Option<OwnedSemaphorePermit>) -> RowStream<'_> {
    Box::pin(async_stream::try_stream! {
        let _permit = permit;
        let explain = |error| job.explain(error, cluster);
        let source = cluster.source(job.source());
        let mut rows = source.connection.stream_raw(job.statement.clone()).await.map_err(explain)?;
        while let Some(row) = rows.next().await {
            yield row.map_err(explain)?;
        }
    })
}

/// Whether a write gives rows back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returning {
    Rows,
    Nothing,
}

async fn write<C: ConnectionTrait>(
    connection: &C,
    job: &Job,
    returning: Returning,
) -> Result<Written, DbErr> {
    let statement = job.statement.clone();
    Ok(match returning {
        Returning::Rows => {
            let rows = connection.query_all_raw(statement).await?;
            Written {
                affected: rows.len() as u64,
                rows,
                last_insert_id: 0,
            }
        }
        Returning::Nothing => {
            let result = connection.execute_raw(statement).await?;
            // PostgreSQL has no last insert id, and asking for it panics.
            let last_insert_id = match connection.get_database_backend() {
                sea_orm::DbBackend::MySql => result.last_insert_id(),
                _ => 0,
            };
            Written {
                rows: Vec::new(),
                affected: result.rows_affected(),
                last_insert_id,
            }
        }
    })
}
