//! The rows of several nodes, in the right order, grouped and cut.
//!
//! Nothing here knows where rows come from: a caller feeds values and is told which input to read
//! next.

mod error;
mod groups;
mod order;
mod page;
mod tournament;
mod value;

pub use error::MergeError;
pub use groups::GroupMerger;
pub use order::{ByKeys, Order};
pub use page::PageCutter;
pub use tournament::Tournament;
pub use value::{Datum, compare_rows};
