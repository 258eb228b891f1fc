use sea_orm::sea_query::{ColumnDef, Query, Table};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, Statement,
};
use sharding_sea_orm::ShardingError;

use super::refusal;
use crate::entity::{monthly, whole};
use crate::world::World;
use crate::{same, same_set};

pub async fn raw_text(backend: DbBackend) {
    let world = World::filled(backend).await;
    let db = &world.db;
    let raw = |sql: &str| Statement::from_string(backend, sql);
    let refused = refusal(db.query_all_raw(raw("SELECT * FROM event_monthly")).await);
    assert_eq!(
        refused,
        "refused: raw SQL that names a sharded table on `event_monthly`; write the statement with \
         SeaORM or sea-query",
    );
    refusal(db.execute_unprepared("DELETE FROM event_monthly").await);
    refusal(db.execute_raw(raw("UPDATE event_monthly SET n = 1")).await);
    refusal(
        db.query_one_raw(raw("SELECT 1 FROM \"EVENT_MONTHLY\""))
            .await,
    );
    let found = monthly::Entity::find().from_raw_sql(raw("SELECT * FROM event_monthly"));
    refusal(found.all(db).await);
    // Other text passes, also that of physical tables.
    db.query_all_raw(raw("SELECT * FROM event_whole"))
        .await
        .unwrap();
    db.query_all_raw(raw("SELECT 'event_monthly' AS x"))
        .await
        .unwrap();
    db.query_all_raw(raw("SELECT * FROM event_monthly_201301"))
        .await
        .unwrap();
    assert_eq!(whole::Entity::find().count(db).await.unwrap(), 400);
    world.end().await;
}

pub async fn missing_tables(backend: DbBackend) {
    let world = World::bare(backend).await;
    let error = monthly::Entity::find().all(&world.db).await.unwrap_err();
    let Some(ShardingError::MissingTable {
        table,
        physical,
        data_source,
        ..
    }) = ShardingError::of(&error)
    else {
        panic!("{error}");
    };
    assert_eq!(table, "event_monthly");
    assert!(physical.starts_with("event_monthly_2013"), "{physical}");
    assert_eq!(data_source, "a");
    assert!(
        error.to_string().contains("`create_tables` creates it"),
        "{error}"
    );
    world.end().await;
}

pub async fn nested_tables(backend: DbBackend) {
    let world = World::filled(backend).await;
    let db = &world.db;
    let ids = monthly::Entity::find()
        .select_only()
        .column(monthly::Column::Id)
        .into_query();
    let within = whole::Entity::find().filter(whole::Column::Id.in_subquery(ids.clone()));
    assert_eq!(within.all(db).await.unwrap().len(), 400);
    let within = monthly::Entity::find().filter(monthly::Column::Id.in_subquery(ids));
    assert_eq!(within.all(db).await.unwrap().len(), 400);
    let text = whole::Entity::find().filter(sea_orm::sea_query::Expr::cust(
        "id IN (SELECT id FROM event_monthly)",
    ));
    refusal(text.all(db).await);
    let delete = Query::delete()
        .from_table(whole::Entity)
        .and_where(
            whole::Column::Id.in_subquery(
                monthly::Entity::find()
                    .select_only()
                    .column(monthly::Column::Id)
                    .into_query(),
            ),
        )
        .to_owned();
    refusal(db.execute(&delete).await);
    world.end().await;
}

