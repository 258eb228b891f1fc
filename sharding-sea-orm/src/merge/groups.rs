use sea_orm::{DbBackend, DbErr, QueryResult};
use sharding_core::merge::{Datum, GroupMerger, PageCutter, Tournament, compare_rows};
use sharding_core::plan::{Fold, GroupPlan, Output, Page, SortKey, TextOrder};

use super::Ranks;
use super::order::read;
use super::shape::shape;
use crate::dialect::{self, Shape, ShapedColumn};
use crate::error::ShardingError;
use crate::execute::Session;
use crate::plan::{Computed, PlannedRead};

/// Groups and aggregates of the units, as rows that the database itself has made.
pub(crate) async fn merge_groups(
    session: Session<'_>,
    planned: &PlannedRead,
    plan: &GroupPlan,
    page: Page,
    answers: Vec<Vec<QueryResult>>,
) -> Result<Vec<QueryResult>, DbErr> {
    let Some(computed) = &planned.computed else {
        return Err(ShardingError::Unexpected("groups were merged that were not planned").into());
    };
    let Some(first) = answers.iter().flatten().next() else {
        return match &computed.of_nothing {
            Some(job) => session.query_job(job.clone()).await,
            None => Ok(Vec::new()),
        };
    };
    let maker = Maker {
        session,
        planned,
        plan,
        computed,
        names: first.column_names(),
        types: (0..plan.partials.len())
            .map(|at| dialect::type_name(first, at))
            .collect(),
    };
    let source = planned.jobs[0].source();
    let ranks = Ranks::of(session, source, &planned.ranked, &answers).await?;
    let mut groups = fold(plan, answers, &ranks)?;
    groups = maker.kept_in_order(groups).await?;
    let mut cutter = PageCutter::new(page);
    groups.retain(|_| cutter.admit());
    let visible: Vec<usize> = (0..plan.visible).collect();
    maker.make(&visible, &groups).await
}

/// Makes rows of folded groups.
struct Maker<'m> {
    session: Session<'m>,
    planned: &'m PlannedRead,
    plan: &'m GroupPlan,
    computed: &'m Computed,
    /// The names and types of the partials' columns.
    names: Vec<String>,
    types: Vec<String>,
}

impl Maker<'_> {
    /// The groups that HAVING keeps, in the order of the statement. Whatever is not a folded value
    /// itself is computed by the database.
    async fn kept_in_order(&self, groups: Vec<Vec<Datum>>) -> Result<Vec<Vec<Datum>>, DbErr> {
        let keys = self.plan.order.iter().map(|key| key.column);
        let mut needed: Vec<usize> = keys.chain(self.plan.having).collect();
        needed.sort_unstable();
        needed.dedup();
        let is_made = |output: &usize| !matches!(self.plan.outputs[*output], Output::Partial(_));
        let made: Vec<usize> = needed.iter().copied().filter(is_made).collect();
        let rows = match made.is_empty() {
            true => Vec::new(),
            false => self.make(&made, &groups).await?,
        };
        let text = |output: usize| {
            let mut keys = self.plan.order.iter();
            keys.find(|key| key.column == output)
                .map_or(TextOrder::NoText, |key| key.text)
        };
        let mut keyed = Vec::with_capacity(groups.len());
        for (at, group) in groups.into_iter().enumerate() {
            let mut values = Vec::with_capacity(needed.len());
            for output in &needed {
                values.push(match self.plan.outputs[*output] {
                    Output::Partial(partial) => group[partial].clone(),
                    _ => {
                        let column = made
                            .iter()
                            .position(|own| own == output)
                            .unwrap_or_default();
                        read(&rows[at], column, text(*output), &Ranks::default())?
                    }
                });
            }
            keyed.push((values, group));
        }
        let position = |output: usize| needed.iter().position(|own| *own == output);
        if let Some(having) = self.plan.having.and_then(position) {
            keyed.retain(|(values, _)| values[having].is_true());
        }
        let sort: Vec<SortKey> = self
            .plan
            .order
            .iter()
            .filter_map(|key| {
                Some(SortKey {
                    column: position(key.column)?,
                    ..*key
                })
            })
            .collect();
        keyed.sort_by(|(a, _), (b, _)| compare_rows(&sort, a, b));
        Ok(keyed.into_iter().map(|(_, group)| group).collect())
    }

    /// Rows with these outputs.
    async fn make(
        &self,
        outputs: &[usize],
        groups: &[Vec<Datum>],
    ) -> Result<Vec<QueryResult>, DbErr> {
        let column = |&at: &usize| {
            let output = &self.plan.outputs[at];
            let of_partial = || {
                output
                    .first()
                    .and_then(|partial| self.names.get(partial).cloned())
            };
            let name = self.computed.names[at].clone();
            ShapedColumn {
                name: name.or_else(of_partial).unwrap_or_default(),
                output,
                template: self
                    .computed
                    .made
                    .get(at)
                    .and_then(|made| made.template.as_ref()),
                typed: self.computed.columns[at].as_ref(),
            }
        };
        let rows_like = Shape {
            backend: self.backend(),
            columns: outputs.iter().map(column).collect(),
            typed: self.computed.typed.as_ref(),
            types: self.types.clone(),
        };
        shape(
            self.session,
            self.planned.jobs[0].source(),
            &rows_like,
            groups,
        )
        .await
    }

    fn backend(&self) -> DbBackend {
        self.planned.jobs[0].statement.db_backend
    }
}

/// The folded groups in the order of their keys.
fn fold(
    plan: &GroupPlan,
    answers: Vec<Vec<QueryResult>>,
    ranks: &Ranks,
) -> Result<Vec<Vec<Datum>>, ShardingError> {
    let texts = texts(plan);
    let mut inputs: Vec<_> = answers.into_iter().map(Vec::into_iter).collect();
    let values = |row: Option<QueryResult>| -> Result<Option<Vec<Datum>>, ShardingError> {
        let Some(row) = row else { return Ok(None) };
        let values = texts
            .iter()
            .enumerate()
            .map(|(at, text)| read(&row, at, *text, ranks));
        values.collect::<Result<_, _>>().map(Some)
    };
    let heads = inputs
        .iter_mut()
        .map(|input| values(input.next()))
        .collect::<Result<_, _>>()?;
    let sort: Vec<SortKey> = plan.keys.iter().chain(&plan.distinct).copied().collect();
    let mut tree = Tournament::new(heads, |a: &Vec<Datum>, b: &Vec<Datum>| {
        compare_rows(&sort, a, b)
    });
    let mut merger = GroupMerger::new(plan);
    let mut groups = Vec::new();
    while let Some(winner) = tree.winner() {
        let next = values(inputs[winner].next())?;
        groups.extend(merger.push(tree.replace(next)?)?);
    }
    groups.extend(merger.finish());
    Ok(groups)
}

/// How text compares in each partial, or that there is none.
fn texts(plan: &GroupPlan) -> Vec<TextOrder> {
    let of_fold = |fold: &Fold| match fold {
        Fold::Min(text) | Fold::Max(text) => *text,
        _ => TextOrder::NoText,
    };
    let mut texts: Vec<_> = plan.folds.iter().map(of_fold).collect();
    for key in plan.keys.iter().chain(&plan.distinct) {
        texts[key.column] = key.text;
    }
    texts
}
