//! Whether a statement may be answered part by part: each unit for its own rows.
//!
//! The rows of FROM are divided if each of them comes from rows of one unit. That holds for a
//! table that is sharded; for a join of two such tables whose sharding keys have to be equal; and
//! for a join with tables that every unit has in full, unless their unmatched rows are kept.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sea_orm::sea_query::{
    ColumnRef, Expr, JoinType, SelectDistinct, SelectExpr, UnionType, WindowSelectType,
};
use sharding_core::plan::Clause;
use sharding_core::topology::{KeyColumn, Unit};

use super::aggregate::holds_aggregate;
use super::expr::{conjuncts, parts_of_window};
use super::one_row::is_of_one_row;
use super::route::{Named, column_of, equality};
use super::tree::{Block, Inner, Place, Reads, Use};
use crate::shards::Sharded;

/// A sharded table, under the name by which a block knows its columns.
#[derive(Clone, Debug)]
pub(super) struct Anchor<'a> {
    alias: String,
    pub(super) sharded: Sharded<'a>,
    /// The names that its key columns have in the block.
    names: BTreeMap<String, String>,
    /// Whether a join may have left its columns NULL.
    pub(super) optional: bool,
    /// Whether a column without a table may mean one of its columns.
    bare: bool,
}

/// How rows are spread over units.
#[derive(Clone, Debug)]
pub(super) enum Spread<'a> {
    /// They are the same in every unit.
    Same,
    /// Each row is in one unit: that of its rows of these tables.
    Divided(Vec<Anchor<'a>>),
}

/// Whether rows that a set operation takes for equal are of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Equal {
    Meet,
    MayBeApart,
}

/// Looks at blocks with one size of unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divider {
    pub(super) unit: Unit,
}

