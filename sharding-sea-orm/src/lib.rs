//! Sharding for SeaORM.
mod catalog;
mod connection;
mod dialect;
mod downcast;
mod entity;
pub mod error;
mod execute;
mod explain;
mod merge;
mod plan;
mod rewrite;
mod run;
mod shards;
mod statement;
mod tables;
mod value;
mod visit;

pub use sharding_core::strategy::{HashModulo, Modulo, Monthly, Strategy, Zone};
pub use sharding_macros::Sharded;

pub use connection::{ShardingBuilder, ShardingConnection, ShardingTransaction};
pub use entity::{EntityRules, KeyRule, Places, ShardedEntity, rule};
pub use error::ShardingError;
pub use explain::{Explain, ExplainedKey, ExplainedNode, Explanation, Rung};
