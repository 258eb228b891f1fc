//! GROUP BY, aggregates and windows.

use chrono::TimeDelta;
use sea_orm::prelude::Decimal;
use sea_orm::sea_query::{Expr, ExprTrait, Func, Query, SelectStatement, WindowStatement};
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, Order, QueryFilter, QueryOrder, QuerySelect};
use serde_json::json;

use super::entities::{row, rows, t};
use super::{Peers, Text, each};

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
pub async fn groups_of_mixed_case(backend: DbBackend) {
    let rows = spelled(&["", "a", "a", "", "", "A"]);
    let rows = rows.into_iter().filter(|row| !row.c.is_empty()).collect();
    let peers = Peers::with(backend, Text::NoCase, rows).await;
    let mut query = select();
    query.expr(Expr::col(t::Column::Id).count());
    query.group_by_col(t::Column::C);
    peers.same(&query).await.rows(json!([[3]]));
    let mut distinct = select();
    distinct.expr(Expr::col(t::Column::C).count_distinct());
    peers.same(&distinct).await.rows(json!([[1]]));
    let mut extreme = select();
    extreme.expr(Func::lower(Expr::col(t::Column::C).max()));
    peers.same(&extreme).await.rows(json!([["a"]]));
    peers.end().await;
}

/// Groups after the first were out of order, and one of them came twice, where the order of the
/// database was not the library's (#26688 of ShardingSphere).
pub async fn groups_in_other_orders(backend: DbBackend) {
    let words = [
        "A", "A", "B", "b", "C", "C", "D", "D", "é", "e", "e-a", "ea", "e a", "10", "9", "ß", "ss",
        "E", "É", "a ", "a",
    ];
    for text in Text::LOOSE {
        let peers = Peers::with(backend, text, spelled(&words)).await;
        for order in [Order::Asc, Order::Desc] {
            // Which spelling stands for a group is the database's choice.
            let mut query = select();
            query
                .expr_as(Expr::col(t::Column::Id).count(), "count")
                .expr_as(Expr::col(t::Column::N).sum(), "sum")
                .group_by_col(t::Column::C)
                .order_by(t::Column::C, order);
            peers.same(&query).await;
            peers.same(query.limit(4).offset(2)).await.count(4);
        }
        let mut letters = select();
        letters
            .expr_as(Func::lower(Expr::col(t::Column::C)), "letter")
            .expr_as(Expr::col(t::Column::Id).count(), "count")
            .and_where(Expr::col(t::Column::C).is_in(["A", "B", "b", "C", "D"]))
            .group_by_col(t::Column::C)
            .order_by(t::Column::C, Order::Asc)
            .order_by_expr(Expr::col(t::Column::Id).min(), Order::Asc);
        peers.same(&letters).await;
        peers.end().await;
    }
}

/// A letter came twice, beside itself in the other case (#21407 of ShardingSphere).
pub async fn sums_of_letters(backend: DbBackend) {
    let words = ["U", "u", "B", "E", "u", "U", "B", "e", "U"];
    for text in [Text::Bytes, Text::NoCase] {
        let peers = Peers::with(backend, text, spelled(&words)).await;
        let mut query = select();
        query
            .expr_as(Expr::col(t::Column::N).sum(), "x")
            .expr_as(Expr::col(t::Column::Id).sum(), "y")
            .expr_as(Expr::col(t::Column::K).sum(), "z")
            .and_where(Expr::col(t::Column::C).is_in(["U", "u", "B", "E"]))
            .group_by_col(t::Column::C);
        let groups = if text == Text::NoCase { 3 } else { 4 };
        let told = peers.same_set(&query).await.count(groups);
        if text == Text::Bytes {
            told.answered();
        }
        peers.end().await;
    }
}

/// An alias that is the name of a group's key stands for itself in ORDER BY, and for the column in
/// GROUP BY (our own case).
pub async fn aliases_of_group_keys(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    let mut sums = select();
    sums.expr_as(Expr::col(t::Column::N).sum(), "k")
        .group_by_col(t::Column::K);
    peers.same_set(&sums).await.count(5);
    peers.same(sums.order_by("k", Order::Desc)).await.count(5);
    let mut counts = select();
    counts
        .expr_as(Expr::cust("COUNT(*)"), "c")
        .group_by_columns([t::Column::K, t::Column::C]);
    peers.same_set(&counts).await.count(40);
    peers.end().await;
}

