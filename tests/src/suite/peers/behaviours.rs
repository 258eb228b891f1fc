//! What the suite of ShardingCore expects, with its numbers: a thousand users by a hash of their
//! id, their monthly salaries by month, and an order for each of 320 days by area and month.

use chrono::{DateTime, Months, TimeDelta, Utc};
use sea_orm::prelude::Decimal;
use sea_orm::sea_query::{Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, Order, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait,
};
use serde_json::json;
use sharding_sea_orm::{
    EntityRules, HashModulo, Lists, Modulo, Monthly, Ranges, ShardingBuilder, SnowflakeLayout,
    SnowflakeTime, rule,
};

use super::entities::entity;
use super::fixture::table;
use super::{Layout, Peers, Text, each};

entity!(
    /// Users with textual ids.
    user, "user_mod";
    #[sea_orm(primary_key, auto_increment = false)]
    id: String,
    name: String,
    age: i32,
);
entity!(
    /// The same users with numbers for ids.
    number, "user_mod_int";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i32,
    age: i32,
);
entity!(
    /// What a user earned in a month.
    salary, "salary";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    user_id: String,
    month: i32,
    salary: i64,
    #[sea_orm(column_type = "Decimal(Some((20, 4)))")]
    exact: Decimal,
);
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
    let users = EntityRules::<user::Entity>::new()
        .table(rule::<String, _>(user::Column::Id, HashModulo::new(3)));
    let numbers = EntityRules::<number::Entity>::new()
        .table(rule::<i32, _>(number::Column::Id, Modulo::new(3)));
    let halves = Ranges::new()
        .less_than(202_007, "2020a")
        .less_than(202_101, "2020b")
        .less_than(202_107, "2021a")
        .max_value("2021b");
    let salaries =
        EntityRules::<salary::Entity>::new().table(rule::<i32, _>(salary::Column::Month, halves));
    let months = Monthly::starting(2021, 1).through(2021, 12);
    let orders = EntityRules::<order::Entity>::new()
        .table(rule::<DateTime<Utc>, _>(order::Column::Created, months));
    let areas = Lists::new().values("a", ["A", "C"]).values("b", ["B"]);
    match layout {
        Layout::One => builder
            .table(users)
            .table(numbers)
            .table(salaries)
            .table(orders),
        Layout::Two => builder
            .table(users.tails("a", ["0", "2"]).tails("b", ["1"]))
            .table(numbers.tails("a", ["0"]).tails("b", ["1", "2"]))
            .table(
                salaries
                    .tails("a", ["2020a", "2021a"])
                    .tails("b", ["2020b", "2021b"]),
            )
            .table(orders.source(rule::<String, _>(order::Column::Area, areas))),
    }
}

/// The peer's data. Only the first hundred users have salaries.
async fn filled(backend: DbBackend) -> Peers {
    let tables = [
        table::<user::Entity>(backend),
        table::<number::Entity>(backend),
        table::<salary::Entity>(backend),
        table::<order::Entity>(backend),
    ];
    let peers = Peers::of(backend, Text::Bytes, &tables, rules).await;
    let users = (1..=1000).map(|age| user::Model {
        id: age.to_string(),
        name: format!("name_{age}"),
        age,
    });
    peers.fill::<user::Entity>(users.collect()).await;
    let numbers = (1..=1000).map(|id| number::Model { id, age: id });
    peers.fill::<number::Entity>(numbers.collect()).await;
    let salaries = (1..=100).flat_map(|user: i64| {
        (0..24_i64).map(move |at| salary::Model {
            id: user * 100 + at,
            user_id: user.to_string(),
            month: (202_000 + at / 12 * 100 + at % 12 + 1) as i32,
            salary: user * 10_000 + at * 1_000,
            exact: Decimal::new(user * 1_000 + at, 2),
        })
    });
    peers.fill::<salary::Entity>(salaries.collect()).await;
    let begin: DateTime<Utc> = at("2021-01-01");
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
}

