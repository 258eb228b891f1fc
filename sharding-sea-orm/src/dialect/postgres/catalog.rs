use std::collections::HashMap;
use std::sync::Arc;

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Statement, Value};
use sharding_core::plan::TextOrder;

use crate::catalog::{Catalog, Collation, Column, Text};

pub(in crate::dialect) async fn load<C: ConnectionTrait>(
    connection: &C,
    schemas: &[String],
) -> Result<Catalog, DbErr> {
    let query = |sql: &str| {
        connection.query_all_raw(Statement::from_string(
            connection.get_database_backend(),
            sql,
        ))
    };
    // Servers before version 15 have no providers per database, so the row is read as JSON.
    let database = query(
        "SELECT datcollate::text, to_jsonb(d) ->> 'datlocprovider', current_schema()::text, \
         concat_ws(' ', datcollate, to_jsonb(d) ->> 'datlocprovider', \
         to_jsonb(d) ->> 'daticulocale', to_jsonb(d) ->> 'datlocale', \
         to_jsonb(d) ->> 'daticurules', to_jsonb(d) ->> 'datcollversion') \
         FROM pg_database AS d WHERE datname = current_database()",
    )
    .await?;
    // A collation is what its library makes of it, so its version belongs to it.
    let collations = query(
        "SELECT n.nspname::text, c.collname::text, c.collisdeterministic, \
         concat_ws(' ', c.collprovider, c.collcollate, to_jsonb(c) ->> 'colliculocale', \
         to_jsonb(c) ->> 'colllocale', to_jsonb(c) ->> 'collicurules', \
         pg_collation_actual_version(c.oid)) \
         FROM pg_collation AS c JOIN pg_namespace AS n ON n.oid = c.collnamespace \
         WHERE c.oid IN (SELECT attcollation FROM pg_attribute)",
    )
    .await?;
    let enums = query(
        "SELECT n.nspname::text, t.typname::text, array_agg(e.enumlabel::text ORDER BY e.enumsortorder) \
         FROM pg_enum AS e JOIN pg_type AS t ON t.oid = e.enumtypid \
         JOIN pg_namespace AS n ON n.oid = t.typnamespace GROUP BY 1, 2",
    )
    .await?;
    let named: String = (1..=schemas.len()).map(|at| format!(", ${at}")).collect();
    let sql = format!(
        "SELECT table_schema::text, table_name::text, column_name::text, collation_name::text, \
         data_type::text, datetime_precision::int4, numeric_scale::int4, collation_schema::text, \
         udt_schema::text, udt_name::text \
         FROM information_schema.columns \
         WHERE table_schema IN (current_schema(){named})"
    );
    let columns = connection
        .query_all_raw(Statement::from_sql_and_values(
            connection.get_database_backend(),
            sql,
            schemas.iter().map(|schema| Value::from(schema.clone())),
        ))
        .await?;
    let mut catalog = Catalog::default();
    let mut default = Text::Unknown("of the database".to_owned());
    if let Some(row) = database.first() {
        default = default_order(row)?;
        catalog.default_schema = row.try_get_by_index(2)?;
    }
    let mut by_name: HashMap<(String, String), (bool, String)> = HashMap::new();
    for row in collations {
        let name = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        by_name.insert(name, (row.try_get_by_index(2)?, row.try_get_by_index(3)?));
    }
    let mut declared: HashMap<(String, String), Arc<[String]>> = HashMap::new();
    for row in enums {
        let name = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        let values: Vec<String> = row.try_get_by_index(2)?;
        declared.insert(name, values.into());
    }
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
            ("text" | "character varying", Some(collation)) => {
                let schema: Option<String> = row.try_get_by_index(7)?;
                named_order(schema.unwrap_or_default(), collation, &by_name)
            }
            ("USER-DEFINED", _) => {
                let name = (row.try_get_by_index(8)?, row.try_get_by_index(9)?);
                match declared.get(&name) {
                    Some(values) => Text::Declared(Arc::clone(values)),
                    None => Text::Unknown(format!("of the type `{}`", name.1)),
                }
            }
            _ => Text::Unknown(format!("of the type `{data_type}`")),
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

/// The order of a collation by its name.
fn named_order(
    schema: String,
    name: String,
    known: &HashMap<(String, String), (bool, String)>,
) -> Text {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let sql = format!("{}.{}", quoted(&schema), quoted(&name));
    let by_bytes = ["C", "POSIX", "ucs_basic", "C.utf8", "C.UTF-8"].contains(&&*name);
    match known.get(&(schema, name)) {
        _ if by_bytes => Text::Bytes(TextOrder::Bytes),
        None => Text::Unknown(sql),
        Some((deterministic, version)) => {
            let collation = Collation {
                sql: Some(sql),
                version: version.clone(),
            };
            if *deterministic {
                Text::Collated(collation)
            } else {
                Text::Loose(collation)
            }
        }
    }
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
        Text::Collated(Collation {
            sql: None,
            version: row.try_get_by_index(3)?,
        })
    })
}
