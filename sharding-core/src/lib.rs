//! The decisions of SQL sharding
pub mod key;
pub mod strategy;
