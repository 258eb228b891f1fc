use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use sharding_core::key::{KeyKind, KeyValue};
use sharding_core::strategy::{
    HashBuckets, HashModulo, HashSplit, Lists, Modulo, Ranges, SnowflakeDatabase, SnowflakeEpoch,
    SnowflakeHash, SnowflakeLayout, Strategy, UnixTime,
};

use crate::era::{Era, Keys, Slots};
use crate::own::{Length, Stripes};
use crate::random::Random;
use crate::value::{Number, Value};

/// A key as it was drawn, with values for each of its columns.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) strategy: Arc<dyn Strategy>,
    pub(crate) columns: Vec<(KeyKind, Vec<Value>)>,
}

/// The partitions that a key is to have: keys of one family can be primary and secondary.
#[derive(Clone, Debug)]
pub(crate) enum Family {
    Named(Vec<String>),
    Calendar(Slots),
    /// Nodes of Snowflake ids, in the sources of these names.
    Snowflake(Vec<String>),
}

const KINDS: [KeyKind; 8] = [
    KeyKind::Integer,
    KeyKind::Decimal,
    KeyKind::Text,
    KeyKind::Bytes,
    KeyKind::Uuid,
    KeyKind::Date,
    KeyKind::DateTime,
    KeyKind::Instant,
];

impl Family {
    pub(crate) fn numbered(count: usize) -> Self {
        Self::Named((0..count).map(|number| number.to_string()).collect())
    }

    pub(crate) fn draw(&self, random: &mut Random, era: Era) -> Drawn {
        match self {
            Self::Named(names) => named(random, era, names),
            Self::Calendar(slots) => calendar(random, slots),
            Self::Snowflake(sources) => snowflake(random, era, sources),
        }
    }
}

fn named(random: &mut Random, era: Era, names: &[String]) -> Drawn {
    let count = names.len() as u32;
    let numbers = names
        .iter()
        .enumerate()
        .all(|(at, name)| at.to_string() == *name);
    let kind = if random.chance(40) {
        KeyKind::Integer
    } else {
        *random.pick(&KINDS)
    };
    let mut kinds = vec![kind];
    let strategy: Arc<dyn Strategy> = match random.below(10) {
        0 | 1 if numbers => {
            if random.chance(30) {
                kinds = several(random);
            }
            Arc::new(HashModulo::new(count))
        }
        2 if numbers && random.chance(50) => {
            let is_several = random.chance(50);
            kinds = if is_several {
                several(random)
            } else {
                vec![KeyKind::Text]
            };
            Arc::new(Length(count))
        }
        2..4 if numbers => {
            kinds = vec![KeyKind::Integer];
            Arc::new(Modulo::new(count))
        }
        4 => {
            kinds = vec![KeyKind::Integer];
            let (width, names) = (i128::from(random.between(1, 9)), names.to_vec());
            Arc::new(Stripes { width, names })
        }
        5 => {
            if random.chance(30) {
                kinds = several(random);
            }
            Arc::new(buckets(random, names, numbers))
        }
        6 | 7 => {
            let (lists, pool) = lists(random, era, kind, names);
            return Drawn {
                strategy: Arc::new(lists),
                columns: vec![(kind, pool)],
            };
        }
        _ => {
            let (ranges, pool) = ranges(random, era, kind, names);
            return Drawn {
                strategy: Arc::new(ranges),
                columns: vec![(kind, pool)],
            };
        }
    };
    let column = |kind: KeyKind| {
        let mut pool: Vec<_> = (0..8).map(|_| Value::draw(random, kind, era.now)).collect();
        pool.push(Value::extreme(random, kind));
        (kind, pool)
    };
    Drawn {
        strategy,
        columns: kinds.into_iter().map(column).collect(),
    }
}

fn several(random: &mut Random) -> Vec<KeyKind> {
    (0..2 + random.below(2))
        .map(|_| *random.pick(&KINDS))
        .collect()
}

fn buckets(random: &mut Random, names: &[String], numbers: bool) -> HashBuckets {
    if numbers && random.chance(40) {
        return HashBuckets::even(names.len() as u32);
    }
    let buckets = *random.pick(&[64, 1_024, 65_536]);
    let mut ends: Vec<u32> = (0..names.len() + 3)
        .map(|_| 1 + random.below(buckets as usize - 1) as u32)
        .collect();
    ends.push(buckets);
    ends.sort_unstable();
    ends.dedup();
    if ends.len() < names.len() {
        ends = (1..names.len() as u32).chain([buckets]).collect();
    }
    let owners = owners(random, names, ends.len());
    let with = |own: HashBuckets, (end, name): (u32, &String)| own.less_than(end, name.as_str());
    ends.into_iter()
        .zip(owners)
        .fold(HashBuckets::new(buckets), with)
}

