//! What went wrong in other sharding libraries, as cases with the right answer from the database.
//!
//! The reports are those of [ShardingSphere](https://github.com/apache/shardingsphere) and
//! [ShardingCore](https://github.com/dotnetcore/sharding-core); `#N` is an issue of the library
//! that is named beside it. The scenarios are our own, made after the symptoms. Every statement is
//! asked of a plain database, of four tables in one data source, and of two tables in each of two
//! data sources: one source must answer as the plain database does, several must as well, or
//! refuse. `SHARDING_TEST_REFUSALS=1` shows what they refuse.
//!
//! Not among them:
//!
//! - Writes, keys, transactions, pools, replicas, hints and metrics: reports about them have cases
//!   in `writes`, `keys`, `transactions` and `changes`, or are about what this library does not do
//!   (routes by hint, read/write splitting, distributed transactions, bulk tools, UPDATE over
//!   several sources).
//! - What only a parser of SQL text can get wrong (`JOIN … USING`, comments, hints in comments,
//!   positions of parameters in text, `LIMIT 10 OFFSET ?` in other dialects): text that names a
//!   sharded table is refused, see `errors`.
//! - ShardingSphere #39861 as to its exception text, #17874 as to formats of dates in text: keys
//!   are typed, so there is no format.
//! - ShardingCore's routes by hint, must and assertion, its replicas and their priorities, change
//!   tracking, bulk grouping, metadata and resolver; evaluation of captured expressions, which
//!   Rust does itself; `ExecuteUpdate` and `ExecuteDelete`, see `writes`.

pub mod aggregates;
mod bench;
mod check;
pub mod entities;
pub mod enums;
pub mod fixture;
pub mod found;
pub mod groups;
pub mod joins;
pub mod keys;
pub mod nested;
pub mod orders;
pub mod pages;
pub mod purchases;
pub mod routing;
pub mod sets;
pub mod times;
pub mod users;

pub use bench::Bench;
pub use check::Told;
use check::each;
pub use fixture::{Layout, Peers, Text};
