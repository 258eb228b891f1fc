//! The rows of several nodes become the rows of one table.

mod groups;
mod order;
mod rank;
mod shape;
mod strip;

pub(crate) use groups::merge_groups;
pub(crate) use order::{Equal, buffered, concatenate, merge_streams};
pub(crate) use rank::Ranks;
pub(crate) use shape::shape_count;
pub(crate) use strip::strip;
