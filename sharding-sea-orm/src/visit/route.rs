//! Which rows of each table a statement can depend on, by their sharding keys.

use std::borrow::Cow;

use sea_orm::sea_query::{BinOper, ColumnName, ColumnRef, Expr, JoinType, TableName as SqlName};
use sharding_core::key::{KeyKind, KeySet};
use sharding_core::topology::KeyColumn;

use super::expr::conjuncts;
use super::predicate::KeyReader;
use super::tree::{Block, Inner, Place, Reads, Use};
use crate::shards::{Sharded, Shards};

/// A column of a use of a table: the block's place among those around, the use's place in the
/// block, and the column's name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spot {
    block: usize,
    used: usize,
    column: Cow<'static, str>,
}

/// The values that a key column can have in those rows of a table that can matter. `around` are
/// the blocks around the use, the innermost first.
pub(crate) fn keys<'t>(
    around: &[&'t Block<'_>],
    used: usize,
    column: &KeyColumn,
    shards: &Shards,
) -> KeySet<'t> {
    let spot = Spot {
        block: 0,
        used,
        column: Cow::Owned(column.name().to_owned()),
    };
    let router = Router {
        around,
        shards,
        looks_into_lists: true,
    };
    router.keys(&spot, column.kind(), &mut vec![spot.clone()])
}

struct Router<'r, 't, 'a> {
    around: &'r [&'t Block<'a>],
    shards: &'r Shards,
    /// Whether the lists that subqueries select are looked into, too.
    looks_into_lists: bool,
}

impl<'t, 'a> Router<'_, 't, 'a> {
    /// What conditions say about a column itself, and what they say about those that must be equal
    /// to it. `seen` keeps from going in circles.
    fn keys(&self, spot: &Spot, kind: KeyKind, seen: &mut Vec<Spot>) -> KeySet<'t> {
        let block = self.around[spot.block];
        let Reads::Table(sharded) = &block.uses[spot.used].reads else {
            return KeySet::all();
        };
        let mut keys = self.own(block, spot, sharded, kind);
        for other in self.equals(spot, sharded, kind) {
            if !seen.contains(&other) {
                seen.push(other.clone());
                keys = keys.intersect(self.keys(&other, kind, seen));
            }
        }
        for list in self.lists_of(spot, kind) {
            keys = keys.intersect(list);
        }
        keys
    }

    /// What WHERE and ON say about a column by values.
    fn own(
        &self,
        block: &'t Block<'a>,
        spot: &Spot,
        sharded: &Sharded<'_>,
        kind: KeyKind,
    ) -> KeySet<'t> {
        let reader = KeyReader {
            table: &block.uses[spot.used].alias,
            column: &spot.column,
            kind,
            bare: block.uses.len() == 1,
            exact: sharded.facts.is_exact(&spot.column, kind),
            by_bytes: sharded.facts.is_ordered_by_bytes(&spot.column),
            backend: self.shards.backend,
        };
        let mut keys = KeySet::all();
        if let Some(condition) = &block.condition {
            let found = reader.read(condition).keys();
            // A join that keeps the rows of its other side makes rows whose key is NULL, from
            // what no node has.
            if !(found.has_null() && block.is_optional(spot.used)) {
                keys = found;
            }
        }
        for on in block.conditions_on(spot.used) {
            let found = reader.read(on).keys();
            if !(found.has_null() && block.is_optional(spot.used)) {
                keys = keys.intersect(found);
            }
        }
        keys
    }

    /// The key columns that a column is equal to in every row that matters.
    fn equals(&self, spot: &Spot, sharded: &Sharded<'_>, kind: KeyKind) -> Vec<Spot> {
        if !sharded.facts.is_exact(&spot.column, kind) {
            return Vec::new();
        }
        let block = self.around[spot.block];
        let on = block.conditions_on(spot.used).flat_map(conjuncts);
        let links = block.condition.iter().flat_map(conjuncts).chain(on);
        let mut equals: Vec<Spot> = links
            .filter_map(equality)
            .filter_map(|(left, right)| {
                let (left, right) = (
                    self.spot(&left, spot.block)?,
                    self.spot(&right, spot.block)?,
                );
                match (left == *spot, right == *spot) {
                    (true, false) => Some(right),
                    (false, true) => Some(left),
                    _ => None,
                }
            })
            .collect();
        equals.extend(self.listed_for(spot));
        // Equal values of columns that compare otherwise need not be the same key.
        equals.retain(|other| self.is_key(other, kind));
        equals
    }

    /// The column around that has to be in the list that the block of this one selects.
    fn listed_for(&self, spot: &Spot) -> Option<Spot> {
        let block = self.around[spot.block];
        let outer = self.around.get(spot.block + 1)?;
        let mut inner = outer.inner.iter();
        let inner = inner.find(|inner| std::ptr::eq(&raw const inner.block, block))?;
        if self.list(block, spot.block)? != *spot {
            return None;
        }
        self.spot(&inner.column(outer)?, spot.block + 1)
    }

    /// The values of the lists in which a column has to be.
    fn lists_of(&self, spot: &Spot, kind: KeyKind) -> Vec<KeySet<'t>> {
        if !self.looks_into_lists {
            return Vec::new();
        }
        let block = self.around[spot.block];
        let list = |inner: &'t Inner<'a>| {
            let column = self.spot(&inner.column(block)?, spot.block)?;
            let mut around = vec![&inner.block];
            around.extend(&self.around[spot.block..]);
            let router = Router {
                around: &around,
                shards: self.shards,
                looks_into_lists: false,
            };
            let listed = router.list(&inner.block, 0)?;
            let is_meant = column == *spot && router.is_key(&listed, kind);
            is_meant.then(|| router.keys(&listed, kind, &mut vec![listed.clone()]))
        };
        block.inner.iter().filter_map(list).collect()
    }

    /// The one column that a block selects, if the block lists values of its rows.
    fn list(&self, block: &Block<'a>, at: usize) -> Option<Spot> {
        let [item] = block.parts.items.as_slice() else {
            return None;
        };
        let column = column_of(&item.expr).filter(|_| block.is_list())?;
        self.spot(&column, at).filter(|spot| spot.block == at)
    }

    /// Whether a column is a key of this kind that compares exactly.
    fn is_key(&self, spot: &Spot, kind: KeyKind) -> bool {
        let Reads::Table(sharded) = &self.around[spot.block].uses[spot.used].reads else {
            return false;
        };
        let mut columns = sharded.table.key_columns();
        columns.any(|own| own.name() == spot.column && own.kind() == kind)
            && sharded.facts.is_exact(&spot.column, kind)
    }

    /// What a column reference in a block means, if that is a column of a sharded table.
    fn spot(&self, (table, column): &Named, from: usize) -> Option<Spot> {
        let Some(table) = table else {
            let block = self.around[from];
            return (block.uses.len() == 1).then_some(Spot {
                block: from,
                used: 0,
                column: column.clone(),
            });
        };
        // Databases differ in whether case tells names apart, so names that differ in it mean
        // nothing.
        let named = |block: &Block<'_>| {
            let mut uses = block.uses.iter();
            uses.position(|used: &Use<'_>| used.alias.eq_ignore_ascii_case(table))
        };
        let (block, used) = (from..self.around.len())
            .find_map(|block| Some((block, named(self.around[block])?)))?;
        if self.around[block].uses[used].alias != *table {
            return None;
        }
        Some(Spot {
            block,
            used,
            column: column.clone(),
        })
    }
}