/// Groups by a column with NULLs were wrong, and so were those by text that is padded (#22170 of
/// ShardingSphere).
pub async fn groups_of_nulls(backend: DbBackend) {
    let numbers = numbers(&[None, None, Some(1), Some(1), None, Some(2), None, Some(1)]);
    let peers = Peers::with(backend, Text::Bytes, numbers).await;
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
    let peers = Peers::with(backend, Text::Padded, spelled(&words)).await;
    let mut query = select();
    query
        .expr_as(Expr::col(t::Column::Id).count(), "count")
        .group_by_col(t::Column::C);
    peers.same_set(&query).await;
    query
        .expr_as(Expr::col(t::Column::C).max(), "word")
        .order_by(t::Column::C, Order::Asc);
    peers.same(&query).await;
    peers.end().await;
}

/// Without rows there was one of zeros and NULLs too many, or none too few (#33219, #33209 and
/// #33795 of ShardingSphere; #257 of ShardingCore).
pub async fn aggregates_of_no_rows(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    for nothing in [
        Expr::cust("1 = 2"),
        Expr::val(1).eq(2),
        Expr::col(t::Column::Id).lt(0),
    ] {
        let mut groups = select();
        groups
            .expr(Expr::cust("COUNT(1)"))
            .and_where(nothing.clone())
            .group_by_columns([t::Column::Id, t::Column::C])
            .order_by(t::Column::Id, Order::Asc);
        peers.same(&groups).await.count(0);
        let mut one = select();
        one.expr_as(Expr::cust("COUNT(1)"), "count")
            .expr_as(Expr::col(t::Column::N).sum(), "sum")
            .expr_as(Expr::col(t::Column::N).max(), "max")
            .expr_as(Expr::col(t::Column::D).avg(), "avg")
            .and_where(nothing);
        peers.same(&one).await.rows(json!([[0, null, null, null]]));
    }
    // Empty in some tables only.
    let mut some = select();
    some.column(t::Column::K)
        .expr_as(Expr::col(t::Column::N).count(), "count")
        .and_where(Expr::col(t::Column::Id).is_in([1, 5, 6]))
        .group_by_col(t::Column::K)
        .order_by(t::Column::K, Order::Asc);
    peers
        .same(&some)
        .await
        .answered()
        .rows(json!([[0, 1], [1, 2]]));
    peers.end().await;
}

fn by_k() -> WindowStatement {
    WindowStatement::partition_by(t::Column::K)
}

/// A window over no rows gave one row of NULL (#38642 of ShardingSphere).
pub async fn windows_of_no_rows(backend: DbBackend) {
    let peers = Peers::with(backend, Text::Bytes, Vec::new()).await;
    let mut query = select();
    let by_c = WindowStatement::partition_by(t::Column::C);
    query.expr_window_as(Expr::col(t::Column::N).max(), by_c, "most");
    peers.same(&query).await.count(0);
    peers.end().await;
}

/// Windows were computed in each table by itself (#37851 and #31608 of ShardingSphere).
pub async fn windows_over_tables(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    let by_id = || by_k().order_by(t::Column::Id, Order::Asc).take();
    let windows = [
        (Expr::from(Func::cust("ROW_NUMBER")), by_id()),
        (Expr::col(t::Column::N).max(), by_id()),
        (Expr::col(t::Column::N).sum(), by_k()),
        (
            Func::cust("LAG").arg(Expr::col(t::Column::N)).into(),
            by_id(),
        ),
        (
            Func::cust("RANK").into(),
            WindowStatement::new()
                .order_by(t::Column::K, Order::Desc)
                .take(),
        ),
    ];
    for (function, window) in windows {
        let mut query = select();
        query
            .column(t::Column::Id)
            .expr_window_as(function, window, "w")
            .order_by(t::Column::Id, Order::Asc);
        peers.same(&query).await.count(40);
        peers.same(query.limit(3).offset(20)).await.count(3);
    }
    let mut named = select();
    named
        .column(t::Column::Id)
        .expr_window_name_as(Func::cust("ROW_NUMBER"), "w", "number")
        .window("w", by_id());
    peers.same_set(&named).await.count(40);
    // One table.
    let mut narrow = select();
    narrow
        .column(t::Column::Id)
        .expr_window_as(Func::cust("ROW_NUMBER"), by_id(), "number")
        .and_where(Expr::col(t::Column::Id).eq(7));
    peers.same(&narrow).await.answered().rows(json!([[7, 1]]));
    peers.end().await;
}

