use sea_orm::sea_query::ExprTrait;
use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect,
    RelationTrait,
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
