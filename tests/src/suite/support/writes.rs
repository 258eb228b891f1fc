//! Writes and transactions.

use sea_orm::sea_query::{Expr, ExprTrait, InsertStatement, OnConflict, Query, UpdateStatement};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, IntoActiveModel,
    ModelTrait, Order, QueryFilter, QueryTrait, Set, TransactionTrait,
};

use super::construct::{Construct, Section, call};
use super::reads::{col, id, ids};
use super::shop::{country, item, job, sale};

fn row(id: i64) -> sale::ActiveModel {
    sale::Model {
        id,
        shop: 1,
        country: 1,
        price: Some(5),
        note: "new".to_owned(),
        sold: "2024-06-01T00:00:00Z".parse().unwrap(),
    }
    .into_active_model()
}

fn insert(keys: &[i64]) -> InsertStatement {
    sale::Entity::insert_many(keys.iter().map(|key| row(*key))).into_query()
}

pub(super) fn inserts() -> Section {
    let with = |conflict: OnConflict| insert(&[4, 100]).on_conflict(conflict).take();
    let of_select = Query::insert()
        .into_table(item::Entity)
        .columns([
            item::Column::Id,
            item::Column::SaleId,
            item::Column::Product,
        ])
        .select_from(
            Query::select()
                .expr(id().add(1000))
                .columns([sale::Column::Id, sale::Column::Shop])
                .from(sale::Entity)
                .take(),
        )
        .unwrap()
        .take();
    let jobs = job::Entity::insert(
        job::Model {
            id: 9,
            name: "new".to_owned(),
        }
        .into_active_model(),
    );
    let countries = country::Entity::insert(
        country::Model {
            id: 9,
            name: "new".to_owned(),
        }
        .into_active_model(),
    );
    Section {
        title: "INSERT",
        text: "",
        constructs: vec![
            Construct::insert("one row", insert(&[100])),
            Construct::insert("rows of one table", insert(&[100, 104])),
            Construct::insert(
                "rows of several tables of one data source",
                insert(&[100, 102]),
            ),
            Construct::insert("rows of several data sources", insert(&[100, 101])),
            Construct::insert(
                "RETURNING",
                insert(&[100, 102]).returning_col(sale::Column::Id).take(),
            )
            .returned()
            .absent(&[DbBackend::MySql]),
            Construct::insert(
                "ON CONFLICT of a key with the sharding key",
                with(
                    OnConflict::column(sale::Column::Id)
                        .update_column(sale::Column::Note)
                        .to_owned(),
                ),
            ),
            Construct::insert(
                "ON CONFLICT DO NOTHING",
                with(
                    OnConflict::column(sale::Column::Id)
                        .do_nothing_on([sale::Column::Id])
                        .to_owned(),
                ),
            ),
            Construct::insert("the rows of a SELECT", of_select),
            call!(
                "an active model's insert",
                "sale.insert(db)",
                db => row(100).insert(db).await
            )
            .written(),
            call!(
                "an active model's save",
                "sale.save(db)",
                db => {
                    let mut one = sale_of(db, 4).await?.into_active_model();
                    one.note = Set("changed".to_owned());
                    one.save(db).await
                }
            )
            .written(),
            Construct::insert("into a table of one data source", jobs.into_query()),
            Construct::insert("into a broadcast table", countries.into_query()),
        ],
    }
}

async fn sale_of(db: &impl ConnectionTrait, key: i64) -> Result<sale::Model, DbErr> {
    let found = sale::Entity::find_by_id(key).one(db).await?;
    found.ok_or(DbErr::RecordNotFound("sale".to_owned()))
}

fn update(condition: Expr) -> UpdateStatement {
    Query::update()
        .table(sale::Entity)
        .value(sale::Column::Shop, col(sale::Column::Shop).add(10))
        .and_where(condition)
        .take()
}