/// A name for each of so many places, at least as many as there are names; the names come first in
/// their order.
fn owners<'a>(random: &mut Random, names: &'a [String], places: usize) -> Vec<&'a String> {
    let more = places.saturating_sub(names.len());
    let more: Vec<_> = (0..more).map(|_| random.pick(names)).collect();
    names.iter().chain(more).collect()
}

fn lists(random: &mut Random, era: Era, kind: KeyKind, names: &[String]) -> (Lists, Vec<Value>) {
    let rest = random.chance(50);
    let lists = names.len() - usize::from(rest && names.len() > 1 && random.chance(70));
    let more = random.below(6);
    let mut values = distinct(random, era, kind, names.len() + more);
    random.shuffle(&mut values);
    let mut own = Lists::new();
    for (at, name) in names[..lists].iter().enumerate() {
        let last = if at + 1 == lists {
            values.len()
        } else {
            at + 1
        };
        own = own.values(name.as_str(), values[at..last].iter().map(Value::key));
    }
    if lists < names.len() {
        own = own.otherwise(names[lists].as_str());
    } else if rest {
        own = own.otherwise(random.pick(names).as_str());
    }
    (own, with_neighbours(random, values))
}

fn ranges(random: &mut Random, era: Era, kind: KeyKind, names: &[String]) -> (Ranges, Vec<Value>) {
    let more = random.below(4);
    let values = distinct(random, era, kind, names.len() + more);
    let owners = owners(random, names, values.len());
    let with =
        |own: Ranges, (value, name): (&Value, &String)| own.less_than(value.key(), name.as_str());
    let mut own = values.iter().zip(owners).fold(Ranges::new(), with);
    if random.chance(50) {
        own = own.max_value(random.pick(names).as_str());
    }
    (own, with_neighbours(random, values))
}

