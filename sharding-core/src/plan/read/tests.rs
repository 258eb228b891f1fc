use super::*;
use crate::plan::{Aggregate, Fold, Function, GroupKey, Output, Part, Partial, Piece};

fn proven() -> Proof {
    Proof::Proven(TextOrder::Bytes)
}

fn row(text: &str) -> RowItem {
    RowItem {
        text: text.into(),
        proof: proven(),
    }
}

fn aggregate(function: Function) -> Aggregate {
    Aggregate {
        function,
        distinct: None,
        proof: proven(),
    }
}

fn by(item: Option<usize>) -> OrderKey {
    OrderKey {
        item,
        direction: Direction::Descending,
        nulls: Nulls::Last,
        proof: proven(),
    }
}

fn of(items: Vec<Item>) -> SelectShape {
    SelectShape {
        visible: items.len(),
        items,
        ..SelectShape::default()
    }
}

fn rows() -> SelectShape {
    of(vec![Item::Row(row("a")), Item::Row(row("b + 1"))])
}

fn grouped(items: Vec<Item>, keys: &[&str]) -> SelectShape {
    let key = |text: &&str| GroupKey {
        text: (*text).into(),
        proof: proven(),
    };
    SelectShape {
        group: keys.iter().map(key).collect(),
        ..of(items)
    }
}

fn merge(shape: SelectShape) -> Result<Merge, Clause> {
    let plan = plan_read(shape, Reach::ManySources)?;
    match plan {
        ReadPlan::Merge { merge, .. } => Ok(merge),
        other => panic!("{other:?} over several data sources"),
    }
}

