//! Which statements run when, on how many connections.

mod cluster;
mod cursor;
mod fan_out;
mod finish;
mod job;
mod limits;
mod look_for;
mod meet;
mod meter;
mod observe;
mod session;
mod source;

pub(crate) use cluster::{Clock, Cluster};
pub(crate) use cursor::{Grants, RowStream, by_source};
pub(crate) use fan_out::{all, query_all, query_some};
pub(crate) use finish::Finishing;
pub(crate) use job::Job;
pub use limits::{Limits, Retry};
pub(crate) use meter::HeldRows;
pub(crate) use observe::Span;
pub(crate) use session::{Caller, Returning, Session};
pub use source::SourceStatus;
pub(crate) use source::{Hold, Permit, Source};
