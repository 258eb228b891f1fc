use sea_orm::sea_query::{Condition, DynIden, Expr, JoinType, SelectStatement, TableRef};
use sharding_core::key::KeySet;
use sharding_core::plan::Clause;
use sharding_core::topology::KeyColumn;

use super::dissect::{Parts, dissect_route, dissect_select};
use super::predicate::KeyReader;
use super::scan::{Scan, is_flat, scan_expr, scan_join, scan_select, scan_select_expr, scan_table};
use crate::shards::{Gathering, Sharded, Shards};

/// A SELECT whose first FROM is a sharded table, or a subquery over one.
#[derive(Debug)]
pub(crate) struct SelectView<'a> {
    pub(crate) sharded: Sharded<'a>,
    /// What the route depends on, until [`SelectView::complete`] adds the rest.
    pub(crate) parts: Parts,
    /// The WHERE condition as one expression.
    condition: Option<Expr>,
    /// The subquery in FROM that leads to the table; `None` if FROM names the table itself.
    pub(crate) derived: Option<Box<SelectView<'a>>>,
    /// The name by which the statement calls the table or the subquery.
    alias: String,
    /// Whether other tables take part.
    has_others: bool,
    /// Where those are.
    pub(crate) others: Gathering,
    /// Whether text in the statement may hold a clause of its own.
    has_clauses_in_text: bool,
    /// Whether text in the statement may change what the conditions beside it mean.
    breaks_out: bool,
}

