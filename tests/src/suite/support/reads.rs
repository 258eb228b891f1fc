//! Conditions, orders and pages.

use sea_orm::sea_query::{
    CaseStatement, Expr, ExprTrait, Func, NullOrdering, Query, SelectStatement,
};
use sea_orm::{DbBackend, Order};

use super::construct::{Construct, Section};
use super::shop::{remark, sale, visit};

/// `SELECT id FROM sale`.
pub(super) fn ids() -> SelectStatement {
    Query::select()
        .column(sale::Column::Id)
        .from(sale::Entity)
        .take()
}

pub(super) fn id() -> Expr {
    Expr::col(sale::Column::Id)
}

pub(super) fn col(column: sale::Column) -> Expr {
    Expr::col(column)
}

/// `SELECT id FROM sale WHERE …`.
pub(super) fn sales(condition: Expr) -> SelectStatement {
    ids().and_where(condition).take()
}

pub(super) fn filters() -> Section {
    let case: Expr = CaseStatement::new()
        .case(col(sale::Column::Price).gt(30), 1)
        .finally(0)
        .into();
    let tuples = Expr::tuple([id(), col(sale::Column::Shop)]);
    Section {
        title: "Conditions",
        text: "A condition on the sharding key narrows the route; any other condition is asked of \
               each table.",
        constructs: vec![
            Construct::rows("no condition", ids()),
            Construct::rows("the key is a value", sales(id().eq(7))),
            Construct::rows("a value on the left", sales(Expr::val(7).eq(id()))),
            Construct::rows(
                "the key is in a list of one table",
                sales(id().is_in([3, 7, 11])),
            ),
            Construct::rows(
                "the key is in a list of several tables",
                sales(id().is_in([3, 4])),
            )
            .note("Only the tables of these keys are reached."),
            Construct::rows(
                "the key is in an empty list",
                sales(id().is_in(Vec::<i64>::new())),
            )
            .note("One table is asked, for the columns."),
            Construct::rows("a range of keys", sales(id().between(3, 9)))
                .note("Which strategies narrow on ranges: see [strategies](strategies.md)."),
            Construct::rows("not this key", sales(id().ne(7))),
            Construct::rows("the key is NULL", sales(id().is_null())),
            Construct::rows(
                "the key and something else",
                sales(id().eq(7).and(col(sale::Column::Shop).eq(2))),
            ),
            Construct::rows("keys of one table, by OR", sales(id().eq(3).or(id().eq(7)))),
            Construct::rows(
                "the key or something else",
                sales(id().eq(7).or(col(sale::Column::Shop).eq(3))),
            ),
            Construct::rows("a contradiction", sales(id().eq(1).and(id().eq(2)))),
            Construct::rows(
                "pairs of the key and another column",
                sales(tuples.in_tuples([(7_i64, 2_i32), (8, 3)])),
            ),
            Construct::rows("another column", sales(col(sale::Column::Shop).eq(2))),
            Construct::rows("LIKE", sales(col(sale::Column::Note).like("g%"))),
            Construct::rows("IS NULL", sales(col(sale::Column::Price).is_null())),
            Construct::rows("computed values", sales(id().modulo(10).eq(7))),
            Construct::rows("CASE", sales(case.eq(1))),
            Construct::rows(
                "text of SQL beside",
                sales(Expr::cust("price > 10 OR shop = 1")),
            )
            .note("Text does not narrow, and must not name a sharded table."),
        ],
    }
}

pub(super) fn orders() -> Section {
    let by = |column: sale::Column, order| {
        Query::select()
            .columns([column, sale::Column::Id])
            .from(sale::Entity)
            .order_by(column, order)
            .order_by(sale::Column::Id, Order::Asc)
            .take()
    };
    let price = || col(sale::Column::Price);
    let mut nulls = ids();
    nulls
        .order_by_with_nulls(sale::Column::Price, Order::Desc, NullOrdering::Last)
        .order_by(sale::Column::Id, Order::Asc);
    let mut computed = ids();
    computed
        .order_by_expr(id().modulo(10), Order::Asc)
        .order_by(sale::Column::Id, Order::Asc);
    let mut alias = ids();
    alias
        .expr_as(price().add(1), "more")
        .order_by("more", Order::Asc)
        .order_by(sale::Column::Id, Order::Asc);
    let mut lower = ids();
    lower
        .order_by_expr(Func::lower(col(sale::Column::Note)).into(), Order::Asc)
        .order_by(sale::Column::Id, Order::Asc);
    let mut listed = ids();
    listed
        .order_by(
            sale::Column::Shop,
            Order::Field(sea_orm::sea_query::Values(vec![3.into(), 1.into()])),
        )
        .order_by(sale::Column::Id, Order::Asc);
    let loose = Query::select()
        .columns([remark::Column::Words, remark::Column::Id])
        .from(remark::Entity)
        .order_by(remark::Column::Words, Order::Asc)
        .order_by(remark::Column::Id, Order::Asc)
        .take();
    Section {
        title: "Order",
        text: "",
        constructs: vec![
            Construct::ordered(
                "by the key",
                ids().order_by(sale::Column::Id, Order::Asc).take(),
            ),
            Construct::ordered(
                "descending, then another",
                by(sale::Column::Shop, Order::Desc),
            ),
            Construct::ordered(
                "by a column with NULLs",
                by(sale::Column::Price, Order::Asc),
            ),
            Construct::ordered("NULLS FIRST, NULLS LAST", nulls),
            Construct::ordered("by a time", by(sale::Column::Sold, Order::Desc)),
            Construct::ordered(
                "by text of a binary collation",
                by(sale::Column::Note, Order::Asc),
            ),
            Construct::ordered("by text of another collation", loose)
                .note("The database ranks the words of several tables."),
            Construct::ordered(
                "by a column that is not selected",
                ids().order_by(sale::Column::Sold, Order::Desc).take(),
            ),
            Construct::ordered("by a computed value", computed),
            Construct::ordered("by an alias", alias),
            Construct::ordered("by computed text", lower),
            Construct::ordered("by a list of values", listed),
        ],
    }
}

pub(super) fn pages() -> Section {
    let by_price = || {
        Query::select()
            .columns([sale::Column::Price, sale::Column::Id])
            .from(sale::Entity)
            .order_by(sale::Column::Price, Order::Asc)
            .order_by(sale::Column::Id, Order::Asc)
            .take()
    };
    let visits = Query::select()
        .column(visit::Column::Id)
        .from(visit::Entity)
        .order_by(visit::Column::Id, Order::Desc)
        .limit(3)
        .take();
    Section {
        title: "Pages",
        text: "",
        constructs: vec![
            Construct::ordered("LIMIT", by_price().limit(5).take()),
            Construct::ordered("LIMIT and OFFSET", by_price().limit(5).offset(10).take()),
            Construct::ordered("OFFSET alone", by_price().offset(30).take())
                .absent(&[DbBackend::MySql, DbBackend::Sqlite]),
            Construct::ordered("the last rows", visits),
            Construct::counted("LIMIT without an order", ids().limit(5).take())
                .note("Which rows come is the database's choice, as it is over one table."),
            Construct::ordered("LIMIT 0", by_price().limit(0).take()),
            Construct::ordered(
                "a page of one table",
                by_price()
                    .and_where(id().is_in([3, 7, 11]))
                    .limit(1)
                    .offset(1)
                    .take(),
            ),
        ],
    }
}
