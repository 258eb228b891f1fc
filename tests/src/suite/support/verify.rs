//! Asks a construct of the library, and the database whether the answer is right.

use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, StatementBuilder};
use serde_json::{Value, json};
use sharding_sea_orm::{Explain, Explanation, Rung, ShardingConnection, ShardingError};

use super::construct::{Answer, Ask, Construct};
use super::page::Cells;
use super::shop::{Written, restore};
use crate::json;
use crate::suite::peers::Peers;

/// What a database system does not have.
const ABSENT: &str = "not in this database";

/// A connection of the sharded kind or of the plain one.
trait Connection: ConnectionTrait + Sized {
    async fn call(&self, ask: &Ask) -> Result<String, DbErr>;
}

impl Connection for DatabaseConnection {
    async fn call(&self, ask: &Ask) -> Result<String, DbErr> {
        match ask {
            Ask::Call(call) => (call.plain)(self).await,
            _ => unreachable!("only a call is called"),
        }
    }
}

impl Connection for ShardingConnection {
    async fn call(&self, ask: &Ask) -> Result<String, DbErr> {
        match ask {
            Ask::Call(call) => (call.sharded)(self).await,
            _ => unreachable!("only a call is called"),
        }
    }
}

/// What is said of a construct over one data source and over two. Writes leave the tables as they
/// were.
///
/// # Errors
/// What is wrong, in words.
pub(super) async fn verify(peers: &Peers, construct: &Construct) -> Result<Cells, String> {
    if construct.absent.contains(&peers.backend) {
        return Ok(Cells::both(ABSENT));
    }
    let writes = matches!(construct.answer, Answer::Written | Answer::Returned);
    let written: &[Written] = if writes { &Written::ALL } else { &[] };
    let before = contents(&peers.oracle, written).await;
    let right = ask(&peers.oracle, construct).await;
    let right = right.map_err(|error| format!("the database itself says {error}"))?;
    let after = contents(&peers.oracle, written).await;
    let mut cells = Vec::new();
    for db in [&peers.one, &peers.two] {
        let explained = explain(db, construct);
        let found = ask(db, construct).await;
        let expected = if found.is_ok() { &after } else { &before };
        if contents(db, written).await != *expected {
            return Err(format!("after it the tables are wrong, {found:?}"));
        }
        cells.push(cell(construct.answer, explained, found, &right)?);
    }
    for ((table, before), after) in written.iter().zip(before).zip(after) {
        if before != after {
            restore(peers, *table).await;
        }
    }
    let [one, several] = cells.try_into().unwrap();
    Ok(Cells { one, several })
}

async fn contents(db: &impl ConnectionTrait, tables: &[Written]) -> Vec<Vec<String>> {
    let mut contents = Vec::new();
    for table in tables {
        contents.push(table.rows(db).await);
    }
    contents
}

/// What is said of one situation.
fn cell(
    answer: Answer,
    explained: Option<Result<Explanation, ShardingError>>,
    found: Result<Vec<Value>, DbErr>,
    right: &[Value],
) -> Result<String, String> {
    let explained = match explained {
        None => None,
        Some(Ok(explained)) => Some(Ok(rung(&explained.rung))),
        Some(Err(error)) => Some(Err(refusal(&error).ok_or(error.to_string())?)),
    };
    match (explained, found) {
        (Some(Err(refusal)), Ok(_)) => Err(format!("answered, but explained as {refusal}")),
        (explained, Ok(found)) => {
            let same = match answer {
                Answer::Rows | Answer::Returned => {
                    json::same(&json::sorted(found.clone()), &json::sorted(right.to_vec()))
                }
                Answer::Count => found.len() == right.len(),
                Answer::Ordered | Answer::Written => json::same(&found, right),
            };
            if !same {
                return Err(format!("WRONG\n    right {right:?}\n    wrong {found:?}"));
            }
            Ok(match explained {
                Some(Ok(rung)) => rung,
                _ => "answered".to_owned(),
            })
        }
        (explained, Err(error)) => {
            let refused = ShardingError::of(&error).and_then(refusal);
            match (explained, refused) {
                (Some(Err(before)), Some(refused)) if before != refused => {
                    Err(format!("refused for {refused}, explained as {before}"))
                }
                (_, Some(refused)) => Ok(format!("refused: {refused}")),
                (_, None) => Err(format!("FAILED: {error}")),
            }
        }
    }
}

fn rung(rung: &Rung) -> String {
    match rung {
        Rung::Unsharded | Rung::Pass => "passed".to_owned(),
        Rung::Merge => "merged".to_owned(),
        Rung::Union(clause) => format!("union, for {clause}"),
        Rung::Together => "one transaction".to_owned(),
        other => other.to_string(),
    }
}

/// A refusal, without the names of this statement's tables.
fn refusal(error: &ShardingError) -> Option<String> {
    Some(match error {
        ShardingError::Refused(refusal) => refusal.clause.to_string(),
        ShardingError::UnmergeableType { .. } => "values of a type that is not merged".to_owned(),
        ShardingError::Key(_) => "a row without its key".to_owned(),
        ShardingError::SecondSource { .. } => "a second data source in a transaction".to_owned(),
        _ => return None,
    })
}

fn explain(
    db: &ShardingConnection,
    construct: &Construct,
) -> Option<Result<Explanation, ShardingError>> {
    fn of(db: &ShardingConnection, statement: &impl Explain) -> Result<Explanation, ShardingError> {
        db.explain(statement)
    }
    Some(match &construct.ask {
        Ask::Select(statement) => of(db, statement),
        Ask::With(statement) => of(db, statement),
        Ask::Insert(statement) => of(db, statement),
        Ask::Update(statement) => of(db, statement),
        Ask::Delete(statement) => of(db, statement),
        Ask::Call(call) => of(db, call.makes.as_ref()?),
    })
}

async fn ask(db: &impl Connection, construct: &Construct) -> Result<Vec<Value>, DbErr> {
    let returned = construct.answer == Answer::Returned;
    match &construct.ask {
        Ask::Select(statement) => json::rows(db, statement).await,
        Ask::With(statement) => json::rows(db, statement).await,
        Ask::Insert(statement) => write(db, statement, returned).await,
        Ask::Update(statement) => write(db, statement, returned).await,
        Ask::Delete(statement) => write(db, statement, returned).await,
        ask @ Ask::Call(_) => Ok(vec![json!(db.call(ask).await?)]),
    }
}

async fn write(
    db: &impl ConnectionTrait,
    statement: &impl StatementBuilder,
    returned: bool,
) -> Result<Vec<Value>, DbErr> {
    if returned {
        return json::rows(db, statement).await;
    }
    let done = db.execute(statement).await?;
    Ok(vec![json!(done.rows_affected())])
}
