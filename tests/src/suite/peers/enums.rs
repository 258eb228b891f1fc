//! ENUMs: they sort as their values are declared, which comparing texts does not know, and which a
//! union on MariaDB forgets.

use sea_orm::sea_query::{Expr, ExprTrait, Query, WindowStatement};
use sea_orm::{
    ColumnTrait, DbBackend, DeriveActiveEnum, EntityTrait, EnumIter, Order, QueryFilter,
    QueryOrder, QuerySelect, QueryTrait,
};

use super::entities::entity;
use super::fixture::{by_key, table};
use super::{Bench, Peers, Text};

/// Not in the order of their texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Enum", enum_name = "mood")]
#[allow(missing_docs, reason = "the values name themselves")]
pub enum Mood {
    #[sea_orm(string_value = "low")]
    Low,
    #[sea_orm(string_value = "its")]
    Its,
    #[sea_orm(string_value = "High")]
    High,
    #[sea_orm(string_value = "better")]
    Better,
}

entity!(
    /// Rows with an ENUM.
    moody, "moody";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    mood: Option<super::Mood>,
    n: i32,
);

async fn filled(bench: &Bench) -> Peers {
    let tables = [table::<moody::Entity>(bench.backend)];
    let peers = bench
        .of(Text::Bytes, &tables, |builder, layout| {
            builder.table(by_key::<moody::Entity>(moody::Column::Id, layout))
        })
        .await;
    let moods = [Mood::Low, Mood::Its, Mood::High, Mood::Better];
    let row = |id: i64| moody::Model {
        id,
        mood: moods.get(usize::try_from(id * 7 % 5).unwrap()).copied(),
        n: (id * 31 % 17) as i32,
    };
    peers
        .fill::<moody::Entity>((0..60).map(row).collect())
        .await;
    peers
}

/// Sorted by the column, and by it without selecting it.
pub async fn orders_of_enums(bench: &Bench) {
    let peers = filled(bench).await;
    for order in [Order::Asc, Order::Desc] {
        let all = moody::Entity::find()
            .order_by(moody::Column::Mood, order.clone())
            .order_by_asc(moody::Column::Id);
        peers.same(all.as_query()).await.answered().count(60);
        let page = all.limit(11).offset(20);
        peers.same(page.as_query()).await.answered().count(11);
        let hidden = moody::Entity::find()
            .select_only()
            .column(moody::Column::Id)
            .filter(moody::Column::N.gt(3))
            .order_by(moody::Column::Mood, order)
            .order_by_asc(moody::Column::Id);
        peers.same(hidden.as_query()).await.answered();
    }
    peers.end().await;
}

/// Groups by an ENUM, distinct ones, and the first and the last.
pub async fn groups_of_enums(bench: &Bench) {
    let peers = filled(bench).await;
    let raw = || Expr::col(moody::Column::Mood);
    let mut groups = Query::select();
    groups
        .expr_as(raw(), "mood")
        .expr_as(Expr::col(moody::Column::N).sum(), "total")
        .from(moody::Entity)
        .add_group_by([raw()])
        .order_by_expr(raw(), Order::Desc);
    peers.same(&groups).await.answered().count(5);
    groups.limit(2);
    peers.same(&groups).await.answered().count(2);
    let selected = moody::Entity::find()
        .select_only()
        .column(moody::Column::Mood)
        .column_as(moody::Column::Id.count(), "count")
        .group_by(moody::Column::Mood);
    peers
        .same_set(selected.as_query())
        .await
        .answered()
        .count(5);
    let mut distinct = Query::select();
    distinct
        .distinct()
        .expr_as(raw(), "mood")
        .from(moody::Entity)
        .order_by_expr(raw(), Order::Asc);
    peers.same(&distinct).await.answered().count(5);
    let mut count = Query::select();
    count
        .expr_as(raw().count_distinct(), "moods")
        .from(moody::Entity);
    peers.same(&count).await.answered();
    let mut extremes = Query::select();
    extremes
        .expr_as(raw().min(), "first")
        .expr_as(raw().max(), "last")
        .from(moody::Entity);
    // MariaDB compares their texts here.
    let sorts = bench.backend != DbBackend::MySql;
    peers.same(&extremes).await.answered_if(sorts);
    // One row in each table.
    extremes.and_where(Expr::col(moody::Column::Id).lt(4));
    peers.same(&extremes).await.answered_if(sorts);
    peers.end().await;
}

/// What only the database can answer over all tables in one statement.
pub async fn unions_of_enums(bench: &Bench) {
    let peers = filled(bench).await;
    let numbered = |order: &[&'static str]| {
        let mut window = WindowStatement::new();
        for column in order {
            window.order_by(*column, Order::Asc);
        }
        Query::select()
            .column("id")
            .expr_window_as(Expr::cust("ROW_NUMBER()"), window, "x")
            .from("moody")
            .order_by("id", Order::Asc)
            .to_owned()
    };
    peers.same(&numbered(&["n", "id"])).await.count(60);
    // Over a union, MariaDB would sort texts; even through another name.
    let mut renamed = Query::select();
    renamed
        .expr_as(Expr::col("mood"), "m")
        .expr_as(Expr::col("id"), "i")
        .from("moody")
        .order_by("n", Order::Asc)
        .order_by("id", Order::Asc)
        .limit(30);
    let mut renamed_order = Query::select();
    renamed_order
        .columns(["i"])
        .from_subquery(renamed, "x")
        .order_by("m", Order::Asc)
        .order_by("i", Order::Asc);
    let list = Query::select()
        .column("id")
        .from("moody")
        .and_where(Expr::col("id").eq(8))
        .take();
    let computed = Query::select()
        .expr_as(Expr::col("mood").min(), "least")
        .from("moody")
        .and_where(Expr::col("id").eq(8))
        .and_where(Expr::col("id").in_subquery(list))
        .add_group_by([Expr::col("n")])
        .order_by_expr(Expr::col("mood").min(), Order::Asc)
        .take();
    for query in [numbered(&["mood", "id"]), renamed_order, computed] {
        if bench.backend == DbBackend::MySql {
            let error = sea_orm::ConnectionTrait::query_all(&peers.one, &query)
                .await
                .unwrap_err()
                .to_string();
            assert!(error.contains("ORDER BY an ENUM"), "{error}");
        } else {
            peers.same(&query).await;
        }
    }
    peers.end().await;
}
