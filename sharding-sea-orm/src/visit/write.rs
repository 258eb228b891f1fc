use sea_orm::sea_query::{DeleteStatement, DynIden, Expr, TableRef, UpdateStatement};
use sharding_core::key::KeySet;
use sharding_core::plan::{Clause, WriteShape};
use sharding_core::topology::KeyColumn;

use super::dissect::{Parts, dissect_delete, dissect_update};
use super::predicate::KeyReader;
use super::scan::{Scan, scan_delete, scan_update};
use crate::shards::{Gathering, Sharded, Shards};
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
    /// Where the other tables are.
    pub(crate) others: Gathering,
    /// ORDER BY or LIMIT, or text that may hold such a clause.
    limited: bool,
    /// Whether text in the statement may change what the conditions beside it mean.
    breaks_out: bool,
}

/// What an UPDATE or DELETE has to do with sharded tables.
#[derive(Debug)]
pub(crate) enum Written<'a> {
    /// Nothing: its tables are there.
    Unsharded(Gathering),
    /// It writes to a table of which every data source has a copy.
    SpreadCopy(String),
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
        let gathering = shards.gather(&others);
        let Some((sharded, alias)) = main else {
            let target = parts.from.first();
            return match target.and_then(|target| shards.spread_copy(target)) {
                Some(table) => Self::SpreadCopy(table),
                None => Self::Unsharded(gathering),
            };
        };
        let joined = parts.from.len() > 1 || parts.with.is_some() || !others.tables.is_empty();
        // Not all databases tell the case of a column's name.
        let is_key = |name: &str| {
            sharded
                .table
                .key_columns()
                .any(|column| column.name().eq_ignore_ascii_case(name))
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
            others: gathering,
            limited,
            breaks_out: others.breaks_out,
        }))
    }
}

impl WriteView<'_> {
    /// The values of a key column that a row to write can have.
    pub(crate) fn keys(&self, column: &KeyColumn, shards: &Shards) -> KeySet<'_> {
        let alias = self.alias.inner();
        let key = KeyReader {
            table: &alias,
            column: column.name(),
            kind: column.kind(),
            bare: self.parts.from.len() == 1,
            exact: self.sharded.facts.is_exact(column.name(), column.kind()),
            by_bytes: self.sharded.facts.is_ordered_by_bytes(column.name()),
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
    pub(crate) fn shape(&self, nodes: &[usize], shards: &Shards) -> WriteShape {
        WriteShape {
            limited: self.limited,
            joined: self.joined,
            moves_key: self.moved_key(nodes, shards),
        }
    }

    /// A key may be set to a value of the one node that is reached, and to nothing else.
    fn moved_key(&self, nodes: &[usize], shards: &Shards) -> Option<String> {
        let table = self.sharded.table;
        let (first, _) = self.set.first()?;
        let [node] = nodes else {
            return Some(first.clone());
        };
        let is_set = |column: &KeyColumn| self.set_to(column).is_some();
        let mut unknown = false;
        let stays = table.stays(
            *node,
            |column| match self.set_to(column) {
                None => self.keys(column, shards),
                Some(value) => self.new_keys(column, value, shards).unwrap_or_else(|| {
                    unknown = true;
                    KeySet::all()
                }),
            },
            is_set,
        );
        (unknown || !stays).then(|| first.clone())
    }

    /// What a key column is set to.
    fn set_to(&self, column: &KeyColumn) -> Option<&Expr> {
        let is_column = |(name, _): &&(String, Expr)| column.name().eq_ignore_ascii_case(name);
        self.set.iter().find(is_column).map(|(_, value)| value)
    }

    /// The values that the database may keep for this one; `None` if that is not known.
    fn new_keys<'v>(
        &self,
        column: &KeyColumn,
        value: &'v Expr,
        shards: &Shards,
    ) -> Option<KeySet<'v>> {
        let Expr::Value(value) = value else {
            return None;
        };
        let digits = self.sharded.facts.digits(column.name(), shards.backend);
        match as_key(value, column.kind(), shards.backend) {
            AsKey::Value(key) => Some(KeySet::points(match digits {
                Some(digits) => stored_as(&key, digits),
                None => vec![key],
            })),
            AsKey::Null => Some(KeySet::null()),
            AsKey::Foreign | AsKey::NotUtc => None,
        }
    }
}
