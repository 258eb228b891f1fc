use sea_orm::{ConnectionTrait, DbErr, Statement, Value};
use sharding_core::plan::TextOrder;

use crate::catalog::{Catalog, Collation, Column, Text};

/// Only the schemas that matter are named: the server opens the tables of all others, too.
pub(in crate::dialect) async fn load<C: ConnectionTrait>(
    connection: &C,
    schemas: &[String],
) -> Result<Catalog, DbErr> {
    let named = ", ?".repeat(schemas.len());
    let sql = format!(
        "SELECT CAST(table_schema AS CHAR), CAST(table_name AS CHAR), \
               CAST(column_name AS CHAR), CAST(collation_name AS CHAR), CAST(data_type AS CHAR), \
               CAST(datetime_precision AS SIGNED), CAST(numeric_scale AS SIGNED), \
               CAST(DATABASE() AS CHAR), CAST(column_type AS CHAR) \
               FROM information_schema.columns \
               WHERE table_schema IN (DATABASE(){named})"
    );
    let rows = connection
        .query_all_raw(Statement::from_sql_and_values(
            connection.get_database_backend(),
            sql,
            schemas.iter().map(|schema| Value::from(schema.clone())),
        ))
        .await?;
    let mut catalog = Catalog::default();
    for row in rows {
        let schema: String = row.try_get_by_index(0)?;
        let table: String = row.try_get_by_index(1)?;
        let name: String = row.try_get_by_index(2)?;
        let collation: Option<String> = row.try_get_by_index(3)?;
        let data_type: String = row.try_get_by_index(4)?;
        let time: Option<i64> = row.try_get_by_index(5)?;
        let scale: Option<i64> = row.try_get_by_index(6)?;
        catalog.default_schema = row.try_get_by_index(7)?;
        let digits = match data_type.as_str() {
            "decimal" => scale,
            "datetime" | "timestamp" | "time" => time,
            _ => None,
        };
        let is_text = matches!(
            data_type.as_str(),
            "varchar" | "char" | "tinytext" | "text" | "mediumtext" | "longtext"
        );
        let text = match collation {
            Some(collation) if is_text => text_order(collation),
            Some(_) if data_type == "enum" => {
                let definition: String = row.try_get_by_index(8)?;
                match enum_values(&definition) {
                    Some(values) => Text::Declared(values.into()),
                    None => Text::Unknown(format!("of `{definition}`")),
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

/// The values of `enum('a','b')`, in which a quote within a value is written twice.
fn enum_values(definition: &str) -> Option<Vec<String>> {
    let mut rest = definition.strip_prefix("enum(")?.strip_suffix(')')?;
    let mut values = Vec::new();
    loop {
        rest = rest.strip_prefix('\'')?;
        let mut value = String::new();
        loop {
            let (before, behind) = rest.split_once('\'')?;
            value.push_str(before);
            match behind.strip_prefix('\'') {
                Some(behind) => {
                    value.push('\'');
                    rest = behind;
                }
                None => {
                    rest = behind;
                    break;
                }
            }
        }
        values.push(value);
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind,
            None => return rest.is_empty().then_some(values),
        }
    }
}

/// Binary collations of UTF-8 and ASCII sort by code points, which is the order of UTF-8 bytes.
fn text_order(collation: String) -> Text {
    let of_utf8 = ["utf8mb4_", "utf8mb3_", "utf8_", "ascii_"].iter();
    let by_code_point =
        collation.ends_with("_bin") && of_utf8.clone().any(|set| collation.starts_with(set));
    if !by_code_point {
        return Text::Loose(Collation {
            version: collation.clone(),
            sql: Some(collation),
        });
    }
    let unpadded = collation.contains("_nopad_") || collation.contains("_0900_");
    Text::Bytes(if unpadded {
        TextOrder::Bytes
    } else {
        TextOrder::PaddedBytes
    })
}

#[cfg(test)]
mod tests {
    use super::enum_values;

    #[test]
    fn values_of_enums() {
        let of = |definition| enum_values(definition).unwrap();
        assert_eq!(of("enum('b','a')"), ["b", "a"]);
        assert_eq!(
            of("enum('it''s','','a,b',''',''')"),
            ["it's", "", "a,b", "','"]
        );
        assert_eq!(enum_values("enum('a'"), None);
        assert_eq!(enum_values("set('a')"), None);
    }
}
