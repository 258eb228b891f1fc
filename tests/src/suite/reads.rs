use chrono::{DateTime, NaiveDate, Utc};
use futures_util::TryStreamExt;
use sea_orm::sea_query::{ExprTrait, NullOrdering, Query};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbBackend, EntityTrait, Order, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait, SelectExt,
};
use sharding_sea_orm::Rung;

use crate::entity::{hashed, monthly, spread, whole};
use crate::world::World;
use crate::{same, same_set};

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Checks rows and how many nodes are asked.
macro_rules! filtered {
    ($world:expr, $sharded:ident, $nodes:expr, $e:ident => $condition:expr) => {{
        same!($world, $sharded, $e =>
            $e::Entity::find().filter($condition).order_by_asc($e::Column::Id));
        let query = {
            use $crate::entity::$sharded as $e;
            $e::Entity::find().filter($condition)
        };
        let explained = $world.db.explain(&query).unwrap();
        assert_eq!(explained.nodes.len(), $nodes, "{explained}");
    }};
}

pub async fn predicates(backend: DbBackend) {
    let world = World::filled(backend).await;
    let w = &world;
    let february = || at("2013-02-01T00:00:00Z");
    filtered!(w, monthly, 1, e => e::Column::At.eq(february()));
    filtered!(w, monthly, 1, e => e::Column::At.lt(february()));
    filtered!(w, monthly, 2, e => e::Column::At.lte(february()));
    filtered!(w, monthly, 5, e => e::Column::At.gte(february()));
    filtered!(w, monthly, 1, e => e::Column::At.gt(at("2013-06-01T00:00:00Z")));
    filtered!(w, monthly, 3, e => e::Column::At.between(february(), at("2013-04-20T00:00:00Z")));
    filtered!(w, monthly, 4, e => e::Column::At.not_between(february(), at("2013-04-20T00:00:00Z")));
    filtered!(w, monthly, 6, e => e::Column::At.ne(february()));
    filtered!(w, monthly, 2, e => e::Column::At.is_in([february(), february(), at("2013-05-05T00:00:00Z")]));
    filtered!(w, monthly, 6, e => e::Column::At.is_not_in([february()]));
    filtered!(w, monthly, 1, e => e::Column::At.is_null());
    filtered!(w, monthly, 6, e => e::Column::At.is_not_null());
    filtered!(w, monthly, 6, e => e::Column::Kind.eq("a"));
    filtered!(w, monthly, 6, e => Condition::any()
        .add(e::Column::At.lt(february()))
        .add(e::Column::Kind.eq("a")));
    filtered!(w, monthly, 2, e => Condition::any()
        .add(e::Column::At.lt(february()))
        .add(e::Column::At.gte(at("2013-06-01T00:00:00Z"))));
    filtered!(w, monthly, 1, e => Condition::all()
        .add(e::Column::At.lt(february()))
        .add(e::Column::Kind.eq("a"))
        .add(e::Column::N.gt(0)));
    filtered!(w, monthly, 5, e => Condition::all().add(e::Column::At.lt(february())).not());
    filtered!(w, monthly, 1, e => e::Column::At.eq(february()).and(e::Column::At.gt(february())));
    filtered!(w, monthly, 1, e => e::Column::At.is_in(Vec::<DateTime<Utc>>::new()));
    filtered!(w, monthly, 6, e => e::Column::At.is_not_in(Vec::<DateTime<Utc>>::new()));
    filtered!(w, monthly, 5, e => sea_orm::sea_query::Expr::val(february())
        .lte(sea_orm::sea_query::Expr::col((e::Entity, e::Column::At))));

    filtered!(w, hashed, 1, e => e::Column::Kind.eq("zebra"));
    filtered!(w, hashed, 4, e => e::Column::Kind.ne("zebra"));
    filtered!(w, hashed, 4, e => e::Column::Kind.gt("b"));
    filtered!(w, hashed, 4, e => e::Column::Kind.like("z%"));
    filtered!(w, hashed, 1, e => e::Column::Kind.eq("a").and(e::Column::Kind.eq("b")));

    filtered!(w, spread, 6, e => e::Column::Id.eq(7));
    filtered!(w, spread, 12, e => e::Column::Id.gt(7));
    filtered!(w, spread, 2, e => e::Column::At.lt(february()));
    filtered!(w, spread, 1, e => e::Column::At.lt(february()).and(e::Column::Id.eq(8)));
    filtered!(w, spread, 12, e => e::Column::Id.is_in([2, 3]));
    filtered!(w, spread, 6, e => e::Column::Id.is_in([2, 4]));
    world.end().await;
}

