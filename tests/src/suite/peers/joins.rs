//! Joins and subqueries over several tables.

use sea_orm::sea_query::{
    Alias, CommonTableExpression, Expr, ExprTrait, IntoIden, JoinType, Query, SelectStatement,
    WithClause,
};
use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, Order, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, RelationTrait,
};
use serde_json::json;

use super::entities::{i, j, o, p, s, t};
use super::{Peers, each};

fn on_key() -> Expr {
    Expr::col((i::Entity, i::Column::Oid)).equals((o::Entity, o::Column::Id))
}

/// `SELECT o.id, i.iid FROM o … i ON … ORDER BY 1, 2`.
fn joined(kind: JoinType, on: Expr) -> SelectStatement {
    Query::select()
        .expr_as(Expr::col((o::Entity, o::Column::Id)), "parent")
        .expr_as(Expr::col((i::Entity, i::Column::Iid)), "child")
        .from(o::Entity)
        .join(kind, i::Entity, on)
        .order_by("parent", Order::Asc)
        .order_by("child", Order::Asc)
        .take()
}

/// Co-located tables that are joined by another column than the key missed matches in other tables
/// (#13835 of ShardingSphere).
pub async fn joins_by_another_column(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
    let by_k = || Expr::col((o::Entity, o::Column::K)).equals((i::Entity, i::Column::K));
    for kind in [JoinType::InnerJoin, JoinType::LeftJoin] {
        peers.same(&joined(kind, by_k())).await;
        peers.same(&joined(kind, by_k().or(on_key()))).await;
        peers.same(&joined(kind, on_key().and(by_k()))).await;
        peers.same(&joined(kind, on_key().not())).await;
    }
    peers.end().await;
}

/// A left join repeated each parent with NULL for every table of the children (#2241, #27341,
/// #16469, #109 and #151 of ShardingSphere; #253 of ShardingCore).
pub async fn left_joins(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
    peers.same(&joined(JoinType::LeftJoin, on_key())).await;
    let unbound = |kind| {
        Query::select()
            .expr_as(Expr::col((o::Entity, o::Column::Id)), "parent")
            .expr_as(Expr::col((t::Entity, t::Column::Id)), "other")
            .from(o::Entity)
            .join(
                kind,
                t::Entity,
                Expr::col((t::Entity, t::Column::N)).equals((o::Entity, o::Column::Id)),
            )
            .order_by("parent", Order::Asc)
            .order_by("other", Order::Asc)
            .take()
    };
    for kind in [JoinType::InnerJoin, JoinType::LeftJoin, JoinType::RightJoin] {
        peers.same(&unbound(kind)).await;
    }
    // One parent that nothing belongs to.
    let mut one = unbound(JoinType::LeftJoin);
    one.and_where(Expr::col((o::Entity, o::Column::Id)).eq(12));
    peers.same(&one).await.rows(json!([[12, null]]));
    let mut none = joined(JoinType::LeftJoin, on_key());
    none.and_where(Expr::col((i::Entity, i::Column::Iid)).is_null());
    peers.same(&none).await;
    // A condition of the other side belongs to the join, not to the rows.
    let narrow = on_key().and(Expr::col((i::Entity, i::Column::Oid)).eq(1));
    peers.same(&joined(JoinType::LeftJoin, narrow)).await;
    let narrow = on_key().and(Expr::col((o::Entity, o::Column::Id)).eq(1));
    peers.same(&joined(JoinType::LeftJoin, narrow)).await;
    peers.end().await;
}

/// Joins that keep the other side, or both.
pub async fn right_and_full_joins(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
    peers.same(&joined(JoinType::RightJoin, on_key())).await;
    // MySQL has no full join.
    if backend != DbBackend::MySql {
        peers.same(&joined(JoinType::FullOuterJoin, on_key())).await;
    }
    let mut cross = joined(JoinType::CrossJoin, Expr::val(1).eq(1));
    if backend != DbBackend::Postgres {
        peers.same(cross.limit(50)).await.count(50);
    }
    peers.end().await;
}

