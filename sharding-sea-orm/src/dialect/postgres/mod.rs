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
