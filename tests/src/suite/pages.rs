use chrono::{DateTime, TimeDelta, Utc};
use futures_util::TryStreamExt;
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbBackend, EntityTrait, IntoActiveModel,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Schema,
};
use sharding_sea_orm::{EntityRules, Modulo, Monthly, ShardingConnection, rule};

use crate::world::{World, sources};

/// Many small rows, as an unsharded table and under two shardings.
macro_rules! reading {
    ($name:ident, $table:literal) => {
        mod $name {
            #![allow(unreachable_pub, reason = "entities are written so")]

            use sea_orm::entity::prelude::*;

            #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
            #[sea_orm(table_name = $table)]
            pub struct Model {
                #[sea_orm(primary_key, auto_increment = false)]
                pub id: i64,
                pub day: Date,
                pub n: Option<i32>,
            }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub enum Relation {}

            impl ActiveModelBehavior for ActiveModel {}
        }
    };
}

reading!(whole, "reading_whole");
reading!(monthly, "reading");
reading!(spread, "reading_spread");

const ROWS: i64 = 24_000;
const FEW: i64 = 2_400;

async fn filled(world: &World, rows: i64) -> ShardingConnection {
    let months = || Monthly::starting(2013, 1).through(2013, 12);
    let db = sources(world.urls())
        .table(
            EntityRules::<monthly::Entity>::new()
                .table(rule::<chrono::NaiveDate, _>(monthly::Column::Day, months())),
        )
        .table(
            EntityRules::<spread::Entity>::new()
                .source(rule::<i64, _>(spread::Column::Id, Modulo::new(2)))
                .table(rule::<chrono::NaiveDate, _>(spread::Column::Day, months())),
        )
        .connect()
        .await
        .unwrap();
    db.execute(&Schema::new(world.backend).create_table_from_entity(whole::Entity))
        .await
        .unwrap();
    db.create_tables().await.unwrap();
    let start: DateTime<Utc> = "2013-01-01T00:00:00Z".parse().unwrap();
    macro_rules! fill {
        ($name:ident, $keep:expr) => {
            let row = |id: i64| $name::Model {
                id,
                day: (start + TimeDelta::minutes(id * 7_919 % 525_600)).date_naive(),
                n: (id % 11 != 0).then(|| (id * 31 % 97) as i32),
            };
            let rows: Vec<_> = (0..rows)
                .filter($keep)
                .map(|id| row(id).into_active_model())
                .collect();
            for rows in rows.chunks(2_000) {
                $name::Entity::insert_many(rows.to_vec())
                    .exec_without_returning(&db)
                    .await
                    .unwrap();
            }
        };
    }
    fill!(whole, |_| true);
    fill!(monthly, |_| true);
    fill!(spread, |id| id % 2 == 0);
    fill!(spread, |id| id % 2 == 1);
    db
}

macro_rules! page {
    ($db:expr, $e:ident, $order:ident, $descends:expr, $offset:expr, $limit:expr) => {{
        let mut query = $e::Entity::find().select_only();
        query = query.columns([$e::Column::Id, $e::Column::N]);
        let order = if $descends {
            sea_orm::Order::Desc
        } else {
            sea_orm::Order::Asc
        };
        query = query
            .order_by($e::Column::$order, order.clone())
            .order_by($e::Column::Id, order);
        let rows = query
            .offset($offset)
            .limit($limit)
            .into_tuple::<(i64, Option<i32>)>();
        rows.all($db).await.unwrap()
    }};
}

/// Pages near the beginning, in the middle and near the end, in orders that the tails follow and
/// in others.
pub async fn far_and_near(backend: DbBackend) {
    let world = World::bare(backend).await;
    let db = filled(&world, ROWS).await;
    for offset in [
        0_u64, 3, 9_999, 10_000, 11_990, 13_500, 23_995, 24_000, 50_000,
    ] {
        for descends in [false, true] {
            for limit in [1, 20] {
                let about = format!("{offset} {limit} {descends}");
                let expected = page!(&db, whole, Day, descends, offset, limit);
                assert_eq!(
                    page!(&db, monthly, Day, descends, offset, limit),
                    expected,
                    "{about}"
                );
                assert_eq!(
                    page!(&db, spread, Day, descends, offset, limit),
                    expected,
                    "{about}"
                );
            }
            let expected = page!(&db, whole, N, descends, offset, 7);
            assert_eq!(
                page!(&db, monthly, N, descends, offset, 7),
                expected,
                "{offset} by n"
            );
            assert_eq!(
                page!(&db, spread, N, descends, offset, 7),
                expected,
                "{offset} by n"
            );
        }
    }
    // All pages together are the table.
    let mut ids = Vec::new();
    let pages = spread::Entity::find()
        .order_by_desc(spread::Column::Day)
        .order_by_asc(spread::Column::Id)
        .paginate(&db, 4_000);
    for number in 0..pages.num_pages().await.unwrap() {
        ids.extend(
            pages
                .fetch_page(number)
                .await
                .unwrap()
                .into_iter()
                .map(|row| row.id),
        );
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..ROWS).collect::<Vec<_>>());
    db.close().await.unwrap();
    world.end().await;
}