/// An aggregate inside of a function was that of the first table, and 0 if it was empty (#37644,
/// #805 and #18261 of ShardingSphere).
pub async fn functions_around_aggregates(backend: DbBackend) {
    // Nothing is in the first table.
    let rows: Vec<_> = rows().into_iter().filter(|row| row.id % 4 != 0).collect();
    let sum: i32 = rows.iter().filter_map(|row| row.n).sum();
    let peers = Peers::with(backend, Text::Bytes, rows).await;
    let n = || Expr::col(t::Column::N);
    let null_if = |a: Expr, b: i32| Expr::from(Func::cust("NULLIF").args([a, b.into()]));
    let expressions = [
        Expr::from(Func::coalesce([n().sum(), 0.into()])),
        n().sum().if_null(0),
        null_if(n().max(), 8),
        null_if(n().max(), 7),
        n().max().add(1),
        n().max().sub(n().min()),
        n().sum().div(n().count()),
        Func::abs(n().min()).into(),
        Expr::case(n().count().gt(20), "many").finally("few").into(),
        Func::coalesce([n().mul(2).sum(), 0.into()]).into(),
    ];
    for expression in expressions {
        let mut query = select();
        query.expr_as(expression.clone(), "x");
        peers.same(&query).await.count(1);
        query.and_where(Expr::col(t::Column::Id).lt(0));
        peers.same(&query).await.count(1);
        let mut groups = select();
        groups
            .column(t::Column::K)
            .expr_as(expression, "x")
            .group_by_col(t::Column::K)
            .order_by(t::Column::K, Order::Asc);
        peers.same(&groups).await.count(5);
    }
    let sums = each!(peers, db => t::Entity::find()
        .select_only()
        .expr_as(Func::coalesce([n().sum(), 0.into()]).cast_as("char(9)"), "sum")
        .into_tuple::<String>()
        .one(db)
        .await
        .map(|sum| sum.unwrap().trim().to_owned()));
    sums.is(sum.to_string());
    peers.end().await;
}

/// Values were counted once for each table (#14341 and #5492 of ShardingSphere).
pub async fn distinct_counts_of_groups(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
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
    peers.same(&whole).await.rows(json!([[13]]));
    // Limits were taken below the count (#29841 and #32469).
    peers.same(query.limit(2)).await.count(2);
    peers.end().await;
}

/// The average of distinct values was 1 (#14432 of ShardingSphere).
pub async fn averages_of_distinct_values(backend: DbBackend) {
    let peers = Peers::with(backend, Text::Bytes, numbers(&[Some(100); 9])).await;
    let mut query = select();
    query.expr_as(Expr::cust("AVG(DISTINCT n)"), "average");
    peers.same(&query).await.count(1);
    let mut over = select();
    over.expr_as(Expr::cust("AVG(DISTINCT n) = 100"), "is");
    peers.same(&over).await;
    peers.end().await;
}

/// Groups by a column that is not selected became groups by that of the order (#20081 of
/// ShardingSphere).
pub async fn distinct_counts_by_another_column(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    let day = || Func::cust("DATE").arg(Expr::col(t::Column::Ts));
    let mut query = select();
    query
        .expr_as(Func::count_distinct(day()), "days")
        .group_by_col(t::Column::K)
        .order_by(t::Column::K, Order::Desc);
    peers.same(&query).await.count(5);
    let mut days = select();
    days.expr_as(Expr::col(t::Column::Id).count(), "count")
        .add_group_by([day().into()])
        .order_by_expr(day().into(), Order::Asc);
    peers.same(&days).await;
    peers.end().await;
}

/// Distinct pairs were an exception (#5365 of ShardingSphere).
pub async fn distinct_counts_of_pairs(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
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
    peers.same(&count).await.rows(json!([[39]]));
    peers.end().await;
}

/// Averages always had four decimals (#15593 of ShardingSphere).
pub async fn averages(backend: DbBackend) {
    let number = |id: i64, k: i32, n: i32, d: &str| t::Model {
        k,
        n: Some(n),
        d: Some(d.parse::<Decimal>().unwrap()),
        ..row(id)
    };
    let rows = vec![
        number(0, 1, 19, "0.0000000001"),
        number(1, 1, 20, "0.0000000002"),
        number(2, 2, 0, "1234567890123456.0000000001"),
        number(3, 2, 0, "1234567890123456.0000000002"),
        number(4, 2, 1, "0.1"),
    ];
    let peers = Peers::with(backend, Text::Bytes, rows).await;
    for column in [t::Column::N, t::Column::D, t::Column::Id] {
        let mut query = select();
        query
            .column(t::Column::K)
            .expr_as(Expr::col(column).avg(), "average")
            .group_by_col(t::Column::K)
            .order_by(t::Column::K, Order::Asc);
        peers.same(&query).await.answered().count(2);
        let mut all = select();
        all.expr_as(Expr::col(column).avg(), "average");
        peers.same(&all).await.answered().count(1);
        all.and_where(Expr::col(t::Column::Id).gt(100));
        peers.same(&all).await.answered().rows(json!([[null]]));
    }
    let mut by_average = select();
    by_average
        .column(t::Column::K)
        .group_by_col(t::Column::K)
        .order_by_expr(Expr::col(t::Column::N).avg(), Order::Desc);
    peers.same(&by_average).await.rows(json!([[1], [2]]));
    peers.end().await;
}

