use chrono::{DateTime, Utc};
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DbBackend, EntityTrait, IntoActiveModel, PaginatorTrait,
    QueryFilter, QueryOrder, Set, Unchanged,
};

use super::refusal;
use crate::entity::{Event, monthly, spread, whole};
use crate::same;
use crate::world::{World, events};

fn event(id: i64, at: &str) -> Event {
    Event {
        id,
        at: at.parse().unwrap(),
        ..events().swap_remove(9)
    }
}

fn active(id: i64, at: &str) -> monthly::ActiveModel {
    monthly::Model::from(event(id, at)).into_active_model()
}

/// The physical tables of a tail hold these many rows.
async fn rows_in(world: &World, tail: &str) -> i64 {
    use sea_orm::{ConnectionTrait, Statement};

    let source = world.db.source("a").unwrap();
    let sql = format!("SELECT COUNT(*) FROM event_monthly_{tail}");
    let row = source
        .query_one_raw(Statement::from_string(world.backend, sql))
        .await
        .unwrap();
    row.unwrap().try_get_by_index(0).unwrap()
}

pub async fn inserts(backend: DbBackend) {
    let world = World::empty(backend).await;
    let db = &world.db;
    let inserted = active(1, "2013-01-31T23:59:59Z").insert(db).await.unwrap();
    assert_eq!(
        inserted,
        monthly::Model::from(event(1, "2013-01-31T23:59:59Z"))
    );
    active(2, "2013-02-01T00:00:00Z").insert(db).await.unwrap();
    let result = monthly::Entity::insert(active(3, "2013-02-02T00:00:00Z"))
        .exec(db)
        .await
        .unwrap();
    assert_eq!(result.last_insert_id, 3);
    let rows = [
        active(5, "2013-05-01T00:00:00Z"),
        active(4, "2013-01-01T00:00:00Z"),
    ];
    let result = monthly::Entity::insert_many(rows).exec(db).await.unwrap();
    assert_eq!(result.last_insert_id, Some(4));
    let rows = [
        active(6, "2013-05-01T00:00:00Z"),
        active(7, "2013-06-01T00:00:00Z"),
    ];
    let count = monthly::Entity::insert_many(rows)
        .exec_without_returning(db)
        .await
        .unwrap();
    assert_eq!(count, 2);
    for (tail, rows) in [("201301", 2), ("201302", 2), ("201305", 2), ("201306", 1)] {
        assert_eq!(rows_in(&world, tail).await, rows, "{tail}");
    }
    world.end().await;
}

/// Rows come back in the order in which they were given, whatever their nodes.
pub async fn inserts_in_order(backend: DbBackend) {
    let world = World::empty(backend).await;
    if backend != DbBackend::MySql {
        let at = |id: i64| format!("2013-0{}-15T00:00:00Z", [6, 1, 3, 1, 6, 2][id as usize]);
        let rows = (0..6).map(|id| active(id, &at(id)));
        let models = monthly::Entity::insert_many(rows)
            .exec_with_returning(&world.db)
            .await
            .unwrap();
        let ids: Vec<_> = models.iter().map(|event| event.id).collect();
        assert_eq!(ids, [0, 1, 2, 3, 4, 5]);
        assert_eq!(models[2].at.to_rfc3339(), "2013-03-15T00:00:00+00:00");
    }
    world.end().await;
}

/// One row that cannot be inserted keeps the others out, also those of other nodes.
pub async fn inserts_as_a_whole(backend: DbBackend) {
    let world = World::empty(backend).await;
    active(9, "2013-06-01T00:00:00Z")
        .insert(&world.db)
        .await
        .unwrap();
    let rows = [
        active(8, "2013-01-01T00:00:00Z"),
        active(9, "2013-06-02T00:00:00Z"),
    ];
    monthly::Entity::insert_many(rows)
        .exec(&world.db)
        .await
        .unwrap_err();
    assert_eq!(monthly::Entity::find().count(&world.db).await.unwrap(), 1);
    world.end().await;
}

