//! What keys can be.

use sea_orm::sea_query::{Alias, Expr, ExprTrait, IntoColumnRef, Query};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, EntityTrait, Order, QueryFilter, QueryOrder,
    QueryTrait, Set,
};
use serde_json::json;
use sharding_sea_orm::{EntityRules, Modulo, Ranges, ShardingError, rule};

use super::entities::{entity, row, t};
use super::fixture::table;
use super::{Bench, Layout, Text};

entity!(
    /// A key and nothing else.
    key, "key";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
);

fn id() -> Expr {
    Expr::col(t::Column::Id)
}

/// Numbers above those of 32 bits, and mixed kinds of numbers, were exceptions or endless loops
/// (#5544, #268 and pull request 5770 of ShardingSphere; ShardingCore narrows keys to 32 bits).
pub async fn wide_numbers(bench: &Bench) {
    let wide = [
        i64::MIN,
        -(1 << 53) - 1,
        -4,
        -3,
        -2,
        -1,
        0,
        1,
        i64::from(i32::MAX),
        1 << 31,
    ];
    let wider = [(1 << 53) + 1, (1 << 53) + 2, i64::MAX - 1, i64::MAX];
    let rows = wide.into_iter().chain(wider).map(row).collect();
    let peers = bench.with(Text::Bytes, rows).await;
    for condition in [
        id().between(0_i64, i64::from(i32::MAX)),
        id().between(0_i64, i64::MAX),
        id().between(i64::MIN, i64::MAX),
        id().gt(i32::MAX),
        id().lt(0),
    ] {
        peers.routed(condition, 4).await;
    }
    // Keys that a 53 bit number would mix up, and negative ones (#8551, #22357, #21475 and pull
    // request 21564: a table `-1`).
    for key in wide.into_iter().chain(wider) {
        peers.routed(id().eq(key), 1).await;
    }
    peers.routed(id().eq(1_i8), 1).await;
    peers.routed(id().eq(1_u64), 1).await;
    peers.routed(id().is_in([1_u8, 5]), 1).await;
    // Bits of the key.
    let bits = Expr::col(t::Column::Id).bit_and(3).eq(1);
    peers.routed(bits, 4).await;
    peers.end().await;
}

fn by_tens(
    builder: sharding_sea_orm::ShardingBuilder,
    layout: Layout,
) -> sharding_sea_orm::ShardingBuilder {
    let ranges = Ranges::new()
        .less_than(10, "low")
        .less_than(20, "mid")
        .max_value("high");
    let rules = EntityRules::<key::Entity>::new().table(rule::<i64, _>(key::Column::Id, ranges));
    builder.table(match layout {
        Layout::One => rules,
        Layout::Two => rules.tails("a", ["low", "high"]).tails("b", ["mid"]),
    })
}

/// `5 > id` was read as `id > 5` (pull request 39534, #12763 and #572 of ShardingSphere).
pub async fn literals_on_the_left(bench: &Bench) {
    let tables = [table::<key::Entity>(bench.backend)];
    let peers = bench.of(Text::Bytes, &tables, by_tens).await;
    let rows = (0..30).map(|id| key::Model { id }).collect();
    peers.fill::<key::Entity>(rows).await;
    let value = |value: i64| Expr::val(value);
    let col = || Expr::col(key::Column::Id);
    for (condition, rows, tables) in [
        (value(5).gt(col()), 5, 1),
        (value(5).gte(col()), 6, 1),
        (value(25).lt(col()), 4, 1),
        (value(25).lte(col()), 5, 1),
        (value(10).gt(col()), 10, 1),
        (value(10).gte(col()), 11, 2),
        (value(1).eq(col()), 1, 1),
        (value(1).ne(col()), 29, 3),
    ] {
        let query = key::Entity::find()
            .filter(condition)
            .order_by_asc(key::Column::Id);
        peers.same(query.as_query()).await.answered().count(rows);
        assert_eq!(peers.reach(query.as_query()), tables);
    }
    peers.end().await;
    let peers = bench.joined().await;
    peers.routed(value(1).eq(id()), 1).await;
}