impl Divider {
    /// The spread of the rows of FROM, if every subquery of the block keeps to the unit of the row
    /// that it is evaluated for.
    pub(super) fn rows<'a>(
        self,
        block: &Block<'a>,
        around: &[Anchor<'a>],
    ) -> Result<Spread<'a>, Clause> {
        if let Some(clause) = &block.obstacle {
            return Err(clause.clone());
        }
        let spread = self.from(block)?;
        let mut anchors = seen_from(block, around);
        if let Spread::Divided(own) = &spread {
            anchors.extend(own.iter().cloned());
        }
        for inner in &block.inner {
            self.inner(inner, block, &anchors)?;
        }
        Ok(spread)
    }

    fn from<'a>(self, block: &Block<'a>) -> Result<Spread<'a>, Clause> {
        let mut uses = block.uses.iter();
        let Some(first) = uses.next() else {
            return Ok(Spread::Same);
        };
        let mut spread = self.used(first)?;
        if let (Spread::Divided(anchors), None) = (&mut spread, block.uses.get(1)) {
            anchors.iter_mut().for_each(|anchor| anchor.bare = true);
        }
        let outer = [JoinType::RightJoin, JoinType::FullOuterJoin];
        // A comma binds weaker than a join.
        let commas = block.uses.iter().filter(|used| used.join.is_none()).count();
        if commas > 1
            && block
                .uses
                .iter()
                .any(|used| used.join.is_some_and(|join| outer.contains(&join)))
        {
            return Err(Clause::OuterJoin);
        }
        for used in uses {
            let right = self.used(used)?;
            spread = self.join(block, spread, used, right)?;
        }
        Ok(spread)
    }

    fn used<'a>(self, used: &Use<'a>) -> Result<Spread<'a>, Clause> {
        match &used.reads {
            Reads::Plain(..) | Reads::Other => Ok(Spread::Same),
            Reads::Itself => Err(Clause::CommonTable),
            Reads::Table(sharded) => {
                let columns = sharded.table.key_columns();
                let names =
                    columns.map(|column| (column.name().to_owned(), column.name().to_owned()));
                Ok(Spread::Divided(vec![Anchor {
                    alias: used.alias.clone(),
                    sharded: *sharded,
                    names: names.collect(),
                    optional: false,
                    bare: false,
                }]))
            }
            Reads::Block(_, _) if used.lateral => Err(Clause::DerivedTable),
            Reads::Block(block, columns) => {
                let mut spread = self.whole(block)?;
                if let Spread::Divided(anchors) = &mut spread {
                    for anchor in anchors {
                        anchor.alias.clone_from(&used.alias);
                        anchor.bare = false;
                        if !columns.is_empty() {
                            anchor.rename(block, columns);
                        }
                    }
                }
                Ok(spread)
            }
        }
    }

    fn join<'a>(
        self,
        block: &Block<'a>,
        left: Spread<'a>,
        used: &Use<'a>,
        right: Spread<'a>,
    ) -> Result<Spread<'a>, Clause> {
        let kind = used.join.unwrap_or(JoinType::CrossJoin);
        let optional = |mut anchors: Vec<Anchor<'a>>| {
            anchors.iter_mut().for_each(|anchor| anchor.optional = true);
            anchors
        };
        let both = |mut left: Vec<Anchor<'a>>, right: Vec<Anchor<'a>>| {
            left.extend(right);
            Spread::Divided(left)
        };
        match (kind, left, right) {
            (_, Spread::Same, Spread::Same) => Ok(Spread::Same),
            // Each unit would keep the rows that no row of its own matches.
            (JoinType::LeftJoin | JoinType::FullOuterJoin, Spread::Same, _)
            | (JoinType::RightJoin | JoinType::FullOuterJoin, _, Spread::Same) => {
                Err(Clause::OuterJoin)
            }
            (_, Spread::Same, divided) | (_, divided, Spread::Same) => Ok(divided),
            (kind, Spread::Divided(left), Spread::Divided(right)) => {
                let on = used.on.iter().flat_map(conjuncts);
                let condition = block.condition.iter().flat_map(conjuncts);
                let is_inner = !matches!(
                    kind,
                    JoinType::LeftJoin | JoinType::RightJoin | JoinType::FullOuterJoin
                );
                let links: Vec<_> = on.chain(condition.filter(|_| is_inner)).collect();
                let tied = |a: &Anchor<'a>| right.iter().any(|b| self.ties(a, b, &links));
                if !left.iter().any(tied) {
                    return Err(Clause::Join);
                }
                Ok(match kind {
                    JoinType::LeftJoin => both(left, optional(right)),
                    JoinType::RightJoin => both(optional(left), right),
                    JoinType::FullOuterJoin => both(optional(left), optional(right)),
                    _ => both(left, right),
                })
            }
        }
    }

    /// Whether these conditions make rows of two tables be of one unit.
    fn ties(self, a: &Anchor<'_>, b: &Anchor<'_>, links: &[&Expr]) -> bool {
        let Some(pairs) = self.pairs(a, b) else {
            return false;
        };
        let equal: Vec<_> = links.iter().filter_map(|link| equality(link)).collect();
        pairs.into_iter().all(|(own, other)| {
            equal.iter().any(|(left, right)| {
                let is = |x: &Named, y: &Named| a.is(own, x) && b.is(other, y);
                is(left, right) || is(right, left)
            })
        })
    }

    /// The pairs of key columns whose equality puts rows of two tables into one unit, if the
    /// database compares them exactly.
    fn pairs<'k>(self, a: &'k Anchor<'_>, b: &'k Anchor<'_>) -> Option<Vec<(&'k str, &'k str)>> {
        let pairs = a.sharded.table.together(b.sharded.table, self.unit)?;
        let exact = pairs.iter().all(|(own, other)| {
            a.sharded.facts.is_exact(own.name(), own.kind())
                && b.sharded.facts.is_exact(other.name(), other.kind())
        });
        exact.then(|| {
            pairs
                .iter()
                .map(|(own, other)| (own.name(), other.name()))
                .collect()
        })
    }

    /// Whether a subquery sees, for each row around, only rows of that row's unit.
    fn inner<'a>(
        self,
        inner: &Inner<'a>,
        outer: &Block<'a>,
        around: &[Anchor<'a>],
    ) -> Result<(), Clause> {
        self.evaluated(&inner.block, around).or_else(|clause| {
            match self.is_listed(inner, outer, around) {
                true => Ok(()),
                false => Err(clause),
            }
        })
    }

    /// Whether a block that is evaluated for each row around is tied to that row's unit.
    fn evaluated<'a>(self, block: &Block<'a>, around: &[Anchor<'a>]) -> Result<(), Clause> {
        if let Spread::Divided(own) = self.rows(block, around)? {
            let links: Vec<_> = block.condition.iter().flat_map(conjuncts).collect();
            let around = seen_from(block, around);
            let tied = |a: &Anchor<'a>| around.iter().any(|b| self.ties(a, b, &links));
            if !own.iter().any(tied) {
                return Err(Clause::Subquery);
            }
        }
        let mut branches = block.branches.iter();
        branches.try_for_each(|(_, branch)| self.evaluated(branch, around))
    }

    /// Whether a subquery lists sharding keys, and one of these is looked for among them: then
    /// only rows of the same unit can make the condition true.
    fn is_listed<'a>(self, inner: &Inner<'a>, outer: &Block<'a>, around: &[Anchor<'a>]) -> bool {
        let column = inner.column(outer).or_else(|| inner.column_not(outer));
        let (Some(column), [item]) = (column, inner.block.parts.items.as_slice()) else {
            return false;
        };
        let (Some(listed), true) = (column_of(&item.expr), inner.block.is_list()) else {
            return false;
        };
        let Ok(Spread::Divided(own)) = self.rows(&inner.block, around) else {
            return false;
        };
        // A key that a join has left NULL is not in a list, but not sure to be outside of one either.
        let excludes = matches!(inner.place, Place::NotIn(_));
        let is_sure = |anchor: &Anchor<'a>| !(excludes && anchor.optional);
        let is_same = |a: &Anchor<'a>, b: &Anchor<'a>| {
            self.pairs(a, b).is_some_and(|pairs| {
                let mut pairs = pairs.into_iter();
                pairs.all(|(own, other)| a.is(own, &listed) && b.is(other, &column))
            })
        };
        let tied = |a: &Anchor<'a>| {
            let mut around = around.iter().filter(|b| is_sure(b));
            is_sure(a) && around.any(|b| is_same(a, b))
        };
        own.iter().any(tied)
    }

    /// The spread of a block's rows as others see them, if they depend on rows of their own unit
    /// only.
    fn whole<'a>(self, block: &Block<'a>) -> Result<Spread<'a>, Clause> {
        let parts = &block.parts;
        let own = self.alone(block)?;
        if block.branches.is_empty() && matches!(own, Spread::Same) {
            return Ok(own);
        }
        if parts.limit.is_some() || parts.offset.is_some() || parts.lock.is_some() {
            return Err(Clause::DerivedTable);
        }
        if block.branches.is_empty() {
            return Ok(own);
        }
        match self.combined(block, own)? {
            (spread, Equal::Meet) => Ok(spread),
            (_, Equal::MayBeApart) => Err(Clause::SetOperation),
        }
    }

    /// Whether the rows of a set operation still have to be compared when each unit has done its
    /// part.
    pub(super) fn set_operation(self, block: &Block<'_>) -> Result<bool, Clause> {
        let own = self.alone(block)?;
        let (_, equal) = self.combined(block, own)?;
        Ok(equal == Equal::MayBeApart)
    }

    /// A block without the branches of set operations, and without what applies to all of them.
    fn alone<'a>(self, block: &Block<'a>) -> Result<Spread<'a>, Clause> {
        let parts = &block.parts;
        let Spread::Divided(anchors) = self.rows(block, &[])? else {
            return Ok(Spread::Same);
        };
        if !block.whole {
            return Err(Clause::NotUnderstood);
        }
        let kept = self.keeps_groups(block, &anchors);
        let combines = is_grouped(block);
        if combines && !kept {
            return Err(Clause::DerivedTable);
        }
        if parts.distinct.is_some() && !self.keeps_distinct(block, &anchors) {
            return Err(Clause::Distinct);
        }
        self.windows(block, &anchors)?;
        let of_one_row = |item: &SelectExpr| item.window.is_some() || is_of_one_row(&item.expr);
        if !combines && !parts.items.iter().all(of_one_row) {
            return Err(Clause::SelectItem);
        }
        Ok(Spread::Divided(exported(block, &anchors)))
    }

    /// Set operations: rows that are compared have to be of one unit, or be compared later.
    fn combined<'a>(
        self,
        block: &Block<'a>,
        own: Spread<'a>,
    ) -> Result<(Spread<'a>, Equal), Clause> {
        let kind = match block.branches.first() {
            Some((kind, _)) => *kind,
            None => return Ok((own, Equal::Meet)),
        };
        let mut spreads = vec![(own, block)];
        for (other, branch) in &block.branches {
            let parts = &branch.parts;
            let has_page = parts.limit.is_some() || parts.offset.is_some() || parts.lock.is_some();
            // Databases differ in how they read a mixture.
            if *other != kind || !branch.branches.is_empty() || has_page {
                return Err(Clause::SetOperation);
            }
            spreads.push((self.alone(branch)?, branch));
        }
        let mut anchors = Vec::new();
        let mut positions = Vec::new();
        for (spread, branch) in spreads {
            let Spread::Divided(own) = spread else {
                return Err(Clause::SetOperation);
            };
            positions.push(self.key_positions(branch, &own));
            anchors.push(own);
        }
        let first = anchors.swap_remove(0);
        let is_alike = |others: &Vec<Anchor<'a>>| {
            others.iter().any(|a| {
                let together = |b: &Anchor<'a>| {
                    a.sharded
                        .table
                        .together(b.sharded.table, self.unit)
                        .is_some()
                };
                first.iter().any(together)
            })
        };
        if !anchors.iter().all(is_alike) {
            return Err(Clause::SetOperation);
        }
        let meet = positions[0].is_some() && positions.iter().all(|own| *own == positions[0]);
        match kind {
            _ if meet => Ok((Spread::Divided(first), Equal::Meet)),
            UnionType::All => Ok((Spread::Divided(Vec::new()), Equal::Meet)),
            UnionType::Distinct => Ok((Spread::Divided(Vec::new()), Equal::MayBeApart)),
            _ => Err(Clause::SetOperation),
        }
    }

    /// The positions of the select list at which the sharding key is.
    fn key_positions(self, block: &Block<'_>, exported: &[Anchor<'_>]) -> Option<Vec<usize>> {
        exported
            .iter()
            .filter(|anchor| !anchor.optional)
            .find_map(|anchor| {
                let columns = anchor.sharded.table.deciding(self.unit);
                let is_exact = |column: &&KeyColumn| {
                    anchor.sharded.facts.is_exact(column.name(), column.kind())
                };
                if !columns.iter().all(is_exact) {
                    return None;
                }
                let position = |column: &&KeyColumn| {
                    let name = anchor.names.get(column.name())?;
                    let mut items = block.parts.items.iter();
                    items.position(|item| item_name(item).is_some_and(|own| own == *name))
                };
                columns.iter().map(position).collect()
            })
    }

    /// Whether rows that are grouped are always of one unit.
    pub(super) fn keeps_groups(self, block: &Block<'_>, anchors: &[Anchor<'_>]) -> bool {
        is_grouped(block) && self.fixes(anchors, &block.parts.group)
    }

    /// Whether rows that DISTINCT takes for one are always of one unit.
    pub(super) fn keeps_distinct(self, block: &Block<'_>, anchors: &[Anchor<'_>]) -> bool {
        let parts = &block.parts;
        match &parts.distinct {
            Some(SelectDistinct::DistinctOn(columns)) => {
                let columns: Vec<_> = columns.iter().cloned().map(Expr::Column).collect();
                self.fixes(anchors, &columns)
            }
            _ => {
                let items: Vec<_> = parts.items.iter().map(|item| item.expr.clone()).collect();
                self.fixes(anchors, &items)
            }
        }
    }

    /// Whether equal values of these expressions mean one unit.
    fn fixes(self, anchors: &[Anchor<'_>], exprs: &[Expr]) -> bool {
        let names: Vec<Named> = exprs.iter().filter_map(column_of).collect();
        anchors
            .iter()
            .filter(|anchor| !anchor.optional)
            .any(|anchor| {
                let columns = anchor.sharded.table.deciding(self.unit);
                columns.iter().all(|column| {
                    anchor.sharded.facts.is_exact(column.name(), column.kind())
                        && names.iter().any(|name| anchor.is(column.name(), name))
                })
            })
    }

    /// Whether every window partitions by the sharding key.
    pub(super) fn windows(self, block: &Block<'_>, anchors: &[Anchor<'_>]) -> Result<(), Clause> {
        if block.parts.window.is_some() {
            return Err(Clause::Window);
        }
        for item in &block.parts.items {
            let is_local = match &item.window {
                None => true,
                Some(WindowSelectType::Query(window)) => {
                    self.fixes(anchors, &parts_of_window(window).partition)
                }
                Some(_) => false,
            };
            if !is_local {
                return Err(Clause::Window);
            }
        }
        Ok(())
    }
}

