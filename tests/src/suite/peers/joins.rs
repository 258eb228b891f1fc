//! Joins over several tables.

use sea_orm::sea_query::{Alias, Expr, ExprTrait, IntoIden, JoinType, Query, SelectStatement};
use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, Order, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, RelationTrait,
};
use serde_json::json;

use super::entities::{i, j, o, p, s, t};
use super::{Bench, each};

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
pub async fn joins_by_another_column(bench: &Bench) {
    let peers = bench.joined().await;
    let by_k = || Expr::col((o::Entity, o::Column::K)).equals((i::Entity, i::Column::K));
    for kind in [JoinType::InnerJoin, JoinType::LeftJoin] {
        peers.same(&joined(kind, by_k())).await;
        peers.same(&joined(kind, by_k().or(on_key()))).await;
        peers
            .same(&joined(kind, on_key().and(by_k())))
            .await
            .answered();
        peers.same(&joined(kind, on_key().not())).await;
    }
}

/// A left join repeated each parent with NULL for every table of the children (#2241, #27341,
/// #16469, #109 and #151 of ShardingSphere; #253 of ShardingCore).
pub async fn left_joins(bench: &Bench) {
    let peers = bench.joined().await;
    peers
        .same(&joined(JoinType::LeftJoin, on_key()))
        .await
        .answered();
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
    peers.same(&none).await.answered();
    // A condition of the other side belongs to the join, not to the rows.
    let narrow = on_key().and(Expr::col((i::Entity, i::Column::Oid)).eq(1));
    peers
        .same(&joined(JoinType::LeftJoin, narrow))
        .await
        .answered();
    let narrow = on_key().and(Expr::col((o::Entity, o::Column::Id)).eq(1));
    peers
        .same(&joined(JoinType::LeftJoin, narrow))
        .await
        .answered();
}

/// Joins that keep the other side, or both.
pub async fn right_and_full_joins(bench: &Bench) {
    let peers = bench.joined().await;
    peers
        .same(&joined(JoinType::RightJoin, on_key()))
        .await
        .answered();
    // MySQL has no full join.
    if bench.backend != DbBackend::MySql {
        peers
            .same(&joined(JoinType::FullOuterJoin, on_key()))
            .await
            .answered();
    }
    let mut cross = joined(JoinType::CrossJoin, Expr::val(1).eq(1));
    if bench.backend != DbBackend::Postgres {
        peers.same(cross.limit(50)).await.count(50);
    }
}

/// Columns of the joined table were missing where its rows are in another database, and a count
/// was not that of the list (#28014, #28182 and #533 of ShardingSphere).
pub async fn rows_of_another_database(bench: &Bench) {
    let peers = bench.joined().await;
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
    })
    .answered();
    let (count, len) = found.right.unwrap();
    assert_eq!(count, len as u64);
}

/// Relations of SeaORM, which ShardingCore cannot follow (#85 and #223).
pub async fn relations(bench: &Bench) {
    let peers = bench.joined().await;
    each!(peers, db => i::Entity::find()
        .find_also_related(o::Entity)
        .order_by_asc(i::Column::Iid)
        .all(db)
        .await)
    .answered();
    each!(peers, db => o::Entity::find()
        .find_with_related(i::Entity)
        .order_by_asc(o::Column::Id)
        .order_by_asc(i::Column::Iid)
        .all(db)
        .await)
    .answered();
    each!(peers, db => i::Entity::find()
        .find_also_related(o::Entity)
        .filter(o::Column::K.eq(1))
        .filter(i::Column::Oid.is_in([1, 2, 4]))
        .order_by_asc(i::Column::Iid)
        .all(db)
        .await)
    .answered();
    each!(peers, db => {
        use sea_orm::LoaderTrait;
        match o::Entity::find().order_by_asc(o::Column::Id).all(db).await {
            Ok(parents) => parents.load_many(i::Entity::find().order_by_asc(i::Column::Iid), db).await,
            Err(error) => Err(error),
        }
    }).answered();
}

/// Of two groups of co-located tables that share one, the wrong one was taken, and names in upper
/// case were not found (#12315, #6629 and #3635 of ShardingSphere).
pub async fn tables_of_two_groups(bench: &Bench) {
    let peers = bench.joined().await;
    let mut jobs = o::Entity::find()
        .select_only()
        .column_as(o::Column::Id, "parent")
        .column_as(j::Column::Jid, "job")
        .join(JoinType::LeftJoin, o::Relation::Job.def())
        .into_query();
    jobs.order_by("parent", Order::Asc)
        .order_by("job", Order::Asc);
    peers.same(&jobs).await.answered();
    let mut all = joined(JoinType::InnerJoin, on_key());
    all.expr_as(Expr::col((j::Entity, j::Column::Jid)), "job")
        .left_join(
            j::Entity,
            Expr::col((j::Entity, j::Column::Oid)).equals((o::Entity, o::Column::Id)),
        )
        .order_by("job", Order::Asc);
    peers.same(&all).await.answered();
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
    peers.same(&siblings).await.answered();
}

/// The rows of a table that is everywhere, or in one database only, came once for each table that
/// they were joined with (our own case; #30530 of ShardingSphere is alike).
pub async fn plain_tables_on_the_left(bench: &Bench) {
    let peers = bench.joined().await;
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
        let told = told.answered_if(kind != JoinType::LeftJoin);
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
}

/// A table joined with itself.
pub async fn self_joins(bench: &Bench) {
    let peers = bench.joined().await;
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
        peers
            .same(&with(kind, a_id().eq(b_id())))
            .await
            .answered()
            .count(40);
        peers.same(&with(kind, b_id().eq(a_id().add(1)))).await;
        let by_k = Expr::col((a.clone(), t::Column::K)).equals((b.clone(), t::Column::K));
        let mut one = with(kind, by_k);
        one.and_where(a_id().eq(3));
        peers.same(&one).await.count(8);
        one.and_where(b_id().eq(8));
        peers.same(&one).await.rows(json!([[3, 8]]));
    }
}