fn groups(shape: SelectShape) -> GroupPlan {
    match merge(shape) {
        Ok(Merge::Groups(plan)) => plan,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rows_are_concatenated_or_merged_in_order() {
    assert_eq!(merge(rows()), Ok(Merge::Concatenate));
    let ordered = SelectShape {
        order: vec![by(Some(1))],
        ..rows()
    };
    assert!(matches!(merge(ordered), Ok(Merge::Order(keys)) if keys[0].column == 1));
}

#[test]
fn equal_rows_meet_when_all_items_are_sorted_by() {
    let shape = SelectShape {
        distinct: true,
        order: vec![by(Some(1))],
        ..rows()
    };
    let Ok(Merge::Distinct(keys)) = merge(shape) else {
        panic!("not distinct")
    };
    assert_eq!(
        keys.iter().map(|key| key.column).collect::<Vec<_>>(),
        [1, 0]
    );
}

#[test]
fn averages_come_from_sums_and_counts() {
    let items = vec![
        Item::Aggregate(aggregate(Function::Avg)),
        Item::Row(row("a")),
        Item::Row(row("b")),
    ];
    let plan = groups(SelectShape {
        visible: 2,
        order: vec![by(Some(2))],
        ..grouped(items, &["a", "b"])
    });
    let part = |part| Partial::Piece {
        item: 0,
        piece: 0,
        part,
    };
    let partials = [
        part(Part::Sum),
        part(Part::Count),
        Partial::Item(1),
        Partial::Item(2),
    ];
    assert_eq!(plan.partials, partials);
    assert_eq!(plan.folds, [Fold::Sum, Fold::Sum, Fold::First, Fold::First]);
    assert_eq!(plan.outputs[0], Output::Quotient { sum: 0, count: 1 });
    let keys: Vec<_> = plan.keys.iter().map(|key| key.column).collect();
    assert_eq!(keys, [2, 3]);
    assert_eq!(plan.order[0].column, 2);
}

#[test]
fn expressions_over_groups_are_made_of_pieces() {
    let pieces = vec![
        Piece::Aggregate(aggregate(Function::Sum)),
        Piece::Key("a".into()),
    ];
    let plan = groups(SelectShape {
        having: Some(1),
        visible: 1,
        ..grouped(
            vec![Item::Compound(pieces.clone()), Item::Compound(pieces)],
            &["a"],
        )
    });
    let pieces = |sum| Output::Compound(vec![Output::Partial(sum), Output::Partial(1)]);
    assert_eq!(plan.outputs, [pieces(0), pieces(2)]);
    assert_eq!((plan.visible, plan.having), (1, Some(1)));
}

#[test]
fn distinct_arguments_are_grouped_by() {
    let counted = |argument: &str| {
        Item::Aggregate(Aggregate {
            distinct: Some(row(argument)),
            ..aggregate(Function::Count)
        })
    };
    let items = vec![counted("n"), Item::Aggregate(aggregate(Function::Sum))];
    let plan = groups(of(items));
    assert_eq!(plan.folds, [Fold::First, Fold::SumOnce, Fold::Sum]);
    assert_eq!(plan.distinct.map(|key| key.column), Some(0));
    assert_eq!(
        merge(of(vec![counted("n"), counted("m")])),
        Err(Clause::DistinctArguments)
    );
}

#[test]
fn what_does_not_decompose_climbs_or_is_refused() {
    let collated = "is text under the collation `de`";
    let cases = [
        (
            SelectShape {
                obstacles: vec![Clause::Window],
                ..rows()
            },
            Clause::Window,
        ),
        (of(vec![Item::Opaque]), Clause::SelectItem),
        (
            SelectShape {
                order: vec![by(Some(1))],
                ..of(vec![Item::Star, Item::Row(row("a"))])
            },
            Clause::SelectItem,
        ),
        (
            SelectShape {
                order: vec![OrderKey {
                    proof: Proof::Unproven(collated.into()),
                    ..by(Some(0))
                }],
                ..rows()
            },
            Clause::OrderUnproven(collated.into()),
        ),
        (
            of(vec![
                Item::Aggregate(aggregate(Function::Count)),
                Item::Row(row("a")),
            ]),
            Clause::UngroupedColumn("a".into()),
        ),
        (
            SelectShape {
                order: vec![by(None)],
                ..rows()
            },
            Clause::OrderExpression,
        ),
        (
            SelectShape {
                distinct: true,
                visible: 1,
                order: vec![by(Some(1))],
                ..rows()
            },
            Clause::OrderNotSelected,
        ),
    ];
    for (shape, clause) in cases {
        assert_eq!(plan_read(shape.clone(), Reach::OneNode), Ok(ReadPlan::Pass));
        let union = ReadPlan::Union(clause.clone());
        assert_eq!(plan_read(shape.clone(), Reach::OneSource), Ok(union));
        assert_eq!(plan_read(shape, Reach::ManySources), Err(clause));
    }
}

#[test]
fn what_only_rows_can_show_is_left_to_the_database_where_it_can_be() {
    let why = "is computed";
    let checked = SelectShape {
        order: vec![OrderKey {
            proof: Proof::Checked(why.into()),
            ..by(Some(1))
        }],
        ..rows()
    };
    let union = ReadPlan::Union(Clause::OrderUnproven(why.into()));
    assert_eq!(plan_read(checked.clone(), Reach::OneSource), Ok(union));
    assert!(matches!(merge(checked), Ok(Merge::Order(_))));

    let hidden = SelectShape {
        visible: 1,
        order: vec![by(Some(1))],
        ..rows()
    };
    let union = ReadPlan::Union(Clause::OrderNotSelected);
    assert_eq!(plan_read(hidden.clone(), Reach::OneSource), Ok(union));
    let plan = plan_read(hidden, Reach::ManySources);
    assert!(matches!(plan, Ok(ReadPlan::Merge { strips: true, .. })));
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
        plan_read(locked, Reach::OneSource),
        Err(Clause::LockWithLimit)
    );
    let locked = SelectShape {
        locks: true,
        ..rows()
    };
    assert_eq!(merge(locked), Ok(Merge::Concatenate));
}
