//! Aggregates and windows.

use chrono::TimeDelta;
use sea_orm::prelude::Decimal;
use sea_orm::sea_query::{Expr, ExprTrait, Func, Query, SelectStatement, WindowStatement};
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, Order, QueryFilter, QueryOrder, QuerySelect};
use serde_json::json;

use super::entities::{row, rows, t};
use super::{Bench, Text, each};

fn numbers(numbers: &[Option<i32>]) -> Vec<t::Model> {
    let row = |(id, n): (i64, &Option<i32>)| t::Model { n: *n, ..row(id) };
    (0..).zip(numbers).map(row).collect()
}

/// `SELECT … FROM t`.
fn select() -> SelectStatement {
    Query::select().from(t::Entity).take()
}

/// Without rows there was one of zeros and NULLs too many, or none too few (#33219, #33209 and
/// #33795 of ShardingSphere; #257 of ShardingCore).
pub async fn aggregates_of_no_rows(bench: &Bench) {
    let peers = bench.joined().await;
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
        peers.same(&groups).await.answered().count(0);
        let mut one = select();
        one.expr_as(Expr::cust("COUNT(1)"), "count")
            .expr_as(Expr::col(t::Column::N).sum(), "sum")
            .expr_as(Expr::col(t::Column::N).max(), "max")
            .expr_as(Expr::col(t::Column::D).avg(), "avg")
            .and_where(nothing);
        peers
            .same(&one)
            .await
            .answered()
            .rows(json!([[0, null, null, null]]));
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
}

fn by_k() -> WindowStatement {
    WindowStatement::partition_by(t::Column::K)
}

/// A window over no rows gave one row of NULL (#38642 of ShardingSphere).
pub async fn windows_of_no_rows(bench: &Bench) {
    let peers = bench.with(Text::Bytes, Vec::new()).await;
    let mut query = select();
    let by_c = WindowStatement::partition_by(t::Column::C);
    query.expr_window_as(Expr::col(t::Column::N).max(), by_c, "most");
    peers.same(&query).await.count(0);
    peers.end().await;
}

/// Windows were computed in each table by itself (#37851 and #31608 of ShardingSphere).
pub async fn windows_over_tables(bench: &Bench) {
    let peers = bench.joined().await;
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
}

/// An aggregate inside of a function was that of the first table, and 0 if it was empty (#37644,
/// #805 and #18261 of ShardingSphere).
pub async fn functions_around_aggregates(bench: &Bench) {
    // Nothing is in the first table.
    let rows: Vec<_> = rows().into_iter().filter(|row| row.id % 4 != 0).collect();
    let sum: i32 = rows.iter().filter_map(|row| row.n).sum();
    let peers = bench.with(Text::Bytes, rows).await;
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
        peers.same(&query).await.answered().count(1);
        query.and_where(Expr::col(t::Column::Id).lt(0));
        peers.same(&query).await.answered().count(1);
        let mut groups = select();
        groups
            .column(t::Column::K)
            .expr_as(expression, "x")
            .group_by_col(t::Column::K)
            .order_by(t::Column::K, Order::Asc);
        peers.same(&groups).await.answered().count(5);
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

/// The average of distinct values was 1 (#14432 of ShardingSphere).
pub async fn averages_of_distinct_values(bench: &Bench) {
    let peers = bench.with(Text::Bytes, numbers(&[Some(100); 9])).await;
    let mut query = select();
    query.expr_as(Expr::cust("AVG(DISTINCT n)"), "average");
    peers.same(&query).await.count(1);
    let mut over = select();
    over.expr_as(Expr::cust("AVG(DISTINCT n) = 100"), "is");
    peers.same(&over).await;
    peers.end().await;
}

/// Averages always had four decimals (#15593 of ShardingSphere).
pub async fn averages(bench: &Bench) {
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
    let peers = bench.with(Text::Bytes, rows).await;
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
    peers
        .same(&by_average)
        .await
        .answered()
        .rows(json!([[1], [2]]));
    peers.end().await;
}

/// Sums of floating point numbers had digits of dust, and long decimals lost some (#16787 and
/// #22360 of ShardingSphere).
pub async fn sums_of_long_numbers(bench: &Bench) {
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
    let peers = bench.with(Text::Bytes, rows.collect()).await;
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

/// Merged values had other types than those of one table (#29652 and #18 of ShardingSphere).
pub async fn types_of_aggregates(bench: &Bench) {
    let peers = bench.joined().await;
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
    if bench.backend == DbBackend::MySql {
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
}

/// An order of a count was added to by a column that made the statement invalid (#10563 of
/// ShardingSphere). What the database does not accept must not be answered.
pub async fn ordered_counts(bench: &Bench) {
    let peers = bench.joined().await;
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
}
