//! Shardings as plain data: every strategy and layout.

use chrono::TimeDelta;
use chrono_tz::America::New_York;
use sea_orm::{ColumnTrait, EntityTrait, IdenStatic, Iterable};
use serde::{Deserialize, Serialize};
use sharding_sea_orm::{
    Daily, EntityRules, EveryDays, HashBuckets, HashModulo, HashSplit, KeyRule, Lists, Modulo,
    Monthly, Quarterly, Ranges, SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash, SnowflakeLayout,
    SnowflakeTime, Weekly, Yearly, composite, part,
};

use super::data::Span;
use super::random::Random;
use super::schema::{Kind, Table};

/// One way to spread the tables of a world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sharding {
    /// How many data sources there are; they are named `s0`, `s1` and so on.
    pub sources: usize,
    /// The rules of the wide table.
    pub fact: Rules,
    /// The rules of its child.
    pub item: Rules,
    /// Whether the two are declared as co-located.
    pub co_located: bool,
    /// Whether `tag` is in every data source, or else in the default one.
    pub broadcast: bool,
    /// The data source of `owner`.
    pub owner: usize,
    /// How many connections a data source has.
    pub connections: u32,
}

/// The rules of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// What chooses the data source.
    pub source: Option<Rule>,
    /// What chooses the tail.
    pub table: Option<Rule>,
    /// What chooses both.
    pub node: Option<Rule>,
    /// Tails are dealt out to the sources in turn.
    pub dealt: bool,
}

/// A key and a strategy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The columns, by the names that they have in `fact`.
    pub keys: Vec<String>,
    /// The strategy.
    pub by: By,
}

/// A strategy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the strategies name themselves")]
pub enum By {
    Modulo(u32),
    HashModulo(u32),
    HashBuckets(u32),
    Ranges(Vec<String>),
    Lists(Vec<Vec<String>>),
    Calendar { unit: Unit, zone: bool },
    SnowflakeTime(Unit),
    SnowflakeHash(u32),
}

/// A unit of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the units name themselves")]
pub enum Unit {
    Day,
    ThreeDays,
    Week,
    Month,
    Quarter,
    Year,
}

impl By {
    /// How many partitions there are, about.
    fn count(&self) -> u32 {
        match self {
            Self::Modulo(count)
            | Self::HashModulo(count)
            | Self::HashBuckets(count)
            | Self::SnowflakeHash(count) => *count,
            Self::Ranges(bounds) => bounds.len() as u32 + 1,
            Self::Lists(lists) => lists.len() as u32 + 1,
            Self::Calendar { .. } | Self::SnowflakeTime(_) => 7,
        }
    }

    /// Whether the partitions are named by their numbers.
    fn is_numbered(&self) -> bool {
        !matches!(self, Self::Calendar { .. } | Self::SnowflakeTime(_))
    }
}

/// A random strategy with about so many partitions, on another key than the one given.
fn rule(random: &mut Random, nodes: u32, span: Span, snowflake: bool, not: Option<&str>) -> Rule {
    loop {
        let key = random.of(&[
            "id", "id", "at", "at", "kind", "big", "day", "uid", "kind+big",
        ]);
        if not.is_some_and(|not| key.contains(not) || not.contains(key)) {
            continue;
        }
        let keys: Vec<String> = key.split('+').map(str::to_owned).collect();
        let texts = ["A", "a", "b", "é"];
        let bounds = |texts: &[&str]| -> Vec<String> {
            let count = (nodes as usize - 1).min(texts.len());
            texts[..count]
                .iter()
                .map(|text| (*text).to_owned())
                .collect()
        };
        let by = match (key, random.below(4)) {
            ("id", 0) if snowflake => By::SnowflakeTime(unit(random, span)),
            ("id", 1) if nodes > 1 => By::Ranges(bounds(&["0", "20", "60", "100", "1000"])),
            ("id" | "big", 2) => By::Modulo(nodes),
            ("big", 1) if nodes > 1 => By::Ranges(bounds(&["-1", "0", "3", "8", "100"])),
            ("at" | "day", 0..3) => By::Calendar {
                unit: unit(random, span),
                zone: key == "at" && random.one_in(4),
            },
            ("kind", 0) if nodes > 1 => By::Ranges(bounds(&texts)),
            ("kind", 1) if nodes > 1 => {
                let lists = bounds(&texts).into_iter().map(|text| vec![text]);
                By::Lists(lists.collect())
            }
            (_, 3) => By::HashBuckets(nodes),
            _ => By::HashModulo(nodes),
        };
        return Rule { keys, by };
    }
}

fn unit(random: &mut Random, span: Span) -> Unit {
    match span {
        Span::Days => random.of(&[Unit::Day, Unit::Day, Unit::ThreeDays, Unit::Week]),
        Span::Months => random.of(&[Unit::Month, Unit::Month, Unit::Quarter, Unit::Year]),
        Span::Years => random.of(&[Unit::Year, Unit::Quarter]),
    }
}

