//! Collations of text columns, as each database system has them.

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement};

use super::random::Random;
use super::schema::{Kind, Table};

/// Random collations: of the columns that rules may use as keys, and of the others.
pub fn random(random: &mut Random, backend: DbBackend) -> [Option<String>; 2] {
    let names: &[Option<&str>] = match backend {
        DbBackend::Sqlite => &[
            None,
            None,
            None,
            None,
            Some("NOCASE"),
            Some("RTRIM"),
            Some("BINARY"),
        ],
        DbBackend::Postgres => &[
            None,
            None,
            Some("C"),
            Some("en-x-icu"),
            Some("en-x-icu"),
            Some("loose"),
        ],
        _ => &[
            Some("utf8mb4_bin"),
            Some("utf8mb4_bin"),
            Some("utf8mb4_nopad_bin"),
            Some("utf8mb4_general_ci"),
            Some("utf8mb4_unicode_ci"),
            Some("utf8mb4_unicode_520_nopad_ci"),
        ],
    };
    let key = random.of(names);
    let other = if random.one_in(2) {
        key
    } else {
        random.of(names)
    };
    [key, other].map(|name| name.map(str::to_owned))
}

/// Whether texts of other bytes can be equal under this collation.
pub fn is_loose(name: Option<&str>) -> bool {
    !matches!(
        name,
        None | Some("C" | "en-x-icu" | "BINARY" | "utf8mb4_nopad_bin")
    )
}

/// The text as every loose collation here may see it at most: without case, accents and trailing
/// spaces.
pub fn fold(text: &str) -> String {
    let folded = text.trim_end().to_lowercase().replace("ss", "s");
    let plain = folded.chars().map(|letter| match letter {
        'ä' => 'a',
        'é' => 'e',
        'ß' => 's',
        other => other,
    });
    plain.collect()
}

/// Gives the text columns of physical tables their collations.
///
/// # Errors
/// What the database says.
pub async fn alter(
    db: &DatabaseConnection,
    tables: &[(String, Table)],
    collations: &[Option<String>; 2],
) -> Result<(), DbErr> {
    let backend = db.get_database_backend();
    if collations.iter().all(Option::is_none) {
        return Ok(());
    }
    if backend == DbBackend::Postgres && collations.iter().flatten().any(|name| name == "loose") {
        db.execute_unprepared(
            "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        )
        .await?;
    }
    for (name, table) in tables {
        let columns = table
            .columns()
            .iter()
            .filter(|column| column.kind.is_text());
        let collated = columns.filter_map(|column| {
            let collation = collations[usize::from(column.name != "kind")].as_deref()?;
            Some((column, collation))
        });
        match backend {
            DbBackend::Sqlite => {
                let mut sql = definition(db, name).await?;
                for (column, collation) in collated {
                    sql = collate(&sql, column.name, collation);
                }
                db.execute_unprepared(&format!("DROP TABLE \"{name}\""))
                    .await?;
                db.execute_unprepared(&sql).await?;
            }
            DbBackend::Postgres => {
                for (column, collation) in collated {
                    let of = column_type(column.kind, column.name, backend);
                    let sql = format!(
                        "ALTER TABLE \"{name}\" ALTER COLUMN \"{}\" TYPE {of} COLLATE \"{collation}\"",
                        column.name
                    );
                    db.execute_unprepared(&sql).await?;
                }
            }
            _ => {
                let changes = collated.map(|(column, collation)| {
                    let of = column_type(column.kind, column.name, backend);
                    let null = if column.nullable { "NULL" } else { "NOT NULL" };
                    format!(
                        "MODIFY `{}` {of} CHARACTER SET utf8mb4 COLLATE {collation} {null}",
                        column.name
                    )
                });
                let changes: Vec<_> = changes.collect();
                let sql = format!("ALTER TABLE `{name}` {}", changes.join(", "));
                db.execute_unprepared(&sql).await?;
            }
        }
    }
    Ok(())
}

fn column_type(kind: Kind, name: &str, backend: DbBackend) -> &'static str {
    match (kind, name, backend) {
        (Kind::Char, ..) => "char(4)",
        (_, "note", _) => "text",
        (_, _, DbBackend::MySql) => "varchar(255)",
        _ => "varchar",
    }
}

/// The statement that SQLite keeps as a table's definition.
async fn definition(db: &DatabaseConnection, table: &str) -> Result<String, DbErr> {
    let sql = format!("SELECT sql FROM sqlite_master WHERE name = '{table}'");
    let statement = Statement::from_string(DbBackend::Sqlite, sql);
    let row = db.query_one_raw(statement).await?.unwrap();
    row.try_get_by_index(0)
}

/// Adds a collation at the end of a column's definition.
fn collate(sql: &str, column: &str, collation: &str) -> String {
    let begin = sql.find(&format!("\"{column}\" ")).unwrap();
    let mut depth = 0;
    let end = sql[begin..].find(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        (letter == ',' && depth == 0) || depth < 0
    });
    let end = begin + end.unwrap();
    format!("{} COLLATE {collation}{}", &sql[..end], &sql[end..])
}
