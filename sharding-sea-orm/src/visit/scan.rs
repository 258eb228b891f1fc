use std::cell::RefCell;
use std::fmt;

use sea_orm::Value;
use sea_orm::sea_query::{
    BinOper, ColumnRef, DeleteStatement, EscapeBuilder, ExplainStatement, Expr, Func, FunctionCall,
    InsertStatement, JoinExpr, Keyword, Oper, OperLeftAssocDecider, PrecedenceDecider,
    QueryBuilder, Quote, QuotedBuilder, SelectExpr, SelectInto, SelectStatement, SqlWriter,
    SubQueryStatement, TableName, TableRef, TableRefBuilder, UpdateStatement, WindowSelectType,
};

use super::raw::{is_expression, stays_inside};

/// What an expression or a statement holds, at any depth.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The tables that subqueries and joins name.
    pub(crate) tables: Vec<TableName>,
    /// SQL text that is not taken apart.
    pub(crate) texts: Vec<String>,
    /// Whether there is an aggregate outside of subqueries.
    pub(crate) aggregate: bool,
    /// Whether there is a function or text that may look at several rows.
    pub(crate) opaque: bool,
    /// The names of columns, of whatever table; `*` is among them as itself.
    pub(crate) columns: Vec<String>,
    /// Whether a select list has all columns of a table.
    pub(crate) selects_all: bool,
    /// Whether there is a window function.
    pub(crate) windows: bool,
    /// How many values are bound.
    pub(crate) values: usize,
    /// Whether there is text that may be more than an expression: a clause of its own.
    pub(crate) clauses: bool,
    /// Whether there is text that may change what the conditions beside it mean.
    pub(crate) breaks_out: bool,
}

impl Scan {
    /// Whether there may be a window function, in text as well.
    pub(crate) fn may_have_windows(&self) -> bool {
        let has_over = |text: &String| text.to_ascii_lowercase().contains("over");
        self.windows || self.texts.iter().any(has_over)
    }
}

/// Looks at an expression. Most are columns and values, for which no visitor is needed.
pub(crate) fn scan_expr(expr: &Expr, scan: &mut Scan) {
    if is_simple(expr) {
        return;
    }
    visit(scan, |scanner| scanner.prepare_expr(expr, &mut Nothing));
}

/// Looks at a function, not at its arguments.
pub(super) fn scan_function(call: &FunctionCall, scan: &mut Scan) {
    visit(scan, |scanner| {
        scanner.prepare_function_name(call.get_func(), &mut Nothing);
    });
}

/// Looks at an item of a select list.
pub(crate) fn scan_select_expr(item: &SelectExpr, scan: &mut Scan) {
    scan_expr(&item.expr, scan);
    if item.window.is_some() {
        visit(scan, |scanner| {
            scanner.prepare_select_expr(item, &mut Nothing);
        });
    }
}

/// Looks at a table reference: names it, or looks inside.
pub(crate) fn scan_table(table: &TableRef, scan: &mut Scan) {
    visit(scan, |scanner| {
        scanner.prepare_table_ref(table, &mut Nothing);
    });
}

/// Looks at a join.
pub(crate) fn scan_join(join: &JoinExpr, scan: &mut Scan) {
    visit(scan, |scanner| {
        scanner.prepare_join_expr(join, &mut Nothing);
    });
}

/// Looks at a whole SELECT.
pub(crate) fn scan_statement(select: &SelectStatement) -> Scan {
    let mut scan = Scan::default();
    visit(&mut scan, |scanner| {
        scanner.prepare_select_statement(select, &mut Nothing);
    });
    scan
}

/// Looks at a whole INSERT, its target included.
pub(crate) fn scan_insert(insert: &InsertStatement, scan: &mut Scan) {
    visit(scan, |scanner| {
        scanner.prepare_insert_statement(insert, &mut Nothing);
    });
}

/// Looks at a whole UPDATE, its target included.
pub(crate) fn scan_update(update: &UpdateStatement, scan: &mut Scan) {
    visit(scan, |scanner| {
        scanner.prepare_update_statement(update, &mut Nothing);
    });
}

/// Looks at a whole DELETE, its target included.
pub(crate) fn scan_delete(delete: &DeleteStatement, scan: &mut Scan) {
    visit(scan, |scanner| {
        scanner.prepare_delete_statement(delete, &mut Nothing);
    });
}

/// Looks at a whole SELECT as at a subquery.
pub(crate) fn scan_select(select: &SelectStatement, scan: &mut Scan) {
    visit(scan, |scanner| {
        scanner.nested(|| scanner.prepare_select_statement(select, &mut Nothing));
    });
}

