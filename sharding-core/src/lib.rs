//! The decisions of SQL sharding: pure values in, pure values out.
//!
//! This crate knows strategies, key sets, topologies, plans and merges. It does not know SQL text,
//! SeaORM, connections or an async runtime, and it reads no clock: whoever uses it performs what
//! it decides.
//!
//! ```text
//! visit ──► route ──► plan ──► rewrite ──► execute ──► merge
//!           ─────     ────                  ───────    ─────
//!           key       plan                  execute    merge
//!           strategy
//!           topology
//! ```
//!
//! - [`key`]: values of sharding keys, predicates over them, and sets of them;
//! - [`strategy`]: the rules from key values to partitions;
//! - [`topology`]: data sources, tables and nodes, checked as a whole; routing;
//! - [`plan`]: how per-node answers combine to the one-table answer, or a refusal;
//! - [`execute`]: how the statements of a query share connections, and whom to leave alone;
//! - [`merge`]: ordered, grouped and paged merging of rows;
//! - [`error`]: what can go wrong, grouped by who must act.
//!
//! ```
//! use sharding_core::key::{Comparison, KeyValue, Predicate};
//! use sharding_core::strategy::{Monthly, Strategy};
//!
//! let year = Monthly::starting(2013, 1).through(2013, 12);
//! let before_march = Predicate::Compare(
//!     Comparison::Less,
//!     KeyValue::Date("2013-03-01".parse().unwrap()),
//! );
//! let months: Vec<u32> = year.route(&before_march.keys()).below(12).collect();
//! assert_eq!(months, [0, 1]); // January and February
//! ```

pub mod error;
pub mod execute;
pub mod key;
pub mod merge;
pub mod plan;
pub mod strategy;
pub mod topology;
