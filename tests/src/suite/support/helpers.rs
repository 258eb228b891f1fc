//! Calls of SeaORM, and SQL as text.

use futures_util::TryStreamExt;
use sea_orm::sea_query::{Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, LoaderTrait, ModelTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait, SelectExt, Statement,
};

use super::construct::{Section, call};
use super::shop::{country, item, job, sale};

fn by_id() -> sea_orm::Select<sale::Entity> {
    sale::Entity::find().order_by_asc(sale::Column::Id)
}

fn items() -> sea_orm::Select<item::Entity> {
    item::Entity::find().order_by_asc(item::Column::Id)
}

fn different_shops() -> sea_orm::Select<sale::Entity> {
    sale::Entity::find()
        .select_only()
        .column(sale::Column::Shop)
        .distinct()
}

/// The count that SeaORM asks for.
fn count_of(query: SelectStatement) -> SelectStatement {
    Query::select()
        .expr_as(Expr::cust("COUNT(*)"), "num_items")
        .from_subquery(query, "sub_query")
        .take()
}

fn at_shop() -> sea_orm::Select<sale::Entity> {
    sale::Entity::find().filter(sale::Column::Shop.eq(3))
}

fn notes() -> sea_orm::Select<sale::Entity> {
    by_id().select_only().column(sale::Column::Note)
}

/// What a cursor behind a shop and an id asks for.
fn after(shop: i32, id: i64) -> SelectStatement {
    let same = sale::Column::Shop.eq(shop).and(sale::Column::Id.gt(id));
    sale::Entity::find()
        .filter(sale::Column::Shop.gt(shop).or(same))
        .order_by_asc(sale::Column::Shop)
        .order_by_asc(sale::Column::Id)
        .limit(5)
        .into_query()
}

pub(super) fn calls() -> Section {
    let find = sale::Entity::find;
    Section {
        title: "Calls of SeaORM",
        text: "`Sale` and `Item` are the entities.",
        constructs: vec![
            call!(
                "all",
                "Sale::find().order_by_asc(Id).all(db)",
                as by_id().into_query(),
                db => by_id().all(db).await
            ),
            call!(
                "one",
                "Sale::find().order_by_asc(Id).one(db)",
                as by_id().limit(1).into_query(),
                db => by_id().one(db).await
            ),
            call!(
                "find_by_id",
                "Sale::find_by_id(7).one(db)",
                as sale::Entity::find_by_id(7).limit(1).into_query(),
                db => sale::Entity::find_by_id(7).one(db).await
            ),
            call!(
                "stream",
                "Sale::find().order_by_asc(Id).stream(db)",
                as by_id().into_query(),
                db => by_id().stream(db).await?.try_collect::<Vec<_>>().await
            ),
            call!(
                "count",
                "Sale::find().count(db)",
                as count_of(find().into_query()),
                db => sale::Entity::find().count(db).await
            ),
            call!(
                "count of distinct rows",
                "Sale::find().select_only().column(Shop).distinct().count(db)",
                as count_of(different_shops().into_query()),
                db => different_shops().count(db).await
            ),
            call!(
                "count of a page",
                "Sale::find().limit(20).offset(30).count(db)",
                as count_of(by_id().limit(20).offset(30).into_query()),
                db => by_id().limit(20).offset(30).count(db).await
            ),
            call!(
                "exists",
                "Sale::find().filter(Shop.eq(3)).exists(db)",
                db => at_shop().exists(db).await
            ),
            call!(
                "paginate, fetch_page",
                "Sale::find().order_by_asc(Id).paginate(db, 7).fetch_page(3)",
                as by_id().limit(7).offset(21).into_query(),
                db => by_id().paginate(db, 7).fetch_page(3).await
            ),
            call!(
                "paginate, num_items_and_pages",
                "Sale::find().paginate(db, 7).num_items_and_pages()",
                as count_of(find().into_query()),
                db => {
                    let found = by_id().paginate(db, 7).num_items_and_pages().await?;
                    Ok((found.number_of_items, found.number_of_pages))
                }
            ),
            call!(
                "cursor_by",
                "Sale::find().cursor_by(Id).after(9).first(5).all(db)",
                as by_id().filter(sale::Column::Id.gt(9)).limit(5).into_query(),
                db => {
                    let mut cursor = sale::Entity::find().cursor_by(sale::Column::Id);
                    cursor.after(9).first(5).all(db).await
                }
            ),
            call!(
                "cursor_by, backwards",
                "Sale::find().cursor_by(Id).before(9).last(5).all(db)",
                as find()
                    .filter(sale::Column::Id.lt(9))
                    .order_by_desc(sale::Column::Id)
                    .limit(5)
                    .into_query(),
                db => {
                    let mut cursor = sale::Entity::find().cursor_by(sale::Column::Id);
                    cursor.before(9).last(5).all(db).await
                }
            ),
            call!(
                "cursor_by two columns",
                "Sale::find().cursor_by((Shop, Id)).after((2, 7)).first(5).all(db)",
                as after(2, 7),
                db => {
                    let columns = (sale::Column::Shop, sale::Column::Id);
                    let mut cursor = sale::Entity::find().cursor_by(columns);
                    cursor.after((2, 7)).first(5).all(db).await
                }
            ),
            call!(
                "into_tuple",
                "Sale::find().select_only().column(Note).order_by_asc(Id).into_tuple().all(db)",
                as notes().into_query(),
                db => notes().into_tuple::<String>().all(db).await
            ),
            call!(
                "into_json",
                "Sale::find().order_by_asc(Id).into_json().all(db)",
                as by_id().into_query(),
                db => by_id().into_json().all(db).await
            ),
        ],
    }
}

