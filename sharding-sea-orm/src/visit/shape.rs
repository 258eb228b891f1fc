//! What the planner needs to know of a statement's select list, groups and order.

use sea_orm::sea_query::{BinOper, ColumnRef, Expr, Func, SelectDistinct, SelectExpr};
use sea_orm::{ColumnType, DbBackend};
use sharding_core::plan::{Clause, GroupKey, Item, Page, Proof, RowItem, SelectShape, TextOrder};
use sharding_core::topology::Unit;

use super::aggregate::{Groups, aggregate, compound, count_of_rows, is_aggregate, with_pieces};
use super::divide::{Anchor, Divider, Spread, is_grouped};
use super::expr::each_part;
use super::one_row::is_of_one_row;
use super::order::{Target, ordinal};
use super::proof::{is_number, orders};
use super::route::column_of;
use super::scan::is_count_of_rows;
use super::selection::{Made, Selection, slot};
use super::tree::{Block, Reads, Tree};
use crate::catalog::{Known, Ranking};
use crate::entity::EntityTable;
use crate::shards::{Sharded, Shards};

impl<'a> Tree<'a> {
    /// What the planner needs to know if rows are divided into such units.
    pub(crate) fn shape(&self, unit: Unit, shards: &'a Shards) -> (SelectShape, Selection) {
        let root = &self.root;
        let divider = Divider { unit };
        let mut shape = SelectShape {
            page: Page {
                offset: root.parts.offset.unwrap_or(0),
                limit: root.parts.limit,
            },
            locks: self.locks,
            ..SelectShape::default()
        };
        let mut selection = Selection::default();
        if let Some(clause) = self.not_understood() {
            shape.obstacles.push(clause);
        }
        let reader = Reader {
            block: root,
            shards,
        };
        if root.branches.is_empty() {
            match divider.rows(root, &[]) {
                Ok(Spread::Divided(anchors)) => {
                    shape
                        .obstacles
                        .extend(divider.windows(root, &anchors).err());
                    let keeps = divider.keeps_groups(root, &anchors);
                    shape.distinct =
                        root.parts.distinct.is_some() && !divider.keeps_distinct(root, &anchors);
                    reader.fill(&mut shape, &mut selection, keeps);
                    selection.required = required(&anchors);
                }
                // Sharded tables are read, but not by rows of FROM.
                Ok(Spread::Same) => shape.obstacles.push(Clause::Subquery),
                Err(clause) => shape.obstacles.push(clause),
            }
        } else {
            match divider.set_operation(root) {
                Ok(compared) => {
                    shape.distinct = compared;
                    reader.fill_union(&mut shape);
                    let items = root.parts.items.iter();
                    let rankings = items.map(|item| reader.ranking(&item.expr));
                    selection.rankings = rankings.collect();
                }
                Err(clause) => shape.obstacles.push(clause),
            }
        }
        shape.obstacles.extend(self.root.obstacle.clone());
        (shape, selection)
    }

    fn not_understood(&self) -> Option<Clause> {
        (self.scan.clauses || !self.root.whole).then_some(Clause::NotUnderstood)
    }
}

/// Reads the expressions of a block.
pub(super) struct Reader<'t, 'a> {
    pub(super) block: &'t Block<'a>,
    pub(super) shards: &'a Shards,
}

