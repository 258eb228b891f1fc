//! Columns that a union makes something else of.

use sea_orm::ColumnType;
use sea_orm::sea_query::{Expr, SelectExpr, WindowSelectType};

use super::expr::{each_part, parts_of_window};
use super::route::column_of;
use super::tree::{Block, Reads, Tree};
use crate::entity::EntityTable;

/// What is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sorted {
    /// An ENUM, or what is computed from one.
    Any,
    /// What is computed from one, such as its MIN.
    Computed,
}

impl Tree<'_> {
    /// Whether rows may be sorted by what is computed from an ENUM. MariaDB does that otherwise
    /// under another name for the table.
    pub(crate) fn may_sort_computed_enums(&self) -> bool {
        self.sorts(Sorted::Computed)
    }

    /// Whether rows may be sorted by an ENUM. MariaDB makes texts of them in a union, which sort
    /// otherwise than the ENUM's values were declared.
    pub(crate) fn may_sort_enums(&self) -> bool {
        self.sorts(Sorted::Any)
    }

    fn sorts(&self, sorted: Sorted) -> bool {
        let mut enums = Vec::new();
        self.each_table(&mut |_, _, sharded| {
            enums.extend(enums_of(sharded.entity).map(str::to_owned));
            enums.extend(sharded.facts.enums().map(str::to_owned));
        });
        let enums: Vec<&str> = enums.iter().map(String::as_str).collect();
        !enums.is_empty() && self.root.may_sort(&enums, sorted)
    }
}

fn enums_of(entity: &EntityTable) -> impl Iterator<Item = &'static str> {
    let is_enum = |column_type: &ColumnType| {
        !matches!(column_type, ColumnType::Json | ColumnType::JsonBinary)
            && matches!(column_type, ColumnType::Enum { .. } | ColumnType::Custom(_))
    };
    let columns = entity.columns.iter();
    let enums = columns.filter(move |column| is_enum(&column.column_type));
    enums
        .map(|column| column.name)
        .collect::<Vec<_>>()
        .into_iter()
}

impl Block<'_> {
    fn may_sort(&self, enums: &[&str], sorted: Sorted) -> bool {
        let parts = &self.parts;
        let names = |expr: &Expr, enums: &[&str]| {
            names(expr, enums) && (sorted == Sorted::Any || column_of(expr).is_none())
        };
        let selects = parts.items.iter().any(|item| names(&item.expr, enums));
        // A number or an alias stands for an item.
        let sorts = |expr: &Expr| {
            let may_be_item = matches!(expr, Expr::Custom(_))
                || column_of(expr).is_some_and(|(table, _)| table.is_none());
            names(expr, enums) || (selects && may_be_item)
        };
        // A subquery may give the column another name.
        let renames = self.uses.iter().any(|used| match &used.reads {
            Reads::Block(block, columns) => {
                !columns.is_empty()
                    || block
                        .parts
                        .items
                        .iter()
                        .any(|item| names(&item.expr, enums))
            }
            _ => false,
        });
        let in_window = |item: &SelectExpr| match &item.window {
            Some(WindowSelectType::Query(window)) => {
                let order = parts_of_window(window).order;
                (renames && !order.is_empty()) || order.iter().any(sorts)
            }
            Some(_) => true,
            None => false,
        };
        let within = self.uses.iter().any(|used| match &used.reads {
            Reads::Block(block, _) => block.may_sort(enums, sorted),
            _ => false,
        });
        (renames && !parts.order.is_empty())
            || parts.order.iter().any(|key| sorts(&key.expr))
            || parts.items.iter().any(in_window)
            || within
            || self
                .inner
                .iter()
                .any(|inner| inner.block.may_sort(enums, sorted))
            || self
                .branches
                .iter()
                .any(|(_, branch)| branch.may_sort(enums, sorted))
    }
}

/// Whether an expression names one of these columns, of whatever table.
fn names(expr: &Expr, columns: &[&str]) -> bool {
    if let Some((_, name)) = column_of(expr) {
        return columns
            .iter()
            .any(|column| name.eq_ignore_ascii_case(column));
    }
    let mut found = false;
    each_part(expr, &mut |part| found = found || names(part, columns));
    found
}
