//! The names of computed columns.

use sea_orm::DbBackend;
use sea_orm::sea_query::{BinOper, ColumnName, ColumnRef, Expr, Func, FunctionCall, Query};

use crate::visit::parts_of_case;

/// The name that the database gives to a computed item without an alias.
pub(crate) fn computed_name(backend: DbBackend, expr: &Expr) -> String {
    match backend {
        DbBackend::Postgres => of_postgres(expr).map_or("?column?".to_owned(), |(name, _)| name),
        // Only PostgreSQL casts ENUMs; the others see the column itself.
        _ => match expr {
            Expr::AsEnum(_, inner) => column(inner).unwrap_or_else(|| text(backend, expr)),
            _ => text(backend, expr),
        },
    }
}

/// How much a name says about an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Weak,
    Strong,
}

/// The rules of `FigureColname` in PostgreSQL's `parse_target.c`: the name of a column or of a
/// function, looked for beneath casts and in the ELSE of a CASE; `None` if there is neither.
fn of_postgres(expr: &Expr) -> Option<(String, Weight)> {
    if let Some(name) = column(expr) {
        return Some((name, Weight::Strong));
    }
    let strong = |name: String| Some((name, Weight::Strong));
    match expr {
        Expr::AsEnum(type_name, inner) => Some(cast(inner, type_name.to_string())),
        Expr::FunctionCall(call) => match (call.get_func(), call.get_args()) {
            (Func::Cast, [Expr::Binary(inner, BinOper::As, type_name)]) => {
                let type_name = text(DbBackend::Postgres, type_name);
                Some(cast(inner, type_of(&type_name)))
            }
            _ => strong(function(call)),
        },
        Expr::Case(case) => {
            // Conditions and values in turn; what is left over is the value of ELSE.
            let parts = parts_of_case(case);
            let otherwise = parts.last().filter(|_| parts.len() % 2 == 1);
            let strong = otherwise.and_then(of_postgres);
            let strong = strong.filter(|(_, weight)| *weight == Weight::Strong);
            Some(strong.unwrap_or_else(|| ("case".to_owned(), Weight::Weak)))
        }
        Expr::Tuple(parts) if parts.len() > 1 => strong("row".to_owned()),
        _ => None,
    }
}

/// A cast has the name of what it casts, or else that of the type.
fn cast(inner: &Expr, type_name: String) -> (String, Weight) {
    let inner = of_postgres(inner).filter(|(_, weight)| *weight == Weight::Strong);
    inner.unwrap_or((type_name, Weight::Weak))
}

/// The name by which PostgreSQL knows a type that SQL names otherwise.
fn type_of(name: &str) -> String {
    let plain = name.split('(').next().unwrap_or_default();
    let name = match plain.trim().to_ascii_lowercase().as_str() {
        "smallint" => "int2",
        "int" | "integer" => "int4",
        "bigint" => "int8",
        "real" => "float4",
        "float" | "double precision" => "float8",
        "decimal" => "numeric",
        "boolean" => "bool",
        "char" | "character" => "bpchar",
        "character varying" => "varchar",
        "timestamp with time zone" => "timestamptz",
        "timestamp without time zone" => "timestamp",
        "time with time zone" => "timetz",
        "time without time zone" => "time",
        _ => return unquoted(plain),
    };
    name.to_owned()
}

fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Column(ColumnRef::Column(ColumnName(_, column))) => Some(column.to_string()),
        _ => None,
    }
}

fn function(call: &FunctionCall) -> String {
    let text = text(DbBackend::Postgres, &Expr::FunctionCall(call.clone()));
    unquoted(text.split('(').next().unwrap_or_default())
}

/// The last part of a name, as the database reads it.
fn unquoted(name: &str) -> String {
    let name = name.trim();
    let last = name.rsplit('.').next().unwrap_or_default();
    match last
        .strip_prefix('"')
        .and_then(|last| last.strip_suffix('"'))
    {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => last.to_ascii_lowercase(),
    }
}

/// An expression as a statement writes it.
fn text(backend: DbBackend, expr: &Expr) -> String {
    let statement = backend.build(&Query::select().expr(expr.clone()).take());
    match statement.sql.strip_prefix("SELECT ") {
        Some(text) => text.to_owned(),
        None => statement.sql,
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::{Alias, CaseStatement, ExprTrait, Func};

    use super::*;

    /// What PostgreSQL 17 answers to `SELECT` of each.
    #[test]
    fn names_of_postgres() {
        let of = |expr: Expr| computed_name(DbBackend::Postgres, &expr);
        let a = || Expr::col(("t", "a"));
        assert_eq!(of(a().add(1)), "?column?");
        assert_eq!(of(a().sum()), "sum");
        assert_eq!(of(a().cast_as(Alias::new("text"))), "a");
        assert_eq!(of(a().as_enum("text")), "a");
        assert_eq!(of(a().sum().cast_as(Alias::new("bigint"))), "sum");
        assert_eq!(of(a().add(1).cast_as(Alias::new("bigint"))), "int8");
        assert_eq!(
            of(a().add(1).cast_as(Alias::new("numeric(9, 2)"))),
            "numeric"
        );
        assert_eq!(of(Func::coalesce([a(), Expr::val(1)]).into()), "coalesce");
        let case = || CaseStatement::new().case(a().eq(1), 2);
        assert_eq!(of(case().into()), "case");
        assert_eq!(of(case().finally(a()).into()), "a");
        assert_eq!(of(case().finally(a().add(1)).into()), "case");
        assert_eq!(of(Func::cust(Alias::new("My")).arg(a()).into()), "my");
    }

    #[test]
    fn names_of_others() {
        for backend in [DbBackend::Sqlite, DbBackend::MySql] {
            let a = Expr::col(("t", "a"));
            assert_eq!(computed_name(backend, &a.clone().as_enum("text")), "a");
            let sum = computed_name(backend, &a.sum());
            assert_eq!(sum.replace(['"', '`'], ""), "SUM(t.a)");
        }
    }
}
