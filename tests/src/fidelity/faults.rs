//! Statements for which a database is no oracle: for faults of its own, or by its freedom.

use sea_orm::DbBackend;

use super::statement::{Aggregate, Expr, Nesting, Select, Statement};
use super::world::WorldSpec;

/// Whether what the database answers over one table is not the one right answer. `loose` says that
/// different texts may be equal.
///
/// - SQLite 3.51 makes joins of EXISTS, and then counts for OFFSET each row as often as it is
///   joined: `SELECT id FROM f WHERE EXISTS (SELECT 1 FROM i) LIMIT 1 OFFSET 1` gives the first row
///   if `i` has several.
/// - MariaDB 10.11 compares the rows of SELECT DISTINCT with GROUP BY before they are computed:
///   `SELECT DISTINCT MAX(n) - MIN(n), AVG(id) FROM t GROUP BY at` gives one row for two groups
///   whose averages differ.
/// - MariaDB 10.11 sorts `CHAR` under a collation without padding as if it had spaces behind,
///   fewer for letters of several bytes.
/// - SQLite sorts MIN and MAX of texts by their bytes; which one of several equal texts they are
///   depends on the order in which rows are read.
pub fn is_no_oracle(statement: &Statement, backend: DbBackend, spec: &WorldSpec) -> bool {
    match backend {
        DbBackend::Sqlite => {
            let (mut exists, mut skips, mut sorts) = (false, false, false);
            each_select(statement, &mut |select, nesting| {
                exists |= nesting == Some(Nesting::Exists);
                skips |= select.offset.is_some();
                sorts |= !select.orders.is_empty() && select.exprs().into_iter().any(is_extreme);
            });
            // Paginators skip rows, too.
            (spec.is_loose() && sorts)
                || (exists && (skips || matches!(statement, Statement::Find(_))))
        }
        DbBackend::MySql => {
            let mut found = false;
            let unpadded = spec.collations.iter().flatten();
            let unpadded = unpadded.into_iter().any(|name| name.contains("nopad"));
            each_select(statement, &mut |select, _| {
                found |= select.distinct && select.is_aggregated();
                found |= unpadded && select.exprs().into_iter().any(is_padded);
            });
            found
        }
        _ => false,
    }
}

fn is_padded(expr: &Expr) -> bool {
    let mut found = false;
    expr.each(&mut |expr| found |= matches!(expr, Expr::Col(_, column) if column == "code"));
    found
}

fn is_extreme(expr: &Expr) -> bool {
    let mut found = false;
    expr.each(&mut |expr| {
        let is_one = |name: &str| matches!(name, "MIN" | "MAX");
        found |= matches!(expr, Expr::Aggregate(Aggregate { name, .. }) if is_one(name));
    });
    found
}

/// Every SELECT of a statement, with how it is nested in an expression, if it is in one.
fn each_select(statement: &Statement, visit: &mut dyn FnMut(&Select, Option<Nesting>)) {
    match statement {
        Statement::Query(select, _) => each_of(select, None, visit),
        Statement::Find(find) => {
            let filter = find.filter.iter();
            filter.for_each(|filter| each_in(filter, visit));
        }
        Statement::Write(write) => {
            let exprs = write.exprs().into_iter();
            exprs.for_each(|expr| each_in(expr, visit));
        }
    }
}

fn each_of(
    select: &Select,
    nesting: Option<Nesting>,
    visit: &mut dyn FnMut(&Select, Option<Nesting>),
) {
    visit(select, nesting);
    for inner in select.all() {
        if !std::ptr::eq(inner, select) {
            visit(inner, None);
        }
        for expr in inner.exprs() {
            for (nested, nesting) in expr.selects() {
                visit(nested, Some(nesting));
            }
        }
    }
}

fn each_in(expr: &Expr, visit: &mut dyn FnMut(&Select, Option<Nesting>)) {
    for (select, nesting) in expr.selects() {
        each_of(select, Some(nesting), visit);
    }
}
