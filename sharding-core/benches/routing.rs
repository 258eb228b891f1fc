//! What it costs to find the nodes of a condition, and to build the topology that knows them.
//!
//! A route goes from a condition on the key to the positions of nodes: for `=`, for a range that
//! touches three tails, and for `IN` lists, each at 10, 1,000 and 10,000 tails.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark that fails has nothing to tell"
)]

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use divan::{AllocProfiler, Bencher};
use sharding_core::key::{Comparison, KeyKind, KeySet, KeyValue, Predicate};
use sharding_core::strategy::{
    Calendar, Daily, Day, Embedded, HashBuckets, HashModulo, HashSplit, Lists, Modulo, Ranges,
    SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash, SnowflakeLayout, SnowflakeTime, Strategy,
};
use sharding_core::topology::{
    ColumnDraft, ColumnKind, KeyDraft, RuleDraft, TableDraft, TableName, Topology, TopologyDraft,
};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// A short call is timed with others of its kind, as reading the clock takes as long.
const CALLS: u32 = 100;

#[divan::bench(args = cases(&Rule::ALL), sample_count = 200, sample_size = CALLS)]
fn equal(bencher: Bencher<'_, '_>, case: Case) {
    let value = case.value(case.tails / 2);
    case.route(bencher, 1, &Predicate::Compare(Comparison::Equal, value));
}

#[divan::bench(args = cases(&Rule::ORDERED), sample_count = 200, sample_size = CALLS)]
fn range_of_3(bencher: Bencher<'_, '_>, case: Case) {
    let first = case.tails / 2;
    let range = Predicate::between(case.value(first), case.value(first + 2));
    case.route(bencher, 3, &range);
}

#[divan::bench(args = cases(&Rule::ALL), sample_count = 200, sample_size = CALLS)]
fn list_of_1(bencher: Bencher<'_, '_>, case: Case) {
    case.route(bencher, 1, &case.list(1));
}

#[divan::bench(args = cases(&Rule::ALL))]
fn list_of_100(bencher: Bencher<'_, '_>, case: Case) {
    case.route(bencher, 100, &case.list(100));
}

#[divan::bench(args = cases(&Rule::ALL))]
fn list_of_10_000(bencher: Bencher<'_, '_>, case: Case) {
    case.route(bencher, 10_000, &case.list(10_000));
}

/// Without the key every node is reached.
#[divan::bench(args = cases(&[Rule::Modulo, Rule::Daily, Rule::SnowflakeHash]))]
fn everything(bencher: Bencher<'_, '_>, case: Case) {
    case.route(bencher, case.tails, &Predicate::Unknown);
}

/// 1,000 tables of 10,000 tails each.
#[divan::bench(args = [Rule::Modulo, Rule::HashModulo, Rule::Ranges, Rule::Lists, Rule::Daily],
    sample_count = 5, sample_size = 1)]
fn build_1_000_tables(bencher: Bencher<'_, '_>, rule: Rule) {
    let case = Case {
        rule,
        tails: 10_000,
    };
    let table = case.table();
    let tables = (0..1_000).map(|number| TableDraft {
        name: TableName::new(format!("table_{number}")),
        ..table.clone()
    });
    let tables: Vec<_> = tables.collect();
    bencher
        .with_inputs(|| tables.clone())
        .bench_local_values(build);
}

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Modulo,
    HashModulo,
    HashOfTwo,
    HashBuckets,
    Ranges,
    Lists,
    ListsOfText,
    Daily,
    DailyInZone,
    SnowflakeTime,
    SnowflakeHash,
    Embedded,
}

impl Rule {
    const ALL: [Self; 12] = [
        Self::Modulo,
        Self::HashModulo,
        Self::HashOfTwo,
        Self::HashBuckets,
        Self::Ranges,
        Self::Lists,
        Self::ListsOfText,
        Self::Daily,
        Self::DailyInZone,
        Self::SnowflakeTime,
        Self::SnowflakeHash,
        Self::Embedded,
    ];

    /// Those that narrow ranges.
    const ORDERED: [Self; 6] = [
        Self::Modulo,
        Self::Ranges,
        Self::Lists,
        Self::Daily,
        Self::DailyInZone,
        Self::SnowflakeTime,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Modulo => "modulo",
            Self::HashModulo => "hash modulo",
            Self::HashOfTwo => "hash of two columns",
            Self::HashBuckets => "hash buckets",
            Self::Ranges => "ranges",
            Self::Lists => "lists",
            Self::ListsOfText => "lists of text",
            Self::Daily => "daily",
            Self::DailyInZone => "daily in New York",
            Self::SnowflakeTime => "Snowflake daily",
            Self::SnowflakeHash => "Snowflake hash",
            Self::Embedded => "embedded day",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Copy)]
struct Case {
    rule: Rule,
    tails: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.rule, self.tails)
    }
}

fn cases(rules: &[Rule]) -> Vec<Case> {
    let of_rule = |rule: &Rule| [10, 1_000, 10_000].map(|tails| Case { rule: *rule, tails });
    rules.iter().flat_map(of_rule).collect()
}

