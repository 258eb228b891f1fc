use std::borrow::Cow;
use std::fmt;

use chrono::{DateTime, Utc};

use super::SourceId;
use super::rule::{Key, KeyColumn, RowKey, Rule};
use crate::error::KeyError;
use crate::key::KeySet;
use crate::strategy::{MAX_PARTITIONS, Partitions, Strategy};

/// The logical name of a table, as entities and statements spell it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// The schema, if the entity names one.
    pub schema: Option<Cow<'static, str>>,
    /// The table.
    pub table: Cow<'static, str>,
}

impl TableName {
    /// A table of the default schema.
    pub fn new(table: impl Into<Cow<'static, str>>) -> Self {
        Self {
            schema: None,
            table: table.into(),
        }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write!(f, "{schema}.")?;
        }
        f.write_str(&self.table)
    }
}

/// A sharded table: its rules, and the nodes to which they lead.
///
/// Names of physical tables are made when they are needed, so a table with many tails takes no
/// more memory than one with few.
#[derive(Clone, Debug)]
pub struct Table {
    pub(super) name: TableName,
    pub(super) separator: Cow<'static, str>,
    pub(super) layout: Layout,
    /// When the next tail comes to exist; `None` if none does by itself.
    pub(super) until: Option<DateTime<Utc>>,
}

/// How partitions become nodes.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    /// Data sources × tails, in which each axis has a rule or one place.
    Grid {
        source_rule: Option<Rule>,
        table_rule: Option<Rule>,
        /// The source of each partition of the source rule; a single one without that rule.
        sources: Vec<SourceId>,
        /// How many tails there are: 1 without a table rule.
        tails: u32,
        /// The tails of each source; all of them if `None`.
        present: Option<Vec<Partitions>>,
    },
    /// Tails, each of which is in one data source.
    Spread {
        rule: Rule,
        tails: u32,
        /// The tails of each source; no tail is in two.
        homes: Vec<(Partitions, SourceId)>,
    },
    /// One rule for source and table together.
    Direct {
        rule: Rule,
        /// The source and the physical table of each partition.
        nodes: Vec<(SourceId, String)>,
    },
}

/// One place where rows of a table are: a physical table in a data source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// The data source.
    pub source: SourceId,
    /// The physical table, in the schema of the logical one.
    pub table: Cow<'a, str>,
    /// The tail that distinguishes it from the logical table; empty without a table rule.
    pub tail: Cow<'a, str>,
}

