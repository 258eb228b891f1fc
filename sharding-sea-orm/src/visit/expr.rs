//! The inside of expressions, also where SeaQuery keeps it to itself.

use std::cell::{Cell, RefCell};
use std::fmt;

use sea_orm::Value;
use sea_orm::sea_query::{
    BinOper, CaseStatement, CommonTableExpression, DynIden, EscapeBuilder, ExplainStatement, Expr,
    Oper, OperLeftAssocDecider, OrderExpr, PrecedenceDecider, QueryBuilder, Quote, QuotedBuilder,
    SelectInto, SelectStatement, SqlWriter, SubQueryStatement, TableRefBuilder, WindowStatement,
    WithClause, WithQuery,
};

use super::dissect::order_expr;
use super::scan::{Nothing, notation};

/// The links of `a AND b AND c`, which nests to the left.
pub(super) fn conjuncts(mut condition: &Expr) -> Vec<&Expr> {
    let mut links = Vec::new();
    while let Expr::Binary(left, BinOper::And, right) = condition {
        // The bounds of BETWEEN are written as a conjunction, too, but never reached from here.
        links.extend(conjuncts(right));
        condition = left;
    }
    links.push(condition);
    links
}

/// Looks at the direct parts of an expression. A subquery is none.
pub(super) fn each_part(expr: &Expr, look: &mut dyn FnMut(&Expr)) {
    match expr {
        Expr::Tuple(parts) | Expr::CustomWithExpr(_, parts) => parts.iter().for_each(look),
        Expr::Unary(_, inner) | Expr::AsEnum(_, inner) => look(inner),
        Expr::Binary(left, _, right) => {
            look(left);
            look(right);
        }
        Expr::FunctionCall(call) => {
            call.get_args().iter().for_each(&mut *look);
            if let Some(filter) = call.get_filter() {
                look(&Expr::from(filter.clone()));
            }
        }
        Expr::Case(case) => parts_of_case(case).iter().for_each(look),
        _ => {}
    }
}

pub(crate) fn parts_of_case(case: &CaseStatement) -> Vec<Expr> {
    let probe = Probe::default();
    probe.prepare_case_statement(case, &mut Nothing);
    probe.found.into_inner().exprs
}

/// What a window partitions and orders by.
#[derive(Debug, Default)]
pub(super) struct WindowParts {
    pub(super) partition: Vec<Expr>,
    pub(super) order: Vec<Expr>,
}

pub(super) fn parts_of_window(window: &WindowStatement) -> WindowParts {
    let probe = Probe::default();
    probe.prepare_window_statement(window, &mut Nothing);
    let found = probe.found.into_inner();
    WindowParts {
        partition: found.exprs,
        order: found.orders,
    }
}

/// A WITH clause.
#[derive(Debug, Default)]
pub(crate) struct WithParts {
    pub(crate) recursive: bool,
    /// Whether there is SEARCH or CYCLE.
    pub(crate) has_options: bool,
    pub(crate) tables: Vec<WithTable>,
}

/// One common table expression.
#[derive(Debug)]
pub(crate) struct WithTable {
    pub(crate) whole: CommonTableExpression,
    pub(crate) name: String,
    /// The names of its columns, if it gives them.
    pub(crate) columns: Vec<String>,
    /// `None` for a list of values.
    pub(crate) query: Option<SubQueryStatement>,
}

pub(crate) fn parts_of_with(with: &WithClause) -> WithParts {
    let probe = Probe::default();
    let words = Words::default();
    probe.prepare_with_clause(with, &mut Heard(&words));
    let tables = probe.found.into_inner().tables.into_iter().map(|whole| {
        let inside = Inside::default();
        inside.prepare_with_query_clause_common_table(&whole, &mut Nothing);
        let (mut names, query) = inside.found.into_inner();
        WithTable {
            name: names.remove(0),
            columns: names,
            query,
            whole,
        }
    });
    WithParts {
        recursive: words.recursive.get(),
        has_options: words.options.get(),
        tables: tables.collect(),
    }
}

/// The SELECT that a statement which begins with WITH is; `None` if it is something else.
pub(crate) fn select_of_with(query: &WithQuery) -> Option<SelectStatement> {
    match parts_of_with_query(query) {
        (Some(with), Some(SubQueryStatement::SelectStatement(mut select))) => {
            select.with_cte(with);
            Some(select)
        }
        _ => None,
    }
}