impl Reader<'_, '_> {
    fn fill(&self, shape: &mut SelectShape, selection: &mut Selection, keeps: bool) {
        let parts = &self.block.parts;
        let groups = is_grouped(self.block).then(|| Groups {
            texts: parts
                .group
                .iter()
                .map(|key| self.text(self.meant(key)))
                .collect(),
        });
        // Groups of one unit are rows to everybody else.
        let groups = groups.filter(|_| !keeps || parts.group.is_empty());
        let as_rows = groups.is_none() && !parts.group.is_empty();
        let item = |expr: &Expr, is_window: bool| match self.item(expr, groups.as_ref()) {
            item if !is_window && !as_rows => item,
            Item::Row(row) => Item::Row(row),
            Item::Star => Item::Star,
            _ => Item::Row(self.computed(expr)),
        };
        let items = parts.items.iter();
        shape.items = items
            .map(|shown| item(&shown.expr, shown.window.is_some()))
            .collect();
        shape.visible = shape.items.len();
        if shape.distinct && parts.distinct != Some(SelectDistinct::Distinct) {
            shape.obstacles.push(Clause::Distinct);
        }
        if let Some(groups) = &groups {
            shape.group = self.group_keys(groups);
            if let Some(having) = &parts.having {
                let having = Expr::from(having.clone());
                match self.item(&having, Some(groups)) {
                    Item::Opaque | Item::Star => shape.obstacles.push(Clause::Having),
                    item => {
                        shape.having = Some(shape.items.len());
                        shape.items.push(item);
                        selection.hidden.push(having);
                    }
                }
            }
        }
        for key in &parts.order {
            let at = match self.order_target(key) {
                Target::Item(at) => Some(at),
                // What is selected besides would make equal rows differ.
                Target::Hidden if parts.distinct.is_some() => None,
                Target::Hidden => {
                    shape.items.push(item(&key.expr, false));
                    selection.hidden.push(key.expr.clone());
                    Some(shape.items.len() - 1)
                }
                Target::Unknown => None,
            };
            let proof = at.map(|at| self.order_proof(&shape.items[at]));
            shape.order.push(self.order_key(key, at, proof));
        }
        self.note_order(shape, selection);
        let shown = parts.items.iter().map(|item| &item.expr);
        let exprs = shown.chain(&selection.hidden);
        selection.rankings = exprs.map(|expr| self.ranking(expr)).collect();
        if let Some(groups) = &groups {
            let shown = parts.items.iter().map(|item| &item.expr);
            let exprs = shown.chain(&selection.hidden);
            let aggregated = self.aggregated(exprs.clone());
            let made = exprs.map(|expr| self.made(groups, expr)).collect();
            selection.made = made;
            selection.aggregated = aggregated;
            let keys = parts.group.iter().map(|key| self.meant(key).clone());
            selection.keys = keys.collect();
            let rankings = selection.keys.iter().map(|key| self.ranking(key));
            selection.key_rankings = rankings.collect();
        }
    }

    /// The column of a sharded table that an expression is, if no join makes it NULL.
    pub(super) fn never_optional(&self, expr: &Expr) -> Option<(&Sharded<'_>, String)> {
        let (used, _) = self.used(expr)?;
        let (sharded, column) = self.sharded(expr)?;
        (!self.block.is_optional(used)).then_some((sharded, column))
    }

