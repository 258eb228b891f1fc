use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::entity::{monthly, place, spread, whole};
use crate::same;
use crate::world::World;

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
