//! What the suite of ShardingCore expects, with its numbers: an order for each of 320 days by area
//! and month, and rows whose id holds their time.

use chrono::{DateTime, Months, TimeDelta, Utc};
use sea_orm::sea_query::{Expr, ExprTrait, SelectStatement};
use sea_orm::{
    ColumnTrait, EntityTrait, Order, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait,
};
use serde_json::json;
use sharding_sea_orm::{
    EntityRules, Lists, Monthly, ShardingBuilder, SnowflakeLayout, SnowflakeTime, rule,
};

use super::entities::entity;
use super::fixture::table;
use super::{Bench, Layout, Peers, Text, each};

entity!(
    /// Orders.
    order, "orders";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    area: String,
    created: DateTimeUtc,
    money: i64,
    small: i32,
    small_or_null: Option<i32>,
    real: f64,
    real_or_null: Option<f64>,
    #[sea_orm(column_type = "Decimal(Some((20, 4)))")]
    exact: Decimal,
    #[sea_orm(column_type = "Decimal(Some((20, 4)))")]
    exact_or_null: Option<Decimal>,
);

entity!(
    /// Rows whose id holds their time.
    multi, "multi";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    created: DateTimeUtc,
);

fn rules(builder: ShardingBuilder, layout: Layout) -> ShardingBuilder {
    let months = Monthly::starting(2021, 1).through(2021, 12);
    let orders = EntityRules::<order::Entity>::new()
        .table(rule::<DateTime<Utc>, _>(order::Column::Created, months));
    let areas = Lists::new().values("a", ["A", "C"]).values("b", ["B"]);
    builder.table(match layout {
        Layout::One => orders,
        Layout::Two => orders.source(rule::<String, _>(order::Column::Area, areas)),
    })
}

async fn filled(bench: &Bench) -> &Peers {
    let fill = async || {
        let tables = [table::<order::Entity>(bench.backend)];
        let peers = bench.of(Text::Bytes, &tables, rules).await;
        let begin = at("2021-01-01");
        let orders = (0..320_i64).map(|day| order::Model {
            id: day,
            area: ["A", "B", "C"][day as usize % 3].to_owned(),
            created: begin + TimeDelta::days(day),
            money: day,
            small: day as i32,
            small_or_null: Some(day as i32),
            real: day as f64,
            real_or_null: Some(day as f64),
            exact: day.into(),
            exact_or_null: Some(day.into()),
        });
        peers.fill::<order::Entity>(orders.collect()).await;
        peers
    };
    bench.keep(fill).await
}

fn at(day: &str) -> DateTime<Utc> {
    format!("{day}T00:00:00Z").parse().unwrap()
}

/// Orders over areas and months: counts, half-open and closed ranges, a moment, and a global
/// order (behaviours 17 to 21).
pub async fn orders_by_time(bench: &Bench) {
    let peers = filled(bench).await;
    let count = |condition: Expr| {
        order::Entity::find()
            .select_only()
            .expr_as(Expr::cust("COUNT(*)"), "count")
            .filter(condition)
            .into_query()
    };
    let created = order::Column::Created;
    let (april, may) = (at("2021-04-01"), at("2021-05-01"));
    for (condition, rows) in [
        (order::Column::Id.gte(0), 320),
        (created.gte(april).and(created.lt(may)), 30),
        (created.gte(april).and(created.lte(may)), 31),
    ] {
        peers
            .same(&count(condition))
            .await
            .answered()
            .rows(json!([[rows]]));
    }
    let areas = order::Entity::find()
        .select_only()
        .column(order::Column::Area)
        .column_as(order::Column::Id.count(), "count")
        .group_by(order::Column::Area)
        .order_by_asc(order::Column::Area);
    let told = peers.same(areas.as_query()).await.answered();
    told.rows(json!([["A", 107], ["B", 107], ["C", 106]]));
    let exact = each!(peers, db => order::Entity::find()
        .filter(created.eq(at("2021-03-01")))
        .one(db)
        .await
        .map(|order| order.map(|order| (order.money, order.area))));
    exact.answered().is(Some((59, "C".to_owned())));
    let all = order::Entity::find()
        .select_only()
        .column(order::Column::Money)
        .order_by_asc(created);
    let all = each!(peers, db => all.clone().into_tuple::<i64>().all(db).await).answered();
    all.is((0..320).collect::<Vec<_>>());
}

