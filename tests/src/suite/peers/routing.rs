//! Which tables a condition reaches.

use sea_orm::sea_query::{Condition, Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use serde_json::json;

use super::entities::{rows, s, t};
use super::{Bench, Peers, Text, each};

fn id() -> Expr {
    Expr::col(t::Column::Id)
}

/// `SELECT id FROM t WHERE … ORDER BY id`.
fn ids(condition: Expr) -> SelectStatement {
    t::Entity::find()
        .select_only()
        .column(t::Column::Id)
        .filter(condition)
        .order_by_asc(t::Column::Id)
        .into_query()
}

impl Peers {
    /// How many tables a query reaches over one data source.
    pub(super) fn reach(&self, query: &SelectStatement) -> usize {
        self.one.explain(query).unwrap().nodes.len()
    }

    /// Checks the rows of a condition and how many tables it reaches.
    pub(super) async fn routed(&self, condition: Expr, tables: usize) {
        let query = ids(condition);
        self.same(&query).await.answered();
        let reach = self.reach(&query);
        assert_eq!(reach, tables, "{}", self.backend.build(&query));
    }
}

/// NOT IN was routed as IN (#32076, #32967 and #18146 of ShardingSphere; ShardingCore ignores a
/// negation of `Equals`).
pub async fn negations(bench: &Bench) {
    let peers = bench.joined().await;
    for condition in [
        id().is_not_in([0]),
        id().is_not_in([0, 1, 2]),
        id().not_between(1, 38),
        id().ne(0),
        id().eq(0).not(),
        id().is_in([0, 4]).not(),
        id().between(1, 38).not(),
        id().eq(0).or(id().eq(1)).not(),
        id().ne(0).and(id().ne(1)),
    ] {
        peers.routed(condition, 4).await;
    }
    // Twice not is.
    peers.routed(id().ne(5).not(), 1).await;
    peers.routed(id().is_not_in([5, 9]).not(), 1).await;
}

/// An OR with a branch without the key confused the route (#26348 and #1581 of ShardingSphere).
pub async fn branches_without_key(bench: &Bench) {
    let peers = bench.joined().await;
    let k = || Expr::col(t::Column::K);
    peers.routed(id().eq(1).or(k().eq(2)), 4).await;
    peers.routed(k().eq(2).or(id().eq(1)), 4).await;
    peers
        .routed(id().eq(1).and(k().eq(2)).or(id().eq(5)), 1)
        .await;
    peers
        .routed(id().eq(1).and(k().eq(1)).or(id().eq(6)), 2)
        .await;
    peers
        .routed(id().eq(1).or(k().eq(2)).and(id().eq(3)), 1)
        .await;
    peers
        .routed(id().eq(1).or(id().is_null()).or(k().gt(9)), 4)
        .await;
}

/// A contradiction went to any table, or failed (#24422 of ShardingSphere; #91 of ShardingCore).
/// The answer is empty and has its columns; counts are 0, and nothing is written.
pub async fn contradictions(bench: &Bench) {
    let peers = bench.with(Text::Bytes, rows()).await;
    let nothing = [
        id().eq(1).and(id().eq(2)),
        id().gt(5).and(id().lt(3)),
        id().is_in(Vec::<i64>::new()),
        id().is_in([1, 2]).and(id().is_in([3, 4])),
        id().eq(1).and(id().is_null()),
    ];
    for condition in nothing {
        peers
            .same(&ids(condition.clone()))
            .await
            .answered()
            .count(0);
        let mut count = Query::select();
        count
            .expr_as(Expr::cust("COUNT(*)"), "count")
            .expr_as(id().sum(), "sum")
            .from(t::Entity)
            .and_where(condition.clone());
        peers.same(&count).await.answered().rows(json!([[0, null]]));
        let written = each!(peers, db => t::Entity::update_many()
            .col_expr(t::Column::K, Expr::value(77))
            .filter(condition.clone())
            .exec(db)
            .await
            .map(|done| done.rows_affected));
        written.answered().is(0);
        let deleted = each!(peers, db => t::Entity::delete_many()
            .filter(condition.clone())
            .exec(db)
            .await
            .map(|done| done.rows_affected));
        deleted.answered().is(0);
    }
    peers.same(&ids(id().gte(0))).await.answered().count(40);
    peers.end().await;
}

/// A condition on a column of the same name in another table was taken for the key (#34281 of
/// ShardingSphere; ShardingCore puts all conditions of an entity together, wherever they stand).
pub async fn keys_of_other_tables(bench: &Bench) {
    let peers = bench.joined().await;
    let inner = |id: i64| {
        let mut query = Query::select();
        query
            .column(s::Column::X)
            .from(s::Entity)
            .and_where(Expr::col(s::Column::Id).eq(id));
        query
    };
    for outer in [4, 1] {
        let condition = id()
            .eq(outer)
            .and(Expr::col(t::Column::K).in_subquery(inner(3)));
        let query = ids(condition);
        let told = peers.same(&query).await;
        assert_eq!(peers.reach(&query), 1);
        if outer == 4 {
            told.answered().rows(json!([[4]]));
        }
    }
    let all = ids(Expr::col(t::Column::K).in_subquery(inner(3)));
    peers.same(&all).await.count(8);
    assert_eq!(peers.reach(&all), 4);
    // A row of the table itself inside of a condition says nothing about the outer one.
    let mut same = Query::select();
    same.column(t::Column::K)
        .from(t::Entity)
        .and_where(id().eq(3));
    peers
        .same(&ids(Expr::col(t::Column::K).in_subquery(same)))
        .await
        .count(8);
}

/// Subqueries with keys were combined with every table, or with one only (#21082 and #21114 of
/// ShardingSphere; #143 and #245 of ShardingCore).
pub async fn keys_in_subqueries(bench: &Bench) {
    let peers = bench.joined().await;
    let inner = |condition: Expr| {
        let mut query = Query::select();
        query
            .column(t::Column::K)
            .from(t::Entity)
            .and_where(condition);
        query
    };
    let k = || Expr::col(t::Column::K);
    for (outer, within) in [(1, 1), (1, 5), (1, 6), (2, 7), (0, 39)] {
        let query = ids(id().eq(outer).and(k().in_subquery(inner(id().eq(within)))));
        peers.same(&query).await;
    }
    peers
        .same(&ids(k().in_subquery(inner(id().gt(36)))))
        .await
        .count(24);
    peers
        .same(&ids(k().not_in_subquery(inner(id().gt(36)))))
        .await
        .count(16);
    let most = |condition: Expr| {
        let mut query = Query::select();
        query.expr(id().max()).from(t::Entity).and_where(condition);
        query
    };
    let largest = ids(id().eq(Expr::from(most(id().gte(0)))));
    peers.same(&largest).await.rows(json!([[39]]));
    let above = ids(id().gt(Expr::from(most(id().eq(36)))));
    peers.same(&above).await.count(3);
}

/// What is always true beside the key was routed by the key (#7547 of ShardingSphere).
pub async fn conditions_that_always_hold(bench: &Bench) {
    let peers = bench.joined().await;
    let always = || Expr::val(1).eq(1);
    peers.routed(id().eq(1).or(always()), 4).await;
    peers.routed(always().or(id().eq(1)), 4).await;
    peers.routed(id().eq(1).or(Expr::cust("1 = 1")), 4).await;
    peers.routed(id().eq(1).and(always()), 1).await;
    peers
        .routed(id().eq(2).and(id().eq(1).or(always())), 1)
        .await;
    let text = Expr::cust("id = 1 OR 1 = 1");
    peers.routed(text.clone(), 4).await;
    peers.routed(text.and(id().eq(2)), 1).await;
    let any = Condition::any().add(id().eq(1)).add(always());
    let query = t::Entity::find().filter(any).order_by_asc(t::Column::Id);
    peers.same(query.as_query()).await.answered().count(40);
    // Nothing is an OR of nothing.
    let none = t::Entity::find()
        .filter(Condition::any())
        .order_by_asc(t::Column::Id);
    peers.same(none.as_query()).await.answered().count(0);
}

/// A list of keys was cut into those of each table, which lost values and parameters (pull request
/// 37298 of ShardingSphere; ShardingCore fails for NULLs in a list).
pub async fn lists_of_keys(bench: &Bench) {
    let peers = bench.joined().await;
    let k = || Expr::col(t::Column::K);
    peers.routed(id().is_in([3, 3, 7, 3]), 1).await;
    peers
        .routed(id().is_in([Some(3_i64), None, Some(6)]), 2)
        .await;
    peers.routed(id().is_not_in([Some(3_i64), None]), 1).await;
    peers.routed(id().is_in([1, 2, 3]).and(k().eq(2)), 3).await;
    peers
        .routed(id().is_in([1, 2, 3]).and(id().is_in([2, 3, 4])), 2)
        .await;
    peers
        .routed(id().is_in([1, 2]).or(k().is_in([3, 4])), 4)
        .await;
    let tuples = Expr::tuple([id(), k()]).in_tuples([(1_i64, 1_i32), (2, 2), (3, 1)]);
    peers
        .same(&ids(tuples))
        .await
        .answered()
        .rows(json!([[1], [2]]));
}
