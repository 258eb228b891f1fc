//! The first step of a statement: which tables, predicates, orders and groups are in it?
//!
//! SeaQuery keeps the fields of statements private, but hands each of them to a query builder.
//! The visitors here are such builders. They write no SQL.

mod aggregate;
mod dissect;
mod divide;
mod enums;
mod expr;
mod insert;
mod one_row;
mod order;
mod predicate;
mod proof;
pub(crate) mod raw;
mod recompose;
mod route;
mod scan;
mod select;
mod selection;
mod shape;
mod tree;
mod write;

pub(crate) use dissect::{Parts, dissect_select, with_of};
pub(crate) use expr::parts_of_case;
pub(crate) use expr::{parts_of_with, select_of_with};
pub(crate) use insert::{InsertView, Inserted};
pub(crate) use recompose::with_tables;
pub(crate) use route::keys;
pub(crate) use scan::{Scan, scan_statement};
pub(crate) use select::{SelectView, Selected};
pub(crate) use selection::{Made, Selection, fill};
pub(crate) use tree::Tree;
pub(crate) use write::{WriteView, Written};
