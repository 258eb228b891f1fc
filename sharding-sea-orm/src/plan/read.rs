mod unions;

use std::collections::BTreeSet;
use std::sync::Arc;

use sea_orm::DbBackend;
use sea_orm::sea_query::{Expr, SelectExpr, SelectStatement};
use sharding_core::plan::{self, Clause, Merge, Output, Reach, ReadPlan, Refusal, SelectShape};
use sharding_core::topology::{SourceId, Table, Unit};

use super::paging::Paging;
use super::ranked::ranked;
use super::route::{route_simple, route_tree};
use super::{Planned, check_others, gathered, reach};
use crate::catalog::Ranking;
use crate::dialect;
use crate::error::ShardingError;
use crate::execute::Job;
use crate::rewrite::{Binding, Form, bound, bound_tree, for_merge, typed_select};
use crate::shards::{Gathering, Shards};
use crate::visit::{Made, Parts, Selected, Selection, Tree};

/// How many rows a caller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    All,
    One,
    /// All, one by one, with so many cursors in a data source at most, or as many as its pool has
    /// connections.
    Streamed(Option<usize>),
}

/// A SELECT of sharded tables, ready to run.
#[derive(Debug)]
pub(crate) struct PlannedRead {
    /// The tables with the nodes that are reached, at least one.
    pub(crate) tables: Vec<Reached>,
    /// The statements of the units. With a union there is one job for all nodes.
    pub(crate) jobs: Vec<Job>,
    pub(crate) plan: ReadPlan,
    /// The columns of the units' rows that are put in order by ranks, and where these come from.
    pub(crate) ranked: Vec<(usize, Ranking)>,
    /// Which of the units a page needs.
    pub(crate) paging: Paging,
    /// The name of the one column of the answer, if that is the count of the rows.
    pub(crate) counted: Option<String>,
    /// What the rows look like that are computed here; `None` if none are.
    pub(crate) computed: Option<Computed>,
    /// Whether it locks rows.
    pub(crate) locks: bool,
}

impl PlannedRead {
    /// Whether all rows have to be there before the first one is known: ranks that are asked for
    /// are those among all texts.
    pub(crate) fn awaits_ranks(&self) -> bool {
        let is_asked = |ranking: &Ranking| matches!(ranking, Ranking::Asked(_));
        self.ranked.iter().any(|(_, ranking)| is_asked(ranking))
    }
}

/// A sharded table and the positions of its nodes that a statement reaches, in order.
#[derive(Clone, Debug)]
pub(crate) struct Reached {
    /// The table's position in the topology.
    pub(crate) at: usize,
    pub(crate) table: Arc<Table>,
    pub(crate) nodes: Vec<usize>,
}

/// What computed rows look like, as far as the statement tells.
#[derive(Debug, Default)]
#[cfg_attr(
    not(feature = "sqlx-sqlite"),
    allow(dead_code, reason = "for SQLite's types")
)]
pub(crate) struct Computed {
    /// The name of each output that no node selects as it stands.
    pub(crate) names: Vec<Option<String>>,
    /// Each selected item that is a column of a table.
    pub(crate) columns: Vec<Option<Expr>>,
    /// How many items, the last ones, are selected beyond the statement's own.
    pub(crate) hidden: usize,
    /// What outputs are made of.
    pub(crate) made: Vec<Made>,
    /// A SELECT of nothing from the same tables, where types come from there.
    pub(crate) typed: Option<SelectStatement>,
    /// The statement as it stands on one unit, for the answer to no rows at all.
    pub(crate) of_nothing: Option<Job>,
}

/// What one sharding key contributed to a route.
#[derive(Clone, Debug)]
pub(crate) struct KeyReason {
    pub(crate) column: String,
    pub(crate) strategy: String,
    pub(crate) keys: String,
}