pub async fn orders(backend: DbBackend) {
    let world = World::filled(backend).await;
    macro_rules! by {
        ($($column:ident),+) => {
            $(
                for order in [Order::Asc, Order::Desc] {
                    same!(world, monthly, e => e::Entity::find()
                        .order_by(e::Column::$column, order.clone())
                        .order_by_asc(e::Column::Id));
                    for nulls in [NullOrdering::First, NullOrdering::Last] {
                        same!(world, spread, e => e::Entity::find()
                            .order_by_with_nulls(e::Column::$column, order.clone(), nulls)
                            .order_by_desc(e::Column::Id));
                    }
                }
            )+
        };
    }
    by!(
        Id, At, Day, Kind, Note, N, Big, Score, Amount, Flag, Data, Uid
    );
    same!(world, monthly, e => e::Entity::find()
        .order_by_desc(e::Column::Flag)
        .order_by_asc(e::Column::Kind)
        .order_by_desc(e::Column::N)
        .order_by_asc(e::Column::Id));
    // By alias, and by a column that is selected once more.
    same!(world, monthly, e => e::Entity::find()
        .select_only()
        .column_as(e::Column::N, "number")
        .column(e::Column::Id)
        .order_by_asc(sea_orm::sea_query::Expr::col("number"))
        .order_by_asc(e::Column::Id));
    world.end().await;
}

/// MySQL's own text order is not binary; there the database orders, over a union.
pub async fn text_orders(backend: DbBackend) {
    let world = World::with_text(backend, crate::world::TextColumns::Default).await;
    world.fill(crate::world::events()).await;
    same!(world, monthly, e => e::Entity::find()
        .order_by_desc(e::Column::Kind)
        .order_by_asc(e::Column::Id));
    let query = monthly::Entity::find().order_by_asc(monthly::Column::Kind);
    let rung = world.db.explain(&query).unwrap().rung;
    // Over two data sources, texts that only the database can put in order are ranked by it.
    same!(world, spread, e => e::Entity::find()
        .order_by_desc(e::Column::Kind)
        .order_by_asc(e::Column::Id)
        .limit(100)
        .offset(30));
    same_set!(world, spread, e => e::Entity::find()
        .select_only()
        .column_as(e::Column::Id.count(), "count")
        .group_by(e::Column::Kind));
    if backend == DbBackend::MySql {
        assert!(matches!(rung, Rung::Union(_)), "{rung}");
    } else {
        assert_eq!(rung, Rung::Merge);
    }
    world.end().await;
}

pub async fn pages(backend: DbBackend) {
    let world = World::filled(backend).await;
    for (offset, limit) in [
        (0, 1),
        (0, 10),
        (10, 10),
        (95, 10),
        (390, 20),
        (1000, 5),
        (3, 0),
    ] {
        same!(world, monthly, e => e::Entity::find()
            .order_by_desc(e::Column::N)
            .order_by_asc(e::Column::Id)
            .limit(limit)
            .offset(offset));
        same!(world, spread, e => e::Entity::find()
            .order_by_asc(e::Column::Uid)
            .order_by_asc(e::Column::Id)
            .limit(limit)
            .offset(offset));
    }
    // One node: the page is the database's.
    same!(world, monthly, e => e::Entity::find()
        .filter(e::Column::At.lt(at("2013-02-01T00:00:00Z")))
        .order_by_asc(e::Column::Id)
        .limit(15)
        .offset(15));
    // All pages together hold every row once.
    let pages = monthly::Entity::find()
        .order_by_asc(monthly::Column::Flag)
        .order_by_desc(monthly::Column::Id)
        .paginate(&world.db, 30);
    let mut ids = Vec::new();
    for page in 0..pages.num_pages().await.unwrap() {
        ids.extend(
            pages
                .fetch_page(page)
                .await
                .unwrap()
                .into_iter()
                .map(|event| event.id),
        );
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..400).collect::<Vec<_>>());

    let paged = spread::Entity::find()
        .paginate(&world.db, 30)
        .num_items_and_pages()
        .await
        .unwrap();
    assert_eq!((paged.number_of_items, paged.number_of_pages), (400, 14));
    world.end().await;
}