/// Sums of floating point numbers had digits of dust, and long decimals lost some (#16787 and
/// #22360 of ShardingSphere).
pub async fn sums_of_long_numbers(backend: DbBackend) {
    let long = [
        "1234567890123456.1234567891",
        "-0.0000000001",
        "0.1",
        "8888888888888888.9",
    ];
    let rows = (0..12).map(|id| t::Model {
        f: Some([89.1, 0.1, 2.7, -1.3][id as usize % 4]),
        d: Some(long[id as usize % 3].parse().unwrap()),
        k: (id / 4) as i32,
        ..row(id)
    });
    let peers = Peers::with(backend, Text::Bytes, rows.collect()).await;
    for column in [t::Column::F, t::Column::D] {
        let mut sum = select();
        sum.expr_as(Expr::col(column).sum(), "sum");
        peers.same(&sum).await.answered().count(1);
        sum.column(t::Column::K)
            .group_by_col(t::Column::K)
            .order_by(t::Column::K, Order::Asc);
        peers.same(&sum).await.answered().count(3);
    }
    peers.end().await;
}

/// Only the rows of one table were counted, or all groups became one (#3869, #128 and #376 of
/// ShardingSphere; #281 of ShardingCore for keys of several columns).
pub async fn groups_over_all_tables(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
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
    peers.end().await;
}

/// Concatenated groups came once for each table (#33797 and #17627 of ShardingSphere).
pub async fn concatenated_groups(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    let texts = match backend {
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
    peers.end().await;
}

/// Merged values had other types than those of one table (#29652 and #18 of ShardingSphere).
pub async fn types_of_aggregates(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    macro_rules! only {
        ($type:ty: $expr:expr) => {
            each!(peers, db => t::Entity::find()
                .select_only()
                .expr_as($expr, "x")
                .into_tuple::<$type>()
                .one(db)
                .await)
            .answered();
        };
    }
    only!(i64: Expr::col(t::Column::Id).count());
    only!(i64: Expr::col(t::Column::Id).max());
    only!(Option<i32>: Expr::col(t::Column::N).min());
    only!(chrono::DateTime<chrono::Utc>: Expr::col(t::Column::Ts).max());
    only!(String: Expr::col(t::Column::C).min());
    only!(Option<Decimal>: Expr::col(t::Column::D).max());
    only!(Option<f64>: Expr::col(t::Column::F).sum());
    if backend == DbBackend::MySql {
        only!(Decimal: Expr::col(t::Column::N).sum());
        only!(Decimal: Expr::col(t::Column::Id).avg());
    } else {
        only!(i64: Expr::col(t::Column::N).sum());
    }
    let last = rows().iter().map(|row| row.ts).max().unwrap();
    let latest = each!(peers, db => t::Entity::find()
        .select_only()
        .column_as(t::Column::Ts.max(), "latest")
        .filter(t::Column::Ts.gt(last - TimeDelta::days(2)))
        .into_tuple::<chrono::DateTime<chrono::Utc>>()
        .one(db)
        .await);
    latest.answered().is(Some(last));
    peers.end().await;
}

/// An order of a count was added to by a column that made the statement invalid (#10563 of
/// ShardingSphere). What the database does not accept must not be answered.
pub async fn ordered_counts(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    let mut query = select();
    query
        .expr_as(Expr::cust("COUNT(*)"), "count")
        .order_by(t::Column::Id, Order::Asc);
    peers.same(&query).await;
    // SeaORM's own count of an ordered query is of a subquery.
    let count = each!(peers, db => sea_orm::PaginatorTrait::count(
        t::Entity::find().order_by_asc(t::Column::Id),
        db,
    )
    .await);
    count.answered().is(40_u64);
    peers.end().await;
}
