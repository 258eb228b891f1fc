//! The order of texts, asked of the database.

use sea_orm::{DbBackend, Statement};

use crate::catalog::Collation;

/// A statement whose answer is the rank of each text of a JSON array, equal for equal texts.
/// SQLite's own collations need no ranks; this serves one that an application has added.
pub(in crate::dialect) fn rank(collation: &Collation, texts: String) -> Statement {
    let collate = collation
        .sql
        .as_ref()
        .map_or_else(String::new, |name| format!(" COLLATE {name}"));
    let sql = format!(
        "SELECT DENSE_RANK() OVER (ORDER BY value{collate}) FROM json_each(?) ORDER BY key"
    );
    Statement::from_sql_and_values(DbBackend::Sqlite, sql, [texts.into()])
}
