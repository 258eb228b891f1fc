//! PostgreSQL: every column has an exact type, and text compares by collations that the catalog
//! names.

pub(super) mod catalog;
pub(super) mod datum;
pub(super) mod numeric;
pub(super) mod rank;
pub(super) mod shape;

use sea_orm::DatabaseConnection;

pub(super) fn pool_size(connection: &DatabaseConnection) -> u32 {
    connection
        .get_postgres_connection_pool()
        .options()
        .get_max_connections()
}

pub(super) fn pool_state(connection: &DatabaseConnection) -> (u32, u32) {
    let pool = connection.get_postgres_connection_pool();
    (
        pool.size(),
        u32::try_from(pool.num_idle()).unwrap_or(u32::MAX),
    )
}
