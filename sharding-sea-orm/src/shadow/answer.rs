//! Answers as the drivers give them: names, types and values of every cell.

use std::fmt;

use sea_orm::{DbErr, QueryResult};

use super::cell::Cell;
use crate::dialect;

/// An answer to a statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// The columns; none if there is no row.
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    /// The driver's name of its type.
    pub(super) type_name: String,
}

/// The values of a row.
#[derive(Clone, Debug)]
pub(super) struct Row(pub(super) Vec<Cell>);

impl Answer {
    pub(super) fn of<'r>(rows: impl IntoIterator<Item = &'r QueryResult>) -> Result<Self, DbErr> {
        let mut answer = Self::default();
        for row in rows {
            answer.push(row)?;
        }
        Ok(answer)
    }

    pub(super) fn push(&mut self, row: &QueryResult) -> Result<(), DbErr> {
        if self.rows.is_empty() {
            self.columns = columns(row);
        }
        let cells = (0..self.columns.len()).map(|column| Cell::read(row, column));
        self.rows.push(Row(cells.collect::<Result<_, _>>()?));
        Ok(())
    }

    /// The name of a column.
    pub(super) fn name(&self, column: usize) -> String {
        let column = self.columns.get(column);
        column.map(|column| column.name.clone()).unwrap_or_default()
    }
}

fn columns(row: &QueryResult) -> Vec<Column> {
    let names = row.column_names().into_iter().enumerate();
    let column = |(at, name)| Column {
        name,
        type_name: type_name(row, at),
    };
    names.map(column).collect()
}

fn type_name(row: &QueryResult, column: usize) -> String {
    #[cfg(feature = "sqlx-sqlite")]
    if let Some(row) = row.try_as_sqlite_row() {
        use sea_orm::sqlx::{Column, Row, TypeInfo};

        let column = row.columns().get(column);
        return column.map_or_else(String::new, |c| c.type_info().name().to_owned());
    }
    dialect::type_name(row, column)
}

impl Row {
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| a.is_same(b))
    }

    /// The first column in which the rows differ.
    pub(super) fn first_difference(&self, other: &Self) -> Option<usize> {
        let mut cells = self.0.iter().zip(&other.0);
        cells.position(|(a, b)| !a.is_same(b))
    }

    /// In how many columns the rows agree.
    pub(super) fn agreement(&self, other: &Self) -> usize {
        let cells = self.0.iter().zip(&other.0);
        cells.filter(|(a, b)| a.is_same(b)).count()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, cell) in self.0.iter().enumerate() {
            write!(f, "{}{cell}", if at == 0 { "(" } else { ", " })?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)?;
        match self.type_name.as_str() {
            "" => Ok(()),
            type_name => write!(f, " of the type {type_name}"),
        }
    }
}
