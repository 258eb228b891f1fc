use std::cell::{Cell, RefCell};
use std::fmt;

use sea_orm::sea_query::{
    BinOper, Condition, DeleteStatement, EscapeBuilder, ExplainStatement, Expr, JoinExpr, JoinOn,
    LockBehavior, LockType, LogicalChainOper, MysqlQueryBuilder, NullOrdering, Oper,
    OperLeftAssocDecider, Order, OrderExpr, PostgresQueryBuilder, PrecedenceDecider, QueryBuilder,
    Quote, QuotedBuilder, ReturningClause, SelectDistinct, SelectExpr, SelectInto, SelectStatement,
    SqlWriter, SqliteQueryBuilder, SubQueryStatement, TableRef, TableRefBuilder, UnionType,
    UpdateStatement, WindowStatement, WithClause,
};
use sea_orm::{DbBackend, Value};

use super::scan::{Nothing, is_simple, notation};

/// The parts of a statement: of a SELECT, or those that UPDATE and DELETE share with it.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) distinct: Option<SelectDistinct>,
    pub(crate) items: Vec<SelectExpr>,
    pub(crate) from: Vec<TableRef>,
    pub(crate) joins: Vec<JoinExpr>,
    pub(crate) condition: Option<Condition>,
    pub(crate) group: Vec<Expr>,
    pub(crate) having: Option<Condition>,
    pub(crate) unions: Vec<(UnionType, SelectStatement)>,
    pub(crate) order: Vec<OrderPart>,
    pub(crate) limit: Option<u64>,
    pub(crate) offset: Option<u64>,
    pub(crate) join_conditions: Vec<Condition>,
    pub(crate) lock: Option<LockPart>,
    pub(crate) with: Option<WithClause>,
    /// WINDOW, without its name.
    pub(crate) window: Option<WindowStatement>,
    /// Clauses that are only known to be there.
    pub(crate) into: bool,
    /// Conditions that were chained with AND and OR one by one, as older code does.
    pub(crate) chained: bool,
}

/// One key of ORDER BY.
#[derive(Clone, Debug)]
pub(crate) struct OrderPart {
    pub(crate) expr: Expr,
    /// `None` for an order by a list of values.
    pub(crate) order: Option<Order>,
    pub(crate) nulls: Option<NullOrdering>,
}

/// FOR UPDATE and the like.
#[derive(Clone, Debug)]
pub(crate) struct LockPart {
    pub(crate) lock: LockType,
    pub(crate) tables: Vec<TableRef>,
    pub(crate) behavior: Option<LockBehavior>,
}

/// Takes out of a SELECT what a route depends on: without items and order keys that are plain
/// columns or values.
pub(crate) fn dissect_route(select: &SelectStatement, backend: DbBackend) -> Parts {
    dissect(backend, Keep::WhatRoutes, |visitor, sql| {
        visitor.prepare_select_statement(select, sql);
    })
}

/// Takes a SELECT apart.
pub(crate) fn dissect_select(select: &SelectStatement, backend: DbBackend) -> Parts {
    dissect(backend, Keep::Everything, |visitor, sql| {
        visitor.prepare_select_statement(select, sql);
    })
}

/// The WITH clause of a SELECT.
pub(crate) fn with_of(select: &SelectStatement, backend: DbBackend) -> Option<WithClause> {
    dissect_route(select, backend).with
}

/// Takes the target, condition, order and limit out of an UPDATE.
pub(crate) fn dissect_update(update: &UpdateStatement, backend: DbBackend) -> Parts {
    dissect(backend, Keep::Everything, |visitor, sql| {
        visitor.prepare_update_statement(update, sql);
    })
}

/// Takes the target, condition, order and limit out of a DELETE.
pub(crate) fn dissect_delete(delete: &DeleteStatement, backend: DbBackend) -> Parts {
    dissect(backend, Keep::Everything, |visitor, sql| {
        visitor.prepare_delete_statement(delete, sql);
    })
}

/// A statement's fields are private, but a query builder is handed each of them. This one keeps
/// what it is handed and does not go deeper.
struct Dissector<'a> {
    backend: DbBackend,
    keep: Keep,
    keyword: &'a Cell<Keyword>,
    parts: RefCell<Parts>,
}

#[derive(Clone, Copy, PartialEq)]
enum Keep {
    Everything,
    WhatRoutes,
}

fn dissect(
    backend: DbBackend,
    keep: Keep,
    visit: impl FnOnce(&Dissector<'_>, &mut KeywordWriter<'_>),
) -> Parts {
    let keyword = Cell::new(Keyword::Other);
    let dissector = Dissector {
        backend,
        keep,
        keyword: &keyword,
        parts: RefCell::default(),
    };
    visit(&dissector, &mut KeywordWriter(&keyword));
    let mut parts = dissector.parts.into_inner();
    // The behaviour of a lock is the last thing that is written, and only as text.
    if let Some(lock) = &mut parts.lock {
        lock.behavior = match keyword.get() {
            Keyword::NoWait => Some(LockBehavior::Nowait),
            Keyword::SkipLocked => Some(LockBehavior::SkipLocked),
            _ => None,
        };
    }
    parts
}

