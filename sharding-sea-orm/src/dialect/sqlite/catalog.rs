use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr, Statement};
use sharding_core::plan::TextOrder;

use crate::catalog::{Catalog, Column, Text};

/// SQLite has no catalog of collations; the text of the table's definition tells them.
pub(in crate::dialect) async fn load<C: ConnectionTrait>(
    connection: &C,
    _schemas: &[String],
) -> Result<Catalog, DbErr> {
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
            text_order(&definition, &column)
        } else {
            Text::Bytes(TextOrder::Bytes)
        };
        let columns: &mut HashMap<_, _> = catalog.tables.entry((None, table)).or_default();
        columns.insert(column, Column { text, digits: None });
    }
    Ok(catalog)
}

/// The order of a column by the definition of its table.
fn text_order(definition: &str, column: &str) -> Text {
    let unknown = || Text::Unknown("of its definition".to_owned());
    let Some(words) = words_of_column(definition, column) else {
        return unknown();
    };
    let mut words = words.iter();
    let collate = words.position(|word| word.eq_ignore_ascii_case("collate"));
    let collation = collate.and_then(|_| words.next());
    match (
        collate,
        collation.map(|name| name.to_ascii_lowercase()).as_deref(),
    ) {
        (None, _) | (_, Some("binary")) => Text::Bytes(TextOrder::Bytes),
        (_, Some("nocase")) => Text::Folded(TextOrder::NoCase),
        (_, Some("rtrim")) => Text::Folded(TextOrder::TrimmedBytes),
        _ => unknown(),
    }
}

/// The words of a column's definition, those in parentheses aside; `None` if it is not found.
fn words_of_column(definition: &str, column: &str) -> Option<Vec<String>> {
    let mut depth = 0_u32;
    let mut words: Vec<String> = Vec::new();
    let mut chars = definition.chars().peekable();
    let is_meant = |words: &[String]| {
        words
            .first()
            .is_some_and(|name| name.eq_ignore_ascii_case(column))
    };
    while let Some(c) = chars.next() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return is_meant(&words).then_some(words),
            ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 1 => {
                if is_meant(&words) {
                    return Some(words);
                }
                words.clear();
            }
            // Comments may hold anything.
            '-' if chars.peek() == Some(&'-') => return None,
            '/' if chars.peek() == Some(&'*') => return None,
            '"' | '`' | '\'' | '[' => {
                let end = if c == '[' { ']' } else { c };
                let mut word = String::new();
                while let Some(inner) = chars.next() {
                    if inner == end {
                        if c == '[' || chars.peek() != Some(&end) {
                            break;
                        }
                        chars.next();
                    }
                    word.push(inner);
                }
                if depth == 1 {
                    words.push(word);
                }
            }
            c if c.is_alphanumeric() || c == '_' => {
                let mut word = String::from(c);
                while let Some(next) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    word.push(next);
                }
                if depth == 1 {
                    words.push(word);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_tells_the_order() {
        let definition = "CREATE TABLE \"t, (\" (\"id\" integer, a text NOT NULL COLLATE NOCASE, \
                          [b c] varchar(3) collate rtrim CHECK (a COLLATE x <> ','), \
                          d text DEFAULT 'it''s, COLLATE NOCASE', e COLLATE \"binary\", \
                          f text COLLATE german)";
        let of = |column: &str| text_order(definition, column);
        assert_eq!(of("id"), Text::Bytes(TextOrder::Bytes));
        assert_eq!(of("a"), Text::Folded(TextOrder::NoCase));
        assert_eq!(of("b c"), Text::Folded(TextOrder::TrimmedBytes));
        assert_eq!(of("d"), Text::Bytes(TextOrder::Bytes));
        assert_eq!(of("e"), Text::Bytes(TextOrder::Bytes));
        assert!(matches!(of("f"), Text::Unknown(_)));
        assert!(matches!(of("g"), Text::Unknown(_)));
    }
}
