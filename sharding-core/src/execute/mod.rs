//! How the statements of a query share connections, and whom to leave alone for a while.
//!
//! What is decided here runs elsewhere: there are no connections and no clock.

mod breaker;
mod connections;

pub use breaker::{Admission, Breaker, BreakerRules, BreakerState};
pub use connections::{ConnectionMode, Demand, Running};