impl Sharding {
    /// A random sharding with about so many nodes over so many sources.
    pub fn random(
        random: &mut Random,
        nodes: u32,
        sources: usize,
        span: Span,
        snowflake: bool,
    ) -> Self {
        let fact = Rules::random(random, nodes, sources, span, snowflake, false);
        let has_counterpart = |rule: &Rule| {
            let counterparts = ["id", "at", "kind", "big"];
            rule.keys.iter().all(|key| counterparts.contains(&&**key))
        };
        let alike = fact.all().all(has_counterpart) && random.percent(65);
        let item = if alike {
            fact.clone()
        } else {
            Rules::random(random, nodes, sources, span, snowflake, true)
        };
        Self {
            sources,
            co_located: alike && random.one_in(2),
            fact,
            item,
            broadcast: !random.one_in(6),
            owner: random.below(sources),
            connections: random.of(&[1, 4]),
        }
    }
}

impl Sharding {
    /// Whether the numbers can be those of a sharding at all.
    pub fn is_possible(&self) -> bool {
        let mut rules = self.fact.all().chain(self.item.all());
        let numbers = self.sources > 0 && self.owner < self.sources && self.connections > 0;
        numbers && rules.all(|rule| !rule.keys.is_empty() && rule.by.count() > 0)
    }
}

impl Rules {
    fn random(
        random: &mut Random,
        nodes: u32,
        sources: usize,
        span: Span,
        snowflake: bool,
        is_item: bool,
    ) -> Self {
        let rule = |random: &mut Random, nodes: u32, not: Option<&str>| loop {
            let rule = rule(random, nodes, span, snowflake, not);
            if !is_item || rule.keys.iter().all(|key| key != "day" && key != "uid") {
                return rule;
            }
        };
        let numbered = |random: &mut Random, nodes: u32| loop {
            let rule = rule(random, nodes, None);
            if rule.by.is_numbered() && rule.by.count() >= nodes {
                return rule;
            }
        };
        let mut rules = Self::default();
        let count = sources as u32;
        match (sources, random.below(4)) {
            (_, 0) if nodes >= count => {
                let mut by = numbered(random, nodes.min(4));
                if snowflake && random.one_in(2) {
                    by = Rule {
                        keys: vec!["id".to_owned()],
                        by: By::SnowflakeHash(nodes.max(count)),
                    };
                }
                if by.by.count() < count
                    || matches!(
                        by.by,
                        By::Modulo(_) | By::HashModulo(_) | By::HashBuckets(_)
                    )
                {
                    // These name their partitions by numbers, which are no nodes.
                    by.by = By::Ranges(
                        (0..nodes.max(count) - 1)
                            .map(|n| (n * 17).to_string())
                            .collect(),
                    );
                    by.keys = vec!["id".to_owned()];
                }
                rules.node = Some(by);
            }
            (1, _) => rules.table = Some(rule(random, nodes, None)),
            (_, 1) if nodes >= count && nodes <= 5 => {
                rules.table = Some(numbered(random, nodes));
                rules.dealt = true;
            }
            _ => {
                let source = numbered(random, count);
                let per_source = (nodes / count).max(1);
                if per_source > 1 {
                    rules.table = Some(rule(random, per_source, Some(&source.keys.join("+"))));
                }
                rules.source = Some(source);
            }
        }
        rules
    }

    fn all(&self) -> impl Iterator<Item = &Rule> {
        [&self.source, &self.table, &self.node]
            .into_iter()
            .flatten()
    }

    /// The rules for SeaORM's entity, which is that of the table.
    ///
    /// # Panics
    /// If a key column is not there.
    pub fn entity<E: EntityTrait>(
        &self,
        table: Table,
        sources: usize,
        span: Span,
    ) -> EntityRules<E> {
        let mut rules = EntityRules::<E>::new();
        let number = |n: usize| n.to_string();
        if let Some(source) = &self.source {
            rules = rules.source(source.key_rule::<E>(table, span, &number, sources));
        }
        if let Some(rule) = &self.table {
            rules = rules.table(rule.key_rule::<E>(table, span, &number, sources));
            if self.dealt {
                let count = rule.by.count() as usize;
                for source in 0..sources {
                    let tails = (0..count)
                        .filter(|tail| tail % sources == source)
                        .map(number);
                    rules = rules.tails(format!("s{source}"), tails.collect::<Vec<_>>());
                }
            }
        }
        if let Some(node) = &self.node {
            let name = |n: usize| format!("s{}.{}_{n}", n % sources, table.name());
            rules = rules.node(node.key_rule::<E>(table, span, &name, sources));
        }
        rules
    }
}