/// The clause and the query of a statement that begins with WITH.
fn parts_of_with_query(query: &WithQuery) -> (Option<WithClause>, Option<SubQueryStatement>) {
    let probe = Outside::default();
    probe.prepare_with_query(query, &mut Nothing);
    probe.0.into_inner()
}

/// A visitor that keeps what it is handed first and does not go deeper.
#[derive(Default)]
struct Probe {
    found: RefCell<Found>,
}

#[derive(Default)]
struct Found {
    exprs: Vec<Expr>,
    orders: Vec<Expr>,
    tables: Vec<CommonTableExpression>,
}

impl QueryBuilder for Probe {
    fn prepare_expr(&self, expr: &Expr, _sql: &mut impl SqlWriter) {
        self.found.borrow_mut().exprs.push(expr.clone());
    }

    fn prepare_order_expr(&self, order: &OrderExpr, _sql: &mut impl SqlWriter) {
        self.found.borrow_mut().orders.push(order_expr(order).0);
    }

    fn prepare_with_query_clause_common_table(
        &self,
        table: &CommonTableExpression,
        _sql: &mut impl SqlWriter,
    ) {
        self.found.borrow_mut().tables.push(table.clone());
    }

    fn prepare_query_statement(&self, _: &SubQueryStatement, _: &mut impl SqlWriter) {}

    fn prepare_select_into(&self, _: &SelectInto, _: &mut impl SqlWriter) {}

    fn prepare_explain_statement(&self, _: &ExplainStatement, _: &mut impl SqlWriter) {}

    fn prepare_value(&self, _: Value, _: &mut impl SqlWriter) {}
}

notation!(Probe);

/// The names and the query of a common table expression.
#[derive(Default)]
struct Inside {
    found: RefCell<(Vec<String>, Option<SubQueryStatement>)>,
}

impl QueryBuilder for Inside {
    fn prepare_query_statement(&self, query: &SubQueryStatement, _: &mut impl SqlWriter) {
        self.found.borrow_mut().1 = Some(query.clone());
    }

    fn prepare_select_into(&self, _: &SelectInto, _: &mut impl SqlWriter) {}

    fn prepare_explain_statement(&self, _: &ExplainStatement, _: &mut impl SqlWriter) {}

    fn prepare_value(&self, _: Value, _: &mut impl SqlWriter) {}
}

impl QuotedBuilder for Inside {
    fn quote(&self) -> Quote {
        Quote::new(b'"')
    }

    fn prepare_iden(&self, iden: &DynIden, _: &mut impl SqlWriter) {
        self.found.borrow_mut().0.push(iden.to_string());
    }
}

impl EscapeBuilder for Inside {}
impl TableRefBuilder for Inside {}
impl PrecedenceDecider for Inside {
    fn inner_expr_well_known_greater_precedence(&self, _: &Expr, _: &Oper) -> bool {
        true
    }
}
impl OperLeftAssocDecider for Inside {
    fn well_known_left_associative(&self, _: &BinOper) -> bool {
        true
    }
}

/// The two halves of a statement that begins with WITH.
#[derive(Default)]
struct Outside(RefCell<(Option<WithClause>, Option<SubQueryStatement>)>);

impl QueryBuilder for Outside {
    fn prepare_with_clause(&self, with: &WithClause, _: &mut impl SqlWriter) {
        self.0.borrow_mut().0 = Some(with.clone());
    }

    fn prepare_query_statement(&self, query: &SubQueryStatement, _: &mut impl SqlWriter) {
        self.0.borrow_mut().1 = Some(query.clone());
    }

    fn prepare_select_into(&self, _: &SelectInto, _: &mut impl SqlWriter) {}

    fn prepare_explain_statement(&self, _: &ExplainStatement, _: &mut impl SqlWriter) {}

    fn prepare_value(&self, _: Value, _: &mut impl SqlWriter) {}
}

notation!(Outside);

/// What the keywords of a WITH clause say that no method is handed.
#[derive(Default)]
struct Words {
    recursive: Cell<bool>,
    options: Cell<bool>,
}

struct Heard<'a>(&'a Words);

impl fmt::Write for Heard<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        match piece {
            "RECURSIVE " => self.0.recursive.set(true),
            "SEARCH " | "CYCLE " => self.0.options.set(true),
            _ => {}
        }
        Ok(())
    }
}

impl fmt::Display for Heard<'_> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl SqlWriter for Heard<'_> {
    fn push_param<T: QueryBuilder>(&mut self, _: Value, _: &T) {}

    fn as_writer(&mut self) -> &mut dyn fmt::Write {
        self
    }
}
