//! The rows of several nodes become the rows of one table.

mod groups;
mod order;
mod shape;

pub(crate) use groups::merge_groups;
pub(crate) use order::{buffered, concatenate, merge_streams};
