use chrono::{DateTime, Utc};
use sea_orm::prelude::Decimal;
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, Order, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect,
};
use sharding_sea_orm::Rung;

use crate::entity::{monthly, spread, whole};
use crate::world::World;
use crate::{same, same_set};

pub async fn aggregates(backend: DbBackend) {
    let world = World::filled(backend).await;
    macro_rules! of {
        ($function:ident: $($column:ident),+) => {
            $(
                same!(world, monthly, e => e::Entity::find()
                    .select_only()
                    .column_as(e::Column::$column.$function(), "x"));
                same!(world, spread, e => e::Entity::find()
                    .select_only()
                    .column_as(e::Column::$column.$function(), "x")
                    .filter(e::Column::Flag.eq(true)));
            )+
        };
    }
    of!(count: Id, At, Day, Note, N, Score, Amount, Data);
    of!(sum: N, Big, Score, Amount);
    of!(avg: N, Big, Score, Amount);
    of!(min: Id, At, Day, Kind, Note, N, Big, Score, Amount);
    of!(max: Id, At, Day, Kind, Note, N, Big, Score, Amount);
    // PostgreSQL has no order of bytes in aggregates.
    if backend != DbBackend::Postgres {
        of!(min: Data);
        of!(max: Data);
    }
    // Several at once, and without an alias: the name is the database's own.
    same!(world, spread, e => e::Entity::find()
        .select_only()
        .expr(e::Column::N.avg())
        .expr(e::Column::N.count())
        .expr(e::Column::Amount.sum()));
    same!(world, monthly, e => e::Entity::find()
        .select_only()
        .expr_as(e::Column::Big.into_expr().add(e::Column::Id.into_expr()).sum(), "x"));
    world.end().await;
}

/// Nodes without rows, nodes with NULLs only, and no rows at all.
pub async fn aggregates_of_nothing(backend: DbBackend) {
    let world = World::filled(backend).await;
    macro_rules! all_of {
        ($e:ident) => {
            $e::Entity::find()
                .select_only()
                .column_as($e::Column::N.count(), "count")
                .column_as($e::Column::N.sum(), "sum")
                .column_as($e::Column::N.avg(), "avg")
                .column_as($e::Column::N.min(), "min")
                .column_as($e::Column::Note.max(), "max")
        };
    }
    same!(world, monthly, e => all_of!(e).filter(e::Column::N.is_null()));
    same!(world, monthly, e => all_of!(e).filter(e::Column::Id.lt(0)));
    same!(world, monthly, e => all_of!(e).filter(e::Column::At.is_null()));
    same!(world, spread, e => all_of!(e).filter(e::Column::Id.eq(1)));
    same!(world, spread, e => all_of!(e)
        .filter(e::Column::At.between(
            "2013-04-02T00:00:00Z".parse::<DateTime<Utc>>().unwrap(),
            "2013-05-02T00:00:00Z".parse::<DateTime<Utc>>().unwrap())));
    // With groups, nothing gives no row.
    same!(world, spread, e => all_of!(e)
        .column(e::Column::Kind)
        .group_by(e::Column::Kind)
        .filter(e::Column::Id.lt(0)));
    world.end().await;
}

pub async fn grouped(backend: DbBackend) {
    let world = World::filled(backend).await;
    macro_rules! by {
        ($($column:ident),+) => {
            $(
                same_set!(world, monthly, e => e::Entity::find()
                    .select_only()
                    .column(e::Column::$column)
                    .column_as(e::Column::Id.count(), "count")
                    .column_as(e::Column::Big.sum(), "sum")
                    .column_as(e::Column::Amount.avg(), "avg")
                    .group_by(e::Column::$column));
                same_set!(world, spread, e => e::Entity::find()
                    .select_only()
                    .column_as(e::Column::N.max(), "max")
                    .column_as(e::Column::$column, "key")
                    .group_by(e::Column::$column));
            )+
        };
    }
    by!(Day, Kind, Note, N, Big, Score, Amount, Flag, Data, At);
    same_set!(world, spread, e => e::Entity::find()
        .select_only()
        .column(e::Column::Flag)
        .column(e::Column::N)
        .column_as(e::Column::Id.count(), "count")
        .group_by(e::Column::N)
        .group_by(e::Column::Flag));
    // A key that is not selected still keeps groups apart.
    same_set!(world, spread, e => e::Entity::find()
        .select_only()
        .column_as(e::Column::Id.count(), "count")
        .group_by(e::Column::Kind));
    world.end().await;
}

