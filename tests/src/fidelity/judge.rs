//! Asks one statement of the oracle and of a sharding, and compares.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use sea_orm::{DatabaseConnection, DbBackend, DbErr};

use super::answer::{Answer, Cell};
use super::compare::{Leniency, difference, show};
use super::execute::{self, Failure};
use super::faults;
use super::ratchet::{Refused, nameless};
use super::schema::Table;
use super::state::{self, gathered};
use super::statement::promise::{self, Promise};
use super::statement::{Aggregate, Case, Expr, Related, Select, Statement};
use super::world::{Sharded, World, WorldSpec};

/// What came of a statement on one sharding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The answers are the same.
    Same,
    /// Neither answers.
    BothFail,
    /// One side failed on a row, or on a sum of some, that the other need not have looked at; or
    /// the oracle is no oracle there.
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
        let is_word = |word: &&str| {
            word.chars()
                .all(|letter| letter.is_alphabetic() || letter == ':')
        };
        let words: Vec<&str> = text.split_whitespace().filter(is_word).take(16).collect();
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
    /// Other rows in the tables after a write.
    State,
}

/// What the oracle says about a statement.
#[derive(Debug)]
pub struct Expected {
    /// The answer, or the error.
    pub answer: Result<Answer, String>,
    /// The rows of the table after a write.
    state: Vec<Vec<Cell>>,
    promise: Promise,
    all: Option<Answer>,
    leniency: Leniency,
    /// The answer is not the one that is right.
    no_oracle: bool,
}

/// Asks the oracle.
pub async fn expect(world: &World, case: &Case) -> Expected {
    let oracle = &world.oracle;
    let promise = promise::of(&case.statement);
    let (answer, state) = match &case.statement {
        Statement::Write(write) => {
            // A write is rolled back, so that the next statement finds the same rows.
            let run = execute::run_and_roll_back(oracle, case, Some(write.table));
            let (answer, rows) = match guarded(run, 1).await {
                Ok((answer, rows)) => (guarded(std::future::ready(answer), 1).await, rows),
                Err(failed) => (Err(failed), None),
            };
            let rows = match rows {
                Some(rows) => rows,
                // A transaction that has failed lets nothing be read, and keeps nothing.
                None => rows_of(oracle, write.table).await,
            };
            (answer, rows)
        }
        _ => (guarded(execute::run(oracle, case), 1).await, Vec::new()),
    };
    let answer = answer.map_err(|failed| failed.1);
    // A page of joined rows may cut the rows that belong to a model.
    let is_grouped = matches!(
        &case.statement,
        Statement::Find(find) if find.related.is_some_and(Related::gathers)
    );
    let all = if promise.cut && answer.is_ok() && !is_grouped {
        let uncut = Case {
            in_transaction: false,
            statement: promise::uncut(&case.statement),
        };
        guarded(execute::run(oracle, &uncut), 1).await.ok()
    } else {
        None
    };
    Expected {
        answer,
        state,
        promise,
        all,
        leniency: leniency(&world.spec, &case.statement, oracle.get_database_backend()),
        no_oracle: faults::is_no_oracle(
            &case.statement,
            oracle.get_database_backend(),
            &world.spec,
        ),
    }
}

async fn rows_of(oracle: &DatabaseConnection, table: Table) -> Vec<Vec<Cell>> {
    state::rows(oracle, table.name()).await.unwrap_or_default()
}

/// Asks a sharding and compares; after a write, puts back what was there.
pub async fn judge(sharded: &Sharded, case: &Case, expected: &Expected) -> Verdict {
    let verdict = answered(sharded, case, expected).await;
    let Statement::Write(write) = &case.statement else {
        return verdict;
    };
    match left(sharded, write.table, case, expected, &verdict).await {
        _ if matches!(verdict, Verdict::Differ(_)) => verdict,
        Ok(None) => verdict,
        Ok(Some(text)) => Verdict::Differ(Difference {
            kind: DifferenceKind::State,
            text,
        }),
        Err(error) => Verdict::Differ(Difference {
            kind: DifferenceKind::State,
            text: format!("the rows cannot be read: {error}"),
        }),
    }
}