fn visit(scan: &mut Scan, look: impl FnOnce(&Scanner)) {
    let scanner = Scanner {
        state: RefCell::new((std::mem::take(scan), 0)),
    };
    look(&scanner);
    *scan = scanner.state.into_inner().0;
}

/// Whether there is nothing to look for: no subquery, function or text.
pub(super) fn is_simple(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_)
        | Expr::Value(_)
        | Expr::Values(_)
        | Expr::Constant(_)
        | Expr::TypeName(_) => true,
        // A keyword of one's own is text.
        Expr::Keyword(keyword) => !matches!(keyword, Keyword::Custom(_)),
        Expr::Unary(_, inner) | Expr::AsEnum(_, inner) => is_simple(inner),
        Expr::Binary(left, operator, right) => {
            !matches!(operator, BinOper::Custom(_)) && is_simple(left) && is_simple(right)
        }
        Expr::Tuple(items) => items.iter().all(is_simple),
        _ => false,
    }
}

/// Whether there is no subquery, as far as can be told without a visitor.
pub(super) fn is_flat(expr: &Expr) -> bool {
    match expr {
        Expr::FunctionCall(call) => {
            call.get_filter().is_none() && call.get_args().iter().all(is_flat)
        }
        Expr::Custom(_) => true,
        Expr::Unary(_, inner) | Expr::AsEnum(_, inner) => is_flat(inner),
        Expr::Binary(left, _, right) => is_flat(left) && is_flat(right),
        Expr::Keyword(_) => true,
        expr => is_simple(expr),
    }
}

