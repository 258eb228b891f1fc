use sea_orm::{DbBackend, DbErr, QueryResult};
use sharding_core::merge::{Datum, GroupMerger, PageCutter, Tournament, compare_rows};
use sharding_core::plan::{Fold, GroupPlan, Page, TextOrder};

use super::order::read;
use super::shape::shape;
use crate::dialect::{self, Shape};
use crate::error::ShardingError;
use crate::execute::Session;
use crate::plan::{GroupColumns, PlannedRead};

/// Groups and aggregates of the nodes, as rows that the database itself has made.
pub(crate) async fn merge_groups(
    session: Session<'_>,
    planned: &PlannedRead,
    plan: &GroupPlan,
    page: Page,
    answers: Vec<Vec<QueryResult>>,
) -> Result<Vec<QueryResult>, DbErr> {
    let Some(first) = answers.iter().flatten().next() else {
        return Ok(Vec::new());
    };
    let Some(columns) = &planned.groups else {
        return Err(ShardingError::Unexpected("groups were merged that were not planned").into());
    };
    let backend = planned.jobs[0].statement.db_backend;
    let rows_like = shape_of(columns, plan, first, backend);
    let mut cutter = PageCutter::new(page);
    let mut rows = fold(plan, answers)?;
    rows.retain(|_| cutter.admit());
    shape(session, planned.jobs[0].source(), &rows_like, &rows).await
}

/// The folded groups in the order of the statement.
fn fold(
    plan: &GroupPlan,
    answers: Vec<Vec<QueryResult>>,
) -> Result<Vec<Vec<Datum>>, ShardingError> {
    let texts = texts(plan);
    let mut inputs: Vec<_> = answers.into_iter().map(Vec::into_iter).collect();
    let values = |row: Option<QueryResult>| -> Result<Option<Vec<Datum>>, ShardingError> {
        let Some(row) = row else { return Ok(None) };
        let values = texts
            .iter()
            .enumerate()
            .map(|(at, text)| read(&row, at, *text));
        values.collect::<Result<_, _>>().map(Some)
    };
    let heads = inputs
        .iter_mut()
        .map(|input| values(input.next()))
        .collect::<Result<_, _>>()?;
    let mut tree = Tournament::new(heads, |a: &Vec<Datum>, b: &Vec<Datum>| {
        compare_rows(&plan.keys, a, b)
    });
    let mut merger = GroupMerger::new(plan);
    let mut groups = Vec::new();
    while let Some(winner) = tree.winner() {
        let next = values(inputs[winner].next())?;
        groups.extend(merger.push(tree.replace(next)?)?);
    }
    groups.extend(merger.finish());
    groups.sort_by(|a, b| compare_rows(&plan.order, a, b));
    Ok(groups)
}

/// How text compares in each partial, or that there is none.
fn texts(plan: &GroupPlan) -> Vec<TextOrder> {
    let of_fold = |fold: &Fold| match fold {
        Fold::Min(text) | Fold::Max(text) => *text,
        Fold::First | Fold::Sum => TextOrder::NoText,
    };
    let mut texts: Vec<_> = plan.folds.iter().map(of_fold).collect();
    for key in &plan.keys {
        texts[key.column] = key.text;
    }
    texts
}

/// What the final rows look like; a partial row of a node shows names and types.
fn shape_of<'a>(
    columns: &'a GroupColumns,
    plan: &'a GroupPlan,
    row: &QueryResult,
    backend: DbBackend,
) -> Shape<'a> {
    let names = row.column_names();
    let name = |(at, partial)| match columns.average_name(partial) {
        Some(name) => name.to_owned(),
        None => names.get(at).cloned().unwrap_or_default(),
    };
    Shape {
        backend,
        columns,
        outputs: &plan.outputs,
        names: plan
            .partials
            .iter()
            .copied()
            .enumerate()
            .map(name)
            .collect(),
        types: (0..plan.partials.len())
            .map(|at| dialect::type_name(row, at))
            .collect(),
    }
}