/// Pages with their total, with an order and without (behaviours 22 and 23).
pub async fn pages_of_orders(bench: &Bench) {
    let peers = filled(bench).await;
    for (order, first) in [(Order::Desc, 319), (Order::Asc, 60)] {
        let page = each!(peers, db => {
            let query = order::Entity::find()
                .filter(order::Column::Created.gt(at("2021-03-01")))
                .order_by(order::Column::Created, order.clone());
            let pages = query.paginate(db, 20);
            let total = pages.num_items().await.unwrap();
            let rows = pages.fetch_page(0).await;
            rows.map(|rows| (total, rows.iter().map(|row| row.money).collect::<Vec<_>>()))
        });
        let (total, money) = page.answered().right.unwrap();
        assert_eq!((total, money.len(), money[0]), (260, 20, first));
    }
    let without = each!(peers, db => {
        let pages = order::Entity::find()
            .filter(order::Column::Created.gt(at("2021-03-01")))
            .paginate(db, 10);
        let total = pages.num_items().await.unwrap();
        pages.fetch_page(1).await.map(|rows| (total, rows.len()))
    });
    without.answered().is((260, 10));
}

/// Sums, averages and extremes of every kind of number, of rows and of none (behaviours 28 to 30).
pub async fn aggregates_of_orders(bench: &Bench) {
    let peers = filled(bench).await;
    let created = order::Column::Created;
    for column in [
        order::Column::Money,
        order::Column::Small,
        order::Column::SmallOrNull,
        order::Column::Real,
        order::Column::RealOrNull,
        order::Column::Exact,
        order::Column::ExactOrNull,
    ] {
        let all = |condition: Expr| {
            order::Entity::find()
                .select_only()
                .column_as(column.sum(), "sum")
                .column_as(column.avg(), "average")
                .column_as(column.min(), "least")
                .column_as(column.max(), "most")
                .filter(condition)
                .into_query()
        };
        let april = created.between(at("2021-04-01"), at("2021-05-01"));
        let right = peers.same(&all(april)).await.answered().right.unwrap();
        let number = |at: usize| {
            let text = right[0][at].to_string().replace('"', "");
            text.parse::<f64>().unwrap()
        };
        assert_eq!([number(1), number(2), number(3)], [105.0, 90.0, 120.0]);
        // An area that has none.
        let none = order::Column::Area
            .eq("C")
            .and(created.eq(at("2021-01-01")));
        let told = peers.same(&all(none)).await.answered();
        told.rows(json!([[null, null, null, null]]));
    }
}

/// The last row, the last behind some, and a row that is alone (behaviours 31 and 32).
pub async fn last_and_only_orders(bench: &Bench) {
    let peers = filled(bench).await;
    for (offset, expected) in [(0, Some(319)), (10, Some(309)), (9_999_999, None)] {
        let last = each!(peers, db => order::Entity::find()
            .order_by_desc(order::Column::Money)
            .offset(offset)
            .one(db)
            .await
            .map(|order| order.map(|order| order.money)));
        last.answered().is(expected);
    }
    let only = order::Entity::find().filter(order::Column::Money.eq(13));
    peers.same(only.as_query()).await.answered().count(1);
}

/// Two keys for one route: by id, by a list, by all others, and with a time that contradicts
/// (behaviour 34).
pub async fn rows_by_two_keys(bench: &Bench) {
    let months = || Monthly::starting(2021, 1).through(2021, 12);
    let tables = [table::<multi::Entity>(bench.backend)];
    let peers = bench
        .of(Text::Bytes, &tables, |builder, layout| {
            let by_id = SnowflakeTime::new(SnowflakeLayout::TWITTER, months());
            let by_time = rule::<DateTime<Utc>, _>(multi::Column::Created, months());
            let by_time = by_time.also(rule::<i64, _>(multi::Column::Id, by_id));
            let rules = EntityRules::<multi::Entity>::new().table(by_time);
            builder.table(match layout {
                Layout::One => rules,
                Layout::Two => rules
                    .tails("a", ["202101..202106"])
                    .tails("b", ["202107..202112"]),
            })
        })
        .await;
    let rows: Vec<_> = (0..8)
        .map(|month| {
            let created = at("2021-02-03") + Months::new(month);
            let id = SnowflakeLayout::TWITTER.first_id(created);
            multi::Model {
                id: id + i64::from(month),
                created,
            }
        })
        .collect();
    peers.fill::<multi::Entity>(rows.clone()).await;
    let ids = |condition: Expr| {
        let query = multi::Entity::find().filter(condition);
        query.order_by_asc(multi::Column::Id).into_query()
    };
    let id = multi::Column::Id;
    let reach = |query: &SelectStatement| peers.one.explain(query).unwrap().nodes.len();
    let one = ids(id.eq(rows[3].id));
    peers.same(&one).await.answered().count(1);
    assert_eq!(reach(&one), 1);
    let two = ids(id.is_in([rows[3].id, rows[6].id]));
    peers.same(&two).await.answered().count(2);
    assert_eq!(reach(&two), 2);
    let others = ids(id.is_not_in([rows[3].id, rows[6].id]));
    peers.same(&others).await.answered().count(6);
    let contradiction = ids(id
        .eq(rows[3].id)
        .and(multi::Column::Created.gte(at("2021-08-01"))));
    peers.same(&contradiction).await.answered().count(0);
    peers.end().await;
}
