//! Runs a write, alike on the oracle and on a sharding.

use sea_orm::sea_query::{Alias, OnConflict, Query};
use sea_orm::{
    ActiveModelTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, IntoActiveModel, Iterable,
    PrimaryKeyToColumn, QueryFilter,
};

use super::answer::{Answer, Cell};
use super::entity::{fact, item, owner, tag};
use super::execute::Failure;
use super::schema::{Row, Table};
use super::statement::build;
use super::statement::write::{Action, Conflict, Write};
use super::statement::{Expr, Operator};
use super::world::insert_into;

/// Runs a write.
///
/// # Errors
/// What the connection says.
pub async fn run<C: ConnectionTrait>(db: &C, write: &Write) -> Result<Answer, Failure> {
    let backend = ConnectionTrait::get_database_backend(db);
    if write.plain {
        return plain(db, write, backend).await;
    }
    let answer = match write.table {
        Table::Fact => of_entity::<fact::Entity, C>(db, write, backend).await,
        Table::Item => of_entity::<item::Entity, C>(db, write, backend).await,
        Table::Tag => of_entity::<tag::Entity, C>(db, write, backend).await,
        Table::Owner => of_entity::<owner::Entity, C>(db, write, backend).await,
    };
    Ok(answer?)
}

fn affected(rows: u64) -> Answer {
    Answer {
        columns: vec![("affected".to_owned(), String::new())],
        rows: vec![vec![Cell::Int(rows.into())]],
    }
}

/// sea-query's statement.
fn statement(write: &Write, backend: DbBackend) -> Built {
    let table = Alias::new(write.table.name());
    let returning = write.returning && backend != DbBackend::MySql;
    match &write.action {
        Action::Insert { rows, conflict } => {
            let mut insert = insert_into(write.table, write.table.name(), rows);
            if let Some(conflict) = conflict {
                insert.on_conflict(on_conflict(conflict));
            }
            if returning {
                insert.returning_col(Alias::new("id"));
            }
            Built::Insert(insert)
        }
        Action::Update { sets, filter } => {
            let mut update = Query::update();
            update.table(table);
            for (column, value) in sets {
                update.value(Alias::new(column), build::expr(value, backend));
            }
            if let Some(filter) = filter {
                update.cond_where(build::condition(filter, backend));
            }
            if returning {
                update.returning_all();
            }
            Built::Update(update)
        }
        Action::Delete { filter } => {
            let mut delete = Query::delete();
            delete.from_table(table);
            if let Some(filter) = filter {
                delete.cond_where(build::condition(filter, backend));
            }
            if returning {
                delete.returning_all();
            }
            Built::Delete(delete)
        }
    }
}

enum Built {
    Insert(sea_orm::sea_query::InsertStatement),
    Update(sea_orm::sea_query::UpdateStatement),
    Delete(sea_orm::sea_query::DeleteStatement),
}

/// The SQL of a write, to be read.
pub fn show(write: &Write, backend: DbBackend) -> String {
    let sql = match statement(write, backend) {
        Built::Insert(insert) => backend.build(&insert),
        Built::Update(update) => backend.build(&update),
        Built::Delete(delete) => backend.build(&delete),
    };
    let by = if write.plain { "" } else { "as SeaORM: " };
    format!("{by}{sql}")
}

fn on_conflict(conflict: &Conflict) -> OnConflict {
    let mut on = OnConflict::columns(conflict.on.iter().map(Alias::new));
    if conflict.update.is_empty() {
        on.do_nothing_on(conflict.on.iter().map(Alias::new));
    } else {
        on.update_columns(conflict.update.iter().map(Alias::new));
    }
    on
}

async fn plain<C: ConnectionTrait>(
    db: &C,
    write: &Write,
    backend: DbBackend,
) -> Result<Answer, Failure> {
    let returning = write.returning && backend != DbBackend::MySql;
    macro_rules! send {
        ($statement:expr) => {
            if returning {
                Answer::of_rows(&db.query_all($statement).await?).map_err(Failure::Wrong)
            } else {
                Ok(affected(db.execute($statement).await?.rows_affected()))
            }
        };
    }
    match statement(write, backend) {
        Built::Insert(insert) => send!(&insert),
        Built::Update(update) => send!(&update),
        Built::Delete(delete) => send!(&delete),
    }
}

