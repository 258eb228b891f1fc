//! One data source, and what it is told.

use sea_orm::ConnectOptions;
use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sharding_sea_orm::{ShardingConnection, ShardingError};

use crate::entity::flight;

/// Connects to the database of the URL.
pub(crate) async fn connect(url: &str) -> Result<ShardingConnection, ShardingError> {
    let mut options = ConnectOptions::new(url);
    options.sqlx_logging(false);
    // SQLite would get one connection; with several, the months are read side by side.
    options.max_connections(4);
    options.map_sqlx_sqlite_opts(|options| {
        options
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
    });
    ShardingConnection::builder()
        .source("ds0", options)
        .entity::<flight::Entity>()
        .connect()
        .await
}
