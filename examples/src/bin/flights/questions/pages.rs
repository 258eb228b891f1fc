//! Questions whose answers are read page by page.

use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{counting, month};
use crate::board::{Board, ask};

pub(super) async fn ask(board: &mut Board<'_>) -> anyhow::Result<()> {
    let db = board.db;

    ask!(board, "Page 500 of the delayed departures, 20 on a page, latest first", flight =>
        let query = flight::Entity::find()
            .filter(flight::Column::DepDelay.gt(0))
            .order_by_desc(flight::Column::DepDelay)
            .order_by_asc(flight::Column::Id);
        route query.clone().offset(499 * 20).limit(20);
        answer query.paginate(db, 20).fetch_page(499).await?
    );
    ask!(board, "How many flights left from LaGuardia, and on how many pages of 50?", flight =>
        let query = flight::Entity::find().filter(flight::Column::Origin.eq("LGA"));
        route counting(&query);
        answer {
            let found = query.paginate(db, 50).num_items_and_pages().await?;
            (found.number_of_items, found.number_of_pages)
        }
    );
    ask!(board, "The five flights after number 150,000, with a cursor", flight =>
        let query = flight::Entity::find();
        route query
            .clone()
            .filter(flight::Column::Id.gt(150_000))
            .order_by_asc(flight::Column::Id)
            .limit(5);
        answer query
            .cursor_by(flight::Column::Id)
            .after(150_000)
            .first(5)
            .all(db)
            .await?
    );
    ask!(board, "The last three flights of May, with a cursor over two columns", flight =>
        let query = flight::Entity::find().filter(flight::Column::TimeHour.lt(month(6)));
        route query
            .clone()
            .order_by_desc(flight::Column::TimeHour)
            .order_by_desc(flight::Column::Id)
            .limit(3);
        answer query
            .cursor_by((flight::Column::TimeHour, flight::Column::Id))
            .before((month(6), 0))
            .last(3)
            .all(db)
            .await?
    );
    Ok(())
}
