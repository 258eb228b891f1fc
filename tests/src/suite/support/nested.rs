//! Statements within statements.

use sea_orm::Order;
use sea_orm::sea_query::{
    CommonTableExpression, Expr, ExprTrait, Query, SelectStatement, UnionType, WithClause,
};

use super::construct::{Construct, Section};
use super::joins::{at, on_key};
use super::reads::{col, id, ids, sales};
use super::shop::{country, item, job, sale};

/// `SELECT sale_id FROM item WHERE …`.
fn sales_of_items(condition: Expr) -> SelectStatement {
    Query::select()
        .column(item::Column::SaleId)
        .from(item::Entity)
        .and_where(condition)
        .take()
}

fn items(on: Expr) -> SelectStatement {
    Query::select()
        .expr(Expr::val(1))
        .from(item::Entity)
        .and_where(on)
        .take()
}

/// `SELECT shop, SUM(price) AS total FROM sale GROUP BY shop`.
fn totals() -> SelectStatement {
    Query::select()
        .column(sale::Column::Shop)
        .expr_as(col(sale::Column::Price).sum(), "total")
        .from(sale::Entity)
        .group_by_col(sale::Column::Shop)
        .take()
}

fn from(inner: SelectStatement) -> SelectStatement {
    Query::select()
        .column("id")
        .from_subquery(inner, "x")
        .take()
}

pub(super) fn subqueries() -> Section {
    let many = || Expr::col(item::Column::Pieces).gt(2);
    let by_product = || at!(item.Product).equals((sale::Entity, sale::Column::Shop));
    let count = Query::select()
        .expr(Expr::cust("COUNT(*)"))
        .from(item::Entity)
        .and_where(on_key())
        .take();
    let most = Query::select().expr(id().max()).from(sale::Entity).take();
    let in_asia = Query::select()
        .column(country::Column::Id)
        .from(country::Entity)
        .and_where(Expr::col(country::Column::Name).eq("Japan"))
        .take();
    let jobs = Query::select()
        .column(job::Column::Id)
        .from(job::Entity)
        .take();
    let shops = Query::select()
        .column(sale::Column::Shop)
        .from(sale::Entity)
        .and_where(id().gt(37))
        .take();
    let top = sales(id().gt(5))
        .order_by(sale::Column::Id, Order::Asc)
        .limit(10)
        .take();
    Section {
        title: "Subqueries",
        text: "A subquery is answered in every data source where it is tied to the row that it is \
               for by the sharding keys, or reads a broadcast table.",
        constructs: vec![
            Construct::rows(
                "key IN (SELECT key)",
                sales(id().in_subquery(sales_of_items(many()))),
            ),
            Construct::rows(
                "key NOT IN (SELECT key)",
                sales(id().not_in_subquery(sales_of_items(many()))),
            ),
            Construct::rows(
                "EXISTS by the keys",
                ids().and_where(Expr::exists(items(on_key()))).take(),
            ),
            Construct::rows(
                "NOT EXISTS by the keys",
                ids().and_where(Expr::exists(items(on_key())).not()).take(),
            ),
            Construct::rows(
                "EXISTS by other columns",
                ids().and_where(Expr::exists(items(by_product()))).take(),
            ),
            Construct::rows(
                "a value for each row, by the keys",
                ids().expr_as(count, "items").take(),
            ),
            Construct::rows(
                "IN (SELECT) of another column",
                sales(col(sale::Column::Shop).in_subquery(shops)),
            ),
            Construct::rows("a value of all rows", sales(id().eq(Expr::from(most)))),
            Construct::rows(
                "of a broadcast table",
                sales(col(sale::Column::Country).in_subquery(in_asia)),
            ),
            Construct::rows(
                "of a table of one data source",
                sales(col(sale::Column::Shop).in_subquery(jobs)),
            ),
            Construct::rows("FROM (SELECT rows)", from(sales(id().gt(5)))),
            Construct::ordered(
                "FROM (SELECT rows) with an order and a page",
                from(sales(id().gt(5)))
                    .order_by("id", Order::Desc)
                    .limit(5)
                    .take(),
            ),
            Construct::rows(
                "FROM (SELECT groups)",
                Query::select()
                    .columns(["shop", "total"])
                    .from_subquery(totals(), "x")
                    .take(),
            ),
            Construct::rows("FROM (SELECT a page)", from(top)),
            Construct::rows(
                "everything within one table",
                sales(
                    id().eq(7).and(
                        id().in_subquery(sales_of_items(Expr::col(item::Column::SaleId).eq(7))),
                    ),
                ),
            ),
        ],
    }
}

