//! The statement for one node. Statements are changed as trees and rendered by SeaQuery's stock
//! builders, so that a node sees the SQL that SeaORM itself would send.

mod bind;
mod groups;
mod select;
mod template;
mod write;

pub(crate) use bind::{Binding, Form, bound, bound_tree};
pub(crate) use select::{for_merge, typed_select};
pub(crate) use write::{node_delete, node_insert, node_update};
