//! What is asked of both sides.

use std::future::Future;

use sea_orm::sea_query::{
    ColumnName, ColumnRef, DeleteStatement, Expr, InsertStatement, SelectExpr, SelectStatement,
    UpdateStatement, WithQuery,
};
use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, EntityTrait, QueryResult, QueryTrait, Select, SelectTwo,
    SelectTwoMany, SelectTwoRequired, Statement, StatementBuilder,
};

use super::compare::{Order, Promise};
use crate::downcast::downcast;
use crate::visit::{dissect_select, select_of_with};

/// A statement that can be asked of both sides: SeaQuery's SELECT, also under WITH, SeaORM's query
/// builders for one and two entities, and SQL text. Of other builders of SeaORM,
/// [`QueryTrait::as_query`] gives the SELECT.
pub trait Question: Sync {
    #[doc(hidden)]
    fn subject(&self, backend: DbBackend) -> Subject;

    #[doc(hidden)]
    fn ask<C: ConnectionTrait>(
        &self,
        connection: &C,
    ) -> impl Future<Output = Result<Vec<QueryResult>, DbErr>> + Send;
}

/// What is known of a statement beside its answers.
#[derive(Clone, Debug)]
pub struct Subject {
    nature: Nature,
    /// The SELECT, unless it is text.
    select: Option<SelectStatement>,
    statement: Statement,
}

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// It only reads.
    Read,
    /// It reads and locks.
    Lock,
    /// It changes rows, so that the number of affected ones means something.
    Change,
    /// Anything else, such as a definition.
    Other,
}

impl Subject {
    pub(super) fn of<S: StatementBuilder>(statement: &S, backend: DbBackend) -> Self {
        let select = match downcast::<_, WithQuery>(statement) {
            Some(query) => select_of_with(query),
            None => downcast::<_, SelectStatement>(statement).cloned(),
        };
        let text = backend.build(statement);
        let changes = downcast::<_, InsertStatement>(statement).is_some()
            || downcast::<_, UpdateStatement>(statement).is_some()
            || downcast::<_, DeleteStatement>(statement).is_some();
        let nature = match &select {
            Some(_) => Nature::of_reading(&text.sql.to_ascii_lowercase()),
            None if changes => Nature::Change,
            None => Nature::of_text(&text.sql),
        };
        Self {
            nature,
            select,
            statement: text,
        }
    }

    pub(super) fn of_text(statement: &Statement) -> Self {
        Self {
            nature: Nature::of_text(&statement.sql),
            select: None,
            statement: statement.clone(),
        }
    }

    pub(super) fn nature(&self) -> Nature {
        self.nature
    }

    pub(super) fn statement(&self) -> &Statement {
        &self.statement
    }

    /// What the statement says about the rows of its answer. Of text not more is known than which
    /// words are in it.
    pub(super) fn promise(&self) -> Promise {
        let Some(select) = &self.select else {
            let text = self.statement.sql.to_ascii_lowercase();
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            let orders = words.windows(2).any(|pair| pair == ["order", "by"]);
            let cuts = words.iter().any(|word| matches!(*word, "limit" | "fetch"));
            return Promise {
                order: orders.then_some(Order::Unknown),
                limit: cuts.then_some(0),
                skips: words.contains(&"offset"),
            };
        };
        let parts = dissect_select(select, self.statement.db_backend);
        let keys = parts.order.iter();
        let columns = keys.map(|key| column_of(&key.expr, &parts.items));
        let order = match columns.collect() {
            Some(columns) => Order::By(columns),
            None => Order::Unknown,
        };
        Promise {
            order: (!parts.order.is_empty()).then_some(order),
            limit: parts.limit,
            skips: parts.offset.is_some_and(|offset| offset > 0),
        }
    }

    /// The SELECT that wants one row more than `limit`, unless it would lock that row.
    pub(super) fn longer(&self, limit: u64) -> Option<SelectStatement> {
        let mut select = self
            .select
            .clone()
            .filter(|_| self.nature == Nature::Read)?;
        select.limit(limit.saturating_add(1));
        Some(select)
    }
}

impl Nature {
    fn of_text(sql: &str) -> Self {
        let lower = sql.to_ascii_lowercase();
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        let mut words = lower
            .split(|c| !is_letter(c))
            .filter(|word| !word.is_empty());
        let changes =
            |word: &str| matches!(word, "insert" | "update" | "delete" | "replace" | "merge");
        match words.next() {
            Some("select") if words.any(|word| word == "into") => Self::Change,
            // A name may be taken for a change: one that is made on one side only would be the
            // greater harm.
            Some("with") if words.any(changes) => Self::Change,
            Some("select" | "with" | "values" | "table") => Self::of_reading(&lower),
            Some("show" | "explain" | "describe" | "pragma") => Self::Read,
            Some(first) if changes(first) => Self::Change,
            _ => Self::Other,
        }
    }

    /// SQL in lower case that does not change rows. What looks like a lock is taken for one.
    fn of_reading(sql: &str) -> Self {
        if sql.contains(" for ") || sql.contains(" lock in ") {
            Self::Lock
        } else {
            Self::Read
        }
    }