impl Case {
    /// Times the way from a condition on the key to at most so many nodes.
    fn route(self, bencher: Bencher<'_, '_>, most: usize, condition: &Predicate<'static>) {
        let topology = build(vec![self.table()]);
        let table = &topology.tables()[0];
        let route = |condition: Predicate<'static>| {
            let mut condition = Some(condition);
            table.route(|column| match (column.name(), condition.take()) {
                ("key", Some(condition)) => condition.keys(),
                _ => KeySet::point(KeyValue::text("UA")),
            })
        };
        let reached = route(condition.clone()).len();
        assert!((1..=most).contains(&reached), "{self}: {reached}");
        bencher
            .with_inputs(|| condition.clone())
            .bench_local_values(|condition| route(black_box(condition)));
    }

    /// A list of different values as far as the tails have them, not sorted.
    fn list(self, length: usize) -> Predicate<'static> {
        let value = |number: usize| self.value(number * 7 % self.tails);
        Predicate::in_list((0..length).map(value).collect(), false)
    }

    /// A key of a tail; of any tail if the strategy hashes.
    fn value(self, tail: usize) -> KeyValue<'static> {
        let day = || first() + Days::new(tail as u64);
        match self.rule {
            Rule::Modulo | Rule::HashModulo | Rule::HashOfTwo | Rule::HashBuckets | Rule::Lists => {
                KeyValue::Int(tail as i128)
            }
            Rule::Ranges => KeyValue::Int(tail as i128 * 100 + 50),
            Rule::ListsOfText => text(tail),
            Rule::Daily => KeyValue::DateTime(day().and_time(noon())),
            Rule::DailyInZone => KeyValue::Instant(day().and_time(noon()).and_utc()),
            Rule::SnowflakeTime | Rule::SnowflakeHash => {
                let id = SnowflakeLayout::TWITTER.first_id(day().and_time(noon()).and_utc());
                KeyValue::from(id)
            }
            Rule::Embedded => {
                let order: &'static str = format!("order {}", day().format("%Y%m%d")).leak();
                KeyValue::text(order)
            }
        }
    }

    fn table(self) -> TableDraft {
        let mut table = TableDraft::new(TableName::new("t"));
        let (kind, strategy) = self.strategy();
        let column = |name, kind| ColumnDraft {
            name,
            kind: ColumnKind::Key(kind),
        };
        let mut columns = vec![column("key".into(), kind)];
        if self.rule == Rule::HashOfTwo {
            columns.push(column("carrier".into(), KeyKind::Text));
        }
        let rule = RuleDraft::new(KeyDraft { columns, strategy });
        if self.rule == Rule::SnowflakeHash {
            table.node = Some(rule);
        } else {
            table.table = Some(rule);
        }
        table
    }

    fn strategy(self) -> (KeyKind, Arc<dyn Strategy>) {
        let tails = self.tails as u32;
        let layout = SnowflakeLayout::TWITTER;
        match self.rule {
            Rule::Modulo => (KeyKind::Integer, Arc::new(Modulo::new(tails))),
            Rule::HashModulo | Rule::HashOfTwo => {
                (KeyKind::Integer, Arc::new(HashModulo::new(tails)))
            }
            Rule::HashBuckets => {
                let buckets = HashBuckets::new(65_536).evenly(tails);
                (KeyKind::Integer, Arc::new(buckets))
            }
            Rule::Ranges => {
                let end = |tail: u32| i64::from(tail + 1) * 100;
                let ranges = (0..tails).fold(Ranges::new(), |ranges, tail| {
                    ranges.less_than(end(tail), tail.to_string())
                });
                (KeyKind::Integer, Arc::new(ranges))
            }
            Rule::Lists => {
                let lists = (0..tails).fold(Lists::new(), |lists, tail| {
                    lists.values(tail.to_string(), [tail])
                });
                (KeyKind::Integer, Arc::new(lists))
            }
            Rule::ListsOfText => {
                let lists = (0..self.tails).fold(Lists::new(), |lists, tail| {
                    lists.values(tail.to_string(), [text(tail)])
                });
                (KeyKind::Text, Arc::new(lists))
            }
            Rule::Daily => (KeyKind::DateTime, Arc::new(self.days())),
            Rule::DailyInZone => {
                let days = self.days().zone(chrono_tz::America::New_York);
                (KeyKind::Instant, Arc::new(days))
            }
            Rule::SnowflakeTime => {
                let days = SnowflakeTime::new(layout, self.days());
                (KeyKind::Integer, Arc::new(days))
            }
            Rule::SnowflakeHash => {
                let tables = (0..tails / 10).map(|table| format!("t_{table}"));
                let tables = HashSplit::modulo(tables);
                let databases = (0..10)
                    .map(|number| SnowflakeDatabase::new(format!("ds{number}"), tables.clone()));
                let all = SnowflakeEpoch::new(HashSplit::modulo(databases));
                (KeyKind::Integer, Arc::new(SnowflakeHash::new([all])))
            }
            Rule::Embedded => (KeyKind::Text, Arc::new(Embedded::new(6..14, self.days()))),
        }
    }

    fn days(self) -> Calendar<Day> {
        let last = first() + Days::new(self.tails as u64 - 1);
        Daily::starting(2010, 11, 5).through_date(last)
    }
}

/// The first day after the beginning of Snowflake's time.
fn first() -> NaiveDate {
    NaiveDate::from_ymd_opt(2010, 11, 5).unwrap()
}

fn noon() -> NaiveTime {
    NaiveTime::from_hms_opt(17, 0, 0).unwrap()
}

/// A text that nobody has to copy, as in a statement.
fn text(tail: usize) -> KeyValue<'static> {
    let text: &'static str = format!("c{tail:05}").leak();
    KeyValue::text(text)
}

fn build(tables: Vec<TableDraft>) -> Topology {
    let draft = TopologyDraft {
        sources: (0..10).map(|number| format!("ds{number}")).collect(),
        tables,
        ..TopologyDraft::default()
    };
    draft.build(DateTime::<Utc>::UNIX_EPOCH).unwrap()
}