pub async fn grouped_and_ordered(backend: DbBackend) {
    let world = World::filled(backend).await;
    for order in [Order::Asc, Order::Desc] {
        same!(world, spread, e => e::Entity::find()
            .select_only()
            .column(e::Column::Kind)
            .column_as(e::Column::Id.count(), "count")
            .group_by(e::Column::Kind)
            .order_by(e::Column::Id.count(), order.clone())
            .order_by_asc(e::Column::Kind)
            .limit(4)
            .offset(1));
        same!(world, monthly, e => e::Entity::find()
            .select_only()
            .column(e::Column::Kind)
            .column_as(e::Column::N.sum(), "sum")
            .group_by(e::Column::Kind)
            .order_by(Expr::col("sum"), order.clone())
            .order_by_asc(e::Column::Kind)
            .limit(5));
        same!(world, spread, e => e::Entity::find()
            .select_only()
            .column(e::Column::N)
            .column_as(e::Column::Big.max(), "max")
            .group_by(e::Column::N)
            .order_by(e::Column::N, order.clone()));
    }
    world.end().await;
}

pub async fn counts(backend: DbBackend) {
    let world = World::filled(backend).await;
    macro_rules! count {
        ($e:ident => $query:expr) => {{
            let found = {
                use monthly as $e;
                $query.count(&world.db).await.unwrap()
            };
            let over_two = {
                use spread as $e;
                $query.count(&world.db).await.unwrap()
            };
            let expected = {
                use whole as $e;
                $query.count(&world.db).await.unwrap()
            };
            assert_eq!((found, over_two), (expected, expected));
        }};
    }
    count!(e => e::Entity::find());
    count!(e => e::Entity::find().filter(e::Column::Flag.eq(true)).order_by_asc(e::Column::N));
    count!(e => e::Entity::find().filter(e::Column::Id.eq(5)));
    count!(e => e::Entity::find().filter(e::Column::Id.lt(0)));
    count!(e => e::Entity::find().select_only().column(e::Column::Kind));
    // What is counted may have a page, groups or equal rows of its own.
    count!(e => e::Entity::find().limit(30).offset(390));
    count!(e => e::Entity::find().order_by_asc(e::Column::N).limit(500).offset(20));
    count!(e => e::Entity::find().select_only().column(e::Column::Kind).distinct());
    count!(e => e::Entity::find().select_only().column(e::Column::Kind).group_by(e::Column::Kind));
    count!(e => e::Entity::find()
        .select_only()
        .column(e::Column::Kind)
        .group_by(e::Column::Kind)
        .having(e::Column::N.sum().gt(1_000_000)));
    world.end().await;
}

/// Merged aggregates have the types of the one-table answer.
pub async fn decoded_types(backend: DbBackend) {
    let world = World::filled(backend).await;
    macro_rules! both {
        ($type:ty, $e:ident => $query:expr) => {{
            let found: Vec<$type> = {
                use spread as $e;
                $query.into_tuple().all(&world.db).await.unwrap()
            };
            let expected: Vec<$type> = {
                use whole as $e;
                $query.into_tuple().all(&world.db).await.unwrap()
            };
            assert_eq!(found, expected, "{}", stringify!($query));
        }};
    }
    macro_rules! only {
        ($e:ident, $column:ident, $function:ident) => {
            $e::Entity::find()
                .select_only()
                .column_as($e::Column::$column.$function(), "x")
        };
    }
    both!(i64, e => only!(e, Id, count));
    both!(i64, e => only!(e, Big, min));
    both!(Option<i32>, e => only!(e, N, max));
    both!(DateTime<Utc>, e => only!(e, At, max));
    both!(String, e => only!(e, Kind, min));
    if backend != DbBackend::Postgres {
        both!(Option<Vec<u8>>, e => only!(e, Data, max));
    }
    both!(Option<Decimal>, e => only!(e, Amount, min));
    match backend {
        DbBackend::Sqlite => {
            both!(i64, e => only!(e, N, sum));
            both!(f64, e => only!(e, N, avg));
            both!(i32, e => only!(e, Id, count));
        }
        DbBackend::Postgres => {
            both!(i64, e => only!(e, N, sum));
            both!(Decimal, e => only!(e, N, avg));
            both!(Decimal, e => only!(e, Big, sum));
        }
        _ => {
            both!(Decimal, e => only!(e, N, sum));
            both!(Decimal, e => only!(e, N, avg));
            both!(i32, e => only!(e, Id, count));
        }
    }
    macro_rules! keyed {
        ($column:ident: $type:ty) => {
            both!(($type, i64), e => e::Entity::find()
                .select_only()
                .column(e::Column::$column)
                .column_as(e::Column::Id.count(), "x")
                .group_by(e::Column::$column)
                .order_by_asc(e::Column::$column));
        };
    }
    keyed!(Flag: bool);
    keyed!(Day: Option<chrono::NaiveDate>);
    keyed!(At: DateTime<Utc>);
    keyed!(Kind: String);
    keyed!(N: Option<i32>);
    keyed!(Score: Option<f64>);
    keyed!(Data: Option<Vec<u8>>);
    keyed!(Uid: sea_orm::prelude::Uuid);
    world.end().await;
}

