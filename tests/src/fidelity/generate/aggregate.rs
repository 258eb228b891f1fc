//! Groups and aggregates.

use sea_orm::DbBackend;

use super::select::Ground;
use super::{Maker, Seen};
use crate::fidelity::schema::Kind;
use crate::fidelity::statement::{Aggregate, Expr, Item, Operator, Order, Select};

impl Maker<'_> {
    /// One row of aggregates.
    pub(super) fn totals(&mut self, ground: Ground) -> Select {
        let Ground {
            mut select, scope, ..
        } = ground;
        for _ in 0..1 + self.random.below(4) {
            let (expr, _) = self.aggregated(&scope);
            let alias = self.alias(&expr, "x");
            select.items.push(Item {
                expr,
                over: None,
                alias,
            });
        }
        if self.random.one_in(12) {
            select.having = Some(self.having(&scope));
        }
        select
    }

    /// Groups.
    pub(super) fn grouped(&mut self, ground: Ground) -> Select {
        let Ground {
            mut select,
            scope,
            keys,
        } = ground;
        if self.random.one_in(12) {
            // By the primary keys, on which every other column depends.
            select.groups = keys;
        } else {
            for _ in 0..self.random.of(&[1, 1, 1, 2, 3]) {
                let group = self.group(&scope);
                if !select.groups.contains(&group) {
                    select.groups.push(group);
                }
            }
        }
        let groups = select.groups.clone();
        for group in &groups {
            if self.random.percent(88) {
                let item = self.item(group.clone());
                select.items.push(item);
            }
        }
        // Sums of floating point numbers may come out in another order if they are almost equal.
        let mut ordered = Vec::new();
        for _ in 0..self.random.of(&[1, 1, 2, 3]) {
            let (expr, exact) = self.aggregated(&scope);
            let alias = self.alias(&expr, "x");
            if exact {
                ordered.push(match &alias {
                    Some(alias) if self.random.one_in(2) => Expr::Name(alias.clone()),
                    _ => expr.clone(),
                });
            }
            select.items.push(Item {
                expr,
                over: None,
                alias,
            });
        }
        if self.random.percent(18) {
            select.having = Some(self.having(&scope));
        }
        if self.random.one_in(20) {
            select.distinct = true;
            return select;
        }
        if self.random.percent(65) {
            if self.random.percent(35)
                && let Some(by) = self.random.pick(&ordered).cloned()
            {
                let order = self.order(by);
                select.orders.push(order);
            }
            if self.random.percent(85) {
                for group in groups {
                    let item = select.items.iter().position(|item| item.expr == group);
                    let by = match item {
                        Some(at) if self.random.one_in(6) => {
                            Expr::Text((at + 1).to_string(), Vec::new())
                        }
                        Some(at) => match &select.items[at].alias {
                            Some(alias) if self.random.one_in(2) => Expr::Name(alias.clone()),
                            _ => group,
                        },
                        None => group,
                    };
                    let order: Order = self.order(by);
                    select.orders.push(order);
                }
                if self.random.percent(35) {
                    (select.limit, select.offset) = self.page();
                }
            }
        }
        select
    }

    /// A name for a value, mostly: the databases' own names for values differ.
    fn alias(&mut self, expr: &Expr, prefix: &str) -> Option<String> {
        let mut bound = false;
        expr.each(&mut |expr| bound |= matches!(expr, Expr::Lit(..)));
        let share = if bound { 50 } else { 5 };
        (!self.random.one_in(share)).then(|| self.name(prefix))
    }

    fn group(&mut self, scope: &[Seen]) -> Expr {
        let fits = |seen: &Seen| seen.kind != Kind::Json && seen.name != "id";
        let Some(column) = self.column(scope, fits) else {
            return Expr::Text("1".to_owned(), Vec::new());
        };
        if !self.random.one_in(7) {
            return column.expr();
        }
        // Without bound values: PostgreSQL takes two of them for two different expressions.
        let value = column.expr();
        match column.kind {
            kind if kind.is_integer() => match self.random.below(3) {
                0 => Expr::Text("$1 % 3".to_owned(), vec![value]),
                1 => Expr::Call("ABS".to_owned(), vec![value]),
                _ => Expr::op(Operator::Add, value.clone(), value),
            },
            Kind::Text if !self.is_loose() => Expr::Call("LOWER".to_owned(), vec![value]),
            Kind::Instant | Kind::DateTime | Kind::Date => match self.backend {
                DbBackend::Postgres => {
                    Expr::Text("date_trunc('month', $1)".to_owned(), vec![value])
                }
                DbBackend::Sqlite => Expr::Text("strftime('%m', $1)".to_owned(), vec![value]),
                _ => Expr::Text("MONTH($1)".to_owned(), vec![value]),
            },
            _ => Expr::IsNull(Box::new(value)),
        }
    }

    fn having(&mut self, scope: &[Seen]) -> Expr {
        let number = |maker: &mut Self, low, high| {
            Expr::Lit(Kind::Int, Some(maker.random.between(low, high).to_string()))
        };
        match self.random.below(4) {
            0 | 1 => {
                let operator = self.random.of(&[Operator::Gt, Operator::Le, Operator::Eq]);
                let bound = number(self, 0, 12);
                Expr::op(operator, Expr::aggregate("COUNT", None), bound)
            }
            2 => match self.column(scope, |seen| seen.kind.is_integer()) {
                Some(column) => {
                    let name = self.random.of(&["SUM", "MIN", "MAX"]);
                    let bound = number(self, -3, 30);
                    Expr::op(
                        Operator::Gt,
                        Expr::aggregate(name, Some(column.expr())),
                        bound,
                    )
                }
                None => Expr::NotNull(Box::new(Expr::aggregate("COUNT", None))),
            },
            _ => match self.column(scope, |seen| seen.kind.is_time()) {
                Some(column) => {
                    let max = Expr::aggregate("MAX", Some(column.expr()));
                    Expr::NotNull(Box::new(max))
                }
                None => Expr::NotNull(Box::new(Expr::aggregate("COUNT", None))),
            },
        }
    }

    /// An aggregate or an expression over aggregates, and whether its value is exact.
    fn aggregated(&mut self, scope: &[Seen]) -> (Expr, bool) {
        let (first, exact) = self.aggregate(scope);
        if !self.random.one_in(7) {
            return (first, exact);
        }
        let count = Expr::aggregate("COUNT", None);
        let integer = self.column(scope, |seen| seen.kind.is_integer());
        let integer = integer.map_or(Expr::Text("1".to_owned(), Vec::new()), |seen| seen.expr());
        let of = |name: &str| Expr::aggregate(name, Some(integer.clone()));
        let one = || Expr::Lit(Kind::Int, Some("1".to_owned()));
        let expr = match self.random.below(5) {
            0 => Expr::op(Operator::Sub, of("MAX"), of("MIN")),
            1 => Expr::op(Operator::Div, of("SUM"), count),
            2 => Expr::Call("COALESCE".to_owned(), vec![of("SUM"), one()]),
            3 => Expr::op(Operator::Add, count, one()),
            _ => {
                let when = Expr::op(Operator::Gt, count, one());
                let text = |text: &str| Expr::Lit(Kind::Text, Some(text.to_owned()));
                Expr::Case(vec![(when, text("many"))], Some(Box::new(text("few"))))
            }
        };
        (expr, true)
    }

    fn aggregate(&mut self, scope: &[Seen]) -> (Expr, bool) {
        let postgres = self.backend == DbBackend::Postgres;
        let (name, fits): (&str, fn(&Seen) -> bool) = match self.random.below(22) {
            0..4 => ("COUNT*", |_| true),
            4..6 => ("COUNT", |seen| seen.kind != Kind::Json),
            6..8 => ("COUNT DISTINCT", |seen| seen.kind != Kind::Json),
            8..12 => ("SUM", |seen| seen.kind.is_number()),
            12..14 => ("AVG", |seen| seen.kind.is_number()),
            14..16 => ("MIN", orderable),
            16..18 => ("MAX", orderable),
            18 => ("SUM DISTINCT", |seen| seen.kind.is_integer()),
            19 => ("AVG DISTINCT", |seen| seen.kind.is_integer()),
            20 if self.backend != DbBackend::Sqlite => ("STDDEV", |seen| {
                seen.kind == Kind::Int || seen.kind == Kind::Double
            }),
            21 if postgres => ("BOOL_AND", |seen| seen.kind == Kind::Bool),
            20 if !postgres => ("TOTAL", |seen| seen.kind == Kind::Int),
            _ => ("COUNT*", |_| true),
        };
        if name == "COUNT*" {
            return (self.filtered("COUNT", None, false, scope), true);
        }
        let Some(column) = self.column(scope, fits) else {
            return (Expr::aggregate("COUNT", None), true);
        };
        let (name, distinct) = match name.split_once(' ') {
            Some((name, _)) => (name, true),
            None => (name, false),
        };
        let is_sum = matches!(name, "SUM" | "AVG" | "STDDEV" | "TOTAL");
        let exact = !is_sum || (self.is_exact(column.kind) && name == "SUM");
        if is_sum && !distinct && self.random.one_in(8) {
            let number = self.number(scope, 1);
            return (self.filtered(name, Some(number), false, scope), false);
        }
        let of = Some(column.expr());
        (self.filtered(name, of, distinct, scope), exact)
    }

    /// The aggregate, seldom with FILTER where there is one.
    fn filtered(&mut self, name: &str, of: Option<Expr>, distinct: bool, scope: &[Seen]) -> Expr {
        let can = self.backend != DbBackend::MySql && !(distinct && name != "COUNT");
        let filter = if can && self.random.one_in(15) {
            Some(Box::new(self.condition(scope, 0)))
        } else {
            None
        };
        Expr::Aggregate(Aggregate {
            name: name.to_owned(),
            of: of.map(Box::new),
            distinct,
            filter,
        })
    }
}

fn orderable(seen: &Seen) -> bool {
    seen.kind.is_number()
        || seen.kind.is_text()
        || seen.kind.is_time()
        || matches!(seen.kind, Kind::Mood | Kind::Grade)
}
