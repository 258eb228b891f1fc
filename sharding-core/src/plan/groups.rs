use super::{
    Aggregate, Clause, Direction, Function, Item, Nulls, OrderKey, Piece, RowItem, SelectShape,
    SortKey, TextOrder,
};

/// How groups and aggregates of several units are combined.
///
/// Each unit answers with the partials, sorted by the group keys; rows with equal keys are folded
/// into one; the outputs are what the statement selects.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupPlan {
    /// What each unit selects.
    pub partials: Vec<Partial>,
    /// How each partial is folded: one for each.
    pub folds: Vec<Fold>,
    /// The order in which each unit sorts its groups: positions among the partials. Empty if the
    /// statement has no GROUP BY; then there is one group, also without any row.
    pub keys: Vec<SortKey>,
    /// The argument of DISTINCT aggregates, a position among the partials: units group and sort by
    /// it, too, after the keys.
    pub distinct: Option<SortKey>,
    /// What the statement selects, and after it the hidden items.
    pub outputs: Vec<Output>,
    /// How many outputs are the statement's own.
    pub visible: usize,
    /// The output that says whether a group is kept.
    pub having: Option<usize>,
    /// The order of the final rows: positions among the outputs.
    pub order: Vec<SortKey>,
}

impl GroupPlan {
    /// How partial rows of some units become partial rows of them all, before they are folded with
    /// those of others: what DISTINCT aggregates tell apart stays apart.
    #[must_use]
    pub fn of_partials(&self) -> Self {
        let fold = |fold: &Fold| match fold {
            Fold::SumOnce => Fold::First,
            fold => *fold,
        };
        Self {
            folds: self.folds.iter().map(fold).collect(),
            keys: self.keys.iter().chain(&self.distinct).copied().collect(),
            distinct: None,
            ..self.clone()
        }
    }
}

/// One column of what a unit selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partial {
    /// The item of the select list, as it stands.
    Item(usize),
    /// A group key that is not an item.
    Key(usize),
    /// A piece of an item that is an expression, or the one piece of an item that is an aggregate.
    Piece {
        /// The item.
        item: usize,
        /// The piece, by its position among the item's pieces.
        piece: usize,
        /// What of it.
        part: Part,
    },
}

/// What a unit computes of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The aggregate as it stands.
    Whole,
    /// SUM of its argument.
    Sum,
    /// COUNT of its argument.
    Count,
    /// Its argument, by which the unit groups.
    Argument,
}

/// How the values of a partial are folded over the units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// They are equal: the first one stands for all.
    First,
    /// They are added; NULLs do not count; without values the outcome is NULL.
    Sum,
    /// They are added, but only once for each distinct argument.
    SumOnce,
    /// The smallest, NULLs aside.
    Min(TextOrder),
    /// The largest, NULLs aside.
    Max(TextOrder),
    /// The bits that all have, NULLs aside.
    BitAnd,
    /// The bits that any has, NULLs aside.
    BitOr,
}

/// One column of the final rows.
#[derive(Clone, Debug, PartialEq)]
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
    /// An expression, of which these are the pieces.
    Compound(Vec<Output>),
}

impl Output {
    /// The position of the first partial that it comes from.
    pub fn first(&self) -> Option<usize> {
        match self {
            Self::Partial(at) | Self::Quotient { sum: at, .. } => Some(*at),
            Self::Compound(pieces) => pieces.first().and_then(Self::first),
        }
    }
}

/// Plans a statement with GROUP BY or aggregates.
pub(super) fn plan_groups(shape: &SelectShape) -> Result<GroupPlan, Clause> {
    if shape.distinct {
        return Err(Clause::Distinct);
    }
    let mut plan = GroupPlan {
        partials: Vec::new(),
        folds: Vec::new(),
        keys: Vec::new(),
        distinct: None,
        outputs: Vec::new(),
        visible: shape.visible,
        having: shape.having,
        order: Vec::new(),
    };
    let mut argument: Option<(RowItem, usize)> = None;
    for (item, shown) in shape.items.iter().enumerate() {
        let output = match shown {
            Item::Row(row) => {
                let is_key = shape.group.iter().any(|key| key.text == row.text);
                if !is_key {
                    return Err(Clause::UngroupedColumn(row.text.clone()));
                }
                Output::Partial(plan.add(Partial::Item(item), Fold::First))
            }
            Item::Aggregate(aggregate) => {
                plan.aggregate(aggregate, item, 0, Whole::Item, &mut argument)?
            }
            Item::Compound(pieces) => {
                let mut outputs = Vec::with_capacity(pieces.len());
                for (piece, of) in pieces.iter().enumerate() {
                    outputs.push(match of {
                        Piece::Key(text) => Output::Partial(plan.key(shape, text)?),
                        Piece::Aggregate(aggregate) => {
                            plan.aggregate(aggregate, item, piece, Whole::Piece, &mut argument)?
                        }
                    });
                }
                Output::Compound(outputs)
            }
            Item::Star | Item::Opaque => return Err(Clause::SelectItem),
        };
        plan.outputs.push(output);
    }
    for key in &shape.group {
        let column = plan.key(shape, &key.text)?;
        let text = key.proof.text();
        plan.keys.push(ascending(
            column,
            text.map_err(|why| Clause::GroupOrder(why.to_owned()))?,
        ));
    }
    plan.order = shape
        .order
        .iter()
        .map(|key: &OrderKey| key.sort_by(key.item.ok_or(Clause::OrderExpression)?))
        .collect::<Result<_, _>>()?;
    Ok(plan)
}

