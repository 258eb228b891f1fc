//! Subqueries and common table expressions over several tables.

use sea_orm::Order;
use sea_orm::sea_query::{CommonTableExpression, Expr, ExprTrait, JoinType, Query, WithClause};
use serde_json::json;

use super::Bench;
use super::entities::{i, o, p, t};

fn on_key() -> Expr {
    Expr::col((i::Entity, i::Column::Oid)).equals((o::Entity, o::Column::Id))
}

/// EXISTS and NOT EXISTS were decided in each table by itself (ShardingCore; `Any` on a sharded
/// set even reached the logical name, #245).
pub async fn existence(bench: &Bench) {
    let peers = bench.joined().await;
    let children = |on: Expr| {
        Query::select()
            .expr(Expr::cust("1"))
            .from(i::Entity)
            .and_where(on)
            .take()
    };
    let parents = |condition: Expr| {
        Query::select()
            .column(o::Column::Id)
            .from(o::Entity)
            .and_where(condition)
            .order_by(o::Column::Id, Order::Asc)
            .take()
    };
    let by_k = || Expr::col((i::Entity, i::Column::K)).equals((o::Entity, o::Column::K));
    peers
        .same(&parents(Expr::exists(children(on_key()))))
        .await
        .answered();
    peers
        .same(&parents(Expr::exists(children(on_key())).not()))
        .await
        .answered();
    peers.same(&parents(Expr::exists(children(by_k())))).await;
    peers
        .same(&parents(Expr::exists(children(by_k())).not()))
        .await;
    let keys = || {
        Query::select()
            .column(i::Column::Oid)
            .from(i::Entity)
            .take()
    };
    let id = || Expr::col((o::Entity, o::Column::Id));
    peers
        .same(&parents(id().in_subquery(keys())))
        .await
        .answered();
    peers.same(&parents(id().not_in_subquery(keys()))).await;
    // A value for each row.
    let count = Query::select()
        .expr(Expr::cust("COUNT(*)"))
        .from(i::Entity)
        .and_where(on_key())
        .take();
    let mut counted = parents(id().gt(0));
    counted.expr_as(count, "children");
    peers.same(&counted).await.answered().count(12);
}

/// Subqueries in FROM and common table expressions kept the logical name (#29539 of
/// ShardingSphere, #143 of ShardingCore).
pub async fn derived_tables(bench: &Bench) {
    let peers = bench.joined().await;
    let sums = || {
        Query::select()
            .column(t::Column::K)
            .expr_as(Expr::col(t::Column::N).sum(), "total")
            .from(t::Entity)
            .group_by_col(t::Column::K)
            .take()
    };
    let mut derived = Query::select();
    derived
        .columns(["k", "total"])
        .from_subquery(sums(), "x")
        .order_by("k", Order::Asc);
    peers.same(&derived).await.count(5);
    let mut with_rows = Query::select();
    with_rows
        .expr_as(Expr::col((t::Entity, t::Column::Id)), "id")
        .expr_as(Expr::col(("x", "total")), "total")
        .from(t::Entity)
        .join_subquery(
            JoinType::InnerJoin,
            sums(),
            "x",
            Expr::col(("x", "k")).equals((t::Entity, t::Column::K)),
        )
        .order_by("id", Order::Asc);
    peers.same(&with_rows).await.count(40);
    let common = || {
        CommonTableExpression::new()
            .table_name("x")
            .query(sums())
            .to_owned()
    };
    let mut with = Query::select();
    with.columns(["k", "total"])
        .from("x")
        .order_by("k", Order::Asc)
        .with_cte(WithClause::new().cte(common()).to_owned());
    peers.same(&with).await.count(5);
    let main = Query::select()
        .columns(["k", "total"])
        .from("x")
        .order_by("k", Order::Asc)
        .take();
    let around = main.with(WithClause::new().cte(common()).to_owned());
    peers.same(&around).await.count(5);
    // A common table that hides the sharded one.
    let mut hiding = Query::select();
    let fake = Query::select().expr_as(Expr::val(1), "id").take();
    let fake = CommonTableExpression::new()
        .table_name("t")
        .query(fake)
        .to_owned();
    hiding
        .column("id")
        .from("t")
        .with_cte(WithClause::new().cte(fake).to_owned());
    peers.same(&hiding).await.answered().rows(json!([[1]]));
}

/// Aggregates over joins were added up for every pair of tables.
pub async fn aggregates_of_joins(bench: &Bench) {
    let peers = bench.joined().await;
    let mut counts = Query::select();
    counts
        .expr_as(Expr::col((o::Entity, o::Column::K)), "k")
        .expr_as(Expr::col((i::Entity, i::Column::Iid)).count(), "children")
        .from(o::Entity)
        .left_join(i::Entity, on_key())
        .group_by_col((o::Entity, o::Column::K))
        .order_by("k", Order::Asc);
    peers.same(&counts).await.answered().count(3);
    let mut most = Query::select();
    most.expr_as(Expr::col((i::Entity, i::Column::Iid)).max(), "most")
        .from(o::Entity)
        .inner_join(i::Entity, on_key())
        .and_where(Expr::col((o::Entity, o::Column::Id)).is_in([1, 4, 6]));
    peers.same(&most).await.answered().count(1);
    let mut places = Query::select();
    places
        .expr_as(Expr::col((p::Entity, p::Column::Name)), "name")
        .expr_as(Expr::col((t::Entity, t::Column::N)).sum(), "sum")
        .from(t::Entity)
        .inner_join(
            p::Entity,
            Expr::col((t::Entity, t::Column::K)).equals((p::Entity, p::Column::Id)),
        )
        .group_by_col((p::Entity, p::Column::Name))
        .order_by("name", Order::Asc);
    peers.same(&places).await.answered().count(5);
}
