use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, IntoActiveModel,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Statement,
};

use super::refusal;
use crate::entity::spread;
use crate::same;
use crate::world::{World, events};

pub async fn reads_over_two(backend: DbBackend) {
    let world = World::filled(backend).await;
    // The rows are where the rules say.
    let mut counts = Vec::new();
    for name in ["a", "b"] {
        let source = world.db.source(name).unwrap();
        let sql = "SELECT COUNT(*) FROM event_spread_201301";
        let row = source
            .query_one_raw(Statement::from_string(backend, sql))
            .await
            .unwrap();
        counts.push(row.unwrap().try_get_by_index::<i64>(0).unwrap());
    }
    let january = |event: &&crate::entity::Event| event.at.to_rfc3339().as_str() < "2013-02";
    let events = events();
    let even = events
        .iter()
        .filter(january)
        .filter(|event| event.id % 2 == 0)
        .count();
    let odd = events
        .iter()
        .filter(january)
        .filter(|event| event.id % 2 == 1)
        .count();
    assert_eq!(counts, [even as i64, odd as i64]);

    same!(world, spread, e => e::Entity::find().order_by_asc(e::Column::At).order_by_asc(e::Column::Id));
    same!(world, spread, e => e::Entity::find()
        .select_only()
        .column_as(e::Column::Amount.sum(), "sum")
        .column_as(e::Column::Amount.avg(), "avg"));
    world.end().await;
}

pub async fn refusals_over_two(backend: DbBackend) {
    let world = World::filled(backend).await;
    let distinct = spread::Entity::find()
        .select_only()
        .expr_as(Expr::cust("LENGTH(kind)"), "length");
    assert_eq!(
        refusal(distinct.clone().into_json().all(&world.db).await),
        "refused: a clause that cannot be taken apart on `event_spread`, which reaches 12 nodes in 2 data sources (a, b); \
         split the statement, or add the sharding key",
    );
    let narrowed = distinct.filter(spread::Column::Id.is_in([2, 4, 6, 8]));
    narrowed.into_json().all(&world.db).await.unwrap();
    world.end().await;
}

pub async fn writes_over_two(backend: DbBackend) {
    let world = World::empty(backend).await;
    let db = &world.db;
    let rows: Vec<_> = events()
        .into_iter()
        .take(4)
        .map(|event| spread::Model::from(event).into_active_model())
        .collect();
    let refused = refusal(spread::Entity::insert_many(rows.clone()).exec(db).await);
    assert!(
        refused.contains("a write to several data sources"),
        "{refused}"
    );
    assert_eq!(spread::Entity::find().count(db).await.unwrap(), 0);
    for row in rows {
        row.insert(db).await.unwrap();
    }
    assert_eq!(spread::Entity::find().count(db).await.unwrap(), 4);
    let by_key = spread::Entity::delete_many().filter(spread::Column::Id.eq(3));
    assert_eq!(by_key.exec(db).await.unwrap().rows_affected, 1);
    world.end().await;
}