/// What is wrong with the rows that a write has left behind. They are put back.
async fn left(
    sharded: &Sharded,
    table: Table,
    case: &Case,
    expected: &Expected,
    verdict: &Verdict,
) -> Result<Option<String>, DbErr> {
    let found = sharded.contents(table).await?;
    let changed = |(at, rows): &(&usize, &Vec<Vec<Cell>>)| sharded.original.get(at) != Some(rows);
    let changed: Vec<usize> = found.iter().filter(changed).map(|(at, _)| *at).collect();
    sharded.restore(changed.iter().copied()).await?;
    if *verdict == Verdict::Unclear {
        return Ok(None);
    }
    let same = matches!(verdict, Verdict::Same | Verdict::BothFail);
    if !same || case.in_transaction {
        return Ok((!changed.is_empty()).then(|| format!("rows changed, though {verdict:?}")));
    }
    // Every data source has its own copy of a broadcast table.
    let copies: Vec<Vec<Vec<Cell>>> = if table == Table::Tag {
        found.into_values().collect()
    } else {
        vec![gathered(&found)]
    };
    let text = |rows: &[Vec<Cell>]| {
        let extra = rows.iter().find(|row| !expected.state.contains(row));
        let missing = expected.state.iter().find(|row| !rows.contains(row));
        let show = |row: Option<&Vec<Cell>>| row.map_or("none".to_owned(), |row| show(row));
        format!(
            "{} rows are left instead of {}; too much: {}; missing: {}",
            rows.len(),
            expected.state.len(),
            show(extra),
            show(missing)
        )
    };
    let wrong = copies.iter().find(|rows| **rows != expected.state);
    Ok(wrong.map(|rows| text(rows)))
}

async fn answered(sharded: &Sharded, case: &Case, expected: &Expected) -> Verdict {
    let differ = |kind, text| Verdict::Differ(Difference { kind, text });
    let found = guarded(execute::run(&sharded.db, case), sharded.sources).await;
    match (found, &expected.answer) {
        (Ok(found), Ok(answer)) => {
            let all = expected.all.as_ref();
            match difference(answer, &found, &expected.promise, all, expected.leniency) {
                None => Verdict::Same,
                Some(_) if expected.no_oracle => Verdict::Unclear,
                Some(text) => differ(DifferenceKind::Answer, text),
            }
        }
        (Err(Failed(Some(refused), _, _)), Ok(_)) => Verdict::Refused(refused),
        (Err(Failed(None, text, true)), _) => differ(DifferenceKind::Crash, text),
        // So would the oracle if its rows lay in another order.
        (Err(Failed(None, text, false)), Ok(_)) if depends_on_rows(&text) => Verdict::Unclear,
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

async fn guarded<T>(
    run: impl Future<Output = Result<T, Failure>>,
    sources: usize,
) -> Result<T, Failed> {
    let run = AssertUnwindSafe(run).catch_unwind();
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
        // These depend on the way in which the database chooses to answer.
        "nondeterministic collations are not supported",
        "reference to group function",
    ]
    .iter()
    .any(|text| error.contains(text))
}

fn leniency(spec: &WorldSpec, statement: &Statement, backend: DbBackend) -> Leniency {
    let mut sums: Option<f64> = None;
    let mut merges = false;
    let mut look = |select: &Select| {
        for select in select.all() {
            merges |= select.is_aggregated() || select.distinct || !select.unions.is_empty();
            for expr in select.exprs() {
                expr.each(&mut |expr| {
                    if let Expr::Aggregate(Aggregate { name, of, .. }) = expr
                        && !matches!(&**name, "COUNT" | "MIN" | "MAX")
                    {
                        // Integers that are too large become floating point numbers on SQLite,
                        // whose sum is as exact as the largest of them.
                        let may_overflow = backend == DbBackend::Sqlite
                            && of.as_deref().is_some_and(|of| !matches!(of, Expr::Col(..)));
                        let exact = if may_overflow { 65_536.0 } else { 1e-6 };
                        sums = Some(sums.map_or(exact, |sums| sums.max(exact)));
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
        Statement::Write(write) => {
            let selects = write.exprs().into_iter().flat_map(Expr::selects);
            selects.for_each(|(select, _)| look(select));
        }
    }
    Leniency {
        loose: merges && spec.is_loose(),
        loose_keys: spec.is_loose(),
        sums,
        unions: backend == DbBackend::MySql,
    }
}
