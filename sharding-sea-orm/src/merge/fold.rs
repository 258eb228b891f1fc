use futures_util::StreamExt;
use sea_orm::{DbErr, QueryResult};
use sharding_core::merge::{ByKeys, Datum, GroupMerger, Tournament};
use sharding_core::plan::{Fold, GroupPlan, SortKey, TextOrder};

use super::Ranks;
use super::order::read;
use crate::dialect;
use crate::error::ShardingError;
use crate::execute::{HeldRows, RowStream};

/// The columns of partial rows.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    /// Their names.
    pub(crate) names: Vec<String>,
    /// The database's names of their types.
    pub(crate) types: Vec<String>,
}

/// The partial rows that were kept, folded with those of sorted streams. One row of each stream is
/// held beside the groups.
pub(crate) async fn fold_streams(
    plan: &GroupPlan,
    kept: Vec<Vec<Datum>>,
    mut streams: Vec<RowStream<'_>>,
    ranks: &Ranks,
    columns: &mut Option<Columns>,
    held: &mut HeldRows,
) -> Result<Vec<Vec<Datum>>, DbErr> {
    let mut kept = kept.into_iter();
    let texts = texts(plan);
    let mut heads = vec![kept.next()];
    for row in futures_util::future::join_all(streams.iter_mut().map(StreamExt::next)).await {
        let row = row.transpose()?;
        if let (Some(row), None) = (&row, &columns) {
            *columns = Some(columns_of(plan, row));
        }
        heads.push(values(row.as_ref(), &texts, ranks)?);
    }
    let mut folding = Folding::new(plan, heads);
    while let Some(winner) = folding.tree.winner() {
        let next = match winner.checked_sub(1) {
            None => kept.next(),
            Some(stream) => {
                let row = streams[stream].next().await.transpose()?;
                values(row.as_ref(), &texts, ranks)?
            }
        };
        folding.go_on(next)?;
        held.are(folding.groups.len() + kept.len());
    }
    let groups = folding.finish();
    held.are(groups.len());
    Ok(groups)
}

/// Sorted inputs of partial rows, folded.
pub(crate) fn fold(
    plan: &GroupPlan,
    inputs: Vec<Vec<Vec<Datum>>>,
) -> Result<Vec<Vec<Datum>>, ShardingError> {
    let mut inputs: Vec<_> = inputs.into_iter().map(Vec::into_iter).collect();
    let heads = inputs.iter_mut().map(Iterator::next).collect();
    let mut folding = Folding::new(plan, heads);
    while let Some(winner) = folding.tree.winner() {
        folding.go_on(inputs[winner].next())?;
    }
    Ok(folding.finish())
}

/// Partial rows on their way to groups.
struct Folding<'p> {
    tree: Tournament<Vec<Datum>, ByKeys>,
    merger: GroupMerger<'p>,
    /// Those that are complete.
    groups: Vec<Vec<Datum>>,
}

impl<'p> Folding<'p> {
    fn new(plan: &'p GroupPlan, heads: Vec<Option<Vec<Datum>>>) -> Self {
        Self {
            tree: Tournament::new(heads, ByKeys(sort_keys(plan))),
            merger: GroupMerger::new(plan),
            groups: Vec::new(),
        }
    }

    /// Folds the first row, whose input has this one next.
    fn go_on(&mut self, next: Option<Vec<Datum>>) -> Result<(), ShardingError> {
        let row = self.tree.replace(next)?;
        self.groups.extend(self.merger.push(row)?);
        Ok(())
    }

    fn finish(mut self) -> Vec<Vec<Datum>> {
        self.groups.extend(self.merger.finish());
        self.groups
    }
}

/// The values of rows that are there already.
pub(crate) fn partials(
    plan: &GroupPlan,
    rows: &[QueryResult],
    ranks: &Ranks,
) -> Result<Vec<Vec<Datum>>, ShardingError> {
    let texts = texts(plan);
    let values = |row| values(Some(row), &texts, ranks);
    rows.iter()
        .filter_map(|row| values(row).transpose())
        .collect()
}

/// The columns of a partial row.
pub(crate) fn columns_of(plan: &GroupPlan, row: &QueryResult) -> Columns {
    let types = (0..plan.partials.len()).map(|at| dialect::type_name(row, at));
    Columns {
        names: row.column_names(),
        types: types.collect(),
    }
}

fn values(
    row: Option<&QueryResult>,
    texts: &[TextOrder],
    ranks: &Ranks,
) -> Result<Option<Vec<Datum>>, ShardingError> {
    let Some(row) = row else { return Ok(None) };
    let values = texts.iter().enumerate();
    let values = values.map(|(at, text)| read(row, at, *text, ranks));
    values.collect::<Result<_, _>>().map(Some)
}

fn sort_keys(plan: &GroupPlan) -> Vec<SortKey> {
    plan.keys.iter().chain(&plan.distinct).copied().collect()
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
