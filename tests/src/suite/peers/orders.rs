//! ORDER BY, collations and NULLs.

use futures_util::TryStreamExt;
use sea_orm::sea_query::{NullOrdering, Query, TableDropStatement};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, Order, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait,
};
use serde_json::json;
use sharding_sea_orm::{ShardingConnection, ShardingError};

use super::entities::{entity, row, rows, t};
use super::fixture::{by_key, options, rules, table};
use super::{Bench, Layout, Text};

entity!(
    /// A number without sign.
    large, "large";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    u: u64,
);

/// NULLS FIRST was ignored (#22826 of ShardingSphere), and a NULL in ORDER BY crashed (pull
/// request 249 of ShardingCore).
pub async fn orders_of_nulls(bench: &Bench) {
    let peers = bench.joined().await;
    for order in [Order::Asc, Order::Desc] {
        for nulls in [None, Some(NullOrdering::First), Some(NullOrdering::Last)] {
            for column in [t::Column::N, t::Column::D, t::Column::F, t::Column::B] {
                let query = t::Entity::find();
                let query = match nulls {
                    None => query.order_by(column, order.clone()),
                    Some(nulls) => query.order_by_with_nulls(column, order.clone(), nulls),
                };
                let query = query.order_by_asc(t::Column::Id);
                peers.same(query.as_query()).await.answered().count(40);
            }
        }
    }
}

/// An order by bytes was an exception (#24107 of ShardingSphere).
pub async fn orders_of_bytes(bench: &Bench) {
    let bytes = [
        Some(vec![0x7f]),
        Some(vec![0x80]),
        Some(vec![0x7f, 0x00]),
        Some(vec![0x7f, 0x01]),
        Some(vec![0xff, 0xff]),
        Some(vec![]),
        None,
    ];
    let rows = (0..).zip(bytes).map(|(id, b)| t::Model { b, ..row(id) });
    let peers = bench.with(Text::Bytes, rows.collect()).await;
    let ids = |order| {
        t::Entity::find()
            .select_only()
            .columns([t::Column::Id, t::Column::B])
            .filter(t::Column::B.is_not_null())
            .order_by(t::Column::B, order)
            .into_query()
    };
    let told = peers.same(&ids(Order::Asc)).await.answered();
    let ids_of = |rows: Vec<serde_json::Value>| rows.iter().map(|row| row[0].clone()).collect();
    let found: Vec<_> = ids_of(told.right.unwrap());
    assert_eq!(found, [5, 0, 2, 3, 1, 4].map(|id| json!(id)));
    peers.same(&ids(Order::Desc)).await.answered();
    let all = t::Entity::find().order_by_desc(t::Column::B);
    peers.same(all.as_query()).await.answered();
    peers.end().await;
}

/// Numbers beyond the signed ones in one table only could not be compared (#25197 of
/// ShardingSphere).
pub async fn orders_of_large_numbers(bench: &Bench) {
    let tables = [table::<large::Entity>(bench.backend)];
    let peers = bench
        .of(Text::Bytes, &tables, |builder, layout| {
            builder.table(by_key::<large::Entity>(large::Column::Id, layout))
        })
        .await;
    // The other systems have no such numbers.
    let largest = if bench.backend == DbBackend::MySql {
        u64::MAX
    } else {
        i64::MAX as u64
    };
    let numbers = [
        5,
        largest,
        7,
        largest - 1,
        0,
        largest - 2,
        i64::MAX as u64,
        1,
    ];
    let rows = (0..).zip(numbers).map(|(id, u)| large::Model { id, u });
    peers.fill::<large::Entity>(rows.collect()).await;
    for order in [Order::Asc, Order::Desc] {
        let query = large::Entity::find()
            .order_by(large::Column::U, order)
            .order_by_asc(large::Column::Id);
        peers.same(query.as_query()).await.answered().count(8);
    }
    let extremes = large::Entity::find()
        .select_only()
        .column_as(large::Column::U.max(), "most")
        .column_as(large::Column::U.min(), "least");
    let told = peers.same(extremes.as_query()).await.answered();
    told.rows(json!([[largest, 0]]));
    let groups = large::Entity::find()
        .select_only()
        .column(large::Column::U)
        .column_as(large::Column::Id.count(), "count")
        .group_by(large::Column::U)
        .order_by_desc(large::Column::U);
    peers.same(groups.as_query()).await.answered();
    peers.end().await;
}

/// An order by a column that is NULL in every row crashed, and so did an empty first table (#28485
/// of ShardingSphere).
pub async fn orders_of_nothing_but_nulls(bench: &Bench) {
    let by_n = || {
        t::Entity::find()
            .order_by_asc(t::Column::N)
            .order_by_asc(t::Column::Id)
    };
    let peers = bench.with(Text::Bytes, (0..9).map(row).collect()).await;
    peers.same(by_n().as_query()).await.answered().count(9);
    let only = t::Entity::find().order_by_desc(t::Column::N);
    peers.same_set(only.as_query()).await.answered().count(9);
    peers.end().await;

    let last = [3, 7, 11].map(|id| t::Model {
        n: Some(-id as i32),
        ..row(id)
    });
    let peers = bench.with(Text::Bytes, last.to_vec()).await;
    peers.same(by_n().as_query()).await.answered().count(3);
    peers.end().await;

    let peers = bench.with(Text::Bytes, Vec::new()).await;
    peers.same(by_n().as_query()).await.answered().count(0);
    peers.end().await;
}

