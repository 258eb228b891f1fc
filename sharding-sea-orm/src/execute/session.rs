use std::num::NonZeroUsize;

use sea_orm::{ConnectionTrait, DbErr, ExecResult, QueryResult, Statement, TransactionTrait};
use sharding_core::execute::{Demand, Running};
use sharding_core::topology::SourceId;

use super::{Cluster, Hold, Job, Limits};
use crate::catalog::{Catalog, schemas};
use crate::connection::ShardingTransaction;
use crate::dialect;
use crate::error::ShardingError;

/// Where statements run: on connections of the pools, or on the one connection of a transaction;
/// and with which limits of their own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Session<'a> {
    Pool(&'a Cluster, Limits),
    Transaction(&'a ShardingTransaction, Limits),
}

/// Evaluates with a connection of a source: with the right to one of its pool's, or with the one
/// of the transaction. The two have no type in common.
macro_rules! on_connection {
    ($session:expr, $source:expr, $connection:ident => $call:expr) => {
        match $session {
            Session::Pool(cluster, limits) => {
                let source = cluster.source($source);
                let limits = cluster.limits(limits, &source);
                let _permit = source.permit(limits, 1, Hold::OneSource).await?;
                let $connection = &source.connection;
                source.call(limits, &mut || Box::pin($call)).await
            }
            Session::Transaction(transaction, limits) => {
                let source = transaction.cluster().source($source);
                let limits = transaction.cluster().limits(limits, &source);
                let open = transaction.on($source).await?;
                let $connection = &*open;
                source.within(limits, $call).await
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
            Self::Pool(cluster, _) => cluster,
            Self::Transaction(transaction, _) => transaction.cluster(),
        }
    }

    /// The limits of the statement itself.
    pub(crate) fn limits(self) -> Limits {
        match self {
            Self::Pool(_, limits) | Self::Transaction(_, limits) => limits,
        }
    }

    /// The same with other limits.
    pub(crate) fn with_limits(self, limits: Limits) -> Self {
        match self {
            Self::Pool(cluster, _) => Self::Pool(cluster, limits),
            Self::Transaction(transaction, _) => Self::Transaction(transaction, limits),
        }
    }

    /// How many statements of one query run at once in a source.
    pub(crate) fn width(self, source: SourceId) -> usize {
        match self {
            Self::Transaction(..) => 1,
            Self::Pool(cluster, limits) => {
                let source = cluster.source(source);
                max_query_connections(cluster.limits(limits, &source))
                    .get()
                    .min(source.size as usize)
            }
        }
    }

    /// How the jobs of a query run in a source, if `rows` rows would have to be kept.
    pub(crate) fn running(
        self,
        source: SourceId,
        statements: usize,
        rows: Option<u64>,
    ) -> Result<Running, ShardingError> {
        let on = self.cluster().source(source);
        let limits = self.cluster().limits(self.limits(), &on);
        let demand = Demand {
            statements,
            limit: max_query_connections(limits),
            size: match self {
                Self::Pool(..) => on.size as usize,
                Self::Transaction(..) => 1,
            },
            rows,
        };
        let mode = limits.connection_mode.unwrap_or_default();
        match (mode.running(demand), self) {
            (Some(running), _) => Ok(running),
            // There is one connection, whatever is asked for.
            (None, Self::Transaction(..)) => Ok(Running::Groups { width: 1 }),
            (None, Self::Pool(..)) => Err(ShardingError::TooFewConnections {
                data_source: on.name.clone(),
                wanted: statements,
                size: on.size,
            }),
        }
    }

    /// The rows of one job.
    pub(crate) async fn query_job(self, job: Job) -> Result<Vec<QueryResult>, DbErr> {
        let answer = self.query_all(job.source(), &job.statement).await;
        answer.map_err(|error| job.explain(error, self.cluster()))
    }

    /// The rows of one statement on a source.
    pub(crate) async fn query_all(
        self,
        source: SourceId,
        statement: &Statement,
    ) -> Result<Vec<QueryResult>, DbErr> {
        on_connection!(self, source, connection => connection.query_all_raw(statement.clone()))
    }

    /// The first row of one statement on a source.
    pub(crate) async fn query_one(
        self,
        source: SourceId,
        statement: &Statement,
    ) -> Result<Option<QueryResult>, DbErr> {
        on_connection!(self, source, connection => connection.query_one_raw(statement.clone()))
    }

    /// The effect of one statement on a source.
    pub(crate) async fn execute(
        self,
        source: SourceId,
        statement: &Statement,
    ) -> Result<ExecResult, DbErr> {
        self.once().effect(source, statement).await
    }

    async fn effect(self, source: SourceId, statement: &Statement) -> Result<ExecResult, DbErr> {
        on_connection!(self, source, connection => connection.execute_raw(statement.clone()))
    }

    /// The catalog of a source.
    pub(crate) async fn catalog(self, source: SourceId) -> Result<Catalog, DbErr> {
        let schemas = &schemas(&self.cluster().shards().topology);
        on_connection!(self, source, connection => dialect::catalog(connection, schemas))
    }

    /// The effect of unprepared text on a source.
    pub(crate) async fn execute_unprepared(
        self,
        source: SourceId,
        sql: &str,
    ) -> Result<ExecResult, DbErr> {
        let once = self.once();
        on_connection!(once, source, connection => connection.execute_unprepared(sql))
    }

    /// The same, with nothing tried again: for what has an effect.
    pub(crate) fn once(self) -> Self {
        let never = super::Retry {
            times: 0,
            pause: std::time::Duration::ZERO,
        };
        self.with_limits(self.limits().retry(never))
    }

    /// The same, with one statement at a time in each source: for what the statements of one query
    /// would keep from each other.
    pub(crate) fn one_by_one(self) -> Self {
        self.once()
            .with_limits(self.once().limits().max_query_connections(1))
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
        let source = self.cluster().source(first.source());
        let limits = self.cluster().limits(self.limits(), &source);
        let (_permit, attempt, transaction) = match self {
            Self::Pool(..) => {
                let permit = source.permit(limits, 1, Hold::OneSource).await?;
                let attempt = source.attempt()?;
                let begun = source.within(limits, source.connection.begin()).await;
                match begun {
                    Ok(transaction) => (Some(permit), Some(attempt), transaction),
                    Err(error) => {
                        attempt.end(Some(&error));
                        return Err(error);
                    }
                }
            }
            Self::Transaction(transaction, _) => {
                let open = transaction.on(first.source()).await?;
                (None, None, source.within(limits, open.begin()).await?)
            }
        };
        let mut written = Vec::with_capacity(jobs.len());
        for job in jobs {
            match source
                .within(limits, write(&transaction, &job, returning))
                .await
            {
                Ok(done) => written.push(done),
                Err(error) => {
                    if let Some(attempt) = attempt {
                        attempt.end(Some(&error));
                    }
                    source.within(limits, transaction.rollback()).await?;
                    return Err(job.explain(error, self.cluster()));
                }
            }
        }
        let done = source.within(limits, transaction.commit()).await;
        if let Some(attempt) = attempt {
            attempt.end(done.as_ref().err());
        }
        done?;
        Ok(written)
    }
}

fn max_query_connections(limits: Limits) -> NonZeroUsize {
    let parallelism = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    limits.max_query_connections.unwrap_or_else(parallelism)
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