impl Rule {
    fn key_rule<E: EntityTrait>(
        &self,
        table: Table,
        span: Span,
        name: &dyn Fn(usize) -> String,
        sources: usize,
    ) -> KeyRule<E::Column> {
        let own = |key: &str| match (table, key) {
            (Table::Item, "id") => "fact_id".to_owned(),
            _ => key.to_owned(),
        };
        let column = |key: &str| {
            let own = own(key);
            E::Column::iter()
                .find(|column| column.as_str() == own)
                .unwrap()
        };
        if let [text, number] = &self.keys[..] {
            let parts = [
                part::<String, _>(column(text)),
                part::<i64, _>(column(number)),
            ];
            return match &self.by {
                By::HashBuckets(count) => {
                    composite::<(String, i64), _>(parts, HashBuckets::even(*count))
                }
                by => composite::<(String, i64), _>(parts, HashModulo::new(by.count())),
            };
        }
        let key = &self.keys[0];
        let kind = table.column(&own(key)).unwrap().kind;
        strategy(column(key), kind, &self.by, span, name, sources)
    }
}

fn strategy<C: ColumnTrait>(
    column: C,
    kind: Kind,
    by: &By,
    span: Span,
    name: &dyn Fn(usize) -> String,
    sources: usize,
) -> KeyRule<C> {
    match by {
        By::Modulo(count) => KeyRule::of(column, Modulo::new(*count)),
        By::HashModulo(count) => KeyRule::of(column, HashModulo::new(*count)),
        By::HashBuckets(count) => KeyRule::of(column, HashBuckets::even(*count)),
        By::Ranges(bounds) => {
            let mut ranges = Ranges::new();
            for (number, bound) in bounds.iter().enumerate() {
                ranges = match kind {
                    Kind::Text => ranges.less_than(bound.clone(), name(number)),
                    _ => ranges.less_than(bound.parse::<i64>().unwrap(), name(number)),
                };
            }
            KeyRule::of(column, ranges.max_value(name(bounds.len())))
        }
        By::Lists(values) => {
            let mut lists = Lists::new();
            for (number, values) in values.iter().enumerate() {
                lists = match kind {
                    Kind::Text => lists.values(name(number), values.clone()),
                    _ => {
                        let values = values.iter().map(|value| value.parse::<i64>().unwrap());
                        lists.values(name(number), values.collect::<Vec<_>>())
                    }
                };
            }
            KeyRule::of(column, lists.otherwise(name(values.len())))
        }
        By::Calendar { unit, zone } => calendar(column, *unit, span, *zone, None),
        By::SnowflakeTime(unit) => calendar(column, *unit, span, false, Some(layout(span))),
        By::SnowflakeHash(count) => {
            let tables = |source: usize| {
                let own = (0..*count as usize).filter(|n| n % sources == source);
                HashSplit::modulo(own.map(|n| {
                    format!(
                        "{}{n}",
                        name(n)
                            .trim_end_matches(char::is_numeric)
                            .split_once('.')
                            .unwrap()
                            .1
                    )
                }))
            };
            let databases = (0..sources)
                .map(|source| SnowflakeDatabase::new(format!("s{source}"), tables(source)));
            let epoch = SnowflakeEpoch::new(HashSplit::modulo(databases));
            KeyRule::of(column, SnowflakeHash::new([epoch]).layout(layout(span)))
        }
    }
}

fn layout(span: Span) -> SnowflakeLayout {
    SnowflakeLayout::new(span.start().timestamp_millis(), 2)
}

/// A calendar over the whole span, and a slot more on both sides.
fn calendar<C: ColumnTrait>(
    column: C,
    unit: Unit,
    span: Span,
    zone: bool,
    ids: Option<SnowflakeLayout>,
) -> KeyRule<C> {
    use chrono::Datelike;

    let first = (span.start() - TimeDelta::days(i64::from(zone))).date_naive();
    let last = (span.end() + TimeDelta::days(1)).date_naive();
    let (year, month, day) = (first.year(), first.month(), first.day());
    macro_rules! rule {
        ($calendar:expr) => {{
            let calendar = $calendar.through_date(last);
            match ids {
                Some(layout) => KeyRule::of(column, SnowflakeTime::new(layout, calendar)),
                None if zone => KeyRule::of(column, calendar.zone(New_York)),
                None => KeyRule::of(column, calendar),
            }
        }};
    }
    match unit {
        Unit::Day => rule!(Daily::starting(year, month, day)),
        Unit::ThreeDays => rule!(EveryDays::starting(3, year, month, day)),
        Unit::Week => rule!(Weekly::starting(year, month, day)),
        Unit::Month => rule!(Monthly::starting(year, month)),
        Unit::Quarter => rule!(Quarterly::starting(year, first.month0() / 3 + 1)),
        Unit::Year => rule!(Yearly::starting(year)),
    }
}
