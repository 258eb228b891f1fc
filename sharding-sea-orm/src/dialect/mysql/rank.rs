//! The order of texts, asked of the database.

use sea_orm::{DbBackend, Statement};

use crate::catalog::Collation;

/// A statement whose answer is the rank of each text of a JSON array, equal for equal texts. The
/// texts are of columns that are not longer than the database sorts by.
pub(in crate::dialect) fn rank(collation: &Collation, texts: String) -> Statement {
    let name = &collation.version;
    let set = name.split('_').next().unwrap_or_default();
    let sql = format!(
        "SELECT DENSE_RANK() OVER (ORDER BY t.r) FROM JSON_TABLE(?, '$[*]' COLUMNS(\
         i FOR ORDINALITY, r VARCHAR(255) CHARACTER SET {set} COLLATE {name} PATH '$')) AS t \
         ORDER BY t.i"
    );
    Statement::from_sql_and_values(DbBackend::MySql, sql, [texts.into()])
}
