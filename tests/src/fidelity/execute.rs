//! Runs a statement, alike on the oracle and on a sharding.

use futures_util::TryStreamExt;
use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, EntityTrait, FromQueryResult, Iterable, LoaderTrait,
    PaginatorTrait, QueryFilter, QueryOrder, QueryResult, QuerySelect, Select, SelectExt,
    SelectTwo, SelectTwoMany, StreamTrait, TransactionTrait,
};

use super::answer::{Answer, Cell};
use super::entity::{FactToParent, FactToTag, ItemToOwner, fact, item, owner, tag};
use super::execute_write;
use super::schema::Table;
use super::state;
use super::statement::build::{self, Built};
use super::statement::{Case, Expr, Fetch, Find, Finish, Related, Statement};

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// The connection gave an error.
    Db(DbErr),
    /// The answer makes no sense by itself.
    Wrong(String),
}

impl From<DbErr> for Failure {
    fn from(error: DbErr) -> Self {
        Self::Db(error)
    }
}

/// Runs a statement.
///
/// # Errors
/// What the connection says.
pub async fn run<C>(db: &C, case: &Case) -> Result<Answer, Failure>
where
    C: ConnectionTrait + StreamTrait + TransactionTrait,
    C::Transaction: StreamTrait,
{
    if !case.in_transaction {
        return statement(db, &case.statement).await;
    }
    run_and_roll_back(db, case, None).await?.0
}

/// Runs a statement inside of a transaction, reads all rows of a table if the transaction still
/// lets it, and rolls back.
///
/// # Errors
/// If the transaction cannot be begun or rolled back.
pub async fn run_and_roll_back<C>(
    db: &C,
    case: &Case,
    table: Option<Table>,
) -> Result<(Result<Answer, Failure>, Option<Vec<Vec<Cell>>>), Failure>
where
    C: ConnectionTrait + StreamTrait + TransactionTrait,
    C::Transaction: StreamTrait,
{
    let transaction = db.begin().await?;
    let answer = statement(&transaction, &case.statement).await;
    let rows = match table {
        Some(table) => state::rows(&transaction, table.name()).await.ok(),
        None => None,
    };
    sea_orm::TransactionSession::rollback(transaction).await?;
    Ok((answer, rows))
}

async fn statement<C: ConnectionTrait + StreamTrait>(
    db: &C,
    statement: &Statement,
) -> Result<Answer, Failure> {
    let backend = ConnectionTrait::get_database_backend(db);
    match statement {
        Statement::Query(select, fetch) => {
            let rows = match build::built(select, backend) {
                Built::Select(select) => fetched(db, &*select, *fetch).await?,
                Built::With(with) => fetched(db, &*with, *fetch).await?,
            };
            Answer::of_rows(&rows).map_err(Failure::Wrong)
        }
        Statement::Find(query) => Ok(find(db, query, backend).await?),
        Statement::Write(write) => execute_write::run(db, write).await,
    }
}

async fn fetched<C: ConnectionTrait + StreamTrait, S: sea_orm::StatementBuilder>(
    db: &C,
    statement: &S,
    fetch: Fetch,
) -> Result<Vec<QueryResult>, DbErr> {
    match fetch {
        Fetch::All => db.query_all(statement).await,
        Fetch::One => Ok(db.query_one(statement).await?.into_iter().collect()),
        Fetch::Stream => db.stream(statement).await?.try_collect().await,
    }
}

async fn find<C: ConnectionTrait + StreamTrait>(
    db: &C,
    find: &Find,
    backend: DbBackend,
) -> Result<Answer, DbErr> {
    match (find.related, find.table) {
        (None, Table::Fact) => alone::<fact::Entity, C>(db, find, backend).await,
        (None, Table::Item) => alone::<item::Entity, C>(db, find, backend).await,
        (None, Table::Tag) => alone::<tag::Entity, C>(db, find, backend).await,
        (None, Table::Owner) => alone::<owner::Entity, C>(db, find, backend).await,
        (Some(related), _) => together(db, find, related, backend).await,
    }
}