pub async fn keys_of_inserts(backend: DbBackend) {
    let world = World::empty(backend).await;
    let db = &world.db;
    let refused = refusal(active(1, "2012-12-31T23:59:59Z").insert(db).await);
    assert_eq!(
        refused,
        "no tail of `event_monthly` takes `at` = 2012-12-31T23:59:59Z: months 201301 to 201306",
    );
    refusal(active(1, "2013-07-01T00:00:00Z").insert(db).await);
    let missing = monthly::ActiveModel {
        at: sea_orm::NotSet,
        ..active(1, "2013-01-01T00:00:00Z")
    };
    let refused = refusal(
        monthly::Entity::insert(missing)
            .exec_without_returning(db)
            .await,
    );
    assert_eq!(
        refused,
        "a row for `event_monthly` does not set its sharding key `at`"
    );
    let null = sea_orm::sea_query::Query::insert()
        .into_table(monthly::Entity)
        .columns([monthly::Column::Id, monthly::Column::At])
        .values_panic([1.into(), Option::<DateTime<Utc>>::None.into()])
        .to_owned();
    let refused = refusal(sea_orm::ConnectionTrait::execute(db, &null).await);
    assert_eq!(
        refused,
        "a row for `event_monthly` has NULL for its sharding key `at`"
    );
    let text = sea_orm::sea_query::Query::insert()
        .into_table(monthly::Entity)
        .columns([monthly::Column::Id, monthly::Column::At])
        .values_panic([1.into(), "2013-01-01".into()])
        .to_owned();
    let refused = refusal(sea_orm::ConnectionTrait::execute(db, &text).await);
    assert!(
        refused.contains("is no timestamp with time zone"),
        "{refused}"
    );
    // MySQL keeps whole seconds: this one would become February's.
    let late = active(1, "2013-01-31T23:59:59.700Z").insert(db).await;
    if backend == DbBackend::MySql {
        assert!(refusal(late).contains("would round"));
    } else {
        late.unwrap();
        assert_eq!(rows_in(&world, "201301").await, 1);
    }
    world.end().await;
}

pub async fn updates(backend: DbBackend) {
    let world = World::filled(backend).await;
    let db = &world.db;
    macro_rules! both {
        ($e:ident => $write:expr) => {{
            let sharded = { use monthly as $e; $write };
            let expected = { use whole as $e; $write };
            assert_eq!(format!("{sharded:?}"), format!("{expected:?}"), "{}", stringify!($write));
            same!(world, monthly, $e => $e::Entity::find().order_by_asc($e::Column::Id));
        }};
    }
    both!(e => e::ActiveModel { id: Unchanged(77), note: Set(Some("new".into())), ..Default::default() }
        .update(db).await.map(|event| (event.id, event.note, event.uid)));
    both!(e => e::ActiveModel { id: Unchanged(7777), n: Set(None), ..Default::default() }
        .update(db).await.map(|event| event.id));
    both!(e => e::Entity::update_many()
        .col_expr(e::Column::Big, e::Column::Big.into_expr().add(1))
        .filter(e::Column::Flag.eq(true))
        .exec(db).await.map(|result| result.rows_affected));
    both!(e => e::Entity::update_many()
        .col_expr(e::Column::Note, Expr::value("spring"))
        .filter(e::Column::At.between(
            "2013-03-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap(),
            "2013-05-31T23:59:59Z".parse::<DateTime<Utc>>().unwrap()))
        .exec(db).await.map(|result| result.rows_affected));
    both!(e => e::Entity::update_many()
        .col_expr(e::Column::N, Expr::value(1))
        .filter(e::Column::At.is_null())
        .exec(db).await.map(|result| result.rows_affected));
    both!(e => {
        let model = e::Entity::find_by_id(5).one(db).await.unwrap().unwrap();
        let mut model = model.into_active_model();
        model.score = Set(Some(0.25));
        model.save(db).await.map(|event| event.score)
    });
    world.end().await;
}

