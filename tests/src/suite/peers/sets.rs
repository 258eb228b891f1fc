//! HAVING, DISTINCT and set operations.

use sea_orm::sea_query::{Expr, ExprTrait, Func, Query, SelectStatement, UnionType};
use sea_orm::{DbBackend, EntityTrait, Order, QueryOrder, QuerySelect, QueryTrait};
use serde_json::json;

use super::entities::{row, rows, s, t};
use super::{Bench, Text};

fn select() -> SelectStatement {
    Query::select().from(t::Entity).take()
}

/// `SELECT id, c FROM t WHERE …`.
fn ids(condition: Expr) -> SelectStatement {
    let mut query = select();
    query
        .columns([t::Column::Id, t::Column::C])
        .and_where(condition);
    query
}

fn id() -> Expr {
    Expr::col(t::Column::Id)
}

/// HAVING was applied to each table, dropped, or a syntax error (#28070, #10618, #3830 and #11467
/// of ShardingSphere; ShardingCore did the first).
pub async fn having_over_tables(bench: &Bench) {
    let group = |ids: [i64; 6], k| {
        ids.map(|id| t::Model {
            k,
            n: Some(1),
            ..row(id)
        })
    };
    // Three rows and three; two and two.
    let mut rows = group([0, 4, 8, 1, 5, 9], 1).to_vec();
    rows.extend(group([2, 6, 3, 7, 10, 11], 2).into_iter().take(4));
    let peers = bench.with(Text::Bytes, rows).await;
    let having = |condition: Expr| {
        let mut query = select();
        query
            .column(t::Column::K)
            .expr_as(id().count(), "count")
            .group_by_col(t::Column::K)
            .and_having(condition)
            .order_by(t::Column::K, Order::Asc);
        query
    };
    let more = having(Expr::cust("COUNT(*)").gt(4));
    peers.same(&more).await.answered().rows(json!([[1, 6]]));
    let fewer = having(id().count().lt(4));
    peers.same(&fewer).await.answered().count(0);
    let sum = having(Expr::col(t::Column::N).sum().between(4, 5));
    peers.same(&sum).await.answered().rows(json!([[2, 4]]));
    let key = having(Expr::col(t::Column::K).eq(1));
    peers.same(&key).await.answered().rows(json!([[1, 6]]));
    let mut alone = select();
    alone
        .expr_as(id().count(), "count")
        .and_having(id().count().gt(9));
    peers.same(&alone).await.answered().rows(json!([[10]]));
    alone.clear_having().and_having(id().count().gt(10));
    peers.same(&alone).await.answered().count(0);
    peers.end().await;
}

/// A page was cut before HAVING, or all rows were fetched for it (#21034 of ShardingSphere).
pub async fn having_before_the_page(bench: &Bench) {
    let peers = bench.joined().await;
    let mut query = select();
    query
        .column(t::Column::C)
        .group_by_col(t::Column::C)
        .and_having(Expr::col(t::Column::N).sum().gt(5))
        .order_by(t::Column::C, Order::Desc);
    peers.same(&query).await.answered();
    peers.same(query.limit(1)).await.answered().count(1);
    peers.same(query.limit(2).offset(1)).await.answered();
}

/// Distinct rows of each table were put one behind the other (#37852, #4565 and #7201 of
/// ShardingSphere; #139 of ShardingCore).
pub async fn distinct_rows(bench: &Bench) {
    let peers = bench.joined().await;
    let distinct = |columns: &[t::Column]| {
        let mut query = select();
        query.distinct().columns(columns.iter().copied());
        query
    };
    peers
        .same_set(&distinct(&[t::Column::K]))
        .await
        .answered()
        .count(5);
    // Twelve numbers and one NULL.
    peers
        .same_set(&distinct(&[t::Column::N]))
        .await
        .answered()
        .count(14);
    peers
        .same_set(&distinct(&[t::Column::C]))
        .await
        .answered()
        .count(9);
    peers
        .same_set(&distinct(&[t::Column::K, t::Column::N]))
        .await
        .answered()
        .count(39);
    peers
        .same_set(&distinct(&[t::Column::Id]))
        .await
        .answered()
        .count(40);
    let mut expression = select();
    expression
        .distinct()
        .expr_as(Expr::col(t::Column::K).modulo(2), "odd");
    peers.same_set(&expression).await.answered().count(2);
    let mut lower = select();
    lower
        .distinct()
        .expr_as(Func::lower(Expr::col(t::Column::C)), "c");
    let told = peers.same_set(&lower).await;
    told.answered_if(bench.backend != DbBackend::MySql);
    let mut ordered = distinct(&[t::Column::K]);
    ordered.order_by(t::Column::K, Order::Desc);
    peers
        .same(&ordered)
        .await
        .answered()
        .rows(json!([[4], [3], [2], [1], [0]]));
    peers
        .same(ordered.limit(2).offset(1))
        .await
        .answered()
        .rows(json!([[3], [2]]));
    let mut narrow = distinct(&[t::Column::K]);
    narrow.and_where(id().is_in([4, 8, 12]));
    peers.same_set(&narrow).await.answered().count(3);

    for text in Text::LOOSE {
        let peers = bench.with(text, rows()).await;
        let mut count = Query::select();
        count
            .expr_as(Expr::cust("COUNT(*)"), "count")
            .from_subquery(distinct(&[t::Column::C]), "d");
        let told = peers.same(&count).await;
        told.answered_if(text.is_ranked(bench.backend));
        peers.end().await;
    }
}

