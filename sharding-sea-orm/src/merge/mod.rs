//! The rows of several nodes become the rows of one table.

mod fold;
mod groups;
mod order;
mod rank;
mod shape;
mod strip;

pub(crate) use fold::{Columns, columns_of, fold, fold_streams, partials};
pub(crate) use groups::merge_groups;
pub(crate) use order::{
    Equal, Sorted, as_they_arrive, buffered, concatenate, keep_first, merge_streams,
};
pub(crate) use rank::Ranks;
pub(crate) use shape::shape_count;
pub(crate) use strip::strip;
