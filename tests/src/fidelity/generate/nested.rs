//! Subqueries, set operations, common tables and windows.

use sea_orm::DbBackend;

use super::select::Ground;
use super::{Maker, Seen, seen};
use crate::fidelity::schema::{Kind, Table};
use crate::fidelity::statement::{
    Common, Expr, From, How, Item, Join, Operator, Order, Relation, Select, SetOperation, Window,
};

fn plain(expr: Expr) -> Item {
    Item {
        expr,
        over: None,
        alias: None,
    }
}

impl Maker<'_> {
    /// A subquery over a table that is under a name of its own if the outer one uses its name.
    fn inner(&mut self, table: Table, scope: &[Seen]) -> (From, Vec<Seen>) {
        let taken = scope.iter().any(|seen| seen.table == table.name());
        let alias = taken.then(|| self.name("q"));
        let from = From {
            relation: Relation::Table(table),
            alias,
        };
        let own = seen(table, from.name());
        (from, own)
    }

    /// A SELECT of one item over a table, filtered.
    fn inside(&mut self, from: From, own: &[Seen], item: Expr, filter: Vec<Expr>) -> Select {
        let mut filter = filter;
        if self.random.percent(60) {
            self.depth -= 1;
            filter.push(self.condition(own, 1));
            self.depth += 1;
        }
        Select {
            items: vec![plain(item)],
            from: Some(from),
            filter: (!filter.is_empty()).then_some(Expr::All(filter)),
            ..Select::default()
        }
    }

    /// A condition with a subquery.
    pub(super) fn nested_predicate(&mut self, scope: &[Seen]) -> Option<Expr> {
        let links: [(&str, Table, &str); 8] = [
            ("id", Table::Item, "fact_id"),
            ("id", Table::Item, "fact_id"),
            ("fact_id", Table::Fact, "id"),
            ("owner_id", Table::Owner, "id"),
            ("tag_id", Table::Tag, "id"),
            ("parent_id", Table::Fact, "id"),
            ("kind", Table::Item, "kind"),
            ("n", Table::Item, "qty"),
        ];
        let fitting: Vec<_> = links
            .iter()
            .filter_map(|(outer, table, inner)| {
                let of = |seen: &&Seen| {
                    seen.name == *outer
                        && (*outer != "id" || seen.origin == Some(Table::Fact))
                        && seen.origin.is_some()
                };
                let found = scope.iter().find(of)?;
                Some((found.expr(), *table, *inner))
            })
            .collect();
        let (outer, table, inner) = self.random.pick(&fitting).cloned()?;
        let (from, own) = self.inner(table, scope);
        let column = Expr::col(from.name(), inner);
        let boxed = Box::new(outer.clone());
        let link = Expr::op(Operator::Eq, column.clone(), outer);
        let one = Expr::Text("1".to_owned(), Vec::new());
        Some(match self.random.below(10) {
            0..3 => Expr::InSelect(boxed, Box::new(self.inside(from, &own, column, Vec::new()))),
            3 => Expr::NotInSelect(boxed, Box::new(self.inside(from, &own, column, Vec::new()))),
            4..7 => Expr::Exists(Box::new(self.inside(from, &own, one, vec![link]))),
            7 => Expr::NotExists(Box::new(self.inside(from, &own, one, vec![link]))),
            8 if self.backend != DbBackend::Sqlite => {
                let operator = self.random.of(&[Operator::Eq, Operator::Gt, Operator::Ne]);
                let inside = self.inside(from, &own, column, Vec::new());
                let any = self.random.one_in(2);
                Expr::Quantified(operator, boxed, any, Box::new(inside))
            }
            _ => {
                let number = self.column(scope, |seen| seen.kind.is_number())?;
                let own_number = self.column(&own, |seen| seen.kind.is_integer())?;
                let name = self.random.of(&["MAX", "MIN", "COUNT", "AVG"]);
                let item = Expr::aggregate(name, Some(own_number.expr()));
                let filter = if self.random.one_in(2) {
                    vec![link]
                } else {
                    Vec::new()
                };
                let inside = self.inside(from, &own, item, filter);
                let operator = self.random.of(&[Operator::Gt, Operator::Lt, Operator::Eq]);
                Expr::op(operator, number.expr(), Expr::Scalar(Box::new(inside)))
            }
        })
    }

    /// A subquery as a value.
    pub(super) fn nested_value(&mut self, scope: &[Seen]) -> Option<Expr> {
        let id = scope
            .iter()
            .find(|seen| seen.origin == Some(Table::Fact) && seen.name == "id");
        let (outer, table, inner) = match id {
            Some(id) => (id.expr(), Table::Item, "fact_id"),
            None => {
                let tag = scope.iter().find(|seen| seen.name == "tag_id")?;
                (tag.expr(), Table::Tag, "id")
            }
        };
        let (from, own) = self.inner(table, scope);
        let link = Expr::op(Operator::Eq, Expr::col(from.name(), inner), outer);
        let column = self.column(&own, |seen| seen.kind.is_integer() || seen.kind.is_time())?;
        let name = self.random.of(&["COUNT", "MAX", "MIN"]);
        let item = Expr::aggregate(name, Some(column.expr()));
        let select = self.inside(from, &own, item, vec![link]);
        Some(Expr::Scalar(Box::new(select)))
    }

    /// A subquery in FROM, perhaps joined with a table.
    pub(super) fn derived(&mut self) -> Ground {
        let (select, scope) = self.exposing();
        let from = From {
            relation: Relation::Select(Box::new(select)),
            alias: Some("d".to_owned()),
        };
        self.over(from, scope)
    }

    /// A common table that is read once, or joined.
    pub(super) fn with_common_table(&mut self) -> Select {
        let (select, scope) = self.exposing();
        let common = Common {
            name: "c".to_owned(),
            select,
        };
        let from = From {
            relation: Relation::Common("c".to_owned()),
            alias: None,
        };
        let scope = scope
            .into_iter()
            .map(|seen| Seen {
                table: "c".to_owned(),
                ..seen
            })
            .collect();
        let mut ground = self.over(from, scope);
        ground.select.with = vec![common];
        ground.select.with_outside = self.random.one_in(2);
        self.shaped(ground)
    }

    /// A SELECT with names for all of its columns, of which the first tells its rows apart.
    fn exposing(&mut self) -> (Select, Vec<Seen>) {
        let table = self.random.of(&[Table::Fact, Table::Fact, Table::Item]);
        let mut ground = self.of_table(table, None);
        if self.random.one_in(2) {
            self.depth -= 1;
            ground.select.filter = Some(self.condition(&ground.scope, 1));
            self.depth += 1;
        }
        let mut select = ground.select;
        let exposed = |name: &str, kind: Kind, origin: Option<Table>| Seen {
            table: "d".to_owned(),
            name: name.to_owned(),
            kind,
            origin,
        };
        let named = |expr: Expr, name: &str| Item {
            expr,
            over: None,
            alias: Some(name.to_owned()),
        };
        let mut scope = Vec::new();
        if self.random.one_in(2) {
            let id = Expr::col(table.name(), "id");
            select.items.push(plain(id.clone()));
            scope.push(exposed("id", Kind::Big, Some(table)));
            for name in ["kind", "at", "big", "n", "qty", "owner_id", "tag_id"] {
                if let Some(column) = table.column(name)
                    && self.random.one_in(2)
                {
                    select.items.push(plain(Expr::col(table.name(), name)));
                    scope.push(exposed(name, column.kind, Some(table)));
                }
            }
            if self.random.one_in(4) {
                select.orders.push(Order {
                    by: id,
                    desc: self.random.one_in(2),
                    nulls_first: None,
                });
                select.limit = Some(self.random.of(&[1, 10, 50]));
            }
        } else {
            let fits =
                |seen: &Seen| matches!(seen.kind, Kind::Text | Kind::Big | Kind::Int | Kind::Date);
            let key = self.column(&ground.scope, fits);
            let key = key.unwrap_or_else(|| ground.scope[0].clone());
            select.groups.push(key.expr());
            select.items.push(named(key.expr(), "id"));
            scope.push(exposed("id", key.kind, None));
            select
                .items
                .push(named(Expr::aggregate("COUNT", None), "n"));
            scope.push(exposed("n", Kind::Big, None));
            if self.random.one_in(2) {
                let big = Expr::col(table.name(), "big");
                select
                    .items
                    .push(named(Expr::aggregate("MAX", Some(big)), "big"));
                scope.push(exposed("big", Kind::Big, None));
            }
        }
        (select, scope)
    }

    fn over(&mut self, from: From, scope: Vec<Seen>) -> Ground {
        let name = from.name().to_owned();
        let mut ground = Ground {
            select: Select {
                from: Some(from),
                ..Select::default()
            },
            keys: vec![Expr::col(&name, "id")],
            scope,
        };
        let key = ground.scope[0].clone();
        if self.random.one_in(4) && key.kind == Kind::Big {
            let to = From {
                relation: Relation::Table(Table::Fact),
                alias: None,
            };
            let on = Expr::op(
                Operator::Eq,
                Expr::col("fact", "id"),
                Expr::col(&name, "id"),
            );
            ground.select.joins.push(Join {
                how: self.random.of(&[How::Inner, How::Left]),
                to,
                on: Some(on),
            });
            ground.scope.extend(seen(Table::Fact, "fact"));
            ground.keys.push(Expr::col("fact", "id"));
        }
        ground
    }

    /// UNION and the like of two or three SELECTs.
    pub(super) fn set_operation(&mut self) -> Select {
        let names: Vec<&str> = ["id", "at", "kind", "big"]
            .into_iter()
            .filter(|_| self.random.one_in(2))
            .collect();
        let names = if names.is_empty() {
            vec!["kind"]
        } else {
            names
        };
        let member = |maker: &mut Self| {
            let table = maker.random.of(&[Table::Fact, Table::Fact, Table::Item]);
            let mut ground = maker.of_table(table, None);
            if maker.random.percent(70) {
                ground.select.filter = Some(maker.condition(&ground.scope, 1));
            }
            let column = |name: &&str| plain(Expr::col(table.name(), name));
            ground.select.items = names.iter().map(column).collect();
            ground.select
        };
        let mut select = member(self);
        let operation = self.random.weighted(&[
            (40, SetOperation::Union),
            (40, SetOperation::UnionAll),
            (10, SetOperation::Intersect),
            (10, SetOperation::Except),
        ]);
        for _ in 0..self.random.of(&[1, 1, 1, 2]) {
            let other = member(self);
            select.unions.push((operation, other));
        }
        if self.random.percent(60) {
            for (at, name) in names.iter().enumerate() {
                let by = if self.random.one_in(3) {
                    Expr::Text((at + 1).to_string(), Vec::new())
                } else {
                    Expr::Name((*name).to_owned())
                };
                let order = Order {
                    nulls_first: None,
                    ..self.order(by)
                };
                select.orders.push(order);
            }
            if self.random.percent(40) {
                (select.limit, select.offset) = self.page();
            }
        }
        select
    }

    /// Rows with a window function.
    pub(super) fn windowed(&mut self, mut ground: Ground) -> Select {
        if self.random.one_in(2) {
            ground.select.filter = Some(self.condition(&ground.scope, 1));
        }
        let keys = ground.keys.clone();
        let scope = ground.scope.clone();
        let fits = |seen: &Seen| seen.kind != Kind::Json && seen.name != "id";
        let mut window = Window::default();
        if self.random.percent(60)
            && let Some(column) = self.column(&scope, fits)
        {
            window.partition.push(column.expr());
        }
        if self.random.percent(60)
            && let Some(column) = self.column(&scope, fits)
        {
            let order = self.order(column.expr());
            window.orders.push(order);
        }
        let number = self.column(&scope, |seen| seen.kind.is_integer());
        let number = number.map_or_else(|| keys[0].clone(), |seen| seen.expr());
        let (expr, by_place) = match self.random.below(8) {
            0 | 1 => (Expr::Call("ROW_NUMBER".to_owned(), Vec::new()), true),
            2 => (Expr::Call("RANK".to_owned(), Vec::new()), false),
            3 => (Expr::aggregate("COUNT", None), false),
            4 => (Expr::aggregate("SUM", Some(number)), false),
            5 => (Expr::aggregate("MAX", Some(number)), false),
            6 => (Expr::Call("LAG".to_owned(), vec![number]), true),
            // What sea-query writes for frames with bound numbers, only SQLite reads.
            _ if self.backend == DbBackend::Postgres => {
                (Expr::aggregate("MIN", Some(number)), false)
            }
            _ => {
                window.rows = Some((2, 1));
                (Expr::aggregate("SUM", Some(number)), true)
            }
        };
        if by_place || window.orders.is_empty() && matches!(expr, Expr::Call(..)) {
            for key in keys {
                let order = self.order(key);
                window.orders.push(Order {
                    nulls_first: None,
                    ..order
                });
            }
        }
        let mut select = self.rows(ground);
        let alias = Some(self.name("w"));
        select.items.push(Item {
            expr,
            over: Some(window),
            alias,
        });
        if select.distinct {
            select.distinct = false;
        }
        select
    }
}
