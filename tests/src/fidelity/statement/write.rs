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

impl Write {
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
