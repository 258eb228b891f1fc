//! Aggregates, groups and DISTINCT.

use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait, Func, Query, SelectStatement};
use sea_orm::{DbBackend, Order};

use super::construct::{Construct, Section};
use super::reads::{col, id};
use super::shop::{remark, sale};

fn select() -> SelectStatement {
    Query::select().from(sale::Entity).take()
}

/// `SELECT … FROM sale`.
fn one(expr: impl Into<Expr>) -> SelectStatement {
    select().expr_as(expr, "x").take()
}

fn price() -> Expr {
    col(sale::Column::Price)
}

pub(super) fn aggregates() -> Section {
    let mut several = select();
    several
        .expr_as(price().sum(), "sum")
        .expr_as(price().min(), "least")
        .expr_as(id().count(), "count");
    let case: Expr = CaseStatement::new()
        .case(price().gt(30), 1)
        .finally(0)
        .into();
    let loose = Query::select()
        .expr_as(
            Func::max(Func::lower(Expr::col(remark::Column::Words))),
            "x",
        )
        .from(remark::Entity)
        .take();
    Section {
        title: "Aggregates",
        text: "",
        constructs: vec![
            Construct::rows("COUNT(*)", one(Expr::cust("COUNT(*)"))),
            Construct::rows("COUNT of a column", one(price().count())),
            Construct::rows("SUM", one(price().sum())),
            Construct::rows("AVG", one(price().avg())),
            Construct::rows("MIN and MAX of numbers", one(price().max())),
            Construct::rows("MIN and MAX of times", one(col(sale::Column::Sold).max())),
            Construct::rows("MIN and MAX of text", one(col(sale::Column::Note).max())),
            Construct::rows("MIN and MAX of computed text", loose),
            Construct::rows("several at once", several),
            Construct::rows("of a computed value", one(price().mul(2).sum())),
            Construct::rows("of a CASE", one(case.sum())),
            Construct::rows(
                "of no rows",
                one(price().sum()).and_where(id().lt(0)).take(),
            ),
            Construct::rows("COUNT(DISTINCT)", one(price().count_distinct())),
            Construct::rows(
                "COUNT(DISTINCT) of two columns",
                select()
                    .expr_as(price().count_distinct(), "x")
                    .expr_as(col(sale::Column::Shop).count_distinct(), "y")
                    .take(),
            ),
            Construct::rows("SUM(DISTINCT)", one(Expr::cust("SUM(DISTINCT price)")))
                .note("SeaQuery has no such function; text of an aggregate is not looked into."),
            Construct::rows("a sum of aggregates", one(price().max().sub(price().min()))),
            Construct::rows(
                "a function of an aggregate",
                one(Func::coalesce([price().sum(), 0.into()])),
            ),
            Construct::rows(
                "text of all rows",
                one(Expr::cust("STRING_AGG(note, ',' ORDER BY id)")),
            )
            .absent(&[DbBackend::Sqlite, DbBackend::MySql]),
            Construct::rows(
                "text of all rows, as MariaDB has it",
                one(Expr::cust("GROUP_CONCAT(note ORDER BY id)")),
            )
            .absent(&[DbBackend::Sqlite, DbBackend::Postgres]),
        ],
    }
}

/// `SELECT shop, COUNT(id) AS x FROM sale GROUP BY shop`.
fn by_shop() -> SelectStatement {
    let mut query = select();
    query
        .column(sale::Column::Shop)
        .expr_as(id().count(), "x")
        .group_by_col(sale::Column::Shop);
    query
}

