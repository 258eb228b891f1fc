//! Which tables a condition reaches.

use sea_orm::sea_query::{
    Alias, Condition, Expr, ExprTrait, IntoColumnRef, Query, SelectStatement,
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, Order, QueryFilter,
    QueryOrder, QuerySelect, QueryTrait, Set,
};
use serde_json::json;
use sharding_sea_orm::{EntityRules, Modulo, Ranges, ShardingError, rule};

use super::entities::{entity, row, s, t};
use super::fixture::table;
use super::{Layout, Peers, Text, each};

entity!(
    /// A key and nothing else.
    key, "key";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
);

fn id() -> Expr {
    Expr::col(t::Column::Id)
}

/// `SELECT id FROM t WHERE … ORDER BY id`.
fn ids(condition: Expr) -> SelectStatement {
    t::Entity::find()
        .select_only()
        .column(t::Column::Id)
        .filter(condition)
        .order_by_asc(t::Column::Id)
        .into_query()
}

impl Peers {
    /// How many tables a query reaches over one data source.
    fn reach(&self, query: &SelectStatement) -> usize {
        self.one.explain(query).unwrap().nodes.len()
    }

    /// Checks the rows of a condition and how many tables it reaches.
    async fn routed(&self, condition: Expr, tables: usize) {
        let query = ids(condition);
        self.same(&query).await.answered();
        let reach = self.reach(&query);
        assert_eq!(reach, tables, "{}", self.backend.build(&query));
    }
}

/// NOT IN was routed as IN (#32076, #32967 and #18146 of ShardingSphere; ShardingCore ignores a
/// negation of `Equals`).
pub async fn negations(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    for condition in [
        id().is_not_in([0]),
        id().is_not_in([0, 1, 2]),
        id().not_between(1, 38),
        id().ne(0),
        id().eq(0).not(),
        id().is_in([0, 4]).not(),
        id().between(1, 38).not(),
        id().eq(0).or(id().eq(1)).not(),
        id().ne(0).and(id().ne(1)),
    ] {
        peers.routed(condition, 4).await;
    }
    // Twice not is.
    peers.routed(id().ne(5).not(), 1).await;
    peers.routed(id().is_not_in([5, 9]).not(), 1).await;
    peers.end().await;
}

/// `5 > id` was read as `id > 5` (pull request 39534, #12763 and #572 of ShardingSphere).
pub async fn literals_on_the_left(backend: DbBackend) {
    let tables = [table::<key::Entity>(backend)];
    let peers = Peers::of(backend, Text::Bytes, &tables, by_tens).await;
    let rows = (0..30).map(|id| key::Model { id }).collect();
    peers.fill::<key::Entity>(rows).await;
    let value = |value: i64| Expr::val(value);
    let col = || Expr::col(key::Column::Id);
    for (condition, rows, tables) in [
        (value(5).gt(col()), 5, 1),
        (value(5).gte(col()), 6, 1),
        (value(25).lt(col()), 4, 1),
        (value(25).lte(col()), 5, 1),
        (value(10).gt(col()), 10, 1),
        (value(10).gte(col()), 11, 2),
        (value(1).eq(col()), 1, 1),
        (value(1).ne(col()), 29, 3),
    ] {
        let query = key::Entity::find()
            .filter(condition)
            .order_by_asc(key::Column::Id);
        peers.same(query.as_query()).await.answered().count(rows);
        assert_eq!(peers.reach(query.as_query()), tables);
    }
    peers.end().await;
    let peers = Peers::filled(backend).await;
    peers.routed(value(1).eq(id()), 1).await;
    peers.end().await;
}

/// An OR with a branch without the key confused the route (#26348 and #1581 of ShardingSphere).
pub async fn branches_without_key(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    let k = || Expr::col(t::Column::K);
    peers.routed(id().eq(1).or(k().eq(2)), 4).await;
    peers.routed(k().eq(2).or(id().eq(1)), 4).await;
    peers
        .routed(id().eq(1).and(k().eq(2)).or(id().eq(5)), 1)
        .await;
    peers
        .routed(id().eq(1).and(k().eq(1)).or(id().eq(6)), 2)
        .await;
    peers
        .routed(id().eq(1).or(k().eq(2)).and(id().eq(3)), 1)
        .await;
    peers
        .routed(id().eq(1).or(id().is_null()).or(k().gt(9)), 4)
        .await;
    peers.end().await;
}

