use super::{Datum, MergeError, compare_rows};
use crate::plan::{Fold, GroupPlan, TextOrder};

/// Folds partial rows, which arrive in the order of their group keys, into groups.
#[derive(Debug)]
pub struct GroupMerger<'a> {
    plan: &'a GroupPlan,
    group: Option<Vec<Datum>>,
}

impl<'a> GroupMerger<'a> {
    /// For the rows of one plan.
    pub fn new(plan: &'a GroupPlan) -> Self {
        Self { plan, group: None }
    }

    /// Takes the next partial row; returns the previous group once the row begins another.
    ///
    /// # Errors
    /// If values cannot be combined.
    pub fn push(&mut self, row: Vec<Datum>) -> Result<Option<Vec<Datum>>, MergeError> {
        match &mut self.group {
            Some(group) if compare_rows(&self.plan.keys, group, &row).is_eq() => {
                let distinct = self.plan.distinct;
                let is_new = distinct.is_none_or(|key| !compare_rows(&[key], group, &row).is_eq());
                for (at, (kept, value)) in group.iter_mut().zip(row).enumerate() {
                    if distinct.is_some_and(|key| key.column == at) {
                        *kept = value;
                        continue;
                    }
                    let fold = self.plan.folds[at];
                    if fold != Fold::SumOnce || is_new {
                        *kept = fold.apply(std::mem::replace(kept, Datum::Null), value)?;
                    }
                }
                Ok(None)
            }
            _ => Ok(self.group.replace(row)),
        }
    }

    /// The last group.
    pub fn finish(&mut self) -> Option<Vec<Datum>> {
        self.group.take()
    }
}

impl Fold {
    fn apply(self, kept: Datum, value: Datum) -> Result<Datum, MergeError> {
        match (self, kept, value) {
            (Self::First, kept, _) => Ok(kept),
            (_, Datum::Null, value) => Ok(value),
            (_, kept, Datum::Null) => Ok(kept),
            (Self::Sum | Self::SumOnce, kept, value) => add(kept, value),
            (Self::BitAnd, Datum::Int(a), Datum::Int(b)) => Ok(Datum::Int(a & b)),
            (Self::BitOr, Datum::Int(a), Datum::Int(b)) => Ok(Datum::Int(a | b)),
            (Self::BitAnd | Self::BitOr, ..) => Err(MergeError::NotANumber),
            (Self::Min(text), kept, value) => Ok(smaller(kept, value, text)),
            (Self::Max(text), kept, value) => {
                let kept_wins = kept.compare(&value, text).is_ge();
                Ok(if kept_wins { kept } else { value })
            }
        }
    }
}

fn smaller(a: Datum, b: Datum, text: TextOrder) -> Datum {
    if a.compare(&b, text).is_le() { a } else { b }
}

