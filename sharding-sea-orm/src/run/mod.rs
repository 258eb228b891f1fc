//! A statement from end to end: planned, executed, merged.

mod grouped;
mod page;
mod sorted;

use futures_util::TryStreamExt;
use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, ExecResult, MockDatabase, MockExecResult, QueryResult,
    Statement,
};
use sharding_core::plan::{Merge, Page, ReadPlan};

use self::sorted::Use;
use crate::execute::{Job, Returning, RowStream, Session, by_source, query_all, query_some};
use crate::merge::{as_they_arrive, buffered, concatenate, shape_count};
use crate::plan::{PlannedRead, PlannedWrite};

/// All rows of a SELECT.
pub(crate) async fn read_all(
    session: Session<'_>,
    mut read: PlannedRead,
) -> Result<Vec<QueryResult>, DbErr> {
    let session = paced(session, &read);
    session.check_sources(&read.jobs).await?;
    if let Some(name) = read.counted.take() {
        return Box::pin(count(session, read, name)).await;
    }
    let jobs = std::mem::take(&mut read.jobs);
    match &read.plan {
        ReadPlan::Merge {
            merge: Merge::Concatenate,
            page,
            ..
        } if page.limit.is_some() => {
            let enough = page
                .node_limit()
                .and_then(|rows| usize::try_from(rows).ok());
            let rows = query_some(session, jobs, enough.unwrap_or(usize::MAX)).await?;
            Ok(cut(rows, *page))
        }
        ReadPlan::Merge {
            merge: Merge::Groups(plan),
            page,
            ..
        } => {
            read.jobs.extend(jobs.first().cloned());
            grouped::read_groups(session, &read, plan, *page, jobs).await
        }
        ReadPlan::Merge { merge, page, .. } if *merge != Merge::Concatenate => {
            let (merge, page) = (merge.clone(), *page);
            read.jobs = jobs;
            page::read_page(session, read, merge, page).await
        }
        _ => Ok(query_all(session, jobs)
            .await?
            .into_iter()
            .flatten()
            .collect()),
    }
}

/// Statements that lock rows would keep those of unsharded tables from each other, and skip them or
/// fail, if they ran side by side.
fn paced<'a>(session: Session<'a>, read: &PlannedRead) -> Session<'a> {
    match read.locks {
        true => session.one_by_one(),
        false => session,
    }
}

/// One row with the count of the rows.
async fn count(
    session: Session<'_>,
    read: PlannedRead,
    name: String,
) -> Result<Vec<QueryResult>, DbErr> {
    let source = read.jobs.first().map(Job::source).unwrap_or_default();
    let mut rows = read_stream(session, read).await?;
    let mut counted = 0_i128;
    while rows.try_next().await?.is_some() {
        counted += 1;
    }
    drop(rows);
    shape_count(session, source, name, counted).await
}

/// The first row of a SELECT that was planned for one.
pub(crate) async fn read_one(
    session: Session<'_>,
    mut read: PlannedRead,
) -> Result<Option<QueryResult>, DbErr> {
    match (&read.plan, read.jobs.len()) {
        (ReadPlan::Pass | ReadPlan::Union(_), 1) => match read.jobs.pop() {
            Some(job) => {
                let row = session.query_one(job.source(), &job.statement).await;
                row.map_err(|error| job.explain(error, session.cluster()))
            }
            None => Ok(None),
        },
        // Boxed, so that the common way above stays small.
        _ => Ok(Box::pin(read_all(session, read)).await?.into_iter().next()),
    }
}

