//! Writes.

use super::{Maker, Seen, seen};
use crate::fidelity::data::text;
use crate::fidelity::schema::{Kind, Row, Table};
use crate::fidelity::statement::write::{Action, Conflict, KEYS, Write};
use crate::fidelity::statement::{Expr, Operator};

impl Maker<'_> {
    /// A write.
    pub(super) fn write(&mut self) -> Write {
        let table = self.random.weighted(&[
            (70, Table::Fact),
            (22, Table::Item),
            (4, Table::Tag),
            (4, Table::Owner),
        ]);
        let action = match self.random.below(10) {
            0..4 => self.insert(table),
            4..7 => self.update(table),
            _ => {
                let filter = self.write_filter(table);
                Action::Delete { filter }
            }
        };
        Write {
            table,
            action,
            plain: self.random.percent(40),
            returning: self.random.one_in(6),
        }
    }

    fn insert(&mut self, table: Table) -> Action {
        let count = self.random.of(&[1, 1, 1, 2, 5, 12]);
        let rows: Vec<Row> = (0..count)
            .map(|number| self.new_row(table, number))
            .collect();
        let others = table.columns().iter();
        let others = others.filter(|column| !KEYS.contains(&column.name));
        let others: Vec<String> = others.map(|column| column.name.to_owned()).collect();
        let conflict = self.random.one_in(3).then(|| Conflict {
            on: vec!["id".to_owned()],
            update: if self.random.one_in(4) {
                Vec::new()
            } else {
                let count = 1 + self.random.below(3);
                (0..count)
                    .filter_map(|_| self.random.pick(&others).cloned())
                    .collect::<std::collections::BTreeSet<_>>()
                    .into_iter()
                    .collect()
            },
        });
        Action::Insert { rows, conflict }
    }

    /// A row that is not there, or one that is there with other values outside of its keys: a row
    /// with the same primary key and another sharding key would be another row of another node.
    fn new_row(&mut self, table: Table, number: usize) -> Row {
        let old = self.random.pick(self.spec.rows_of(table)).cloned();
        let repeats = self.random.one_in(5);
        let columns = table.columns().iter().enumerate().map(|(at, column)| {
            if let Some(old) = &old
                && KEYS.contains(&column.name)
                && (repeats || column.name != "id")
                && (repeats || self.random.percent(70))
            {
                return old[at].clone();
            }
            if column.name == "id" {
                let free = 1_000_000 + number as i64 * 7;
                let within = old
                    .as_ref()
                    .and_then(|old| old[0].as_ref()?.parse::<i64>().ok());
                // Ids that hold a time have to hold one of the world's.
                return Some(match within {
                    Some(within)
                        if table == Table::Fact && (100_000..1 << 52).contains(&within) =>
                    {
                        (within + 1 + number as i64).to_string()
                    }
                    _ => free.to_string(),
                });
            }
            let empty = column.nullable && self.random.one_in(4);
            (!empty).then(|| match column.name {
                "fact_id" => "1".to_owned(),
                "day" => {
                    let at = text(&mut self.random, &self.recipe, Kind::Instant);
                    at[..10].to_owned()
                }
                _ => text(&mut self.random, &self.recipe, column.kind),
            })
        });
        columns.collect()
    }

    fn update(&mut self, table: Table) -> Action {
        let scope = seen(table, table.name());
        let mut sets: Vec<(String, Expr)> = Vec::new();
        for _ in 0..self.random.of(&[1, 1, 2, 3]) {
            let share = if self.random.one_in(10) { 100 } else { 0 };
            let fits =
                |seen: &Seen| seen.name != "id" && (share > 0 || !KEYS.contains(&&*seen.name));
            let Some(column) = self.column(&scope, fits) else {
                continue;
            };
            if sets.iter().any(|(name, _)| *name == column.name) {
                continue;
            }
            let nullable = table
                .column(&column.name)
                .is_some_and(|column| column.nullable);
            let value = match self.random.below(8) {
                0 if nullable => Expr::Lit(column.kind, None),
                1 if matches!(column.kind, Kind::Int | Kind::Small) => {
                    let one = Expr::Lit(column.kind, Some("1".to_owned()));
                    Expr::op(Operator::Add, column.expr(), one)
                }
                2 if column.kind == Kind::Decimal => {
                    let two = Expr::Lit(Kind::Int, Some("2".to_owned()));
                    Expr::op(Operator::Mul, column.expr(), two)
                }
                _ => match self.literal(&column) {
                    Expr::Lit(_, text) => Expr::Lit(column.kind, text),
                    other => other,
                },
            };
            sets.push((column.name, value));
        }
        if sets.is_empty() {
            let name = table.columns()[1].name.to_owned();
            sets.push((name.clone(), Expr::col(table.name(), &name)));
        }
        let filter = self.write_filter(table);
        Action::Update { sets, filter }
    }

    /// Mostly one row by its key, as models are written, else what a condition gives.
    fn write_filter(&mut self, table: Table) -> Option<Expr> {
        let scope = seen(table, table.name());
        if self.random.one_in(25) {
            return None;
        }
        if self.random.percent(35)
            && let Some(row) = self.random.pick(self.spec.rows_of(table)).cloned()
        {
            // As many of the keys as users write.
            let keys = table.columns().iter().zip(&row).filter(|(column, _)| {
                column.name == "id" || (KEYS.contains(&column.name) && self.random.one_in(2))
            });
            let equal = keys.map(|(column, text)| {
                Expr::op(
                    Operator::Eq,
                    Expr::col(table.name(), column.name),
                    Expr::Lit(column.kind, text.clone()),
                )
            });
            return Some(Expr::All(equal.collect()));
        }
        Some(self.condition(&scope, 2))
    }
}