/// What a SELECT has to do with sharded tables.
#[derive(Debug)]
pub(crate) enum Selected<'a> {
    /// Nothing: its tables are there.
    Unsharded(Gathering),
    /// It reads one, which stands first in FROM.
    Sharded(Box<SelectView<'a>>),
    /// It reads one in another place, or several.
    Nested,
    /// It reads one in a way that is not supported.
    Refused(Sharded<'a>, Clause),
}

impl<'a> Selected<'a> {
    pub(crate) fn of(select: &SelectStatement, shards: &'a Shards) -> Self {
        let mut parts = dissect_route(select, shards.backend);
        let mut others = Scan::default();
        let mut from = parts.from.iter();
        // Where the tables of a subquery in FROM are.
        let mut within = Gathering::Anywhere;
        let main = match from.next() {
            Some(TableRef::Table(name, alias)) => match shards.find(name) {
                Some(sharded) => {
                    let alias = alias.as_ref().unwrap_or(&name.1).to_string();
                    Some((sharded, None, alias))
                }
                None => {
                    others.tables.push(name.clone());
                    None
                }
            },
            Some(TableRef::SubQuery(inner, alias)) => match Self::of(inner, shards) {
                Self::Sharded(inner) => Some((inner.sharded, Some(inner), alias.to_string())),
                Self::Refused(sharded, clause) => return Self::Refused(sharded, clause),
                Self::Nested => return Self::Nested,
                Self::Unsharded(gathering) => {
                    within = gathering;
                    None
                }
            },
            Some(table) => {
                scan_table(table, &mut others);
                None
            }
            None => None,
        };
        let condition = parts.condition.take().map(Expr::from);
        scan_others(select, &parts, condition.as_ref(), &mut others);
        match shards.first_named(&others) {
            Some((_, Clause::NestedTable)) => return Self::Nested,
            Some((sharded, clause)) => return Self::Refused(sharded, clause),
            None => {}
        }
        let Some((sharded, derived, alias)) = main else {
            return Self::Unsharded(within.and(shards.gather(&others)));
        };
        let gathering = match &derived {
            Some(inner) => inner.others.and(shards.gather(&others)),
            None => shards.gather(&others),
        };
        let has_others =
            !others.tables.is_empty() || derived.as_ref().is_some_and(|inner| inner.has_others);
        Self::Sharded(Box::new(SelectView {
            sharded,
            parts,
            condition,
            derived,
            alias,
            has_others,
            others: gathering,
            has_clauses_in_text: others.clauses,
            breaks_out: others.breaks_out,
        }))
    }
}

/// Looks everywhere but at the first of FROM.
fn scan_others(select: &SelectStatement, parts: &Parts, condition: Option<&Expr>, scan: &mut Scan) {
    parts
        .from
        .iter()
        .skip(1)
        .for_each(|table| scan_table(table, scan));
    parts.joins.iter().for_each(|join| scan_join(join, scan));
    parts
        .items
        .iter()
        .for_each(|item| scan_select_expr(item, scan));
    parts.group.iter().for_each(|key| scan_expr(key, scan));
    parts
        .order
        .iter()
        .for_each(|key| scan_expr(&key.expr, scan));
    parts
        .unions
        .iter()
        .for_each(|(_, select)| scan_select(select, scan));
    if let Some(condition) = condition {
        scan_expr(condition, scan);
    }
    if let Some(condition) = &parts.having {
        scan_expr(&Expr::from(condition.clone()), scan);
    }
    // These parts are not kept, so the whole statement is looked through; the first of FROM is
    // then found again, as if it were nested.
    if parts.with.is_some() || parts.window.is_some() {
        scan_select(select, scan);
    }
}

impl SelectView<'_> {
    /// Takes apart what routing alone did not need.
    pub(crate) fn complete(&mut self, select: &SelectStatement, shards: &Shards) {
        self.parts = dissect_select(select, shards.backend);
        if let (Some(TableRef::SubQuery(inner, _)), Some(derived)) =
            (self.parts.from.first(), &mut self.derived)
        {
            derived.complete(inner, shards);
        }
    }

    /// The values of a key column that a matching row can have.
    pub(crate) fn keys(&self, column: &KeyColumn, shards: &Shards) -> KeySet<'_> {
        if let Some(inner) = &self.derived {
            return inner.keys(column, shards);
        }
        let key = KeyReader {
            table: &self.alias,
            column: column.name(),
            kind: column.kind(),
            bare: self.is_alone(),
            exact: self.sharded.facts.is_exact(column.name(), column.kind()),
            by_bytes: self.sharded.facts.is_ordered_by_bytes(column.name()),
            backend: shards.backend,
        };
        let keys = match &self.condition {
            // A chain of AND and OR without parentheses is not read as a tree.
            Some(condition) if !self.parts.chained && !self.breaks_out => {
                key.read(condition).keys()
            }
            _ => KeySet::all(),
        };
        // A join that keeps the rows of its other side makes rows whose key is NULL, from what no
        // node has.
        if keys.has_null() && self.has_outer_join() {
            KeySet::all()
        } else {
            keys
        }
    }

    /// Whether a join may leave the sharded table's columns NULL.
    fn has_outer_join(&self) -> bool {
        let keeps_other = [JoinType::RightJoin, JoinType::FullOuterJoin];
        self.parts
            .joins
            .iter()
            .any(|join| keeps_other.contains(&join.join))
    }

    /// The name by which the statement calls the table or the subquery.
    pub(crate) fn alias(&self) -> DynIden {
        self.alias.clone().into()
    }

    /// The sharded table as FROM names it, and how many subqueries deep that is.
    pub(crate) fn place(&self) -> (&TableRef, usize) {
        match &self.derived {
            None => (&self.parts.from[0], 0),
            Some(inner) => {
                let (table, depth) = inner.place();
                (table, depth + 1)
            }
        }
    }

    /// The name by which the statement calls the table itself.
    pub(crate) fn table_alias(&self) -> DynIden {
        self.derived
            .as_ref()
            .map_or_else(|| self.alias(), |inner| inner.table_alias())
    }

    /// Whether no select list on the way to the table holds a subquery.
    pub(crate) fn is_flat(&self) -> bool {
        self.parts
            .items
            .iter()
            .all(|item| item.window.is_none() && is_flat(&item.expr))
            && self.derived.as_ref().is_none_or(|inner| inner.is_flat())
    }

    /// The WHERE condition, if it is about the sharded table alone and under the name by which
    /// the statement calls it.
    pub(crate) fn own_condition(&self) -> Option<&Condition> {
        let is_own = self.derived.is_none() && self.is_alone() && !self.parts.chained;
        self.parts
            .condition
            .as_ref()
            .filter(|_| is_own && !self.has_clauses_in_text)
    }

    /// Whether no other table could be meant by a column without a table.
    fn is_alone(&self) -> bool {
        self.parts.joins.is_empty() && self.parts.from.len() == 1
    }
}