pub(super) fn groups() -> Section {
    let mut pairs = select();
    pairs
        .columns([sale::Column::Shop, sale::Column::Country])
        .expr_as(price().sum(), "x")
        .group_by_columns([sale::Column::Shop, sale::Column::Country]);
    let mut unselected = select();
    unselected
        .expr_as(price().sum(), "x")
        .group_by_col(sale::Column::Shop);
    let mut computed = select();
    computed
        .expr_as(Func::abs(price()), "price")
        .expr_as(id().count(), "x")
        .add_group_by([Func::abs(price()).into()]);
    let mut text = select();
    text.column(sale::Column::Note)
        .expr_as(id().count(), "x")
        .group_by_col(sale::Column::Note);
    let loose = Query::select()
        .expr_as(Expr::col(remark::Column::Id).count(), "x")
        .from(remark::Entity)
        .group_by_col(remark::Column::Words)
        .order_by(remark::Column::Words, Order::Asc)
        .take();
    let mut by_id = select();
    by_id
        .column(sale::Column::Id)
        .expr_as(price().sum(), "x")
        .group_by_col(sale::Column::Id);
    Section {
        title: "Groups",
        text: "",
        constructs: vec![
            Construct::rows("GROUP BY a column", by_shop()),
            Construct::rows("GROUP BY several columns", pairs),
            Construct::rows("GROUP BY the key", by_id),
            Construct::rows("GROUP BY a computed value", computed),
            Construct::rows("GROUP BY text of a binary collation", text),
            Construct::ordered("GROUP BY text of another collation", loose),
            Construct::rows("a group's column that is not selected", unselected),
            Construct::ordered(
                "ordered by the group",
                by_shop().order_by(sale::Column::Shop, Order::Desc).take(),
            ),
            Construct::ordered(
                "ordered by an aggregate",
                by_shop()
                    .order_by_expr(price().sum(), Order::Desc)
                    .order_by(sale::Column::Shop, Order::Asc)
                    .take(),
            ),
            Construct::ordered(
                "a page of groups",
                by_shop()
                    .order_by(sale::Column::Shop, Order::Asc)
                    .limit(2)
                    .offset(1)
                    .take(),
            ),
            Construct::rows("HAVING", by_shop().and_having(price().sum().gt(150)).take()),
            Construct::rows(
                "HAVING without GROUP BY",
                one(id().count()).and_having(id().count().gt(50)).take(),
            ),
            Construct::rows(
                "COUNT(DISTINCT) of groups",
                by_shop()
                    .expr_as(col(sale::Column::Country).count_distinct(), "y")
                    .take(),
            ),
            Construct::rows(
                "an aggregate over an aggregate",
                by_shop()
                    .expr_as(price().sum().div(id().count()), "y")
                    .take(),
            ),
            Construct::rows(
                "groups of one table",
                by_shop().and_where(id().is_in([3, 7, 11])).take(),
            ),
        ],
    }
}

pub(super) fn distinct() -> Section {
    let shops = || select().distinct().column(sale::Column::Shop).take();
    let loose = Query::select()
        .distinct()
        .expr_as(Func::lower(Expr::col(remark::Column::Words)), "x")
        .from(remark::Entity)
        .take();
    let first = select()
        .distinct_on([sale::Column::Shop])
        .columns([sale::Column::Shop, sale::Column::Id])
        .order_by(sale::Column::Shop, Order::Asc)
        .order_by(sale::Column::Id, Order::Desc)
        .take();
    let count = Query::select()
        .expr_as(Expr::cust("COUNT(*)"), "x")
        .from_subquery(shops(), "shops")
        .take();
    Section {
        title: "DISTINCT",
        text: "",
        constructs: vec![
            Construct::rows("of a column", shops()),
            Construct::rows(
                "of several columns",
                shops().column(sale::Column::Country).take(),
            ),
            Construct::rows("with the key", shops().column(sale::Column::Id).take()),
            Construct::rows(
                "of text of a binary collation",
                select().distinct().column(sale::Column::Note).take(),
            ),
            Construct::rows("of computed text", loose),
            Construct::rows(
                "of a computed value",
                select().distinct().expr_as(id().modulo(7), "x").take(),
            ),
            Construct::ordered(
                "with an order and a page",
                shops()
                    .order_by(sale::Column::Shop, Order::Desc)
                    .limit(2)
                    .offset(1)
                    .take(),
            ),
            Construct::ordered("DISTINCT ON", first).absent(&[DbBackend::Sqlite, DbBackend::MySql]),
            Construct::rows("a count of distinct rows", count),
            Construct::rows(
                "of one table",
                shops().and_where(id().is_in([3, 7, 23])).take(),
            ),
        ],
    }
}
