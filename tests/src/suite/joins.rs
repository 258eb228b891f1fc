use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, JoinType, QueryFilter, QueryOrder,
    QuerySelect, RelationTrait,
};

use crate::entity::{monthly, place, spread, whole};
use crate::world::World;
use crate::{same, same_set};

pub async fn to_unsharded_tables(backend: DbBackend) {
    let world = World::filled(backend).await;
    let found = monthly::Entity::find()
        .find_also_related(place::Entity)
        .order_by_asc(monthly::Column::Id)
        .all(&world.db)
        .await
        .unwrap();
    let expected = whole::Entity::find()
        .find_also_related(place::Entity)
        .order_by_asc(whole::Column::Id)
        .all(&world.db)
        .await
        .unwrap();
    assert_eq!(found.len(), expected.len());
    for ((event, place), (whole, whole_place)) in found.iter().zip(&expected) {
        assert_eq!((event.id, place), (whole.id, whole_place));
    }
    same!(world, monthly, e => e::Entity::find()
        .inner_join(place::Entity)
        .filter(place::Column::Name.eq("Yard"))
        .order_by_desc(e::Column::Id)
        .limit(9));
    same!(world, monthly, e => e::Entity::find()
        .select_only()
        .column_as(place::Column::Name, "place")
        .column_as(e::Column::Id.count(), "count")
        .left_join(place::Entity)
        .group_by(place::Column::Name)
        .order_by_asc(e::Column::Id.count())
        .order_by_asc(place::Column::Name));
    // A join that keeps the places: those without an event in any tail, not in one.
    let march: chrono::DateTime<chrono::Utc> = "2013-03-01T00:00:00Z".parse().unwrap();
    macro_rules! kept {
        ($e:ident => $condition:expr) => {
            same_set!(world, monthly, $e => $e::Entity::find()
                .select_only()
                .column_as(place::Column::Id, "place")
                .column_as($e::Column::Id, "event")
                .join(JoinType::RightJoin, $e::Relation::Place.def())
                .filter($condition))
        };
    }
    // One place has its events in other months than the first only.
    let february: chrono::DateTime<chrono::Utc> = "2013-02-01T00:00:00Z".parse().unwrap();
    macro_rules! clear {
        ($($e:ident),+) => {
            $(
                $e::Entity::delete_many()
                    .filter($e::Column::At.lt(february))
                    .filter($e::Column::PlaceId.eq(2))
                    .exec(&world.db)
                    .await
                    .unwrap();
            )+
        };
    }
    clear!(whole, monthly);
    kept!(e => e::Column::At.is_null());
    kept!(e => e::Column::At.lt(march).or(e::Column::At.is_null()));
    kept!(e => e::Column::At.lt(march));
    kept!(e => e::Column::Id.is_null());
    // The other data source does not have the table.
    let query = spread::Entity::find().inner_join(place::Entity);
    let refused = super::refusal(query.all(&world.db).await);
    assert!(
        refused.contains("a join with a table of another data source"),
        "{refused}"
    );
    let query = spread::Entity::find()
        .inner_join(place::Entity)
        .filter(spread::Column::Id.is_in([2, 4, 6]))
        .order_by_asc(spread::Column::Id);
    assert!(query.all(&world.db).await.is_ok());
    world.end().await;
}

/// A condition of a later join that NULL meets says nothing about the rows of a table that an
/// earlier join may leave out: without them, others would come back as unmatched.
pub async fn conditions_that_null_meets(backend: DbBackend) {
    let world = World::filled(backend).await;
    let march: chrono::DateTime<chrono::Utc> = "2013-03-01T00:00:00Z".parse().unwrap();
    let select = |table: &'static str| {
        let at = || Expr::col(("e", "at"));
        Query::select()
            .expr_as(Expr::col(("p", "id")), "place")
            .expr_as(Expr::col(("e", "id")), "event")
            .from_as("place", "p")
            .join_as(
                JoinType::LeftJoin,
                table,
                "e",
                Expr::col(("e", "place_id")).equals(("p", "id")),
            )
            .join_as(
                JoinType::InnerJoin,
                "place",
                "o",
                Expr::col(("o", "id"))
                    .eq(1)
                    .and(at().lt(march).or(at().is_null())),
            )
            .to_owned()
    };
    let rows = async |table: &'static str| {
        let rows = world.db.query_all(&select(table)).await.unwrap();
        let row = |row: &sea_orm::QueryResult| {
            let place: i32 = row.try_get_by_index(0).unwrap();
            (place, row.try_get_by_index::<Option<i64>>(1).unwrap())
        };
        let mut rows: Vec<_> = rows.iter().map(row).collect();
        rows.sort_unstable();
        rows
    };
    // A place of which every event is later: no row may say that it has none.
    for table in ["event_whole", "event_monthly"] {
        let delete = Query::delete()
            .from_table(table)
            .and_where(Expr::col("place_id").eq(3))
            .and_where(Expr::col("at").lt(march))
            .to_owned();
        world.db.execute(&delete).await.unwrap();
    }
    let expected = rows("event_whole").await;
    assert!(expected.len() > 10, "{expected:?}");
    assert_eq!(rows("event_monthly").await, expected);
    world.end().await;
}

/// The column of a list may have the name of the other table's key.
pub async fn lists_of_other_columns(backend: DbBackend) {
    let world = World::filled(backend).await;
    let select = |table: &'static str| {
        Query::select()
            .column("id")
            .from(table)
            .and_where(
                Expr::col("n").in_subquery(Query::select().column("big").from(table).to_owned()),
            )
            .and_where(
                Expr::col("big").in_subquery(Query::select().column("n").from(table).to_owned()),
            )
            .to_owned()
    };
    let count = async |table| world.db.query_all(&select(table)).await.unwrap().len();
    let expected = count("event_whole").await;
    assert!(expected > 0);
    assert_eq!(count("event_monthly").await, expected);
    world.end().await;
}
