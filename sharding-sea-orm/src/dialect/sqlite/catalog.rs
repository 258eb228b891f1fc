use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr, Statement};
use sharding_core::plan::TextOrder;

use crate::catalog::{Catalog, Column, Text};

/// SQLite has no catalog of collations; the text of the table's definition tells whether there is
/// any. One anywhere in it is taken as one on every column.
pub(in crate::dialect) async fn load<C: ConnectionTrait>(connection: &C) -> Result<Catalog, DbErr> {
    let sql = "SELECT m.name, m.sql, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c \
               WHERE m.type = 'table'";
    let rows = connection
        .query_all_raw(Statement::from_string(
            connection.get_database_backend(),
            sql,
        ))
        .await?;
    let mut catalog = Catalog::default();
    for row in rows {
        let table: String = row.try_get_by_index(0)?;
        let definition: String = row.try_get_by_index(1)?;
        let column: String = row.try_get_by_index(2)?;
        let text = if definition.to_ascii_lowercase().contains("collate") {
            Text::Loose("of its definition".to_owned())
        } else {
            Text::Bytes(TextOrder::Bytes)
        };
        let columns: &mut HashMap<_, _> = catalog.tables.entry((None, table)).or_default();
        columns.insert(column, Column { text, digits: None });
    }
    Ok(catalog)
}
