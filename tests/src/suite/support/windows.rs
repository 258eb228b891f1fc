//! Windows and locks.

use sea_orm::sea_query::{
    Expr, ExprTrait, Func, LockBehavior, LockType, Query, SelectStatement, WindowStatement,
};
use sea_orm::{DbBackend, Order};

use super::construct::{Construct, Section};
use super::joins::{at, on_key};
use super::reads::{col, id, ids, sales};
use super::shop::{item, sale};

pub(super) fn windows() -> Section {
    let over = |function: Expr, window: WindowStatement| {
        ids().expr_window_as(function, window, "x").take()
    };
    let row_number = || Expr::from(Func::cust("ROW_NUMBER"));
    let by_shop = || {
        WindowStatement::partition_by(sale::Column::Shop)
            .order_by(sale::Column::Id, Order::Asc)
            .take()
    };
    let by_key = WindowStatement::partition_by(sale::Column::Id)
        .order_by(sale::Column::Sold, Order::Asc)
        .take();
    let running = WindowStatement::new()
        .order_by(sale::Column::Id, Order::Asc)
        .take();
    Section {
        title: "Windows",
        text: "",
        constructs: vec![
            Construct::rows("ROW_NUMBER in partitions", over(row_number(), by_shop())),
            Construct::rows("partitions by the key", over(row_number(), by_key)),
            Construct::rows(
                "a running sum",
                over(col(sale::Column::Price).sum(), running),
            ),
            Construct::rows(
                "a window of one table",
                over(row_number(), by_shop())
                    .and_where(id().is_in([3, 7, 23]))
                    .take(),
            ),
        ],
    }
}

pub(super) fn locks() -> Section {
    const NOT: &[DbBackend] = &[DbBackend::Sqlite];
    let by_id = || {
        sales(id().lt(9))
            .order_by(sale::Column::Id, Order::Asc)
            .take()
    };
    let joined = ids_of_items().lock(LockType::Update).take();
    Section {
        title: "Locks",
        text: "",
        constructs: vec![
            Construct::rows(
                "FOR UPDATE",
                sales(id().lt(9)).lock(LockType::Update).take(),
            )
            .absent(NOT),
            Construct::ordered(
                "FOR UPDATE in an order",
                by_id().lock(LockType::Update).take(),
            )
            .absent(NOT),
            Construct::rows("FOR SHARE", sales(id().lt(9)).lock(LockType::Share).take())
                .absent(&[DbBackend::Sqlite, DbBackend::MySql])
                .note("MariaDB spells it otherwise than SeaQuery does."),
            Construct::rows(
                "SKIP LOCKED",
                sales(id().lt(9))
                    .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked)
                    .take(),
            )
            .absent(NOT),
            Construct::ordered("with LIMIT", by_id().limit(3).lock(LockType::Update).take())
                .absent(NOT),
            Construct::rows("of a join", joined).absent(NOT),
            Construct::rows(
                "of one table",
                sales(id().eq(7)).limit(1).lock(LockType::Update).take(),
            )
            .absent(NOT),
        ],
    }
}

fn ids_of_items() -> SelectStatement {
    Query::select()
        .expr_as(at!(sale.Id), "sale")
        .expr_as(at!(item.Id), "item")
        .from(sale::Entity)
        .inner_join(item::Entity, on_key())
        .take()
}
