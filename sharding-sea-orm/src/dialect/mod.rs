//! What differs between the databases: catalogs, reading values out of rows, and giving computed
//! values back as real rows. One folder each, with the same files.

#[cfg(feature = "sqlx-mysql")]
mod mysql;
mod name;
#[cfg(feature = "sqlx-postgres")]
mod postgres;
#[cfg(feature = "sqlx-sqlite")]
mod sqlite;
#[cfg_attr(
    not(any(feature = "sqlx-postgres", feature = "sqlx-mysql")),
    allow(dead_code, reason = "values of SQLite are bound as they are")
)]
mod text;

pub(crate) use name::computed_name;
pub(crate) use text::json_texts;

use sea_orm::sea_query::{Expr, SelectStatement};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, QueryResult, Statement};
use sharding_core::merge::Datum;
use sharding_core::plan::Output;

use crate::catalog::{Catalog, Collation};
use crate::error::ShardingError;
use crate::visit::fill;

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

/// Reads what is needed of a data source's catalog: of its default schema and of these.
pub(crate) async fn catalog<C: ConnectionTrait>(
    connection: &C,
    schemas: &[String],
) -> Result<Catalog, DbErr> {
    of_dialect!(
        connection.get_database_backend(),
        dialect => dialect::catalog::load(connection, schemas).await,
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

/// How many connections the pool of a data source has open, and how many of these are idle.
pub(crate) fn pool_state(connection: &DatabaseConnection) -> (u32, u32) {
    of_dialect!(
        connection.get_database_backend(),
        dialect => dialect::pool_state(connection),
        else (0, 0)
    )
}

/// A value out of a row, with the database's name of its type.
pub(crate) fn read(row: &QueryResult, column: usize) -> Result<Datum, ShardingError> {
    let unmergeable = |type_name: TypeName| ShardingError::UnmergeableType {
        column: row.column_names().get(column).cloned().unwrap_or_default(),
        type_name,
    };
    read_any(row, column).map_err(unmergeable)
}

fn read_any(row: &QueryResult, column: usize) -> Result<Datum, TypeName> {
    #[cfg(feature = "sqlx-sqlite")]
    if let Some(row) = row.try_as_sqlite_row() {
        return sqlite::datum::read(row, column);
    }
    #[cfg(feature = "sqlx-postgres")]
    if let Some(row) = row.try_as_pg_row() {
        return postgres::datum::read(row, column);
    }
    #[cfg(feature = "sqlx-mysql")]
    if let Some(row) = row.try_as_mysql_row() {
        return mysql::datum::read(row, column);
    }
    let _ = (row, column);
    Err(NO_DIALECT.to_owned())
}

/// The database's name of the type of a column of a row; SQLite's columns have none.
pub(crate) fn type_name(row: &QueryResult, column: usize) -> TypeName {
    #[cfg(feature = "sqlx-postgres")]
    if let Some(row) = row.try_as_pg_row() {
        return postgres::datum::type_name(row, column);
    }
    #[cfg(feature = "sqlx-mysql")]
    if let Some(row) = row.try_as_mysql_row() {
        return mysql::datum::type_name(row, column);
    }
    let _ = (row, column);
    TypeName::new()
}

/// What computed rows look like.
#[derive(Debug)]
pub(crate) struct Shape<'a> {
    pub(crate) backend: DbBackend,
    pub(crate) columns: Vec<ShapedColumn<'a>>,
    /// A SELECT of nothing from the tables of the statement, where SQLite's types come from.
    #[cfg_attr(
        not(feature = "sqlx-sqlite"),
        allow(dead_code, reason = "for SQLite's types")
    )]
    pub(crate) typed: Option<&'a SelectStatement>,
    /// The type of each value of a row that is sent; SQLite's have none.
    #[cfg_attr(
        not(any(feature = "sqlx-postgres", feature = "sqlx-mysql")),
        allow(dead_code, reason = "values of SQLite carry their types")
    )]
    pub(crate) types: Vec<TypeName>,
}

/// One column of computed rows.
#[derive(Debug)]
pub(crate) struct ShapedColumn<'a> {
    pub(crate) name: String,
    pub(crate) output: &'a Output,
    /// The expression of a compound output, with slots for its pieces.
    pub(crate) template: Option<&'a Expr>,
    /// The column of a table that it is, if it is one.
    #[cfg_attr(
        not(feature = "sqlx-sqlite"),
        allow(dead_code, reason = "for SQLite's types")
    )]
    pub(crate) typed: Option<&'a Expr>,
}

impl Shape<'_> {
    /// The name of the column for which a value is sent.
    #[cfg_attr(
        not(any(feature = "sqlx-postgres", feature = "sqlx-mysql")),
        allow(dead_code, reason = "values of SQLite carry their types")
    )]
    fn column_of(&self, value: usize) -> String {
        let mut columns = self.columns.iter();
        let column = columns.find(|column| column.output.first() == Some(value));
        column.map(|column| column.name.clone()).unwrap_or_default()
    }
}

impl ShapedColumn<'_> {
    /// The column as an expression, in which `value` is what stands for a value of a row, and
    /// `quotient` for one divided by another.
    fn expr(
        &self,
        value: &dyn Fn(usize) -> Result<Expr, TypeName>,
        quotient: &dyn Fn(usize, usize) -> Result<Expr, TypeName>,
    ) -> Result<Expr, Unshapeable> {
        let of = |output: &Output| match output {
            Output::Partial(at) => value(*at),
            Output::Quotient { sum, count } => quotient(*sum, *count),
            Output::Compound(_) => Err("a compound of compounds".to_owned()),
        };
        let made = match (self.output, self.template) {
            (Output::Compound(pieces), Some(template)) => {
                let pieces: Result<Vec<Expr>, TypeName> = pieces.iter().map(of).collect();
                pieces.map(|pieces| fill(template, &|piece| pieces[piece].clone()))
            }
            (output, _) => of(output),
        };
        made.map_err(|type_name| Unshapeable {
            column: self.name.clone(),
            type_name,
        })
    }
}

/// A value that the database cannot be made to give back unchanged.
#[derive(Debug)]
pub(crate) struct Unshapeable {
    column: String,
    type_name: TypeName,
}

impl From<Unshapeable> for ShardingError {
    fn from(Unshapeable { column, type_name }: Unshapeable) -> Self {
        Self::UnmergeableType { column, type_name }
    }
}

/// A statement whose answer is these rows, in this order, with the names and types that the
/// database itself would have given.
pub(crate) fn shape(shape: &Shape<'_>, rows: &[&[Datum]]) -> Result<Statement, ShardingError> {
    of_dialect!(
        shape.backend,
        dialect => Ok(dialect::shape::shape(shape, rows)?),
        else Err(ShardingError::Unexpected(NO_DIALECT))
    )
}

/// A statement whose answer is the rank of each text of a JSON array under a collation: equal for
/// texts that are equal to it.
pub(crate) fn rank(
    backend: DbBackend,
    collation: &Collation,
    texts: String,
) -> Result<Statement, ShardingError> {
    of_dialect!(
        backend,
        dialect => Ok(dialect::rank::rank(collation, texts)),
        else Err(ShardingError::Unexpected(NO_DIALECT))
    )
}

/// How many rows one statement may shape: at least one.
pub(crate) fn chunk_size(shape: &Shape<'_>) -> usize {
    of_dialect!(shape.backend, dialect => dialect::shape::chunk_size(shape), else 1)
}

/// The database's name of the type of COUNT; SQLite's values need none.
pub(crate) fn type_of_count(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => "INT8",
        DbBackend::MySql => "BIGINT",
        _ => "",
    }
}
