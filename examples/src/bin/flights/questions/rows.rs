//! Questions about single flights and runs of them.

use futures_util::TryStreamExt;
use sea_orm::sea_query::NullOrdering;
use sea_orm::{ColumnTrait, EntityTrait, Order, QueryFilter, QueryOrder, QuerySelect, SelectExt};

use super::{hour, month};
use crate::board::{Board, ask};
use crate::entity::{airline, plane};

pub(super) async fn ask(board: &mut Board<'_>) -> anyhow::Result<()> {
    let db = board.db;

    ask!(board, "Flight 100,000, of which the hour is known", flight =>
        let query = flight::Entity::find_by_id(100_000)
            .filter(flight::Column::TimeHour.eq(hour(12, 19, 13)));
        answer query.one(db).await?
    );
    ask!(board, "Flight 200,000, of which nothing else is known", flight =>
        let query = flight::Entity::find_by_id(200_000);
        answer query.one(db).await?
    );
    ask!(board, "The first five flights of April", flight =>
        let query = flight::Entity::find()
            .filter(flight::Column::TimeHour.gte(month(4)))
            .filter(flight::Column::TimeHour.lt(month(5)))
            .order_by_asc(flight::Column::TimeHour)
            .order_by_asc(flight::Column::Id)
            .limit(5);
        answer query.all(db).await?
    );
    ask!(board, "From March to May, the first 1,000 flights to Honolulu or Boston", flight =>
        let query = flight::Entity::find()
            .filter(flight::Column::TimeHour.gte(month(3)))
            .filter(flight::Column::TimeHour.lt(month(6)))
            .filter(flight::Column::Dest.is_in(["HNL", "BOS"]))
            .order_by_asc(flight::Column::TimeHour)
            .order_by_asc(flight::Column::Id)
            .limit(1_000);
        answer query.all(db).await?
    );
    ask!(board, "The 20 latest departures of the year", flight =>
        let query = flight::Entity::find()
            .order_by_with_nulls(flight::Column::DepDelay, Order::Desc, NullOrdering::Last)
            .order_by_asc(flight::Column::Id)
            .limit(20);
        answer query.all(db).await?
    );
    ask!(board, "Did any plane leave for Anchorage?", flight =>
        let query = flight::Entity::find().filter(flight::Column::Dest.eq("ANC"));
        answer query.exists(db).await?
    );
    ask!(board, "The flights of Hawaiian Airlines, streamed: how many, how many miles?", flight =>
        let query = flight::Entity::find().filter(flight::Column::Carrier.eq("HA"));
        answer {
            let flown = query.stream(db).await?;
            let add = |(count, miles), flight: flight::Model| async move {
                Ok((count + 1, miles + flight.distance))
            };
            flown.try_fold((0_u64, 0), add).await?
        }
    );
    ask!(board, "Flights to Nantucket with the names of their airlines", flight =>
        let query = flight::Entity::find()
            .find_also_related(airline::Entity)
            .filter(flight::Column::Dest.eq("ACK"))
            .order_by_asc(flight::Column::TimeHour)
            .order_by_asc(flight::Column::Id);
        answer query.all(db).await?
    );
    ask!(board, "The ten longest flights of June by a plane of Airbus, with the plane", flight =>
        let query = flight::Entity::find()
            .find_also_related(plane::Entity)
            .filter(plane::Column::Manufacturer.starts_with("AIRBUS"))
            .filter(flight::Column::TimeHour.gte(month(6)))
            .filter(flight::Column::TimeHour.lt(month(7)))
            .order_by_desc(flight::Column::Distance)
            .order_by_asc(flight::Column::Id)
            .limit(10);
        answer query.all(db).await?
    );
    ask!(board, "Flight 336,000, as JSON", flight =>
        let query = flight::Entity::find_by_id(336_000);
        answer query.into_json().one(db).await?
    );
    Ok(())
}
