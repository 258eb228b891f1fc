//! What is in the tables: read past the library, and put back after a write.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};
use sharding_sea_orm::ShardingError;

use super::answer::{Answer, Cell};
use super::schema::{Row, Table};
use super::world::{Physical, Sharded, WorldSpec, insert_into};

/// The rows of each physical table, by its position.
pub type Contents = BTreeMap<usize, Vec<Vec<Cell>>>;

/// All rows of a table, in the order of its primary key.
///
/// # Errors
/// What the database says.
pub async fn rows<C: ConnectionTrait>(db: &C, name: &str) -> Result<Vec<Vec<Cell>>, DbErr> {
    let backend = ConnectionTrait::get_database_backend(db);
    let quote = if backend == DbBackend::MySql {
        '`'
    } else {
        '"'
    };
    let sql = format!("SELECT * FROM {quote}{name}{quote} ORDER BY {quote}id{quote}");
    // With values, so that the driver prepares it and gives values as it gives those of statements.
    let statement = Statement::from_sql_and_values(backend, sql, []);
    let rows = db.query_all_raw(statement).await?;
    let answer = Answer::of_rows(&rows).map_err(DbErr::Custom)?;
    Ok(answer.rows)
}

/// The rows of physical tables as one, in the order of the primary key.
pub fn gathered(contents: &Contents) -> Vec<Vec<Cell>> {
    let mut rows: Vec<Vec<Cell>> = contents.values().flatten().cloned().collect();
    rows.sort_by_key(|row| match row.first() {
        Some(Cell::Int(id)) => *id,
        _ => i128::MIN,
    });
    rows
}

impl Sharded {
    /// Where each row of a world belongs, by the word of the library.
    pub(super) fn placed(&self, spec: &WorldSpec) -> Result<Vec<Vec<Row>>, ShardingError> {
        let mut placed = vec![Vec::new(); self.physical.len()];
        for table in Table::ALL {
            for row in spec.rows_of(table) {
                let homes = match table {
                    Table::Fact | Table::Item => {
                        let rows = std::slice::from_ref(row);
                        let explained = self.db.explain(&insert_into(table, table.name(), rows))?;
                        let node = &explained.nodes[0];
                        let is_it = |physical: &Physical| {
                            physical.source == node.source && physical.name == node.table
                        };
                        self.physical.iter().position(is_it).into_iter().collect()
                    }
                    _ => self.of_table(table),
                };
                for home in homes {
                    placed[home].push(row.clone());
                }
            }
        }
        Ok(placed)
    }

    fn of_table(&self, table: Table) -> Vec<usize> {
        let own = self.physical.iter().enumerate();
        let own = own.filter(|(_, physical)| physical.table == table);
        own.map(|(at, _)| at).collect()
    }

    /// What is in the physical tables of a table.
    ///
    /// # Errors
    /// What a database says.
    pub async fn contents(&self, table: Table) -> Result<Contents, DbErr> {
        let mut contents = Contents::new();
        for at in self.of_table(table) {
            let physical = &self.physical[at];
            let source = self.plain(physical);
            contents.insert(at, rows(&source, &physical.name).await?);
        }
        Ok(contents)
    }

    /// Empties physical tables and fills them with the rows that belong there.
    ///
    /// # Errors
    /// What a database says.
    pub async fn restore(&self, at: impl IntoIterator<Item = usize>) -> Result<(), DbErr> {
        let backend = self.db.get_database_backend();
        let quote = if backend == DbBackend::MySql {
            '`'
        } else {
            '"'
        };
        for at in at {
            let physical = &self.physical[at];
            let source = self.plain(physical);
            let sql = format!("DELETE FROM {quote}{}{quote}", physical.name);
            source.execute_unprepared(&sql).await?;
            for rows in self.placed[at].chunks(100) {
                let insert = insert_into(physical.table, &physical.name, rows);
                source.execute(&insert).await?;
            }
        }
        Ok(())
    }

    fn plain(&self, physical: &Physical) -> sea_orm::DatabaseConnection {
        self.db.source(&physical.source).unwrap()
    }
}