pub async fn concatenations(backend: DbBackend) {
    let world = World::filled(backend).await;
    same_set!(world, monthly, e => e::Entity::find());
    same_set!(world, spread, e => e::Entity::find().filter(e::Column::Flag.eq(true)));
    same_set!(world, spread, e => e::Entity::find()
        .select_only()
        .column(e::Column::Id)
        .expr_as(e::Column::Big.into_expr().add(1), "next"));
    let some = monthly::Entity::find()
        .limit(7)
        .offset(2)
        .all(&world.db)
        .await
        .unwrap();
    assert_eq!(some.len(), 7);
    world.end().await;
}

pub async fn streams(backend: DbBackend) {
    let world = World::filled(backend).await;
    let ordered = |query: sea_orm::Select<whole::Entity>| query.order_by_asc(whole::Column::Id);
    let expected = ordered(whole::Entity::find()).all(&world.db).await.unwrap();
    let expected: Vec<i64> = expected.into_iter().map(|event| event.id).collect();

    // Six nodes and four connections: the nodes are read one after the other.
    let rows = monthly::Entity::find().order_by_asc(monthly::Column::Id);
    let rows: Vec<_> = rows
        .stream(&world.db)
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(
        rows.iter().map(|event| event.id).collect::<Vec<_>>(),
        expected
    );

    // Two nodes: they are read side by side.
    let early = spread::Entity::find()
        .filter(spread::Column::At.lt(at("2013-02-01T00:00:00Z")))
        .order_by_desc(spread::Column::Id);
    let rows: Vec<_> = early
        .clone()
        .stream(&world.db)
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(rows, early.all(&world.db).await.unwrap());

    let rows = spread::Entity::find().stream(&world.db).await.unwrap();
    let mut ids: Vec<_> = rows.map_ok(|event| event.id).try_collect().await.unwrap();
    ids.sort_unstable();
    assert_eq!(ids, expected);

    // Values have the types that they have in one table, also where the database merges.
    let whole_rows = ordered(whole::Entity::find())
        .into_json()
        .all(&world.db)
        .await;
    let whole_rows = whole_rows.unwrap();
    macro_rules! as_json {
        ($e:ident) => {
            $e::Entity::find()
                .order_by_asc($e::Column::Id)
                .into_json()
                .stream(&world.db)
                .await
                .unwrap()
                .try_collect::<Vec<_>>()
                .await
                .unwrap()
        };
    }
    assert_eq!(as_json!(monthly), whole_rows);
    assert_eq!(as_json!(hashed), whole_rows);
    assert_eq!(as_json!(spread), whole_rows);

    // A stream that is dropped early gives its connections back.
    for _ in 0..20 {
        let mut rows = monthly::Entity::find().stream(&world.db).await.unwrap();
        assert!(rows.try_next().await.unwrap().is_some());
    }
    assert_eq!(monthly::Entity::find().count(&world.db).await.unwrap(), 400);
    world.end().await;
}

pub async fn one_row(backend: DbBackend) {
    let world = World::filled(backend).await;
    let whole = whole::Entity::find_by_id(77)
        .one(&world.db)
        .await
        .unwrap()
        .unwrap();
    let found = monthly::Entity::find_by_id(77)
        .one(&world.db)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.uid, whole.uid);
    let found = spread::Entity::find_by_id(77)
        .one(&world.db)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.uid, whole.uid);
    let none = monthly::Entity::find_by_id(7_777)
        .one(&world.db)
        .await
        .unwrap();
    assert_eq!(none, None);
    let last = whole::Entity::find()
        .order_by_desc(whole::Column::Id)
        .one(&world.db)
        .await
        .unwrap();
    let found = spread::Entity::find()
        .order_by_desc(spread::Column::Id)
        .one(&world.db)
        .await
        .unwrap();
    assert_eq!(found.unwrap().uid, last.unwrap().uid);
    let second = monthly::Entity::find()
        .order_by_asc(monthly::Column::Id)
        .offset(1)
        .limit(5);
    assert_eq!(second.one(&world.db).await.unwrap().unwrap().id, 1);
    let page = monthly::Entity::find()
        .order_by_asc(monthly::Column::Id)
        .offset(1000);
    assert_eq!(page.one(&world.db).await.unwrap(), None);
    world.end().await;
}

