//! What differs between the databases: catalogs, reading values out of rows, and giving computed
//! values back as real rows. One folder each, with the same files.

#[cfg(feature = "sqlx-mysql")]
mod mysql;
#[cfg(feature = "sqlx-postgres")]
mod postgres;
#[cfg(feature = "sqlx-sqlite")]
mod sqlite;

use sea_orm::sea_query::Expr;
use sea_orm::{DatabaseConnection, DbBackend, DbErr, QueryResult};
use sharding_core::merge::Datum;

use crate::catalog::Catalog;
use crate::error::ShardingError;

/// The type of a column in a row, by the database's name for it.
pub(crate) type TypeName = String;

/// Calls the function of the dialect that a connection speaks.
macro_rules! of_dialect {
    ($backend:expr, $dialect:ident => $call:expr, else $otherwise:expr) => {
        match $backend {
            #[cfg(feature = "sqlx-sqlite")]
            DbBackend::Sqlite => {
                use sqlite as $dialect;
                $call
            }
            #[cfg(feature = "sqlx-postgres")]
            DbBackend::Postgres => {
                use postgres as $dialect;
                $call
            }
            #[cfg(feature = "sqlx-mysql")]
            DbBackend::MySql => {
                use mysql as $dialect;
                $call
            }
            #[allow(unreachable_patterns, reason = "with all features there is no other")]
            _ => $otherwise,
        }
    };
}

const NO_DIALECT: &str = "a connection of a database whose feature is not enabled";

/// Reads what is needed of a data source's catalog.
pub(crate) async fn catalog(connection: &DatabaseConnection) -> Result<Catalog, DbErr> {
    of_dialect!(
        connection.get_database_backend(),
        dialect => dialect::catalog::load(connection).await,
        else Err(ShardingError::Unexpected(NO_DIALECT).into())
    )
}

/// The most connections that the pool of a data source opens.
pub(crate) fn pool_size(connection: &DatabaseConnection) -> u32 {
    of_dialect!(
        connection.get_database_backend(),
        dialect => dialect::pool_size(connection),
        else 1
    )
}

/// A value out of a row, with the database's name of its type.
pub(crate) fn read(row: &QueryResult, column: usize) -> Result<Datum, ShardingError> {
    let unmergeable = |type_name: TypeName| ShardingError::UnmergeableType {
        column: row.column_names().get(column).cloned().unwrap_or_default(),
        type_name,
    };
    let read = match row {
        #[cfg(feature = "sqlx-sqlite")]
        row if let Some(row) = row.try_as_sqlite_row() => sqlite::datum::read(row, column),
        #[cfg(feature = "sqlx-postgres")]
        row if let Some(row) = row.try_as_pg_row() => postgres::datum::read(row, column),
        #[cfg(feature = "sqlx-mysql")]
        row if let Some(row) = row.try_as_mysql_row() => mysql::datum::read(row, column),
        _ => Err(NO_DIALECT.to_owned()),
    };
    read.map_err(unmergeable)
}

/// The database's name of the type of a column of a row.
pub(crate) fn type_name(row: &QueryResult, column: usize) -> TypeName {
    match row {
        #[cfg(feature = "sqlx-sqlite")]
        row if row.try_as_sqlite_row().is_some() => String::new(),
        #[cfg(feature = "sqlx-postgres")]
        row if let Some(row) = row.try_as_pg_row() => postgres::datum::type_name(row, column),
        #[cfg(feature = "sqlx-mysql")]
        row if let Some(row) = row.try_as_mysql_row() => mysql::datum::type_name(row, column),
        _ => String::new(),
    }
}

/// An expression that has the value and the type that the database itself would have given.
pub(crate) fn literal(
    backend: DbBackend,
    datum: &Datum,
    type_name: &TypeName,
) -> Result<Expr, String> {
    of_dialect!(
        backend,
        dialect => dialect::shape::literal(datum, type_name),
        else Err(NO_DIALECT.to_owned())
    )
}

/// An expression for SUM / COUNT that has the value and the type that the database's own AVG
/// would have given.
pub(crate) fn quotient(
    backend: DbBackend,
    sum: &Datum,
    sum_type: &TypeName,
    count: &Datum,
    count_type: &TypeName,
) -> Result<Expr, String> {
    of_dialect!(
        backend,
        dialect => dialect::shape::quotient(sum, sum_type, count, count_type),
        else Err(NO_DIALECT.to_owned())
    )
}

/// The name that the database gives to an AVG without an alias.
pub(crate) fn average_name(backend: DbBackend, expr: &Expr) -> String {
    use sea_orm::sea_query::{MysqlQueryBuilder, QueryBuilder, SqliteQueryBuilder};

    let mut name = String::new();
    match backend {
        DbBackend::Postgres => name.push_str("avg"),
        DbBackend::MySql => MysqlQueryBuilder.prepare_expr(expr, &mut name),
        _ => SqliteQueryBuilder.prepare_expr(expr, &mut name),
    }
    name
}