pub(super) fn updates() -> Section {
    let of_items = Query::select()
        .column(item::Column::SaleId)
        .from(item::Entity)
        .take();
    let delete = |condition: Expr| {
        Query::delete()
            .from_table(sale::Entity)
            .and_where(condition)
            .take()
    };
    let moved = |condition: Expr, to: i64| {
        Query::update()
            .table(sale::Entity)
            .value(sale::Column::Id, to)
            .and_where(condition)
            .take()
    };
    Section {
        title: "UPDATE and DELETE",
        text: "",
        constructs: vec![
            Construct::update("UPDATE of one row by the key", update(id().eq(4))),
            Construct::update(
                "UPDATE of several tables of one data source",
                update(id().is_in([4, 6])),
            ),
            Construct::update(
                "UPDATE by another column",
                update(col(sale::Column::Country).eq(1)),
            ),
            Construct::update("UPDATE without a match", update(id().eq(1).and(id().eq(2)))),
            Construct::update(
                "UPDATE RETURNING",
                update(id().is_in([4, 6]))
                    .returning_col(sale::Column::Shop)
                    .take(),
            )
            .returned()
            .absent(&[DbBackend::MySql]),
            Construct::update("UPDATE with LIMIT", update(id().lt(9)).limit(50).take())
                .absent(&[DbBackend::Sqlite, DbBackend::Postgres]),
            Construct::update(
                "UPDATE of the key, to a place of its own",
                moved(id().eq(4), 105),
            ),
            Construct::update(
                "UPDATE of the key, within its table",
                moved(id().eq(4), 104),
            ),
            Construct::update(
                "UPDATE that reads a sharded table",
                update(id().in_subquery(of_items.clone())),
            ),
            Construct::delete("DELETE of one row by the key", delete(id().eq(4))),
            Construct::delete(
                "DELETE of several tables of one data source",
                delete(id().is_in([4, 6])),
            ),
            Construct::delete(
                "DELETE by another column",
                delete(col(sale::Column::Country).eq(1)),
            ),
            Construct::delete(
                "DELETE of all rows",
                Query::delete().from_table(sale::Entity).take(),
            ),
            Construct::delete(
                "DELETE RETURNING",
                delete(id().is_in([4, 6]))
                    .returning_col(sale::Column::Shop)
                    .take(),
            )
            .returned()
            .absent(&[DbBackend::MySql]),
            Construct::delete(
                "DELETE that reads a sharded table",
                delete(id().in_subquery(of_items)),
            ),
            call!(
                "a model's delete",
                "sale.delete(db)",
                db => sale_of(db, 4).await?.delete(db).await.map(|done| done.rows_affected)
            )
            .written(),
        ],
    }
}

pub(super) fn transactions() -> Section {
    Section {
        title: "Transactions",
        text: "A transaction is on the data source of its first statement.",
        constructs: vec![
            call!(
                "over several tables",
                "db.begin(); update 4; update 6; commit()",
                db => {
                    let transaction = db.begin().await?;
                    let rows = both(&transaction, [4, 6]).await?;
                    transaction.commit().await.map(|()| rows)
                }
            )
            .written(),
            call!(
                "rolled back",
                "db.begin(); update 4; update 6; rollback()",
                db => {
                    let transaction = db.begin().await?;
                    let rows = both(&transaction, [4, 6]).await?;
                    transaction.rollback().await.map(|()| rows)
                }
            )
            .written(),
            call!(
                "a savepoint",
                "db.begin(); update 4; begin(); update 6; rollback(); commit()",
                db => {
                    let transaction = db.begin().await?;
                    let mut rows = shop(&transaction, 4).await?;
                    let savepoint = transaction.begin().await?;
                    rows += shop(&savepoint, 6).await?;
                    savepoint.rollback().await?;
                    transaction.commit().await.map(|()| rows)
                }
            )
            .written(),
            call!(
                "over two data sources",
                "db.begin(); update 4; update 5; commit()",
                db => {
                    let transaction = db.begin().await?;
                    let rows = both(&transaction, [4, 5]).await?;
                    transaction.commit().await.map(|()| rows)
                }
            )
            .written(),
            call!(
                "a query of all tables within",
                "db.begin(); Sale::find().all(&transaction)",
                db => {
                    let transaction = db.begin().await?;
                    let query = ids().order_by(sale::Column::Id, Order::Asc).take();
                    let rows = transaction.query_all(&query).await?.len();
                    transaction.commit().await.map(|()| rows)
                }
            ),
        ],
    }
}

async fn shop(db: &impl ConnectionTrait, key: i64) -> Result<u64, DbErr> {
    let update = sale::Entity::update_many()
        .col_expr(sale::Column::Shop, Expr::value(70))
        .filter(sale::Column::Id.eq(key));
    update.exec(db).await.map(|done| done.rows_affected)
}

async fn both(db: &impl ConnectionTrait, keys: [i64; 2]) -> Result<u64, DbErr> {
    Ok(shop(db, keys[0]).await? + shop(db, keys[1]).await?)
}
