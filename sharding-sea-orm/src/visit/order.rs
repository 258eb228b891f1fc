//! What ORDER BY sorts by.

use sea_orm::DbBackend;
use sea_orm::sea_query::{ColumnRef, Expr, NullOrdering, Order, SelectExpr};
use sharding_core::plan::{Direction, Item, Nulls, OrderKey, Proof, SelectShape, TextOrder};

use super::dissect::OrderPart;
use super::expr::each_part;
use super::route::column_of;
use super::selection::Selection;
use super::shape::Reader;
use super::tree::{Reads, Use};
use crate::shards::Sharded;

/// What a key of ORDER BY is.
pub(super) enum Target {
    Item(usize),
    Hidden,
    Unknown,
}

impl Reader<'_, '_> {
    pub(super) fn note_order(&self, shape: &SelectShape, selection: &mut Selection) {
        let shown = self.block.parts.items.iter().map(|item| &item.expr);
        let exprs: Vec<&Expr> = shown.chain(&selection.hidden).collect();
        let column = |key: &OrderKey| self.never_optional(exprs.get(key.item?)?);
        let columns: Vec<Option<(&Sharded<'_>, String)>> = shape.order.iter().map(column).collect();
        let first = columns.first().and_then(Option::as_ref);
        let first_order = first.map(|(sharded, column)| (sharded.at, column.clone()));
        let is_total = match self.block.uses.as_slice() {
            [
                Use {
                    reads: Reads::Table(sharded),
                    ..
                },
            ] => sharded.entity.unique_keys.last().is_some_and(|primary| {
                let known = |name: &String| columns.iter().flatten().any(|(_, own)| own == name);
                !primary.is_empty() && primary.iter().all(known)
            }),
            _ => false,
        };
        selection.first_order = first_order;
        selection.is_total = is_total;
    }

    pub(super) fn order_key(
        &self,
        key: &OrderPart,
        item: Option<usize>,
        proof: Option<Proof>,
    ) -> OrderKey {
        let descending = matches!(key.order, Some(Order::Desc));
        // PostgreSQL takes NULL for larger than every value, the others for smaller.
        let nulls_first = match key.nulls {
            Some(NullOrdering::First) => true,
            Some(NullOrdering::Last) => false,
            None => (self.shards.backend == DbBackend::Postgres) == descending,
        };
        OrderKey {
            item,
            direction: if descending {
                Direction::Descending
            } else {
                Direction::Ascending
            },
            nulls: if nulls_first {
                Nulls::First
            } else {
                Nulls::Last
            },
            proof: proof.unwrap_or(Proof::Unproven("cannot be selected".into())),
        }
    }

    pub(super) fn order_proof(&self, item: &Item) -> Proof {
        match item {
            Item::Row(row) => row.proof.clone(),
            // What SQLite computes is sorted by bytes, whatever it is computed from.
            Item::Aggregate(_) if self.shards.backend == DbBackend::Sqlite => {
                Proof::Proven(TextOrder::Bytes)
            }
            Item::Aggregate(aggregate) => aggregate.order(),
            Item::Compound(_) => Proof::Checked("is computed".into()),
            Item::Star | Item::Opaque => Proof::Unproven("is computed".into()),
        }
    }

    /// An alias of the select list hides a column of the same name; otherwise a selected
    /// expression is meant if it is the same.
    pub(super) fn order_target(&self, key: &OrderPart) -> Target {
        if key.order.is_none() {
            return Target::Unknown;
        }
        let items = &self.block.parts.items;
        let has_star = |items: &[SelectExpr]| {
            items
                .iter()
                .any(|item| matches!(item.expr, Expr::Column(ColumnRef::Asterisk(_))))
        };
        if let Some(at) = ordinal(&key.expr) {
            let known = items.get(..at).is_some_and(|before| !has_star(before)) && at < items.len();
            return if known {
                Target::Item(at)
            } else {
                Target::Unknown
            };
        }
        let is_alias = |name: &str| {
            items
                .iter()
                .position(|item| item.alias.as_ref().is_some_and(|own| own.inner() == name))
        };
        if let Some((None, name)) = column_of(&key.expr)
            && let Some(at) = is_alias(&name)
        {
            return Target::Item(at);
        }
        let text = self.text(&key.expr);
        let same = |item: &SelectExpr| item.window.is_none() && self.text(&item.expr) == text;
        if let Some(at) = items.iter().position(same) {
            return Target::Item(at);
        }
        // Names of a set operation are those of its first part.
        if let (false, Some((None, name))) = (self.block.branches.is_empty(), column_of(&key.expr))
        {
            let named = |item: &SelectExpr| {
                item.alias.is_none() && column_of(&item.expr).is_some_and(|own| own.1 == name)
            };
            return items
                .iter()
                .position(named)
                .map_or(Target::Unknown, Target::Item);
        }
        if mentions(&key.expr, &|name| is_alias(name).is_some()) {
            return Target::Unknown;
        }
        Target::Hidden
    }
}

/// Whether an expression names a column without a table for which this holds.
fn mentions(expr: &Expr, is: &dyn Fn(&str) -> bool) -> bool {
    if let Some((None, name)) = column_of(expr) {
        return is(&name);
    }
    let mut found = matches!(expr, Expr::Custom(_) | Expr::CustomWithExpr(..));
    each_part(expr, &mut |part| found |= mentions(part, is));
    found
}

/// The position of an item that is named by its number.
pub(super) fn ordinal(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Custom(text) => text.trim().parse::<usize>().ok()?.checked_sub(1),
        _ => None,
    }
}