/// Plans a SELECT.
pub(crate) fn plan_read(
    shards: &Shards,
    select: &SelectStatement,
    want: Want,
) -> Result<Planned<PlannedRead>, ShardingError> {
    let refused = |table: &Table, clause| shards.refusal(clause, table, &[]).into();
    match Selected::of(select, shards) {
        Selected::Unsharded(others) => Ok(Planned::Unsharded(gathered(shards, others)?)),
        Selected::Refused(sharded, clause) => Err(refused(sharded.table, clause)),
        Selected::Sharded(mut view) => {
            let tables = vec![route_simple(&view, shards)];
            let reader = Planner {
                shards,
                select,
                tables,
                others: view.others,
                want,
            };
            if reader.reach()? == Reach::OneNode {
                return reader.pass(Form::Simple(&view)).map(Planned::Sharded);
            }
            view.complete(select, shards);
            let tree = Tree::of(select, shards).map_err(|(sharded, clause)| {
                ShardingError::from(shards.refusal(clause, sharded.table, &[]))
            })?;
            reader
                .climb(Form::Simple(&view), &tree)
                .map(Planned::Sharded)
        }
        Selected::Nested => {
            let tree = Tree::of(select, shards)
                .map_err(|(sharded, clause)| refused(sharded.table, clause))?;
            let tables = route_tree(&tree, shards);
            let others = shards.gather(&tree.scan);
            if tables.is_empty() {
                return Ok(Planned::Unsharded(gathered(shards, others)?));
            }
            let reader = Planner {
                shards,
                select,
                tables,
                others,
                want,
            };
            let form = Form::Tree(&tree);
            let planned = match reader.reach()? {
                Reach::OneNode => reader.pass(form),
                _ => reader.climb(form, &tree),
            };
            planned.map(Planned::Sharded)
        }
    }
}

/// Climbs the ladder with a statement that is routed.
struct Planner<'p> {
    shards: &'p Shards,
    select: &'p SelectStatement,
    tables: Vec<Reached>,
    others: Gathering,
    want: Want,
}

impl<'p> Planner<'p> {
    fn reach(&self) -> Result<Reach, ShardingError> {
        for Reached { table, nodes, .. } in &self.tables {
            check_others(self.shards, table, nodes, self.others)?;
        }
        Ok(self.extent())
    }

    fn extent(&self) -> Reach {
        reach(self.tables.iter().map(|own| (&*own.table, &*own.nodes)))
    }

    fn pass(self, form: Form<'_>) -> Result<PlannedRead, ShardingError> {
        let unit = self.everything();
        if let Form::Tree(tree) = form
            && self.shards.backend == DbBackend::MySql
            && !tree.is_flat()
            && tree.may_sort_computed_enums()
        {
            return Err(self.refusal(Clause::EnumOrder).into());
        }
        let jobs = self.jobs(form, self.select, &[unit]);
        let jobs = jobs.map_err(|clause| self.refusal(clause))?;
        Ok(self.planned(Climbed::plain(ReadPlan::Pass, jobs)))
    }

    fn climb(self, form: Form<'_>, tree: &Tree<'_>) -> Result<PlannedRead, ShardingError> {
        let reach = self.extent();
        let mut refused = None;
        for unit in [Unit::Node, Unit::Source] {
            match self.divided(form, tree, unit, reach) {
                Ok(climbed) => {
                    let climbed = self.with_fewer_cursors(form, tree, reach, climbed);
                    return Ok(self.planned(climbed));
                }
                Err(clause) => refused = refused.or(Some(clause)),
            }
            if reach == Reach::OneSource {
                break;
            }
        }
        match self.counted(tree) {
            Some(counted) => Ok(counted),
            None => Err(self
                .refusal(refused.unwrap_or(Clause::NotUnderstood))
                .into()),
        }
    }

    /// The plan of a statement that counts the rows of another one and does nothing else, such as
    /// those of paginators: the other one's rows are counted as they arrive.
    fn counted(&self, tree: &Tree<'_>) -> Option<PlannedRead> {
        let (name, rows) = tree.count_of()?;
        let Ok(Planned::Sharded(read)) = plan_read(self.shards, rows, Want::All) else {
            return None;
        };
        let expr = &tree.root.parts.items.first()?.expr;
        let name = name.unwrap_or_else(|| dialect::computed_name(self.shards.backend, expr));
        Some(PlannedRead {
            counted: Some(name),
            ..read
        })
    }

