//! Where a union is taken though a merge would do.

use std::collections::BTreeMap;

use sea_orm::DbBackend;
use sharding_core::plan::{Clause, Merge, Reach, ReadPlan};
use sharding_core::topology::{SourceId, Unit};

use super::{Climbed, Planner, Want};
use crate::execute::Job;
use crate::rewrite::Form;
use crate::visit::Tree;

impl Planner<'_> {
    /// The statement over the union of all nodes, if the database puts rows together at less cost
    /// than it hands them over.
    pub(super) fn cheap_union(&self, form: Form<'_>, reach: Reach) -> Option<Job> {
        let nodes = self.tables.iter().map(|own| own.nodes.len()).max();
        let is_cheap = reach == Reach::OneSource && nodes.is_some_and(|most| self.is_cheap(most));
        let jobs = is_cheap.then(|| self.jobs(form, self.select, &[self.everything()]));
        jobs?.ok()?.pop()
    }

    /// Whether a union of so many tables costs less than their merge. SQLite runs in this process,
    /// but hands rows from thread to thread.
    fn is_cheap(&self, tables: usize) -> bool {
        self.shards.backend == DbBackend::Sqlite && tables > 1
    }

    /// The same rows, sorted by the databases where that costs less, or where not every table can
    /// have a cursor, so that many rows would have to be kept here. Where the order follows the
    /// tails, one after the other has one. MariaDB's unions have other types, so there the rows are
    /// kept.
    pub(super) fn with_fewer_cursors(
        &self,
        form: Form<'_>,
        tree: &Tree<'_>,
        reach: Reach,
        climbed: Climbed,
    ) -> Climbed {
        let is_sorted = matches!(
            &climbed.plan,
            ReadPlan::Merge {
                merge: Merge::Order(_) | Merge::Distinct(_),
                ..
            }
        );
        let in_sequence = !climbed.paging.groups.is_empty();
        let is_mysql = self.shards.backend == DbBackend::MySql;
        if !is_sorted || in_sequence || is_mysql || climbed.locks || !self.prefers_unions(tree) {
            return climbed;
        }
        match reach {
            Reach::OneSource => match self.jobs(form, self.select, &[self.everything()]) {
                Ok(jobs) => Climbed::plain(ReadPlan::Union(Clause::Cursors), jobs),
                Err(_) => climbed,
            },
            _ => self
                .divided(form, tree, Unit::Source, reach)
                .unwrap_or(climbed),
        }
    }

    /// Whether all rows are streamed to their end, but not every table can have a cursor, or need
    /// not have one.
    fn prefers_unions(&self, tree: &Tree<'_>) -> bool {
        let Want::Streamed(most) = self.want else {
            return false;
        };
        if tree.root.parts.limit.is_some() {
            return false;
        }
        let mut counts: BTreeMap<SourceId, usize> = BTreeMap::new();
        let first = &self.tables[0];
        for &node in &first.nodes {
            *counts.entry(first.table.source(node)).or_default() += 1;
        }
        let size = |source: &SourceId| self.shards.sources[source.index()].size as usize;
        let most = |source| most.unwrap_or(usize::MAX).min(size(source));
        let mut counts = counts.iter();
        counts.any(|(source, count)| self.is_cheap(*count) || *count > most(source))
    }
}
