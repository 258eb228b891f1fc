//! Faults of this library's own, found by its random statements and on rereading.

use sea_orm::sea_query::{
    Alias, Expr, ExprTrait, JoinType, LockBehavior, LockType, Query, WindowStatement,
};
use sea_orm::{DbBackend, Order};

use super::entities::{entity, i, row, t};
use super::fixture::{by_key, table};
use super::{Bench, Text};

entity!(
    /// Keyed by `id`, with another column that is named as the other's key.
    by_id, "by_id";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    oid: i64,
);
entity!(
    /// Keyed by `oid`, likewise.
    by_oid, "by_oid";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    oid: i64,
);

/// `oid IN (SELECT id …)` was taken for `id IN (SELECT oid …)`, and so for a tie of the keys.
pub async fn lists_with_swapped_names(bench: &Bench) {
    let tables = [
        table::<by_id::Entity>(bench.backend),
        table::<by_oid::Entity>(bench.backend),
    ];
    let peers = bench
        .of(Text::Bytes, &tables, |builder, layout| {
            builder
                .table(by_key::<by_id::Entity>(by_id::Column::Id, layout))
                .table(by_key::<by_oid::Entity>(by_oid::Column::Oid, layout))
                .co_located::<(by_id::Entity, by_oid::Entity)>()
        })
        .await;
    let ids = (0..20).map(|id| by_id::Model { id, oid: id + 1 });
    let oids = (0..20).map(|id| by_oid::Model {
        id,
        oid: id * 7 % 20,
    });
    peers.fill::<by_id::Entity>(ids.collect()).await;
    peers.fill::<by_oid::Entity>(oids.collect()).await;
    let query = |column: &'static str, listed: &'static str| {
        let list = Query::select().column(listed).from(by_oid::Entity).take();
        Query::select()
            .column("id")
            .from(by_id::Entity)
            .and_where(Expr::col(column).in_subquery(list))
            .order_by("id", Order::Asc)
            .take()
    };
    peers.same(&query("oid", "id")).await.count(19);
    peers.same(&query("id", "oid")).await.answered().count(20);
    peers.end().await;
}

/// SQLite takes two aliases that differ in case for one, so that the inner one hides the outer.
pub async fn aliases_that_differ_in_case(bench: &Bench) {
    let peers = bench.joined().await;
    let inner = Query::select()
        .expr(Expr::cust("1"))
        .from_as(i::Entity, "child")
        .and_where(Expr::col(("child", "iid")).eq(5))
        .and_where(Expr::col(("child", "oid")).equals(("CHILD", "oid")))
        .take();
    let outer = Query::select()
        .column((Alias::new("CHILD"), Alias::new("iid")))
        .from_as(i::Entity, "CHILD")
        .and_where(Expr::exists(inner))
        .order_by((Alias::new("CHILD"), Alias::new("iid")), Order::Asc)
        .take();
    peers.same(&outer).await;
}

/// The least text of a group sorts by its bytes on SQLite, whatever the column's collation.
pub async fn orders_by_extremes_of_text(bench: &Bench) {
    let words = ["a", "B", "c", "D", "b", "A", "e", "C"];
    let rows = (0..).zip(words).map(|(id, c)| t::Model {
        c: c.to_owned(),
        k: i32::try_from(id).unwrap() / 2,
        ..row(id)
    });
    let peers = bench.with(Text::NoCase, rows.collect()).await;
    for order in [Order::Asc, Order::Desc] {
        let least = || Expr::col(t::Column::C).min();
        let query = Query::select()
            .column(t::Column::K)
            .expr_as(least(), "least")
            .from(t::Entity)
            .group_by_col(t::Column::K)
            .order_by_expr(least(), order)
            .order_by(t::Column::K, Order::Asc)
            .take();
        peers.same(&query).await;
    }
    peers.end().await;
}

/// The condition of a later join may be met by NULL: it says nothing of a table that an earlier
/// join may leave out.
pub async fn later_conditions(bench: &Bench) {
    let peers = bench.joined().await;
    let oid = || Expr::col(("i", "oid"));
    let query = Query::select()
        .expr_as(Expr::col(("p", "id")), "p")
        .expr_as(oid(), "oid")
        .from("p")
        .join(
            JoinType::LeftJoin,
            "i",
            Expr::col(("i", "k")).equals(("p", "id")),
        )
        .join_as(
            JoinType::InnerJoin,
            "p",
            "q",
            Expr::col(("q", "id"))
                .eq(1)
                .and(oid().eq(3).or(oid().is_null())),
        )
        .order_by(("p", "id"), Order::Asc)
        .take();
    peers.same_set(&query).await;
}

/// MariaDB computes quotients with more digits than it shows, so that sums of the tables' sums were
/// not the sum.
pub async fn sums_of_quotients(bench: &Bench) {
    let peers = bench.joined().await;
    let quotient = || Expr::col(t::Column::Id).div(7);
    let mut sums = Query::select();
    sums.expr_as(quotient().sum(), "sum")
        .expr_as(quotient().avg(), "avg")
        .from(t::Entity);
    let exact = peers.backend != DbBackend::MySql;
    peers.same(&sums).await.answered_if(exact);
    let mut products = Query::select();
    products
        .expr_as(Expr::col(t::Column::D).mul(7).add(1).sum(), "sum")
        .expr_as(Expr::col(t::Column::D).mul(7).avg(), "avg")
        .from(t::Entity);
    peers.same(&products).await.answered();
}

/// MariaDB loses rows of a window function over a condition with a subquery if the tables are names
/// for others.
pub async fn windows_over_lists(bench: &Bench) {
    let peers = bench.joined().await;
    let listed = Query::select()
        .expr_window_as(Expr::col("id").max(), WindowStatement::new(), "largest")
        .from(t::Entity)
        .and_where(Expr::col("id").eq(4))
        .and_where(
            Expr::col("id").in_subquery(
                Query::select()
                    .column("oid")
                    .from(i::Entity)
                    .and_where(Expr::col("oid").eq(4))
                    .take(),
            ),
        )
        .take();
    peers.same(&listed).await.count(1);
}

/// Several tables' statements that lock the same row of another one kept it from each other.
pub async fn locks_of_shared_rows(bench: &Bench) {
    let peers = bench.joined().await;
    if bench.backend == DbBackend::Sqlite {
        return;
    }
    let query = Query::select()
        .expr_as(Expr::col(("i", "iid")), "iid")
        .expr_as(Expr::col(("p", "id")), "id")
        .from("i")
        .join(
            JoinType::InnerJoin,
            "p",
            Expr::col(("p", "id")).lt(1_000_000),
        )
        .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked)
        .take();
    for _ in 0..20 {
        peers.same_set(&query).await;
    }
}
