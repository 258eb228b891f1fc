//! Joins.

use sea_orm::DbBackend;

use super::select::Ground;
use super::{Maker, Seen, seen};
use crate::fidelity::schema::Table;
use crate::fidelity::statement::{Expr, From, How, Join, Operator, Relation};

impl Maker<'_> {
    /// Two or three tables.
    pub(super) fn joined(&mut self) -> Ground {
        use Table::{Fact, Item, Owner, Tag};

        let pair = self.random.weighted(&[
            (26, (Fact, Item)),
            (12, (Item, Fact)),
            (14, (Fact, Owner)),
            (14, (Item, Tag)),
            (10, (Fact, Fact)),
            (4, (Owner, Fact)),
            (4, (Tag, Item)),
            (3, (Fact, Tag)),
            (3, (Item, Item)),
        ]);
        let alias = (pair.0 == pair.1).then(|| "l".to_owned());
        let mut ground = self.of_table(pair.0, alias);
        self.join(&mut ground, pair.1);
        if self.random.one_in(5) {
            let third = match pair {
                (Fact, Item) | (Item, Fact) => self.random.of(&[Tag, Owner]),
                (Fact, Owner) => Item,
                (Item, Tag) => Fact,
                _ => return ground,
            };
            self.join(&mut ground, third);
        }
        ground
    }

    fn join(&mut self, ground: &mut Ground, table: Table) {
        let taken = ground.scope.iter().any(|seen| seen.table == table.name());
        let alias = (taken || self.random.one_in(10)).then(|| self.name("j"));
        let to = From {
            relation: Relation::Table(table),
            alias,
        };
        let name = to.name().to_owned();
        let other = seen(table, &name);
        let full = if self.backend == DbBackend::MySql {
            0
        } else {
            3
        };
        let mut how = self.random.weighted(&[
            (50, How::Inner),
            (36, How::Left),
            (8, How::Right),
            (full, How::Full),
            (4, How::Cross),
        ]);
        let rows = |table: Table| self.spec.rows_of(table).len().max(1);
        let size: usize = ground
            .select
            .relations()
            .map(|from| match from.relation {
                Relation::Table(table) => rows(table),
                _ => 1,
            })
            .product();
        if how == How::Cross && size * rows(table) > 4000 {
            how = How::Inner;
        }
        let on = (how != How::Cross).then(|| {
            let mut on = vec![self.link(&ground.scope, table, &name, how)];
            if self.random.one_in(6) {
                let mut both = ground.scope.clone();
                both.extend(other.iter().cloned());
                let depth = std::mem::take(&mut self.depth);
                on.push(self.condition(&both, 0));
                self.depth = depth;
            }
            if on.len() == 1 {
                on.remove(0)
            } else {
                Expr::All(on)
            }
        });
        ground.keys.push(Expr::col(&name, "id"));
        ground.scope.extend(other);
        ground.select.joins.push(Join { how, to, on });
    }

    /// What a join is on: mostly the relation, seldom other columns.
    fn link(&mut self, scope: &[Seen], table: Table, name: &str, how: How) -> Expr {
        let equal = |left: Expr, right: &str| Expr::op(Operator::Eq, left, Expr::col(name, right));
        let find = |of: Table, column: &str| {
            let found = scope
                .iter()
                .find(|seen| seen.origin == Some(of) && seen.name == column);
            found.map(Seen::expr)
        };
        let by_relation = match table {
            Table::Item => find(Table::Fact, "id").map(|id| equal(id, "fact_id")),
            Table::Fact => find(Table::Item, "fact_id")
                .or_else(|| find(Table::Fact, "parent_id"))
                .map(|id| equal(id, "id")),
            Table::Owner => find(Table::Fact, "owner_id").map(|id| equal(id, "id")),
            Table::Tag => find(Table::Item, "tag_id").map(|id| equal(id, "id")),
        };
        let backward = match table {
            Table::Fact => find(Table::Owner, "id").map(|id| equal(id, "owner_id")),
            Table::Item => find(Table::Tag, "id").map(|id| equal(id, "tag_id")),
            _ => None,
        };
        let sharded = matches!(table, Table::Fact | Table::Item);
        let other = if sharded {
            self.random.of(&["at", "kind", "big"])
        } else {
            "id"
        };
        // PostgreSQL has FULL JOIN for equality only.
        match (by_relation.or(backward), self.random.below(10)) {
            (Some(on), 0..7) => on,
            (Some(on), 7) if sharded => {
                let left = find(Table::Fact, other).or_else(|| find(Table::Item, other));
                match left {
                    Some(left) => Expr::All(vec![on, equal(left, other)]),
                    None => on,
                }
            }
            (Some(on), 8) if how != How::Full => on,
            (on, _) => {
                let same = scope
                    .iter()
                    .find(|seen| seen.name == other && seen.name != "id");
                match (same, on) {
                    (Some(same), _) => equal(same.expr(), other),
                    (None, Some(on)) => on,
                    (None, None) => {
                        let int = scope
                            .iter()
                            .find(|seen| matches!(&*seen.name, "n" | "qty" | "weight" | "rank"));
                        int.map_or(Expr::Text("1 = 1".to_owned(), Vec::new()), |int| {
                            equal(int.expr(), "id")
                        })
                    }
                }
            }
        }
    }
}
