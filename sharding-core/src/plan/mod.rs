//! How the answers of several nodes become the answer of one table, or why they cannot.
//!
//! The ladder: one node answers alone; several nodes are merged where every operator of the
//! statement provably decomposes; else, if all nodes are in one data source, the database answers
//! over their union; else the statement is refused by name.

mod groups;
mod page;
mod read;
mod refusal;
mod shape;
mod write;

pub use groups::{Fold, GroupPlan, Output, Part, Partial};
pub use page::Page;
pub use read::{Merge, Reach, ReadPlan, SortKey, plan_read};
pub use refusal::{Clause, Refusal};
pub use shape::{
    Aggregate, Direction, Function, GroupKey, Item, Nulls, OrderKey, Piece, Proof, RowItem,
    SelectShape, TextOrder,
};
pub use write::{WritePlan, WriteShape, plan_write};