/// A contradiction went to any table, or failed (#24422 of ShardingSphere; #91 of ShardingCore).
/// The answer is empty and has its columns; counts are 0, and nothing is written.
pub async fn contradictions(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    let nothing = [
        id().eq(1).and(id().eq(2)),
        id().gt(5).and(id().lt(3)),
        id().is_in(Vec::<i64>::new()),
        id().is_in([1, 2]).and(id().is_in([3, 4])),
        id().eq(1).and(id().is_null()),
    ];
    for condition in nothing {
        peers
            .same(&ids(condition.clone()))
            .await
            .answered()
            .count(0);
        let mut count = Query::select();
        count
            .expr_as(Expr::cust("COUNT(*)"), "count")
            .expr_as(id().sum(), "sum")
            .from(t::Entity)
            .and_where(condition.clone());
        peers.same(&count).await.answered().rows(json!([[0, null]]));
        let written = each!(peers, db => t::Entity::update_many()
            .col_expr(t::Column::K, Expr::value(77))
            .filter(condition.clone())
            .exec(db)
            .await
            .map(|done| done.rows_affected));
        written.answered().is(0);
        let deleted = each!(peers, db => t::Entity::delete_many()
            .filter(condition.clone())
            .exec(db)
            .await
            .map(|done| done.rows_affected));
        deleted.answered().is(0);
    }
    peers.same(&ids(id().gte(0))).await.answered().count(40);
    peers.end().await;
}

/// Numbers above those of 32 bits, and mixed kinds of numbers, were exceptions or endless loops
/// (#5544, #268 and pull request 5770 of ShardingSphere; ShardingCore narrows keys to 32 bits).
pub async fn wide_numbers(backend: DbBackend) {
    let wide = [
        i64::MIN,
        -(1 << 53) - 1,
        -4,
        -3,
        -2,
        -1,
        0,
        1,
        i64::from(i32::MAX),
        1 << 31,
    ];
    let wider = [(1 << 53) + 1, (1 << 53) + 2, i64::MAX - 1, i64::MAX];
    let rows = wide.into_iter().chain(wider).map(row).collect();
    let peers = Peers::with(backend, Text::Bytes, rows).await;
    for condition in [
        id().between(0_i64, i64::from(i32::MAX)),
        id().between(0_i64, i64::MAX),
        id().between(i64::MIN, i64::MAX),
        id().gt(i32::MAX),
        id().lt(0),
    ] {
        peers.routed(condition, 4).await;
    }
    // Keys that a 53 bit number would mix up, and negative ones (#8551, #22357, #21475 and pull
    // request 21564: a table `-1`).
    for key in wide.into_iter().chain(wider) {
        peers.routed(id().eq(key), 1).await;
    }
    peers.routed(id().eq(1_i8), 1).await;
    peers.routed(id().eq(1_u64), 1).await;
    peers.routed(id().is_in([1_u8, 5]), 1).await;
    // Bits of the key.
    let bits = Expr::col(t::Column::Id).bit_and(3).eq(1);
    peers.routed(bits, 4).await;
    peers.end().await;
}

fn by_tens(
    builder: sharding_sea_orm::ShardingBuilder,
    layout: Layout,
) -> sharding_sea_orm::ShardingBuilder {
    let ranges = Ranges::new()
        .less_than(10, "low")
        .less_than(20, "mid")
        .max_value("high");
    let rules = EntityRules::<key::Entity>::new().table(rule::<i64, _>(key::Column::Id, ranges));
    builder.table(match layout {
        Layout::One => rules,
        Layout::Two => rules.tails("a", ["low", "high"]).tails("b", ["mid"]),
    })
}

/// What is beyond the first and the last border was a surprise (#20058 and #18726 of
/// ShardingSphere).
pub async fn borders_of_ranges(backend: DbBackend) {
    let tables = [table::<key::Entity>(backend)];
    let peers = Peers::of(backend, Text::Bytes, &tables, by_tens).await;
    let ids = [i64::MIN, -1, 0, 9, 10, 19, 20, 21, i64::MAX];
    peers
        .fill::<key::Entity>(ids.map(|id| key::Model { id }).to_vec())
        .await;
    for (id, tail) in [
        (i64::MIN, "low"),
        (9, "low"),
        (10, "mid"),
        (19, "mid"),
        (20, "high"),
        (i64::MAX, "high"),
    ] {
        let query = key::Entity::find().filter(key::Column::Id.eq(id));
        peers.same(query.as_query()).await.answered().count(1);
        let explained = peers.one.explain(&query).unwrap();
        let tables: Vec<_> = explained.nodes.iter().map(|node| &*node.table).collect();
        assert_eq!(tables, [format!("key_{tail}")]);
    }
    for (condition, tables) in [
        (key::Column::Id.lt(10), 1),
        (key::Column::Id.lte(10), 2),
        // Keys are compared as numbers, so there may be some between 19 and 20.
        (key::Column::Id.gt(19), 2),
        (key::Column::Id.gte(19), 2),
        (key::Column::Id.between(10, 19), 1),
        (key::Column::Id.between(9, 20), 3),
    ] {
        let query = key::Entity::find()
            .filter(condition)
            .order_by_asc(key::Column::Id);
        peers.same(query.as_query()).await.answered();
        assert_eq!(peers.reach(query.as_query()), tables);
    }
    peers.end().await;
}

