//! What a user would want to know, and do.

mod changes;
mod pages;
mod refusals;
mod rows;
mod totals;

use chrono::{DateTime, Months, TimeDelta, Utc};
use sea_orm::QueryTrait;
use sea_orm::sea_query::Expr;
use sea_orm::sea_query::SelectStatement;

use crate::board::Board;

/// Asks everything, and then changes both tables and changes them back.
pub(crate) async fn ask_all(board: &mut Board<'_>) -> anyhow::Result<()> {
    rows::ask(board).await?;
    pages::ask(board).await?;
    totals::ask(board).await?;
    changes::make(board).await?;
    refusals::meet(board).await
}

/// The first hour of a month of 2013.
fn month(month: u32) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + Months::new(12 * (2013 - 1970) + month - 1)
}

/// An hour of a day of a month of 2013.
fn hour(in_month: u32, day: i64, hour: i64) -> DateTime<Utc> {
    month(in_month) + TimeDelta::hours(24 * (day - 1) + hour)
}

/// The statement with which SeaORM counts the rows of another one.
fn counting(rows: &impl QueryTrait<QueryStatement = SelectStatement>) -> SelectStatement {
    SelectStatement::new()
        .expr(Expr::cust("COUNT(*) AS num_items"))
        .from_subquery(rows.as_query().clone(), "sub_query")
        .to_owned()
}