/// Applies everything of a query but its end.
fn prepared<E: EntityTrait>(find: &Find, backend: DbBackend) -> Select<E> {
    let mut select = E::find();
    if let Some(filter) = &find.filter {
        select = select.filter(build::condition(filter, backend));
    }
    for order in &find.orders {
        let direction = if order.desc {
            sea_orm::Order::Desc
        } else {
            sea_orm::Order::Asc
        };
        let by = build::expr(&order.by, backend);
        select = match order.nulls_first {
            None => select.order_by(by, direction),
            Some(first) => {
                let nulls = if first {
                    sea_orm::sea_query::NullOrdering::First
                } else {
                    sea_orm::sea_query::NullOrdering::Last
                };
                select.order_by_with_nulls(by, direction, nulls)
            }
        };
    }
    if find.distinct {
        select = select.distinct();
    }
    if find.lock {
        select = select.lock_exclusive();
    }
    select.limit(find.limit).offset(find.offset)
}

async fn alone<E, C>(db: &C, find: &Find, backend: DbBackend) -> Result<Answer, DbErr>
where
    E: EntityTrait,
    C: ConnectionTrait + StreamTrait,
    E::Model: FromQueryResult + Sync,
{
    let select = prepared::<E>(find, backend);
    Ok(match &find.finish {
        Finish::All => Answer::of_models(&select.all(db).await?),
        Finish::One => Answer::of_models(&Vec::from_iter(select.one(db).await?)),
        Finish::Stream => {
            let models: Vec<E::Model> = select.stream(db).await?.try_collect().await?;
            Answer::of_models(&models)
        }
        Finish::Json => Answer::of_models(&select.into_json().all(db).await?),
        Finish::Count => Answer::of_models(&[select.count(db).await?]),
        Finish::Exists => Answer::of_models(&[select.exists(db).await?]),
        Finish::Page(size, page) => {
            let page = select.paginate(db, *size).fetch_page(*page).await?;
            Answer::of_models(&page)
        }
        Finish::Pages(size) => {
            let pages = select.paginate(db, *size).num_items_and_pages().await?;
            Answer::of_models(&[(pages.number_of_items, pages.number_of_pages)])
        }
        Finish::Cursor {
            by,
            after,
            before,
            count,
            last,
            desc,
        } => {
            let column = E::Column::iter()
                .find(|column| sea_orm::IdenStatic::as_str(column) == by)
                .ok_or_else(|| DbErr::Custom("no such column".to_owned()))?;
            let mut cursor = select.cursor_by(column);
            if let Some(Expr::Lit(kind, text)) = after {
                cursor.after(kind.value(text.as_deref()));
            }
            if let Some(Expr::Lit(kind, text)) = before {
                cursor.before(kind.value(text.as_deref()));
            }
            if *desc {
                cursor.desc();
            }
            if *last {
                cursor.last(*count);
            } else {
                cursor.first(*count);
            }
            Answer::of_models(&cursor.all(db).await?)
        }
    })
}

async fn two<E, F, C>(db: &C, select: SelectTwo<E, F>, finish: &Finish) -> Result<Answer, DbErr>
where
    E: EntityTrait,
    F: EntityTrait,
    C: ConnectionTrait + StreamTrait,
    E::Model: Sync,
    F::Model: Sync,
{
    Ok(match finish {
        Finish::One => Answer::of_models(&Vec::from_iter(select.one(db).await?)),
        Finish::Stream => {
            let models: Vec<(E::Model, Option<F::Model>)> =
                select.stream(db).await?.try_collect().await?;
            Answer::of_models(&models)
        }
        Finish::Json => Answer::of_models(&select.into_json().all(db).await?),
        Finish::Count => Answer::of_models(&[select.count(db).await?]),
        Finish::Page(size, page) => {
            Answer::of_models(&select.paginate(db, *size).fetch_page(*page).await?)
        }
        Finish::Pages(size) => {
            let pages = select.paginate(db, *size).num_items_and_pages().await?;
            Answer::of_models(&[(pages.number_of_items, pages.number_of_pages)])
        }
        _ => Answer::of_models(&select.all(db).await?),
    })
}

