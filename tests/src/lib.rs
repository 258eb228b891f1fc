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
            pages: far_and_near, in_sequence, extremes;
            groups: aggregates, aggregates_of_nothing, grouped, grouped_and_ordered, counts,
                decoded_types, computed, climbing;
            joins: to_unsharded_tables, conditions_that_null_meets, lists_of_other_columns;
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
            shadow: same_rows, values, orders, refusals, writes, failures, transactions,
                assertions;
            homes: broadcast_tables, single_tables, co_located_tables, refused_writes;
            changes: growth_under_queries, limits_of_added_sources, refusals, draining;
            crowds: no_deadlock, waits_are_bounded, one_place_in_the_line,
                sources_side_by_side, callers_that_go_away;
            lazy: first_statements;
            modes: worked_example, all_merges, long_streams, budgets, timeouts;
            observed: spans_and_numbers;
            names: quoted, without_separator, with_schema;
            support: page;
        );
        $crate::files!($backend; in peers;
            orders: orders_of_nulls, orders_of_bytes, orders_of_large_numbers,
                orders_of_nothing_but_nulls, missing_first_table, streams_by_text, orders_of_text,
                orders_of_uuids, orders_by_what_is_not_selected;
            enums: orders_of_enums, groups_of_enums, unions_of_enums;
            found: lists_with_swapped_names, aliases_that_differ_in_case,
                orders_by_extremes_of_text, later_conditions, sums_of_quotients,
                windows_over_lists, locks_of_shared_rows;
            groups: groups_of_mixed_case, groups_in_other_orders, sums_of_letters,
                aliases_of_group_keys, groups_of_nulls, distinct_counts_of_groups,
                distinct_counts_by_another_column, distinct_counts_of_pairs,
                groups_over_all_tables, concatenated_groups;
            aggregates: aggregates_of_no_rows, windows_of_no_rows, windows_over_tables,
                functions_around_aggregates, averages_of_distinct_values, averages,
                sums_of_long_numbers, types_of_aggregates, ordered_counts;
            sets: having_over_tables, having_before_the_page, distinct_rows, unions_of_all_rows,
                unions_of_other_keys, unions_with_single_tables, intersections_and_differences,
                pages_of_unions, first_of_every_group;
            pages: pages_of_groups, pages_of_one_table, pages_again, second_pages,
                all_pages_together, pages_of_joins, one_row_behind_others, pages_in_subqueries;
            routing: negations, branches_without_key, contradictions, keys_of_other_tables,
                keys_in_subqueries, conditions_that_always_hold, lists_of_keys;
            keys: wide_numbers, literals_on_the_left, borders_of_ranges, tails_that_begin_alike,
                letter_case, null_keys;
            times: ranges_beyond_the_months, slots_of_several_days, forms_of_times, one_day,
                spellings_of_ranges;
            joins: joins_by_another_column, left_joins, right_and_full_joins,
                rows_of_another_database, relations, tables_of_two_groups,
                plain_tables_on_the_left, self_joins;
            nested: existence, derived_tables, aggregates_of_joins;
            users: users_in_order, users_by_key, extremes_of_users, salaries_of_users,
                salaries_in_groups, users_of_a_subquery, updates_and_deletes;
            purchases: orders_by_time, pages_of_orders, aggregates_of_orders,
                last_and_only_orders, rows_by_two_keys;
        );
    };
}

/// Mounts the cases that need no server.
#[macro_export]
macro_rules! mount_embedded {
    ($backend:expr) => {
        $crate::cases!($backend;
            memory: crowds, more_tables_than_a_union;
        );
    };
}

/// Mounts the cases that need a server.
#[macro_export]
macro_rules! mount_servers {
    ($backend:expr) => {
        $crate::cases!($backend;
            faults: stalled, cut, retried, absent;
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

/// One test function for each file of a folder, whose cases share their databases.
#[macro_export]
macro_rules! files {
    ($backend:expr; in $folder:ident; $($suite:ident: $($case:ident),+;)+) => {
        mod $folder {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $suite() {
                    let bench = tests::suite::peers::Bench::new($backend);
                    $(
                        let case = tests::suite::$folder::$suite::$case;
                        bench.run(stringify!($case), case).await;
                    )+
                    bench.end().await;
                }
            )+
        }
    };
}