pub async fn exists(backend: DbBackend) {
    let world = World::filled(backend).await;
    let exists = |id| {
        monthly::Entity::find()
            .filter(monthly::Column::Id.eq(id))
            .exists(&world.db)
    };
    assert!(exists(399).await.unwrap());
    assert!(!exists(400).await.unwrap());
    let april = spread::Entity::find()
        .filter(spread::Column::At.between(at("2013-04-02T00:00:00Z"), at("2013-04-29T00:00:00Z")));
    assert!(!april.exists(&world.db).await.unwrap());
    world.end().await;
}

pub async fn cursors(backend: DbBackend) {
    let world = World::filled(backend).await;
    let (mut after, mut ids) = (-1, Vec::new());
    loop {
        let mut cursor = monthly::Entity::find().cursor_by(monthly::Column::Id);
        let page = cursor.after(after).first(33).all(&world.db).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.id;
        ids.extend(page.into_iter().map(|event| event.id));
    }
    assert_eq!(ids, (0..400).collect::<Vec<_>>());
    let mut cursor = spread::Entity::find().cursor_by((spread::Column::Day, spread::Column::Id));
    let day = NaiveDate::from_ymd_opt(2013, 3, 3).unwrap();
    let found = cursor
        .before((day, 100))
        .last(5)
        .all(&world.db)
        .await
        .unwrap();
    let mut cursor = whole::Entity::find().cursor_by((whole::Column::Day, whole::Column::Id));
    let expected = cursor
        .before((day, 100))
        .last(5)
        .all(&world.db)
        .await
        .unwrap();
    let ids = |events: &[i64]| events.to_vec();
    assert_eq!(
        ids(&found.iter().map(|event| event.id).collect::<Vec<_>>()),
        ids(&expected.iter().map(|event| event.id).collect::<Vec<_>>()),
    );
    world.end().await;
}

/// A merged row reads like a real one, by name and by position.
pub async fn decoding(backend: DbBackend) {
    let world = World::filled(backend).await;
    type Row = (Option<i32>, i64, String, bool, Option<f64>, DateTime<Utc>);
    macro_rules! tuples {
        ($name:ident) => {
            $name::Entity::find()
                .select_only()
                .columns([
                    $name::Column::N,
                    $name::Column::Id,
                    $name::Column::Kind,
                    $name::Column::Flag,
                    $name::Column::Score,
                    $name::Column::At,
                ])
                .order_by_asc($name::Column::Id)
                .into_tuple::<Row>()
                .all(&world.db)
                .await
                .unwrap()
        };
    }
    assert_eq!(tuples!(spread), tuples!(whole));
    let models = spread::Entity::find()
        .order_by_asc(spread::Column::Id)
        .all(&world.db)
        .await
        .unwrap();
    let expected = whole::Entity::find()
        .order_by_asc(whole::Column::Id)
        .all(&world.db)
        .await
        .unwrap();
    let pairs = models.iter().zip(&expected);
    assert!(pairs.clone().count() == 400);
    for (found, expected) in pairs {
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }
    world.end().await;
}

pub async fn empty_answers(backend: DbBackend) {
    let world = World::empty(backend).await;
    same!(world, monthly, e => e::Entity::find().order_by_asc(e::Column::Id));
    same!(world, spread, e => e::Entity::find().limit(3));
    assert_eq!(monthly::Entity::find().count(&world.db).await.unwrap(), 0);
    assert_eq!(monthly::Entity::find().one(&world.db).await.unwrap(), None);
    let never = monthly::Entity::find().filter(monthly::Column::At.is_null());
    assert_eq!(never.clone().count(&world.db).await.unwrap(), 0);
    assert_eq!(world.db.explain(&never).unwrap().nodes.len(), 1);
    // A statement without any table goes to the default source.
    let one = Query::select()
        .expr(sea_orm::sea_query::Expr::val(1))
        .to_owned();
    assert!(world.db.query_one(&one).await.unwrap().is_some());
    let _ = never.into_query();
    world.end().await;
}
