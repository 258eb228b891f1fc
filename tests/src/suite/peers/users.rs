//! What the suite of ShardingCore expects, with its numbers: a thousand users by a hash of their
//! id, and their monthly salaries by half-years.

use sea_orm::prelude::Decimal;
use sea_orm::sea_query::{Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{
    ColumnTrait, EntityTrait, Order, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait,
};
use serde_json::json;
use sharding_sea_orm::{EntityRules, HashModulo, Modulo, Ranges, ShardingBuilder, rule};

use super::entities::entity;
use super::fixture::table;
use super::{Bench, Layout, Peers, Text, each};

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
    match layout {
        Layout::One => builder.table(users).table(numbers).table(salaries),
        Layout::Two => builder
            .table(users.tails("a", ["0", "2"]).tails("b", ["1"]))
            .table(numbers.tails("a", ["0"]).tails("b", ["1", "2"]))
            .table(
                salaries
                    .tails("a", ["2020a", "2021a"])
                    .tails("b", ["2020b", "2021b"]),
            ),
    }
}

/// The peer's data. Only the first hundred users have salaries.
async fn filled(bench: &Bench) -> Peers {
    let tables = [
        table::<user::Entity>(bench.backend),
        table::<number::Entity>(bench.backend),
        table::<salary::Entity>(bench.backend),
    ];
    let peers = bench.of(Text::Bytes, &tables, rules).await;
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
    peers
}

async fn kept(bench: &Bench) -> &Peers {
    bench.keep(async || filled(bench).await).await
}

fn ages(query: sea_orm::Select<user::Entity>) -> SelectStatement {
    query.select_only().column(user::Column::Age).into_query()
}

/// The total, orders both ways, and pages, whatever the order of the calls (behaviours 1 to 5 and
/// 38).
pub async fn users_in_order(bench: &Bench) {
    let peers = kept(bench).await;
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
}

/// Lists of keys, a key that nobody has, and conditions beside the key (behaviours 6, 8, 11 and
/// 13).
pub async fn users_by_key(bench: &Bench) {
    let peers = kept(bench).await;
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
}

/// Extremes up to a border (behaviour 12).
pub async fn extremes_of_users(bench: &Bench) {
    let peers = kept(bench).await;
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
}

/// Users with their salaries: all, those of one, one month, the first, the largest (behaviours 9
/// and 10).
pub async fn salaries_of_users(bench: &Bench) {
    let peers = kept(bench).await;
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
}

/// Groups over two months, ordered by a sum, and with a constant beside the key (behaviours 14 to
/// 16).
pub async fn salaries_in_groups(bench: &Bench) {
    let peers = kept(bench).await;
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
    peers
        .same_set(constant.as_query())
        .await
        .answered()
        .count(2);
}

/// Users whose age is among those of another sharded table (behaviour 35).
pub async fn users_of_a_subquery(bench: &Bench) {
    let peers = kept(bench).await;
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
}

/// Updates and deletes by condition, over one table and over several (behaviour 37). Over several
/// data sources they are refused, and change nothing.
pub async fn updates_and_deletes(bench: &Bench) {
    let peers = filled(bench).await;
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
        .map(|done| done.rows_affected))
    .answered();
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