impl Anchor<'_> {
    /// Whether a name in a statement means this key column.
    fn is(&self, column: &str, (table, name): &Named) -> bool {
        let of_table = match table {
            Some(table) => *table == self.alias,
            None => self.bare,
        };
        of_table && self.names.get(column).is_some_and(|own| own == name)
    }

    /// Gives the columns the names that a common table expression gives them.
    fn rename(&mut self, block: &Block<'_>, columns: &[String]) {
        let items = &block.parts.items;
        let new = |name: &String| {
            let mut items = items.iter();
            let at = items.position(|item| item_name(item).is_some_and(|own| own == **name))?;
            columns.get(at).cloned()
        };
        let names = std::mem::take(&mut self.names);
        let renamed = names
            .into_iter()
            .filter_map(|(key, name)| Some((key, new(&name)?)));
        self.names = renamed.collect();
    }
}

/// What a block sees of the tables around it: not those whose names it gives to others, and none
/// by a column without a table.
fn seen_from<'a>(block: &Block<'a>, around: &[Anchor<'a>]) -> Vec<Anchor<'a>> {
    let is_hidden = |anchor: &&Anchor<'a>| {
        block
            .uses
            .iter()
            .all(|used| !used.alias.eq_ignore_ascii_case(&anchor.alias))
    };
    let seen = around.iter().filter(is_hidden).cloned();
    seen.map(|anchor| Anchor {
        bare: false,
        ..anchor
    })
    .collect()
}

