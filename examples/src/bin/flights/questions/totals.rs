//! Questions that count and add up.

use chrono::{DateTime, Utc};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, EntityTrait, JoinType, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
    RelationTrait,
};

use super::{counting, month};
use crate::answer::Number;
use crate::board::{Board, ask};
use crate::entity::plane;

pub(super) async fn ask(board: &mut Board<'_>) -> anyhow::Result<()> {
    let db = board.db;

    ask!(board, "How many flights were there?", flight =>
        let query = flight::Entity::find();
        route counting(&query);
        answer query.count(db).await?
    );
    ask!(board, "How many in October?", flight =>
        let query = flight::Entity::find()
            .filter(flight::Column::TimeHour.gte(month(10)))
            .filter(flight::Column::TimeHour.lt(month(11)));
        route counting(&query);
        answer query.count(db).await?
    );
    ask!(board, "How many for each airline?", flight =>
        let query = flight::Entity::find()
            .select_only()
            .column(flight::Column::Carrier)
            .column_as(flight::Column::Id.count(), "flights")
            .group_by(flight::Column::Carrier)
            .order_by_asc(flight::Column::Carrier);
        answer query.into_tuple::<(String, i64)>().all(db).await?
    );
    ask!(board, "The delays of each month: number, average, sum, least and most", flight =>
        let query = flight::Entity::find()
            .select_only()
            .column(flight::Column::Month)
            .column_as(flight::Column::DepDelay.count(), "delays")
            .column_as(flight::Column::DepDelay.avg(), "average")
            .column_as(flight::Column::DepDelay.sum(), "sum")
            .column_as(flight::Column::DepDelay.min(), "least")
            .column_as(flight::Column::DepDelay.max(), "most")
            .group_by(flight::Column::Month)
            .order_by_asc(flight::Column::Month);
        answer query
            .into_tuple::<(i32, i64, Number, Number, i32, i32)>()
            .all(db)
            .await?
    );
    ask!(board, "The ten most frequent destinations and their distances on average", flight =>
        let query = flight::Entity::find()
            .select_only()
            .column(flight::Column::Dest)
            .column_as(flight::Column::Id.count(), "flights")
            .column_as(flight::Column::Distance.avg(), "miles")
            .group_by(flight::Column::Dest)
            .order_by_desc(Expr::col("flights"))
            .order_by_asc(flight::Column::Dest)
            .limit(10);
        answer query.into_tuple::<(String, i64, Number)>().all(db).await?
    );
    ask!(board, "The miles flown, and the first and last hour in which a plane left", flight =>
        let query = flight::Entity::find()
            .select_only()
            .column_as(flight::Column::Distance.sum(), "miles")
            .column_as(flight::Column::TimeHour.min(), "first")
            .column_as(flight::Column::TimeHour.max(), "last");
        answer query
            .into_tuple::<(Number, DateTime<Utc>, DateTime<Utc>)>()
            .one(db)
            .await?
    );
    ask!(board, "How many different planes were there?", flight =>
        let query = flight::Entity::find()
            .select_only()
            .column_as(Expr::col(flight::Column::Tailnum).count_distinct(), "planes");
        answer query.into_tuple::<i64>().one(db).await?
    );
    ask!(board, "The airlines with more than 40,000 flights", flight =>
        let query = flight::Entity::find()
            .select_only()
            .column(flight::Column::Carrier)
            .column_as(flight::Column::Id.count(), "flights")
            .group_by(flight::Column::Carrier)
            .having(flight::Column::Id.count().gt(40_000))
            .order_by_asc(flight::Column::Carrier);
        answer query.into_tuple::<(String, i64)>().all(db).await?
    );
    ask!(board, "How many flights for each kind of engine?", flight =>
        let query = flight::Entity::find()
            .select_only()
            .join(JoinType::InnerJoin, flight::Relation::Plane.def())
            .column(plane::Column::Engine)
            .column_as(flight::Column::Id.count(), "flights")
            .group_by(plane::Column::Engine)
            .order_by_asc(plane::Column::Engine);
        answer query.into_tuple::<(String, i64)>().all(db).await?
    );
    Ok(())
}
