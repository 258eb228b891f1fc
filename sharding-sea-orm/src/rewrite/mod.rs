//! The statement for one node. Statements are changed as trees and rendered by SeaQuery's stock
//! builders, so that a node sees the SQL that SeaORM itself would send.

mod groups;
mod select;
mod template;
mod write;

pub(crate) use select::{node_statements, typed_select, union_select};
pub(crate) use write::{node_delete, node_insert, node_update};
