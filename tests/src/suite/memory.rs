//! SQLite's databases in memory, each of which has one connection and no other way to its tables.

use futures_util::TryStreamExt;
use sea_orm::{DbBackend, EntityTrait, IntoActiveModel, QueryOrder};
use sharding_sea_orm::{EntityRules, Limits, Modulo, ShardingConnection, rule};

use super::crowds::{all_end, fill_all, three_sources};
use super::modes::entry;

/// A crowd of callers is answered, and no connection is lost, with which the tables would be.
pub async fn crowds(_: DbBackend) {
    let urls = std::array::from_fn(|_| "sqlite::memory:".to_owned());
    let wide = Limits::new().max_query_connections(9);
    let db = three_sources(&urls, 1, wide).await;
    fill_all(&db).await;
    all_end(&db, 1).await;
    db.close().await.unwrap();
}

/// A stream over more tables than SQLite takes into one union, 500, holds no row but one.
pub async fn more_tables_than_a_union(_: DbBackend) {
    const TAILS: u32 = 501;

    let by_id = rule::<i64, _>(entry::Column::Id, Modulo::new(TAILS));
    let db = ShardingConnection::builder()
        .source("a", "sqlite::memory:")
        .table(EntityRules::<entry::Entity>::new().table(by_id))
        .connect()
        .await
        .unwrap();
    db.create_tables().await.unwrap();
    let row = |id: i64| entry::Model {
        id,
        k: id * 7_919 % 101,
        note: String::new(),
    };
    let rows = (0..1_000).step_by(3).map(row);
    entry::Entity::insert_many(rows.clone().map(IntoActiveModel::into_active_model))
        .exec_without_returning(&db)
        .await
        .unwrap();
    let query = entry::Entity::find()
        .order_by_asc(entry::Column::K)
        .order_by_asc(entry::Column::Id);
    let found = query.stream(&db).await.unwrap();
    let found: Vec<entry::Model> = found.try_collect().await.unwrap();
    let mut expected: Vec<_> = rows.collect();
    expected.sort_by_key(|row| (row.k, row.id));
    assert_eq!(found, expected);
    assert_eq!(db.status()[0].most_rows, 1);
    db.close().await.unwrap();
}
