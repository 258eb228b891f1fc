use std::borrow::Cow;
use std::fmt::Write;
use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};
use sharding_core::error::{ConfigError, Mistake};
use sharding_core::key::KeyKind;
use sharding_core::topology::{
    ColumnDraft, ColumnKind, KeyDraft, RuleDraft, Table, TableDraft, TableName, TailsDraft,
    Topology, TopologyDraft,
};

use crate::condition::{Column, Row};
use crate::era::{Era, Slots};
use crate::keys::{Drawn, Family};
use crate::random::Random;
use crate::value::{Collation, Value};

/// A table as it was drawn, its columns and what its tails are to be.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) era: Era,
    pub(crate) collation: Collation,
    pub(crate) draft: TopologyDraft,
    /// The columns of the keys, and last one that is in no key.
    pub(crate) columns: Vec<Column>,
    /// Runs of tails and the name of the source that has them, if they are listed.
    listed: Option<Vec<(String, Vec<RangeInclusive<u32>>)>>,
    /// The columns of secondary keys.
    secondary: Vec<usize>,
}

const NAMES: [&str; 16] = [
    "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "k10", "k11", "k12", "k13", "k14",
    "k15",
];

impl World {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let era = Era::draw(random);
        let mut sources: Vec<_> = (0..1 + random.below(4)).map(|n| format!("ds{n}")).collect();
        random.shuffle(&mut sources);
        let mut table = TableDraft::new(TableName::new("t"));
        table.separator = Cow::Borrowed(*random.pick(&["_", "", "__"]));
        let mut world = Self {
            era,
            collation: Collation::draw(random),
            draft: TopologyDraft {
                sources: sources.clone(),
                default_source: random.chance(50).then(|| random.pick(&sources).clone()),
                ..TopologyDraft::default()
            },
            columns: Vec::new(),
            listed: None,
            secondary: Vec::new(),
        };
        match random.below(10) {
            0 | 1 => table.node = Some(world.node_rule(random)),
            2 => world.source_rule(random, &mut table),
            kind => {
                if kind < 6 {
                    world.source_rule(random, &mut table);
                }
                world.table_rule(random, &mut table);
            }
        }
        let mut pool: Vec<_> = (0..4).map(|n| Value::int(n - 1)).collect();
        pool.push(Value::int(i64::MAX));
        world.columns.push(Column {
            name: "other",
            kind: KeyKind::Integer,
            pool,
        });
        world.draft.tables.push(table);
        world
    }

    /// The topology at a time; `None` if the draft is one of those whose tails get no rows.
    ///
    /// # Panics
    /// If anything else is wrong with the draft.
    pub(crate) fn build(&self, now: DateTime<Utc>) -> Option<Topology> {
        match self.draft.clone().build(now) {
            Ok(topology) => Some(topology),
            Err(error) if is_unreachable(&error) => None,
            Err(error) => panic!("{error}\n{:#?}", self.draft),
        }
    }

    fn node_rule(&mut self, random: &mut Random) -> RuleDraft {
        let sources = &self.draft.sources;
        if random.chance(60) {
            let family = Family::Snowflake(sources.clone());
            let drawn = family.draw(random, self.era);
            return RuleDraft::new(self.key(random, drawn, true));
        }
        let count = 1 + random.below(6);
        let mut names: Vec<_> = (0..count)
            .map(|n| format!("{}.t{n}", random.pick(sources)))
            .collect();
        random.shuffle(&mut names);
        self.rule(random, &Family::Named(names))
    }

    fn source_rule(&mut self, random: &mut Random, table: &mut TableDraft) {
        let mut names = self.draft.sources.clone();
        random.shuffle(&mut names);
        let is_partial = random.chance(30);
        if is_partial {
            names.truncate(1 + random.below(names.len()));
        }
        let listed = names.iter().map(|name| Cow::Owned(name.clone())).collect();
        let count = names.len();
        let family = match random.below(4) {
            0 => Family::Named(names),
            1 => Family::Calendar(Slots::draw(random, self.era, Some(count as u32))),
            _ => Family::numbered(count),
        };
        // Partitions that are not named like sources mean all of them in order.
        let is_by_name = matches!(&family, Family::Named(own) if own[0] != "0");
        if (is_partial && !is_by_name) || random.chance(50) {
            table.source_names = Some(listed);
        }
        table.source = Some(self.rule(random, &family));
    }

    fn table_rule(&mut self, random: &mut Random, table: &mut TableDraft) {
        let count = 1 + random.below(9);
        let family = match random.below(6) {
            0 => Family::Calendar(Slots::draw(random, self.era, Some(count as u32))),
            1 | 2 => Family::Calendar(Slots::draw(random, self.era, None)),
            3 => Family::Named((0..count).map(|n| format!("p_{n}")).collect()),
            _ => Family::numbered(count),
        };
        let rule = self.rule(random, &family);
        if random.chance(30) {
            self.tails(random, &rule, table);
        }
        table.table = Some(rule);
    }

    /// Lists of tails: without a source rule each tail in one source, else in one or some.
    fn tails(&mut self, random: &mut Random, rule: &RuleDraft, table: &mut TableDraft) {
        let strategy = &rule.key.strategy;
        let count = strategy.extent(self.era.now).count;
        let sources = match (&table.source, &table.source_names) {
            (Some(_), Some(names)) => names.iter().map(ToString::to_string).collect(),
            (Some(rule), None) => {
                let strategy = &rule.key.strategy;
                let named: Vec<_> = (0..strategy.extent(self.era.now).count)
                    .map(|n| strategy.name(n).into_owned())
                    .collect();
                let are_sources = named.iter().all(|name| self.draft.sources.contains(name));
                if are_sources {
                    named
                } else {
                    self.draft.sources.clone()
                }
            }
            (None, _) => self.draft.sources.clone(),
        };
        let mut lists: Vec<(String, Vec<RangeInclusive<u32>>)> = sources
            .into_iter()
            .map(|source| (source, Vec::new()))
            .collect();
        let mut first = 0;
        while first < count {
            let last = match first + random.below(4) as u32 {
                last if last + 1 < count => last,
                _ => u32::MAX,
            };
            let owner = random.below(lists.len());
            for (at, (_, runs)) in lists.iter_mut().enumerate() {
                if at == owner || (table.source.is_some() && random.chance(30)) {
                    runs.push(first..=last);
                }
            }
            first = last.saturating_add(1);
        }
        lists.retain(|(_, runs)| !runs.is_empty());
        random.shuffle(&mut lists);
        let mut spell = |run: &RangeInclusive<u32>| -> Cow<'static, str> {
            let (first, last) = (strategy.name(*run.start()), *run.end());
            Cow::Owned(match (*run.start(), last) {
                (start, end) if start == end && random.chance(80) => first.into_owned(),
                (0, u32::MAX) => "..".to_owned(),
                (_, u32::MAX) => format!("{first}.."),
                (0, last) if random.chance(50) => format!("..{}", strategy.name(last)),
                (_, last) => format!("{first}..{}", strategy.name(last)),
            })
        };
        let draft = |(source, runs): &(String, Vec<RangeInclusive<u32>>)| TailsDraft {
            source: Cow::Owned(source.clone()),
            tails: runs.iter().map(&mut spell).collect(),
        };
        table.tails = Some(lists.iter().map(draft).collect());
        self.listed = Some(lists);
    }

    fn rule(&mut self, random: &mut Random, family: &Family) -> RuleDraft {
        let drawn = family.draw(random, self.era);
        let mut rule = RuleDraft::new(self.key(random, drawn, true));
        while random.chance(25) && self.columns.len() < NAMES.len() - 3 {
            let drawn = family.draw(random, self.era);
            rule.secondary.push(self.key(random, drawn, false));
        }
        rule
    }

    /// The key with columns of its own, or some that other keys have too.
    fn key(&mut self, random: &mut Random, drawn: Drawn, may_share: bool) -> KeyDraft {
        let mut own: Vec<usize> = Vec::new();
        for (kind, pool) in drawn.columns {
            let is_free = |at: &usize| {
                self.columns[*at].kind == kind && !own.contains(at) && !self.secondary.contains(at)
            };
            let shared = (0..self.columns.len()).find(is_free);
            if let Some(at) = shared.filter(|_| may_share && random.chance(40)) {
                self.columns[at].pool.extend(pool);
                own.push(at);
                continue;
            }
            own.push(self.columns.len());
            let name = NAMES[self.columns.len()];
            self.columns.push(Column { name, kind, pool });
        }
        if !may_share {
            self.secondary.extend(&own);
        }
        let column = |at: &usize| ColumnDraft {
            name: Cow::Borrowed(self.columns[*at].name),
            kind: ColumnKind::Key(self.columns[*at].kind),
        };
        KeyDraft {
            columns: own.iter().map(column).collect(),
            strategy: drawn.strategy,
        }
    }

    /// A row: values of secondary keys mostly agree with the key that decides, if one does.
    pub(crate) fn row(&self, random: &mut Random, table: &Table) -> Row {
        let value = |random: &mut Random, column: &Column| {
            let drawn = match random.below(25) {
                0 => return None,
                1 => Value::extreme(random, column.kind),
                2 => Value::draw(random, column.kind, self.era.now),
                3..9 => random.pick(&column.pool).neighbour(random),
                _ => random.pick(&column.pool).clone(),
            };
            Some(drawn).filter(|drawn| drawn.fits(column.kind))
        };
        let mut row: Row = self
            .columns
            .iter()
            .map(|column| value(random, column))
            .collect();
        for rule in table.rules() {
            let [key] = rule.key().columns() else {
                continue;
            };
            let deciding = row[self.position(key.name())].as_ref().map(Value::key);
            let Some(deciding) = deciding else { continue };
            let Ok(partition) = rule.key().strategy().place(&deciding) else {
                continue;
            };
            for secondary in rule.secondary() {
                if random.chance(10) {
                    continue;
                }
                for column in secondary.columns() {
                    let at = self.position(column.name());
                    let agrees = |value: &&Value| {
                        secondary.strategy().place(&value.key()) == Ok(partition)
                            && value.fits(column.kind())
                    };
                    let pool: Vec<_> = self.columns[at].pool.iter().filter(agrees).collect();
                    row[at] = (!pool.is_empty()).then(|| (*random.pick(&pool)).clone());
                }
            }
        }
        row
    }

    pub(crate) fn position(&self, name: &str) -> usize {
        let position = self.columns.iter().position(|column| column.name == name);
        position.unwrap_or_else(|| panic!("there is no column {name}"))
    }

    /// Whether the draft lists a tail for a source, or lists none at all.
    pub(crate) fn lists(&self, source: &str, tail: &str) -> bool {
        let Some(listed) = &self.listed else {
            return true;
        };
        let rule = self.draft.tables[0].table.as_ref();
        let number = rule.and_then(|rule| rule.key.strategy.number(tail));
        let Some(number) = number else { return false };
        let mut own = listed.iter().filter(|(name, _)| name == source);
        own.any(|(_, runs)| runs.iter().any(|run| run.contains(&number)))
    }

    /// The table, as a reader needs it to understand a failure.
    pub(crate) fn describe(&self) -> String {
        let mut text = format!("{:?}, {:?}\n", self.era, self.collation);
        let table = &self.draft.tables[0];
        let mut rule = |name: &str, rule: &Option<RuleDraft>| {
            for key in rule.iter().flat_map(RuleDraft::keys) {
                let columns: Vec<_> = key
                    .columns
                    .iter()
                    .map(|column| format!("{} {:?}", column.name, column.kind))
                    .collect();
                // Writing to a string does not fail.
                let _ = writeln!(text, "{name} by {}: {:?}", columns.join(", "), key.strategy);
            }
        };
        rule("source", &table.source);
        rule("table", &table.table);
        rule("node", &table.node);
        let (sources, tails) = (&self.draft.sources, &table.tails);
        let names = &table.source_names;
        text + &format!("sources {sources:?}, names {names:?}, tails {tails:?}")
    }
}

fn is_unreachable(error: &ConfigError) -> bool {
    let is_expected = |mistake: &Mistake| matches!(mistake, Mistake::UnreachableTails { .. });
    error.mistakes().iter().all(is_expected)
}
