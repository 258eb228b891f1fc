use std::fmt;
use std::ops::Range;

use sea_orm::sea_query::{
    MysqlQueryBuilder, PostgresQueryBuilder, QueryBuilder, SelectStatement, SqlWriter,
    SqliteQueryBuilder, TableRef, Value, Values,
};
use sea_orm::{DbBackend, Statement};

/// A SELECT that was rendered once, with the place of its sharded table in the text, so that the
/// statement of a node costs no more than its text. A table's name binds no values, so putting
/// another in its place moves none.
#[derive(Debug)]
pub(super) struct Template {
    sql: String,
    values: Vec<Value>,
    table: Range<usize>,
    backend: DbBackend,
}

impl Template {
    /// Renders the statement by the stock builder. The table is the first of FROM, `depth`
    /// subqueries deep; before it, no item of a select list may hold a subquery. `None` if the
    /// table is not found there.
    pub(super) fn of(
        select: &SelectStatement,
        table: &TableRef,
        depth: usize,
        backend: DbBackend,
    ) -> Option<Self> {
        let (sql, values, start) = match backend {
            DbBackend::MySql => render(select, MysqlQueryBuilder, depth),
            DbBackend::Postgres => render(select, PostgresQueryBuilder, depth),
            _ => render(select, SqliteQueryBuilder, depth),
        }?;
        let table = table_text(table, backend);
        sql[start..].starts_with(&table).then(|| Self {
            sql,
            values,
            table: start..start + table.len(),
            backend,
        })
    }

    /// The statement with this table in the sharded one's place.
    pub(super) fn with_table(&self, table: &TableRef) -> Statement {
        let table = table_text(table, self.backend);
        let mut sql = String::with_capacity(self.sql.len() + table.len());
        sql.push_str(&self.sql[..self.table.start]);
        sql.push_str(&table);
        sql.push_str(&self.sql[self.table.end..]);
        Statement {
            sql,
            values: Some(Values(self.values.clone())),
            db_backend: self.backend,
        }
    }
}

fn render(
    select: &SelectStatement,
    builder: impl QueryBuilder,
    depth: usize,
) -> Option<(String, Vec<Value>, usize)> {
    let (placeholder, numbered) = builder.placeholder();
    let mut writer = Marker {
        sql: String::with_capacity(256),
        values: Vec::new(),
        placeholder,
        numbered,
        skip: depth,
        start: None,
    };
    select.build_collect_into(builder, &mut writer);
    Some((writer.sql, writer.values, writer.start?))
}

fn table_text(table: &TableRef, backend: DbBackend) -> String {
    let mut text = String::with_capacity(64);
    match backend {
        DbBackend::MySql => MysqlQueryBuilder.prepare_table_ref(table, &mut text),
        DbBackend::Postgres => PostgresQueryBuilder.prepare_table_ref(table, &mut text),
        _ => SqliteQueryBuilder.prepare_table_ref(table, &mut text),
    }
    text
}

/// Writes as SeaQuery's own writer does, and marks where a FROM begins: builders write that
/// keyword as a piece of its own.
struct Marker {
    sql: String,
    values: Vec<Value>,
    placeholder: &'static str,
    numbered: bool,
    /// How many FROMs come before the one that is marked.
    skip: usize,
    start: Option<usize>,
}

impl fmt::Write for Marker {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.sql.push_str(piece);
        if self.start.is_none() && piece == " FROM " {
            match self.skip {
                0 => self.start = Some(self.sql.len()),
                _ => self.skip -= 1,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sql)
    }
}

impl SqlWriter for Marker {
    fn push_param<T: QueryBuilder>(&mut self, value: Value, _builder: &T) {
        self.sql.push_str(self.placeholder);
        self.values.push(value);
        if self.numbered {
            self.sql.push_str(&self.values.len().to_string());
        }
    }

    fn as_writer(&mut self) -> &mut dyn fmt::Write {
        self
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::{Condition, Expr, ExprTrait, NullOrdering, Order, Query};

    use super::*;

    fn statements() -> Vec<SelectStatement> {
        let plain = Query::select()
            .column(("flight", "id"))
            .expr_as(Expr::col(("flight", "delay")).max(), "worst")
            .from("flight")
            .and_where(Expr::col(("flight", "id")).is_in([1, 2, 3]))
            .cond_where(Condition::any().add(Expr::col("note").like("a'b\"c")))
            .group_by_col(("flight", "id"))
            .order_by_with_nulls(("flight", "id"), Order::Desc, NullOrdering::Last)
            .limit(5)
            .offset(7)
            .to_owned();
        let joined = Query::select()
            .column(("flight", "id"))
            .from("flight")
            .left_join(
                "airline",
                Expr::col(("airline", "id")).equals(("flight", "airline")),
            )
            .and_where(Expr::exists(
                Query::select().expr(1).from("plane").to_owned(),
            ))
            .lock_exclusive()
            .to_owned();
        vec![plain, joined]
    }

    /// The oracle is the stock builder on the same statement with the other table.
    #[test]
    fn a_template_is_what_the_stock_builder_would_have_written() {
        let logical = TableRef::from("flight");
        let physical = TableRef::from("flight_201301").alias("flight");
        for backend in [DbBackend::Sqlite, DbBackend::Postgres, DbBackend::MySql] {
            for select in statements() {
                let template = Template::of(&select, &logical, 0, backend).unwrap();
                let mut swapped = select.clone();
                swapped.from_clear().from(physical.clone());
                assert_eq!(template.with_table(&physical), backend.build(&swapped));

                let around = |inner: SelectStatement| {
                    Query::select()
                        .expr(Expr::cust("COUNT(*) AS num_items"))
                        .from_subquery(inner, "sub_query")
                        .to_owned()
                };
                let template = Template::of(&around(select), &logical, 1, backend).unwrap();
                assert_eq!(
                    template.with_table(&physical),
                    backend.build(&around(swapped))
                );
            }
            let other = TableRef::from("airline");
            assert!(Template::of(&statements()[0], &other, 0, backend).is_none());
        }
    }
}
