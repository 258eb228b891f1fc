use std::collections::BTreeMap;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use sea_orm::{DbErr, QueryResult, Statement, StreamTrait};
use sharding_core::topology::SourceId;

use super::finish::{FinishingRows, SharedAttempt};
use super::source::may_pass;
use super::{Hold, Job, Limits, Permit, Session, Source, Span, all};
use crate::connection::OpenTransaction;
use crate::error::{NodeFailure, nodes_failed};

/// Rows as they arrive.
pub(crate) type RowStream<'a> = Pin<Box<dyn Stream<Item = Result<QueryResult, DbErr>> + Send + 'a>>;

/// The connections that a statement holds for its cursors.
#[derive(Debug, Default)]
pub(crate) struct Grants(BTreeMap<SourceId, Permit>);

/// Jobs by their data sources, which are asked side by side.
pub(crate) fn by_source(jobs: Vec<Job>) -> BTreeMap<SourceId, Vec<Job>> {
    let mut sources: BTreeMap<SourceId, Vec<Job>> = BTreeMap::new();
    for job in jobs {
        sources.entry(job.source()).or_default().push(job);
    }
    sources
}

impl Grants {
    /// Waits for so many connections of each source: all of one source together, and the sources
    /// in the order of their ids.
    pub(crate) async fn of(
        session: Session<'_>,
        wanted: &BTreeMap<SourceId, usize>,
    ) -> Result<Self, DbErr> {
        let mut grants = Self::default();
        let Session::Pool(cluster, caller) = session else {
            return Ok(grants);
        };
        let mut held: Vec<(String, u32)> = Vec::new();
        for (&id, &count) in wanted {
            let source = cluster.source(id);
            let hold = match wanted.len() {
                1 => Hold::OneSource,
                _ => Hold::Several(&held),
            };
            let limits = cluster.limits(caller.limits, &source);
            grants
                .0
                .insert(id, source.permit(limits, count, hold).await?);
            held.push((
                source.name.clone(),
                u32::try_from(count).unwrap_or(u32::MAX),
            ));
        }
        Ok(grants)
    }

    /// Those of one source.
    pub(crate) fn of_source(&mut self, source: SourceId) -> Self {
        Self(self.0.remove_entry(&source).into_iter().collect())
    }

    /// One of the connections of a source.
    fn take(&mut self, source: SourceId) -> Option<Permit> {
        self.0.get_mut(&source)?.split()
    }
}