pub(super) fn sets() -> Section {
    let shops = |condition: Expr| {
        Query::select()
            .column(sale::Column::Shop)
            .from(sale::Entity)
            .and_where(condition)
            .take()
    };
    let two = |kind| sales(id().lt(25)).union(kind, sales(id().gte(15))).take();
    let two_shops = |kind| shops(id().lt(3)).union(kind, shops(id().gte(37))).take();
    let with_items = sales(id().lt(9))
        .union(
            UnionType::All,
            sales_of_items(Expr::col(item::Column::Id).lt(9)),
        )
        .take();
    let with_countries = shops(id().lt(9))
        .union(
            UnionType::All,
            Query::select()
                .column(country::Column::Id)
                .from(country::Entity)
                .take(),
        )
        .take();
    let with_jobs = shops(id().lt(9))
        .union(
            UnionType::All,
            Query::select()
                .column(job::Column::Id)
                .from(job::Entity)
                .take(),
        )
        .take();
    Section {
        title: "Set operations",
        text: "",
        constructs: vec![
            Construct::rows("UNION ALL", two_shops(UnionType::All)),
            Construct::rows("UNION ALL of two sharded tables", with_items),
            Construct::ordered(
                "UNION ALL with an order and a page",
                two(UnionType::All)
                    .order_by("id", Order::Asc)
                    .limit(10)
                    .offset(10)
                    .take(),
            ),
            Construct::rows("UNION", two_shops(UnionType::Distinct)),
            Construct::rows("INTERSECT with the key", two(UnionType::Intersect)),
            Construct::rows("EXCEPT with the key", two(UnionType::Except)),
            Construct::rows("INTERSECT without the key", two_shops(UnionType::Intersect)),
            Construct::rows("EXCEPT without the key", two_shops(UnionType::Except)),
            Construct::rows("UNION ALL with a broadcast table", with_countries),
            Construct::rows("UNION ALL with a table of one data source", with_jobs),
            Construct::rows("FROM (SELECT UNION ALL)", from(two(UnionType::All))),
            Construct::rows(
                "of one table",
                sales(id().eq(3))
                    .union(UnionType::Distinct, sales(id().eq(7)))
                    .take(),
            ),
        ],
    }
}

fn named(name: &'static str, query: SelectStatement) -> WithClause {
    WithClause::new()
        .cte(
            CommonTableExpression::new()
                .table_name(name)
                .query(query)
                .to_owned(),
        )
        .to_owned()
}

pub(super) fn common_tables() -> Section {
    let from_x = || Query::select().column("id").from("x").take();
    let joined = Query::select()
        .expr_as(at!(item.Id), "item")
        .from(item::Entity)
        .inner_join(
            "x",
            Expr::col(("x", "id")).equals((item::Entity, item::Column::SaleId)),
        )
        .take();
    let of_countries = Query::select()
        .expr_as(at!(sale.Id), "sale")
        .from(sale::Entity)
        .inner_join(
            "x",
            Expr::col(("x", "id")).equals((sale::Entity, sale::Column::Country)),
        )
        .take();
    let countries = Query::select()
        .column(country::Column::Id)
        .from(country::Entity)
        .take();
    let totals_of_x = Query::select().columns(["shop", "total"]).from("x").take();
    let numbers = Query::select()
        .expr_as(Expr::val(1), "id")
        .union(
            UnionType::All,
            Query::select()
                .expr_as(Expr::col(("x", "id")).add(1), "id")
                .from("x")
                .and_where(Expr::col(("x", "id")).lt(5))
                .take(),
        )
        .take();
    let recursive = WithClause::new()
        .recursive(true)
        .cte(
            CommonTableExpression::new()
                .table_name("x")
                .column("id")
                .query(numbers)
                .to_owned(),
        )
        .to_owned();
    let by_number = Query::select()
        .expr_as(at!(sale.Id), "sale")
        .from(sale::Entity)
        .inner_join(
            "x",
            Expr::col(("x", "id")).equals((sale::Entity, sale::Column::Shop)),
        )
        .take();
    Section {
        title: "Common table expressions",
        text: "",
        constructs: vec![
            Construct::with("WITH rows", from_x().with(named("x", sales(id().gt(5))))),
            Construct::with(
                "WITH rows, joined by the keys",
                joined.with(named("x", sales(id().gt(5)))),
            ),
            Construct::with("WITH groups", totals_of_x.with(named("x", totals()))),
            Construct::with(
                "WITH rows of a broadcast table",
                of_countries.with(named("x", countries)),
            ),
            Construct::with(
                "WITH rows of one table",
                from_x().with(named("x", sales(id().eq(7)))),
            ),
            Construct::with(
                "WITH RECURSIVE beside a sharded table",
                by_number.with(recursive),
            ),
        ],
    }
}
