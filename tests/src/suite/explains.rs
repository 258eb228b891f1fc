use chrono::{DateTime, Utc};
use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect,
};
use sharding_sea_orm::Rung;

use crate::entity::{monthly, whole};
use crate::world::{World, events};

pub async fn selects(backend: DbBackend) {
    let world = World::empty(backend).await;
    let quote = if backend == DbBackend::MySql {
        '`'
    } else {
        '"'
    };
    let from: DateTime<Utc> = "2013-05-01T00:00:00Z".parse().unwrap();
    let query = monthly::Entity::find()
        .select_only()
        .column(monthly::Column::Id)
        .filter(monthly::Column::At.gte(from))
        .order_by_desc(monthly::Column::Id)
        .limit(10)
        .offset(20);
    let explained = world.db.explain(&query).unwrap();
    assert_eq!(explained.table.as_deref(), Some("event_monthly"));
    assert_eq!((explained.rung.clone(), explained.of), (Rung::Merge, 6));
    let tables: Vec<_> = explained
        .nodes
        .iter()
        .map(|node| node.table.as_str())
        .collect();
    assert_eq!(tables, ["event_monthly_201305", "event_monthly_201306"]);
    let printed = explained
        .to_string()
        .replace(quote, "'")
        .replace(['?', '$'], "?");
    let sql = |tail: &str| {
        format!(
            "SELECT 'event_monthly'.'id' FROM 'event_monthly_{tail}' AS 'event_monthly' WHERE \
             'event_monthly'.'at' >= ?"
        )
    };
    for line in [
        "event_monthly: 2 of 6 nodes, merged",
        "  key at: [2013-05-01T00:00:00Z .. ∞) (months 201301 to 201306)",
        &format!("  a.event_monthly_201305: {}", sql("201305")),
        "  then merge by column 1 descending",
        "  then skip 20 rows, take 10",
    ] {
        assert!(printed.contains(line), "{line}\nin\n{printed}");
    }
    let unsharded = world.db.explain(&whole::Entity::find()).unwrap();
    assert_eq!((unsharded.rung, unsharded.table), (Rung::Unsharded, None));
    world.end().await;
}

pub async fn writes(backend: DbBackend) {
    let world = World::empty(backend).await;
    let rows = events()
        .into_iter()
        .map(|event| monthly::Model::from(event).into_active_model());
    let explained = world
        .db
        .explain(&monthly::Entity::insert_many(rows))
        .unwrap();
    assert_eq!((explained.rung, explained.nodes.len()), (Rung::Together, 5));
    let delete = monthly::Entity::delete_many().filter(monthly::Column::At.is_null());
    let explained = world.db.explain(&delete).unwrap();
    assert_eq!(
        (explained.rung.clone(), explained.nodes.len()),
        (Rung::Pass, 1),
        "{explained}"
    );
    world.end().await;
}
