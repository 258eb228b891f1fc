//! Conditions and values of rows.

use super::{Maker, Seen};
use crate::fidelity::schema::Kind;
use crate::fidelity::statement::{Expr, Operator};

const COMPARISONS: [Operator; 9] = [
    Operator::Eq,
    Operator::Eq,
    Operator::Eq,
    Operator::Ne,
    Operator::Lt,
    Operator::Le,
    Operator::Gt,
    Operator::Ge,
    Operator::Eq,
];

impl Maker<'_> {
    /// A condition of several parts.
    pub(super) fn condition(&mut self, scope: &[Seen], depth: usize) -> Expr {
        if depth == 0 || self.random.percent(45) {
            return self.predicate(scope);
        }
        let count = 1 + self.random.below(3);
        let parts = (0..count)
            .map(|_| self.condition(scope, depth - 1))
            .collect();
        let condition = if self.random.percent(60) {
            Expr::All(parts)
        } else {
            Expr::Any(parts)
        };
        if self.random.one_in(7) {
            Expr::Not(Box::new(condition))
        } else {
            condition
        }
    }

    fn predicate(&mut self, scope: &[Seen]) -> Expr {
        if self.depth > 0
            && self.random.percent(9)
            && let Some(nested) = self.nested_predicate(scope)
        {
            return nested;
        }
        let comparable = |seen: &Seen| seen.kind != Kind::Json;
        let Some(column) = self.column(scope, comparable) else {
            return Expr::Text("1 = 1".to_owned(), Vec::new());
        };
        let value = column.expr();
        let boxed = Box::new(value.clone());
        match self.random.below(20) {
            0..7 => {
                let operator = match column.kind {
                    Kind::Bool | Kind::Json => Operator::Eq,
                    _ => self.random.of(&COMPARISONS),
                };
                let literal = self.literal(&column);
                if self.random.one_in(6) {
                    Expr::op(operator, literal, value)
                } else {
                    Expr::op(operator, value, literal)
                }
            }
            7..10 => {
                let count = self.random.of(&[0, 1, 2, 2, 3, 6]);
                let mut list: Vec<Expr> = (0..count).map(|_| self.literal(&column)).collect();
                if self.random.one_in(8) {
                    list.push(Expr::Lit(column.kind, None));
                }
                if self.random.one_in(5) {
                    Expr::NotIn(boxed, list)
                } else {
                    Expr::In(boxed, list)
                }
            }
            10..12 if column.kind != Kind::Bool => {
                let low = Box::new(self.literal(&column));
                let high = Box::new(self.literal(&column));
                if self.random.one_in(5) {
                    Expr::NotBetween(boxed, low, high)
                } else {
                    Expr::Between(boxed, low, high)
                }
            }
            12 | 13 => {
                if self.random.one_in(2) {
                    Expr::IsNull(boxed)
                } else {
                    Expr::NotNull(boxed)
                }
            }
            14 => match self.column(scope, |seen| seen.kind == Kind::Text) {
                Some(column) => {
                    let patterns = ["a%", "%a", "%b%", "_", "A_", "%", "é%", "a\\%%"];
                    let pattern = self.random.of(&patterns).to_owned();
                    let column = Box::new(column.expr());
                    if self.random.one_in(5) {
                        Expr::NotLike(column, pattern)
                    } else {
                        Expr::Like(column, pattern)
                    }
                }
                None => Expr::IsNull(boxed),
            },
            15 => {
                let alike = |seen: &Seen| {
                    seen.kind == column.kind || (seen.kind.is_number() && column.kind.is_number())
                };
                match self.column(scope, alike) {
                    Some(other) => Expr::op(self.random.of(&COMPARISONS), value, other.expr()),
                    None => Expr::IsNull(boxed),
                }
            }
            16 => match self.column(scope, |seen| seen.kind == Kind::Bool) {
                Some(flag) if self.random.one_in(2) => flag.expr(),
                Some(flag) => Expr::Not(Box::new(flag.expr())),
                None => Expr::NotNull(boxed),
            },
            17 => self.tuples(scope),
            18 => {
                let number = self.number(scope, 1);
                let literal = Expr::Lit(Kind::Int, Some(self.random.between(-4, 9).to_string()));
                Expr::op(self.random.of(&COMPARISONS), number, literal)
            }
            _ => {
                // SQL text inside of a statement, as `Expr::cust` and `cust_with_exprs` make it.
                let literal = self.literal(&column);
                Expr::Text("$1 = $2".to_owned(), vec![value, literal])
            }
        }
    }

    fn tuples(&mut self, scope: &[Seen]) -> Expr {
        let simple = |seen: &Seen| matches!(seen.kind, Kind::Big | Kind::Text | Kind::Int);
        let columns: Vec<Seen> = (0..2).filter_map(|_| self.column(scope, simple)).collect();
        if columns.len() < 2 {
            return Expr::Text("1 = 1".to_owned(), Vec::new());
        }
        let count = 1 + self.random.below(3);
        let tuples = (0..count)
            .map(|_| columns.iter().map(|column| self.literal(column)).collect())
            .collect();
        Expr::Tuples(columns.iter().map(Seen::expr).collect(), tuples)
    }

    /// A value that is a number.
    pub(super) fn number(&mut self, scope: &[Seen], depth: usize) -> Expr {
        let small = |seen: &Seen| {
            seen.kind.is_number() && seen.kind != Kind::Real && seen.kind != Kind::Unsigned
        };
        let Some(column) = self.column(scope, small) else {
            return Expr::Lit(Kind::Int, Some("1".to_owned()));
        };
        let value = column.expr();
        if depth == 0 {
            return value;
        }
        let constant =
            |maker: &mut Self| Expr::Lit(Kind::Int, Some(maker.random.between(1, 7).to_string()));
        match self.random.below(9) {
            0 => Expr::op(Operator::Add, value, constant(self)),
            1 => {
                let other = self.number(scope, depth - 1);
                Expr::op(
                    self.random.of(&[Operator::Add, Operator::Sub]),
                    value,
                    other,
                )
            }
            2 => Expr::op(Operator::Mul, value, constant(self)),
            3 => Expr::op(Operator::Div, value, constant(self)),
            4 if column.kind.is_integer() => Expr::op(Operator::Mod, value, constant(self)),
            5 => Expr::Call("ABS".to_owned(), vec![value]),
            6 => Expr::Call("COALESCE".to_owned(), vec![value, constant(self)]),
            7 => {
                let when = self.predicate(scope);
                let then = constant(self);
                let otherwise = self.random.one_in(2).then(|| Box::new(constant(self)));
                Expr::Case(vec![(when, then)], otherwise)
            }
            _ => value,
        }
    }

    /// Any value of a row, and what it is if that is known.
    pub(super) fn value(&mut self, scope: &[Seen]) -> Expr {
        match self.random.below(6) {
            0 if !self.is_loose() => {
                let Some(column) = self.column(scope, |seen| seen.kind == Kind::Text) else {
                    return self.number(scope, 1);
                };
                let value = column.expr();
                match self.random.below(5) {
                    0 => Expr::Call("LOWER".to_owned(), vec![value]),
                    1 => Expr::Call("UPPER".to_owned(), vec![value]),
                    2 => Expr::Call("LENGTH".to_owned(), vec![value]),
                    3 => {
                        let other = self.column(scope, |seen| seen.kind == Kind::Text);
                        let other = other.map_or(value.clone(), |other| other.expr());
                        Expr::op(Operator::Concat, value, other)
                    }
                    _ => {
                        let literal = Expr::Lit(Kind::Text, Some("none".to_owned()));
                        Expr::Call("COALESCE".to_owned(), vec![value, literal])
                    }
                }
            }
            1 => match self.column(scope, |seen| seen.kind.is_integer()) {
                Some(column) => Expr::Cast(Box::new(column.expr()), Kind::Text),
                None => self.number(scope, 1),
            },
            2 => {
                let when = self.predicate(scope);
                let text = |text: &str| Expr::Lit(Kind::Text, Some(text.to_owned()));
                Expr::Case(vec![(when, text("yes"))], Some(Box::new(text("no"))))
            }
            _ => self.number(scope, 2),
        }
    }
}