/// Text may hold more than an expression; what it holds is never merged away.
pub async fn text_in_statements(backend: DbBackend) {
    let world = World::filled(backend).await;
    let db = &world.db;
    macro_rules! text {
        ($e:ident, $text:expr) => {
            $e::Entity::find()
                .select_only()
                .expr(sea_orm::sea_query::Expr::cust($text))
        };
    }
    // These are answered by the database, over a union.
    for text in [
        "DISTINCT kind",
        "DISTINCT flag",
        "COUNT(DISTINCT kind)",
        "MAX(id) - MIN(id)",
    ] {
        let rows = same_set!(world, monthly, e => text!(e, text));
        assert!(!rows.is_empty());
    }
    same_set!(world, monthly, e => e::Entity::find().select_only().expr(
        sea_orm::sea_query::Expr::custom_keyword("DISTINCT flag")));
    same_set!(world, monthly, e => text!(e, "id, n"));
    same!(world, monthly, e => text!(e, "*").order_by_desc(e::Column::Id));
    same!(world, monthly, e => text!(e, "flag, n").column_as(e::Column::Id, "i")
        .order_by_desc(e::Column::Id));
    same!(world, monthly, e => e::Entity::find()
        .filter(sea_orm::sea_query::Expr::cust("n > 0 AND flag = (1 = 1)"))
        .order_by_asc(e::Column::Id));
    // Text that leaves its parentheses changes what stands beside it.
    let march: chrono::DateTime<chrono::Utc> = "2013-03-01T00:00:00Z".parse().unwrap();
    for text in ["n = 1) OR (n = 7", "n = 1 OR n = 7"] {
        same!(world, monthly, e => e::Entity::find()
            .filter(e::Column::At.lt(march))
            .filter(sea_orm::sea_query::Expr::cust(text))
            .order_by_asc(e::Column::Id));
    }
    same!(world, monthly, e => e::Entity::find()
        .filter(e::Column::At.lt(march))
        .filter(sea_orm::sea_query::Expr::custom_keyword("n = 1 OR n = 7"))
        .order_by_asc(e::Column::Id));
    // A paginator over raw SQL keeps it as text, without its SELECT.
    let raw = Statement::from_string(backend, "SELECT * FROM event_monthly");
    let pages = monthly::Entity::find().from_raw_sql(raw).paginate(db, 10);
    refusal(pages.fetch_page(0).await);
    world.end().await;
}

/// Names that only the database would take for the sharded table are not sent past it.
pub async fn other_spellings(backend: DbBackend) {
    let world = World::filled(backend).await;
    let db = &world.db;
    let select = |table: sea_orm::sea_query::TableRef| {
        Query::select()
            .expr(sea_orm::sea_query::Expr::cust("1"))
            .from(table)
            .to_owned()
    };
    let refused = refusal(db.query_all(&select("EVENT_MONTHLY".into())).await);
    assert!(
        refused.contains("another schema or another case"),
        "{refused}"
    );
    refusal(
        db.query_all(&select(("public", "event_monthly").into()))
            .await,
    );
    let insert = Query::insert()
        .into_table(whole::Entity)
        .columns([whole::Column::Id])
        .values_panic([sea_orm::sea_query::Expr::SubQuery(
            None,
            Box::new(
                monthly::Entity::find()
                    .select_only()
                    .column(monthly::Column::Id)
                    .into_query()
                    .into(),
            ),
        )])
        .to_owned();
    refusal(db.execute(&insert).await);
    let update = Query::update()
        .table("Event_Monthly")
        .value("n", 1)
        .to_owned();
    refusal(db.execute(&update).await);
    world.end().await;
}

pub async fn definitions(backend: DbBackend) {
    let world = World::empty(backend).await;
    let refused = refusal(world.db.execute(Table::drop().table(monthly::Entity)).await);
    assert!(
        refused.contains("a definition of a sharded table"),
        "{refused}"
    );
    world
        .db
        .execute(Table::drop().table(whole::Entity))
        .await
        .unwrap();
    // A column may be called like a sharded table.
    let mut other = Table::create();
    other
        .table("other")
        .col(ColumnDef::new("event_monthly").integer());
    world.db.execute(&other).await.unwrap();
    let mut same = Table::create();
    same.table("event_monthly")
        .col(ColumnDef::new("id").integer());
    refusal(world.db.execute(&same).await);
    world.end().await;
}