    fn divided(
        &self,
        form: Form<'_>,
        tree: &Tree<'_>,
        unit: Unit,
        reach: Reach,
    ) -> Result<Climbed, Clause> {
        let (mut shape, selection) = tree.shape(unit, self.shards);
        if self.want == Want::One && !shape.locks {
            // The caller reads the first row only, so more need not be fetched.
            shape.page.limit = Some(shape.page.limit.map_or(1, |limit| limit.min(1)));
        }
        let mut plan = plan::plan_read(shape.clone(), reach)?;
        let is_union = matches!(plan, ReadPlan::Union(_));
        let may_sort_enums = self.shards.backend == DbBackend::MySql && tree.may_sort_enums();
        if is_union && may_sort_enums {
            // A union would not sort them right, so this is as if there were several sources.
            plan = plan::plan_read(shape.clone(), Reach::ManySources)
                .map_err(|_| Clause::EnumOrder)?;
        }
        if let ReadPlan::Union(_) = plan {
            let jobs = self.jobs(form, self.select, &[self.everything()])?;
            return Ok(Climbed::plain(plan, jobs));
        }
        let units = self.units(unit, selection.required.as_deref())?;
        let parts = &tree.root.parts;
        let backend = self.shards.backend;
        let select = for_merge(self.select, parts, &selection, &plan, backend);
        let jobs = self.jobs(form, &select, &units)?;
        let ranked = ranked(&plan, &selection)?;
        let is_union = |binding: &Binding<'_>| binding.nodes.len() > 1;
        let has_enums = self.shards.backend == DbBackend::MySql
            && ranked
                .iter()
                .any(|(_, ranking)| matches!(ranking, Ranking::Declared(_)));
        if (may_sort_enums || has_enums) && units.iter().flatten().any(is_union) {
            return Err(Clause::EnumOrder);
        }
        let mut paging = Paging::of(&plan, &selection, &units, backend);
        let is_total = self.tables.len() == 1 && selection.is_total;
        let of_units = |count: &SelectStatement| self.jobs(form, count, &units);
        let union = || self.cheap_union(form, reach);
        paging.look_far(&plan, self.select, parts, is_total, of_units, union)?;
        let computed = self.computed(form, &shape, selection, &plan, &units)?;
        Ok(Climbed {
            plan,
            jobs,
            ranked,
            paging,
            computed,
            locks: shape.locks,
        })
    }

