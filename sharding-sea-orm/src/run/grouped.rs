//! Groups: the partial rows of each data source, folded as they arrive, and then those of all.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, TryFutureExt};
use sea_orm::{DbErr, QueryResult};
use sharding_core::execute::Running;
use sharding_core::merge::Datum;
use sharding_core::plan::{GroupPlan, Page};
use sharding_core::topology::SourceId;

use crate::error::{NodeFailure, ShardingError, nodes_failed};
use crate::execute::{Grants, Job, Session, all, by_source, query_all};
use crate::merge::{Columns, Ranks, columns_of, fold, fold_streams, merge_groups, partials};
use crate::plan::PlannedRead;

/// The groups of all jobs, cut to the page.
pub(super) async fn read_groups(
    session: Session<'_>,
    read: &PlannedRead,
    plan: &GroupPlan,
    page: Page,
    jobs: Vec<Job>,
) -> Result<Vec<QueryResult>, DbErr> {
    let (inputs, columns) = match read.awaits_ranks() {
        // Ranks are those among all texts, so all rows have to be there first.
        true => {
            let source = jobs.first().map(Job::source).unwrap_or_default();
            let answers = query_all(session, jobs).await?;
            let ranks = Ranks::of(session, source, &read.ranked, &answers).await?;
            let first = answers.iter().flatten().next();
            let columns = first.map(|row| columns_of(plan, row));
            let inputs = answers.iter().map(|rows| partials(plan, rows, &ranks));
            (inputs.collect::<Result<_, ShardingError>>()?, columns)
        }
        false => {
            let ranks = Ranks::declared(&read.ranked);
            match read.paging.groups.as_slice() {
                [] => of_sources(session, plan, jobs, &ranks).await?,
                groups => in_sequence(session, plan, &jobs, groups, &ranks).await?,
            }
        }
    };
    merge_groups(session, read, plan, page, fold(plan, inputs)?, columns).await
}

type Partials = (Vec<Vec<Datum>>, Option<Columns>);

/// The least or the greatest value of a column that the tails follow: group after group, twice as
/// many at once each time, until there is one.
async fn in_sequence(
    session: Session<'_>,
    plan: &GroupPlan,
    jobs: &[Job],
    groups: &[Vec<usize>],
    ranks: &Ranks,
) -> Result<(Vec<Vec<Vec<Datum>>>, Option<Columns>), DbErr> {
    let (mut inputs, mut columns) = (Vec::new(), None);
    let mut groups = groups.iter();
    let mut at_once = 1;
    loop {
        let wanted = groups.by_ref().take(at_once).flatten();
        let wanted: Vec<Job> = wanted.map(|&job| jobs[job].clone()).collect();
        if wanted.is_empty() {
            return Ok((inputs, columns));
        }
        at_once *= 2;
        let (found, named) = of_sources(session, plan, wanted, ranks).await?;
        columns = columns.or(named);
        let is_value = |row: &Vec<Datum>| !row.iter().any(Datum::is_null);
        let is_found = found.iter().flatten().any(is_value);
        inputs.extend(found);
        if is_found {
            return Ok((inputs, columns));
        }
    }
}

/// The partial rows of each source.
async fn of_sources(
    session: Session<'_>,
    plan: &GroupPlan,
    jobs: Vec<Job>,
    ranks: &Ranks,
) -> Result<(Vec<Vec<Vec<Datum>>>, Option<Columns>), DbErr> {
    session.check_breakers(&jobs)?;
    let (asked, plan) = (jobs.len(), &plan.of_partials());
    let mut running = Vec::new();
    for (source, jobs) in by_source(jobs) {
        // Partial rows are kept in any case.
        running.push((source, session.running(source, jobs.len(), Some(0))?, jobs));
    }
    let of_source = |(source, running, jobs)| {
        of_source(session, plan, source, running, jobs, ranks, asked)
            .map_ok(move |partials| (source, partials))
            .boxed()
    };
    let running: FuturesUnordered<_> = running.into_iter().map(of_source).collect();
    let folded = all(running, &AtomicBool::new(false)).await;
    let folded = folded.map_err(|failures| nodes_failed(failures, asked))?;
    let folded: BTreeMap<SourceId, Partials> = folded.into_iter().collect();
    let (inputs, columns): (Vec<_>, Vec<_>) = folded.into_values().unzip();
    Ok((inputs, columns.into_iter().flatten().next()))
}

async fn of_source(
    session: Session<'_>,
    plan: &GroupPlan,
    source: SourceId,
    running: Running,
    jobs: Vec<Job>,
    ranks: &Ranks,
    asked: usize,
) -> Result<Partials, Vec<NodeFailure>> {
    let cluster = session.cluster();
    let mut held = cluster.source(source).held_rows();
    let (width, at_once) = match running {
        Running::Cursors { at_once } => (jobs.len(), at_once),
        Running::Groups { width } => (width, width),
    };
    let (mut kept, mut columns) = (Vec::new(), None);
    for group in jobs.chunks(width) {
        let failures = |error| group[0].failures(error, cluster);
        let wanted = BTreeMap::from([(source, group.len())]);
        let grants = Grants::of(session, &wanted).await.map_err(failures)?;
        let streams = session.cursors(group, grants, at_once, asked).await?;
        let folded = fold_streams(plan, kept, streams, ranks, &mut columns, &mut held).await;
        kept = folded.map_err(failures)?;
    }
    Ok((kept, columns))
}