pub(super) fn relations() -> Section {
    Section {
        title: "Relations of SeaORM",
        text: "",
        constructs: vec![
            call!(
                "find_also_related, by the keys",
                "Item::find().find_also_related(Sale).all(db)",
                as items().find_also_related(sale::Entity).into_query(),
                db => items().find_also_related(sale::Entity).all(db).await
            ),
            call!(
                "find_with_related, by the keys",
                "Sale::find().find_with_related(Item).all(db)",
                as by_id()
                    .find_with_related(item::Entity)
                    .order_by_asc(item::Column::Id)
                    .into_query(),
                db => {
                    let related = by_id().find_with_related(item::Entity);
                    related.order_by_asc(item::Column::Id).all(db).await
                }
            ),
            call!(
                "find_also_related, a broadcast table",
                "Sale::find().find_also_related(Country).all(db)",
                as by_id().find_also_related(country::Entity).into_query(),
                db => by_id().find_also_related(country::Entity).all(db).await
            ),
            call!(
                "inner_join",
                "Sale::find().inner_join(Item).all(db)",
                as by_id().inner_join(item::Entity).into_query(),
                db => by_id().inner_join(item::Entity).all(db).await
            ),
            call!(
                "find_related",
                "sale.find_related(Item).all(db)",
                as items().filter(item::Column::SaleId.eq(4)).into_query(),
                db => {
                    let one = sale::Entity::find_by_id(4).one(db).await?.ok_or(missing())?;
                    let related = one.find_related(item::Entity);
                    related.order_by_asc(item::Column::Id).all(db).await
                }
            ),
            call!(
                "load_many, by the keys",
                "sales.load_many(Item, db)",
                db => by_id().all(db).await?.load_many(items(), db).await
            ),
            call!(
                "load_one, by the keys",
                "items.load_one(Sale, db)",
                db => items().all(db).await?.load_one(sale::Entity, db).await
            ),
        ],
    }
}

fn missing() -> DbErr {
    DbErr::RecordNotFound("sale".to_owned())
}

/// Asks text.
macro_rules! text {
    ($name:expr, $sql:expr) => {
        call!($name, $sql, db => {
            let statement = Statement::from_string(db.get_database_backend(), $sql);
            let rows = db.query_all_raw(statement).await?;
            rows.iter().map(|row| row.try_get_by_index::<i64>(0)).collect::<Result<Vec<_>, _>>()
        })
    };
}

pub(super) fn raw() -> Section {
    Section {
        title: "SQL as text",
        text: "Text is not parsed. The physical tables can be named on the connection of a data \
               source, `db.source(\"ds0\")`.",
        constructs: vec![
            text!("a sharded table", "SELECT COUNT(*) FROM sale"),
            text!("a broadcast table", "SELECT COUNT(*) FROM country"),
            text!(
                "a table of the default data source",
                "SELECT COUNT(*) FROM job"
            ),
            call!(
                "a definition",
                "CREATE TABLE sale_copy AS SELECT * FROM sale",
                db => {
                    let sql = "CREATE TEMPORARY TABLE sale_copy AS SELECT * FROM sale";
                    db.execute_unprepared(sql).await.map(|_| ())
                }
            ),
            call!(
                "a subquery in text beside",
                "Job::find().filter(Expr::cust(\"id IN (SELECT shop FROM sale)\")).all(db)",
                db => {
                    let text = Expr::cust("id IN (SELECT shop FROM sale)");
                    job::Entity::find().filter(text).all(db).await
                }
            ),
        ],
    }
}