/// So many values, ascending as keys.
fn distinct(random: &mut Random, era: Era, kind: KeyKind, count: usize) -> Vec<Value> {
    let mut values: Vec<(KeyValue<'_>, Value)> = Vec::with_capacity(count);
    while values.len() < count {
        let mut value = Value::draw(random, kind, era.now);
        if random.chance(20) {
            value = value.neighbour(random);
        }
        let mut key = value.key();
        // There may be fewer different ones to draw, but beside those there are more.
        while !value.fits(kind) || values.iter().any(|(other, _)| *other == key) {
            value = match value {
                Value::Number(Number::Thousandths(n)) => Value::int(n.div_euclid(1_000) + 1),
                Value::Text(text) => Value::Text(text + "y"),
                Value::Bytes(bytes) => Value::Bytes([bytes, vec![1]].concat()),
                value => Value::neighbour(&value, random),
            };
            key = value.key();
        }
        values.push((key, value));
    }
    values.sort_by(|(a, _), (b, _)| a.cmp(b));
    values.into_iter().map(|(_, value)| value).collect()
}

fn with_neighbours(random: &mut Random, values: Vec<Value>) -> Vec<Value> {
    let near: Vec<_> = (0..6)
        .map(|_| random.pick(&values).neighbour(random))
        .collect();
    values.into_iter().chain(near).collect()
}

fn calendar(random: &mut Random, slots: &Slots) -> Drawn {
    let now = slots.era.now;
    let units = [
        UnixTime::Seconds,
        UnixTime::Milliseconds,
        UnixTime::Microseconds,
    ];
    let (kind, keys) = match random.below(8) {
        0 => (KeyKind::Date, Keys::Times),
        1 | 2 => (KeyKind::DateTime, Keys::Times),
        3 | 4 => (KeyKind::Instant, Keys::Times),
        5 => (KeyKind::Integer, Keys::Unix(*random.pick(&units))),
        6 => {
            let epoch = now.timestamp_millis() - random.between(0, 200_000_000_000);
            let layout = SnowflakeLayout::new(epoch, *random.pick(&[1, 12, 22, 22, 40]));
            (KeyKind::Integer, Keys::Ids(layout))
        }
        _ => (
            KeyKind::Text,
            Keys::Names(random.below(3), slots.name_length()),
        ),
    };
    let strategy = slots.strategy(keys);
    let mut pool = vec![Value::extreme(random, kind)];
    let count = i64::from(strategy.extent(now).count);
    let slot = random.between(-1, count - 1);
    let other = random.between(0, count);
    for (slot, moments) in [(slot, 2), (slot + 1, 5), (other, 2)] {
        for _ in 0..moments {
            pool.push(match keys {
                Keys::Names(at, _) => {
                    let before = ["", "ž", "xy", "a-b"][at];
                    let name = strategy.name(slot.max(0) as u32);
                    Value::Text(format!("{before}{name}{}", random.pick(&["", "-7", "1"])))
                }
                keys => moment(random, slots, slot, kind, keys),
            });
        }
    }
    Drawn {
        strategy,
        columns: vec![(kind, pool)],
    }
}

/// A time at the edges of a slot, or close to the era's own.
fn moment(random: &mut Random, slots: &Slots, slot: i64, kind: KeyKind, keys: Keys) -> Value {
    let clock = slots.era.clock;
    let seconds = match random.below(3) {
        0 => *random.pick(&[-1, 1, 1_800, -1_800, 3_600, -3_599, 82_800, -90_000]),
        _ => 0,
    };
    let nanoseconds = *random.pick(&[0, 0, 0, 0, -1, -1, 1, 1, -1_000, 1_000, -1_000_000]);
    let step = TimeDelta::seconds(seconds) + TimeDelta::nanoseconds(nanoseconds);
    let (shown, instant) = if random.chance(25) {
        let instant = slots.era.now + step;
        (clock.shows(instant), instant)
    } else {
        let mut shown = slots.start(slot);
        if random.chance(10) {
            shown += (slots.start(slot + 1) - shown) / 2;
        }
        shown += step;
        (shown, clock.instant(shown, random))
    };
    match (keys, kind) {
        (Keys::Unix(unit), _) => Value::int(match unit {
            UnixTime::Seconds => instant.timestamp(),
            UnixTime::Milliseconds => instant.timestamp_millis(),
            UnixTime::Microseconds => instant.timestamp_micros(),
        }),
        (Keys::Ids(layout), _) => {
            let lower = *random.pick(&[0, 0, 1, -1, 12_345]);
            Value::int(layout.first_id(instant).saturating_add(lower))
        }
        (_, KeyKind::Date) => Value::Date(shown.date()),
        (_, KeyKind::DateTime) => Value::DateTime(shown),
        _ => Value::Instant(instant),
    }
}

fn snowflake(random: &mut Random, era: Era, sources: &[String]) -> Drawn {
    let layout = if era.now > DateTime::from_timestamp_millis(1_288_834_974_657).unwrap_or_default()
    {
        SnowflakeLayout::TWITTER
    } else {
        SnowflakeLayout::new(era.now.timestamp_millis(), 22)
    };
    let mut end = era.now - TimeDelta::hours(random.between(0, 50));
    let count = 1 + random.below(3);
    let mut ends: Vec<DateTime<Utc>> = Vec::new();
    let mut epochs = Vec::new();
    for at in 0..count {
        let databases: Vec<_> = sources
            .iter()
            .map(|source| {
                let names: Vec<_> = (0..1 + random.below(3)).map(|n| format!("t_{n}")).collect();
                SnowflakeDatabase::new(source.as_str(), split(random, names))
            })
            .collect();
        let mut epoch = SnowflakeEpoch::new(split(random, databases));
        if at + 1 < count {
            end += TimeDelta::milliseconds(random.between(1, 200_000_000));
            epoch = epoch.time_less_than(end);
            ends.push(end);
        }
        epochs.push(epoch);
    }
    let mut pool: Vec<_> = (0..4).map(|_| Value::int(random.between(-3, 9))).collect();
    pool.push(Value::extreme(random, KeyKind::Integer));
    for end in ends.iter().chain([&era.now]) {
        let first = i128::from(layout.first_id(*end));
        let near = [0, -1, 1, 1 << 22, random.next() as i64 % 10_000_000_000];
        pool.extend(near.map(|step| Value::int(first + i128::from(step))));
    }
    Drawn {
        strategy: Arc::new(SnowflakeHash::new(epochs).layout(layout)),
        columns: vec![(KeyKind::Integer, pool)],
    }
}

fn split<T>(random: &mut Random, mut owners: Vec<T>) -> HashSplit<T> {
    if random.chance(40) {
        return HashSplit::modulo(owners);
    }
    let mut end = 0;
    let last = owners.pop();
    let mut own = HashSplit::ranges();
    for owner in owners {
        end += 1 + random.below(20_000) as u32;
        own = own.less_than(end, owner);
    }
    match last {
        Some(last) => own.max_value(last),
        None => own,
    }
}