/// The suffix `_1` found `_11` as well (#13009 of ShardingSphere).
pub async fn tails_that_begin_alike(backend: DbBackend) {
    let tables = [table::<key::Entity>(backend)];
    let peers = Peers::of(backend, Text::Bytes, &tables, |builder, layout| {
        let rules = EntityRules::<key::Entity>::new()
            .table(rule::<i64, _>(key::Column::Id, Modulo::new(120)));
        builder.table(match layout {
            Layout::One => rules,
            Layout::Two => rules.tails("a", ["0..59"]).tails("b", ["60..119"]),
        })
    })
    .await;
    let rows = (0..240).map(|id| key::Model { id }).collect();
    peers.fill::<key::Entity>(rows).await;
    for id in [1, 10, 11, 12, 100, 101, 110, 111, 119] {
        let query = key::Entity::find().filter(key::Column::Id.is_in([id, id + 120]));
        let query = query.order_by_asc(key::Column::Id);
        peers
            .same(query.as_query())
            .await
            .answered()
            .rows(json!([[id], [id + 120]]));
        let explained = peers.one.explain(&query).unwrap();
        let tables: Vec<_> = explained.nodes.iter().map(|node| &*node.table).collect();
        assert_eq!(tables, [format!("key_{id}")]);
    }
    peers.end().await;
}

/// The key was not found in another letter case (#14708 and #1141 of ShardingSphere).
pub async fn letter_case(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    let aliased = |alias: &'static str, column: &'static str| {
        let column = || (Alias::new(alias), Alias::new(column)).into_column_ref();
        let mut query = Query::select();
        query
            .expr_as(Expr::col(column()), "id")
            .from_as(t::Entity, Alias::new(alias))
            .and_where(Expr::col(column()).is_in([1, 5]))
            .order_by("id", Order::Asc);
        query
    };
    for alias in ["O", "o", "T", "t", "Order"] {
        let query = aliased(alias, "id");
        peers.same(&query).await.answered().rows(json!([[1], [5]]));
        assert_eq!(peers.reach(&query), 1);
        // PostgreSQL has no such column.
        peers.same(&aliased(alias, "ID")).await;
    }
    // An alias that hides the key.
    let mut hidden = Query::select();
    hidden
        .expr_as(Expr::col(t::Column::K), "id")
        .from(t::Entity)
        .and_where(Expr::col((t::Entity, t::Column::Id)).eq(7));
    peers.same(&hidden).await.answered().rows(json!([[2]]));
    peers.end().await;
}

/// A condition on a column of the same name in another table was taken for the key (#34281 of
/// ShardingSphere; ShardingCore puts all conditions of an entity together, wherever they stand).
pub async fn keys_of_other_tables(backend: DbBackend) {
    let peers = Peers::joined(backend).await;
    let inner = |id: i64| {
        let mut query = Query::select();
        query
            .column(s::Column::X)
            .from(s::Entity)
            .and_where(Expr::col(s::Column::Id).eq(id));
        query
    };
    for outer in [4, 1] {
        let condition = id()
            .eq(outer)
            .and(Expr::col(t::Column::K).in_subquery(inner(3)));
        let query = ids(condition);
        let told = peers.same(&query).await;
        assert_eq!(peers.reach(&query), 1);
        if outer == 4 {
            told.answered().rows(json!([[4]]));
        }
    }
    let all = ids(Expr::col(t::Column::K).in_subquery(inner(3)));
    peers.same(&all).await.count(8);
    assert_eq!(peers.reach(&all), 4);
    // A row of the table itself inside of a condition says nothing about the outer one.
    let mut same = Query::select();
    same.column(t::Column::K)
        .from(t::Entity)
        .and_where(id().eq(3));
    peers
        .same(&ids(Expr::col(t::Column::K).in_subquery(same)))
        .await
        .count(8);
    peers.end().await;
}

