//! Keys that are times.

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder, QueryTrait};
use sharding_sea_orm::{EntityRules, EveryDays, Modulo, Monthly, Weekly, rule};

use super::entities::entity;
use super::fixture::table;
use super::{Bench, Layout, Peers, Text, Told};

entity!(
    /// Something that happened.
    event, "event";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    at: DateTimeUtc,
);

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// A table of events by `$calendar`, over two data sources by the id as well.
macro_rules! by {
    ($bench:expr, $calendar:expr) => {{
        let tables = [table::<event::Entity>($bench.backend)];
        let made = $bench.of(Text::Bytes, &tables, |builder, layout| {
            let by_time = rule::<DateTime<Utc>, _>(event::Column::At, $calendar);
            let rules = EntityRules::<event::Entity>::new().table(by_time);
            builder.table(match layout {
                Layout::One => rules,
                Layout::Two => rules.source(rule::<i64, _>(event::Column::Id, Modulo::new(2))),
            })
        });
        made.await
    }};
}

/// Checks the rows of a condition and how many tables it reaches.
async fn routed(peers: &Peers, condition: Expr, rows: usize, tables: usize) {
    reached(peers, condition, tables).await.count(rows);
}

/// The same where the count is the database's own: MariaDB finds only the first of several
/// timestamps that are parameters of a list.
async fn reached(peers: &Peers, condition: Expr, tables: usize) -> Told<'_> {
    let query = event::Entity::find()
        .filter(condition)
        .order_by_asc(event::Column::At)
        .order_by_asc(event::Column::Id);
    let explained = peers.one.explain(&query).unwrap();
    assert_eq!(explained.nodes.len(), tables, "{explained}");
    peers.same(query.as_query()).await.answered()
}

async fn fill(peers: &Peers, times: &[&str]) {
    let rows = (0..)
        .zip(times)
        .map(|(id, time)| event::Model { id, at: at(time) });
    peers.fill::<event::Entity>(rows.collect()).await;
}

fn months() -> sharding_sea_orm::Calendar<impl sharding_sea_orm::strategy::Slot> {
    Monthly::starting(2024, 1).through(2024, 6)
}

/// A range beyond the last month was an exception or left out that month (#39861 and pull request
/// 39862 of ShardingSphere).
pub async fn ranges_beyond_the_months(bench: &Bench) {
    let peers = by!(bench, months());
    let times = [
        "2024-01-01T00:00:00Z",
        "2024-01-31T23:59:59Z",
        "2024-03-15T12:00:00Z",
        "2024-06-01T00:00:00Z",
        "2024-06-30T23:59:59Z",
    ];
    fill(&peers, &times).await;
    let column = event::Column::At;
    routed(&peers, column.lt(at("2023-12-01T00:00:00Z")), 0, 1).await;
    routed(&peers, column.lt(at("2024-01-01T00:00:00Z")), 0, 1).await;
    routed(&peers, column.lte(at("2024-01-01T00:00:00Z")), 1, 1).await;
    routed(&peers, column.gt(at("2024-06-30T23:59:59Z")), 0, 1).await;
    routed(&peers, column.gte(at("2024-06-30T23:59:59Z")), 1, 1).await;
    routed(&peers, column.gt(at("2024-06-15T00:00:00Z")), 1, 1).await;
    routed(&peers, column.gte(at("2024-07-01T00:00:00Z")), 0, 1).await;
    routed(&peers, column.gt(at("2024-05-31T23:59:59Z")), 2, 2).await;
    routed(&peers, column.gte(at("2020-01-01T00:00:00Z")), 5, 6).await;
    routed(&peers, column.eq(at("2030-01-01T00:00:00Z")), 0, 1).await;
    peers.end().await;
}

/// The length of a slot was left out of account for single values (#12458, #12597 and #10735 of
/// ShardingSphere).
pub async fn slots_of_several_days(bench: &Bench) {
    let times = [
        "2024-01-01T00:00:00Z",
        "2024-01-02T23:59:59Z",
        "2024-01-03T00:00:00Z",
        "2024-01-04T12:00:00Z",
        "2024-01-07T23:59:59Z",
        "2024-01-08T00:00:00Z",
        "2024-01-14T01:00:00Z",
    ];
    let column = event::Column::At;
    let two_days = || EveryDays::starting(2, 2024, 1, 1).through(2024, 1, 16);
    let peers = by!(bench, two_days());
    fill(&peers, &times).await;
    for time in times {
        routed(&peers, column.eq(at(time)), 1, 1).await;
    }
    reached(&peers, column.is_in([at(times[1]), at(times[2])]), 2).await;
    reached(&peers, column.is_in([at(times[0]), at(times[1])]), 1).await;
    routed(&peers, column.between(at(times[1]), at(times[3])), 3, 2).await;
    peers.end().await;

    let weeks = || Weekly::starting(2024, 1, 1).through(2024, 1, 21);
    let peers = by!(bench, weeks());
    fill(&peers, &times).await;
    for time in times {
        routed(&peers, column.eq(at(time)), 1, 1).await;
    }
    routed(&peers, column.lt(at("2024-01-08T00:00:00Z")), 5, 1).await;
    routed(&peers, column.lte(at("2024-01-08T00:00:00Z")), 6, 2).await;
    routed(&peers, column.between(at(times[4]), at(times[5])), 2, 2).await;
    peers.end().await;
}