fn at(day: &str) -> DateTime<Utc> {
    format!("{day}T00:00:00Z").parse().unwrap()
}

fn ages(query: sea_orm::Select<user::Entity>) -> SelectStatement {
    query.select_only().column(user::Column::Age).into_query()
}

/// The total, orders both ways, and pages, whatever the order of the calls (behaviours 1 to 5 and
/// 38).
pub async fn users_in_order(backend: DbBackend) {
    let peers = filled(backend).await;
    each!(peers, db => user::Entity::find().count(db).await)
        .answered()
        .is(1000);
    let numbers =
        |numbers: &mut dyn Iterator<Item = i32>| numbers.map(|n| json!([n])).collect::<Vec<_>>();
    let asc = || user::Entity::find().order_by_asc(user::Column::Age);
    let desc = || user::Entity::find().order_by_desc(user::Column::Age);
    let told = peers.same(&ages(asc())).await.answered();
    told.is(numbers(&mut (1..=1000)));
    let told = peers.same(&ages(desc())).await.answered();
    told.is(numbers(&mut (1..=1000).rev()));
    let page = user::Entity::find()
        .limit(10)
        .offset(10)
        .order_by_desc(user::Column::Age);
    let told = peers.same(&ages(page)).await.answered();
    told.is(numbers(&mut (981..=990).rev()));
    let first = each!(peers, db => desc().offset(10).one(db).await.map(|user| user.unwrap().age));
    first.answered().is(990);
    let not = user::Column::Id.ne("3");
    let told = peers
        .same(&ages(asc().filter(not.clone()).limit(2000).offset(2)))
        .await
        .answered();
    let right = told.count(997).right.unwrap();
    assert_eq!(right[..2], [json!([4]), json!([5])]);
    let told = peers
        .same(&ages(desc().filter(not).limit(2000).offset(13)))
        .await
        .answered();
    assert_eq!(told.count(986).right.unwrap()[0], json!([987]));
    let told = peers.same(&ages(asc().limit(3))).await.answered();
    told.rows(json!([[1], [2], [3]]));
    let told = peers.same(&ages(desc().limit(3))).await.answered();
    told.rows(json!([[1000], [999], [998]]));
    peers.end().await;
}

/// Lists of keys, a key that nobody has, and conditions beside the key (behaviours 6, 8, 11 and
/// 13).
pub async fn users_by_key(backend: DbBackend) {
    let peers = filled(backend).await;
    let by_age = || user::Entity::find().order_by_asc(user::Column::Age);
    let list = by_age().filter(user::Column::Id.is_in(["1", "2", "3", "4"]));
    peers
        .same(&ages(list))
        .await
        .answered()
        .rows(json!([[1], [2], [3], [4]]));
    peers
        .same(&ages(by_age().filter(user::Column::Id.eq("1001"))))
        .await
        .answered()
        .count(0);
    let left = Expr::val("1001").eq(Expr::col(user::Column::Id));
    peers
        .same(&ages(by_age().filter(left)))
        .await
        .answered()
        .count(0);
    let counted = |condition: Expr| {
        let query = user::Entity::find().filter(condition);
        query
            .select_only()
            .expr_as(Expr::cust("COUNT(*)"), "count")
            .into_query()
    };
    for (condition, count) in [
        (user::Column::Name.eq("name_1000"), 1),
        (user::Column::Name.ne("name_1000"), 999),
    ] {
        peers
            .same(&counted(condition))
            .await
            .answered()
            .rows(json!([[count]]));
    }
    let sum = user::Entity::find()
        .select_only()
        .column_as(user::Column::Age.sum(), "sum");
    peers.same(sum.as_query()).await.answered();
    let told = sum.filter(user::Column::Name.ne("name_1000"));
    let right = peers.same(told.as_query()).await.answered().right.unwrap();
    assert_eq!(right[0][0].to_string().replace('"', ""), "499500");
    for (condition, is) in [
        (user::Column::Age.eq(100), true),
        (user::Column::Age.eq(1001), false),
        (
            user::Column::Age.gt(500).and(user::Column::Age.lte(500)),
            false,
        ),
        (
            user::Column::Age.gte(500).and(user::Column::Age.lte(500)),
            true,
        ),
    ] {
        let any = each!(peers, db => {
            use sea_orm::SelectExt;
            user::Entity::find().filter(condition.clone()).exists(db).await
        });
        any.answered().is(is);
    }
    peers.end().await;
}

