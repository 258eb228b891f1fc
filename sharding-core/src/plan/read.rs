use super::groups::{GroupPlan, plan_groups};
use super::{
    Clause, Direction, Item, Nulls, OrderKey, Page, Proof, RowItem, SelectShape, TextOrder,
};

/// How far a statement reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// One node (also when no row can match: then any one node gives the well-formed answer).
    OneNode,
    /// Several nodes of one data source.
    OneSource,
    /// Nodes of several data sources.
    ManySources,
}

/// How a SELECT is answered, and so the rung of the ladder it stands on.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadPlan {
    /// One node answers; its rows pass through untouched.
    Pass,
    /// Every unit answers for its rows, and the answers are merged.
    Merge {
        /// How.
        merge: Merge,
        /// The page that is cut from the merged rows.
        page: Page,
        /// Whether the units select hidden items after the statement's own, which are stripped
        /// from the merged rows.
        strips: bool,
    },
    /// The database answers over the union of the physical tables; the clause is what kept the
    /// statement from being merged.
    Union(Clause),
}

/// How rows of several units are put together.
#[derive(Clone, Debug, PartialEq)]
pub enum Merge {
    /// One unit after the other, in their order.
    Concatenate,
    /// By the order in which every unit sorted its rows; equal rows in the order of the units.
    Order(Vec<SortKey>),
    /// By an order that ends with all items, so that equal rows meet, of which one is kept.
    Distinct(Vec<SortKey>),
    /// Groups and aggregates.
    Groups(GroupPlan),
}

/// One column by which rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The column's position in the rows.
    pub column: usize,
    /// The direction.
    pub direction: Direction,
    /// Where NULLs go.
    pub nulls: Nulls,
    /// How text compares.
    pub text: TextOrder,
}

/// Climbs the ladder for a SELECT.
///
/// # Errors
/// The clause that cannot be answered exactly over this reach.
pub fn plan_read(mut shape: SelectShape, reach: Reach) -> Result<ReadPlan, Clause> {
    match reach {
        Reach::OneNode => Ok(ReadPlan::Pass),
        Reach::ManySources => decompose(&shape),
        Reach::OneSource => {
            // A union needs neither checks nor a second look at rows.
            shape.without_checks();
            match decompose(&shape) {
                Ok(ReadPlan::Merge { strips: true, .. }) if !shape.locks => {
                    Ok(ReadPlan::Union(Clause::OrderNotSelected))
                }
                Err(clause) if !shape.locks => Ok(ReadPlan::Union(clause)),
                outcome => outcome,
            }
        }
    }
}

fn decompose(shape: &SelectShape) -> Result<ReadPlan, Clause> {
    if let Some(clause) = shape.obstacles.first() {
        return Err(clause.clone());
    }
    // Each node would lock the rows of a whole page.
    if shape.locks && !shape.page.is_everything() {
        return Err(Clause::LockWithLimit);
    }
    let merge = if shape.is_grouped() {
        Merge::Groups(plan_groups(shape)?)
    } else if shape.distinct {
        plan_distinct(shape).map(Merge::Distinct)?
    } else {
        plan_rows(shape)?
    };
    let strips = match &merge {
        Merge::Order(keys) => keys.iter().any(|key| key.column >= shape.visible),
        _ => false,
    };
    Ok(ReadPlan::Merge {
        merge,
        page: shape.page,
        strips,
    })
}

fn plan_rows(shape: &SelectShape) -> Result<Merge, Clause> {
    if shape.items.contains(&Item::Opaque) {
        return Err(Clause::SelectItem);
    }
    if shape.order.is_empty() {
        return Ok(Merge::Concatenate);
    }
    if shape.items.contains(&Item::Star) {
        return Err(Clause::SelectItem);
    }
    let keys = shape.order.iter().map(OrderKey::sort);
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    // Only a statement for each row could strip what was selected for the order.
    let is_hidden = |key: &SortKey| key.column >= shape.visible;
    if keys.iter().any(is_hidden) && shape.locks {
        return Err(Clause::OrderNotSelected);
    }
    Ok(Merge::Order(keys))
}

/// Sorted by all items, with those of ORDER BY first, equal rows of the units meet.
fn plan_distinct(shape: &SelectShape) -> Result<Vec<SortKey>, Clause> {
    let keys = shape.order.iter().map(OrderKey::sort);
    let mut keys = keys.collect::<Result<Vec<_>, _>>()?;
    if keys.iter().any(|key| key.column >= shape.visible) {
        return Err(Clause::OrderNotSelected);
    }
    for (column, item) in shape.items[..shape.visible].iter().enumerate() {
        let Item::Row(RowItem { proof, .. }) = item else {
            return Err(Clause::Distinct);
        };
        let text = proof
            .text()
            .map_err(|why| Clause::DistinctUnproven(why.to_owned()))?;
        if keys.iter().all(|key| key.column != column) {
            keys.push(SortKey {
                column,
                direction: Direction::Ascending,
                nulls: Nulls::First,
                text,
            });
        }
    }
    Ok(keys)
}

impl SelectShape {
    /// Whether rows are combined to groups, or all to one.
    pub fn is_grouped(&self) -> bool {
        let combines = |item: &Item| matches!(item, Item::Aggregate(_) | Item::Compound(_));
        !self.group.is_empty() || self.having.is_some() || self.items.iter().any(combines)
    }

    fn without_checks(&mut self) {
        for item in &mut self.items {
            match item {
                Item::Row(item) => item.proof.without_checks(),
                Item::Aggregate(aggregate) => aggregate.without_checks(),
                Item::Compound(pieces) => {
                    for piece in pieces {
                        if let super::Piece::Aggregate(aggregate) = piece {
                            aggregate.without_checks();
                        }
                    }
                }
                Item::Star | Item::Opaque => {}
            }
        }
        let keys = self.group.iter_mut().map(|key| &mut key.proof);
        keys.chain(self.order.iter_mut().map(|key| &mut key.proof))
            .for_each(Proof::without_checks);
    }
}

impl super::Aggregate {
    fn without_checks(&mut self) {
        self.proof.without_checks();
        if let Some(argument) = &mut self.distinct {
            argument.proof.without_checks();
        }
    }
}

impl OrderKey {
    fn sort(&self) -> Result<SortKey, Clause> {
        self.sort_by(self.item.ok_or(Clause::OrderExpression)?)
    }

    pub(super) fn sort_by(&self, column: usize) -> Result<SortKey, Clause> {
        let text = self.proof.text();
        Ok(SortKey {
            column,
            direction: self.direction,
            nulls: self.nulls,
            text: text.map_err(|why| Clause::OrderUnproven(why.to_owned()))?,
        })
    }
}

#[cfg(test)]
mod tests;