/// The rows of a SELECT as they arrive.
pub(crate) async fn read_stream(
    session: Session<'_>,
    mut read: PlannedRead,
) -> Result<RowStream<'_>, DbErr> {
    let session = paced(session, &read);
    session.check_sources(&read.jobs).await?;
    let mut jobs = std::mem::take(&mut read.jobs);
    if let Some(name) = read.counted.take() {
        read.jobs = jobs;
        return Ok(buffered(Box::pin(count(session, read, name)).await?));
    }
    match &read.plan {
        ReadPlan::Merge {
            merge: Merge::Concatenate,
            page,
            ..
        } => {
            let one_by_one = |jobs: Vec<Job>, page| {
                let streams = jobs.into_iter().map(|job| session.stream_job(job, None));
                concatenate(streams.collect(), page)
            };
            if !page.is_everything() || read.locks {
                return Ok(one_by_one(jobs, *page));
            }
            let of_sources = by_source(jobs).into_values();
            let of_sources = of_sources.map(|jobs| one_by_one(jobs, *page));
            Ok(as_they_arrive(of_sources.collect()))
        }
        ReadPlan::Merge {
            merge: Merge::Groups(_),
            ..
        } => {
            read.jobs = jobs;
            Ok(buffered(read_all(session, read).await?))
        }
        ReadPlan::Merge { merge, page, .. } => {
            let (merge, page) = (merge.clone(), *page);
            if !read.awaits_ranks() && read.computed.is_none() && !read.paging.groups.is_empty() {
                return Ok(page::stream_in_sequence(session, read, jobs, merge, page));
            }
            sorted::whole(session, read, jobs, merge, page, Use::Streamed).await
        }
        _ => match jobs.pop() {
            Some(job) => Ok(session.stream_job(job, None)),
            None => Ok(buffered(Vec::new())),
        },
    }
}

/// The rows that a write with RETURNING gives back: for an INSERT in the order of its rows.
pub(crate) async fn write_returning(
    session: Session<'_>,
    write: PlannedWrite,
) -> Result<Vec<QueryResult>, DbErr> {
    let session = session.once();
    let PlannedWrite { mut jobs, rows, .. } = write;
    if jobs.len() == 1
        && let Some(job) = jobs.pop()
    {
        return session.query_job(job).await;
    }
    let written = session.write_together(jobs, Returning::Rows).await?;
    let expected: usize = rows.iter().map(Vec::len).sum();
    let mut returned: Vec<QueryResult> = Vec::with_capacity(expected);
    let mut positions: Vec<usize> = Vec::with_capacity(expected);
    for (at, node) in written.into_iter().enumerate() {
        positions.extend(rows.get(at).into_iter().flatten());
        returned.extend(node.rows);
    }
    // Rows that met a conflict are missing, and nothing tells which ones.
    if positions.len() != returned.len() {
        return Ok(returned);
    }
    let mut in_order: Vec<_> = positions.into_iter().zip(returned).collect();
    in_order.sort_by_key(|(position, _)| *position);
    Ok(in_order.into_iter().map(|(_, row)| row).collect())
}

/// What a write did.
pub(crate) async fn write(session: Session<'_>, write: PlannedWrite) -> Result<ExecResult, DbErr> {
    let PlannedWrite { mut jobs, rows, .. } = write;
    let last_row = rows
        .iter()
        .enumerate()
        .max_by_key(|(_, rows)| rows.last().copied());
    let last_node = last_row.map_or(0, |(node, _)| node);
    if jobs.len() == 1
        && let Some(job) = jobs.pop()
    {
        let done = session.execute(job.source(), &job.statement).await;
        return done.map_err(|error| job.explain(error, session.cluster()));
    }
    let backend = jobs
        .first()
        .map_or(DbBackend::Sqlite, |job| job.statement.db_backend);
    let written = session.write_together(jobs, Returning::Nothing).await?;
    let affected = written.iter().map(|node| node.affected).sum();
    let last_insert_id = written.get(last_node).map_or(0, |node| node.last_insert_id);
    exec_result(backend, affected, last_insert_id).await
}

/// A result with these numbers. SeaORM has no constructor for one; its mock connection, which does
/// no IO, gives back whatever it was given.
pub(crate) async fn exec_result(
    backend: DbBackend,
    rows_affected: u64,
    last_insert_id: u64,
) -> Result<ExecResult, DbErr> {
    let result = MockExecResult {
        last_insert_id,
        rows_affected,
    };
    let mock = MockDatabase::new(backend)
        .append_exec_results([result])
        .into_connection();
    mock.execute_raw(Statement::from_string(backend, "")).await
}

fn cut(rows: Vec<QueryResult>, page: Page) -> Vec<QueryResult> {
    let mut cutter = sharding_core::merge::PageCutter::new(page);
    rows.into_iter().filter(|_| cutter.admit()).collect()
}

async fn collect(rows: RowStream<'_>) -> Result<Vec<QueryResult>, DbErr> {
    rows.try_collect().await
}