/// Columns of the joined table were missing where its rows are in another database, and a count
/// was not that of the list (#28014, #28182 and #533 of ShardingSphere).
pub async fn rows_of_another_database(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
    let mut across = Query::select();
    across
        .expr_as(Expr::col((o::Entity, o::Column::Id)), "parent")
        .expr_as(Expr::col((t::Entity, t::Column::C)), "c")
        .from(o::Entity)
        .inner_join(
            t::Entity,
            Expr::col((t::Entity, t::Column::Id)).eq(Expr::col((o::Entity, o::Column::Id)).add(1)),
        )
        .order_by("parent", Order::Asc);
    peers.same(&across).await.count(12);
    let mut count = Query::select();
    count
        .expr_as(Expr::cust("COUNT(*)"), "count")
        .from_subquery(across, "x");
    peers.same(&count).await.rows(json!([[12]]));
    let found = each!(peers, db => {
        let query = || o::Entity::find().inner_join(i::Entity).order_by_asc(o::Column::Id);
        let counted = query().count(db).await;
        match query().all(db).await {
            Ok(rows) => counted.map(|count| (count, rows.len())),
            Err(error) => Err(error),
        }
    });
    let (count, len) = found.right.unwrap();
    assert_eq!(count, len as u64);
    peers.end().await;
}

/// Relations of SeaORM, which ShardingCore cannot follow (#85 and #223).
pub async fn relations(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
    each!(peers, db => i::Entity::find()
        .find_also_related(o::Entity)
        .order_by_asc(i::Column::Iid)
        .all(db)
        .await);
    each!(peers, db => o::Entity::find()
        .find_with_related(i::Entity)
        .order_by_asc(o::Column::Id)
        .order_by_asc(i::Column::Iid)
        .all(db)
        .await);
    each!(peers, db => i::Entity::find()
        .find_also_related(o::Entity)
        .filter(o::Column::K.eq(1))
        .filter(i::Column::Oid.is_in([1, 2, 4]))
        .order_by_asc(i::Column::Iid)
        .all(db)
        .await);
    each!(peers, db => {
        use sea_orm::LoaderTrait;
        match o::Entity::find().order_by_asc(o::Column::Id).all(db).await {
            Ok(parents) => parents.load_many(i::Entity::find().order_by_asc(i::Column::Iid), db).await,
            Err(error) => Err(error),
        }
    });
    peers.end().await;
}

/// Of two groups of co-located tables that share one, the wrong one was taken, and names in upper
/// case were not found (#12315, #6629 and #3635 of ShardingSphere).
pub async fn tables_of_two_groups(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
    let mut jobs = o::Entity::find()
        .select_only()
        .column_as(o::Column::Id, "parent")
        .column_as(j::Column::Jid, "job")
        .join(JoinType::LeftJoin, o::Relation::Job.def())
        .into_query();
    jobs.order_by("parent", Order::Asc)
        .order_by("job", Order::Asc);
    peers.same(&jobs).await;
    let mut all = joined(JoinType::InnerJoin, on_key());
    all.expr_as(Expr::col((j::Entity, j::Column::Jid)), "job")
        .left_join(
            j::Entity,
            Expr::col((j::Entity, j::Column::Oid)).equals((o::Entity, o::Column::Id)),
        )
        .order_by("job", Order::Asc);
    peers.same(&all).await;
    // The children of one parent with each other, without the parent.
    let mut siblings = Query::select();
    siblings
        .expr_as(Expr::col((i::Entity, i::Column::Iid)), "child")
        .expr_as(Expr::col((j::Entity, j::Column::Jid)), "job")
        .from(i::Entity)
        .inner_join(
            j::Entity,
            Expr::col((j::Entity, j::Column::Oid)).equals((i::Entity, i::Column::Oid)),
        )
        .order_by("child", Order::Asc)
        .order_by("job", Order::Asc);
    peers.same(&siblings).await;
    peers.end().await;
}