/// The clause that is being written; a builder's methods do not say it, what they write does.
#[derive(Clone, Copy, PartialEq)]
enum Keyword {
    On,
    GroupBy,
    Having,
    Limit,
    Offset,
    NoWait,
    SkipLocked,
    Other,
}

impl Dissector<'_> {
    fn part(&self, keep: impl FnOnce(&mut Parts)) {
        keep(&mut self.parts.borrow_mut());
    }

    fn condition(&self, condition: Condition) {
        let keyword = self.keyword.get();
        self.part(|parts| {
            let place = match keyword {
                Keyword::On => return parts.join_conditions.push(condition),
                Keyword::Having => &mut parts.having,
                _ => &mut parts.condition,
            };
            *place = Some(match place.take() {
                Some(earlier) => Condition::all().add(earlier).add(condition),
                None => condition,
            });
        });
    }
}

impl QueryBuilder for Dissector<'_> {
    fn prepare_select_distinct(&self, distinct: &SelectDistinct, _sql: &mut impl SqlWriter) {
        self.part(|parts| parts.distinct = Some(distinct.clone()));
    }

    fn prepare_select_expr(&self, item: &SelectExpr, _sql: &mut impl SqlWriter) {
        if self.keep == Keep::Everything || item.window.is_some() || !is_simple(&item.expr) {
            self.part(|parts| parts.items.push(item.clone()));
        }
    }

    fn prepare_select_into(&self, _into: &SelectInto, _sql: &mut impl SqlWriter) {
        self.part(|parts| parts.into = true);
    }

    fn prepare_table_ref(&self, table: &TableRef, _sql: &mut impl SqlWriter) {
        self.part(|parts| match &mut parts.lock {
            Some(lock) => lock.tables.push(table.clone()),
            None => parts.from.push(table.clone()),
        });
    }

    fn prepare_join_expr(&self, join: &JoinExpr, sql: &mut impl SqlWriter) {
        self.part(|parts| parts.joins.push(join.clone()));
        if let Some(JoinOn::Condition(condition)) = &join.on {
            self.prepare_condition(condition, "ON", sql);
        }
    }

    fn prepare_condition_where(&self, condition: &Condition, _sql: &mut impl SqlWriter) {
        self.condition(condition.clone());
    }

    fn prepare_logical_chain_oper(
        &self,
        link: &LogicalChainOper,
        at: usize,
        _length: usize,
        _sql: &mut impl SqlWriter,
    ) {
        // A chain mixes AND and OR without parentheses: only a lone link says what it means.
        self.part(|parts| parts.chained |= at > 0);
        match link {
            LogicalChainOper::And(expr) | LogicalChainOper::Or(expr) => {
                self.condition(Condition::all().add(expr.clone()));
            }
        }
    }

    /// Everything else that holds an expression keeps it without coming here, so what comes
    /// between GROUP BY and the next clause is a group key.
    fn prepare_expr(&self, expr: &Expr, _sql: &mut impl SqlWriter) {
        if self.keyword.get() == Keyword::GroupBy {
            self.part(|parts| parts.group.push(expr.clone()));
        }
    }

    fn prepare_union_statement(
        &self,
        union: UnionType,
        select: &SelectStatement,
        _sql: &mut impl SqlWriter,
    ) {
        self.part(|parts| parts.unions.push((union, select.clone())));
    }

    fn prepare_order_expr(&self, order: &OrderExpr, _sql: &mut impl SqlWriter) {
        let (expr, by_values) = order_expr(order);
        if self.keep == Keep::Everything {
            let part = order_part(order, expr, by_values, self.backend);
            self.part(|parts| parts.order.push(part));
        } else if !is_simple(&expr) {
            self.part(|parts| {
                parts.order.push(OrderPart {
                    expr,
                    order: None,
                    nulls: None,
                });
            });
        }
    }

    fn prepare_value(&self, value: Value, _sql: &mut impl SqlWriter) {
        let keyword = self.keyword.get();
        let Value::BigUnsigned(number) = value else {
            return;
        };
        self.part(|parts| match keyword {
            Keyword::Limit => parts.limit = number,
            Keyword::Offset => parts.offset = number,
            _ => {}
        });
    }

    fn lock_phrase(&self, lock: LockType) -> &'static str {
        self.part(|parts| {
            parts.lock = Some(LockPart {
                lock,
                tables: Vec::new(),
                behavior: None,
            });
        });
        ""
    }

    fn prepare_window_statement(&self, window: &WindowStatement, _sql: &mut impl SqlWriter) {
        self.part(|parts| parts.window = Some(window.clone()));
    }

    fn prepare_with_clause(&self, with: &WithClause, _sql: &mut impl SqlWriter) {
        self.part(|parts| parts.with = Some(with.clone()));
    }

    fn prepare_returning(&self, _returning: &Option<ReturningClause>, _sql: &mut impl SqlWriter) {}

    fn prepare_query_statement(&self, _query: &SubQueryStatement, _sql: &mut impl SqlWriter) {}

    fn prepare_explain_statement(&self, _explain: &ExplainStatement, _sql: &mut impl SqlWriter) {}
}