/// What an aggregate that units compute as it stands is to them.
#[derive(Clone, Copy)]
enum Whole {
    Item,
    Piece,
}

impl GroupPlan {
    fn add(&mut self, partial: Partial, fold: Fold) -> usize {
        if let Some(at) = self.partials.iter().position(|own| *own == partial) {
            return at;
        }
        self.partials.push(partial);
        self.folds.push(fold);
        self.partials.len() - 1
    }

    /// The partial of a group key.
    fn key(&mut self, shape: &SelectShape, text: &str) -> Result<usize, Clause> {
        let is_item = |item: &Item| matches!(item, Item::Row(row) if row.text == text);
        let at = shape.group.iter().position(|key| key.text == text);
        let at = at.ok_or_else(|| Clause::UngroupedColumn(text.to_owned()))?;
        Ok(match shape.items.iter().position(is_item) {
            Some(item) => self.add(Partial::Item(item), Fold::First),
            None => self.add(Partial::Key(at), Fold::First),
        })
    }

    fn aggregate(
        &mut self,
        aggregate: &Aggregate,
        item: usize,
        piece: usize,
        whole: Whole,
        argument: &mut Option<(RowItem, usize)>,
    ) -> Result<Output, Clause> {
        let of = |part: Part| Partial::Piece { item, piece, part };
        let whole = match whole {
            Whole::Item => Partial::Item(item),
            Whole::Piece => of(Part::Whole),
        };
        let text = match (aggregate.function, aggregate.proof.text()) {
            (Function::Count, _) => TextOrder::NoText,
            (_, text) => text.map_err(|why| Clause::AggregateArgument(why.to_owned()))?,
        };
        let is_once = self.distinct_argument(aggregate, of(Part::Argument), argument)?;
        let sum = if is_once { Fold::SumOnce } else { Fold::Sum };
        Ok(match aggregate.function {
            Function::Count | Function::Sum => Output::Partial(self.add(whole, sum)),
            Function::Min => Output::Partial(self.add(whole, Fold::Min(text))),
            Function::Max => Output::Partial(self.add(whole, Fold::Max(text))),
            Function::BitAnd => Output::Partial(self.add(whole, Fold::BitAnd)),
            Function::BitOr => Output::Partial(self.add(whole, Fold::BitOr)),
            Function::Avg => Output::Quotient {
                sum: self.add(of(Part::Sum), sum),
                count: self.add(of(Part::Count), sum),
            },
        })
    }

    /// Makes units group by the argument of a DISTINCT aggregate for which that matters. There can
    /// be one such argument.
    fn distinct_argument(
        &mut self,
        aggregate: &Aggregate,
        partial: Partial,
        argument: &mut Option<(RowItem, usize)>,
    ) -> Result<bool, Clause> {
        let counts = matches!(
            aggregate.function,
            Function::Count | Function::Sum | Function::Avg
        );
        let Some(row) = aggregate.distinct.as_ref().filter(|_| counts) else {
            return Ok(false);
        };
        match argument {
            Some((known, _)) if known.text == row.text => return Ok(true),
            Some(_) => return Err(Clause::DistinctArguments),
            None => {}
        }
        let text = row.proof.text();
        let text = text.map_err(|why| Clause::AggregateArgument(why.to_owned()))?;
        let at = self.add(partial, Fold::First);
        self.distinct = Some(ascending(at, text));
        *argument = Some((row.clone(), at));
        Ok(true)
    }
}

/// Units sort by the keys of groups with NULL first.
fn ascending(column: usize, text: TextOrder) -> SortKey {
    SortKey {
        column,
        direction: Direction::Ascending,
        nulls: Nulls::First,
        text,
    }
}
