//! Joins.

use sea_orm::sea_query::{Alias, Expr, ExprTrait, IntoIden, JoinType, Query, SelectStatement};
use sea_orm::{DbBackend, Order};

use super::construct::{Construct, Section};
use super::shop::{country, item, job, sale, visit};

/// A column of a table.
macro_rules! at {
    ($table:ident.$column:ident) => {
        Expr::col(($table::Entity, $table::Column::$column))
    };
}
pub(super) use at;

/// `item.sale_id = sale.id`.
pub(super) fn on_key() -> Expr {
    at!(item.SaleId).equals((sale::Entity, sale::Column::Id))
}

/// `SELECT sale.id, item.id FROM sale … JOIN item ON …`.
fn with_items(kind: JoinType, on: Expr) -> SelectStatement {
    Query::select()
        .expr_as(at!(sale.Id), "sale")
        .expr_as(at!(item.Id), "item")
        .from(sale::Entity)
        .join(kind, item::Entity, on)
        .take()
}

/// `SELECT sale.id, country.name FROM sale … JOIN country ON …`.
fn with_countries(kind: JoinType) -> SelectStatement {
    Query::select()
        .expr_as(at!(sale.Id), "sale")
        .expr_as(at!(country.Name), "name")
        .from(sale::Entity)
        .join(
            kind,
            country::Entity,
            at!(country.Id).equals((sale::Entity, sale::Column::Country)),
        )
        .take()
}

pub(super) fn joins() -> Section {
    let inner = || with_items(JoinType::InnerJoin, on_key());
    let three = inner()
        .expr_as(at!(country.Name), "name")
        .inner_join(
            country::Entity,
            at!(country.Id).equals((sale::Entity, sale::Column::Country)),
        )
        .take();
    let by_country = Query::select()
        .expr_as(at!(country.Name), "name")
        .expr_as(at!(sale.Price).sum(), "x")
        .from(sale::Entity)
        .inner_join(
            country::Entity,
            at!(country.Id).equals((sale::Entity, sale::Column::Country)),
        )
        .group_by_col((country::Entity, country::Column::Name))
        .take();
    let sums = Query::select()
        .expr_as(at!(sale.Shop), "shop")
        .expr_as(at!(item.Pieces).sum(), "x")
        .from(sale::Entity)
        .inner_join(item::Entity, on_key())
        .group_by_col((sale::Entity, sale::Column::Shop))
        .take();
    let countries_first = Query::select()
        .expr_as(at!(country.Name), "name")
        .expr_as(at!(sale.Id), "sale")
        .from(country::Entity)
        .left_join(
            sale::Entity,
            at!(country.Id).equals((sale::Entity, sale::Column::Country)),
        )
        .take();
    let jobs = Query::select()
        .expr_as(at!(sale.Id), "sale")
        .expr_as(at!(job.Name), "job")
        .from(sale::Entity)
        .inner_join(
            job::Entity,
            at!(job.Id).equals((sale::Entity, sale::Column::Shop)),
        )
        .take();
    let job_of_one = jobs.clone().and_where(at!(sale.Id).eq(6)).take();
    let visits = Query::select()
        .expr_as(at!(sale.Id), "sale")
        .expr_as(at!(visit.Id), "visit")
        .from(sale::Entity)
        .inner_join(
            visit::Entity,
            at!(visit.Id).equals((sale::Entity, sale::Column::Id)),
        )
        .take();
    let (a, b) = (Alias::new("a").into_iden(), Alias::new("b").into_iden());
    let with_itself = |on: Expr| {
        Query::select()
            .expr_as(Expr::col((a.clone(), sale::Column::Id)), "one")
            .expr_as(Expr::col((b.clone(), sale::Column::Id)), "other")
            .from_as(sale::Entity, a.clone())
            .join_as(JoinType::InnerJoin, sale::Entity, b.clone(), on)
            .take()
    };
    let a_id = || Expr::col((a.clone(), sale::Column::Id));
    let b_id = || Expr::col((b.clone(), sale::Column::Id));
    Section {
        title: "Joins",
        text: "Tables are joined in every data source where their rows are sure to be together: \
               both sharded alike and joined by their keys, or one of them a broadcast table.",
        constructs: vec![
            Construct::rows(
                "with a broadcast table",
                with_countries(JoinType::InnerJoin),
            ),
            Construct::rows(
                "LEFT JOIN of a broadcast table",
                with_countries(JoinType::LeftJoin),
            ),
            Construct::ordered(
                "ordered by the broadcast table",
                with_countries(JoinType::InnerJoin)
                    .order_by("name", Order::Asc)
                    .order_by("sale", Order::Asc)
                    .take(),
            ),
            Construct::rows("grouped by the broadcast table", by_country),
            Construct::rows("LEFT JOIN from a broadcast table", countries_first)
                .note("Each data source would add the countries that have no sale there."),
            Construct::rows("INNER JOIN by the keys", inner()),
            Construct::rows(
                "LEFT JOIN by the keys",
                with_items(JoinType::LeftJoin, on_key()),
            ),
            Construct::rows(
                "RIGHT JOIN by the keys",
                with_items(JoinType::RightJoin, on_key()),
            ),
            Construct::rows(
                "FULL JOIN by the keys",
                with_items(JoinType::FullOuterJoin, on_key()),
            )
            .absent(&[DbBackend::MySql]),
            Construct::rows(
                "by the keys and more",
                with_items(
                    JoinType::InnerJoin,
                    on_key().and(at!(item.Product).equals((sale::Entity, sale::Column::Shop))),
                ),
            ),
            Construct::rows(
                "LEFT JOIN without a match",
                with_items(JoinType::LeftJoin, on_key())
                    .and_where(at!(item.Id).is_null())
                    .take(),
            ),
            Construct::rows("three tables", three),
            Construct::ordered(
                "a page of a join",
                inner()
                    .order_by("sale", Order::Desc)
                    .order_by("item", Order::Asc)
                    .limit(5)
                    .offset(10)
                    .take(),
            ),
            Construct::rows("groups of a join", sums),
            Construct::rows(
                "the key given, joined by the keys",
                inner().and_where(at!(sale.Id).eq(4)).take(),
            ),
            Construct::rows("with itself by the key", with_itself(a_id().eq(b_id()))),
            Construct::rows(
                "with itself by something else",
                with_itself(b_id().eq(a_id().add(1))),
            ),
            Construct::rows(
                "by other columns",
                with_items(
                    JoinType::InnerJoin,
                    at!(item.Product).equals((sale::Entity, sale::Column::Shop)),
                ),
            ),
            Construct::counted(
                "CROSS JOIN",
                Query::select()
                    .expr_as(at!(sale.Id), "sale")
                    .expr_as(at!(item.Id), "item")
                    .from(sale::Entity)
                    .from(item::Entity)
                    .limit(50)
                    .take(),
            ),
            Construct::rows("by the keys, sharded otherwise", visits),
            Construct::rows("with a table of one data source", jobs),
            Construct::rows(
                "with a table of the data source that is reached",
                job_of_one,
            ),
        ],
    }
}
