//! SeaORM's queries of entities.

use super::{Maker, Seen, seen};
use crate::fidelity::schema::{Kind, Table};
use crate::fidelity::statement::promise::second;
use crate::fidelity::statement::{Expr, Find, Finish, Order, Related};

impl Maker<'_> {
    /// A query of an entity, alone or with another.
    pub(super) fn find(&mut self) -> Find {
        let related = if self.random.percent(30) {
            Some(self.random.weighted(&[
                (12, Related::FactAlsoItem),
                (4, Related::FactBothItem),
                (10, Related::FactAlsoOwner),
                (4, Related::FactAlsoTag),
                (12, Related::FactWithItem),
                (4, Related::FactWithTag),
                (4, Related::FactAlsoLinkedTag),
                (3, Related::FactWithLinkedTag),
                (4, Related::FactAlsoLinkedParent),
                (6, Related::FactLoadItem),
                (4, Related::FactLoadOwner),
                (3, Related::FactLoadTag),
                (8, Related::ItemAlsoFact),
                (3, Related::ItemBothFact),
                (8, Related::ItemAlsoTag),
                (3, Related::ItemAlsoLinkedOwner),
                (4, Related::ItemLoadFact),
                (4, Related::TagWithItem),
                (4, Related::OwnerWithFact),
            ]))
        } else {
            None
        };
        let table = match related {
            None => self.random.weighted(&[
                (70, Table::Fact),
                (24, Table::Item),
                (3, Table::Tag),
                (3, Table::Owner),
            ]),
            Some(Related::TagWithItem) => Table::Tag,
            Some(Related::OwnerWithFact) => Table::Owner,
            Some(
                Related::ItemAlsoFact
                | Related::ItemBothFact
                | Related::ItemAlsoTag
                | Related::ItemAlsoLinkedOwner
                | Related::ItemLoadFact,
            ) => Table::Item,
            Some(_) => Table::Fact,
        };
        let mut scope = seen(table, table.name());
        let loads = matches!(
            related,
            Some(
                Related::FactBothItem
                    | Related::ItemBothFact
                    | Related::FactLoadItem
                    | Related::FactLoadOwner
                    | Related::FactLoadTag
                    | Related::ItemLoadFact
            )
        );
        if let Some(other) = related.and_then(second)
            && !loads
        {
            scope.extend(seen(other, other.name()));
        }
        let filter = self.random.percent(75).then(|| self.condition(&scope, 2));
        let mut find = Find {
            table,
            related,
            filter,
            orders: Vec::new(),
            limit: None,
            offset: None,
            distinct: related.is_none() && self.random.one_in(40),
            lock: self.random.one_in(50),
            finish: Finish::All,
        };
        let total = self.random.percent(80);
        if self.random.percent(80) {
            self.find_orders(&mut find, &scope, total);
        }
        let total = total && !find.orders.is_empty();
        find.finish = if loads {
            Finish::All
        } else {
            self.finish(&find, total)
        };
        let pages = matches!(
            find.finish,
            Finish::Page(..) | Finish::Cursor { .. } | Finish::Pages(_)
        );
        // A page of joined rows would cut groups of models in two, which SeaORM allows.
        if total && !pages && self.random.percent(30) {
            (find.limit, find.offset) = self.page();
        }
        find
    }

    fn find_orders(&mut self, find: &mut Find, scope: &[Seen], total: bool) {
        for _ in 0..self.random.of(&[0, 1, 1, 2]) {
            let Some(column) = self.column(scope, |seen| seen.kind != Kind::Json) else {
                continue;
            };
            let order = self.order(column.expr());
            find.orders.push(order);
        }
        if !total {
            return;
        }
        let mut names = vec![find.table.name()];
        let own = |seen: &&Seen| seen.table != find.table.name();
        if let Some(other) = scope.iter().find(own) {
            names.push(&other.table);
        }
        for name in names {
            let by = Expr::col(name, "id");
            if find.orders.iter().all(|order| order.by != by) {
                let desc = self.random.one_in(3);
                find.orders.push(Order {
                    by,
                    desc,
                    nulls_first: None,
                });
            }
        }
    }

    fn finish(&mut self, find: &Find, total: bool) -> Finish {
        let size = self.random.of(&[1, 3, 10, 50]);
        let kind = self.random.below(100);
        if find.related.is_some() {
            return match kind {
                0..60 => Finish::All,
                60..68 if total => Finish::One,
                68..76 => Finish::Stream,
                76..82 => Finish::Count,
                82..90 if total => Finish::Page(size, self.random.below(4) as u64),
                90..94 => Finish::Json,
                94..97 => Finish::Pages(size),
                _ => Finish::All,
            };
        }
        match kind {
            0..36 => Finish::All,
            36..44 if total || self.random.one_in(6) => Finish::One,
            44..50 => Finish::Stream,
            50..56 => Finish::Json,
            56..68 => Finish::Count,
            68..72 => Finish::Exists,
            72..84 if total => Finish::Page(size, self.random.below(5) as u64),
            84..90 => Finish::Pages(size),
            90..100 if !find.distinct => self.cursor(find),
            _ => Finish::All,
        }
    }

    fn cursor(&mut self, find: &Find) -> Finish {
        let scope = seen(find.table, find.table.name());
        let by = match self.random.below(5) {
            0 if matches!(find.table, Table::Fact | Table::Item) => "at",
            _ => "id",
        };
        let column = scope.iter().find(|seen| seen.name == by).cloned();
        let bound = |maker: &mut Self| {
            let column = column.as_ref()?;
            maker.random.one_in(2).then(|| match maker.literal(column) {
                Expr::Lit(_, text) => Expr::Lit(column.kind, text),
                other => other,
            })
        };
        let (after, before) = (bound(self), bound(self));
        Finish::Cursor {
            by: by.to_owned(),
            after,
            before,
            count: self.random.of(&[1, 5, 20]),
            last: self.random.one_in(3),
            desc: self.random.one_in(3),
        }
    }
}
