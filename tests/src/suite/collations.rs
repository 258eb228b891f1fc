use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::entity::hashed;
use crate::world::{TextColumns, World, events};
use crate::{same, same_set};

/// Where the database finds 'A' for 'a', a text key does not narrow, since the rows are on the
/// nodes of their own hashes.
pub async fn loose_text_keys(backend: DbBackend) {
    let world = World::with_text(backend, TextColumns::Default).await;
    world.fill(events()).await;
    for kind in ["a", "A", "ss", "äther", "zebra", "a b ", ""] {
        same!(world, hashed, e => e::Entity::find()
            .filter(e::Column::Kind.eq(kind))
            .order_by_asc(e::Column::Id));
        same!(world, hashed, e => e::Entity::find()
            .filter(e::Column::Kind.is_in([kind, "b"]))
            .order_by_asc(e::Column::Id));
    }
    let query = hashed::Entity::find().filter(hashed::Column::Kind.eq("a"));
    let nodes = world.db.explain(&query).unwrap().nodes.len();
    assert_eq!(nodes, if backend == DbBackend::MySql { 4 } else { 1 });
    world.end().await;
}

/// Groups are what the database calls equal.
pub async fn case_insensitive_groups(backend: DbBackend) {
    let world = World::with_text(backend, TextColumns::Default).await;
    world.fill(events()).await;
    // Which spelling stands for a group is the database's choice; its size is not.
    same_set!(world, monthly, e => e::Entity::find()
        .select_only()
        .column_as(e::Column::Id.count(), "count")
        .group_by(e::Column::Kind));
    same!(world, monthly, e => e::Entity::find()
        .select_only()
        .column_as(e::Column::Id.count(), "count")
        .group_by(e::Column::Kind)
        .order_by_desc(e::Column::Id.count()));
    world.end().await;
}
