use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::try_join_all;
use futures_util::stream;
use sea_orm::{DbErr, QueryResult, RuntimeErr, Statement};
use sharding_core::topology::{SourceId, Table};

use super::Cluster;
use super::session::Session;
use crate::error::ShardingError;

/// A statement for one node.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) table: Arc<Table>,
    pub(crate) node: usize,
    /// The other nodes that the statement names, all of the same data source.
    pub(crate) others: Vec<(Arc<Table>, usize)>,
    pub(crate) statement: Statement,
}

impl Job {
    pub(crate) fn source(&self) -> SourceId {
        self.table.source(self.node)
    }

    /// An error of the node, with the name of the missing table if that is what it is.
    pub(crate) fn explain(&self, error: DbErr, cluster: &Cluster) -> DbErr {
        if !is_missing_table(&error) {
            return error;
        }
        let text = error.to_string();
        let first = std::iter::once((&self.table, self.node));
        let others = self.others.iter().map(|(table, node)| (table, *node));
        let mut nodes = first
            .chain(others)
            .map(|(table, node)| (table, table.node(node)));
        let Some((table, node)) = nodes.find(|(_, node)| names(&text, &node.table)) else {
            return error;
        };
        ShardingError::MissingTable {
            table: table.name().to_string(),
            physical: node.table.to_string(),
            data_source: cluster.source(node.source).name.clone(),
        }
        .into()
    }
}

/// The rows of every job, in the order of the jobs.
pub(crate) async fn query_all(
    session: Session<'_>,
    jobs: Vec<Job>,
) -> Result<Vec<Vec<QueryResult>>, DbErr> {
    let Session::Pool(cluster) = session else {
        let mut answers = Vec::with_capacity(jobs.len());
        for job in jobs {
            answers.push(session.query_job(job).await?);
        }
        return Ok(answers);
    };
    // Sources run side by side; within one, so many statements at once as it has the width for.
    let mut by_source: BTreeMap<SourceId, Vec<(usize, Job)>> = BTreeMap::new();
    for (at, job) in jobs.into_iter().enumerate() {
        by_source.entry(job.source()).or_default().push((at, job));
    }
    let of_sources = by_source.into_iter().map(|(source, jobs)| async move {
        let width = cluster.width(&cluster.source(source));
        let run = |(at, job): (usize, Job)| async move {
            Ok::<_, DbErr>((at, session.query_job(job).await?))
        };
        let mut answers = Vec::with_capacity(jobs.len());
        let mut running = stream::iter(jobs).map(run).buffer_unordered(width);
        while let Some(answer) = running.next().await {
            answers.push(answer?);
        }
        Ok::<_, DbErr>(answers)
    });
    let mut answers: Vec<_> = try_join_all(of_sources)
        .await?
        .into_iter()
        .flatten()
        .collect();
    answers.sort_unstable_by_key(|(at, _)| *at);
    Ok(answers.into_iter().map(|(_, rows)| rows).collect())
}

/// The rows of the jobs one after the other, until there are enough of them. Some later jobs may
/// have begun by then; they are dropped.
pub(crate) async fn query_some(
    session: Session<'_>,
    jobs: Vec<Job>,
    enough: usize,
) -> Result<Vec<QueryResult>, DbErr> {
    let width = match session {
        Session::Pool(cluster) => jobs
            .iter()
            .map(|job| cluster.width(&cluster.source(job.source())))
            .min()
            .unwrap_or(1),
        Session::Transaction(_) => 1,
    };
    let mut rows = Vec::new();
    let mut running = stream::iter(jobs)
        .map(|job| session.query_job(job))
        .buffered(width);
    while rows.len() < enough
        && let Some(answer) = running.next().await
    {
        rows.extend(answer?);
    }
    Ok(rows)
}

/// SQLite says it in words only; PostgreSQL and MySQL have codes.
fn is_missing_table(error: &DbErr) -> bool {
    let (DbErr::Query(RuntimeErr::SqlxError(error)) | DbErr::Exec(RuntimeErr::SqlxError(error))) =
        error
    else {
        return false;
    };
    error.as_database_error().is_some_and(|error| {
        matches!(error.code().as_deref(), Some("42P01" | "42S02"))
            || error.message().contains("no such table")
    })
}

/// Whether a message has a name that is not a part of a longer one.
fn names(message: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    message.match_indices(name).any(|(at, _)| {
        let before = message[..at].chars().next_back();
        let after = message[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