    /// All nodes together.
    fn everything(&self) -> Vec<Binding<'p>> {
        let binding = |reached: &Reached| Binding {
            sharded: self.shards.at(reached.at),
            nodes: reached.nodes.clone(),
            is_empty: false,
        };
        self.tables.iter().map(binding).collect()
    }

    /// The units that can contribute, with the nodes of each table in it.
    fn units(
        &self,
        unit: Unit,
        required: Option<&[usize]>,
    ) -> Result<Vec<Vec<Binding<'p>>>, Clause> {
        let is_required = |table: &&Reached| required.is_none_or(|at| at.contains(&table.at));
        let places = |table: &Reached| -> BTreeSet<Place> {
            table
                .nodes
                .iter()
                .map(|&node| Place::of(&table.table, node, unit))
                .collect()
        };
        let mut needed = self.tables.iter().filter(is_required).map(places);
        let first = needed.next().unwrap_or_default();
        let mut all = match required {
            // Without a row of each of these there is no row of the answer.
            Some(_) => needed.fold(first, |all, own| all.intersection(&own).copied().collect()),
            None => needed.fold(first, |all, own| all.union(&own).copied().collect()),
        };
        if all.is_empty() {
            let any = &self.tables[0];
            all.insert(Place::of(&any.table, any.nodes[0], unit));
        }
        all.into_iter()
            .map(|place| {
                let binding = |table: &Reached| self.binding(table, place);
                self.tables
                    .iter()
                    .map(binding)
                    .collect::<Option<_>>()
                    .ok_or(Clause::Join)
            })
            .collect()
    }

    /// The nodes of a table that are in a unit; `None` if not even its columns are there.
    fn binding(&self, reached: &Reached, place: Place) -> Option<Binding<'p>> {
        let table = &reached.table;
        let nodes: Vec<usize> = match place {
            Place::Node(at, _) => {
                let node = table.position_at(at);
                let facts = self.shards.at(reached.at).facts;
                node.map_or_else(Vec::new, |node| facts.present(table, vec![node]))
            }
            Place::Source(source) => {
                let in_source = |node: &&usize| table.source(**node) == source;
                reached.nodes.iter().filter(in_source).copied().collect()
            }
        };
        let is_empty = nodes.is_empty();
        let nodes = match is_empty {
            false => nodes,
            true => {
                let source = place.source();
                let facts = self.shards.at(reached.at).facts;
                let mut all = table
                    .positions()
                    .filter(|&node| table.source(node) == source);
                let lends = |node: &usize| !facts.present(table, vec![*node]).is_empty();
                vec![all.find(lends)?]
            }
        };
        Some(Binding {
            sharded: self.shards.at(reached.at),
            nodes,
            is_empty,
        })
    }

    fn jobs(
        &self,
        form: Form<'_>,
        select: &SelectStatement,
        units: &[Vec<Binding<'_>>],
    ) -> Result<Vec<Job>, Clause> {
        let statements = bound(form, select, units, self.shards)?;
        let job = |(unit, statement): (&Vec<Binding<'_>>, _)| Job {
            table: Arc::clone(unit[0].sharded.table),
            node: unit[0].nodes[0],
            others: unit
                .iter()
                .flat_map(|binding| {
                    let table = binding.sharded.table;
                    binding
                        .nodes
                        .iter()
                        .map(move |&node| (Arc::clone(table), node))
                })
                .skip(1)
                .collect(),
            statement,
        };
        Ok(units.iter().zip(statements).map(job).collect())
    }

    fn computed(
        &self,
        form: Form<'_>,
        shape: &SelectShape,
        selection: Selection,
        plan: &ReadPlan,
        units: &[Vec<Binding<'_>>],
    ) -> Result<Option<Computed>, Clause> {
        let ReadPlan::Merge { merge, strips, .. } = plan else {
            return Ok(None);
        };
        let groups = match merge {
            Merge::Groups(groups) => Some(groups),
            _ if *strips => None,
            _ => return Ok(None),
        };
        let parts = &form.parts();
        let names = (0..shape.items.len()).map(|at| match (parts.items.get(at), groups) {
            (None, _) => Some(format!("sharding_{at}")),
            (Some(item), Some(groups)) if !matches!(groups.outputs[at], Output::Partial(_)) => {
                Some(name_of(item, self.shards.backend))
            }
            _ => None,
        });
        let column =
            |item: &SelectExpr| matches!(item.expr, Expr::Column(_)).then(|| item.expr.clone());
        let mut columns: Vec<_> = parts.items.iter().map(column).collect();
        columns.resize(shape.items.len(), None);
        let typed = match self.shards.backend {
            DbBackend::Sqlite => {
                let one = bound_tree(form, self.select, &units[0], self.shards)?;
                Some(typed_select(one))
            }
            _ => None,
        };
        let of_nothing = match groups {
            Some(groups) if groups.keys.is_empty() && groups.distinct.is_some() => {
                self.jobs(form, self.select, &units[..1])?.pop()
            }
            _ => None,
        };
        Ok(Some(Computed {
            names: names.collect(),
            columns,
            hidden: shape.items.len() - shape.visible,
            made: selection.made,
            typed,
            of_nothing,
        }))
    }

    fn planned(self, climbed: Climbed) -> PlannedRead {
        PlannedRead {
            tables: self.tables,
            jobs: climbed.jobs,
            plan: climbed.plan,
            ranked: climbed.ranked,
            paging: climbed.paging,
            counted: None,
            computed: climbed.computed,
            locks: climbed.locks,
        }
    }

    fn refusal(&self, clause: Clause) -> Refusal {
        let reached: Vec<_> = self
            .tables
            .iter()
            .map(|own| (&*own.table, &*own.nodes))
            .collect();
        self.shards.refusal_of_all(clause, &reached)
    }
}

/// The name that the database gives to an item.
fn name_of(item: &SelectExpr, backend: DbBackend) -> String {
    match &item.alias {
        Some(alias) => alias.to_string(),
        None => dialect::computed_name(backend, &item.expr),
    }
}

/// What became of a statement on its way up the ladder.
struct Climbed {
    plan: ReadPlan,
    jobs: Vec<Job>,
    ranked: Vec<(usize, Ranking)>,
    paging: Paging,
    computed: Option<Computed>,
    locks: bool,
}

impl Climbed {
    fn plain(plan: ReadPlan, jobs: Vec<Job>) -> Self {
        Self {
            plan,
            jobs,
            ranked: Vec::new(),
            paging: Paging::default(),
            computed: None,
            locks: false,
        }
    }
}

/// Where a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// By the partitions that lead to the node: tables that are alike have them in common.
    Node((usize, usize), SourceId),
    Source(SourceId),
}

impl Place {
    fn of(table: &Table, node: usize, unit: Unit) -> Self {
        match unit {
            Unit::Node => Self::Node(table.coordinates(node), table.source(node)),
            Unit::Source => Self::Source(table.source(node)),
        }
    }

    fn source(self) -> SourceId {
        match self {
            Self::Node(_, source) | Self::Source(source) => source,
        }
    }
}

impl Form<'_> {
    /// The parts of the statement itself.
    fn parts(&self) -> &Parts {
        match self {
            Self::Simple(view) => &view.parts,
            Self::Tree(tree) => &tree.root.parts,
        }
    }
}
