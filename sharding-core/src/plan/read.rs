use super::groups::{GroupPlan, plan_groups};
use super::{
    Clause, Direction, Item, Nulls, OrderKey, OrderTarget, Page, Proof, SelectShape, TextOrder,
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
    /// Every node answers for its rows, and the answers are merged.
    Merge {
        /// How.
        merge: Merge,
        /// The page that is cut from the merged rows.
        page: Page,
    },
    /// The database answers over the union of the physical tables; the clause is what kept the
    /// statement from being merged.
    Union(Clause),
}

/// How rows of several nodes are put together.
#[derive(Clone, Debug, PartialEq)]
pub enum Merge {
    /// One node after the other, in the order of the nodes.
    Concatenate,
    /// By the order in which every node sorted its rows; equal rows in the order of the nodes.
    Order(Vec<SortKey>),
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
pub fn plan_read(shape: &SelectShape, reach: Reach) -> Result<ReadPlan, Clause> {
    if reach == Reach::OneNode {
        return Ok(ReadPlan::Pass);
    }
    match (decompose(shape), reach) {
        (Ok(merge), _) => Ok(ReadPlan::Merge {
            merge,
            page: shape.page,
        }),
        (Err(clause), Reach::OneSource) if !shape.locks => Ok(ReadPlan::Union(clause)),
        (Err(clause), _) => Err(clause),
    }
}

fn decompose(shape: &SelectShape) -> Result<Merge, Clause> {
    if let Some(clause) = shape.obstacles.first() {
        return Err(clause.clone());
    }
    // Each node would lock the rows of a whole page.
    if shape.locks && !shape.page.is_everything() {
        return Err(Clause::LockWithLimit);
    }
    let is_aggregate = |item: &Item| matches!(item, Item::Aggregate(_));
    if !shape.group.is_empty() || shape.items.iter().any(is_aggregate) {
        return plan_groups(shape).map(Merge::Groups);
    }
    if shape.items.contains(&Item::Opaque) {
        return Err(Clause::SelectItem);
    }
    if shape.order.is_empty() {
        return Ok(Merge::Concatenate);
    }
    if shape.items.contains(&Item::Star) {
        return Err(Clause::SelectItem);
    }
    let keys = shape.order.iter().map(|key| match &key.target {
        OrderTarget::Item(column) => key.sort_by(*column),
        OrderTarget::Column(name) => Err(Clause::OrderNotSelected(name.clone())),
        OrderTarget::Expression => Err(Clause::OrderExpression),
    });
    keys.collect::<Result<_, _>>().map(Merge::Order)
}

impl OrderKey {
    pub(super) fn sort_by(&self, column: usize) -> Result<SortKey, Clause> {
        match &self.proof {
            Proof::Proven(text) => Ok(SortKey {
                column,
                direction: self.direction,
                nulls: self.nulls,
                text: *text,
            }),
            Proof::Unproven(why) => Err(Clause::OrderUnproven(why.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Aggregate, Fold, Function, GroupKey, Output, Partial};

    fn proven() -> Proof {
        Proof::Proven(TextOrder::Bytes)
    }

    fn aggregate(function: Function) -> Item {
        Item::Aggregate(Aggregate {
            function,
            proof: proven(),
        })
    }

    fn by(target: OrderTarget) -> OrderKey {
        let (direction, nulls) = (Direction::Descending, Nulls::Last);
        OrderKey {
            target,
            direction,
            nulls,
            proof: proven(),
        }
    }

    fn rows() -> SelectShape {
        SelectShape {
            items: vec![Item::Column("a".into()), Item::Scalar],
            ..SelectShape::default()
        }
    }

    fn merge(shape: &SelectShape) -> Result<Merge, Clause> {
        let plan = plan_read(shape, Reach::ManySources)?;
        match plan {
            ReadPlan::Merge { merge, .. } => Ok(merge),
            other => panic!("{other:?} over several data sources"),
        }
    }

    #[test]
    fn rows_are_concatenated_or_merged_in_order() {
        assert_eq!(merge(&rows()), Ok(Merge::Concatenate));
        let ordered = SelectShape {
            order: vec![by(OrderTarget::Item(1))],
            ..rows()
        };
        assert!(matches!(merge(&ordered), Ok(Merge::Order(keys)) if keys[0].column == 1));
    }

    #[test]
    fn averages_come_from_sums_and_counts() {
        let shape = SelectShape {
            items: vec![aggregate(Function::Avg), Item::Column("a".into())],
            group: vec![
                GroupKey {
                    column: Some("a".into()),
                    proof: proven(),
                },
                GroupKey {
                    column: Some("b".into()),
                    proof: proven(),
                },
            ],
            order: vec![by(OrderTarget::Column("b".into()))],
            ..SelectShape::default()
        };
        let Ok(Merge::Groups(plan)) = merge(&shape) else {
            panic!("no groups")
        };
        let partials = [
            Partial::SumOf(0),
            Partial::CountOf(0),
            Partial::Item(1),
            Partial::Key(1),
        ];
        assert_eq!(plan.partials, partials);
        assert_eq!(plan.folds, [Fold::Sum, Fold::Sum, Fold::First, Fold::First]);
        assert_eq!(
            plan.outputs,
            [Output::Quotient { sum: 0, count: 1 }, Output::Partial(2)]
        );
        assert_eq!(
            plan.keys.iter().map(|key| key.column).collect::<Vec<_>>(),
            [2, 3]
        );
        assert_eq!(plan.order[0].column, 3);
    }

    #[test]
    fn what_does_not_decompose_climbs_or_is_refused() {
        let collated = "is text under the collation `de`";
        let cases = [
            (
                SelectShape {
                    obstacles: vec![Clause::Having],
                    ..rows()
                },
                Clause::Having,
            ),
            (
                SelectShape {
                    items: vec![Item::Opaque],
                    ..SelectShape::default()
                },
                Clause::SelectItem,
            ),
            (
                SelectShape {
                    items: vec![Item::Star, Item::Scalar],
                    order: vec![by(OrderTarget::Item(1))],
                    ..SelectShape::default()
                },
                Clause::SelectItem,
            ),
            (
                SelectShape {
                    order: vec![by(OrderTarget::Column("b".into()))],
                    ..rows()
                },
                Clause::OrderNotSelected("b".into()),
            ),
            (
                SelectShape {
                    order: vec![OrderKey {
                        proof: Proof::Unproven(collated.into()),
                        ..by(OrderTarget::Item(0))
                    }],
                    ..rows()
                },
                Clause::OrderUnproven(collated.into()),
            ),
            (
                SelectShape {
                    items: vec![aggregate(Function::Count), Item::Column("a".into())],
                    ..SelectShape::default()
                },
                Clause::UngroupedColumn("a".into()),
            ),
            (
                SelectShape {
                    items: vec![aggregate(Function::Avg)],
                    order: vec![by(OrderTarget::Item(0))],
                    ..SelectShape::default()
                },
                Clause::OrderExpression,
            ),
        ];
        for (shape, clause) in cases {
            assert_eq!(plan_read(&shape, Reach::OneNode), Ok(ReadPlan::Pass));
            let union = ReadPlan::Union(clause.clone());
            assert_eq!(plan_read(&shape, Reach::OneSource), Ok(union));
            assert_eq!(plan_read(&shape, Reach::ManySources), Err(clause));
        }
    }

    #[test]
    fn locks_never_climb() {
        let page = Page {
            offset: 0,
            limit: Some(1),
        };
        let locked = SelectShape {
            locks: true,
            page,
            ..rows()
        };
        assert_eq!(
            plan_read(&locked, Reach::OneSource),
            Err(Clause::LockWithLimit)
        );
        let locked = SelectShape {
            locks: true,
            ..rows()
        };
        assert_eq!(merge(&locked), Ok(Merge::Concatenate));
    }
}
