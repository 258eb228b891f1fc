use sea_orm::{DbBackend, DbErr, QueryResult};
use sharding_core::merge::{Datum, PageCutter, compare_rows};
use sharding_core::plan::{GroupPlan, Output, Page, SortKey, TextOrder};

use super::Ranks;
use super::fold::Columns;
use super::order::read;
use super::shape::shape;
use crate::dialect::{Shape, ShapedColumn};
use crate::error::ShardingError;
use crate::execute::Session;
use crate::plan::{Computed, PlannedRead};

/// The rows of folded groups, made by the database itself, from the columns of their partials;
/// `None` if there were no partials.
pub(crate) async fn merge_groups(
    session: Session<'_>,
    planned: &PlannedRead,
    plan: &GroupPlan,
    page: Page,
    groups: Vec<Vec<Datum>>,
    columns: Option<Columns>,
) -> Result<Vec<QueryResult>, DbErr> {
    let Some(computed) = &planned.computed else {
        return Err(ShardingError::Unexpected("groups were merged that were not planned").into());
    };
    let Some(columns) = columns else {
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
        columns,
    };
    let mut groups = maker.kept_in_order(groups).await?;
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
    /// Those of the partials.
    columns: Columns,
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
                    .and_then(|partial| self.columns.names.get(partial).cloned())
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
            types: self.columns.types.clone(),
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
