//! GROUP BY.

use sea_orm::sea_query::{Expr, ExprTrait, Func, Query, SelectStatement};
use sea_orm::{DbBackend, Order};
use serde_json::json;

use super::entities::{row, t};
use super::{Bench, Text};

fn spelled(words: &[&str]) -> Vec<t::Model> {
    let row = |(id, c): (i64, &&str)| t::Model {
        c: (*c).to_owned(),
        n: Some(id as i32),
        ..row(id)
    };
    (0..).zip(words).map(row).collect()
}

fn numbers(numbers: &[Option<i32>]) -> Vec<t::Model> {
    let row = |(id, n): (i64, &Option<i32>)| t::Model { n: *n, ..row(id) };
    (0..).zip(numbers).map(row).collect()
}

/// `SELECT … FROM t`.
fn select() -> SelectStatement {
    Query::select().from(t::Entity).take()
}

/// Groups came twice under a collation that ignores case (#2687 of ShardingSphere).
pub async fn groups_of_mixed_case(bench: &Bench) {
    let rows = spelled(&["", "a", "a", "", "", "A"]);
    let rows = rows.into_iter().filter(|row| !row.c.is_empty()).collect();
    let peers = bench.with(Text::NoCase, rows).await;
    let mut query = select();
    query.expr(Expr::col(t::Column::Id).count());
    query.group_by_col(t::Column::C);
    peers.same(&query).await.answered().rows(json!([[3]]));
    let mut distinct = select();
    distinct.expr(Expr::col(t::Column::C).count_distinct());
    peers.same(&distinct).await.answered().rows(json!([[1]]));
    let mut extreme = select();
    extreme.expr(Func::lower(Expr::col(t::Column::C).max()));
    peers.same(&extreme).await.answered().rows(json!([["a"]]));
    peers.end().await;
}

/// Groups after the first were out of order, and one of them came twice, where the order of the
/// database was not the library's (#26688 of ShardingSphere).
pub async fn groups_in_other_orders(bench: &Bench) {
    let words = [
        "A", "A", "B", "b", "C", "C", "D", "D", "é", "e", "e-a", "ea", "e a", "10", "9", "ß", "ss",
        "E", "É", "a ", "a",
    ];
    for text in Text::LOOSE {
        let ranked = text.is_ranked(bench.backend);
        let peers = bench.with(text, spelled(&words)).await;
        for order in [Order::Asc, Order::Desc] {
            // Which spelling stands for a group is the database's choice.
            let mut query = select();
            query
                .expr_as(Expr::col(t::Column::Id).count(), "count")
                .expr_as(Expr::col(t::Column::N).sum(), "sum")
                .group_by_col(t::Column::C)
                .order_by(t::Column::C, order);
            peers.same(&query).await.answered_if(ranked);
            peers
                .same(query.limit(4).offset(2))
                .await
                .answered_if(ranked)
                .count(4);
        }
        let mut letters = select();
        letters
            .expr_as(Func::lower(Expr::col(t::Column::C)), "letter")
            .expr_as(Expr::col(t::Column::Id).count(), "count")
            .and_where(Expr::col(t::Column::C).is_in(["A", "B", "b", "C", "D"]))
            .group_by_col(t::Column::C)
            .order_by(t::Column::C, Order::Asc)
            .order_by_expr(Expr::col(t::Column::Id).min(), Order::Asc);
        peers.same(&letters).await.answered_if(ranked);
        peers.end().await;
    }
}

/// A letter came twice, beside itself in the other case (#21407 of ShardingSphere).
pub async fn sums_of_letters(bench: &Bench) {
    let words = ["U", "u", "B", "E", "u", "U", "B", "e", "U"];
    for text in [Text::Bytes, Text::NoCase] {
        let peers = bench.with(text, spelled(&words)).await;
        let mut query = select();
        query
            .expr_as(Expr::col(t::Column::N).sum(), "x")
            .expr_as(Expr::col(t::Column::Id).sum(), "y")
            .expr_as(Expr::col(t::Column::K).sum(), "z")
            .and_where(Expr::col(t::Column::C).is_in(["U", "u", "B", "E"]))
            .group_by_col(t::Column::C);
        let groups = if text == Text::NoCase { 3 } else { 4 };
        let told = peers.same_set(&query).await.answered().count(groups);
        if text == Text::Bytes {
            told.answered();
        }
        peers.end().await;
    }
}

/// An alias that is the name of a group's key stands for itself in ORDER BY, and for the column in
/// GROUP BY (our own case).
pub async fn aliases_of_group_keys(bench: &Bench) {
    let peers = bench.joined().await;
    let mut sums = select();
    sums.expr_as(Expr::col(t::Column::N).sum(), "k")
        .group_by_col(t::Column::K);
    peers.same_set(&sums).await.answered().count(5);
    peers
        .same(sums.order_by("k", Order::Desc))
        .await
        .answered()
        .count(5);
    let mut counts = select();
    counts
        .expr_as(Expr::cust("COUNT(*)"), "c")
        .group_by_columns([t::Column::K, t::Column::C]);
    peers.same_set(&counts).await.answered().count(40);
}