/// Integers and decimals add exactly; with a floating point number the sum is one.
fn add(a: Datum, b: Datum) -> Result<Datum, MergeError> {
    use bigdecimal::{BigDecimal, ToPrimitive};

    let float = |decimal: BigDecimal| decimal.to_f64().unwrap_or(f64::NAN);
    Ok(match (a, b) {
        (Datum::Int(a), Datum::Int(b)) => match a.checked_add(b) {
            Some(sum) => Datum::Int(sum),
            None => Datum::Decimal(BigDecimal::from(a) + BigDecimal::from(b)),
        },
        (Datum::Decimal(a), Datum::Decimal(b)) => {
            // A sum has the digits of its widest summand, also where that is zero.
            let scale = a.fractional_digit_count().max(b.fractional_digit_count());
            Datum::Decimal((a + b).with_scale(scale))
        }
        (Datum::Int(a), Datum::Decimal(b)) | (Datum::Decimal(b), Datum::Int(a)) => {
            Datum::Decimal(BigDecimal::from(a) + b)
        }
        (Datum::Float(a), Datum::Float(b)) => Datum::Float(a + b),
        (Datum::Int(a), Datum::Float(b)) | (Datum::Float(b), Datum::Int(a)) => {
            Datum::Float(a as f64 + b)
        }
        (Datum::Decimal(a), Datum::Float(b)) | (Datum::Float(b), Datum::Decimal(a)) => {
            Datum::Float(float(a) + b)
        }
        _ => return Err(MergeError::NotANumber),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Direction, Nulls, Output, Partial, SortKey};

    fn plan(folds: &[Fold], keys: usize) -> GroupPlan {
        let key = |column| SortKey {
            column,
            direction: Direction::Ascending,
            nulls: Nulls::First,
            text: TextOrder::Bytes,
        };
        GroupPlan {
            partials: (0..folds.len()).map(Partial::Item).collect(),
            folds: folds.to_vec(),
            keys: (0..keys).map(key).collect(),
            distinct: None,
            outputs: (0..folds.len()).map(Output::Partial).collect(),
            visible: folds.len(),
            having: None,
            order: vec![],
        }
    }

    fn merge(plan: &GroupPlan, rows: Vec<Vec<Datum>>) -> Result<Vec<Vec<Datum>>, MergeError> {
        let mut merger = GroupMerger::new(plan);
        let mut groups = Vec::new();
        for row in rows {
            groups.extend(merger.push(row)?);
        }
        groups.extend(merger.finish());
        Ok(groups)
    }

    fn int(value: i128) -> Datum {
        Datum::Int(value)
    }

    #[test]
    fn equal_keys_are_one_group_and_null_is_a_key() {
        let plan = plan(&[Fold::First, Fold::Sum], 1);
        let rows = vec![
            vec![Datum::Null, int(1)],
            vec![Datum::Null, int(2)],
            vec![int(1), Datum::Null],
            vec![int(1), int(5)],
            vec![int(2), Datum::Null],
        ];
        let groups = vec![
            vec![Datum::Null, int(3)],
            vec![int(1), int(5)],
            vec![int(2), Datum::Null],
        ];
        assert_eq!(merge(&plan, rows), Ok(groups));
    }

    #[test]
    fn what_is_distinct_counts_once() {
        let mut plan = plan(&[Fold::First, Fold::SumOnce, Fold::Sum], 0);
        plan.distinct = Some(SortKey {
            column: 0,
            direction: Direction::Ascending,
            nulls: Nulls::First,
            text: TextOrder::Bytes,
        });
        let rows = vec![
            vec![Datum::Null, int(0), int(1)],
            vec![Datum::Null, int(0), int(1)],
            vec![int(4), int(1), int(2)],
            vec![int(4), int(1), int(2)],
            vec![int(5), int(1), int(1)],
        ];
        assert_eq!(merge(&plan, rows), Ok(vec![vec![int(5), int(2), int(7)]]));
    }

    #[test]
    fn without_keys_there_is_one_group() {
        let text = TextOrder::Bytes;
        let plan = plan(&[Fold::Sum, Fold::Min(text), Fold::Max(text)], 0);
        let rows = vec![
            vec![int(0), Datum::Null, Datum::Null],
            vec![int(2), int(4), int(4)],
            vec![int(1), int(-3), int(9)],
        ];
        assert_eq!(merge(&plan, rows), Ok(vec![vec![int(3), int(-3), int(9)]]));
    }

    #[test]
    fn sums_keep_their_scale_and_refuse_text() {
        let plan = plan(&[Fold::Sum], 0);
        let decimal = |text: &str| vec![Datum::Decimal(text.parse().unwrap())];
        let sum = merge(&plan, vec![decimal("0.10"), decimal("0.20")]).unwrap();
        assert!(matches!(&sum[0][0], Datum::Decimal(sum) if sum.to_string() == "0.30"));
        let text = || vec![Datum::Text("a".into())];
        assert_eq!(
            merge(&plan, vec![text(), text()]),
            Err(MergeError::NotANumber)
        );
    }
}
