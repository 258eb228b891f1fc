use sea_orm::DbBackend;
use sea_orm::sea_query::{DeleteStatement, DynIden, Expr, TableRef, UpdateStatement};
use sharding_core::key::{KeySet, KeyValue};
use sharding_core::plan::WriteShape;
use sharding_core::topology::Rule;

use super::dissect::{Parts, dissect_delete, dissect_update};
use super::predicate::KeyColumn;
use super::scan::{Scan, scan_expr, scan_table};
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
}

/// What an UPDATE or DELETE has to do with sharded tables.
#[derive(Debug)]
pub(crate) enum Written<'a> {
    /// Nothing.
    Unsharded,
    /// It writes to one.
    Sharded(Box<WriteView<'a>>),
    /// It reads one in a place that is not supported.
    Nested(Sharded<'a>),
}

impl<'a> Written<'a> {
    pub(crate) fn update(update: &UpdateStatement, shards: &'a Shards) -> Self {
        let parts = dissect_update(update, shards.backend);
        let mut others = Scan::default();
        update
            .get_values()
            .iter()
            .for_each(|(_, value)| scan_expr(value, &mut others));
        let set = update
            .get_values()
            .iter()
            .map(|(column, value)| (column.to_string(), (**value).clone()))
            .collect();
        Self::of(parts, set, others, shards)
    }

    pub(crate) fn delete(delete: &DeleteStatement, shards: &'a Shards) -> Self {
        let parts = dissect_delete(delete, shards.backend);
        Self::of(parts, Vec::new(), Scan::default(), shards)
    }

    fn of(parts: Parts, set: Vec<(String, Expr)>, mut others: Scan, shards: &'a Shards) -> Self {
        let condition = parts.condition.clone().map(Expr::from);
        if let Some(condition) = &condition {
            scan_expr(condition, &mut others);
        }
        let main = match parts.from.first() {
            Some(TableRef::Table(name, alias)) => shards
                .find(name)
                .map(|sharded| (sharded, alias.clone().unwrap_or_else(|| name.1.clone()))),
            _ => None,
        };
        parts
            .from
            .iter()
            .skip(1)
            .for_each(|table| scan_table(table, &mut others));
        if let Some(nested) = shards.first_named(&others) {
            return Self::Nested(nested);
        }
        let Some((sharded, alias)) = main else {
            return Self::Unsharded;
        };
        let joined = parts.from.len() > 1 || parts.with || !others.tables.is_empty();
        let is_key = |name: &str| sharded.table.rules().any(|rule| rule.column() == name);
        let set = set
            .into_iter()
            .filter(|(column, _)| is_key(column))
            .collect();
        Self::Sharded(Box::new(WriteView {
            sharded,
            alias,
            parts,
            condition,
            set,
            joined,
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
            Some(condition) if !self.parts.chained => key.read(condition).keys(),
            _ => KeySet::all(),
        }
    }

    /// What the planner needs to know, for these nodes.
    pub(crate) fn shape(&self, nodes: &[usize], backend: DbBackend) -> WriteShape {
        WriteShape {
            limited: self.parts.limit.is_some() || !self.parts.order.is_empty(),
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
            let Some((column, value)) = self.set.iter().find(|(name, _)| name == rule.column())
            else {
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
