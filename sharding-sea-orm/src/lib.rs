//! Sharding for SeaORM: N tables in M databases answer exactly as one table would, or the
//! statement is refused with an error that names the clause and the way out.
//!
//! An application marks an entity with the key and the strategy that place its rows, connects with
//! [`ShardingConnection`] instead of SeaORM's connection, and goes on writing SeaORM. Statements
//! are routed by their predicates, sent to the physical tables they reach, and their answers
//! merged.
//!
//! ```
//! use chrono::{TimeZone, Utc};
//! use sea_orm::entity::prelude::*;
//! use sea_orm::{QueryOrder, Set};
//! use sharding_sea_orm::ShardingConnection;
//!
//! mod flight {
//!     use sea_orm::entity::prelude::*;
//!     use sharding_sea_orm::{Monthly, Sharded};
//!
//!     #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
//!     #[sea_orm(table_name = "flight")]
//!     #[sharded(table(key = time_hour, by = Monthly::starting(2013, 1).through(2014, 1)))]
//!     pub struct Model {
//!         #[sea_orm(primary_key, auto_increment = false)]
//!         pub id: i64,
//!         pub time_hour: DateTimeUtc,
//!         pub carrier: String,
//!     }
//!
//!     #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
//!     pub enum Relation {}
//!
//!     impl ActiveModelBehavior for ActiveModel {}
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let db = ShardingConnection::builder()
//!     .source("ds0", "sqlite::memory:")
//!     .entity::<flight::Entity>()
//!     .connect()
//!     .await?;
//! db.create_tables().await?; // flight_201301 to flight_201401
//!
//! for (id, month) in [(1, 3), (2, 1), (3, 3)] {
//!     let time_hour = Set(Utc.with_ymd_and_hms(2013, month, 9, 5, 0, 0).unwrap());
//!     flight::ActiveModel { id: Set(id), time_hour, carrier: Set("UA".into()) }
//!         .insert(&db)
//!         .await?;
//! }
//!
//! let since = Utc.with_ymd_and_hms(2013, 2, 1, 0, 0, 0).unwrap();
//! let query = flight::Entity::find()
//!     .filter(flight::Column::TimeHour.gte(since))
//!     .order_by_desc(flight::Column::Id);
//! assert_eq!(db.explain(&query)?.nodes.len(), 12); // not January 2013
//! let ids: Vec<i64> = query.all(&db).await?.iter().map(|flight| flight.id).collect();
//! assert_eq!(ids, [3, 1]);
//! # Ok(())
//! # }
//! ```
//!
//! # How a statement is answered
//!
//! 1. **One node** is reached: the statement passes through with the physical table's name.
//! 2. **Several nodes**, and every operator decomposes: the nodes' answers are concatenated,
//!    merged in order, paged, or combined group by group.
//! 3. **Several nodes of one data source**, not decomposable: the database answers over the
//!    `UNION ALL` of the physical tables.
//! 4. Otherwise the statement is **refused**; [`ShardingError::Refused`] names the clause.
//!
//! [`ShardingConnection::explain`] tells which, why, and shows the SQL of each node.
//!
//! # Where rows go
//!
//! | strategy | keys | narrows on |
//! |---|---|---|
//! | [`Modulo`], [`HashModulo`], [`HashBuckets`] | integers; any | equality, `IN` |
//! | [`Ranges`], [`Lists`] | any | equality, `IN`, ranges |
//! | calendars, [`Hourly`] to [`Yearly`] | dates, timestamps, Unix time | equality, `IN`, ranges |
//! | [`SnowflakeTime`], [`SnowflakeHash`] | Snowflake ids | equality, `IN`, ranges |
//! | [`Embedded`] | text that holds the name of its tail | equality, `IN` |
//!
//! A rule chooses the tail (`table(key = …, by = …)`), the data source (`source(key = …, by = …)`),
//! each of them one, or both together (`node(key = …, by = …)`). The key is a field or several, the
//! strategy an expression, so that a wrong one does not compile.
//!
//! The derive, the calls of [`ShardingBuilder`] and a file ([`Config`]) say the same things.
//! [`ShardingConnection::change`] changes data sources and rules under running statements.
//!
//! # What one table does and tails cannot
//!
//! - Primary and unique keys hold within each physical table. They hold overall if they contain
//!   the sharding keys, or if whoever makes the values makes them unique, as UUIDs and Snowflake
//!   ids are.
//! - The database does not number rows: an INSERT without its primary key is refused.
//! - Statements over several nodes see each node at its own moment, unless a transaction of a
//!   stricter isolation level gives them one.
//!
//! # Features
//!
//! `sqlx-sqlite` (a default), `sqlx-postgres` and `sqlx-mysql` enable the database systems, as
//! SeaORM's features of these names do. `config` (a default) is for configuration files, and
//! `schema` for their JSON Schema. `tracing` and `metrics` (off) tell what goes on through the
//! facades of these names: see `docs/execution.md`. MariaDB needs version 10.6 or later for merged groups,
//! MySQL 8.0.

mod catalog;
#[cfg(feature = "config")]
mod config;
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
pub mod shadow;
mod shards;
mod statement;
mod tables;
mod value;
mod visit;

pub use sharding_core::execute::{BreakerRules, BreakerState, ConnectionMode};
pub use sharding_core::strategy::{
    Calendar, Daily, Embedded, EveryDays, HashBuckets, HashModulo, HashSplit, Hourly, Lists,
    Modulo, Monthly, Quarterly, Ranges, SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash,
    SnowflakeLayout, SnowflakeSpan, SnowflakeTime, Strategy, UnixTime, Weekly, Yearly, Zone,
};
pub use sharding_core::topology::{Home, Node, SourceState, Table, TableName, Topology};

/// What strategies of one's own are written with.
pub mod strategy {
    pub use sharding_core::key::{Interval, KeyKind, KeySet, KeyValue};
    pub use sharding_core::strategy::*;
}

/// The examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../docs/strategies.md")]
struct Guide;
pub use sharding_macros::Sharded;

#[cfg(feature = "config")]
pub use config::Config;
#[cfg(feature = "schema")]
pub use config::json_schema;
pub use connection::{ShardingBuilder, ShardingChange, ShardingConnection, ShardingTransaction};
pub use entity::{
    EntityGroup, EntityRules, KeyPart, KeyRule, Places, PlacesTogether, ShardedEntity, composite,
    part, rule,
};
pub use error::ShardingError;
pub use execute::{Limits, Retry, SourceStatus};
pub use explain::{Explain, ExplainedKey, ExplainedNode, Explanation, Rung};