impl<'a> Session<'a> {
    /// A cursor for each of these jobs, in their order, opened so many at a time: their first rows
    /// are there. They are some of the `asked` jobs of a statement.
    pub(crate) async fn cursors(
        self,
        jobs: &[Job],
        mut grants: Grants,
        at_once: usize,
        asked: usize,
    ) -> Result<Vec<RowStream<'a>>, Vec<NodeFailure>> {
        let stopped = AtomicBool::new(false);
        let granted = jobs
            .iter()
            .map(|job| (job.clone(), grants.take(job.source())));
        let granted: Vec<(Job, Option<Permit>)> = granted.collect();
        let open = |(job, permit): (Job, Option<Permit>)| {
            let open = async move {
                let mut rows = self.stream_job(job.clone(), permit);
                match rows.next().await.transpose() {
                    Ok(first) => Ok(self.told(&job, asked, first, rows)),
                    Err(error) => Err(vec![job.failure(error, self.cluster())]),
                }
            };
            open.boxed()
        };
        let granted = stream::iter(granted).take_while(|_| ready(!stopped.load(Ordering::Relaxed)));
        all(granted.map(open).buffered(at_once.max(1)), &stopped).await
    }

    /// A row and those behind it, whose errors tell the node if the statement has asked several.
    fn told(
        self,
        job: &Job,
        asked: usize,
        first: Option<QueryResult>,
        rows: RowStream<'a>,
    ) -> RowStream<'a> {
        let rows = stream::iter(first.map(Ok)).chain(rows);
        if asked == 1 {
            return Box::pin(rows);
        }
        let job = job.clone();
        Box::pin(
            rows.map_err(move |error| {
                nodes_failed(vec![job.failure(error, self.cluster())], asked)
            }),
        )
    }

    /// The rows of one job as they arrive, on a connection that was granted or on any.
    pub(crate) fn stream_job(self, job: Job, permit: Option<Permit>) -> RowStream<'a> {
        let rows = self.stream(job.source(), job.statement.clone(), permit);
        Box::pin(rows.map_err(move |error| job.explain(error, self.cluster())))
    }

    /// The rows of one statement as they arrive. The connection is held until the end.
    pub(crate) fn stream(
        self,
        source: SourceId,
        statement: Statement,
        permit: Option<Permit>,
    ) -> RowStream<'a> {
        let on = self.cluster().source(source);
        let limits = self.cluster().limits(self.limits(), &on);
        match self {
            Self::Pool(_, caller) => {
                let backend = statement.db_backend;
                let attempt = SharedAttempt::default();
                let (own, name) = (attempt.clone(), on.name.clone());
                let rows = rows_of_pool(on, limits, caller.number, statement, permit, own);
                let rows = Span::node(&name).around_rows(rows);
                Box::pin(FinishingRows::new(rows, backend, attempt))
            }
            Self::Transaction(transaction, _) => Box::pin(async_stream::try_stream! {
                let backend = statement.db_backend;
                let open = transaction.on(source).await?;
                let rows = rows_of_transaction(on, limits, open, statement);
                let mut rows = FinishingRows::new(rows, backend, SharedAttempt::default());
                while let Some(row) = rows.next().await {
                    yield row?;
                }
            }),
        }
    }
}

fn rows_of_transaction(
    source: Arc<Source>,
    limits: Limits,
    open: OpenTransaction,
    statement: Statement,
) -> RowStream<'static> {
    Box::pin(async_stream::try_stream! {
        let mut held = source.held_rows();
        let mut rows = source.within(limits, open.stream_raw(statement)).await?;
        while let Some(row) = source.within(limits, next(&mut rows)).await? {
            held.are(1);
            yield row;
            held.are(0);
        }
    })
}

fn rows_of_pool(
    source: Arc<Source>,
    limits: Limits,
    caller: u64,
    statement: Statement,
    permit: Option<Permit>,
    attempt: SharedAttempt,
) -> RowStream<'static> {
    Box::pin(async_stream::try_stream! {
        let mut held = source.held_rows();
        let _permit = match permit {
            Some(permit) => permit,
            None => source.permit(limits, 1, Hold::OneSource).await?,
        };
        let mut left = limits.retry.map_or(0, |retry| retry.times);
        let (mut rows, mut row) = loop {
            let begun = match source.attempt(caller) {
                Ok(begun) => {
                    attempt.begin(begun);
                    let begun = async {
                        let mut rows = source.connection.stream_raw(statement.clone()).await?;
                        let first = rows.next().await.transpose()?;
                        Ok((rows, first))
                    };
                    let begun = source.within(limits, begun).await;
                    if let Err(error) = &begun {
                        attempt.end(Some(error));
                    }
                    begun
                }
                Err(down) => Err(down.into()),
            };
            match (begun, limits.retry) {
                (Ok(begun), _) => break begun,
                (Err(error), Some(retry)) if left > 0 && may_pass(&error) => {
                    left -= 1;
                    tokio::time::sleep(retry.pause).await;
                }
                (Err(error), _) => Err(error)?,
            }
        };
        let failed = loop {
            let Some(found) = row else { break None };
            held.are(1);
            yield found;
            held.are(0);
            row = match source.within(limits, next(&mut rows)).await {
                Ok(row) => row,
                Err(error) => break Some(error),
            };
        };
        attempt.end(failed.as_ref());
        if let Some(error) = failed {
            Err(error)?;
        }
    })
}

async fn next<S>(rows: &mut S) -> Result<Option<QueryResult>, DbErr>
where
    S: Stream<Item = Result<QueryResult, DbErr>> + Unpin,
{
    rows.next().await.transpose()
}