/// The anchors that others see, with the names of the key columns that are selected.
fn exported<'a>(block: &Block<'a>, anchors: &[Anchor<'a>]) -> Vec<Anchor<'a>> {
    let items = &block.parts.items;
    let is_star = |item: &SelectExpr| matches!(item.expr, Expr::Column(ColumnRef::Asterisk(_)));
    let selects_all = block.uses.len() == 1 && matches!(items.as_slice(), [item] if is_star(item));
    let export = |anchor: &Anchor<'a>| {
        let name = |(key, own): (&String, &String)| {
            if selects_all {
                return Some((key.clone(), own.clone()));
            }
            let is_key = |item: &&SelectExpr| {
                let name = column_of(&item.expr).filter(|_| item.window.is_none());
                name.is_some_and(|name| anchor.is(key, &name))
            };
            let item = items.iter().find(is_key)?;
            Some((key.clone(), item_name(item)?.into_owned()))
        };
        Anchor {
            names: anchor.names.iter().filter_map(name).collect(),
            ..anchor.clone()
        }
    };
    anchors.iter().map(export).collect()
}

/// The name under which others see an item.
fn item_name(item: &SelectExpr) -> Option<Cow<'static, str>> {
    match &item.alias {
        Some(alias) => Some(alias.inner()),
        None => column_of(&item.expr).map(|(_, column)| column),
    }
}

/// Whether a block combines rows to groups, or all to one.
pub(super) fn is_grouped(block: &Block<'_>) -> bool {
    let parts = &block.parts;
    let orders = parts.order.iter().map(|key| &key.expr);
    let plain = parts.items.iter().filter(|item| item.window.is_none());
    let mut exprs = plain.map(|item| &item.expr).chain(orders);
    !parts.group.is_empty() || parts.having.is_some() || exprs.any(holds_aggregate)
}
