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
    // A question to every month prepares 13 statements. MySQL's driver closes old ones when more are
    // prepared than it keeps, and then waits some 40 ms for the network, each time.
    options.map_sqlx_mysql_opts(|options| options.statement_cache_capacity(1_000));
    ShardingConnection::builder()
        .source("ds0", options)
        .entity::<flight::Entity>()
        .connect()
        .await
}