/// SeaORM's calls.
async fn of_entity<E, C>(db: &C, write: &Write, backend: DbBackend) -> Result<Answer, DbErr>
where
    E: EntityTrait,
    C: ConnectionTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E> + sea_orm::ActiveModelBehavior + Send,
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    let returning = write.returning && backend != DbBackend::MySql;
    match &write.action {
        Action::Insert { rows, conflict } => {
            let mut models: Vec<E::ActiveModel> = rows
                .iter()
                .map(|row| active::<E>(write.table, row))
                .collect();
            if models.len() == 1 && conflict.is_none() {
                let model = models.remove(0).insert(db).await?;
                return Ok(Answer::of_models(&[model]));
            }
            let mut insert = E::insert_many(models);
            if let Some(conflict) = conflict {
                insert = insert.on_conflict(on_conflict(conflict));
            }
            if returning {
                let models = insert.exec_with_returning(db).await?;
                return Ok(Answer::of_models(&models));
            }
            Ok(affected(insert.exec_without_returning(db).await?))
        }
        Action::Update { sets, filter } => {
            if let Some(model) = by_id::<E>(write.table, sets, filter.as_ref()) {
                return Ok(Answer::of_models(&[model.update(db).await?]));
            }
            let mut update = E::update_many();
            for (name, value) in sets {
                update = update.col_expr(column::<E>(name), build::expr(value, backend));
            }
            if let Some(filter) = filter {
                update = update.filter(build::condition(filter, backend));
            }
            if returning {
                return Ok(Answer::of_models(&update.exec_with_returning(db).await?));
            }
            Ok(affected(update.exec(db).await?.rows_affected))
        }
        Action::Delete { filter } => {
            let mut delete = E::delete_many();
            if let Some(filter) = filter {
                delete = delete.filter(build::condition(filter, backend));
            }
            if returning {
                return Ok(Answer::of_models(&delete.exec_with_returning(db).await?));
            }
            Ok(affected(delete.exec(db).await?.rows_affected))
        }
    }
}

fn column<E: EntityTrait>(name: &str) -> E::Column {
    E::Column::iter()
        .find(|column| sea_orm::IdenStatic::as_str(column) == name)
        .unwrap()
}

fn active<E: EntityTrait>(table: Table, row: &Row) -> E::ActiveModel
where
    E::ActiveModel: ActiveModelTrait<Entity = E>,
{
    let mut model = <E::ActiveModel as ActiveModelTrait>::default();
    for (column, text) in table.columns().iter().zip(row) {
        model.set(
            self::column::<E>(column.name),
            column.kind.value(text.as_deref()),
        );
    }
    model
}

/// The model that an UPDATE of values by the primary key alone is the same as.
fn by_id<E: EntityTrait>(
    table: Table,
    sets: &[(String, Expr)],
    filter: Option<&Expr>,
) -> Option<E::ActiveModel>
where
    E::ActiveModel: ActiveModelTrait<Entity = E>,
{
    let Some(Expr::All(parts)) = filter else {
        return None;
    };
    let [Expr::Op(Operator::Eq, left, right)] = &parts[..] else {
        return None;
    };
    let (Expr::Col(_, name), Expr::Lit(kind, text)) = (&**left, &**right) else {
        return None;
    };
    if name != "id" || *kind != table.columns()[0].kind {
        return None;
    }
    let mut model = <E::ActiveModel as ActiveModelTrait>::default();
    let key = E::PrimaryKey::iter().next()?.into_column();
    model.set(key, kind.value(text.as_deref()));
    for (name, value) in sets {
        let Expr::Lit(kind, text) = value else {
            return None;
        };
        model.set(column::<E>(name), kind.value(text.as_deref()));
    }
    Some(model)
}
