//! Which statements run when, on how many connections.

mod cluster;
mod fan_out;
mod look_for;
mod session;

pub(crate) use cluster::{Clock, Cluster, Source};
pub(crate) use fan_out::{Job, query_all, query_some};
pub(crate) use session::{Returning, RowStream, Session};
