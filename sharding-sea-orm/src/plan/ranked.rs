use sharding_core::plan::{Clause, Fold, Merge, Partial, ReadPlan, SortKey, TextOrder};

use crate::catalog::Ranking;
use crate::visit::Selection;

/// The columns of the units' rows that have to be ranked.
pub(super) fn ranked(
    plan: &ReadPlan,
    selection: &Selection,
) -> Result<Vec<(usize, Ranking)>, Clause> {
    let ReadPlan::Merge { merge, .. } = plan else {
        return Ok(Vec::new());
    };
    let is_ranked = |key: &&SortKey| key.text == TextOrder::Ranked;
    let columns: Vec<usize> = match merge {
        Merge::Concatenate => Vec::new(),
        Merge::Order(keys) | Merge::Distinct(keys) => keys
            .iter()
            .filter(is_ranked)
            .map(|key| key.column)
            .collect(),
        Merge::Groups(groups) => {
            let keys = groups.keys.iter().chain(&groups.distinct).filter(is_ranked);
            let folds = groups.folds.iter().enumerate().filter_map(|(at, fold)| {
                let ranks = [Fold::Min(TextOrder::Ranked), Fold::Max(TextOrder::Ranked)];
                ranks.contains(fold).then_some(at)
            });
            keys.map(|key| key.column).chain(folds).collect()
        }
    };
    let ranking = |column: usize| {
        let ranking = match merge {
            Merge::Groups(groups) => match groups.partials[column] {
                Partial::Item(item) => selection.rankings.get(item).cloned().flatten(),
                Partial::Key(key) => selection.key_rankings.get(key).cloned().flatten(),
                Partial::Piece { item, piece, .. } => {
                    selection.made[item].rankings.get(piece).cloned().flatten()
                }
            },
            _ => selection.rankings.get(column).cloned().flatten(),
        };
        let unknown = || Clause::OrderUnproven("is text under an unknown collation".into());
        Ok((column, ranking.ok_or_else(unknown)?))
    };
    columns.into_iter().map(ranking).collect()
}
