//! The cases, by what they are about. Each takes the database system that it is to run on.

#![allow(missing_docs, reason = "the cases name themselves")]

pub mod calendars;
pub mod changes;
pub mod collations;
pub mod config;
pub mod crowds;
pub mod errors;
pub mod explains;
pub mod faults;
pub mod fidelity;
pub mod groups;
pub mod homes;
pub mod joins;
pub mod keys;
pub mod lazy;
pub mod memory;
pub mod modes;
pub mod names;
pub mod observed;
pub mod pages;
pub mod peers;
pub mod proxy;
pub mod random;
pub mod reads;
pub mod routes;
pub mod shadow;
pub mod sources;
pub mod strategies;
pub mod support;
pub mod tables;
pub mod transactions;
pub mod writes;

/// Asks the same of a sharded entity and of the unsharded one, and compares the answers as JSON,
/// in order.
#[macro_export]
macro_rules! same {
    ($world:expr, $sharded:ident, $e:ident => $query:expr) => {{
        let (sharded, whole) = $crate::ask!($world, $sharded, $e => $query);
        $crate::json::assert_same(&sharded, &whole, stringify!($query));
        sharded
    }};
}

/// The same for a query that promises no order.
#[macro_export]
macro_rules! same_set {
    ($world:expr, $sharded:ident, $e:ident => $query:expr) => {{
        let (sharded, whole) = $crate::ask!($world, $sharded, $e => $query);
        let (sharded, whole) = ($crate::json::sorted(sharded), $crate::json::sorted(whole));
        $crate::json::assert_same(&sharded, &whole, stringify!($query));
        sharded
    }};
}

/// The answers of a sharded entity and of the unsharded one.
#[macro_export]
macro_rules! ask {
    ($world:expr, $sharded:ident, $e:ident => $query:expr) => {{
        let sharded: Result<Vec<serde_json::Value>, sea_orm::DbErr> = {
            use $crate::entity::$sharded as $e;
            $crate::json::rows(&$world.db, sea_orm::QueryTrait::as_query(&$query)).await
        };
        let whole: Result<Vec<serde_json::Value>, sea_orm::DbErr> = {
            use $crate::entity::whole as $e;
            $crate::json::rows(&$world.db, sea_orm::QueryTrait::as_query(&$query)).await
        };
        match (sharded, whole) {
            // Names of computed columns may hold the table's.
            (Ok(sharded), Ok(whole)) => (
                $crate::json::renamed(sharded, concat!("event_", stringify!($sharded))),
                whole,
            ),
            (sharded, whole) => panic!(
                "{}\nsharded: {:?}\nwhole: {:?}",
                stringify!($query),
                sharded.err(),
                whole.err(),
            ),
        }
    }};
}

/// The refusal of a statement, as text.
#[track_caller]
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, sea_orm::DbErr>) -> String {
    let error = result.unwrap_err();
    match sharding_sea_orm::ShardingError::of(&error) {
        Some(refused) => refused.to_string(),
        None => panic!("not refused, but failed: {error}"),
    }
}