/// A page in the order of the tails asks no more tails than it needs; a missing table shows which
/// ones it asks.
pub async fn in_sequence(backend: DbBackend) {
    let world = World::bare(backend).await;
    let db = filled(&world, ROWS).await;
    let rows = || {
        monthly::Entity::find()
            .order_by_asc(monthly::Column::Day)
            .order_by_asc(monthly::Column::Id)
    };
    let first = rows().limit(50);
    let steps = db.explain(&first).unwrap().steps;
    assert_eq!(
        steps[0], "one tail after the other, 12 at most",
        "{steps:?}"
    );
    let plain = db.source("a").unwrap();
    plain
        .execute_unprepared("DROP TABLE reading_201311")
        .await
        .unwrap();
    assert_eq!(first.all(&db).await.unwrap().len(), 50);
    let last = monthly::Entity::find()
        .order_by_desc(monthly::Column::Day)
        .filter(monthly::Column::N.eq(5))
        .limit(3);
    assert_eq!(last.all(&db).await.unwrap().len(), 3);
    let query = rows();
    let mut stream = query.stream(&db).await.unwrap();
    for _ in 0..50 {
        stream.try_next().await.unwrap().unwrap();
    }
    drop(stream);
    rows().all(&db).await.unwrap_err();
    db.close().await.unwrap();
    world.end().await;
}

/// The least and the greatest value of a column that the tails follow, with the tails that are
/// asked for them.
pub async fn extremes(backend: DbBackend) {
    let world = World::bare(backend).await;
    let db = filled(&world, FEW).await;
    /// Of all rows, of a few, of those of a month in the middle, and of none.
    macro_rules! asked {
        ($e:ident, $function:ident) => {{
            use $e::Column::{Day, Id, N};
            let filters = [
                Condition::all(),
                Condition::all().add(N.eq(5)),
                Condition::all().add(N.is_null()).add(Id.gt(2_300)),
                Condition::all().add(Id.is_in([11, 400, 2_390])),
                Condition::all()
                    .add(Day.between(date(5, 3), date(9, 20)))
                    .add(N.lt(40)),
                Condition::all().add(Id.lt(0)),
            ];
            let mut answers = Vec::new();
            for filter in filters {
                let query = $e::Entity::find().select_only().filter(filter);
                let query = query.column_as(Day.$function(), "found");
                let found = query.clone().into_tuple::<Option<chrono::NaiveDate>>();
                let names = query.clone().into_json().one(&db).await.unwrap();
                let with_both = query.column_as(Day.max(), "last").column_as(N.count(), "n");
                let with_both =
                    with_both
                        .into_tuple::<(Option<chrono::NaiveDate>, Option<chrono::NaiveDate>, i64)>(
                        );
                answers.push((
                    found.all(&db).await.unwrap(),
                    names,
                    with_both.one(&db).await.unwrap(),
                ));
            }
            answers
        }};
    }
    let expected = (asked!(whole, min), asked!(whole, max));
    assert_eq!((asked!(monthly, min), asked!(monthly, max)), expected);
    assert_eq!((asked!(spread, min), asked!(spread, max)), expected);

    let of = |filter| monthly::Entity::find().select_only().filter(filter);
    let last = of(monthly::Column::N.eq(5)).column_as(monthly::Column::Day.max(), "found");
    let steps = db.explain(&last).unwrap().steps;
    assert_eq!(
        steps[0], "one tail after the other, 12 at most",
        "{steps:?}"
    );
    db.source("a")
        .unwrap()
        .execute_unprepared("DROP TABLE reading_201303")
        .await
        .unwrap();
    let last = last.into_tuple::<chrono::NaiveDate>().one(&db).await;
    assert_eq!(last.unwrap(), expected.1[1].0[0]);
    // The first ones are asked until there is a value.
    let late = monthly::Column::Day.min();
    let late = of(monthly::Column::Id.eq(-1)).column_as(late, "found");
    late.into_tuple::<Option<chrono::NaiveDate>>()
        .one(&db)
        .await
        .unwrap_err();
    db.close().await.unwrap();
    world.end().await;
}

fn date(month: u32, day: u32) -> chrono::NaiveDate {
    chrono::NaiveDate::from_ymd_opt(2013, month, day).unwrap()
}
