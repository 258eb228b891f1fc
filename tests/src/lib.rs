//! The suite: every case runs on every database system, and its oracle is the database itself on
//! one unsharded table that holds the same rows.
//!
//! `tests/sqlite.rs`, `tests/postgres.rs` and `tests/mysql.rs` mount all cases with [`mount!`].

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test panics to fail"
)]

pub mod entity;
pub mod fidelity;
pub mod json;
pub mod suite;
pub mod world;
pub mod zoo;

/// Mounts every case of the suite for one database system.
#[macro_export]
macro_rules! mount {
    ($backend:expr) => {
        $crate::cases!($backend;
            config: everything_wrong_at_once, unreachable_sources, files, mistakes_of_files;
            random: statements;
            reads: predicates, orders, pages, text_orders, concatenations, streams, one_row,
                exists, cursors, decoding, empty_answers;
            groups: aggregates, aggregates_of_nothing, grouped, grouped_and_ordered, counts,
                decoded_types, climbing;
            joins: to_unsharded_tables;
            writes: inserts, inserts_in_order, inserts_as_a_whole, keys_of_inserts, updates,
                updates_of_keys, deletes, conflicts, returning;
            transactions: commits, rollbacks, savepoints, second_sources;
            sources: reads_over_two, refusals_over_two, writes_over_two;
            errors: raw_text, text_in_statements, other_spellings, missing_tables, nested_tables,
                definitions;
            tables: created_again, named_by_tail, foreign_keys;
            collations: loose_text_keys, case_insensitive_groups;
            explains: selects, writes;
            fidelity: few_thousand;
            strategies: random_statements, places, composite_keys, secondary_keys;
            routes: sound;
            keys: small, wide, unsigned, boolean, text, bytes, uuid, date, date_time, instant,
                time_date, time_date_time, time_instant, variant, decimal, trailing_spaces;
            calendars: roll_over, tails_of_others, other_clocks, roll_over_in_transactions;
            homes: broadcast_tables, single_tables, co_located_tables, refused_writes;
            changes: growth_under_queries, refusals, draining;
            names: quoted, without_separator, with_schema;
        );
    };
}

/// One test function for each case.
#[macro_export]
macro_rules! cases {
    ($backend:expr; $($suite:ident: $($case:ident),+;)+) => {
        $(
            mod $suite {
                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $case() {
                        tests::suite::$suite::$case($backend).await;
                    }
                )+
            }
        )+
    };
}
