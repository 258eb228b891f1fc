//! LIMIT and OFFSET.

use sea_orm::sea_query::{Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{
    ColumnTrait, Condition, DbErr, EntityTrait, Order, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait,
};
use serde_json::json;

use super::entities::{i, o, row, t};
use super::{Bench, Text, each};

fn select() -> SelectStatement {
    Query::select().from(t::Entity).take()
}

/// The largest groups of all were not among the largest of each table, or every group was fetched
/// although the order is that of the groups (#2062, #10806, #366 and pull request 39574 of
/// ShardingSphere; ShardingCore cut inside of each table).
pub async fn pages_of_groups(bench: &Bench) {
    // The best in sum is second in every table, behind a different one in each.
    let mut rows = Vec::new();
    for table in 0..4 {
        for (at, (k, d)) in [(100 + table, 60), (7, 50), (200 + table, 10)]
            .into_iter()
            .enumerate()
        {
            rows.push(t::Model {
                k: k as i32,
                c: format!("{}", k % 3),
                d: Some(d.into()),
                ..row(table + 4 * at as i64)
            });
        }
    }
    let peers = bench.with(Text::Bytes, rows).await;
    let sums = |order| {
        let mut query = select();
        query
            .column(t::Column::K)
            .expr_as(Expr::col(t::Column::D).sum(), "s")
            .group_by_col(t::Column::K)
            .order_by("s", order)
            .order_by(t::Column::K, Order::Asc);
        query
    };
    peers
        .same(sums(Order::Desc).limit(1))
        .await
        .answered()
        .count(1);
    peers
        .same(sums(Order::Desc).limit(10))
        .await
        .answered()
        .count(9);
    peers.same(sums(Order::Asc).limit(3)).await.answered();
    peers
        .same(sums(Order::Asc).limit(10).offset(8))
        .await
        .answered()
        .count(1);
    let best = each!(peers, db => t::Entity::find()
        .select_only()
        .column(t::Column::K)
        .group_by(t::Column::K)
        .order_by_desc(t::Column::D.sum())
        .into_tuple::<i32>()
        .one(db)
        .await)
    .answered();
    best.is(Some(7));
    let mut both = select();
    both.columns([t::Column::C, t::Column::K])
        .expr_as(Expr::cust("COUNT(*)"), "count")
        .group_by_columns([t::Column::C, t::Column::K])
        .order_by(t::Column::C, Order::Desc)
        .order_by(t::Column::K, Order::Asc)
        .limit(10)
        .offset(5);
    peers.same(&both).await.answered();
    peers.end().await;
}

/// The offset of a route to one table became 0 (#1581, #1857, #3111, #2360 and #223 of
/// ShardingSphere).
pub async fn pages_of_one_table(bench: &Bench) {
    let rows = (0..160).map(row).collect();
    let peers = bench.with(Text::Bytes, rows).await;
    let page = |condition: Condition| {
        t::Entity::find()
            .select_only()
            .column(t::Column::Id)
            .filter(condition)
            .order_by_asc(t::Column::Id)
            .limit(15)
            .offset(15)
            .into_query()
    };
    let of_one = || (0..160).filter(|id| id % 4 == 1);
    let is_in = Condition::all().add(t::Column::Id.is_in(of_one()));
    let expected: Vec<_> = of_one()
        .skip(15)
        .take(15)
        .map(|id: i64| json!([id]))
        .collect();
    peers
        .same(&page(is_in))
        .await
        .answered()
        .is(expected.clone());
    // The same table by several ways.
    let mut any = Condition::any();
    for id in of_one() {
        any = any.add(t::Column::Id.eq(id)).add(t::Column::Id.eq(id));
    }
    peers.same(&page(any)).await.answered().is(expected);
    let all = page(Condition::all().add(t::Column::Id.gte(0)));
    peers.same(&all).await.answered().count(15);
    peers.end().await;
}

/// The second execution used the parameters that the first one had changed (#2891, #137 and pull
/// request 2086 of ShardingSphere).
pub async fn pages_again(bench: &Bench) {
    let peers = bench.joined().await;
    let mut query = t::Entity::find()
        .order_by_desc(t::Column::Id)
        .limit(6)
        .into_query();
    for offset in [0, 6, 12, 6, 36, 40, 0] {
        query.offset(offset);
        peers.same(&query).await.answered();
        peers.same(&query).await.answered();
    }
    let pages = t::Entity::find()
        .order_by_asc(t::Column::Ts)
        .paginate(&peers.two, 7);
    for page in [2, 0, 2, 5, 6] {
        let right = t::Entity::find()
            .order_by_asc(t::Column::Ts)
            .paginate(&peers.oracle, 7);
        let right = right.fetch_page(page).await.unwrap();
        assert_eq!(pages.fetch_page(page).await.unwrap(), right);
    }
}

/// A page whose offset is its size was empty (#20352 of ShardingSphere).
pub async fn second_pages(bench: &Bench) {
    let rows = (0..800).map(|id| t::Model {
        k: (id % 10) as i32,
        ..row(id)
    });
    let peers = bench.with(Text::Bytes, rows.collect()).await;
    let page = t::Entity::find()
        .order_by_asc(t::Column::Id)
        .limit(200)
        .offset(200);
    peers.same(page.as_query()).await.answered().count(200);
    let beyond = t::Entity::find()
        .order_by_asc(t::Column::Id)
        .limit(200)
        .offset(800);
    peers.same(beyond.as_query()).await.answered().count(0);
    let rest = t::Entity::find()
        .order_by_asc(t::Column::Id)
        .limit(i64::MAX as u64)
        .offset(795);
    peers.same(rest.as_query()).await.answered().count(5);
    let no_order = each!(peers, db => t::Entity::find()
        .limit(200)
        .offset(200)
        .all(db)
        .await
        .map(|rows| rows.len()));
    no_order.answered().is(200);
    peers.end().await;
}

/// Rows came twice and others not at all while paging by a key that is not unique (#9464 of
/// ShardingSphere). No database promises more than it does over one table; here ties are broken.
pub async fn all_pages_together(bench: &Bench) {
    let peers = bench.joined().await;
    let pages = each!(peers, db => {
        let query = t::Entity::find().order_by_asc(t::Column::K).order_by_desc(t::Column::Id);
        let pages = query.paginate(db, 7);
        let mut ids = Vec::new();
        for page in 0..pages.num_pages().await.unwrap() {
            let rows = pages.fetch_page(page).await.unwrap();
            ids.extend(rows.iter().map(|row| row.id));
        }
        Ok::<_, DbErr>(ids)
    });
    let mut ids = pages.answered().right.unwrap();
    ids.sort_unstable();
    assert_eq!(ids, (0..40).collect::<Vec<_>>());
    // Pages by a key alone hold every row once, too, as long as nobody writes.
    for db in [&peers.one, &peers.two] {
        let mut ids = Vec::new();
        for page in 0..8 {
            let query = t::Entity::find()
                .order_by_asc(t::Column::K)
                .limit(5)
                .offset(5 * page);
            ids.extend(query.all(db).await.unwrap().into_iter().map(|row| row.id));
        }
        ids.sort_unstable();
        assert_eq!(ids, (0..40).collect::<Vec<_>>());
    }
    let counted = each!(peers, db => t::Entity::find()
        .paginate(db, 7)
        .num_items_and_pages()
        .await
        .map(|count| (count.number_of_items, count.number_of_pages)));
    counted.answered().is((40, 6));
}

/// A page of a join had the wrong count of rows (#2391 of ShardingSphere).
pub async fn pages_of_joins(bench: &Bench) {
    let peers = bench.joined().await;
    let mut query = Query::select();
    query
        .expr_as(Expr::col((o::Entity, o::Column::Id)), "parent")
        .expr_as(Expr::col((i::Entity, i::Column::Iid)), "child")
        .from(o::Entity)
        .left_join(
            i::Entity,
            Expr::col((i::Entity, i::Column::Oid)).equals((o::Entity, o::Column::Id)),
        )
        .order_by("parent", Order::Asc)
        .order_by("child", Order::Asc)
        .limit(2);
    peers.same(&query).await.answered().count(2);
    peers.same(query.offset(3)).await.answered().count(2);
}

/// Skipping rows of one, and limits of 0 (#166 of ShardingCore: the row could not be fetched).
pub async fn one_row_behind_others(bench: &Bench) {
    let peers = bench.joined().await;
    for offset in [0, 1, 10, 39, 40] {
        let row = each!(peers, db => t::Entity::find()
            .order_by_desc(t::Column::Id)
            .offset(offset)
            .one(db)
            .await
            .map(|row| row.map(|row| row.id)));
        row.answered().is((offset < 40).then(|| 39 - offset as i64));
    }
    let none = t::Entity::find().order_by_asc(t::Column::Id).limit(0);
    peers.same(none.as_query()).await.answered().count(0);
}

/// On which level a page is cut was a matter of taste in nested queries (#167 of ShardingCore).
pub async fn pages_in_subqueries(bench: &Bench) {
    let peers = bench.joined().await;
    let inner = || {
        t::Entity::find()
            .order_by_asc(t::Column::Id)
            .limit(20)
            .offset(5)
            .into_query()
    };
    let mut outer = Query::select();
    outer
        .column("id")
        .from_subquery(inner(), "x")
        .order_by("id", Order::Desc)
        .limit(3)
        .offset(1);
    peers.same(&outer).await.rows(json!([[23], [22], [21]]));
    let mut count = Query::select();
    count
        .expr_as(Expr::cust("COUNT(*)"), "count")
        .from_subquery(inner(), "x");
    peers.same(&count).await.answered().rows(json!([[20]]));
    let paged = each!(peers, db => t::Entity::find()
        .order_by_asc(t::Column::Id)
        .limit(20)
        .offset(30)
        .count(db)
        .await);
    paged.answered().is(10);
}