/// The second branch kept the logical name, and rows were repeated or lost (#21417, #17117,
/// #30530, #29539 and #16652 of ShardingSphere; #95 of ShardingCore).
pub async fn unions_of_all_rows(bench: &Bench) {
    let peers = bench.joined().await;
    let mut twice = ids(id().gte(0));
    twice.union(UnionType::All, ids(id().gte(0)));
    peers.same_set(&twice).await.answered().count(80);
    let mut once = ids(id().gte(0));
    once.union(UnionType::Distinct, ids(id().lt(30)));
    peers.same_set(&once).await.answered().count(40);
    let mut halves = ids(id().lt(10));
    halves.union(UnionType::All, ids(id().gte(20)));
    peers.same_set(&halves).await.answered().count(30);
    let mut thrice = ids(id().lt(10));
    thrice
        .union(UnionType::All, ids(id().eq(11)))
        .union(UnionType::All, ids(Expr::col(t::Column::K).eq(3)));
    peers.same_set(&thrice).await.answered().count(19);
}

/// The route of one branch was taken for both (#17117 of ShardingSphere; ShardingCore put the
/// conditions of both together).
pub async fn unions_of_other_keys(bench: &Bench) {
    let peers = bench.joined().await;
    for (a, b) in [(0, 4), (0, 2), (0, 1), (3, 3)] {
        let mut union = ids(id().eq(a));
        union.union(UnionType::All, ids(id().eq(b)));
        peers.same_set(&union).await.answered().count(2);
    }
    // A contradiction in one branch says nothing about the other.
    let mut none = ids(id().eq(1).and(id().eq(2)));
    none.union(UnionType::All, ids(id().eq(3)));
    peers.same_set(&none).await.answered().count(1);
    let mut none = ids(id().eq(3));
    none.union(UnionType::All, ids(id().eq(1).and(id().eq(2))));
    peers.same_set(&none).await.answered().count(1);
}

/// The rows of a table that is not sharded came once for each table of the other (#30530 of
/// ShardingSphere).
pub async fn unions_with_single_tables(bench: &Bench) {
    let peers = bench.joined().await;
    let single = || {
        let mut query = Query::select();
        query.columns([s::Column::Id, s::Column::C]).from(s::Entity);
        query
    };
    let mut first = single();
    first.union(UnionType::All, ids(id().gte(0)));
    peers.same_set(&first).await.count(49);
    let mut second = ids(id().gte(0));
    second.union(UnionType::All, single());
    peers.same_set(&second).await.count(49);
    let mut narrow = single();
    narrow.union(UnionType::All, ids(id().eq(4)));
    peers.same_set(&narrow).await.answered().count(10);
}

/// Rows that are in both branches, or in one only, were compared in each table (set operations
/// are wrong in both libraries; #16652 of ShardingSphere).
pub async fn intersections_and_differences(bench: &Bench) {
    let peers = bench.joined().await;
    let numbers = |condition: Expr| {
        let mut query = select();
        query.column(t::Column::N).and_where(condition);
        query
    };
    for kind in [UnionType::Intersect, UnionType::Except, UnionType::Distinct] {
        let mut query = numbers(id().lt(12));
        query.union(kind, numbers(id().gte(20)));
        let told = peers.same_set(&query).await;
        if kind == UnionType::Distinct {
            told.answered();
        }
    }
    for kind in [UnionType::Intersect, UnionType::Except] {
        let mut query = ids(id().lt(25));
        query.union(kind, ids(id().gte(15)));
        peers.same_set(&query).await.answered();
    }
}

/// Order, page, count and filter of a union were those of its branches (#21417 of
/// ShardingSphere).
pub async fn pages_of_unions(bench: &Bench) {
    let peers = bench.joined().await;
    let union = || {
        let mut query = ids(id().lt(12));
        query.union(UnionType::All, ids(id().gte(8)));
        query
    };
    let mut ordered = union();
    ordered.order_by("id", Order::Desc);
    peers.same(&ordered).await.answered().count(44);
    peers
        .same(ordered.limit(5).offset(30))
        .await
        .answered()
        .count(5);
    let mut count = Query::select();
    count
        .expr_as(Expr::cust("COUNT(*)"), "count")
        .from_subquery(union(), "u");
    peers.same(&count).await.answered().rows(json!([[44]]));
    let mut filtered = Query::select();
    filtered
        .column("id")
        .from_subquery(union(), "u")
        .and_where(Expr::col("id").eq(9));
    peers
        .same(&filtered)
        .await
        .answered()
        .rows(json!([[9], [9]]));
}

/// The latest row of every group (#94 of ShardingCore).
pub async fn first_of_every_group(bench: &Bench) {
    let peers = bench.joined().await;
    let mut latest = select();
    latest.expr(Expr::col((t::Entity, t::Column::Ts)).max());
    latest.group_by_col((t::Entity, t::Column::K));
    let query = t::Entity::find()
        .select_only()
        .columns([t::Column::Id, t::Column::K])
        .order_by_asc(t::Column::K);
    let mut query = query.into_query();
    query.and_where(Expr::col((t::Entity, t::Column::Ts)).in_subquery(latest));
    peers
        .same(&query)
        .await
        .rows(json!([[35, 0], [36, 1], [37, 2], [38, 3], [39, 4]]));
    if bench.backend == DbBackend::Postgres {
        let mut first = select();
        first
            .distinct_on([t::Column::K])
            .columns([t::Column::K, t::Column::Id])
            .order_by(t::Column::K, Order::Asc)
            .order_by(t::Column::Id, Order::Desc);
        peers
            .same(&first)
            .await
            .rows(json!([[0, 35], [1, 36], [2, 37], [3, 38], [4, 39]]));
    }
}
