//! Names of tables: which are possible, and that each means one thing.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use super::Home;
use super::mistake::Mistake;
use super::table::{Table, TableName};
use crate::strategy::Strategy;

/// PostgreSQL takes 63 bytes, MySQL and MariaDB 64 characters, SQLite any number.
pub(super) const NAME_LIMIT: usize = 63;

/// Whether the text has ASCII letters, digits and these characters only.
pub(super) fn is_plain(text: &str, also: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || also.contains(c))
}

/// Checks a name that will be quoted.
pub(super) fn check_name(table: &str, name: &str, mistakes: &mut Vec<Mistake>) {
    let is_safe =
        |c: char| !c.is_control() && !matches!(c, '"' | '\'' | '`' | '\\' | '.' | '[' | ']');
    if name.is_empty() || !name.chars().all(is_safe) {
        mistakes.push(Mistake::BadTableName {
            table: table.to_owned(),
            name: name.to_owned(),
        });
    } else if name.len() > NAME_LIMIT {
        mistakes.push(Mistake::LongName {
            table: table.to_owned(),
            physical: name.to_owned(),
            limit: NAME_LIMIT,
        });
    }
}

/// Checks the name of a table as it is declared.
pub(super) fn check_logical(name: &TableName, mistakes: &mut Vec<Mistake>) {
    let table = name.to_string();
    check_name(&table, &name.table, mistakes);
    if let Some(schema) = &name.schema {
        check_name(&table, schema, mistakes);
    }
}

/// The strategies whose partition names were checked already, with the longest name of each: many
/// tables share one.
#[derive(Default)]
pub(super) struct Checked(HashMap<(std::any::TypeId, String, u32), Option<String>>);

impl Checked {
    /// Checks that all names can be tails, and differ.
    pub(super) fn check(
        &mut self,
        table: &TableName,
        separator: &str,
        strategy: &dyn Strategy,
        count: u32,
        mistakes: &mut Vec<Mistake>,
    ) {
        let identity = (strategy.type_id(), format!("{strategy:?}"), count);
        let longest = match self.0.get(&identity) {
            Some(Some(longest)) => Some(longest.clone()),
            _ => check_partitions(&table.to_string(), strategy, count, mistakes),
        };
        if let Some(longest) = &longest {
            let physical = format!("{}{separator}{longest}", table.table);
            if physical.len() > NAME_LIMIT && table.table.len() <= NAME_LIMIT {
                mistakes.push(Mistake::LongName {
                    table: table.to_string(),
                    physical,
                    limit: NAME_LIMIT,
                });
            }
        }
        self.0.insert(identity, longest);
    }
}

/// The longest name; `None` if one is not possible.
fn check_partitions(
    table: &str,
    strategy: &dyn Strategy,
    count: u32,
    mistakes: &mut Vec<Mistake>,
) -> Option<String> {
    let mut seen = HashSet::with_capacity(count as usize);
    let mut longest = String::new();
    for partition in 0..count {
        let name = strategy.name(partition);
        let why = if name.is_empty() || !is_plain(&name, "_") {
            "may only hold letters, digits and `_`"
        } else if strategy.number(&name) != Some(partition) {
            "is not found again; `number` has to be the inverse of `name`"
        } else if !seen.insert(name.to_ascii_lowercase()) {
            "is given twice, in upper or lower case"
        } else {
            if name.len() > longest.len() {
                longest = name.into_owned();
            }
            continue;
        };
        mistakes.push(Mistake::BadPartitionName {
            table: table.to_owned(),
            rule: "table",
            name: name.into_owned(),
            why,
        });
        return None;
    }
    Some(longest)
}

