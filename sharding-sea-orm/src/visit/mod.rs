//! The first step of a statement: which tables, predicates, orders and groups are in it?
//!
//! SeaQuery keeps the fields of statements private, but hands each of them to a query builder.
//! The visitors here are such builders. They write no SQL.

mod dissect;
mod insert;
mod predicate;
mod proof;
pub(crate) mod raw;
mod recompose;
mod scan;
mod select;
mod write;

pub(crate) use dissect::Parts;
pub(crate) use insert::{InsertView, Inserted};
pub(crate) use scan::{Scan, scan_statement};
pub(crate) use select::{SelectView, Selected};
pub(crate) use write::{WriteView, Written};
