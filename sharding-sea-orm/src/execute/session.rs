use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbErr, ExecResult, QueryResult, Statement,
    TransactionTrait,
};
use sharding_core::execute::{ConnectionMode, Demand, Running};
use sharding_core::topology::SourceId;

use super::{Cluster, Finishing, Hold, Job, Limits, Permit, Source};
use crate::catalog::{Catalog, schemas};
use crate::connection::ShardingTransaction;
use crate::dialect;
use crate::error::{ShardingError, nodes_failed};
use crate::plan::Want;

/// Where statements run: on connections of the pools, or on the one connection of a transaction;
/// and with which limits of their own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Session<'a> {
    Pool(&'a Cluster, Caller),
    Transaction(&'a ShardingTransaction, Caller),
}

/// Who runs a statement: what it may take, and what tells it from others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) limits: Limits,
    pub(crate) number: u64,
}

impl Caller {
    /// Another caller than all before.
    pub(crate) fn new(limits: Limits) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);

        Self {
            limits,
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
        }
    }
}

/// Evaluates with a connection of a source: with the right to one of its pool's, which may have been
/// granted before, or with the one of the transaction. The two have no type in common.
macro_rules! on_connection {
    ($session:expr, $source:expr, $own:ident = $clone:expr, $connection:ident => $call:expr) => {
        on_connection!($session, $source, None, $own = $clone, $connection => $call)
    };
    ($session:expr, $source:expr, $granted:expr, $own:ident = $clone:expr, $connection:ident => $call:expr) => {
        match $session {
            Session::Pool(cluster, caller) => {
                let source = cluster.source($source);
                let limits = cluster.limits(caller.limits, &source);
                let permit = match $granted {
                    Some(permit) => permit,
                    None => source.permit(limits, 1, Hold::OneSource).await?,
                };
                let mut call = || {
                    let (connection, $own) = (source.connection.clone(), $clone);
                    let call: BoxFuture<'static, _> = Box::pin(async move {
                        let $connection = &connection;
                        $call.await
                    });
                    call
                };
                source.call(limits, caller.number, permit, &mut call).await
            }
            Session::Transaction(transaction, caller) => {
                let source = transaction.cluster().source($source);
                let limits = transaction.cluster().limits(caller.limits, &source);
                let (open, $own) = (transaction.on($source).await?, $clone);
                let call: BoxFuture<'static, _> = Box::pin(async move {
                    let $connection = &*open;
                    $call.await
                });
                let backend = source.connection.get_database_backend();
                source
                    .within(limits, Finishing::new(call, None, backend))
                    .await
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
        self.caller().limits
    }

    /// Who runs the statement.
    pub(crate) fn caller(self) -> Caller {
        match self {
            Self::Pool(_, caller) | Self::Transaction(_, caller) => caller,
        }
    }

    /// The same with other limits.
    pub(crate) fn with_limits(self, limits: Limits) -> Self {
        let caller = Caller {
            limits,
            ..self.caller()
        };
        match self {
            Self::Pool(cluster, _) => Self::Pool(cluster, caller),
            Self::Transaction(transaction, _) => Self::Transaction(transaction, caller),
        }
    }

    /// What a caller wants that takes rows one by one.
    pub(crate) fn streamed(self) -> Want {
        match self {
            Self::Pool(..) => Want::Streamed(None),
            Self::Transaction(..) => Want::Streamed(Some(1)),
        }
    }

    /// How many statements of one query run at once in a source.
    pub(crate) fn width(self, source: SourceId) -> usize {
        match self {
            Self::Transaction(..) => 1,
            Self::Pool(cluster, caller) => {
                let source = cluster.source(source);
                max_query_connections(cluster.limits(caller.limits, &source))
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

    /// Checks that a transaction has all sources of these jobs, of which it can have one.
    pub(crate) async fn check_sources(self, jobs: &[Job]) -> Result<(), DbErr> {
        let Self::Transaction(transaction, _) = self else {
            return Ok(());
        };
        let Some(first) = jobs.first().map(Job::source) else {
            return Ok(());
        };
        let own = transaction.source().unwrap_or(first);
        match jobs.iter().map(Job::source).find(|source| *source != own) {
            None => Ok(()),
            Some(other) => Err(ShardingError::SecondSource {
                first: self.cluster().source(own).name.clone(),
                second: self.cluster().source(other).name.clone(),
            }
            .into()),
        }
    }

    /// Checks that none of the sources of these jobs, all of which are needed, is being left alone:
    /// then no other one need work for nothing.
    pub(crate) fn check_breakers(self, jobs: &[Job]) -> Result<(), DbErr> {
        let (Self::Pool(cluster, caller), [_, _, ..]) = (self, jobs) else {
            return Ok(());
        };
        let first_of_each: BTreeMap<SourceId, &Job> =
            jobs.iter().rev().map(|job| (job.source(), job)).collect();
        let failure = |(source, job): (SourceId, &Job)| {
            let source = cluster.source(source);
            let is_patient = cluster.limits(caller.limits, &source).retry.is_some();
            let down = source.refuses(caller.number).filter(|_| !is_patient)?;
            Some(job.failure(down.into(), cluster))
        };
        let failures: Vec<_> = first_of_each.into_iter().filter_map(failure).collect();
        match failures.is_empty() {
            true => Ok(()),
            false => Err(nodes_failed(failures, jobs.len())),
        }
    }

    /// Waits for the right to a connection of a source; a transaction has its own.
    pub(crate) async fn permit(self, source: SourceId) -> Result<Option<Permit>, DbErr> {
        let Self::Pool(cluster, caller) = self else {
            return Ok(None);
        };
        let source = cluster.source(source);
        let limits = cluster.limits(caller.limits, &source);
        source.permit(limits, 1, Hold::OneSource).await.map(Some)
    }

    /// The rows of one job.
    pub(crate) async fn query_job(self, job: Job) -> Result<Vec<QueryResult>, DbErr> {
        self.query_granted(job, None).await
    }

    /// The rows of one job, on a connection that was granted or on any.
    pub(crate) async fn query_granted(
        self,
        job: Job,
        granted: Option<Permit>,
    ) -> Result<Vec<QueryResult>, DbErr> {
        let (source, statement) = (job.source(), &job.statement);
        let answer = self.query_on(source, statement, granted).await;
        answer.map_err(|error| job.explain(error, self.cluster()))
    }

    /// The rows of one statement on a source.
    pub(crate) async fn query_all(
        self,
        source: SourceId,
        statement: &Statement,
    ) -> Result<Vec<QueryResult>, DbErr> {
        self.query_on(source, statement, None).await
    }

    async fn query_on(
        self,
        source: SourceId,
        statement: &Statement,
        granted: Option<Permit>,
    ) -> Result<Vec<QueryResult>, DbErr> {
        on_connection!(self, source, granted, statement = statement.clone(), connection =>
            connection.query_all_raw(statement))
    }

    /// The first row of one statement on a source.
    pub(crate) async fn query_one(
        self,
        source: SourceId,
        statement: &Statement,
    ) -> Result<Option<QueryResult>, DbErr> {
        on_connection!(self, source, statement = statement.clone(), connection =>
            connection.query_one_raw(statement))
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
        on_connection!(self, source, statement = statement.clone(), connection =>
            connection.execute_raw(statement))
    }

    /// The catalog of a source.
    pub(crate) async fn catalog(self, source: SourceId) -> Result<Catalog, DbErr> {
        let all = schemas(&self.cluster().shards().topology);
        on_connection!(self, source, schemas = all.clone(), connection =>
            dialect::catalog(connection, &schemas))
    }

    /// The effect of unprepared text on a source.
    pub(crate) async fn execute_unprepared(
        self,
        source: SourceId,
        sql: &str,
    ) -> Result<ExecResult, DbErr> {
        let once = self.once();
        on_connection!(once, source, sql = sql.to_owned(), connection =>
            connection.execute_unprepared(&sql))
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
        let once = self.once();
        let limits = once.limits().max_query_connections(1);
        once.with_limits(limits.connection_mode(ConnectionMode::ConnectionStrictly))
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
        let backend = first.statement.db_backend;
        let outcome = match self {
            Self::Pool(cluster, caller) => {
                let permit = source.permit(limits, 1, Hold::OneSource).await?;
                let attempt = source.attempt(caller.number)?;
                let connection = source.connection.clone();
                let begin = Box::pin(async move { connection.begin().await });
                let on = cluster.source(first.source());
                let whole = Box::pin(written(on, limits, begin, jobs, returning));
                // Given up, it happens as a whole or not at all, as a single statement does.
                let outcome = Finishing::new(whole, Some(permit), backend).await;
                attempt.end(outcome.as_ref().err().map(|(error, _)| error));
                outcome
            }
            Self::Transaction(transaction, _) => {
                let open = transaction.on(first.source()).await?;
                let begin = Box::pin(async move { open.begin().await });
                // Given up, it must not go on beside what the transaction does next.
                written(source, limits, begin, jobs, returning).await
            }
        };
        let cluster = self.cluster();
        outcome.map_err(|(error, job)| match job {
            Some(job) => job.explain(error, cluster),
            None => error,
        })
    }
}

fn max_query_connections(limits: Limits) -> NonZeroUsize {
    let parallelism = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    limits.max_query_connections.unwrap_or_else(parallelism)
}

/// What the jobs did in a transaction that begins with them and is committed if all succeed; or the
/// error, and the job that met it if it was one.
async fn written(
    source: Arc<Source>,
    limits: Limits,
    begin: BoxFuture<'static, Result<DatabaseTransaction, DbErr>>,
    jobs: Vec<Job>,
    returning: Returning,
) -> Result<Vec<Written>, (DbErr, Option<Job>)> {
    let of_none = |error| (error, None);
    let transaction = source.within(limits, begin).await.map_err(of_none)?;
    let mut written = Vec::with_capacity(jobs.len());
    for job in jobs {
        match source
            .within(limits, write(&transaction, &job, returning))
            .await
        {
            Ok(done) => written.push(done),
            Err(error) => {
                let undone = source.within(limits, transaction.rollback()).await;
                undone.map_err(of_none)?;
                return Err((error, Some(job)));
            }
        }
    }
    let done = source.within(limits, transaction.commit()).await;
    done.map_err(of_none)?;
    Ok(written)
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
