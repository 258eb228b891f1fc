use sea_orm::{
    ActiveModelTrait, ColumnTrait, DbBackend, DbErr, EntityTrait, IntoActiveModel, PaginatorTrait,
    QueryFilter, QueryOrder, TransactionError, TransactionTrait,
};

use super::refusal;
use crate::entity::{Event, monthly, spread, whole};
use crate::world::{World, events};

fn event(id: i64, at: &str) -> Event {
    Event {
        id,
        at: at.parse().unwrap(),
        ..events().swap_remove(9)
    }
}

pub async fn commits(backend: DbBackend) {
    let world = World::empty(backend).await;
    let transaction = world.db.begin().await.unwrap();
    for (id, at) in [(1, "2013-01-01T00:00:00Z"), (2, "2013-05-01T00:00:00Z")] {
        let row = monthly::Model::from(event(id, at)).into_active_model();
        row.insert(&transaction).await.unwrap();
    }
    // Its own writes are seen within, over all nodes, merged as ever.
    let found = monthly::Entity::find().order_by_desc(monthly::Column::Id);
    let ids: Vec<_> = found
        .all(&transaction)
        .await
        .unwrap()
        .iter()
        .map(|e| e.id)
        .collect();
    assert_eq!(ids, [2, 1]);
    assert_eq!(
        monthly::Entity::find().count(&transaction).await.unwrap(),
        2
    );
    transaction.commit().await.unwrap();
    assert_eq!(monthly::Entity::find().count(&world.db).await.unwrap(), 2);
    // A transaction without a statement has nothing to do.
    world.db.begin().await.unwrap().commit().await.unwrap();
    world.end().await;
}

pub async fn rollbacks(backend: DbBackend) {
    let world = World::filled(backend).await;
    let transaction = world.db.begin().await.unwrap();
    monthly::Entity::delete_many()
        .exec(&transaction)
        .await
        .unwrap();
    assert_eq!(
        monthly::Entity::find().count(&transaction).await.unwrap(),
        0
    );
    transaction.rollback().await.unwrap();
    assert_eq!(monthly::Entity::find().count(&world.db).await.unwrap(), 400);

    let dropped = world.db.begin().await.unwrap();
    monthly::Entity::delete_many().exec(&dropped).await.unwrap();
    drop(dropped);
    assert_eq!(monthly::Entity::find().count(&world.db).await.unwrap(), 400);

    let result: Result<(), TransactionError<DbErr>> = world
        .db
        .transaction(|transaction| {
            Box::pin(async move {
                whole::Entity::delete_many().exec(transaction).await?;
                Err(DbErr::Custom("no".into()))
            })
        })
        .await;
    assert!(matches!(result, Err(TransactionError::Transaction(_))));
    assert_eq!(whole::Entity::find().count(&world.db).await.unwrap(), 400);
    world.end().await;
}

pub async fn savepoints(backend: DbBackend) {
    let world = World::filled(backend).await;
    let outer = world.db.begin().await.unwrap();
    let inner = outer.begin().await.unwrap();
    monthly::Entity::delete_many().exec(&inner).await.unwrap();
    inner.rollback().await.unwrap();
    assert_eq!(monthly::Entity::find().count(&outer).await.unwrap(), 400);
    let inner = outer.begin().await.unwrap();
    monthly::Entity::delete_many()
        .filter(monthly::Column::Flag.eq(true))
        .exec(&inner)
        .await
        .unwrap();
    inner.commit().await.unwrap();
    let left = monthly::Entity::find().count(&outer).await.unwrap();
    assert!(left < 400);
    // A statement over several nodes that fails leaves nothing behind.
    let rows = [
        event(1000, "2013-01-01T00:00:00Z"),
        event(3, "2013-06-30T23:59:59Z"),
    ]
    .map(|event| monthly::Model::from(event).into_active_model());
    let twice = rows.clone().into_iter().chain(rows);
    monthly::Entity::insert_many(twice)
        .exec_without_returning(&outer)
        .await
        .unwrap_err();
    assert_eq!(monthly::Entity::find().count(&outer).await.unwrap(), left);
    outer.commit().await.unwrap();
    assert_eq!(
        monthly::Entity::find().count(&world.db).await.unwrap(),
        left
    );
    world.end().await;
}

pub async fn second_sources(backend: DbBackend) {
    let world = World::filled(backend).await;
    let transaction = world.db.begin().await.unwrap();
    let even = spread::Entity::find().filter(spread::Column::Id.eq(2));
    assert!(even.one(&transaction).await.unwrap().is_some());
    let odd = spread::Entity::find().filter(spread::Column::Id.eq(3));
    let refused = refusal(odd.one(&transaction).await);
    assert_eq!(
        refused,
        "this transaction is on data source `a`; a statement that reaches `b` cannot take part",
    );
    refusal(spread::Entity::find().all(&transaction).await);
    assert_eq!(
        monthly::Entity::find().count(&transaction).await.unwrap(),
        400
    );
    transaction.rollback().await.unwrap();
    world.end().await;
}
