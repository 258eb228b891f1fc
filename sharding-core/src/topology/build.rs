use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::build_table::Context;
use super::draft::{LinkDraft, TopologyDraft};
use super::mistake::{ConfigError, Mistake};
use super::names::{self, Checked};
use super::table::{Table, TableName};
use super::{Home, Source, SourceId, SourceState, Topology, change, earliest};

impl TopologyDraft {
    /// Checks everything. `now` decides which calendar tails exist.
    ///
    /// # Errors
    /// All mistakes at once, each with its place.
    pub fn build(self, now: DateTime<Utc>) -> Result<Topology, ConfigError> {
        self.build_after(None, now)
    }

    /// Checks everything, and that nothing is lost or moved of what there was before: sources keep
    /// their ids, and every row that was placed until `now` is found where it is.
    ///
    /// # Errors
    /// All mistakes at once, each with its place.
    pub fn change(self, before: &Topology, now: DateTime<Utc>) -> Result<Topology, ConfigError> {
        self.build_after(Some(before), now)
    }

    fn build_after(
        mut self,
        before: Option<&Topology>,
        now: DateTime<Utc>,
    ) -> Result<Topology, ConfigError> {
        let mut mistakes = std::mem::take(&mut self.mistakes);
        check_sources(&self.sources, &mut mistakes);
        let sources = sources(&self, before, &mut mistakes);
        let ids: HashMap<&str, SourceId> = sources
            .iter()
            .zip(0..)
            .filter(|(source, _)| source.state != SourceState::Removed)
            .map(|(source, id)| (source.name.as_str(), SourceId(id)))
            .collect();
        let mut seen = HashSet::new();
        let in_order: Vec<SourceId> = self
            .sources
            .iter()
            .filter_map(|name| ids.get(name.as_str()).copied())
            .filter(|id| seen.insert(*id))
            .collect();
        let default = match &self.default_source {
            None => in_order.first().copied().unwrap_or(SourceId(0)),
            Some(name) => ids.get(name.as_str()).copied().unwrap_or_else(|| {
                mistakes.push(Mistake::UnknownDefault { name: name.clone() });
                SourceId(0)
            }),
        };
        let mut context = Context {
            now,
            ids: &ids,
            in_order: &in_order,
            default,
            checked: Checked::default(),
        };
        let mut tables = Vec::with_capacity(self.tables.len());
        let mut homes: HashMap<TableName, Home> = HashMap::with_capacity(self.tables.len());
        for draft in self.tables {
            match homes.entry(draft.name.clone()) {
                Entry::Occupied(entry) => mistakes.push(Mistake::DuplicateTable {
                    table: entry.key().to_string(),
                }),
                Entry::Vacant(entry) => {
                    names::check_logical(entry.key(), &mut mistakes);
                    if let Some(table) = context.table(draft, &mut mistakes) {
                        entry.insert(Home::Sharded(tables.len()));
                        tables.push(Arc::new(table));
                    }
                }
            }
        }
        let singles = self.single.into_iter().filter_map(|(table, name)| {
            let id = ids.get(name.as_str()).copied();
            if id.is_none() {
                let table = table.to_string();
                mistakes.push(Mistake::UnknownHome { table, name });
            }
            Some((table, Home::Single(id?)))
        });
        let singles: Vec<_> = singles.collect();
        let broadcast = self
            .broadcast
            .into_iter()
            .map(|table| (table, Home::Broadcast));
        for (table, home) in broadcast.chain(singles) {
            names::check_logical(&table, &mut mistakes);
            add_home(&mut homes, table, home, &mut mistakes);
        }
        names::check_physical(&tables, &homes, &mut mistakes);
        check_groups(&self.co_located, &tables, &homes, &mut mistakes);
        let mut groups = self.co_located;
        groups.extend(linked(&self.links, &tables, &homes));
        let topology = Topology {
            until: earliest(&tables),
            sources,
            default,
            tables,
            homes: Arc::new(homes),
            groups: Arc::new(groups),
        };
        if let Some(before) = before
            && mistakes.is_empty()
        {
            change::check(before, &topology, now, &mut mistakes);
        }
        match ConfigError::new(mistakes) {
            Some(error) => Err(error),
            None => Ok(topology),
        }
    }
}

