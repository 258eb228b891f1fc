//! Writes as plain data.

use serde::{Deserialize, Serialize};

use super::Expr;
use crate::fidelity::schema::{Row, Table};

/// A write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Write {
    /// The table.
    pub table: Table,
    /// What is done.
    pub action: Action,
    /// Whether sea-query's statement is sent, or else SeaORM's call is made.
    pub plain: bool,
    /// RETURNING, where the database has it.
    #[serde(default)]
    pub returning: bool,
}

/// What a write does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// INSERT.
    Insert {
        /// The rows, with a value for every column.
        rows: Vec<Row>,
        /// ON CONFLICT.
        #[serde(default)]
        conflict: Option<Conflict>,
    },
    /// UPDATE of the rows that match.
    Update {
        /// The columns and their new values.
        sets: Vec<(String, Expr)>,
        /// WHERE.
        filter: Option<Expr>,
    },
    /// DELETE of the rows that match.
    Delete {
        /// WHERE.
        filter: Option<Expr>,
    },
}

/// ON CONFLICT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// The columns that conflict.
    pub on: Vec<String>,
    /// The columns that take the new values; nothing is done if there are none.
    pub update: Vec<String>,
}

/// The columns that rules may use as keys.
pub const KEYS: [&str; 7] = ["id", "fact_id", "at", "kind", "big", "day", "uid"];

impl Write {
    /// Whether no row repeats the primary key of a row that may be in another node: such a row
    /// would not be noticed there. There have to be rows at all.
    pub fn is_fair(&self, present: &[Row]) -> bool {
        let Action::Insert { rows, .. } = &self.action else {
            return true;
        };
        let positions = KEYS.iter().filter_map(|name| self.table.position(name));
        let positions: Vec<usize> = positions.collect();
        let keys = |row: &Row| -> Vec<Option<String>> {
            positions.iter().map(|at| row[*at].clone()).collect()
        };
        let fair = |(number, row): (usize, &Row)| {
            let others = present.iter().chain(&rows[..number]);
            let mut same = others.filter(|other| other.first() == row.first());
            same.all(|other| keys(other) == keys(row))
        };
        let whole = |row: &Row| row.len() == self.table.columns().len();
        !rows.is_empty() && rows.iter().all(whole) && rows.iter().enumerate().all(fair)
    }

    /// Every expression of the write.
    pub fn exprs(&self) -> Vec<&Expr> {
        match &self.action {
            Action::Insert { .. } => Vec::new(),
            Action::Update { sets, filter } => {
                let sets = sets.iter().map(|(_, value)| value);
                sets.chain(filter).collect()
            }
            Action::Delete { filter } => filter.iter().collect(),
        }
    }
}
