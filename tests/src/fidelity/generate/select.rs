//! SELECTs over one source of rows.

use super::{Maker, Seen, seen};
use crate::fidelity::schema::{Kind, Table};
use crate::fidelity::statement::{Expr, From, Item, Lock, Order, Relation, Select};

/// What the rows of a SELECT are made from, before anything is selected.
pub(super) struct Ground {
    pub(super) select: Select,
    pub(super) scope: Vec<Seen>,
    /// The columns that tell its rows apart.
    pub(super) keys: Vec<Expr>,
}

impl Maker<'_> {
    /// Any SELECT.
    pub(super) fn select(&mut self) -> Select {
        match self.random.below(100) {
            0..55 => {
                let ground = self.table();
                self.shaped(ground)
            }
            55..76 => {
                let ground = self.joined();
                self.shaped(ground)
            }
            76..84 => self.set_operation(),
            84..90 => self.with_common_table(),
            90..95 => {
                let ground = self.derived();
                self.shaped(ground)
            }
            _ => {
                let ground = self.table();
                self.windowed(ground)
            }
        }
    }

    /// One table, mostly a sharded one.
    pub(super) fn table(&mut self) -> Ground {
        let table = self.random.weighted(&[
            (70, Table::Fact),
            (24, Table::Item),
            (3, Table::Tag),
            (3, Table::Owner),
        ]);
        let alias = self.random.one_in(8).then(|| "t".to_owned());
        self.of_table(table, alias)
    }

    pub(super) fn of_table(&mut self, table: Table, alias: Option<String>) -> Ground {
        let from = From {
            relation: Relation::Table(table),
            alias,
        };
        let scope = seen(table, from.name());
        let keys = vec![Expr::col(from.name(), "id")];
        Ground {
            select: Select {
                from: Some(from),
                ..Select::default()
            },
            scope,
            keys,
        }
    }

    /// Rows, groups or one row of aggregates.
    pub(super) fn shaped(&mut self, mut ground: Ground) -> Select {
        if self.random.percent(70) {
            let filter = self.condition(&ground.scope, 2);
            ground.select.filter = Some(match ground.select.filter.take() {
                Some(own) => Expr::All(vec![own, filter]),
                None => filter,
            });
        }
        match self.random.below(100) {
            0..62 => self.rows(ground),
            62..92 => self.grouped(ground),
            _ => self.totals(ground),
        }
    }

    /// Selected columns and values, ordered, and a page of them.
    pub(super) fn rows(&mut self, ground: Ground) -> Select {
        let Ground {
            mut select,
            scope,
            keys,
        } = ground;
        let count = 1 + self.random.below(5);
        for _ in 0..count {
            if let Some(column) = self.column(&scope, |_| true) {
                select.items.push(self.item(column.expr()));
            }
        }
        if self.random.one_in(4) {
            let value = self.value(&scope);
            let alias = Some(self.name("v"));
            select.items.push(Item {
                expr: value,
                over: None,
                alias,
            });
        }
        if self.depth > 0
            && self.random.one_in(20)
            && let Some(value) = self.nested_value(&scope)
        {
            let alias = Some(self.name("s"));
            select.items.push(Item {
                expr: value,
                over: None,
                alias,
            });
        }
        if self.random.one_in(10) {
            self.distinct(&mut select);
            return select;
        }
        if self.random.percent(70) {
            for key in &keys {
                select.items.push(self.item(key.clone()));
            }
        }
        if self.random.percent(75) {
            self.row_orders(&mut select, &scope);
            let total = self.random.percent(85);
            if total {
                for key in keys {
                    let order = Order {
                        nulls_first: None,
                        ..self.order(key)
                    };
                    select.orders.push(order);
                }
            }
            if (total && self.random.percent(45)) || self.random.one_in(12) {
                (select.limit, select.offset) = self.page();
            }
        } else if self.random.one_in(15) {
            select.limit = Some(self.random.of(&[1, 5, 20]));
        }
        if self.random.one_in(30) {
            select.lock = Some(
                self.random
                    .of(&[Lock::Update, Lock::Share, Lock::SkipLocked]),
            );
        }
        select
    }

    pub(super) fn item(&mut self, expr: Expr) -> Item {
        let alias = self.random.one_in(6).then(|| self.name("a"));
        Item {
            expr,
            over: None,
            alias,
        }
    }

    fn row_orders(&mut self, select: &mut Select, scope: &[Seen]) {
        for _ in 0..self.random.of(&[0, 1, 1, 2]) {
            let by = match self.random.below(10) {
                // What is selected: by its name, its number, or its expression.
                0 | 1 if !select.items.is_empty() => {
                    let at = self.random.below(select.items.len());
                    let item = &select.items[at];
                    match (&item.alias, &item.expr) {
                        _ if self.kind_of(scope, &item.expr) == Some(Kind::Json) => continue,
                        (Some(alias), _) => Expr::Name(alias.clone()),
                        (None, _) if self.random.one_in(2) => {
                            Expr::Text((at + 1).to_string(), Vec::new())
                        }
                        (None, expr) => expr.clone(),
                    }
                }
                2 => self.value(scope),
                _ => match self.column(scope, |seen| seen.kind != Kind::Json) {
                    Some(column) => column.expr(),
                    None => continue,
                },
            };
            let order = self.order(by);
            select.orders.push(order);
        }
    }

    fn kind_of(&self, scope: &[Seen], expr: &Expr) -> Option<Kind> {
        let Expr::Col(table, name) = expr else {
            return None;
        };
        let found = scope
            .iter()
            .find(|seen| seen.table == *table && seen.name == *name);
        found.map(|seen| seen.kind)
    }

    /// DISTINCT, ordered by what is selected.
    fn distinct(&mut self, select: &mut Select) {
        select.distinct = true;
        if self.random.percent(70) {
            for at in 0..select.items.len() {
                let item = &select.items[at];
                let by = match &item.alias {
                    Some(alias) => Expr::Name(alias.clone()),
                    None if self.random.one_in(5) => Expr::Text((at + 1).to_string(), Vec::new()),
                    None => item.expr.clone(),
                };
                let order = self.order(by);
                select.orders.push(order);
            }
            if self.random.one_in(3) {
                (select.limit, select.offset) = self.page();
            }
        }
    }
}