/// Groups by a column with NULLs were wrong, and so were those by text that is padded (#22170 of
/// ShardingSphere).
pub async fn groups_of_nulls(bench: &Bench) {
    let numbers = numbers(&[None, None, Some(1), Some(1), None, Some(2), None, Some(1)]);
    let peers = bench.with(Text::Bytes, numbers).await;
    let mut query = select();
    query
        .column(t::Column::N)
        .expr_as(Expr::col(t::Column::Id).count(), "count")
        .group_by_col(t::Column::N);
    peers.same_set(&query).await.answered().count(3);
    query.and_where(Expr::col(t::Column::N).is_null());
    peers.same(&query).await.answered().rows(json!([[null, 4]]));
    peers.end().await;

    let words = ["test12", "Test12", "test12", "Test12 ", "test12 ", "test1"];
    let ranked = Text::Padded.is_ranked(bench.backend);
    let peers = bench.with(Text::Padded, spelled(&words)).await;
    let mut query = select();
    query
        .expr_as(Expr::col(t::Column::Id).count(), "count")
        .group_by_col(t::Column::C);
    peers.same_set(&query).await.answered_if(ranked);
    query
        .expr_as(Expr::col(t::Column::C).max(), "word")
        .order_by(t::Column::C, Order::Asc);
    peers.same(&query).await.answered_if(ranked);
    peers.end().await;
}

/// Values were counted once for each table (#14341 and #5492 of ShardingSphere).
pub async fn distinct_counts_of_groups(bench: &Bench) {
    let peers = bench.joined().await;
    let mut query = select();
    query
        .column(t::Column::K)
        .expr_as(Expr::col(t::Column::N).count_distinct(), "count")
        .expr_as(Expr::cust("SUM(DISTINCT n)"), "sum")
        .group_by_col(t::Column::K)
        .order_by(t::Column::K, Order::Asc);
    peers.same(&query).await.count(5);
    let mut whole = select();
    whole.expr_as(Expr::col(t::Column::N).count_distinct(), "count");
    peers.same(&whole).await.answered().rows(json!([[13]]));
    // Limits were taken below the count (#29841 and #32469).
    peers.same(query.limit(2)).await.count(2);
}

/// Groups by a column that is not selected became groups by that of the order (#20081 of
/// ShardingSphere).
pub async fn distinct_counts_by_another_column(bench: &Bench) {
    let peers = bench.joined().await;
    let day = || Func::cust("DATE").arg(Expr::col(t::Column::Ts));
    let mut query = select();
    query
        .expr_as(Func::count_distinct(day()), "days")
        .group_by_col(t::Column::K)
        .order_by(t::Column::K, Order::Desc);
    peers.same(&query).await.answered().count(5);
    let mut days = select();
    days.expr_as(Expr::col(t::Column::Id).count(), "count")
        .add_group_by([day().into()])
        .order_by_expr(day().into(), Order::Asc);
    peers.same(&days).await.answered();
}

/// Distinct pairs were an exception (#5365 of ShardingSphere).
pub async fn distinct_counts_of_pairs(bench: &Bench) {
    let peers = bench.joined().await;
    // The standard's rows, and MySQL's lists, which do not count NULLs.
    for text in ["COUNT(DISTINCT (k, n))", "COUNT(DISTINCT k, n)"] {
        let mut query = select();
        query.expr_as(Expr::cust(text), "pairs");
        peers.same(&query).await;
    }
    let mut pairs = select();
    pairs.distinct().columns([t::Column::K, t::Column::N]);
    let mut count = Query::select();
    count
        .expr_as(Expr::cust("COUNT(*)"), "pairs")
        .from_subquery(pairs, "pair");
    peers.same(&count).await.answered().rows(json!([[39]]));
}

/// Only the rows of one table were counted, or all groups became one (#3869, #128 and #376 of
/// ShardingSphere; #281 of ShardingCore for keys of several columns).
pub async fn groups_over_all_tables(bench: &Bench) {
    let peers = bench.joined().await;
    let mut query = select();
    query
        .column(t::Column::K)
        .expr_as(Expr::cust("COUNT(*)"), "count")
        .and_where(Expr::col(t::Column::Id).is_in(0..20))
        .group_by_col(t::Column::K)
        .order_by(t::Column::K, Order::Asc);
    let expected = json!([[0, 4], [1, 4], [2, 4], [3, 4], [4, 4]]);
    peers.same(&query).await.answered().rows(expected);
    let mut composite = select();
    composite
        .columns([t::Column::K, t::Column::C])
        .expr_as(Expr::cust("COUNT(*)"), "count")
        .expr_as(Expr::col(t::Column::D).sum(), "sum")
        .group_by_columns([t::Column::C, t::Column::K])
        .order_by(t::Column::K, Order::Desc)
        .order_by(t::Column::C, Order::Asc);
    peers.same(&composite).await.answered();
}

/// Concatenated groups came once for each table (#33797 and #17627 of ShardingSphere).
pub async fn concatenated_groups(bench: &Bench) {
    let peers = bench.joined().await;
    let texts = match bench.backend {
        DbBackend::MySql => [
            "GROUP_CONCAT(c ORDER BY id SEPARATOR '-')",
            "GROUP_CONCAT(DISTINCT c ORDER BY c)",
        ],
        DbBackend::Postgres => [
            "STRING_AGG(c, '-' ORDER BY id)",
            "STRING_AGG(DISTINCT c, ',')",
        ],
        _ => [
            "GROUP_CONCAT(c, '-' ORDER BY id)",
            "GROUP_CONCAT(c ORDER BY c)",
        ],
    };
    for text in texts {
        let mut query = select();
        query.expr_as(Expr::cust(text), "parts");
        peers.same(&query).await.count(1);
        query
            .column(t::Column::K)
            .group_by_col(t::Column::K)
            .order_by(t::Column::K, Order::Asc);
        peers.same(&query).await.count(5);
    }
}