/// The rows of a table that is everywhere, or in one database only, came once for each table that
/// they were joined with (our own case; #30530 of ShardingSphere is alike).
pub async fn plain_tables_on_the_left(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
    for kind in [JoinType::LeftJoin, JoinType::InnerJoin, JoinType::RightJoin] {
        let mut broadcast = Query::select();
        broadcast
            .expr_as(Expr::col((p::Entity, p::Column::Name)), "name")
            .expr_as(Expr::col((t::Entity, t::Column::Id)), "id")
            .from(p::Entity)
            .join(
                kind,
                t::Entity,
                Expr::col((t::Entity, t::Column::K)).equals((p::Entity, p::Column::Id)),
            )
            .order_by("name", Order::Asc)
            .order_by("id", Order::Asc);
        let told = peers.same(&broadcast).await;
        told.count(if kind == JoinType::LeftJoin { 42 } else { 40 });
        let mut single = Query::select();
        single
            .expr_as(Expr::col((s::Entity, s::Column::Id)), "single")
            .expr_as(Expr::col((t::Entity, t::Column::Id)), "id")
            .from(s::Entity)
            .join(
                kind,
                t::Entity,
                Expr::col((t::Entity, t::Column::N)).equals((s::Entity, s::Column::X)),
            )
            .order_by("single", Order::Asc)
            .order_by("id", Order::Asc);
        peers.same(&single).await;
    }
    // On the right they do not come more than once, either.
    let mut right = Query::select();
    right
        .expr_as(Expr::col((t::Entity, t::Column::Id)), "id")
        .expr_as(Expr::col((p::Entity, p::Column::Name)), "name")
        .from(t::Entity)
        .left_join(
            p::Entity,
            Expr::col((t::Entity, t::Column::K)).equals((p::Entity, p::Column::Id)),
        )
        .order_by("id", Order::Asc);
    peers.same(&right).await.answered().count(40);
    peers.end().await;
}

/// A table joined with itself.
pub async fn self_joins(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
    let (a, b) = (Alias::new("a").into_iden(), Alias::new("b").into_iden());
    let with = |kind, on: Expr| {
        Query::select()
            .expr_as(Expr::col((a.clone(), t::Column::Id)), "one")
            .expr_as(Expr::col((b.clone(), t::Column::Id)), "other")
            .from_as(t::Entity, a.clone())
            .join_as(kind, t::Entity, b.clone(), on)
            .order_by("one", Order::Asc)
            .order_by("other", Order::Asc)
            .take()
    };
    let a_id = || Expr::col((a.clone(), t::Column::Id));
    let b_id = || Expr::col((b.clone(), t::Column::Id));
    for kind in [JoinType::InnerJoin, JoinType::LeftJoin] {
        peers.same(&with(kind, a_id().eq(b_id()))).await.count(40);
        peers.same(&with(kind, b_id().eq(a_id().add(1)))).await;
        let by_k = Expr::col((a.clone(), t::Column::K)).equals((b.clone(), t::Column::K));
        let mut one = with(kind, by_k);
        one.and_where(a_id().eq(3));
        peers.same(&one).await.count(8);
        one.and_where(b_id().eq(8));
        peers.same(&one).await.rows(json!([[3, 8]]));
    }
    peers.end().await;
}

/// EXISTS and NOT EXISTS were decided in each table by itself (ShardingCore; `Any` on a sharded
/// set even reached the logical name, #245).
pub async fn existence(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
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
    peers.same(&parents(Expr::exists(children(on_key())))).await;
    peers
        .same(&parents(Expr::exists(children(on_key())).not()))
        .await;
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
    peers.same(&parents(id().in_subquery(keys()))).await;
    peers.same(&parents(id().not_in_subquery(keys()))).await;
    // A value for each row.
    let count = Query::select()
        .expr(Expr::cust("COUNT(*)"))
        .from(i::Entity)
        .and_where(on_key())
        .take();
    let mut counted = parents(id().gt(0));
    counted.expr_as(count, "children");
    peers.same(&counted).await.count(12);
    peers.end().await;
}

/// Subqueries in FROM and common table expressions kept the logical name (#29539 of
/// ShardingSphere, #143 of ShardingCore).
pub async fn derived_tables(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
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
    peers.same(&hiding).await.rows(json!([[1]]));
    peers.end().await;
}

/// Aggregates over joins were added up for every pair of tables.
pub async fn aggregates_of_joins(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
    let mut counts = Query::select();
    counts
        .expr_as(Expr::col((o::Entity, o::Column::K)), "k")
        .expr_as(Expr::col((i::Entity, i::Column::Iid)).count(), "children")
        .from(o::Entity)
        .left_join(i::Entity, on_key())
        .group_by_col((o::Entity, o::Column::K))
        .order_by("k", Order::Asc);
    peers.same(&counts).await.count(3);
    let mut most = Query::select();
    most.expr_as(Expr::col((i::Entity, i::Column::Iid)).max(), "most")
        .from(o::Entity)
        .inner_join(i::Entity, on_key())
        .and_where(Expr::col((o::Entity, o::Column::Id)).is_in([1, 4, 6]));
    peers.same(&most).await.count(1);
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
    peers.same(&places).await.count(5);
    peers.end().await;
}
