//! Asks one statement of the oracle and of a sharding, and compares.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, StreamTrait, TransactionTrait};

use super::answer::Answer;
use super::compare::{Leniency, difference};
use super::execute::{self, Failure};
use super::ratchet::{Refused, nameless};
use super::statement::promise::{self, Promise};
use super::statement::{Aggregate, Case, Expr, Select, Statement};
use super::world::{Sharded, World, WorldSpec};

/// What came of a statement on one sharding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The answers are the same.
    Same,
    /// Neither answers.
    BothFail,
    /// The oracle failed on a row that the sharding need not have looked at.
    Unclear,
    /// The sharding refuses.
    Refused(Refused),
    /// The answers differ.
    Differ(Difference),
}

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What kind of difference it is.
    pub kind: DifferenceKind,
    /// What differs.
    pub text: String,
}

impl Difference {
    /// What is the same in differences of one cause, more or less.
    pub fn signature(&self) -> String {
        let text = nameless(&self.text);
        let words: Vec<&str> = text
            .split(|letter: char| !letter.is_alphabetic())
            .filter(|word| word.len() > 1)
            .take(12)
            .collect();
        // Answers differ in values, which tell nothing of the cause.
        let words = match self.kind {
            DifferenceKind::Answer => &words[..words.len().min(2)],
            _ => &words[..],
        };
        format!("{:?} {}", self.kind, words.join(" "))
    }
}

/// Kinds of differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// Another answer.
    Answer,
    /// An error that is no refusal.
    Error,
    /// An answer where the oracle has none.
    NoError,
    /// A panic, or no end.
    Crash,
}

/// What the oracle says about a statement.
#[derive(Debug)]
pub struct Expected {
    /// The answer, or the error.
    pub answer: Result<Answer, String>,
    promise: Promise,
    all: Option<Answer>,
    leniency: Leniency,
}

/// Asks the oracle.
pub async fn expect(world: &World, case: &Case) -> Expected {
    let oracle = &world.oracle;
    let promise = promise::of(&case.statement);
    let answer = guarded(oracle, case, 1).await;
    let answer = answer.map_err(|failure| failure.1);
    let all = if promise.cut && answer.is_ok() {
        let uncut = Case {
            in_transaction: false,
            statement: promise::uncut(&case.statement),
        };
        guarded(oracle, &uncut, 1).await.ok()
    } else {
        None
    };
    Expected {
        answer,
        promise,
        all,
        leniency: leniency(&world.spec, &case.statement, backend_of(oracle)),
    }
}

fn backend_of(db: &DatabaseConnection) -> DbBackend {
    ConnectionTrait::get_database_backend(db)
}

/// Asks a sharding and compares.
pub async fn judge(sharded: &Sharded, case: &Case, expected: &Expected) -> Verdict {
    let differ = |kind, text| Verdict::Differ(Difference { kind, text });
    match (
        guarded(&sharded.db, case, sharded.sources).await,
        &expected.answer,
    ) {
        (Ok(found), Ok(answer)) => {
            let all = expected.all.as_ref();
            match difference(answer, &found, &expected.promise, all, expected.leniency) {
                None => Verdict::Same,
                Some(text) => differ(DifferenceKind::Answer, text),
            }
        }
        (Err(Failed(Some(refused), _, _)), Ok(_)) => Verdict::Refused(refused),
        (Err(Failed(None, text, true)), _) => differ(DifferenceKind::Crash, text),
        (Err(Failed(None, text, false)), Ok(_)) => differ(DifferenceKind::Error, text),
        (Err(_), Err(_)) => Verdict::BothFail,
        (Ok(_), Err(error)) if depends_on_rows(error) => Verdict::Unclear,
        (Ok(found), Err(error)) => differ(
            DifferenceKind::NoError,
            format!("{} rows, where the oracle says: {error}", found.rows.len()),
        ),
    }
}

/// A refusal, the text of the error, and whether it was a crash.
struct Failed(Option<Refused>, String, bool);

async fn guarded<C>(db: &C, case: &Case, sources: usize) -> Result<Answer, Failed>
where
    C: ConnectionTrait + StreamTrait + TransactionTrait,
    C::Transaction: StreamTrait,
{
    let run = AssertUnwindSafe(execute::run(db, case)).catch_unwind();
    match tokio::time::timeout(Duration::from_secs(60), run).await {
        Err(_) => Err(Failed(None, "no end within a minute".to_owned(), true)),
        Ok(Err(panic)) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            let text = format!("panic: {}", text.unwrap_or_default());
            Err(Failed(None, text, true))
        }
        Ok(Ok(Err(Failure::Db(error)))) => {
            let refused = Refused::of(&error, sources);
            Err(Failed(refused, error.to_string(), false))
        }
        Ok(Ok(Err(Failure::Wrong(text)))) => Err(Failed(None, text, false)),
        Ok(Ok(Ok(answer))) => Ok(answer),
    }
}

/// Whether an error of the database comes from a row, which it might not have looked at.
fn depends_on_rows(error: &str) -> bool {
    let error = error.to_lowercase();
    [
        "overflow",
        "out of range",
        "division by",
        "more than one row",
    ]
    .iter()
    .any(|text| error.contains(text))
}

fn leniency(spec: &WorldSpec, statement: &Statement, backend: DbBackend) -> Leniency {
    let mut sums = false;
    let mut merges = false;
    let mut look = |select: &Select| {
        for select in select.all() {
            merges |= select.is_aggregated() || select.distinct || !select.unions.is_empty();
            for expr in select.exprs() {
                expr.each(&mut |expr| {
                    if let Expr::Aggregate(Aggregate { name, .. }) = expr {
                        sums |= !matches!(&**name, "COUNT" | "MIN" | "MAX");
                    }
                });
            }
        }
    };
    match statement {
        Statement::Query(select, _) => look(select),
        Statement::Find(find) => {
            if let Some(filter) = &find.filter {
                filter.selects().iter().for_each(|(select, _)| look(select));
            }
        }
    }
    // MySQL's binary collation takes text without its trailing spaces, and so do its keys.
    let _ = backend;
    Leniency {
        loose: merges && spec.is_loose(),
        sums,
    }
}