/// Physical names are unique over all tables, and differ from every other logical name, so that a
/// name in a statement always means one thing. Upper and lower case do not tell names apart, since
/// not all databases do.
pub(super) fn check_physical(
    tables: &[Arc<Table>],
    homes: &HashMap<TableName, Home>,
    mistakes: &mut Vec<Mistake>,
) {
    let owners = Owners::of(tables);
    let mut report = |table: &Table, physical: &str, other: &dyn fmt::Display| {
        mistakes.push(Mistake::SharedPhysical {
            table: table.name.to_string(),
            physical: physical.to_owned(),
            other: other.to_string(),
        });
    };
    let mut names: Vec<&TableName> = homes.keys().collect();
    names.sort_unstable();
    for name in names {
        let is_itself = |at: usize| tables[at].name == *name;
        if let Some(owner) = owners.find(name.schema.as_deref(), &name.table, &is_itself) {
            report(&tables[owner], &name.table, name);
        }
    }
    for (at, table) in tables.iter().enumerate() {
        let schema = table.name.schema.as_deref();
        if table.tail_strategy().is_some() && !owners.has_nested(at, table) {
            continue;
        }
        // Tables that begin alike find each other, and the later one reports it.
        let own = prefix(table);
        let is_later = |other: usize| other == at || (other > at && prefix(&tables[other]) == own);
        for position in table.positions() {
            let physical = table.node(position).table;
            if let Some(owner) = owners.find(schema, &physical, &is_later) {
                report(table, &physical, &tables[owner].name);
            }
        }
    }
}

/// Which tables a physical name belongs to, by their positions.
struct Owners<'a> {
    tables: &'a [Arc<Table>],
    /// Tables with tails, by schema and what their physical names begin with.
    by_prefix: HashMap<(Option<&'a str>, String), Vec<usize>>,
    /// The others, by schema and physical name.
    by_name: HashMap<(Option<&'a str>, String), Vec<usize>>,
}

impl<'a> Owners<'a> {
    fn of(tables: &'a [Arc<Table>]) -> Self {
        let mut owners = Self {
            tables,
            by_prefix: HashMap::with_capacity(tables.len()),
            by_name: HashMap::new(),
        };
        for (at, table) in tables.iter().enumerate() {
            let schema = table.name.schema.as_deref();
            if table.tail_strategy().is_some() {
                let key = (schema, prefix(table));
                owners.by_prefix.entry(key).or_default().push(at);
            } else {
                for position in table.positions() {
                    let key = (schema, table.node(position).table.to_lowercase());
                    let named = owners.by_name.entry(key).or_default();
                    if named.last() != Some(&at) {
                        named.push(at);
                    }
                }
            }
        }
        owners
    }

    /// The position of a table that has this physical name, or will have it, and is none of those
    /// to leave out.
    fn find(
        &self,
        schema: Option<&'a str>,
        physical: &str,
        leave_out: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let lower = physical.to_lowercase();
        let named = self
            .by_name
            .get(&(schema, lower.clone()))
            .into_iter()
            .flatten();
        if let Some(at) = named.copied().find(|at| !leave_out(*at)) {
            return Some(at);
        }
        let ends = lower.char_indices().map(|(end, _)| end).skip(1);
        let mut begun = ends.filter_map(|end| {
            let (prefix, rest) = (&lower[..end], &lower[end..]);
            let tables = self.by_prefix.get(&(schema, prefix.to_owned()))?;
            // The tail as it was written, unless lower case changed the count of bytes.
            let rest = physical.get(physical.len().checked_sub(rest.len())?..)?;
            let has_tail = |at: &usize| self.tables[*at].has_tail(rest);
            tables
                .iter()
                .copied()
                .find(|at| !leave_out(*at) && has_tail(at))
        });
        begun.next()
    }

    /// Whether what the table's physical names begin with goes on from another table's.
    fn has_nested(&self, at: usize, table: &'a Table) -> bool {
        let own = prefix(table);
        let ends = own
            .char_indices()
            .map(|(end, _)| end)
            .skip(1)
            .chain([own.len()]);
        let mut others = ends.flat_map(|end| {
            let key = (table.name.schema.as_deref(), own[..end].to_owned());
            self.by_prefix.get(&key).into_iter().flatten()
        });
        others.any(|other| *other != at)
    }
}

fn prefix(table: &Table) -> String {
    format!("{}{}", table.name.table, table.separator).to_lowercase()
}