/// Subqueries with keys were combined with every table, or with one only (#21082 and #21114 of
/// ShardingSphere; #143 and #245 of ShardingCore).
pub async fn keys_in_subqueries(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    let inner = |condition: Expr| {
        let mut query = Query::select();
        query
            .column(t::Column::K)
            .from(t::Entity)
            .and_where(condition);
        query
    };
    let k = || Expr::col(t::Column::K);
    for (outer, within) in [(1, 1), (1, 5), (1, 6), (2, 7), (0, 39)] {
        let query = ids(id().eq(outer).and(k().in_subquery(inner(id().eq(within)))));
        peers.same(&query).await;
    }
    peers
        .same(&ids(k().in_subquery(inner(id().gt(36)))))
        .await
        .count(24);
    peers
        .same(&ids(k().not_in_subquery(inner(id().gt(36)))))
        .await
        .count(16);
    let most = |condition: Expr| {
        let mut query = Query::select();
        query.expr(id().max()).from(t::Entity).and_where(condition);
        query
    };
    let largest = ids(id().eq(Expr::from(most(id().gte(0)))));
    peers.same(&largest).await.rows(json!([[39]]));
    let above = ids(id().gt(Expr::from(most(id().eq(36)))));
    peers.same(&above).await.count(3);
    peers.end().await;
}

/// A row without a key was an error that said little, and `IS NULL` reached every table (#36450,
/// #3644 and #27411 of ShardingSphere; #238 of ShardingCore).
pub async fn null_keys(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    peers.routed(id().is_null(), 1).await;
    peers.routed(id().eq(Option::<i64>::None), 1).await;
    peers.routed(id().is_not_null(), 4).await;
    peers.routed(id().is_in([Some(1_i64), None]), 1).await;
    for db in [&peers.one, &peers.two] {
        let mut null = Query::insert();
        null.into_table(t::Entity)
            .columns([
                t::Column::Id,
                t::Column::K,
                t::Column::C,
                t::Column::Ts,
                t::Column::G,
            ])
            .values_panic([
                Option::<i64>::None.into(),
                1.into(),
                "".into(),
                row(0).ts.into(),
                row(0).g.into(),
            ]);
        let error = db.execute(&null).await.unwrap_err();
        assert!(
            matches!(ShardingError::of(&error), Some(ShardingError::Key(_))),
            "{error}"
        );
        let absent = t::ActiveModel {
            k: Set(1),
            c: Set(String::new()),
            ..Default::default()
        };
        let error = absent.insert(db).await.unwrap_err();
        assert!(ShardingError::of(&error).is_some(), "{error}");
    }
    peers.end().await;
}

/// What is always true beside the key was routed by the key (#7547 of ShardingSphere).
pub async fn conditions_that_always_hold(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    let always = || Expr::val(1).eq(1);
    peers.routed(id().eq(1).or(always()), 4).await;
    peers.routed(always().or(id().eq(1)), 4).await;
    peers.routed(id().eq(1).or(Expr::cust("1 = 1")), 4).await;
    peers.routed(id().eq(1).and(always()), 1).await;
    peers
        .routed(id().eq(2).and(id().eq(1).or(always())), 1)
        .await;
    let text = Expr::cust("id = 1 OR 1 = 1");
    peers.routed(text.clone(), 4).await;
    peers.routed(text.and(id().eq(2)), 1).await;
    let any = Condition::any().add(id().eq(1)).add(always());
    let query = t::Entity::find().filter(any).order_by_asc(t::Column::Id);
    peers.same(query.as_query()).await.answered().count(40);
    // Nothing is an OR of nothing.
    let none = t::Entity::find()
        .filter(Condition::any())
        .order_by_asc(t::Column::Id);
    peers.same(none.as_query()).await.answered().count(0);
    peers.end().await;
}

/// A list of keys was cut into those of each table, which lost values and parameters (pull request
/// 37298 of ShardingSphere; ShardingCore fails for NULLs in a list).
pub async fn lists_of_keys(backend: DbBackend) {
    let peers = Peers::filled(backend).await;
    let k = || Expr::col(t::Column::K);
    peers.routed(id().is_in([3, 3, 7, 3]), 1).await;
    peers
        .routed(id().is_in([Some(3_i64), None, Some(6)]), 2)
        .await;
    peers.routed(id().is_not_in([Some(3_i64), None]), 1).await;
    peers.routed(id().is_in([1, 2, 3]).and(k().eq(2)), 3).await;
    peers
        .routed(id().is_in([1, 2, 3]).and(id().is_in([2, 3, 4])), 2)
        .await;
    peers
        .routed(id().is_in([1, 2]).or(k().is_in([3, 4])), 4)
        .await;
    let tuples = Expr::tuple([id(), k()]).in_tuples([(1_i64, 1_i32), (2, 2), (3, 1)]);
    peers
        .same(&ids(tuples))
        .await
        .answered()
        .rows(json!([[1], [2]]));
    peers.end().await;
}
