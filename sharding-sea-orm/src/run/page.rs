//! Pages of sorted rows: no more of the units are asked than a page needs.

use futures_util::StreamExt;
use sea_orm::{DbErr, QueryResult, Value};
use sharding_core::merge::PageCutter;
use sharding_core::plan::{Merge, Page};

use super::read_all;
use super::sorted::{Use, whole};
use crate::error::ShardingError;
use crate::execute::{Job, RowStream, Session, query_all};
use crate::merge::{buffered, strip};
use crate::plan::{FAR, Paging, Planned, PlannedRead, Want, plan_read, with_page};

/// The rows of a page, sorted.
pub(super) async fn read_page(
    session: Session<'_>,
    mut read: PlannedRead,
    merge: Merge,
    page: Page,
) -> Result<Vec<QueryResult>, DbErr> {
    let jobs = std::mem::take(&mut read.jobs);
    let Some(deep) = read.paging.deep.take() else {
        return in_sequence(session, read, jobs, merge, page, None).await;
    };
    let counts = counted(session, deep.counts.clone()).await?;
    let total: u64 = counts.iter().sum();
    let take = total
        .saturating_sub(page.offset)
        .min(page.limit.unwrap_or(u64::MAX));
    if take == 0 {
        return Ok(Vec::new());
    }
    let behind = total - page.offset - take;
    if let Some(union) = deep.union.filter(|_| page.offset.min(behind) >= FAR) {
        return session.query_job(union).await;
    }
    if let Some(flipped) = deep.flipped.as_ref().filter(|_| behind < page.offset) {
        let page = Page {
            offset: behind,
            limit: Some(take),
        };
        let shards = session.cluster().shards();
        if let Planned::Sharded(mut read) =
            plan_read(&shards, &with_page(flipped, page), Want::All)?
        {
            // The rows were counted; the other end needs no counts of its own.
            read.paging.deep = None;
            let mut rows = Box::pin(read_all(session, read)).await?;
            rows.reverse();
            return Ok(rows);
        }
        return Err(ShardingError::Unexpected("a page was turned around to no table").into());
    }
    in_sequence(session, read, jobs, merge, page, Some(&counts)).await
}

async fn counted(session: Session<'_>, jobs: Vec<Job>) -> Result<Vec<u64>, DbErr> {
    let answers = query_all(session, jobs).await?;
    let count = |rows: Vec<QueryResult>| match rows.first() {
        Some(row) => {
            let count: i64 = row.try_get_by_index(0)?;
            Ok(u64::try_from(count).unwrap_or_default())
        }
        None => Err(ShardingError::Unexpected("rows were counted without an answer").into()),
    };
    answers.into_iter().map(count).collect()
}

/// Group after group, twice as many at once each time, until the page is full. Groups whose rows
/// are all before the page are left out if they were counted.
async fn in_sequence(
    session: Session<'_>,
    read: PlannedRead,
    jobs: Vec<Job>,
    merge: Merge,
    mut page: Page,
    counts: Option<&[u64]>,
) -> Result<Vec<QueryResult>, DbErr> {
    let mut groups = read.paging.groups.clone();
    let planned = page.node_limit();
    let limit = page.limit.unwrap_or(u64::MAX);
    if groups.is_empty() || page.limit.is_none() {
        let rows = whole(session, read, jobs, merge, page, Use::Returned).await?;
        return super::collect(rows).await;
    }
    if let Some(counts) = counts {
        let size = |group: &Vec<usize>| group.iter().map(|&job| counts[job]).sum::<u64>();
        while let Some(first) = groups.first().map(size).filter(|size| *size <= page.offset) {
            page.offset -= first;
            groups.remove(0);
        }
    }
    let mut rows: Vec<QueryResult> = Vec::new();
    let mut groups = groups.into_iter();
    let mut at_once = 1;
    while (rows.len() as u64) < limit {
        let wanted: Vec<Job> = groups
            .by_ref()
            .take(at_once)
            .flatten()
            .map(|job| limited(&jobs[job], planned, page.node_limit()))
            .collect();
        if wanted.is_empty() {
            break;
        }
        at_once *= 2;
        let part = part_of(&read);
        // Everything is taken, so that it is known how many rows come before the page.
        let everything = Page {
            offset: 0,
            limit: page.node_limit(),
        };
        let found = whole(
            session,
            part,
            wanted,
            merge.clone(),
            everything,
            Use::Returned,
        )
        .await?;
        let found = super::collect(found).await?;
        let skipped = page.offset.min(found.len() as u64);
        page.offset -= skipped;
        let missing = limit - rows.len() as u64;
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let missing = usize::try_from(missing).unwrap_or(usize::MAX);
        rows.extend(found.into_iter().skip(skipped).take(missing));
    }
    match (read.computed, jobs.first()) {
        (Some(computed), Some(job)) => {
            let stripped = strip(session, job.source(), computed, buffered(rows));
            super::collect(stripped).await
        }
        _ => Ok(rows),
    }
}

/// The rows of one group after the other, as they arrive: no more connections are held than one
/// group has jobs.
pub(super) fn stream_in_sequence<'a>(
    session: Session<'a>,
    read: PlannedRead,
    jobs: Vec<Job>,
    merge: Merge,
    page: Page,
) -> RowStream<'a> {
    Box::pin(async_stream::try_stream! {
        let mut cutter = PageCutter::new(page);
        let parts = read.paging.groups.clone();
        for group in parts {
            if cutter.is_full() {
                break;
            }
            let wanted: Vec<Job> = group.into_iter().map(|job| jobs[job].clone()).collect();
            let everything = Page {
                offset: 0,
                limit: page.node_limit(),
            };
            let part = part_of(&read);
            let mut rows =
                whole(session, part, wanted, merge.clone(), everything, Use::Streamed).await?;
            while !cutter.is_full()
                && let Some(row) = rows.next().await
            {
                let row = row?;
                if cutter.admit() {
                    yield row;
                }
            }
        }
    })
}

/// The same read for some of its units.
fn part_of(read: &PlannedRead) -> PlannedRead {
    PlannedRead {
        tables: Vec::new(),
        jobs: Vec::new(),
        plan: read.plan.clone(),
        ranked: read.ranked.clone(),
        paging: Paging::default(),
        counted: None,
        computed: None,
        locks: read.locks,
    }
}

/// A job that gives no more rows than the page needs once others are left out. LIMIT is the last
/// value that a statement of a page binds.
fn limited(job: &Job, planned: Option<u64>, least: Option<u64>) -> Job {
    let mut job = job.clone();
    if let (Some(planned), Some(least), Some(values)) = (planned, least, &mut job.statement.values)
        && let Some(Value::BigUnsigned(Some(limit))) = values.0.last_mut()
        && *limit == planned
    {
        *limit = least;
    }
    job
}