    /// The one column of which all these are aggregates.
    fn aggregated<'e>(&self, exprs: impl Iterator<Item = &'e Expr>) -> Option<(usize, String)> {
        let argument = |expr: &Expr| match expr {
            Expr::FunctionCall(call) if is_aggregate(expr) => match call.get_args() {
                [argument] => self.never_optional(argument),
                _ => None,
            },
            _ => None,
        };
        let columns = exprs.map(|expr| {
            let (sharded, column) = argument(expr)?;
            Some((sharded.at, column))
        });
        let mut columns = columns.collect::<Option<Vec<_>>>()?;
        columns.dedup();
        match columns.len() {
            1 => columns.pop(),
            _ => None,
        }
    }

    fn made(&self, groups: &Groups, expr: &Expr) -> Made {
        let mut pieces = Vec::new();
        let mut keep = |piece: &Expr, _| {
            pieces.push(piece.clone());
            slot(pieces.len() - 1)
        };
        let template = with_pieces(self, groups, expr, &mut keep);
        Made {
            rankings: pieces.iter().map(|piece| self.ranking(piece)).collect(),
            pieces,
            template,
        }
    }

    /// All branches together are known by the items of the first one.
    fn fill_union(&self, shape: &mut SelectShape) {
        let parts = &self.block.parts;
        let branches = self.block.branches.iter().map(|(_, branch)| branch);
        let readers: Vec<_> = std::iter::once(self.block)
            .chain(branches)
            .map(|block| Reader {
                block,
                shards: self.shards,
            })
            .collect();
        let item = |at: usize| {
            let mut proofs = readers.iter().map(|reader| {
                let item = reader.block.parts.items.get(at);
                item.map_or(Proof::Unproven("is missing".into()), |item| {
                    reader.order_proof(&reader.item(&item.expr, None))
                })
            });
            let first = proofs.next().unwrap_or(Proof::Proven(TextOrder::NoText));
            let proof = if proofs.all(|proof| proof == first) {
                first
            } else {
                Proof::Unproven("differs between the parts of the set operation".into())
            };
            let is_star = |reader: &Reader<'_, '_>| {
                let item = reader.block.parts.items.get(at);
                item.is_some_and(|item| matches!(item.expr, Expr::Column(ColumnRef::Asterisk(_))))
            };
            if readers.iter().any(is_star) {
                return Item::Star;
            }
            Item::Row(RowItem {
                text: format!("item {at}"),
                proof,
            })
        };
        shape.items = (0..parts.items.len()).map(item).collect();
        shape.visible = shape.items.len();
        for key in &parts.order {
            let at = match self.order_target(key) {
                Target::Item(at) => Some(at),
                Target::Hidden | Target::Unknown => None,
            };
            let proof = at.map(|at| self.order_proof(&shape.items[at]));
            shape.order.push(self.order_key(key, at, proof));
        }
    }

    /// What an item of the select list is; `groups` if rows are combined to groups.
    pub(super) fn item(&self, expr: &Expr, groups: Option<&Groups>) -> Item {
        let row = |proof: Proof| {
            Item::Row(RowItem {
                text: self.text(expr),
                proof,
            })
        };
        match expr {
            Expr::Column(ColumnRef::Asterisk(_)) => return Item::Star,
            Expr::Custom(text) if is_count_of_rows(text) => return count_of_rows(),
            _ => {}
        }
        if let Some(aggregate) = aggregate(self, expr) {
            return aggregate.map_or(Item::Opaque, Item::Aggregate);
        }
        if let Some(groups) = groups
            && !groups.texts.contains(&self.text(expr))
        {
            if column_of(expr).is_some() {
                return row(Proof::Unproven("is not in GROUP BY".into()));
            }
            return compound(self, groups, expr).map_or(Item::Opaque, Item::Compound);
        }
        match column_of(expr) {
            Some(_) => row(self.column_proof(expr)),
            None if is_of_one_row(expr) => row(self.computed(expr).proof),
            None => Item::Opaque,
        }
    }

    fn group_keys(&self, groups: &Groups) -> Vec<GroupKey> {
        let keys = self.block.parts.group.iter().zip(&groups.texts);
        keys.map(|(key, text)| {
            let key = self.meant(key);
            GroupKey {
                text: text.clone(),
                proof: match column_of(key) {
                    Some(_) => self.column_proof(key),
                    None if is_of_one_row(key) => self.computed(key).proof,
                    None => Proof::Unproven("may look at several rows".into()),
                },
            }
        })
        .collect()
    }

    /// The expression that a key of GROUP BY means: an item by its position, or by its alias if no
    /// column has that name.
    pub(super) fn meant<'e>(&'e self, key: &'e Expr) -> &'e Expr {
        let items = &self.block.parts.items;
        if let Some(item) = ordinal(key).and_then(|at| items.get(at)) {
            return &item.expr;
        }
        let Some((None, name)) = column_of(key) else {
            return key;
        };
        if self.used(key).is_some() {
            return key;
        }
        let aliased =
            |item: &&SelectExpr| item.alias.as_ref().is_some_and(|own| own.inner() == name);
        items.iter().find(aliased).map_or(key, |item| &item.expr)
    }

    /// What an expression computes, as text that is equal for equal columns.
    pub(super) fn text(&self, expr: &Expr) -> String {
        match self.used(expr) {
            Some((used, column)) => {
                let uses = &self.block.uses;
                if uses.len() == 1 {
                    column
                } else {
                    format!("{}.{column}", uses[used].alias)
                }
            }
            None => format!("{expr:?}"),
        }
    }

    /// The use and the column that an expression is, if it is a column of a table that is known
    /// to have it.
    pub(super) fn used(&self, expr: &Expr) -> Option<(usize, String)> {
        let (table, column) = column_of(expr)?;
        let uses = &self.block.uses;
        let used = match table {
            Some(table) => uses.iter().position(|used| used.alias == table)?,
            None => {
                let [only] = uses.as_slice() else { return None };
                let has = match &only.reads {
                    Reads::Table(sharded) => sharded.entity.column(&column).is_some(),
                    Reads::Plain(entity, _) => entity.column(&column).is_some(),
                    _ => true,
                };
                has.then_some(0)?
            }
        };
        Some((used, column.into_owned()))
    }

    /// The sharded table of which an expression is a column, and the column.
    pub(super) fn sharded(&self, expr: &Expr) -> Option<(&Sharded<'_>, String)> {
        let (used, column) = self.used(expr)?;
        match &self.block.uses[used].reads {
            Reads::Table(sharded) => Some((sharded, column)),
            _ => None,
        }
    }

    /// The entity and the catalog's word on the table of which an expression is a column, and the
    /// column.
    fn described(&self, expr: &Expr) -> Option<(&EntityTable, &Known, String)> {
        let (used, column) = self.used(expr)?;
        match &self.block.uses[used].reads {
            Reads::Table(sharded) => Some((sharded.entity, sharded.facts, column)),
            Reads::Plain(entity, known) => Some((entity, known, column)),
            _ => None,
        }
    }

    pub(super) fn column_type(&self, expr: &Expr) -> Option<&ColumnType> {
        let (entity, _, column) = self.described(expr)?;
        entity.column(&column).map(|column| &column.column_type)
    }

    /// A value that is computed from one row.
    pub(super) fn computed(&self, expr: &Expr) -> RowItem {
        let checked = || Proof::Checked("is computed".into());
        let proof = match self.shards.backend {
            // Nothing but a column, bare or under a cast, brings a collation of its own.
            DbBackend::Sqlite if !keeps_collation(expr) => Proof::Proven(TextOrder::Bytes),
            // Text that is made of columns of one collation has that collation.
            DbBackend::Postgres => match self.text_of(expr) {
                // What is computed from an ENUM is not one.
                Some(Proof::Proven(order)) if order != TextOrder::Ranked => Proof::Proven(order),
                _ => checked(),
            },
            _ => checked(),
        };
        RowItem {
            text: format!("{expr:?}"),
            proof,
        }
    }

    /// The one order of all text columns in an expression; `None` if there are none, or other
    /// columns than those of numbers and times besides.
    fn text_of(&self, expr: &Expr) -> Option<Proof> {
        let mut proofs: Vec<Option<Proof>> = Vec::new();
        self.texts_of(expr, &mut proofs);
        let first = proofs.first()?.clone()?;
        proofs
            .iter()
            .all(|proof| proof.as_ref() == Some(&first))
            .then_some(first)
    }

    fn texts_of(&self, expr: &Expr, proofs: &mut Vec<Option<Proof>>) {
        match expr {
            Expr::SubQuery(..) | Expr::Custom(_) | Expr::CustomWithExpr(..) => proofs.push(None),
            Expr::Column(_) => match self.column_type(expr) {
                Some(ColumnType::String(_) | ColumnType::Text) => {
                    proofs.push(Some(self.column_proof(expr)));
                }
                Some(other) if is_number(other) || is_time(other) => {}
                _ => proofs.push(None),
            },
            _ => each_part(expr, &mut |part| self.texts_of(part, proofs)),
        }
    }

    /// The ranking of a column, or of an aggregate's argument.
    fn ranking(&self, expr: &Expr) -> Option<Ranking> {
        if let Some((_, known, column)) = self.described(expr) {
            return known.ranking(&column);
        }
        match expr {
            Expr::FunctionCall(call) if is_aggregate(expr) => match call.get_args() {
                [argument] => self.ranking(argument),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn column_proof(&self, expr: &Expr) -> Proof {
        if let (Some((_, known, column)), Some(column_type)) =
            (self.described(expr), self.column_type(expr))
        {
            return orders(&column, column_type, known, self.shards.backend);
        }
        Proof::Checked("is not a column of the entity".into())
    }
}

fn required(anchors: &[Anchor<'_>]) -> Option<Vec<usize>> {
    let kept = anchors.iter().filter(|anchor| !anchor.optional);
    let kept: Vec<usize> = kept.map(|anchor| anchor.sharded.at).collect();
    (!kept.is_empty()).then_some(kept)
}

/// Whether SQLite may take the collation of an expression from a column in it.
fn keeps_collation(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) | Expr::Custom(_) | Expr::CustomWithExpr(..) | Expr::SubQuery(..) => true,
        Expr::Unary(_, inner) | Expr::AsEnum(_, inner) => keeps_collation(inner),
        Expr::FunctionCall(call) => matches!(call.get_func(), Func::Cast),
        Expr::Binary(_, BinOper::Custom(_), _) => true,
        _ => false,
    }
}

fn is_time(column_type: &ColumnType) -> bool {
    matches!(
        column_type,
        ColumnType::Date
            | ColumnType::Time
            | ColumnType::DateTime
            | ColumnType::Timestamp
            | ColumnType::TimestampWithTimeZone
            | ColumnType::Boolean
    )
}
