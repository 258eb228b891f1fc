//! Asks the same of the three layouts and keeps what is wrong.

use std::fmt::Debug;

use sea_orm::{ConnectionTrait, DbErr, QueryResult, StatementBuilder};
use serde_json::Value;
use sharding_sea_orm::ShardingError;

use super::Peers;
use crate::json;

/// What was answered.
#[derive(Debug)]
pub struct Told<'a, T = Vec<Value>> {
    /// The right answer; `None` if the plain database has none.
    pub right: Option<T>,
    peers: &'a Peers,
    about: String,
    refused: Option<String>,
}

impl<T: Debug> Told<'_, T> {
    /// Several data sources must have answered, too.
    pub fn answered(self) -> Self {
        if let Some(refused) = &self.refused {
            let fault = format!(
                "REFUSED over several sources: {}\n    {refused}",
                self.about
            );
            self.peers.fault(fault);
        }
        self
    }

    /// Several data sources must have answered if this holds.
    pub fn answered_if(self, holds: bool) -> Self {
        if holds { self.answered() } else { self }
    }

    /// Several data sources must have refused.
    pub fn refused(self) -> Self {
        if self.refused.is_none() {
            let fault = format!("NOT REFUSED over several sources: {}", self.about);
            self.peers.fault(fault);
        }
        self
    }

    /// The right answer must be this one.
    pub fn is<U: Debug>(self, expected: U) -> Self
    where
        T: PartialEq<U>,
    {
        if self.right.as_ref().is_none_or(|right| *right != expected) {
            let fault = format!(
                "UNEXPECTED: {}\n    expected {expected:?}\n    found {:?}",
                self.about, self.right,
            );
            self.peers.fault(fault);
        }
        self
    }
}

impl Told<'_> {
    /// The right answer must be these rows, each an array of its columns.
    pub fn rows(self, expected: Value) -> Self {
        let Value::Array(expected) = expected else {
            panic!("{expected} is no array of rows")
        };
        self.is(expected)
    }

    /// The right answer must have so many rows.
    pub fn count(self, expected: usize) -> Self {
        let found = self.right.as_ref().map(Vec::len);
        if found != Some(expected) {
            let fault = format!("UNEXPECTED: {}\n    {found:?} rows", self.about);
            self.peers.fault(fault);
        }
        self
    }
}

impl Peers {
    pub(super) fn fault(&self, text: String) {
        self.faults.lock().unwrap().push(text);
    }

    /// Asks a query, whose rows have an order. One data source must answer as the plain database
    /// does; several must, too, or refuse.
    pub async fn same<S: StatementBuilder>(&self, statement: &S) -> Told<'_> {
        self.ask(statement, |rows| rows).await
    }

    /// The same for a query that promises no order.
    pub async fn same_set<S: StatementBuilder>(&self, statement: &S) -> Told<'_> {
        self.ask(statement, json::sorted).await
    }

    async fn ask<S: StatementBuilder>(
        &self,
        statement: &S,
        order: impl Fn(Vec<Value>) -> Vec<Value>,
    ) -> Told<'_> {
        let about = self.backend.build(statement).to_string();
        let rows = |answer: Result<(Vec<String>, Vec<Value>), DbErr>| {
            answer.map(|(columns, rows)| (columns, order(rows)))
        };
        let [oracle, one, two] = [
            rows(answer(&self.oracle, statement).await),
            rows(answer(&self.one, statement).await),
            rows(answer(&self.two, statement).await),
        ];
        let told = self.compare(about, oracle, one, two, |a, b| {
            a.0 == b.0 && json::same(&a.1, &b.1)
        });
        Told {
            right: told.right.map(|(_, rows)| rows),
            peers: told.peers,
            about: told.about,
            refused: told.refused,
        }
    }

    /// Compares three answers.
    pub fn compare<T: Debug>(
        &self,
        about: String,
        oracle: Result<T, DbErr>,
        one: Result<T, DbErr>,
        two: Result<T, DbErr>,
        same: impl Fn(&T, &T) -> bool,
    ) -> Told<'_, T> {
        let mut refused = None;
        for (answer, sources) in [(one, "one source"), (two, "several sources")] {
            let refusal = answer.as_ref().err().and_then(refusal);
            match (&answer, &oracle, refusal) {
                (Ok(answer), Ok(oracle), _) if same(answer, oracle) => {}
                (Ok(answer), Ok(oracle), _) => self.fault(format!(
                    "WRONG over {sources}: {about}\n    right {oracle:?}\n    wrong {answer:?}"
                )),
                (Ok(answer), Err(error), _) => self.fault(format!(
                    "WRONG over {sources}: {about}\n    right {error}\n    wrong {answer:?}"
                )),
                (Err(_), Ok(_), Some(refusal)) if sources == "several sources" => {
                    refused = Some(refusal);
                }
                (Err(error), Ok(_), Some(_)) => {
                    self.fault(format!("REFUSED over {sources}: {about}\n    {error}"));
                }
                (Err(error), Ok(_), None) => {
                    self.fault(format!("FAILED over {sources}: {about}\n    {error}"));
                }
                (Err(_), Err(_), _) => {}
            }
        }
        if let Some(refusal) = &refused
            && std::env::var_os("SHARDING_TEST_REFUSALS").is_some()
        {
            show(&format!("{about}\n    {refusal}"));
        }
        Told {
            right: oracle.ok(),
            peers: self,
            about,
            refused,
        }
    }
}

/// Asks the same of the three layouts, with `$db` for the connection, and compares the answers.
macro_rules! each {
    ($peers:expr, $db:ident => $run:expr) => {{
        let oracle = {
            let $db = &$peers.oracle;
            $run
        };
        let one = {
            let $db = &$peers.one;
            $run
        };
        let two = {
            let $db = &$peers.two;
            $run
        };
        let about = stringify!($run).to_owned();
        $peers.compare(about, oracle, one, two, |a, b| a == b)
    }};
}
pub(super) use each;

/// The names of the columns, and the rows as arrays of them.
async fn answer<S: StatementBuilder>(
    db: &impl ConnectionTrait,
    statement: &S,
) -> Result<(Vec<String>, Vec<Value>), DbErr> {
    let rows = db.query_all(statement).await?;
    let columns = rows
        .first()
        .map_or_else(Vec::new, QueryResult::column_names);
    let array = |row: &QueryResult| {
        let row = json::row(row)?;
        Ok(columns.iter().map(|column| row[column].clone()).collect())
    };
    let rows = rows.iter().map(array).collect::<Result<_, DbErr>>()?;
    Ok((columns, rows))
}

/// The text of a refusal. Other errors are no way to say that a statement is not answered.
fn refusal(error: &DbErr) -> Option<String> {
    match ShardingError::of(error)? {
        refused @ (ShardingError::Refused(_) | ShardingError::UnmergeableType { .. }) => {
            Some(refused.to_string())
        }
        _ => None,
    }
}

#[allow(clippy::print_stderr, reason = "shown on demand")]
fn show(text: &str) {
    eprintln!("refused over several sources: {text}");
}
