//! What cannot be done exactly is not done at all.

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, Set};

use super::{hour, month};
use crate::board::Board;
use crate::entity::flight;

pub(super) async fn meet(board: &mut Board<'_>) -> anyhow::Result<()> {
    let db = board.db;

    let text = db
        .execute_unprepared("DELETE FROM flight WHERE carrier = 'AS'")
        .await;
    board.refused("SQL text that names the sharded table", &text);

    let later = flight::Entity::insert(flight::ActiveModel {
        id: Set(400_005),
        time_hour: Set(month(25)),
        ..Default::default()
    });
    board.refused("A flight of 2015", &later.exec_without_returning(db).await);

    let moved = flight::Entity::update_many()
        .col_expr(flight::Column::TimeHour, Expr::value(hour(12, 1, 12)))
        .filter(flight::Column::Id.eq(1));
    board.refused(
        "A flight that moves to another month",
        &moved.exec(db).await,
    );
    Ok(())
}
