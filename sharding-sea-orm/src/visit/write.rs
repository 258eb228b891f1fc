use sea_orm::DbBackend;
use sea_orm::sea_query::{DeleteStatement, DynIden, Expr, TableRef, UpdateStatement};
use sharding_core::key::{KeySet, KeyValue};
use sharding_core::plan::{Clause, WriteShape};
use sharding_core::topology::Rule;

use super::dissect::{Parts, dissect_delete, dissect_update};
use super::predicate::KeyColumn;
use super::scan::{Scan, scan_delete, scan_update};
use crate::shards::{Sharded, Shards};
use crate::value::{AsKey, as_key, stored_as};

/// An UPDATE or DELETE of a sharded table.
#[derive(Debug)]
pub(crate) struct WriteView<'a> {
    pub(crate) sharded: Sharded<'a>,
    pub(crate) alias: DynIden,
    parts: Parts,
    condition: Option<Expr>,
    /// The sharding keys that are set, and to what.
    set: Vec<(String, Expr)>,
    joined: bool,
    /// ORDER BY or LIMIT, or text that may hold such a clause.
    limited: bool,
    /// Whether text in the statement may change what the conditions beside it mean.
    breaks_out: bool,
}

/// What an UPDATE or DELETE has to do with sharded tables.
#[derive(Debug)]
pub(crate) enum Written<'a> {
    /// Nothing.
    Unsharded,
    /// It writes to one.
    Sharded(Box<WriteView<'a>>),
    /// It reads one in a place or in a way that is not supported.
    Refused(Sharded<'a>, Clause),
}

impl<'a> Written<'a> {
    pub(crate) fn update(update: &UpdateStatement, shards: &'a Shards) -> Self {
        let mut scan = Scan::default();
        scan_update(update, &mut scan);
        let set = update
            .get_values()
            .iter()
            .map(|(column, value)| (column.to_string(), (**value).clone()))
            .collect();
        Self::of(dissect_update(update, shards.backend), set, scan, shards)
    }

    pub(crate) fn delete(delete: &DeleteStatement, shards: &'a Shards) -> Self {
        let mut scan = Scan::default();
        scan_delete(delete, &mut scan);
        Self::of(
            dissect_delete(delete, shards.backend),
            Vec::new(),
            scan,
            shards,
        )
    }

    /// `others` holds every table of the statement, its target too.
    fn of(parts: Parts, set: Vec<(String, Expr)>, mut others: Scan, shards: &'a Shards) -> Self {
        let main = match parts.from.first() {
            Some(TableRef::Table(name, alias)) => shards.find(name).map(|sharded| {
                let own = others.tables.iter().position(|table| table == name);
                own.map(|own| others.tables.remove(own));
                (sharded, alias.clone().unwrap_or_else(|| name.1.clone()))
            }),
            _ => None,
        };
        if let Some((sharded, clause)) = shards.first_named(&others) {
            return Self::Refused(sharded, clause);
        }
        let Some((sharded, alias)) = main else {
            return Self::Unsharded;
        };
        let joined = parts.from.len() > 1 || parts.with || !others.tables.is_empty();
        // Not all databases tell the case of a column's name.
        let is_key = |name: &str| {
            sharded
                .table
                .rules()
                .any(|rule| rule.column().eq_ignore_ascii_case(name))
        };
        let set = set
            .into_iter()
            .filter(|(column, _)| is_key(column))
            .collect();
        let condition = parts.condition.clone().map(Expr::from);
        let limited = parts.limit.is_some() || !parts.order.is_empty() || others.clauses;
        Self::Sharded(Box::new(WriteView {
            sharded,
            alias,
            parts,
            condition,
            set,
            joined,
            limited,
            breaks_out: others.breaks_out,
        }))
    }
}

impl WriteView<'_> {
    /// The values of a rule's key that a row to write can have.
    pub(crate) fn keys(&self, rule: &Rule, shards: &Shards) -> KeySet<'_> {
        let alias = self.alias.inner();
        let key = KeyColumn {
            table: &alias,
            column: rule.column(),
            kind: rule.kind(),
            bare: self.parts.from.len() == 1,
            exact: self.sharded.facts.is_exact(rule.column(), rule.kind()),
            backend: shards.backend,
        };
        match &self.condition {
            // A chain of AND and OR without parentheses is not read as a tree.
            Some(condition) if !self.parts.chained && !self.breaks_out => {
                key.read(condition).keys()
            }
            _ => KeySet::all(),
        }
    }

    /// What the planner needs to know, for these nodes.
    pub(crate) fn shape(&self, nodes: &[usize], backend: DbBackend) -> WriteShape {
        WriteShape {
            limited: self.limited,
            joined: self.joined,
            moves_key: self.moved_key(nodes, backend),
        }
    }

    /// Whether other tables take part.
    pub(crate) fn has_others(&self) -> bool {
        self.joined
    }

    /// A key may be set to a value of the one node that is reached, and to nothing else.
    fn moved_key(&self, nodes: &[usize], backend: DbBackend) -> Option<String> {
        let table = self.sharded.table;
        let (first, _) = self.set.first()?;
        let [node] = nodes else {
            return Some(first.clone());
        };
        for rule in table.rules() {
            let is_key = |(name, _): &&(String, Expr)| rule.column().eq_ignore_ascii_case(name);
            let Some((column, value)) = self.set.iter().find(is_key) else {
                continue;
            };
            let Expr::Value(value) = value else {
                return Some(column.clone());
            };
            let AsKey::Value(value) = as_key(value, rule.kind(), backend) else {
                return Some(column.clone());
            };
            let digits = self
                .sharded
                .facts
                .digits(rule.column(), backend)
                .unwrap_or(9);
            let stays = |value: &KeyValue<'_>| table.is_placed_on(*node, rule, value);
            if !stays(&value) || !stored_as(&value, digits).iter().all(stays) {
                return Some(column.clone());
            }
        }
        None
    }
}