/// A column as a statement names it: with or without a table.
pub(super) type Named = (Option<Cow<'static, str>>, Cow<'static, str>);

/// The two columns that an expression says are equal.
pub(super) fn equality(link: &Expr) -> Option<(Named, Named)> {
    let Expr::Binary(left, BinOper::Equal, right) = link else {
        return None;
    };
    Some((column_of(left)?, column_of(right)?))
}

pub(super) fn column_of(expr: &Expr) -> Option<Named> {
    match expr {
        Expr::Column(ColumnRef::Column(ColumnName(table, column))) => {
            let table = table.as_ref().map(|SqlName(_, table)| table.inner());
            Some((table, column.inner()))
        }
        _ => None,
    }
}

impl Inner<'_> {
    /// The column that has to be in the list of this subquery for a row of the block around to
    /// matter.
    pub(super) fn column(&self, around: &Block<'_>) -> Option<Named> {
        match self.place {
            Place::In(link) => left_of(link, BinOper::In, around),
            _ => None,
        }
    }

    /// The column that must not be in the list of this subquery for a row of the block around to
    /// matter.
    pub(super) fn column_not(&self, around: &Block<'_>) -> Option<Named> {
        match self.place {
            Place::NotIn(link) => left_of(link, BinOper::NotIn, around),
            _ => None,
        }
    }
}

fn left_of(link: usize, operator: BinOper, around: &Block<'_>) -> Option<Named> {
    match conjuncts(around.condition.as_ref()?).get(link)? {
        Expr::Binary(left, own, _) if *own == operator => column_of(left),
        _ => None,
    }
}

impl Block<'_> {
    /// Whether a join may leave the columns of a use NULL.
    pub(super) fn is_optional(&self, at: usize) -> bool {
        let keeps = |join: Option<JoinType>, kinds: [JoinType; 2]| {
            join.is_some_and(|join| kinds.contains(&join))
        };
        let own = [JoinType::LeftJoin, JoinType::FullOuterJoin];
        let later = [JoinType::RightJoin, JoinType::FullOuterJoin];
        keeps(self.uses[at].join, own)
            || self.uses[at + 1..]
                .iter()
                .any(|used| keeps(used.join, later))
    }

    /// The conditions of joins that every row of a use has to meet to appear at all.
    fn conditions_on(&self, at: usize) -> impl Iterator<Item = &Expr> {
        let joins = self.uses.iter().enumerate().skip(at.max(1));
        joins.filter_map(move |(join, used)| {
            let decides = match used.join? {
                JoinType::LeftJoin => join == at,
                JoinType::RightJoin => join > at,
                JoinType::FullOuterJoin => false,
                _ => true,
            };
            used.on.as_ref().filter(|_| decides)
        })
    }

    /// Whether the block selects values of its rows and nothing that depends on other rows, so
    /// that without some rows it lacks just their values.
    pub(super) fn is_list(&self) -> bool {
        let parts = &self.parts;
        parts.limit.is_none()
            && parts.offset.is_none()
            && parts.group.is_empty()
            && parts.having.is_none()
            && parts.unions.is_empty()
            && parts.window.is_none()
            && parts.with.is_none()
            && parts.items.iter().all(|item| item.window.is_none())
            && self.obstacle.is_none()
            && self.whole
    }
}
