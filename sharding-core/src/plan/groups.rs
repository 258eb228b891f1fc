use super::{
    Clause, Direction, Function, GroupKey, Item, Nulls, OrderKey, OrderTarget, Proof, SelectShape,
    SortKey, TextOrder,
};

/// How groups and aggregates of several nodes are combined.
///
/// Each node answers with the partials, sorted by the group keys; rows with equal keys are folded
/// into one; the outputs are what the statement selects.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupPlan {
    /// What each node selects.
    pub partials: Vec<Partial>,
    /// How each partial is folded: one for each.
    pub folds: Vec<Fold>,
    /// The order in which each node sorts its groups: positions among the partials. Empty if the
    /// statement has no GROUP BY; then there is one group, also without any row.
    pub keys: Vec<SortKey>,
    /// What the statement selects.
    pub outputs: Vec<Output>,
    /// The order of the final rows: positions among the partials.
    pub order: Vec<SortKey>,
}

/// One column of what a node selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partial {
    /// The item of the select list, as it stands.
    Item(usize),
    /// SUM of the argument of the item, which is an AVG.
    SumOf(usize),
    /// COUNT of the argument of the item, which is an AVG.
    CountOf(usize),
    /// A group key that is not selected.
    Key(usize),
}

/// How the values of a partial are folded over the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// They are equal: the first one stands for all.
    First,
    /// They are added; NULLs do not count; without values the outcome is NULL.
    Sum,
    /// The smallest, NULLs aside.
    Min(TextOrder),
    /// The largest, NULLs aside.
    Max(TextOrder),
}

/// One column of the final rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A partial, by position.
    Partial(usize),
    /// One partial divided by another, by the database's own rules.
    Quotient {
        /// The position of the sum.
        sum: usize,
        /// The position of the count.
        count: usize,
    },
}

impl Output {
    /// The position of the first partial that it comes from.
    pub fn first(self) -> usize {
        match self {
            Self::Partial(at) | Self::Quotient { sum: at, .. } => at,
        }
    }
}

/// Plans a statement with GROUP BY or aggregates.
pub(super) fn plan_groups(shape: &SelectShape) -> Result<GroupPlan, Clause> {
    let mut plan = GroupPlan {
        partials: Vec::new(),
        folds: Vec::new(),
        keys: Vec::new(),
        outputs: Vec::new(),
        order: Vec::new(),
    };
    for (at, item) in shape.items.iter().enumerate() {
        let output = match item {
            Item::Column(column) => {
                if !shape
                    .group
                    .iter()
                    .any(|key| key.column.as_ref() == Some(column))
                {
                    return Err(Clause::UngroupedColumn(column.clone()));
                }
                Output::Partial(plan.add(Partial::Item(at), Fold::First))
            }
            Item::Aggregate(aggregate) => match (aggregate.function, &aggregate.proof) {
                (Function::Count, _) => Output::Partial(plan.add(Partial::Item(at), Fold::Sum)),
                (_, Proof::Unproven(why)) => return Err(Clause::AggregateArgument(why.clone())),
                (Function::Sum, _) => Output::Partial(plan.add(Partial::Item(at), Fold::Sum)),
                (Function::Min, Proof::Proven(text)) => {
                    Output::Partial(plan.add(Partial::Item(at), Fold::Min(*text)))
                }
                (Function::Max, Proof::Proven(text)) => {
                    Output::Partial(plan.add(Partial::Item(at), Fold::Max(*text)))
                }
                (Function::Avg, _) => Output::Quotient {
                    sum: plan.add(Partial::SumOf(at), Fold::Sum),
                    count: plan.add(Partial::CountOf(at), Fold::Sum),
                },
            },
            Item::Scalar | Item::Star | Item::Opaque => return Err(Clause::SelectItem),
        };
        plan.outputs.push(output);
    }
    for (at, key) in shape.group.iter().enumerate() {
        let sort = plan.group_key(shape, at, key)?;
        plan.keys.push(sort);
    }
    plan.order = shape
        .order
        .iter()
        .map(|key| plan.order_key(shape, key))
        .collect::<Result<_, _>>()?;
    Ok(plan)
}

impl GroupPlan {
    fn add(&mut self, partial: Partial, fold: Fold) -> usize {
        self.partials.push(partial);
        self.folds.push(fold);
        self.partials.len() - 1
    }

    fn group_key(
        &mut self,
        shape: &SelectShape,
        at: usize,
        key: &GroupKey,
    ) -> Result<SortKey, Clause> {
        let column = key.column.as_ref().ok_or(Clause::GroupExpression)?;
        let text = match &key.proof {
            Proof::Proven(text) => *text,
            Proof::Unproven(why) => return Err(Clause::GroupOrder(why.clone())),
        };
        let selected = |item: &Item| matches!(item, Item::Column(name) if name == column);
        let column = match shape.items.iter().position(selected) {
            Some(item) => self.of_item(item),
            None => None,
        };
        let column = column.unwrap_or_else(|| self.add(Partial::Key(at), Fold::First));
        Ok(SortKey {
            column,
            direction: Direction::Ascending,
            nulls: Nulls::First,
            text,
        })
    }

    fn order_key(&self, shape: &SelectShape, key: &OrderKey) -> Result<SortKey, Clause> {
        let column = match &key.target {
            OrderTarget::Item(item) => match self.outputs.get(*item) {
                Some(Output::Partial(column)) => *column,
                // A quotient is rounded by the database, so only the database knows its order.
                _ => return Err(Clause::OrderExpression),
            },
            OrderTarget::Column(name) => {
                let named = |key: &GroupKey| key.column.as_ref() == Some(name);
                match shape.group.iter().position(named) {
                    Some(at) => self.keys[at].column,
                    None => return Err(Clause::OrderNotSelected(name.clone())),
                }
            }
            OrderTarget::Expression => return Err(Clause::OrderExpression),
        };
        key.sort_by(column)
    }

    /// The partial that is the item itself.
    fn of_item(&self, item: usize) -> Option<usize> {
        self.partials
            .iter()
            .position(|partial| *partial == Partial::Item(item))
    }
}