notation!(Dissector<'_>);

/// The default methods of the builder trait write the keywords of clauses as pieces of their own.
struct KeywordWriter<'a>(&'a Cell<Keyword>);

impl fmt::Write for KeywordWriter<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let keyword = match piece {
            " " | ", " => return Ok(()),
            "ON" => Keyword::On,
            " GROUP BY " => Keyword::GroupBy,
            "HAVING" => Keyword::Having,
            " LIMIT " => Keyword::Limit,
            " OFFSET " => Keyword::Offset,
            " NOWAIT" => Keyword::NoWait,
            " SKIP LOCKED" => Keyword::SkipLocked,
            _ => Keyword::Other,
        };
        self.0.set(keyword);
        Ok(())
    }
}

impl fmt::Display for KeywordWriter<'_> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl SqlWriter for KeywordWriter<'_> {
    fn push_param<T: QueryBuilder>(&mut self, _: Value, _: &T) {}

    fn as_writer(&mut self) -> &mut dyn fmt::Write {
        self
    }
}

/// The expression of an order key, and whether it is by a list of values.
pub(super) fn order_expr(order: &OrderExpr) -> (Expr, bool) {
    let probe = OrderProbe::default();
    probe.prepare_order_expr(order, &mut Nothing);
    let (expr, by_values) = probe.found.into_inner();
    (expr.unwrap_or(Expr::Constant(Value::Int(None))), by_values)
}

/// An order key keeps its fields to itself: its expression is what a builder is handed, and its
/// direction and NULLs are what the stock builder writes around that.
fn order_part(order: &OrderExpr, expr: Expr, by_values: bool, backend: DbBackend) -> OrderPart {
    if by_values {
        return OrderPart {
            expr,
            order: None,
            nulls: None,
        };
    }
    let text = |write: &dyn Fn(&mut String)| {
        let mut text = String::new();
        write(&mut text);
        text
    };
    let (written, inner) = match backend {
        DbBackend::MySql => (
            text(&|sql| MysqlQueryBuilder.prepare_order_expr(order, sql)),
            text(&|sql| MysqlQueryBuilder.prepare_expr(&expr, sql)),
        ),
        DbBackend::Postgres => (
            text(&|sql| PostgresQueryBuilder.prepare_order_expr(order, sql)),
            String::new(),
        ),
        _ => (
            text(&|sql| SqliteQueryBuilder.prepare_order_expr(order, sql)),
            String::new(),
        ),
    };
    let starts = |middle: &str| {
        written
            .strip_prefix(&inner)
            .is_some_and(|rest| rest.starts_with(middle))
    };
    let nulls = if backend == DbBackend::MySql {
        match (starts(" IS NULL ASC, "), starts(" IS NULL DESC, ")) {
            (true, _) => Some(NullOrdering::Last),
            (_, true) => Some(NullOrdering::First),
            _ => None,
        }
    } else if written.ends_with(" NULLS FIRST") {
        Some(NullOrdering::First)
    } else if written.ends_with(" NULLS LAST") {
        Some(NullOrdering::Last)
    } else {
        None
    };
    let written = written
        .trim_end_matches(" NULLS FIRST")
        .trim_end_matches(" NULLS LAST");
    let order = if written.ends_with(" DESC") {
        Order::Desc
    } else {
        Order::Asc
    };
    OrderPart {
        expr,
        order: Some(order),
        nulls,
    }
}

#[derive(Default)]
struct OrderProbe {
    found: RefCell<(Option<Expr>, bool)>,
}

impl QueryBuilder for OrderProbe {
    fn prepare_expr(&self, expr: &Expr, _sql: &mut impl SqlWriter) {
        self.found.borrow_mut().0 = Some(expr.clone());
    }

    fn prepare_field_order(
        &self,
        _order: &OrderExpr,
        _values: &sea_orm::sea_query::Values,
        _sql: &mut impl SqlWriter,
    ) {
        self.found.borrow_mut().1 = true;
    }

    fn prepare_query_statement(&self, _: &SubQueryStatement, _: &mut impl SqlWriter) {}

    fn prepare_select_into(&self, _: &SelectInto, _: &mut impl SqlWriter) {}

    fn prepare_explain_statement(&self, _: &ExplainStatement, _: &mut impl SqlWriter) {}

    fn prepare_value(&self, _: Value, _: &mut impl SqlWriter) {}
}

notation!(OrderProbe);