/// Extremes up to a border (behaviour 12).
pub async fn extremes_of_users(backend: DbBackend) {
    let peers = filled(backend).await;
    let age = user::Column::Age;
    for (function, condition, expected) in [
        (age.max(), age.lt(500), 499),
        (age.max(), age.lte(500), 500),
        (age.min(), age.gt(500), 501),
        (age.min(), age.gte(500), 500),
    ] {
        let query = user::Entity::find()
            .select_only()
            .column_as(function, "x")
            .filter(condition);
        peers
            .same(query.as_query())
            .await
            .answered()
            .rows(json!([[expected]]));
    }
    peers.end().await;
}

/// Users with their salaries: all, those of one, one month, the first, the largest (behaviours 9
/// and 10).
pub async fn salaries_of_users(backend: DbBackend) {
    let peers = filled(backend).await;
    let joined = || {
        Query::select()
            .expr_as(Expr::col((user::Entity, user::Column::Id)), "user")
            .expr_as(Expr::col((salary::Entity, salary::Column::Month)), "month")
            .expr_as(
                Expr::col((salary::Entity, salary::Column::Salary)),
                "salary",
            )
            .from(user::Entity)
            .inner_join(
                salary::Entity,
                Expr::col((user::Entity, user::Column::Id))
                    .equals((salary::Entity, salary::Column::UserId)),
            )
            .take()
    };
    peers.same_set(&joined()).await.count(2400);
    let mut one = joined();
    one.and_where(Expr::col((user::Entity, user::Column::Id)).eq("30"));
    peers.same_set(&one).await.count(24);
    one.order_by("month", Order::Desc);
    peers
        .same(one.clone().limit(1))
        .await
        .rows(json!([["30", 202_112, 323_000]]));
    one.and_where(Expr::col((salary::Entity, salary::Column::Month)).eq(202_102));
    peers
        .same_set(&one)
        .await
        .rows(json!([["30", 202_102, 313_000]]));
    let mut most = joined();
    most.clear_selects().expr_as(
        Expr::col((salary::Entity, salary::Column::Salary)).max(),
        "most",
    );
    peers.same(&most).await.rows(json!([[1_023_000]]));
    peers.end().await;
}

/// Groups over two months, ordered by a sum, and with a constant beside the key (behaviours 14 to
/// 16).
pub async fn salaries_in_groups(backend: DbBackend) {
    let peers = filled(backend).await;
    let groups = || {
        salary::Entity::find()
            .select_only()
            .column(salary::Column::UserId)
            .column_as(salary::Column::Salary.count(), "count")
            .column_as(salary::Column::Salary.sum(), "sum")
            .column_as(salary::Column::Salary.avg(), "average")
            .column_as(salary::Column::Exact.avg(), "exact")
            .column_as(salary::Column::Salary.min(), "least")
            .column_as(salary::Column::Salary.max(), "most")
            .filter(salary::Column::Month.is_in([202_006, 202_007]))
            .filter(salary::Column::UserId.is_in(["20", "30"]))
            .group_by(salary::Column::UserId)
    };
    for order in [Order::Asc, Order::Desc] {
        let query = groups().order_by(salary::Column::Salary.sum(), order.clone());
        let right = peers
            .same(query.as_query())
            .await
            .answered()
            .count(2)
            .right
            .unwrap();
        let first = if order == Order::Asc { "20" } else { "30" };
        assert_eq!((&right[0][0], &right[0][1]), (&json!(first), &json!(2)));
    }
    let constant = groups().expr_as(Expr::val("label"), "label");
    peers.same_set(constant.as_query()).await.count(2);
    peers.end().await;
}