async fn many<E, F, C>(db: &C, select: SelectTwoMany<E, F>) -> Result<Answer, DbErr>
where
    E: EntityTrait,
    F: EntityTrait,
    C: ConnectionTrait,
{
    let models = select.all(db).await?;
    Ok(grouped(models))
}

/// The order of the inner models is not promised.
fn grouped<A: std::fmt::Debug, B: std::fmt::Debug>(models: Vec<(A, Vec<B>)>) -> Answer {
    let sorted = models.into_iter().map(|(outer, inner)| {
        let mut inner: Vec<String> = inner.iter().map(|model| format!("{model:?}")).collect();
        inner.sort();
        (outer, inner)
    });
    Answer::of_models(&sorted.collect::<Vec<_>>())
}

async fn together<C: ConnectionTrait + StreamTrait>(
    db: &C,
    find: &Find,
    related: Related,
    backend: DbBackend,
) -> Result<Answer, DbErr> {
    let end = &find.finish;
    let fact = || prepared::<fact::Entity>(find, backend);
    let item = || prepared::<item::Entity>(find, backend);
    match related {
        Related::FactAlsoItem => two(db, fact().find_also_related(item::Entity), end).await,
        Related::FactBothItem => {
            let models = fact().find_both_related(item::Entity).all(db).await?;
            Ok(Answer::of_models(&models))
        }
        Related::FactAlsoOwner => two(db, fact().find_also_related(owner::Entity), end).await,
        Related::FactAlsoTag => two(db, fact().find_also_related(tag::Entity), end).await,
        Related::FactWithItem => many(db, fact().find_with_related(item::Entity)).await,
        Related::FactWithTag => many(db, fact().find_with_related(tag::Entity)).await,
        Related::FactAlsoLinkedTag => two(db, fact().find_also_linked(FactToTag), end).await,
        Related::FactWithLinkedTag => many(db, fact().find_with_linked(FactToTag)).await,
        Related::FactAlsoLinkedParent => two(db, fact().find_also_linked(FactToParent), end).await,
        Related::FactLoadItem => {
            let models = fact().all(db).await?;
            let loaded = models.load_many(item::Entity, db).await?;
            Ok(grouped(models.into_iter().zip(loaded).collect()))
        }
        Related::FactLoadOwner => {
            let models = fact().all(db).await?;
            let loaded = models.load_one(owner::Entity, db).await?;
            let pairs: Vec<_> = models.into_iter().zip(loaded).collect();
            Ok(Answer::of_models(&pairs))
        }
        Related::FactLoadTag => {
            let models = fact().all(db).await?;
            let loaded = models
                .load_many_to_many(tag::Entity, item::Entity, db)
                .await?;
            Ok(grouped(models.into_iter().zip(loaded).collect()))
        }
        Related::ItemAlsoFact => two(db, item().find_also_related(fact::Entity), end).await,
        Related::ItemBothFact => {
            let models = item().find_both_related(fact::Entity).all(db).await?;
            Ok(Answer::of_models(&models))
        }
        Related::ItemAlsoTag => two(db, item().find_also_related(tag::Entity), end).await,
        Related::ItemAlsoLinkedOwner => two(db, item().find_also_linked(ItemToOwner), end).await,
        Related::ItemLoadFact => {
            let models = item().all(db).await?;
            let loaded = models.load_one(fact::Entity, db).await?;
            let pairs: Vec<_> = models.into_iter().zip(loaded).collect();
            Ok(Answer::of_models(&pairs))
        }
        Related::TagWithItem => {
            let select = prepared::<tag::Entity>(find, backend);
            many(db, select.find_with_related(item::Entity)).await
        }
        Related::OwnerWithFact => {
            let select = prepared::<owner::Entity>(find, backend);
            many(db, select.find_with_related(fact::Entity)).await
        }
    }
}
