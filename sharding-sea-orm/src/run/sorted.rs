//! Sorted rows: of each data source as cursors, or kept group after group, and merged.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use futures_util::FutureExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use sea_orm::{DbErr, QueryResult};
use sharding_core::execute::Running;
use sharding_core::plan::{Merge, Page, SortKey};
use sharding_core::topology::SourceId;

use crate::error::{NodeFailure, nodes_failed};
use crate::execute::{Grants, Job, RowStream, Session, all, by_source, query_all};
use crate::merge::{Equal, Ranks, Sorted, buffered, keep_first, merge_streams, strip};
use crate::plan::PlannedRead;

/// What becomes of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// They are given back together, so those of a whole page may as well be kept.
    Returned,
    /// They are given back one by one.
    Streamed,
}

/// The rows of all jobs in their common order, cut to the page.
pub(super) async fn whole<'a>(
    session: Session<'a>,
    read: PlannedRead,
    jobs: Vec<Job>,
    merge: Merge,
    page: Page,
    used: Use,
) -> Result<RowStream<'a>, DbErr> {
    let first = jobs.first().or(read.jobs.first()).map(Job::source);
    let (keys, equal) = keys_of(merge);
    let (inputs, ranks) = match read.awaits_ranks() {
        // Ranks are those among all texts, so all rows have to be there first.
        true => {
            let answers = query_all(session, jobs).await?;
            let source = first.unwrap_or_default();
            let ranks = Ranks::of(session, source, &read.ranked, &answers).await?;
            (answers.into_iter().map(buffered).collect(), ranks)
        }
        false => {
            let sorted = Sorted {
                keys: &keys,
                equal,
                ranks: Ranks::declared(&read.ranked),
            };
            let inputs = inputs(session, jobs, &sorted, page, used).await?;
            (inputs, sorted.ranks)
        }
    };
    let merged = merge_streams(inputs, keys, page, equal, ranks);
    Ok(match (read.computed, first) {
        (Some(computed), Some(source)) => strip(session, source, computed, merged),
        _ => merged,
    })
}

/// The sorted inputs, source by source. Sources with more statements than may run at once keep the
/// first rows of theirs; once these hold no connection any more, the others open their cursors.
async fn inputs<'a>(
    session: Session<'a>,
    jobs: Vec<Job>,
    sorted: &Sorted<'_>,
    page: Page,
    used: Use,
) -> Result<Vec<RowStream<'a>>, DbErr> {
    session.check_breakers(&jobs)?;
    let asked = jobs.len();
    let rows = match (used, page.node_limit()) {
        (Use::Returned, None) => Some(0),
        (_, limit) => limit,
    };
    let most = page
        .node_limit()
        .and_then(|rows| usize::try_from(rows).ok());
    let most = most.unwrap_or(usize::MAX);
    let (mut kept, mut cursors) = (Vec::new(), BTreeMap::new());
    for (source, jobs) in by_source(jobs) {
        match session.running(source, jobs.len(), rows)? {
            Running::Groups { width } => kept.push((source, jobs, width)),
            Running::Cursors { at_once } => {
                cursors.insert(source, (jobs, at_once));
            }
        }
    }
    let stopped = &AtomicBool::new(false);
    let keep =
        |(source, jobs, width)| keep(session, source, jobs, width, sorted, most, asked).boxed();
    let kept: FuturesUnordered<_> = kept.into_iter().map(keep).collect();
    let kept = all(kept, stopped).await;
    let kept = kept.map_err(|failures| nodes_failed(failures, asked))?;
    let kept = kept
        .into_iter()
        .map(|(source, rows)| (source, vec![buffered(rows)]));
    let mut inputs: BTreeMap<SourceId, Vec<RowStream<'a>>> = kept.collect();

    let wanted = cursors
        .iter()
        .map(|(source, (jobs, _))| (*source, jobs.len()));
    let mut grants = Grants::of(session, &wanted.collect()).await?;
    let open = |(source, (jobs, at_once)): (SourceId, (Vec<Job>, usize))| {
        let granted = grants.of_source(source);
        async move {
            (
                source,
                session.cursors(&jobs, granted, at_once, asked).await,
            )
        }
    };
    let (mut failures, opening) = (Vec::new(), cursors.into_iter().map(open));
    for (source, opened) in join_all(opening.collect::<Vec<_>>()).await {
        match opened {
            Ok(streams) => drop(inputs.insert(source, streams)),
            Err(failed) => failures.extend(failed),
        }
    }
    match failures.is_empty() {
        true => Ok(inputs.into_values().flatten().collect()),
        false => Err(nodes_failed(failures, asked)),
    }
}

/// The first rows of a source, kept group after group. The connections of one group are given back
/// before the next one begins.
async fn keep(
    session: Session<'_>,
    source: SourceId,
    jobs: Vec<Job>,
    width: usize,
    sorted: &Sorted<'_>,
    most: usize,
    asked: usize,
) -> Result<(SourceId, Vec<QueryResult>), Vec<NodeFailure>> {
    let cluster = session.cluster();
    let mut held = cluster.source(source).held_rows();
    let mut kept = Vec::new();
    for group in jobs.chunks(width) {
        let failures = |error| group[0].failures(error, cluster);
        let wanted = BTreeMap::from([(source, group.len())]);
        let grants = Grants::of(session, &wanted).await.map_err(failures)?;
        let streams = session.cursors(group, grants, width, asked).await?;
        let first = keep_first(kept, streams, sorted, most, &mut held).await;
        kept = first.map_err(failures)?;
    }
    Ok((source, kept))
}

fn keys_of(merge: Merge) -> (Vec<SortKey>, Equal) {
    match merge {
        Merge::Distinct(keys) => (keys, Equal::One),
        Merge::Order(keys) => (keys, Equal::Kept),
        Merge::Concatenate | Merge::Groups(_) => (Vec::new(), Equal::Kept),
    }
}
