//! Which units a page of sorted rows, or the least value of a column, needs, and in which order.

use std::collections::BTreeMap;

use sea_orm::DbBackend;
use sea_orm::sea_query::{Expr, ExprTrait, NullOrdering, Order, SelectStatement};
use sharding_core::key::KeyKind;
use sharding_core::plan::{Clause, Direction, Fold, GroupPlan, Merge, Page, ReadPlan};

use crate::execute::Job;
use crate::rewrite::Binding;
use crate::visit::{Parts, Selection};

/// How a page of sorted rows is read.
#[derive(Debug, Default)]
pub(crate) struct Paging {
    /// The jobs by their positions, in groups: all rows of one group come before those of the
    /// next. Empty if the order of rows, or what is aggregated, does not follow the tails.
    pub(crate) groups: Vec<Vec<usize>>,
    /// What a page that lies far behind the first one needs besides.
    pub(crate) deep: Option<Deep>,
}

/// What a page that lies far behind the first one needs.
#[derive(Debug)]
pub(crate) struct Deep {
    /// The count of rows of each job.
    pub(crate) counts: Vec<Job>,
    /// The statement with its order turned around, if that order is total: the page may be nearer
    /// to the end. Its page is still to be set.
    pub(crate) flipped: Option<SelectStatement>,
    /// The statement over the union of all tables, where that is cheaper for a page that is far
    /// from both ends: SQLite skips rows in no time, but hands each that it gives from thread to
    /// thread.
    pub(crate) union: Option<Job>,
}

/// So many rows are skipped without being counted first.
pub(crate) const FAR: u64 = 10_000;

impl Paging {
    /// The groups of units, if rows are sorted by a column that the tails follow, or if its least
    /// or greatest value is asked for.
    pub(super) fn of(
        plan: &ReadPlan,
        selection: &Selection,
        units: &[Vec<Binding<'_>>],
        backend: DbBackend,
    ) -> Self {
        let mut paging = Self::default();
        let ReadPlan::Merge { merge, .. } = plan else {
            return paging;
        };
        let (followed, direction) = match merge {
            Merge::Order(keys) => (
                &selection.first_order,
                keys.first().map(|key| key.direction),
            ),
            Merge::Groups(groups) => (&selection.aggregated, toward(groups)),
            Merge::Concatenate | Merge::Distinct(_) => return paging,
        };
        let (Some((table, column)), Some(direction)) = (followed, direction) else {
            return paging;
        };
        let mut tails: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, unit) in units.iter().enumerate() {
            let Some(binding) = unit.iter().find(|own| own.sharded.at == *table) else {
                return paging;
            };
            let own = binding.sharded.table;
            if !(own.keeps_order_of(column) && sorts_by_time(binding, column, backend)) {
                return paging;
            }
            let [node] = binding.nodes.as_slice() else {
                return paging;
            };
            tails.entry(own.coordinates(*node).1).or_default().push(at);
        }
        let groups = tails.into_values();
        paging.groups = match direction {
            Direction::Ascending => groups.collect(),
            Direction::Descending => groups.rev().collect(),
        };
        if paging.groups.len() < 2 {
            paging.groups.clear();
        }
        paging
    }

    /// Adds what is needed if the page lies far behind the first one. `jobs` makes the jobs of the
    /// units for a statement, `union` the one of all nodes, if it may be used in their place.
    pub(super) fn look_far(
        &mut self,
        plan: &ReadPlan,
        select: &SelectStatement,
        parts: &Parts,
        is_total: bool,
        jobs: impl FnOnce(&SelectStatement) -> Result<Vec<Job>, Clause>,
        union: impl FnOnce() -> Option<Job>,
    ) -> Result<(), Clause> {
        let ReadPlan::Merge {
            merge: Merge::Order(_),
            page,
            ..
        } = plan
        else {
            return Ok(());
        };
        let flipped = is_total.then(|| flip(select, parts)).flatten();
        let is_plain = parts.group.is_empty()
            && parts.having.is_none()
            && parts.distinct.is_none()
            && parts.unions.is_empty();
        let helps = !self.groups.is_empty() || flipped.is_some();
        if page.offset < FAR || page.limit.is_none() || !is_plain || !helps {
            return Ok(());
        }
        let mut count = select.clone();
        count
            .clear_selects()
            .clear_order_by()
            .reset_limit()
            .reset_offset()
            .expr(Expr::col(sea_orm::sea_query::Asterisk).count());
        // Equal rows may be in another order there.
        let union = is_total.then(union).flatten();
        self.deep = Some(Deep {
            counts: jobs(&count)?,
            flipped,
            union,
        });
        Ok(())
    }
}

/// In which direction a value is looked for, if the least or the greatest one is all that is asked
/// for.
fn toward(groups: &GroupPlan) -> Option<Direction> {
    if !groups.keys.is_empty() || groups.distinct.is_some() {
        return None;
    }
    let all = |is: fn(&Fold) -> bool| groups.folds.iter().all(is);
    match () {
        () if all(|fold| matches!(fold, Fold::Min(_))) => Some(Direction::Ascending),
        () if all(|fold| matches!(fold, Fold::Max(_))) => Some(Direction::Descending),
        () => None,
    }
}

/// SQLite compares times as texts, which are in order only if all have one offset.
fn sorts_by_time(binding: &Binding<'_>, column: &str, backend: DbBackend) -> bool {
    let mut columns = binding.sharded.table.key_columns();
    backend != DbBackend::Sqlite
        || columns.all(|own| own.name() != column || own.kind() != KeyKind::Instant)
}

/// The statement in the reverse order.
fn flip(select: &SelectStatement, parts: &Parts) -> Option<SelectStatement> {
    let mut flipped = select.clone();
    flipped.clear_order_by();
    for key in &parts.order {
        // Where NULLs go by default turns around with the direction.
        let order = match key.order.as_ref()? {
            Order::Asc => Order::Desc,
            Order::Desc => Order::Asc,
            _ => return None,
        };
        match key.nulls {
            None => flipped.order_by_expr(key.expr.clone(), order),
            Some(nulls) => {
                let nulls = match nulls {
                    NullOrdering::First => NullOrdering::Last,
                    NullOrdering::Last => NullOrdering::First,
                };
                flipped.order_by_expr_with_nulls(key.expr.clone(), order, nulls)
            }
        };
    }
    Some(flipped)
}

/// A statement with another page.
pub(crate) fn with_page(select: &SelectStatement, page: Page) -> SelectStatement {
    let mut select = select.clone();
    select.reset_limit().reset_offset();
    if let Some(limit) = page.limit {
        select.limit(limit);
    }
    if page.offset > 0 {
        select.offset(page.offset);
    }
    select
}