/// Orders over areas and months: counts, half-open and closed ranges, a moment, and a global
/// order (behaviours 17 to 21).
pub async fn orders_by_time(backend: DbBackend) {
    let peers = filled(backend).await;
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
    let all = each!(peers, db => all.clone().into_tuple::<i64>().all(db).await);
    all.is((0..320).collect::<Vec<_>>());
    peers.end().await;
}

/// Pages with their total, with an order and without (behaviours 22 and 23).
pub async fn pages_of_orders(backend: DbBackend) {
    let peers = filled(backend).await;
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
    peers.end().await;
}

/// Sums, averages and extremes of every kind of number, of rows and of none (behaviours 28 to 30).
pub async fn aggregates_of_orders(backend: DbBackend) {
    let peers = filled(backend).await;
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
    peers.end().await;
}

/// The last row, the last behind some, and a row that is alone (behaviours 31 and 32).
pub async fn last_and_only_orders(backend: DbBackend) {
    let peers = filled(backend).await;
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
    peers.end().await;
}

/// Two keys for one route: by id, by a list, by all others, and with a time that contradicts
/// (behaviour 34).
pub async fn rows_by_two_keys(backend: DbBackend) {
    let months = || Monthly::starting(2021, 1).through(2021, 12);
    let tables = [table::<multi::Entity>(backend)];
    let peers = Peers::of(backend, Text::Bytes, &tables, |builder, layout| {
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

/// Users whose age is among those of another sharded table (behaviour 35).
pub async fn users_of_a_subquery(backend: DbBackend) {
    let peers = filled(backend).await;
    let inner = |condition: Expr| {
        let query = user::Entity::find().select_only().column(user::Column::Age);
        query.filter(condition).into_query()
    };
    let all = |inner: SelectStatement| {
        number::Entity::find()
            .filter(number::Column::Age.in_subquery(inner))
            .order_by_asc(number::Column::Id)
            .into_query()
    };
    peers
        .same(&all(inner(user::Column::Age.gt(0))))
        .await
        .count(1000);
    peers
        .same(&all(inner(user::Column::Id.eq("500"))))
        .await
        .rows(json!([[500, 500]]));
    peers.end().await;
}

/// Updates and deletes by condition, over one table and over several (behaviour 37). Over several
/// data sources they are refused, and change nothing.
pub async fn updates_and_deletes(backend: DbBackend) {
    let peers = filled(backend).await;
    let update = |condition: Expr, age: Expr| {
        user::Entity::update_many()
            .col_expr(user::Column::Age, age)
            .filter(condition)
    };
    let one = each!(peers, db => update(user::Column::Id.eq("1"), Expr::value(9))
        .exec(db)
        .await
        .map(|done| done.rows_affected));
    one.answered().is(1);
    let older = || Expr::col(user::Column::Age).add(1000);
    let some = ["3", "4", "5", "6", "7"];
    let five = each!(peers, db => update(user::Column::Id.is_in(some), older())
        .exec(db)
        .await
        .map(|done| done.rows_affected));
    five.is(5);
    let two = each!(peers, db => user::Entity::delete_many()
        .filter(user::Column::Age.is_in([8, 10]))
        .exec(db)
        .await
        .map(|done| done.rows_affected));
    two.is(2);
    let rows = |users: Vec<user::Model>| users.into_iter().map(|user| (user.id, user.age));
    let all = user::Entity::find().order_by_asc(user::Column::Id);
    let right = rows(all.clone().all(&peers.oracle).await.unwrap());
    let one = rows(all.clone().all(&peers.one).await.unwrap());
    assert!(one.eq(right));
    assert_eq!(user::Entity::find().count(&peers.two).await.unwrap(), 1000);
    peers.end().await;
}
