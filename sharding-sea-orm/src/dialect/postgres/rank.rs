//! The order of texts, asked of the database.

use sea_orm::{DbBackend, Statement};

use crate::catalog::Collation;

/// A statement whose answer is the rank of each text of a JSON array, equal for equal texts.
pub(in crate::dialect) fn rank(collation: &Collation, texts: String) -> Statement {
    let collate = collation
        .sql
        .as_ref()
        .map_or_else(String::new, |name| format!(" COLLATE {name}"));
    let sql = format!(
        "SELECT DENSE_RANK() OVER (ORDER BY t.r{collate}) FROM \
         json_array_elements_text(CAST($1 AS json)) WITH ORDINALITY AS t(r, i) ORDER BY t.i"
    );
    Statement::from_sql_and_values(DbBackend::Postgres, sql, [texts.into()])
}