fn check_sources(sources: &[String], mistakes: &mut Vec<Mistake>) {
    if sources.is_empty() {
        mistakes.push(Mistake::NoSource);
    }
    let mut seen = HashSet::new();
    for name in sources {
        if !names::is_plain(name, "_-") || name.is_empty() {
            mistakes.push(Mistake::BadSourceName { name: name.clone() });
        }
        if !seen.insert(name) {
            mistakes.push(Mistake::DuplicateSource { name: name.clone() });
        }
    }
}

/// The sources at the positions that they had before, then the new ones.
fn sources(
    draft: &TopologyDraft,
    before: Option<&Topology>,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Source> {
    let state = |name: &String| {
        if draft.draining.contains(name) {
            SourceState::Draining
        } else {
            SourceState::Active
        }
    };
    for name in &draft.draining {
        if !draft.sources.contains(name) {
            mistakes.push(Mistake::NoSuchSource {
                at: "draining",
                name: name.clone(),
            });
        }
    }
    let older = before.map_or(&[][..], |before| &before.sources);
    let kept = older.iter().map(|source| {
        let is_kept = source.state != SourceState::Removed && draft.sources.contains(&source.name);
        Source {
            name: source.name.clone(),
            state: if is_kept {
                state(&source.name)
            } else {
                SourceState::Removed
            },
        }
    });
    let mut sources: Vec<Source> = kept.collect();
    for name in &draft.sources {
        let is_present =
            |source: &Source| source.name == *name && source.state != SourceState::Removed;
        if !sources.iter().any(is_present) {
            sources.push(Source {
                name: name.clone(),
                state: state(name),
            });
        }
    }
    sources
}

fn add_home(
    homes: &mut HashMap<TableName, Home>,
    table: TableName,
    home: Home,
    mistakes: &mut Vec<Mistake>,
) {
    let role = |home: &Home| match home {
        Home::Sharded(_) => "sharded",
        Home::Broadcast => "broadcast",
        Home::Single(_) => "single",
    };
    match homes.entry(table) {
        Entry::Occupied(entry) => mistakes.push(Mistake::TwoRoles {
            table: entry.key().to_string(),
            first: role(entry.get()),
            second: role(&home),
        }),
        Entry::Vacant(entry) => {
            entry.insert(home);
        }
    }
}

fn check_groups(
    groups: &[Vec<TableName>],
    tables: &[Arc<Table>],
    homes: &HashMap<TableName, Home>,
    mistakes: &mut Vec<Mistake>,
) {
    for group in groups {
        let mut first: Option<&Arc<Table>> = None;
        for name in group {
            let Some(Home::Sharded(at)) = homes.get(name) else {
                // A table whose own mistakes are reported is not there either.
                if mistakes.is_empty() {
                    mistakes.push(Mistake::UnknownMember {
                        table: name.to_string(),
                    });
                }
                continue;
            };
            let table = &tables[*at];
            match first {
                None => first = Some(table),
                Some(first) if first.is_alike(table) => {}
                Some(first) => mistakes.push(Mistake::NotCoLocated {
                    table: name.to_string(),
                    other: first.name.to_string(),
                }),
            }
        }
    }
}

/// The pairs of tables whose keys refer to each other and that place rows alike.
fn linked<'a>(
    links: &'a [LinkDraft],
    tables: &'a [Arc<Table>],
    homes: &'a HashMap<TableName, Home>,
) -> impl Iterator<Item = Vec<TableName>> + 'a {
    let table = |name: &TableName| match homes.get(name) {
        Some(Home::Sharded(at)) => Some(&tables[*at]),
        _ => None,
    };
    let is_key =
        |table: &Table, column: &str| table.deciding_columns().all(|own| own.name() == column);
    let is_linked = move |link: &&LinkDraft| {
        let ((from, from_column), (to, to_column)) = (&link.from, &link.to);
        let (Some(a), Some(b)) = (table(from), table(to)) else {
            return false;
        };
        from != to && is_key(a, from_column) && is_key(b, to_column) && a.is_alike(b)
    };
    links
        .iter()
        .filter(is_linked)
        .map(|link| vec![link.from.0.clone(), link.to.0.clone()])
}

#[cfg(test)]
mod tests;
