use std::collections::HashSet;

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Statement};
use sharding_core::plan::TextOrder;

use crate::catalog::{Catalog, Column, Text};

pub(in crate::dialect) async fn load<C: ConnectionTrait>(connection: &C) -> Result<Catalog, DbErr> {
    let query = |sql: &str| {
        connection.query_all_raw(Statement::from_string(
            connection.get_database_backend(),
            sql,
        ))
    };
    // Servers before version 15 have no providers per database, so the row is read as JSON.
    let database = query(
        "SELECT datcollate::text, to_jsonb(d) ->> 'datlocprovider', current_schema()::text \
         FROM pg_database AS d WHERE datname = current_database()",
    )
    .await?;
    let loose =
        query("SELECT collname::text FROM pg_collation WHERE NOT collisdeterministic").await?;
    let columns = query(
        "SELECT table_schema::text, table_name::text, column_name::text, collation_name::text, \
         data_type::text, datetime_precision::int4, numeric_scale::int4 \
         FROM information_schema.columns \
         WHERE table_schema NOT IN ('pg_catalog', 'information_schema')",
    )
    .await?;
    let mut catalog = Catalog::default();
    let mut default = Text::Loose("of the database".to_owned());
    if let Some(row) = database.first() {
        default = default_order(row)?;
        catalog.default_schema = row.try_get_by_index(2)?;
    }
    let loose: HashSet<String> = loose
        .iter()
        .map(|row| row.try_get_by_index(0))
        .collect::<Result<_, _>>()?;
    for row in columns {
        let schema: String = row.try_get_by_index(0)?;
        let table: String = row.try_get_by_index(1)?;
        let name: String = row.try_get_by_index(2)?;
        let collation: Option<String> = row.try_get_by_index(3)?;
        let data_type: String = row.try_get_by_index(4)?;
        let digits: Option<i32> = match data_type.as_str() {
            "numeric" => row.try_get_by_index(6)?,
            _ => row.try_get_by_index(5)?,
        };
        let text = match (data_type.as_str(), collation) {
            ("text" | "character varying", None) => default.clone(),
            ("text" | "character varying", Some(collation)) => match collation.as_str() {
                "C" | "POSIX" | "ucs_basic" => Text::Bytes(TextOrder::Bytes),
                _ if loose.contains(&collation) => Text::Loose(collation),
                _ => Text::Collated(collation),
            },
            _ => Text::Loose(format!("of the type `{data_type}`")),
        };
        let column = Column {
            text,
            digits: digits.and_then(|digits| u32::try_from(digits).ok()),
        };
        catalog
            .tables
            .entry((Some(schema), table))
            .or_default()
            .insert(name, column);
    }
    Ok(catalog)
}

/// The order of the database's default collation. `C.UTF-8` sorts by code points, which is the
/// order of their UTF-8 bytes; so does every locale of PostgreSQL's own provider (`b`).
fn default_order(row: &QueryResult) -> Result<Text, DbErr> {
    let collate: String = row.try_get_by_index(0)?;
    let provider: Option<String> = row.try_get_by_index(1)?;
    let by_bytes = match provider.as_deref() {
        Some("b") => true,
        Some("i") => false,
        _ => matches!(collate.as_str(), "C" | "POSIX" | "C.UTF-8" | "C.utf8"),
    };
    // A database's default collation is always deterministic.
    Ok(if by_bytes {
        Text::Bytes(TextOrder::Bytes)
    } else {
        Text::Collated(collate)
    })
}