/// What is beyond the first and the last border was a surprise (#20058 and #18726 of
/// ShardingSphere).
pub async fn borders_of_ranges(bench: &Bench) {
    let tables = [table::<key::Entity>(bench.backend)];
    let peers = bench.of(Text::Bytes, &tables, by_tens).await;
    let ids = [i64::MIN, -1, 0, 9, 10, 19, 20, 21, i64::MAX];
    peers
        .fill::<key::Entity>(ids.map(|id| key::Model { id }).to_vec())
        .await;
    for (id, tail) in [
        (i64::MIN, "low"),
        (9, "low"),
        (10, "mid"),
        (19, "mid"),
        (20, "high"),
        (i64::MAX, "high"),
    ] {
        let query = key::Entity::find().filter(key::Column::Id.eq(id));
        peers.same(query.as_query()).await.answered().count(1);
        let explained = peers.one.explain(&query).unwrap();
        let tables: Vec<_> = explained.nodes.iter().map(|node| &*node.table).collect();
        assert_eq!(tables, [format!("key_{tail}")]);
    }
    for (condition, tables) in [
        (key::Column::Id.lt(10), 1),
        (key::Column::Id.lte(10), 2),
        // Keys are compared as numbers, so there may be some between 19 and 20.
        (key::Column::Id.gt(19), 2),
        (key::Column::Id.gte(19), 2),
        (key::Column::Id.between(10, 19), 1),
        (key::Column::Id.between(9, 20), 3),
    ] {
        let query = key::Entity::find()
            .filter(condition)
            .order_by_asc(key::Column::Id);
        peers.same(query.as_query()).await.answered();
        assert_eq!(peers.reach(query.as_query()), tables);
    }
    peers.end().await;
}

/// The suffix `_1` found `_11` as well (#13009 of ShardingSphere).
pub async fn tails_that_begin_alike(bench: &Bench) {
    let tables = [table::<key::Entity>(bench.backend)];
    let peers = bench
        .of(Text::Bytes, &tables, |builder, layout| {
            let rules = EntityRules::<key::Entity>::new()
                .table(rule::<i64, _>(key::Column::Id, Modulo::new(120)));
            builder.table(match layout {
                Layout::One => rules,
                Layout::Two => rules.tails("a", ["0..59"]).tails("b", ["60..119"]),
            })
        })
        .await;
    let rows = (0..240).map(|id| key::Model { id }).collect();
    peers.fill::<key::Entity>(rows).await;
    for id in [1, 10, 11, 12, 100, 101, 110, 111, 119] {
        let query = key::Entity::find().filter(key::Column::Id.is_in([id, id + 120]));
        let query = query.order_by_asc(key::Column::Id);
        peers
            .same(query.as_query())
            .await
            .answered()
            .rows(json!([[id], [id + 120]]));
        let explained = peers.one.explain(&query).unwrap();
        let tables: Vec<_> = explained.nodes.iter().map(|node| &*node.table).collect();
        assert_eq!(tables, [format!("key_{id}")]);
    }
    peers.end().await;
}

/// The key was not found in another letter case (#14708 and #1141 of ShardingSphere).
pub async fn letter_case(bench: &Bench) {
    let peers = bench.joined().await;
    let aliased = |alias: &'static str, column: &'static str| {
        let column = || (Alias::new(alias), Alias::new(column)).into_column_ref();
        let mut query = Query::select();
        query
            .expr_as(Expr::col(column()), "id")
            .from_as(t::Entity, Alias::new(alias))
            .and_where(Expr::col(column()).is_in([1, 5]))
            .order_by("id", Order::Asc);
        query
    };
    for alias in ["O", "o", "T", "t", "Order"] {
        let query = aliased(alias, "id");
        peers.same(&query).await.answered().rows(json!([[1], [5]]));
        assert_eq!(peers.reach(&query), 1);
        // PostgreSQL has no such column.
        peers.same(&aliased(alias, "ID")).await.answered();
    }
    // An alias that hides the key.
    let mut hidden = Query::select();
    hidden
        .expr_as(Expr::col(t::Column::K), "id")
        .from(t::Entity)
        .and_where(Expr::col((t::Entity, t::Column::Id)).eq(7));
    peers.same(&hidden).await.answered().rows(json!([[2]]));
}

/// A row without a key was an error that said little, and `IS NULL` reached every table (#36450,
/// #3644 and #27411 of ShardingSphere; #238 of ShardingCore).
pub async fn null_keys(bench: &Bench) {
    let peers = bench.joined().await;
    peers.routed(id().is_null(), 1).await;
    peers.routed(id().eq(Option::<i64>::None), 1).await;
    peers.routed(id().is_not_null(), 4).await;
    peers.routed(id().is_in([Some(1_i64), None]), 1).await;
    for db in [&peers.one, &peers.two] {
        let mut null = Query::insert();
        null.into_table(t::Entity)
            .columns([
                t::Column::Id,
                t::Column::K,
                t::Column::C,
                t::Column::Ts,
                t::Column::G,
            ])
            .values_panic([
                Option::<i64>::None.into(),
                1.into(),
                "".into(),
                row(0).ts.into(),
                row(0).g.into(),
            ]);
        let error = db.execute(&null).await.unwrap_err();
        assert!(
            matches!(ShardingError::of(&error), Some(ShardingError::Key(_))),
            "{error}"
        );
        let absent = t::ActiveModel {
            k: Set(1),
            c: Set(String::new()),
            ..Default::default()
        };
        let error = absent.insert(db).await.unwrap_err();
        assert!(ShardingError::of(&error).is_some(), "{error}");
    }
}