pub async fn updates_of_keys(backend: DbBackend) {
    let world = World::filled(backend).await;
    let db = &world.db;
    let time = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
    let moved = monthly::ActiveModel {
        id: Unchanged(0),
        at: Set(time("2013-02-02T00:00:00Z")),
        ..Default::default()
    };
    let refused = refusal(moved.update(db).await);
    assert!(
        refused.contains("an UPDATE of the sharding key `at`"),
        "{refused}"
    );
    let set = |at: &str| {
        monthly::Entity::update_many()
            .col_expr(monthly::Column::At, Expr::value(time(at)))
            .filter(monthly::Column::At.eq(time("2013-01-01T00:00:00Z")))
            .filter(monthly::Column::Id.eq(0))
    };
    refusal(set("2013-02-02T00:00:00Z").exec(db).await);
    // Within its node the key may change.
    assert_eq!(
        set("2013-01-02T00:00:00Z")
            .exec(db)
            .await
            .unwrap()
            .rows_affected,
        1
    );
    let computed = monthly::Entity::update_many()
        .col_expr(monthly::Column::At, Expr::current_timestamp())
        .filter(monthly::Column::At.eq(time("2013-01-02T00:00:00Z")));
    refusal(computed.exec(db).await);
    world.end().await;
}

pub async fn deletes(backend: DbBackend) {
    let world = World::filled(backend).await;
    let db = &world.db;
    macro_rules! both {
        ($e:ident => $write:expr) => {{
            let sharded = { use monthly as $e; $write.unwrap().rows_affected };
            let expected = { use whole as $e; $write.unwrap().rows_affected };
            assert_eq!(sharded, expected, "{}", stringify!($write));
            same!(world, monthly, $e => $e::Entity::find().order_by_asc($e::Column::Id));
        }};
    }
    both!(e => e::Entity::delete_by_id(77).exec(db).await);
    both!(e => e::Entity::delete_by_id(77).exec(db).await);
    both!(e => e::Entity::delete_many()
        .filter(e::Column::At.lt("2013-01-15T00:00:00Z".parse::<DateTime<Utc>>().unwrap()))
        .exec(db).await);
    both!(e => e::Entity::delete_many().filter(e::Column::Kind.eq("b")).exec(db).await);
    both!(e => e::Entity::find_by_id(100).one(db).await.unwrap().unwrap()
        .into_active_model().delete(db).await);
    both!(e => e::Entity::delete_many().exec(db).await);
    world.end().await;
}

pub async fn conflicts(backend: DbBackend) {
    let world = World::filled(backend).await;
    let db = &world.db;
    // The primary key does not hold the sharding key: rows of other nodes would not be seen.
    let upsert = monthly::Entity::insert(active(0, "2013-05-01T00:00:00Z")).on_conflict(
        OnConflict::column(monthly::Column::Id)
            .update_column(monthly::Column::Note)
            .to_owned(),
    );
    let refused = refusal(upsert.exec_without_returning(db).await);
    assert!(
        refused.contains("ON CONFLICT over keys without the sharding key"),
        "{refused}"
    );
    world.end().await;
}

pub async fn returning(backend: DbBackend) {
    let world = World::filled(backend).await;
    let db = &world.db;
    let update = || {
        monthly::Entity::update_many()
            .col_expr(monthly::Column::Note, Expr::value("x"))
            .filter(monthly::Column::N.eq(7))
    };
    if backend == DbBackend::MySql {
        update().exec_with_returning(db).await.unwrap_err();
        return world.end().await;
    }
    let mut ids: Vec<i64> = update()
        .exec_with_returning(db)
        .await
        .unwrap()
        .iter()
        .map(|event| event.id)
        .collect();
    ids.sort_unstable();
    let expected = whole::Entity::find()
        .filter(whole::Column::N.eq(7))
        .order_by_asc(whole::Column::Id);
    let expected: Vec<i64> = expected
        .all(db)
        .await
        .unwrap()
        .iter()
        .map(|event| event.id)
        .collect();
    assert_eq!(ids, expected);
    let deleted = monthly::Entity::delete_many().filter(monthly::Column::N.eq(7));
    assert_eq!(
        deleted.exec_with_returning(db).await.unwrap().len(),
        expected.len()
    );
    let refused = refusal(spread::Entity::delete_many().exec(db).await);
    assert!(
        refused.contains("a write to several data sources"),
        "{refused}"
    );
    world.end().await;
}