impl Table {
    /// The logical name.
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// The rules: one or two, the one of the source first.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        let (first, second) = match &self.layout {
            Layout::Grid {
                source_rule,
                table_rule,
                ..
            } => (source_rule.as_ref(), table_rule.as_ref()),
            Layout::Spread { rule, .. } | Layout::Direct { rule, .. } => (Some(rule), None),
        };
        first.into_iter().chain(second)
    }

    /// The keys of all rules, secondary ones too.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.rules().flat_map(Rule::keys)
    }

    /// The columns of all keys, secondary ones too; a column of two keys comes twice.
    pub fn key_columns(&self) -> impl Iterator<Item = &KeyColumn> {
        self.keys().flat_map(Key::columns)
    }

    /// The columns whose values decide where a row is.
    pub fn deciding_columns(&self) -> impl Iterator<Item = &KeyColumn> {
        self.rules().flat_map(|rule| rule.key().columns())
    }

    /// How many nodes there are: at least one.
    pub fn node_count(&self) -> usize {
        match &self.layout {
            Layout::Grid {
                sources,
                tails,
                present: None,
                ..
            } => sources.len() * *tails as usize,
            Layout::Direct { nodes, .. } => nodes.len(),
            _ => self.positions().count(),
        }
    }

    /// The positions of all nodes, in order.
    pub fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        let end = match &self.layout {
            Layout::Grid { sources, tails, .. } => sources.len() * *tails as usize,
            Layout::Spread { tails, .. } => *tails as usize,
            Layout::Direct { nodes, .. } => nodes.len(),
        };
        (0..end).filter(|at| self.has(*at))
    }

    fn has(&self, position: usize) -> bool {
        match &self.layout {
            Layout::Grid {
                tails,
                present: Some(present),
                ..
            } => {
                let (source, tail) = (position / *tails as usize, position % *tails as usize);
                present
                    .get(source)
                    .is_some_and(|own| own.contains(tail as u32))
            }
            Layout::Grid { sources, tails, .. } => position < sources.len() * *tails as usize,
            Layout::Spread { tails, .. } => position < *tails as usize,
            Layout::Direct { nodes, .. } => position < nodes.len(),
        }
    }

    /// The node at a position that [`Table::positions`], [`Table::place`] or [`Table::route`]
    /// gave.
    pub fn node(&self, position: usize) -> Node<'_> {
        match &self.layout {
            Layout::Grid {
                table_rule,
                sources,
                tails,
                ..
            } => {
                let (source, tail) = (position / *tails as usize, position % *tails as usize);
                match table_rule {
                    None => self.bare(sources[source]),
                    Some(rule) => self.tail(sources[source], rule, tail as u32),
                }
            }
            Layout::Spread { rule, homes, .. } => {
                let tail = position as u32;
                let home = homes.iter().find(|(tails, _)| tails.contains(tail));
                self.tail(home.map_or(SourceId(0), |(_, source)| *source), rule, tail)
            }
            Layout::Direct { nodes, .. } => {
                let (source, table) = &nodes[position];
                let tail = table
                    .strip_prefix(&*self.name.table)
                    .and_then(|rest| rest.strip_prefix(&*self.separator));
                Node {
                    source: *source,
                    table: Cow::Borrowed(table),
                    tail: Cow::Borrowed(tail.unwrap_or(table)),
                }
            }
        }
    }

    /// The data source of the node at a position.
    pub fn source(&self, position: usize) -> SourceId {
        match &self.layout {
            Layout::Grid { sources, tails, .. } => sources[position / *tails as usize],
            Layout::Direct { nodes, .. } => nodes[position].0,
            Layout::Spread { .. } => self.node(position).source,
        }
    }

    fn bare(&self, source: SourceId) -> Node<'_> {
        Node {
            source,
            table: Cow::Borrowed(&*self.name.table),
            tail: Cow::Borrowed(""),
        }
    }

    fn tail(&self, source: SourceId, rule: &Rule, tail: u32) -> Node<'_> {
        let tail = Cow::Owned(rule.key.strategy.name(tail).into_owned());
        Node {
            source,
            table: Cow::Owned(format!("{}{}{tail}", self.name.table, self.separator)),
            tail,
        }
    }

    /// The position of a row's node. `key` gives the row's value of a key column.
    ///
    /// # Errors
    /// If a key is missing, NULL, of another kind than its column, or outside of all partitions;
    /// if a secondary key chooses another place than the key.
    pub fn place<'v>(
        &self,
        mut key: impl FnMut(&KeyColumn) -> RowKey<'v>,
    ) -> Result<usize, KeyError> {
        let mut partition = |rule: Option<&Rule>, count: u32| match rule {
            None => Ok(0),
            Some(rule) => rule.place(&self.name, &mut key, count),
        };
        match &self.layout {
            Layout::Grid {
                source_rule,
                table_rule,
                sources,
                tails,
                present,
            } => {
                // A topology never has more sources than fit.
                let source = partition(source_rule.as_ref(), sources.len() as u32)?;
                let tail = partition(table_rule.as_ref(), *tails)?;
                let has = |present: &Vec<Partitions>| present[source as usize].contains(tail);
                if !present.as_ref().is_none_or(has) {
                    let rule = table_rule.as_ref().map(|rule| rule.key.strategy.name(tail));
                    return Err(KeyError::NoTail {
                        table: self.name.to_string(),
                        tail: rule.unwrap_or_default().into_owned(),
                    });
                }
                Ok(source as usize * *tails as usize + tail as usize)
            }
            Layout::Spread { rule, tails, .. } => {
                partition(Some(rule), *tails).map(|tail| tail as usize)
            }
            Layout::Direct { rule, nodes } => {
                partition(Some(rule), nodes.len() as u32).map(|node| node as usize)
            }
        }
    }

    /// The positions of the nodes that can hold rows whose key columns are in the sets that `keys`
    /// gives, in order. None is possible: then no row can match.
    pub fn route<'v>(&self, mut keys: impl FnMut(&KeyColumn) -> KeySet<'v>) -> Vec<usize> {
        let mut partitions = |rule: Option<&Rule>| match rule {
            Some(rule) => rule.route(&mut keys),
            None => Partitions::all(),
        };
        let below = |partitions: &Partitions, count: u32| -> Vec<usize> {
            partitions
                .below(count)
                .map(|number| number as usize)
                .collect()
        };
        match &self.layout {
            Layout::Grid {
                source_rule,
                table_rule,
                sources,
                tails,
                present,
            } => {
                let on = partitions(source_rule.as_ref());
                let found = partitions(table_rule.as_ref());
                if sources.len() == 1 && present.is_none() {
                    return if on.contains(0) {
                        below(&found, *tails)
                    } else {
                        Vec::new()
                    };
                }
                let mut nodes = Vec::new();
                for source in on.below(sources.len() as u32) {
                    let first = source as usize * *tails as usize;
                    let own = present.as_ref().map(|present| &present[source as usize]);
                    let found = own.map_or(Cow::Borrowed(&found), |own| {
                        Cow::Owned(found.intersect(own))
                    });
                    nodes.extend(found.below(*tails).map(|tail| first + tail as usize));
                }
                nodes
            }
            Layout::Spread { rule, tails, .. } => below(&partitions(Some(rule)), *tails),
            Layout::Direct { rule, nodes } => below(&partitions(Some(rule)), nodes.len() as u32),
        }
    }

    /// Whether a row that now is on the node stays there once some of its key columns, those for
    /// which `is_set` holds, have other values. `keys` gives the values that each column can have
    /// then.
    pub fn stays<'v>(
        &self,
        position: usize,
        mut keys: impl FnMut(&KeyColumn) -> KeySet<'v>,
        is_set: impl Fn(&KeyColumn) -> bool,
    ) -> bool {
        // A route leaves no place out, but a value outside of all partitions has none, so every
        // value of a key that changes has to be known.
        let is_placed = |key: &Key, values: &KeySet<'_>| {
            values.intervals().iter().all(|run| {
                run.as_point()
                    .is_some_and(|value| key.strategy.place(value).is_ok())
            })
        };
        let mut changed = self.keys().filter(|key| key.columns().iter().any(&is_set));
        changed.all(|key| is_placed(key, &key.values(&mut keys))) && self.route(keys) == [position]
    }

    /// When the next tail comes to exist; `None` if none does by itself.
    pub fn until(&self) -> Option<DateTime<Utc>> {
        self.until
    }

    /// The table as it is at `now`, if that differs.
    pub(super) fn at(&self, now: DateTime<Utc>) -> Option<Self> {
        self.until.filter(|until| *until <= now)?;
        let mut later = self.clone();
        let (Layout::Grid {
            table_rule: Some(rule),
            tails,
            ..
        }
        | Layout::Spread { rule, tails, .. }) = &mut later.layout
        else {
            return None;
        };
        let extent = rule.key.strategy.extent(now);
        *tails = extent.count.max(*tails);
        later.until = extent.until;
        Some(later)
    }

    /// The number of the tail that a physical table of this name is or will be, in a table whose
    /// tails grow with time.
    pub fn growing_tail(&self, physical: &str) -> Option<u32> {
        self.until?;
        let rest = physical.strip_prefix(&*self.name.table)?;
        let tail = rest.strip_prefix(&*self.separator)?;
        let number = self.tail_strategy()?.number(tail)?;
        (number < MAX_PARTITIONS).then_some(number)
    }

    /// The table with at least so many tails, if it has fewer and they grow with time.
    pub(super) fn reaching(&self, count: u32) -> Option<Self> {
        self.until?;
        let mut longer = self.clone();
        match &mut longer.layout {
            Layout::Grid { tails, .. } | Layout::Spread { tails, .. } if *tails < count => {
                *tails = count;
            }
            _ => return None,
        }
        Some(longer)
    }

    /// How many tails there are in the source that has most: 1 without a table rule.
    pub fn tail_count(&self) -> usize {
        match &self.layout {
            Layout::Grid { tails, .. } | Layout::Spread { tails, .. } => *tails as usize,
            Layout::Direct { nodes, .. } => nodes.len(),
        }
    }

    /// The partitions of the source rule and of the other rule that lead to a position: unlike the
    /// position, they stay the same when a table grows.
    pub fn coordinates(&self, position: usize) -> (usize, usize) {
        match &self.layout {
            Layout::Grid { tails, .. } => (position / *tails as usize, position % *tails as usize),
            Layout::Spread { .. } | Layout::Direct { .. } => (0, position),
        }
    }

    /// The node to which partitions lead; `None` if there is none.
    pub(super) fn node_of(&self, coordinates: (usize, usize)) -> Option<Node<'_>> {
        self.position_at(coordinates).map(|at| self.node(at))
    }

    /// The position of the node to which partitions lead; `None` if there is none.
    pub fn position_at(&self, (source, other): (usize, usize)) -> Option<usize> {
        let position = match &self.layout {
            Layout::Grid { sources, tails, .. } => (source < sources.len()
                && other < *tails as usize)
                .then_some(source * *tails as usize + other)?,
            Layout::Spread { .. } | Layout::Direct { .. } => other,
        };
        self.has(position).then_some(position)
    }

    /// The source of each partition of the source rule; empty for a table that has no such axis.
    pub(super) fn axis(&self) -> &[SourceId] {
        match &self.layout {
            Layout::Grid { sources, .. } => sources,
            Layout::Spread { .. } | Layout::Direct { .. } => &[],
        }
    }

    /// What the names of all physical tables begin with; empty if they have nothing in common.
    pub fn prefix(&self) -> &str {
        match &self.layout {
            Layout::Direct { .. } => "",
            _ => &self.name.table,
        }
    }

    /// The position of the node with this physical table in this data source.
    pub fn position_of(&self, source: SourceId, physical: &str) -> Option<usize> {
        let tail = || {
            let rest = physical.strip_prefix(&*self.name.table)?;
            let tail = rest.strip_prefix(&*self.separator)?;
            let number = self.tail_strategy()?.number(tail)? as usize;
            (number < self.tail_count()).then_some(number)
        };
        let position = match &self.layout {
            Layout::Grid {
                table_rule,
                sources,
                tails,
                ..
            } => {
                let tail = match table_rule {
                    Some(_) => tail()?,
                    None => (physical == self.name.table).then_some(0)?,
                };
                let axis = sources.iter().position(|own| *own == source)?;
                axis * *tails as usize + tail
            }
            Layout::Spread { .. } => tail()?,
            Layout::Direct { nodes, .. } => {
                let is_node =
                    |(own, table): &(SourceId, String)| *own == source && table == physical;
                nodes.iter().position(is_node)?
            }
        };
        (self.has(position) && self.source(position) == source).then_some(position)
    }

    /// Whether there is a tail of this name, or will be.
    pub(super) fn has_tail(&self, name: &str) -> bool {
        let tails = match &self.layout {
            Layout::Grid { tails, .. } | Layout::Spread { tails, .. } => *tails,
            Layout::Direct { .. } => 0,
        };
        let number = self
            .tail_strategy()
            .and_then(|strategy| strategy.number(name));
        number.is_some_and(|number| number < tails || self.until.is_some())
    }

    /// The strategy of the tails, if names of physical tables come from one.
    pub(super) fn tail_strategy(&self) -> Option<&dyn Strategy> {
        match &self.layout {
            Layout::Grid { table_rule, .. } => Some(table_rule.as_ref()?.key.strategy()),
            Layout::Spread { rule, .. } => Some(rule.key.strategy()),
            Layout::Direct { .. } => None,
        }
    }
}
