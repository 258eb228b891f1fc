//! The entities: `flight` is sharded, `flight_whole` has the same rows in one table, and the others
//! are ordinary tables.
#![allow(
    unreachable_pub,
    reason = "entities are public, as what is derived from them"
)]

pub mod airline;
pub mod flight;
pub mod flight_whole;
pub mod plane;
