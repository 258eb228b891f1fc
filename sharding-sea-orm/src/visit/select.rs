use sea_orm::sea_query::{
    ColumnName, ColumnRef, Condition, DynIden, Expr, Func, FunctionCall, JoinType, NullOrdering,
    Order, SelectExpr, SelectStatement, TableName as SqlName, TableRef,
};
use sea_orm::{ColumnType, DbBackend};
use sharding_core::key::KeySet;
use sharding_core::plan::{
    Aggregate, Clause, Direction, Function, GroupKey, Item, Nulls, OrderKey, OrderTarget, Page,
    Proof, SelectShape, TextOrder,
};
use sharding_core::topology::KeyColumn;

use super::dissect::{OrderPart, Parts, dissect_route, dissect_select};
use super::predicate::KeyReader;
use super::proof::{adds, orders};
use super::recompose::is_whole;
use super::scan::{
    Scan, is_count_of_rows, is_flat, scan_expr, scan_join, scan_select, scan_select_expr,
    scan_table,
};
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
    /// It reads one in a place or in a way that is not supported.
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
        if let Some((sharded, clause)) = shards.first_named(&others) {
            return Self::Refused(sharded, clause);
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
    if parts.with || parts.window {
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

    /// What the planner needs to know.
    pub(crate) fn shape(&self, select: &SelectStatement, shards: &Shards) -> SelectShape {
        let items: Vec<Item> = self
            .parts
            .items
            .iter()
            .map(|item| self.item(item, shards))
            .collect();
        let group = self
            .parts
            .group
            .iter()
            .map(|key| self.group_key(key, shards))
            .collect();
        let order = self
            .parts
            .order
            .iter()
            .map(|key| self.order_key(key, &items, shards))
            .collect();
        let page = Page {
            offset: self.parts.offset.unwrap_or(0),
            limit: self.parts.limit,
        };
        SelectShape {
            obstacles: self.obstacles(select, shards),
            items,
            group,
            order,
            page,
            locks: self.parts.lock.is_some(),
        }
    }

    fn obstacles(&self, select: &SelectStatement, shards: &Shards) -> Vec<Clause> {
        let parts = &self.parts;
        let derived = |inner: &SelectView<'_>| !inner.is_row_by_row(shards);
        let found = [
            (parts.with, Clause::CommonTable),
            (parts.distinct.is_some(), Clause::Distinct),
            (parts.having.is_some(), Clause::Having),
            (!parts.unions.is_empty(), Clause::SetOperation),
            (
                parts.window || parts.items.iter().any(|item| item.window.is_some()),
                Clause::Window,
            ),
            (self.has_outer_join(), Clause::OuterJoin),
            (
                self.derived.as_deref().is_some_and(derived),
                Clause::DerivedTable,
            ),
            (
                self.has_clauses_in_text || !is_whole(select, parts),
                Clause::NotUnderstood,
            ),
        ];
        found
            .into_iter()
            .filter_map(|(is, clause)| is.then_some(clause))
            .collect()
    }

    /// Whether each row of the answer comes from one row of the table, so that the answers of the
    /// nodes together are the answer of one table.
    fn is_row_by_row(&self, shards: &Shards) -> bool {
        let parts = &self.parts;
        let row = |item: &SelectExpr| {
            matches!(
                self.item(item, shards),
                Item::Column(_) | Item::Scalar | Item::Star
            )
        };
        parts.distinct.is_none()
            && parts.group.is_empty()
            && parts.having.is_none()
            && parts.unions.is_empty()
            && parts.limit.is_none()
            && parts.offset.is_none()
            && parts.lock.is_none()
            && !(parts.with || parts.window || parts.into || parts.chained)
            && !self.has_clauses_in_text
            && !self.has_outer_join()
            && parts.items.iter().all(row)
            && self
                .derived
                .as_deref()
                .is_none_or(|inner| inner.is_row_by_row(shards))
    }

    fn item(&self, item: &SelectExpr, shards: &Shards) -> Item {
        if item.window.is_some() {
            return Item::Opaque;
        }
        if let Some(column) = self.column(&item.expr) {
            return Item::Column(column);
        }
        match &item.expr {
            Expr::Column(ColumnRef::Asterisk(_)) => Item::Star,
            Expr::Custom(text) if is_count_of_rows(text) => Item::Aggregate(Aggregate {
                function: Function::Count,
                proof: Proof::Proven(TextOrder::NoText),
            }),
            Expr::FunctionCall(call) => match self.aggregate(call, shards) {
                Some(item) => item,
                None => scalar(&item.expr),
            },
            expr => scalar(expr),
        }
    }

    fn aggregate(&self, call: &FunctionCall, shards: &Shards) -> Option<Item> {
        let function = match call.get_func() {
            Func::Count => Function::Count,
            Func::Sum => Function::Sum,
            Func::Min => Function::Min,
            Func::Max => Function::Max,
            Func::Avg => Function::Avg,
            _ => return None,
        };
        let plain = call.get_filter().is_none() && call.get_mods().iter().all(|m| !m.distinct);
        let [argument] = call.get_args() else {
            return Some(Item::Opaque);
        };
        if !plain || (scalar(argument) != Item::Scalar) {
            return Some(Item::Opaque);
        }
        let column = self.column(argument);
        let column_type = column
            .as_deref()
            .and_then(|column| self.column_type(column));
        let proof = match (function, column_type) {
            (Function::Count, _) | (_, None) => Proof::Proven(TextOrder::NoText),
            (Function::Sum | Function::Avg, Some(column_type)) => adds(column_type, shards.backend),
            (Function::Min | Function::Max, Some(_)) => {
                self.order_proof(column.as_deref().unwrap_or_default(), shards)
            }
        };
        Some(Item::Aggregate(Aggregate { function, proof }))
    }

    fn group_key(&self, key: &Expr, shards: &Shards) -> GroupKey {
        let column = self.column(key);
        let proof = match &column {
            Some(column) => self.order_proof(column, shards),
            None => Proof::Unproven("is an expression".into()),
        };
        GroupKey { column, proof }
    }

    fn order_key(&self, key: &OrderPart, items: &[Item], shards: &Shards) -> OrderKey {
        let target = self.order_target(key);
        let proof = match &target {
            OrderTarget::Item(at) => match &items[*at] {
                Item::Column(column) => self.order_proof(column, shards),
                Item::Aggregate(Aggregate {
                    function: Function::Count | Function::Sum,
                    ..
                }) => Proof::Proven(TextOrder::NoText),
                Item::Aggregate(aggregate) => aggregate.proof.clone(),
                Item::Scalar | Item::Star | Item::Opaque => Proof::Unproven("is computed".into()),
            },
            OrderTarget::Column(column) => self.order_proof(column, shards),
            OrderTarget::Expression => Proof::Unproven("is computed".into()),
        };
        let descending = matches!(key.order, Some(Order::Desc));
        let direction = if descending {
            Direction::Descending
        } else {
            Direction::Ascending
        };
        // PostgreSQL takes NULL for larger than every value, the others for smaller.
        let nulls_first = match key.nulls {
            Some(NullOrdering::First) => true,
            Some(NullOrdering::Last) => false,
            None => (shards.backend == DbBackend::Postgres) == descending,
        };
        let nulls = if nulls_first {
            Nulls::First
        } else {
            Nulls::Last
        };
        OrderKey {
            target,
            direction,
            nulls,
            proof,
        }
    }

    /// An alias of the select list hides a column of the same name; otherwise a selected
    /// expression is meant if it is the same.
    fn order_target(&self, key: &OrderPart) -> OrderTarget {
        if key.order.is_none() {
            return OrderTarget::Expression;
        }
        let items = &self.parts.items;
        if let Expr::Column(ColumnRef::Column(ColumnName(None, name))) = &key.expr {
            let aliased = |item: &SelectExpr| item.alias.as_ref() == Some(name);
            if let Some(at) = items.iter().position(aliased) {
                return OrderTarget::Item(at);
            }
        }
        if let Some(column) = self.column(&key.expr) {
            let selected = |item: &SelectExpr| {
                item.window.is_none() && self.column(&item.expr).as_ref() == Some(&column)
            };
            return match items.iter().position(selected) {
                Some(at) => OrderTarget::Item(at),
                None => OrderTarget::Column(column),
            };
        }
        let same = |item: &SelectExpr| item.window.is_none() && item.expr == key.expr;
        match items.iter().position(same) {
            Some(at) => OrderTarget::Item(at),
            None => OrderTarget::Expression,
        }
    }

    /// The name of the sharded table's column that an expression is, if it is one.
    fn column(&self, expr: &Expr) -> Option<String> {
        let Expr::Column(ColumnRef::Column(ColumnName(table, column))) = expr else {
            return None;
        };
        let ours = match table {
            Some(SqlName(_, table)) => table.inner() == self.alias,
            None => self.is_alone(),
        };
        ours.then(|| column.to_string())
    }

    /// Whether no other table could be meant by a column without a table.
    fn is_alone(&self) -> bool {
        self.parts.joins.is_empty() && self.parts.from.len() == 1
    }

    fn column_type(&self, column: &str) -> Option<&ColumnType> {
        // The columns of a subquery need not be those of the table.
        if self.derived.is_some() {
            return None;
        }
        self.sharded
            .entity
            .column(column)
            .map(|column| &column.column_type)
    }

    fn order_proof(&self, column: &str, shards: &Shards) -> Proof {
        match self.column_type(column) {
            Some(column_type) => orders(column, column_type, self.sharded.facts, shards.backend),
            None => Proof::Unproven("is not a column of the entity".into()),
        }
    }
}

/// Something that is computed from one row, unless it holds what may be an aggregate.
fn scalar(expr: &Expr) -> Item {
    let mut scan = Scan::default();
    scan_expr(expr, &mut scan);
    if scan.aggregate || scan.opaque {
        Item::Opaque
    } else {
        Item::Scalar
    }
}