/// A time was placed by its text when written and by another text when read (#17874 of
/// ShardingSphere). Here all forms of a time are one key.
pub async fn forms_of_times(bench: &Bench) {
    let peers = by!(bench, months());
    fill(&peers, &["2024-02-29T23:30:00Z", "2024-03-01T00:00:00Z"]).await;
    let column = event::Column::At;
    routed(&peers, column.eq(at("2024-02-29T23:30:00Z")), 1, 1).await;
    routed(&peers, column.eq(at("2024-02-29T23:30:00.000Z")), 1, 1).await;
    // The same moment by another clock; SQLite compares texts, and is refused such a one.
    let shanghai: DateTime<FixedOffset> = "2024-03-01T07:30:00+08:00".parse().unwrap();
    if bench.backend != DbBackend::Sqlite {
        routed(&peers, Expr::col(column).eq(shanghai), 1, 1).await;
    }
    let later: DateTime<FixedOffset> = "2024-03-01T00:00:00+00:00".parse().unwrap();
    routed(&peers, Expr::col(column).gte(later), 1, 4).await;
    peers.end().await;
}

/// The question for one day reached three months (#13415 of ShardingSphere).
pub async fn one_day(bench: &Bench) {
    let peers = by!(bench, months());
    let times = [
        "2024-02-28T23:59:59Z",
        "2024-02-29T00:00:00Z",
        "2024-02-29T23:59:59Z",
        "2024-03-01T00:00:00Z",
        "2024-03-31T23:59:59Z",
        "2024-04-01T00:00:00Z",
    ];
    fill(&peers, &times).await;
    let column = event::Column::At;
    let day = |day: &str| at(&format!("{day}T00:00:00Z"));
    for (first, next, rows) in [
        ("2024-02-29", "2024-03-01", 2),
        ("2024-03-01", "2024-03-02", 1),
        ("2024-03-31", "2024-04-01", 1),
        ("2024-04-01", "2024-04-02", 1),
    ] {
        let (first, next) = (day(first), day(next));
        let last = next - TimeDelta::milliseconds(1);
        routed(&peers, column.gte(first).and(column.lt(next)), rows, 1).await;
        routed(&peers, column.gte(first).and(column.lte(last)), rows, 1).await;
        routed(&peers, column.between(first, last), rows, 1).await;
    }
    peers.end().await;
}

/// All spellings of a day in the case of ShardingCore's suite for routes, and of two that are
/// apart.
pub async fn spellings_of_ranges(bench: &Bench) {
    let peers = by!(bench, months());
    let times: Vec<String> = (0..180)
        .map(|day| (at("2024-01-01T12:00:00Z") + TimeDelta::days(day)).to_rfc3339())
        .collect();
    let times: Vec<&str> = times.iter().map(String::as_str).collect();
    fill(&peers, &times).await;
    let column = || Expr::col(event::Column::At);
    let (first, next) = (at("2024-03-01T00:00:00Z"), at("2024-04-01T00:00:00Z"));
    let march = [
        column().gte(first).and(column().lt(next)),
        column().lt(next).and(column().gte(first)),
        Expr::val(first)
            .lte(column())
            .and(Expr::val(next).gt(column())),
        column().lt(first).or(column().gte(next)).not(),
        column().lt(first).not().and(column().gte(next).not()),
        column()
            .gte(first)
            .and(column().lt(next))
            .and(column().is_not_null()),
        column()
            .between(first, next)
            .and(column().ne(next))
            .and(column().lt(next)),
        column()
            .gte(first)
            .and(column().gte(at("2024-01-05T00:00:00Z")))
            .and(column().lt(next)),
    ];
    for condition in march {
        routed(&peers, condition, 31, 1).await;
    }
    let may = at("2024-05-01T00:00:00Z");
    let february = at("2024-02-01T00:00:00Z");
    let apart = [
        column().lt(february).or(column().gte(may)),
        column().gte(may).or(column().lt(february)),
        column().gte(february).and(column().lt(may)).not(),
        column().not_between(february, may).or(column().eq(may)),
    ];
    for condition in apart {
        routed(&peers, condition, 90, 3).await;
    }
    // A bound that is not given.
    let open = |begin: Option<DateTime<Utc>>| match begin {
        Some(begin) => column().gte(begin),
        None => Expr::val(1).eq(1),
    };
    routed(&peers, open(None).and(column().lt(first)), 60, 2).await;
    routed(&peers, open(Some(february)).and(column().lt(first)), 29, 1).await;
    let days = [0, 45, 100].map(|day| at("2024-01-01T12:00:00Z") + TimeDelta::days(day));
    reached(&peers, column().is_in(days), 3).await;
    peers.end().await;
}