/// What is computed of groups, or sorted by without being selected, is merged or left to the
/// database; either way it is what one table answers, also over two data sources.
pub async fn computed(backend: DbBackend) {
    let world = World::filled(backend).await;
    macro_rules! everywhere {
        ($e:ident => $query:expr) => {{
            same_set!(world, monthly, $e => $query);
            same_set!(world, hashed, $e => $query);
            same_set!(world, spread, $e => $query);
        }};
    }
    everywhere!(e => e::Entity::find().select_only().column(e::Column::Kind).distinct());
    everywhere!(e => e::Entity::find().select_only().column(e::Column::Id)
        .order_by_asc(e::Column::At).order_by_asc(e::Column::Id));
    everywhere!(e => e::Entity::find().order_by_asc(e::Column::Big.into_expr().add(1)));
    everywhere!(e => e::Entity::find().select_only()
        .expr_as(Expr::col((e::Entity, e::Column::Kind)).count_distinct(), "kinds"));
    everywhere!(e => e::Entity::find().select_only()
        .expr_as(Expr::col((e::Entity, e::Column::Kind)).count_distinct(), "kinds")
        .filter(e::Column::Id.lt(-1)));
    everywhere!(e => e::Entity::find().select_only()
        .column(e::Column::Flag)
        .expr_as(Expr::col((e::Entity, e::Column::N)).count_distinct(), "numbers")
        .column_as(e::Column::Amount.sum(), "amount")
        .group_by(e::Column::Flag));
    everywhere!(e => e::Entity::find().select_only()
        .expr_as(e::Column::N.sum().add(e::Column::Id.count()), "x"));
    everywhere!(e => e::Entity::find().select_only()
        .expr(Func::coalesce([e::Column::N.sum(), Expr::val(0)])));
    everywhere!(e => e::Entity::find().select_only()
        .column(e::Column::Kind)
        .column_as(e::Column::Id.count(), "count")
        .group_by(e::Column::Kind)
        .having(e::Column::Id.count().gt(30)));
    everywhere!(e => e::Entity::find().select_only()
        .column(e::Column::Kind)
        .column_as(e::Column::N.avg(), "avg")
        .group_by(e::Column::Kind)
        .order_by_asc(Expr::col("avg"))
        .order_by_asc(e::Column::Kind));
    everywhere!(e => e::Entity::find().select_only()
        .expr_as(e::Column::Big.into_expr().modulo(7), "rest")
        .column_as(e::Column::Id.count(), "count")
        .group_by(Expr::col("rest")));
    // DISTINCT of groups that are whole on their nodes is still one of all of them.
    everywhere!(e => e::Entity::find().select_only()
        .column_as(e::Column::N.sum(), "sum")
        .group_by(e::Column::Id)
        .group_by(e::Column::At)
        .group_by(e::Column::Kind)
        .distinct());
    // Groups that have the sharding key are whole on their node.
    everywhere!(e => e::Entity::find().select_only()
        .column(e::Column::Id)
        .column(e::Column::At)
        .column(e::Column::Kind)
        .expr_as(e::Column::N.sum().mul(2), "double")
        .group_by(e::Column::Id)
        .group_by(e::Column::At)
        .group_by(e::Column::Kind)
        .having(e::Column::N.max().gt(0)));
    world.end().await;
}

/// What does not decompose is answered by the database where all nodes are in one source.
pub async fn climbing(backend: DbBackend) {
    let world = World::filled(backend).await;
    macro_rules! climbs {
        ($e:ident => $query:expr) => {{
            same_set!(world, monthly, $e => $query);
            let query = { use monthly as $e; $query };
            let rung = world.db.explain(&query).unwrap().rung;
            assert!(matches!(rung, Rung::Union(_)), "{rung}: {}", stringify!($query));
            let query = { use spread as $e; $query };
            super::refusal(query.into_json().all(&world.db).await);
            // One node is asked as it stands.
            let query = { use monthly as $e; $query.filter($e::Column::At.is_null()) };
            assert_eq!(world.db.explain(&query).unwrap().rung, Rung::Pass);
        }};
    }
    climbs!(e => e::Entity::find().select_only()
        .expr_as(Expr::cust("MAX(id) - MIN(id)"), "span"));
    climbs!(e => e::Entity::find().select_only()
        .expr_as(Expr::cust("abs(id)"), "size").distinct());
    world.end().await;
}
