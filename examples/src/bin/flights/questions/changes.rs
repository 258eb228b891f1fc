//! Changes, each made to both tables and taken back in the end, so that the program can be run
//! again.

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Set, TransactionTrait, Unchanged, Update,
};

use super::{hour, month};
use crate::answer::Number;
use crate::board::{Board, ask, change};
use crate::entity::flight;

/// Flights beyond this number are not from the data.
const OURS: i32 = 400_000;

pub(super) async fn make(board: &mut Board<'_>) -> anyhow::Result<()> {
    update(board).await?;
    insert(board).await?;
    delete(board).await?;
    roll_back(board).await?;
    compare(board).await
}

async fn update(board: &mut Board<'_>) -> anyhow::Result<()> {
    let db = board.db;

    for (words, delay) in [
        ("Flight 5,000 arrives an hour late", 60),
        ("And early, as it did", -13),
    ] {
        change!(board, words, flight =>
            let arrived = flight::ActiveModel {
                id: Unchanged(5_000),
                arr_delay: Set(Some(delay)),
                ..Default::default()
            };
            route Update::one(arrived.clone()).validate()?;
            answer arrived.update(db).await?;
            afterwards flight::Entity::find_by_id(5_000).one(db).await?
        );
    }
    for (words, minutes) in [
        (
            "Every flight to Boston on 4 July takes ten minutes longer",
            10,
        ),
        ("And as long as it did", -10),
    ] {
        change!(board, words, flight =>
            let longer = flight::Entity::update_many()
                .col_expr(
                    flight::Column::AirTime,
                    Expr::col(flight::Column::AirTime).add(minutes),
                )
                .filter(flight::Column::Dest.eq("BOS"))
                .filter(flight::Column::TimeHour.between(hour(7, 4, 0), hour(7, 4, 23)));
            answer longer.exec(db).await?.rows_affected;
            afterwards flight::Entity::find()
                .filter(flight::Column::Dest.eq("BOS"))
                .filter(flight::Column::TimeHour.gte(month(7)))
                .filter(flight::Column::TimeHour.lt(month(8)))
                .order_by_asc(flight::Column::Id)
                .all(db)
                .await?
        );
    }
    Ok(())
}

/// A flight that is not in the data, in the hour of a day of a month. It is a macro because its
/// type is the entity's.
macro_rules! new_flight {
    ($flight:ident, $number:literal, $month:literal, $day:literal, $hour:literal) => {
        $flight::ActiveModel {
            id: Set(OURS + $number),
            month: Set($month),
            day: Set($day),
            dep_time: Set(None),
            sched_dep_time: Set(1_200),
            dep_delay: Set(None),
            arr_time: Set(None),
            sched_arr_time: Set(1_300),
            arr_delay: Set(None),
            carrier: Set("UA".to_owned()),
            number: Set($number),
            tailnum: Set(None),
            origin: Set("JFK".to_owned()),
            dest: Set("BOS".to_owned()),
            air_time: Set(None),
            distance: Set(187),
            time_hour: Set(hour($month, $day, $hour)),
        }
    };
}

async fn insert(board: &mut Board<'_>) -> anyhow::Result<()> {
    let db = board.db;

    change!(board, "A new flight at noon of 4 July", flight =>
        let new = new_flight!(flight, 1, 7, 4, 16);
        route flight::Entity::insert(new.clone());
        answer new.insert(db).await?;
        afterwards flight::Entity::find_by_id(OURS + 1).one(db).await?
    );
    change!(board, "Three more in August, July and August, given back as inserted", flight =>
        let new = flight::Entity::insert_many([
            new_flight!(flight, 2, 8, 1, 0),
            new_flight!(flight, 3, 7, 31, 23),
            new_flight!(flight, 4, 8, 31, 23),
        ]);
        answer if db.support_returning() {
            new.exec_with_returning(db).await?
        } else {
            new.exec_without_returning(db).await?;
            let more = flight::Entity::find().filter(flight::Column::Id.gt(OURS + 1));
            more.order_by_asc(flight::Column::Id).all(db).await?
        };
        afterwards flight::Entity::find()
            .filter(flight::Column::Id.gt(OURS))
            .order_by_asc(flight::Column::Id)
            .all(db)
            .await?
    );
    change!(board, "And away with the new flights", flight =>
        let ours = flight::Entity::delete_many().filter(flight::Column::Id.gt(OURS));
        answer ours.exec(db).await?.rows_affected;
        afterwards flight::Entity::find().count(db).await?
    );
    Ok(())
}

async fn delete(board: &mut Board<'_>) -> anyhow::Result<()> {
    let db = board.db;
    // The day of the great snow, from midnight to midnight in New York.
    let (from, to) = (hour(2, 8, 5), hour(2, 9, 5));
    let snowed: Vec<flight::Model> = flight::Entity::find()
        .filter(flight::Column::TimeHour.gte(from))
        .filter(flight::Column::TimeHour.lt(to))
        .all(db)
        .await?;
    let snowed = &snowed;

    change!(board, "No flights at all on 8 February, when it snowed", flight =>
        let gone = flight::Entity::delete_many()
            .filter(flight::Column::TimeHour.gte(from))
            .filter(flight::Column::TimeHour.lt(to));
        answer gone.exec(db).await?.rows_affected;
        afterwards flight::Entity::find()
            .filter(flight::Column::TimeHour.lt(month(3)))
            .count(db)
            .await?
    );
    change!(board, "And the flights of that day back again", flight =>
        let back = flight::Entity::insert_many(
            snowed.iter().cloned().map(IntoActiveModel::<flight::ActiveModel>::into_active_model),
        );
        answer back.exec_without_returning(db).await?;
        afterwards flight::Entity::find()
            .filter(flight::Column::TimeHour.gte(from))
            .filter(flight::Column::TimeHour.lt(to))
            .order_by_asc(flight::Column::Id)
            .all(db)
            .await?
    );
    Ok(())
}

async fn roll_back(board: &mut Board<'_>) -> anyhow::Result<()> {
    let db = board.db;

    change!(board, "No flights of Alaska Airlines, in a transaction that is rolled back", flight =>
        let alaska = flight::Entity::delete_many().filter(flight::Column::Carrier.eq("AS"));
        answer {
            let transaction = db.begin().await?;
            let deleted = alaska.exec(&transaction).await?.rows_affected;
            let left = flight::Entity::find()
                .filter(flight::Column::Carrier.eq("AS"))
                .count(&transaction)
                .await?;
            transaction.rollback().await?;
            (deleted, left)
        };
        afterwards flight::Entity::find()
            .filter(flight::Column::Carrier.eq("AS"))
            .count(db)
            .await?
    );
    Ok(())
}

async fn compare(board: &mut Board<'_>) -> anyhow::Result<()> {
    let db = board.db;

    ask!(board, "After all that: flights, numbers, minutes and miles of every day", flight =>
        let query = flight::Entity::find()
            .select_only()
            .column(flight::Column::Month)
            .column(flight::Column::Day)
            .column_as(flight::Column::Id.count(), "flights")
            .column_as(flight::Column::Id.sum(), "numbers")
            .column_as(flight::Column::ArrDelay.sum(), "minutes")
            .column_as(flight::Column::AirTime.sum(), "in_the_air")
            .group_by(flight::Column::Month)
            .group_by(flight::Column::Day)
            .order_by_asc(flight::Column::Month)
            .order_by_asc(flight::Column::Day);
        answer query
            .into_tuple::<(i32, i32, i64, Number, Number, Number)>()
            .all(db)
            .await?
    );
    Ok(())
}
