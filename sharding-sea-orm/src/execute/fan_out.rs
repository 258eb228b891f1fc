use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, Stream, StreamExt, stream};
use sea_orm::{DbErr, QueryResult};
use sharding_core::topology::SourceId;

use super::{Job, Session};
use crate::error::{NodeFailure, nodes_failed};

/// The rows of every job, in the order of the jobs. Sources run side by side; within one, so many
/// statements at once as the limits allow. Once one has failed, none begins any more, and those
/// that run are dropped.
pub(crate) async fn query_all(
    session: Session<'_>,
    jobs: Vec<Job>,
) -> Result<Vec<Vec<QueryResult>>, DbErr> {
    let asked = jobs.len();
    if asked == 1 {
        let answers = jobs.into_iter().map(|job| session.query_job(job));
        return futures_util::future::try_join_all(answers).await;
    }
    session.check_breakers(&jobs)?;
    let mut by_source: BTreeMap<SourceId, Vec<(usize, Job)>> = BTreeMap::new();
    for (at, job) in jobs.into_iter().enumerate() {
        by_source.entry(job.source()).or_default().push((at, job));
    }
    let stopped = &AtomicBool::new(false);
    let of_source = |(source, jobs)| of_source(session, source, jobs, stopped).boxed();
    let running: FuturesUnordered<_> = by_source.into_iter().map(of_source).collect();
    let answers = all(running, stopped).await;
    let answers = answers.map_err(|failures| nodes_failed(failures, asked))?;
    let mut answers: Vec<_> = answers.into_iter().flatten().collect();
    answers.sort_unstable_by_key(|(at, _)| *at);
    Ok(answers.into_iter().map(|(_, rows)| rows).collect())
}

/// A query stands in the line for a connection of a source with one statement at a time: with many
/// tables it is not ahead of those that have few.
async fn of_source(
    session: Session<'_>,
    source: SourceId,
    jobs: Vec<(usize, Job)>,
    stopped: &AtomicBool,
) -> Result<Vec<(usize, Vec<QueryResult>)>, Vec<NodeFailure>> {
    let run = |(at, job): (usize, Job), permit| {
        let run = async move {
            let answer = async { session.query_granted(job.clone(), permit?).await };
            match answer.await {
                Ok(rows) => Ok((at, rows)),
                Err(error) => Err(vec![job.failure(error, session.cluster())]),
            }
        };
        run.boxed()
    };
    let width = session.width(source);
    let mut jobs = jobs.into_iter();
    let mut first_in_line = None;
    let mut running = FuturesUnordered::new();
    let answers = stream::poll_fn(move |context| {
        loop {
            let may_begin = running.len() < width && !stopped.load(Ordering::Relaxed);
            if first_in_line.is_none() && may_begin {
                first_in_line = jobs.next().map(|job| (session.permit(source).boxed(), job));
            }
            if let Some((permit, _)) = &mut first_in_line
                && let Poll::Ready(permit) = permit.poll_unpin(context)
                && let Some((_, job)) = first_in_line.take()
            {
                // Once another one has failed, none begins any more.
                if !stopped.load(Ordering::Relaxed) {
                    running.push(run(job, permit));
                }
                continue;
            }
            return match running.poll_next_unpin(context) {
                Poll::Ready(None) if first_in_line.is_some() => Poll::Pending,
                polled => polled,
            };
        }
    });
    all(answers, stopped).await
}

/// What all of these give, or what has failed by the time that one has.
pub(crate) async fn all<T>(
    running: impl Stream<Item = Result<T, Vec<NodeFailure>>>,
    stopped: &AtomicBool,
) -> Result<Vec<T>, Vec<NodeFailure>> {
    let mut running = std::pin::pin!(running);
    let mut found = Vec::new();
    while let Some(outcome) = running.next().await {
        match outcome {
            Ok(answer) => found.push(answer),
            Err(mut failures) => {
                stopped.store(true, Ordering::Relaxed);
                while let Some(Some(outcome)) = running.next().now_or_never() {
                    failures.extend(outcome.err().into_iter().flatten());
                }
                return Err(failures);
            }
        }
    }
    Ok(found)
}

/// The rows of the jobs one after the other, until there are enough of them: first of one job, then
/// of twice as many at once each time, as far as the limits allow.
pub(crate) async fn query_some(
    session: Session<'_>,
    jobs: Vec<Job>,
    enough: usize,
) -> Result<Vec<QueryResult>, DbErr> {
    let widths = jobs.iter().map(|job| session.width(job.source()));
    let most = widths.min().unwrap_or(1);
    let mut rows = Vec::new();
    let mut jobs = jobs.into_iter();
    let mut at_once = 1;
    while rows.len() < enough {
        let some: Vec<Job> = jobs.by_ref().take(at_once).collect();
        if some.is_empty() {
            break;
        }
        at_once = (at_once * 2).min(most);
        rows.extend(query_all(session, some).await?.into_iter().flatten());
    }
    Ok(rows)
}
