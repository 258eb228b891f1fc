//! SQLite's databases in memory, each of which has one connection and no other way to its tables.

use sea_orm::DbBackend;
use sharding_sea_orm::Limits;

use super::crowds::{all_end, fill_all, three_sources};

/// A crowd of callers is answered, and no connection is lost, with which the tables would be.
pub async fn crowds(_: DbBackend) {
    let urls = std::array::from_fn(|_| "sqlite::memory:".to_owned());
    let wide = Limits::new().max_query_connections(9);
    let db = three_sources(&urls, 1, wide).await;
    fill_all(&db).await;
    all_end(&db, 1).await;
    db.close().await.unwrap();
}