    /// Whether it makes nothing to be made on the other side, too.
    pub(super) fn only_reads(self) -> bool {
        matches!(self, Self::Read | Self::Lock)
    }
}

/// The column of the answer that an order key is; `None` if it cannot be told.
fn column_of(key: &Expr, items: &[SelectExpr]) -> Option<usize> {
    // An asterisk stands for any number of columns.
    if items.iter().any(|item| is_asterisk(&item.expr)) {
        return None;
    }
    if let Expr::Column(ColumnRef::Column(ColumnName(None, name))) = key {
        let named = |item: &SelectExpr| item.alias.as_ref() == Some(name);
        if let Some(column) = items.iter().position(named) {
            return Some(column);
        }
    }
    items
        .iter()
        .position(|item| item.window.is_none() && item.expr == *key)
}

fn is_asterisk(expr: &Expr) -> bool {
    match expr {
        Expr::Column(ColumnRef::Asterisk(_)) => true,
        Expr::Custom(text) => text.contains('*'),
        _ => false,
    }
}

macro_rules! question_of_statement {
    ($($statement:ty),+) => {
        $(
            impl Question for $statement {
                fn subject(&self, backend: DbBackend) -> Subject {
                    Subject::of(self, backend)
                }

                async fn ask<C: ConnectionTrait>(
                    &self,
                    connection: &C,
                ) -> Result<Vec<QueryResult>, DbErr> {
                    connection.query_all(self).await
                }
            }
        )+
    };
}

question_of_statement!(SelectStatement, WithQuery);

impl Question for Statement {
    fn subject(&self, _: DbBackend) -> Subject {
        Subject::of_text(self)
    }

    async fn ask<C: ConnectionTrait>(&self, connection: &C) -> Result<Vec<QueryResult>, DbErr> {
        connection.query_all_raw(self.clone()).await
    }
}

/// SeaORM's builders hold one of SeaQuery's statements.
macro_rules! question_inside {
    ($($builder:ty: $($param:ident),+;)+) => {
        $(
            impl<$($param: EntityTrait),+> Question for $builder {
                fn subject(&self, backend: DbBackend) -> Subject {
                    self.as_query().subject(backend)
                }

                async fn ask<Q: ConnectionTrait>(
                    &self,
                    connection: &Q,
                ) -> Result<Vec<QueryResult>, DbErr> {
                    self.as_query().ask(connection).await
                }
            }
        )+
    };
}

question_inside! {
    Select<E>: E;
    SelectTwo<E, F>: E, F;
    SelectTwoMany<E, F>: E, F;
    SelectTwoRequired<E, F>: E, F;
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::{Alias, Asterisk, Func, Query};

    use super::*;

    fn promise(select: &SelectStatement) -> Promise {
        Subject::of(select, DbBackend::Sqlite).promise()
    }

    #[test]
    fn order_keys_are_found_among_the_columns() {
        let id = || Expr::col(("event", "id"));
        let mut select = Query::select();
        select
            .column(("event", "n"))
            .expr(id())
            .expr_as(Func::count(id()), Alias::new("count"))
            .from("event")
            .order_by(Alias::new("count"), sea_orm::Order::Desc)
            .order_by_expr(id(), sea_orm::Order::Asc);
        assert_eq!(promise(&select).order, Some(Order::By(vec![2, 1])));
        select.order_by(("event", "day"), sea_orm::Order::Asc);
        assert_eq!(promise(&select).order, Some(Order::Unknown));
        let mut all = Query::select();
        all.column(Asterisk).from("event").limit(3).offset(1);
        let expected = Promise {
            order: None,
            limit: Some(3),
            skips: true,
        };
        assert_eq!(promise(&all), expected);
    }

    #[test]
    fn a_lock_is_not_widened() {
        let mut select = Query::select();
        select.column(("event", "id")).from("event").limit(1);
        let of = |select: &SelectStatement| Subject::of(select, DbBackend::Postgres);
        assert_eq!(of(&select).nature(), Nature::Read);
        assert!(of(&select).longer(1).is_some());
        select.lock_exclusive();
        assert_eq!(of(&select).nature(), Nature::Lock);
        assert!(of(&select).longer(1).is_none());
    }

    #[test]
    fn text_is_taken_by_its_words() {
        let nature = Nature::of_text;
        assert_eq!(nature(" select 1 FROM t for UPDATE"), Nature::Lock);
        assert_eq!(nature("(SELECT replace(a, 'b', 'c') FROM t)"), Nature::Read);
        assert_eq!(nature("SELECT updated FROM t"), Nature::Read);
        assert_eq!(nature("SELECT * INTO u FROM t"), Nature::Change);
        assert_eq!(nature("WITH a AS (SELECT 1) DELETE FROM t"), Nature::Change);
        assert_eq!(nature("INSERT INTO t VALUES (1)"), Nature::Change);
        assert_eq!(nature("CREATE TABLE t (id int)"), Nature::Other);
    }
}
