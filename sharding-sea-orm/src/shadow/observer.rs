//! Asks both sides, answers with the plain one, and records in what they differ.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join;
use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt};
use sea_orm::{ConnectionTrait, DbErr, QueryResult, Statement};

use super::answer::Answer;
use super::difference::{Difference, refusal};
use super::question::{Nature, Subject};
use super::reply::{Reply, compare};
use super::report::Recorder;
use crate::execute::RowStream;

/// Streams of more rows than this are not compared, since the rows are kept until the end.
pub const STREAMED_ROWS: usize = 10_000;

/// Stands beside a connection or transaction of both sides.
#[derive(Clone, Debug)]
pub(super) struct Observer {
    pub(super) recorder: Recorder,
    pub(super) writes: Writes,
    /// Whether the sharded side of a transaction takes no further part in it; `None` outside.
    given_up: Option<Arc<AtomicBool>>,
}

/// Where writes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    Both,
    PlainOnly,
}

pub(super) type Opening<'a, S> = Pin<Box<dyn Future<Output = Result<S, DbErr>> + Send + 'a>>;

impl Observer {
    pub(super) fn new(recorder: Recorder, writes: Writes) -> Self {
        Self {
            recorder,
            writes,
            given_up: None,
        }
    }

    /// The observer of a transaction, or of a savepoint in one.
    pub(super) fn of_transaction(&self) -> Self {
        Self {
            given_up: Some(Arc::new(AtomicBool::new(self.has_given_up()))),
            ..self.clone()
        }
    }

    pub(super) fn has_given_up(&self) -> bool {
        let given_up = self.given_up.as_ref();
        given_up.is_some_and(|given_up| given_up.load(Ordering::Relaxed))
    }

    /// Asks both sides. Reads are asked at the same time. A write goes to the sharded side once
    /// the plain one has made it, so that the sharded side does not run ahead; locks are taken in
    /// the same order, so that two transactions do not wait for each other.
    pub(super) async fn ask<C: ConnectionTrait, T: Reply>(
        &self,
        connection: &C,
        subject: &Subject,
        plain: impl Future<Output = Result<T, DbErr>> + Send,
        sharded: impl Future<Output = Result<T, DbErr>> + Send,
    ) -> Result<T, DbErr> {
        if !self.is_asked(subject.nature()) {
            self.recorder.skipped();
            return plain.await;
        }
        if subject.nature() == Nature::Read {
            let (plain, sharded) = join(plain, guarded(sharded)).await;
            self.settle(connection, subject, &plain, sharded).await;
            return plain;
        }
        let plain = plain.await;
        if plain.is_err() {
            self.recorder.failed();
            return plain;
        }
        let sharded = guarded(sharded).await;
        self.settle(connection, subject, &plain, sharded).await;
        plain
    }

    /// Opens a stream of the plain side. Its rows are kept beside; when it has ended, the sharded
    /// side is asked, and the answers are compared. The rows of a write are there at once.
    pub(super) async fn stream<'a, C, S>(
        &'a self,
        connection: &'a C,
        subject: Subject,
        plain: Opening<'a, S>,
        sharded: Opening<'a, RowStream<'a>>,
    ) -> Result<RowStream<'a>, DbErr>
    where
        C: ConnectionTrait,
        S: Stream<Item = Result<QueryResult, DbErr>> + Send + 'a,
    {
        if !subject.nature().only_reads() {
            let (plain, sharded) = (collect(plain), collect(sharded));
            let rows = self.ask(connection, &subject, plain, sharded).await?;
            return Ok(crate::merge::buffered(rows));
        }
        let mut rows = Box::pin(plain.await?);
        let uncompared = Uncompared(Some(&self.recorder));
        Ok(Box::pin(async_stream::stream! {
            let mut uncompared = uncompared;
            let mut kept = Kept::Rows(Answer::default());
            while let Some(row) = rows.next().await {
                kept.add(&row);
                yield row;
            }
            // A transaction's stream holds its connection.
            drop(rows);
            let plain = match kept {
                Kept::Rows(answer) => Ok(answer),
                Kept::Failed(error) => Err(error),
                Kept::TooMany => return,
            };
            if !self.is_asked(Nature::Read) {
                return;
            }
            uncompared.0 = None;
            let sharded = guarded(collect(sharded)).await;
            let sharded = sharded.and_then(|rows| Answer::of(&rows));
            self.settle(connection, &subject, &plain, sharded).await;
        }))
    }

    /// Records what became of an end of a transaction on the sharded side.
    pub(super) fn ended(&self, statement: &Statement, result: Result<(), DbErr>) {
        if let Err(error) = result {
            let difference = Difference::of_error(error);
            self.recorder.compared(statement, Some(difference));
        }
    }

    /// Whether the sharded side is asked.
    fn is_asked(&self, nature: Nature) -> bool {
        let is_wanted = nature.only_reads() || self.writes == Writes::Both;
        is_wanted && !self.has_given_up()
    }

    /// Compares the answers and records the difference.
    async fn settle<C: ConnectionTrait, T: Reply>(
        &self,
        connection: &C,
        subject: &Subject,
        plain: &Result<T, DbErr>,
        sharded: Result<T, DbErr>,
    ) {
        if let (Err(error), Some(given_up)) = (&sharded, &self.given_up)
            && refusal(error).is_none()
        {
            given_up.store(true, Ordering::Relaxed);
        }
        let found = compare(connection, subject, plain, sharded).await;
        self.recorder.compared(subject.statement(), found);
    }
}

async fn collect<'a, S>(opening: Opening<'a, S>) -> Result<Vec<QueryResult>, DbErr>
where
    S: Stream<Item = Result<QueryResult, DbErr>> + Send + 'a,
{
    opening.await?.try_collect().await
}

/// Not even a panic of the sharded side reaches the application.
async fn guarded<T>(asked: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
    let outcome = AssertUnwindSafe(asked).catch_unwind().await;
    outcome.unwrap_or_else(|_| Err(panicked()))
}

/// What a panic of the sharded side is recorded as.
pub(super) fn panicked() -> DbErr {
    DbErr::Custom("it panicked; please report it with the message on standard error".into())
}

/// The rows of a stream that may be compared at its end.
enum Kept {
    Rows(Answer),
    Failed(DbErr),
    TooMany,
}

impl Kept {
    fn add(&mut self, row: &Result<QueryResult, DbErr>) {
        let Self::Rows(answer) = self else {
            return;
        };
        let failed = match row {
            Ok(_) if answer.rows.len() >= STREAMED_ROWS => {
                *self = Self::TooMany;
                return;
            }
            Ok(row) => answer.push(row).err(),
            Err(error) => Some(error.clone()),
        };
        if let Some(error) = failed {
            *self = Self::Failed(error);
        }
    }
}

/// Counts a stream as skipped if it is dropped before it could be compared.
struct Uncompared<'a>(Option<&'a Recorder>);

impl Drop for Uncompared<'_> {
    fn drop(&mut self) {
        if let Some(recorder) = self.0 {
            recorder.skipped();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_of_the_sharded_side_is_an_error() {
        let result: Result<(), DbErr> = guarded(async { panic!("on purpose") }).await;
        assert!(matches!(result, Err(DbErr::Custom(_))));
    }
}