/// A first table that was missing crashed (#13544 of ShardingSphere). A missing table is an error
/// of its own, never fewer rows.
pub async fn missing_first_table(bench: &Bench) {
    let peers = bench.with(Text::Bytes, rows()).await;
    for db in [&peers.one, &peers.two] {
        let mut drop = TableDropStatement::new();
        drop.table("t_0");
        db.source("a").unwrap().execute(&drop).await.unwrap();
        let all = t::Entity::find().order_by_asc(t::Column::N).all(db).await;
        let error = all.unwrap_err();
        let error = ShardingError::of(&error);
        assert!(
            matches!(error, Some(ShardingError::MissingTable { .. })),
            "{error:?}"
        );
        let other = t::Entity::find_by_id(6).one(db).await.unwrap();
        assert_eq!(other.unwrap().id, 6);
    }
    peers.end().await;
}

/// An order by text over two databases hung, since the catalog was asked on a connection with an
/// open stream (#4460 and #4665 of ShardingSphere).
pub async fn streams_by_text(bench: &Bench) {
    let peers = bench.joined().await;
    let builder = || {
        let [a, b] = peers.urls();
        let builder = ShardingConnection::builder();
        builder
            .source("a", options(a, 1))
            .source("b", options(b, 1))
    };
    // One connection for each database, as narrow as it gets.
    let narrow = rules(builder(), Layout::Two).connect().await.unwrap();
    let query = t::Entity::find()
        .order_by_asc(t::Column::C)
        .order_by_asc(t::Column::Id);
    let right = query.clone().all(&peers.oracle).await.unwrap();
    for db in [&narrow, &peers.one, &peers.two] {
        for _ in 0..3 {
            let stream = query.clone().stream(db).await.unwrap();
            let found: Vec<_> = stream.try_collect().await.unwrap();
            assert_eq!(found, right);
        }
    }
    narrow.close().await.unwrap();
}

/// Text was compared by the library in upper case or by its bytes, not by the collation (#26688
/// of ShardingSphere).
pub async fn orders_of_text(bench: &Bench) {
    let words = [
        "a", "A", "b", "B", "z", "Z", "é", "e", "É", "f", "a b", "a-b", "ab", "a_b", "10", "9", "",
        "ss", "ß", "aé", "ae", "af", "a ", "Ö", "o", "p",
    ];
    for text in [Text::Bytes, Text::NoCase, Text::Language, Text::Padded] {
        let rows = (0..).zip(words).map(|(id, c)| t::Model {
            c: c.to_owned(),
            ..row(id)
        });
        let ranked = text.is_ranked(bench.backend);
        let peers = bench.with(text, rows.collect()).await;
        for order in [Order::Asc, Order::Desc] {
            let query = t::Entity::find()
                .select_only()
                .columns([t::Column::C, t::Column::Id])
                .order_by(t::Column::C, order)
                .order_by_asc(t::Column::Id);
            peers
                .same(query.as_query())
                .await
                .answered_if(ranked)
                .count(26);
            let page = query.limit(7).offset(5);
            peers
                .same(page.as_query())
                .await
                .answered_if(ranked)
                .count(7);
        }
        let extremes = t::Entity::find()
            .select_only()
            .filter(t::Column::Id.is_in([3, 4, 8, 9, 13, 14]))
            .column_as(t::Column::C.min(), "first")
            .column_as(t::Column::C.max(), "last");
        peers.same(extremes.as_query()).await.answered_if(ranked);
        peers.end().await;
    }
}

/// UUIDs were ordered as the language orders them, not as the database does (the suite of
/// ShardingCore has a case for it).
pub async fn orders_of_uuids(bench: &Bench) {
    let peers = bench.joined().await;
    for order in [Order::Asc, Order::Desc] {
        let query = t::Entity::find().order_by(t::Column::G, order);
        peers.same(query.as_query()).await.answered().count(40);
    }
}

/// A page that was ordered by a joined or computed column that is not selected crashed (#277 of
/// ShardingCore).
pub async fn orders_by_what_is_not_selected(bench: &Bench) {
    let peers = bench.with(Text::Bytes, rows()).await;
    let ids = || t::Entity::find().select_only().column(t::Column::Id);
    let by_column = ids().order_by_desc(t::Column::Ts).limit(7).offset(3);
    peers.same(by_column.as_query()).await.answered().count(7);
    let by_several = ids()
        .order_by_asc(t::Column::K)
        .order_by_desc(t::Column::D)
        .order_by_asc(t::Column::Id);
    peers.same(by_several.as_query()).await.answered().count(40);
    use sea_orm::sea_query::{Expr, ExprTrait};
    let sum = Expr::col(t::Column::Id).mul(7).modulo(40);
    let mut computed = Query::select();
    computed
        .column(t::Column::Id)
        .from(t::Entity)
        .order_by_expr(sum.clone(), Order::Desc)
        .limit(5);
    peers
        .same(&computed)
        .await
        .answered()
        .rows(json!([[17], [34], [11], [28], [5]]));
    let mut selected = Query::select();
    selected
        .column(t::Column::Id)
        .expr_as(sum, "rest")
        .from(t::Entity)
        .order_by("rest", Order::Desc)
        .limit(5);
    peers.same(&selected).await.answered().count(5);
    peers.end().await;
}