/// Whether a function of this name computes its value from one row in all the databases. One that
/// is not known may look at several.
fn is_of_one_row(name: &str) -> bool {
    const FUNCTIONS: [&str; 46] = [
        "abs",
        "ceil",
        "ceiling",
        "char_length",
        "coalesce",
        "concat",
        "concat_ws",
        "date",
        "date_format",
        "date_part",
        "date_trunc",
        "datetime",
        "day",
        "dayofweek",
        "exp",
        "floor",
        "greatest",
        "hex",
        "hour",
        "ifnull",
        "instr",
        "least",
        "left",
        "length",
        "ln",
        "lower",
        "ltrim",
        "md5",
        "minute",
        "mod",
        "month",
        "nullif",
        "octet_length",
        "power",
        "quarter",
        "replace",
        "reverse",
        "right",
        "round",
        "rtrim",
        "sign",
        "sqrt",
        "strftime",
        "substr",
        "substring",
        "trim",
    ];
    const MORE: [&str; 5] = ["trunc", "truncate", "typeof", "upper", "year"];
    let known = FUNCTIONS.iter().chain(&MORE);
    known
        .into_iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// A visitor that writes nothing and remembers what it saw. SeaQuery's builders are its only way
/// into the private parts of statements.
#[derive(Debug)]
pub(crate) struct Scanner {
    state: RefCell<(Scan, usize)>,
}

impl Scanner {
    fn nested(&self, look: impl FnOnce()) {
        self.state.borrow_mut().1 += 1;
        look();
        self.state.borrow_mut().1 -= 1;
    }

    /// Notes text that is not taken apart.
    fn text(&self, text: &str) {
        let scan = &mut self.state.borrow_mut().0;
        scan.breaks_out |= !stays_inside(text);
        scan.clauses |= !is_expression(text) && !is_count_of_rows(text);
        scan.selects_all |= text.contains('*') && !is_count_of_rows(text);
        scan.opaque |= !is_expression(text);
        scan.texts.push(text.to_owned());
    }

    /// Notes something about the statement itself, not about a subquery of it.
    fn note(&self, note: impl FnOnce(&mut Scan)) {
        let mut state = self.state.borrow_mut();
        if state.1 == 0 {
            note(&mut state.0);
        }
    }
}

impl QueryBuilder for Scanner {
    fn prepare_query_statement(&self, query: &SubQueryStatement, sql: &mut impl SqlWriter) {
        self.nested(|| match query {
            SubQueryStatement::SelectStatement(it) => self.prepare_select_statement(it, sql),
            SubQueryStatement::InsertStatement(it) => self.prepare_insert_statement(it, sql),
            SubQueryStatement::UpdateStatement(it) => self.prepare_update_statement(it, sql),
            SubQueryStatement::DeleteStatement(it) => self.prepare_delete_statement(it, sql),
            SubQueryStatement::WithStatement(it) => self.prepare_with_query(it, sql),
        });
    }

    fn prepare_table_ref(&self, table: &TableRef, sql: &mut impl SqlWriter) {
        match table {
            TableRef::Table(name, _) => self.state.borrow_mut().0.tables.push(name.clone()),
            TableRef::SubQuery(select, _) => {
                self.nested(|| self.prepare_select_statement(select, sql));
            }
            TableRef::FunctionCall(call, _) => self.prepare_function_arguments(call, sql),
            _ => {}
        }
    }

    fn prepare_expr(&self, expr: &Expr, sql: &mut impl SqlWriter) {
        match expr {
            Expr::Custom(text) | Expr::CustomWithExpr(text, _) => self.text(text),
            Expr::Keyword(Keyword::Custom(text)) => {
                self.text(&text.inner());
                // Builders put no parentheses around keywords.
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                self.state.borrow_mut().0.breaks_out |= !text.inner().chars().all(is_word);
            }
            _ => {}
        }
        self.prepare_expr_common(expr, sql);
    }

    fn prepare_select_expr(&self, item: &SelectExpr, sql: &mut impl SqlWriter) {
        self.note(|scan| scan.opaque |= item.window.is_some());
        self.state.borrow_mut().0.windows |= item.window.is_some();
        self.state.borrow_mut().0.selects_all |=
            matches!(item.expr, Expr::Column(ColumnRef::Asterisk(_)));
        self.prepare_expr(&item.expr, sql);
        if let Some(WindowSelectType::Query(window)) = &item.window {
            self.prepare_window_statement(window, sql);
        }
    }

    fn prepare_function_name(&self, function: &Func, _sql: &mut impl SqlWriter) {
        match function {
            // An aggregate in a subquery may be one over rows of the statement around it.
            Func::Max | Func::Min | Func::Sum | Func::Avg | Func::Count => {
                self.note(|scan| scan.aggregate = true);
                self.state.borrow_mut().0.opaque = true;
            }
            Func::Abs
            | Func::Coalesce
            | Func::IfNull
            | Func::CharLength
            | Func::Cast
            | Func::Greatest
            | Func::Least
            | Func::Lower
            | Func::Upper
            | Func::Random
            | Func::Round
            | Func::Md5 => {}
            Func::Custom(name) if is_of_one_row(&name.to_string()) => {}
            _ => self.note(|scan| scan.opaque = true),
        }
    }

    fn prepare_bin_oper(&self, operator: &BinOper, _sql: &mut impl SqlWriter) {
        if let BinOper::Custom(text) = operator {
            self.text(text);
        }
    }

    fn prepare_select_into(&self, _into: &SelectInto, _sql: &mut impl SqlWriter) {}

    fn prepare_explain_statement(&self, _explain: &ExplainStatement, _sql: &mut impl SqlWriter) {}

    fn prepare_value(&self, _value: Value, _sql: &mut impl SqlWriter) {
        self.state.borrow_mut().0.values += 1;
    }

    fn prepare_column_ref(&self, column: &ColumnRef, _sql: &mut impl SqlWriter) {
        let name = column
            .column()
            .map_or_else(|| "*".to_owned(), ToString::to_string);
        self.state.borrow_mut().0.columns.push(name);
    }

    fn prepare_constant(&self, _value: &Value, _sql: &mut impl SqlWriter) {}
}

/// The rules of SQL's notation, which a visitor that writes nothing need not follow.
macro_rules! notation {
    ($visitor:ty) => {
        impl QuotedBuilder for $visitor {
            fn quote(&self) -> Quote {
                Quote::new(b'"')
            }
        }
        impl EscapeBuilder for $visitor {}
        impl TableRefBuilder for $visitor {}
        impl PrecedenceDecider for $visitor {
            fn inner_expr_well_known_greater_precedence(&self, _: &Expr, _: &Oper) -> bool {
                true
            }
        }
        impl OperLeftAssocDecider for $visitor {
            fn well_known_left_associative(&self, _: &BinOper) -> bool {
                true
            }
        }
    };
}
pub(super) use notation;

notation!(Scanner);

/// A writer that keeps nothing.
#[derive(Debug)]
pub(crate) struct Nothing;

impl fmt::Write for Nothing {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

impl fmt::Display for Nothing {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl SqlWriter for Nothing {
    fn push_param<T: QueryBuilder>(&mut self, _: Value, _: &T) {}

    fn as_writer(&mut self) -> &mut dyn fmt::Write {
        self
    }
}

/// SeaORM's `count` and paginator select this text.
pub(super) fn is_count_of_rows(text: &str) -> bool {
    let counts = ["COUNT(*)", "COUNT(1)"];
    text == "COUNT(*) AS num_items" || counts.iter().any(|count| text.eq_ignore_ascii_case(count))
}
