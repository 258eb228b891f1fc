//! Statements that are given up, and are brought to their end all the same.
//!
//! sqlx's driver for MySQL does not survive a future that is dropped while it waits for an answer:
//! the connection may wait for ever for what has been read already, and the pool with it. So what
//! has begun there is carried on in the background, for a while, and then its connection is as
//! clean as any. The other drivers need no such help.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use sea_orm::{DbBackend, DbErr};

use super::Permit;
use super::source::Attempt;

/// For so long.
const GRACE: Duration = Duration::from_secs(5);

/// A call, with the right to its connection unless it has that by itself.
pub(crate) struct Finishing<T: Send + 'static> {
    call: Option<BoxFuture<'static, T>>,
    permit: Option<Permit>,
    backend: DbBackend,
}

impl<T: Send + 'static> Finishing<T> {
    pub(crate) fn new(
        call: BoxFuture<'static, T>,
        permit: Option<Permit>,
        backend: DbBackend,
    ) -> Self {
        Self {
            call: Some(call),
            permit,
            backend,
        }
    }

    /// The right to the connection, once the call has ended.
    pub(crate) fn into_permit(mut self) -> Option<Permit> {
        match self.call {
            None => self.permit.take(),
            Some(_) => None,
        }
    }
}

impl<T: Send + 'static> Future for Finishing<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(call) = &mut self.call else {
            return Poll::Pending;
        };
        let outcome = call.as_mut().poll(context);
        if outcome.is_ready() {
            self.call = None;
        }
        outcome
    }
}

impl<T: Send + 'static> Drop for Finishing<T> {
    fn drop(&mut self) {
        if let (Some(call), DbBackend::MySql) = (self.call.take(), self.backend) {
            let permit = self.permit.take();
            carry_on(async move {
                let _permit = permit;
                call.await;
            });
        }
    }
}

/// Rows of a connection, which they hold until their end, and the attempt that they belong to: once
/// nobody waits for them any more, they say nothing about their source.
pub(super) struct FinishingRows<T: Send + 'static> {
    rows: Option<BoxStream<'static, T>>,
    backend: DbBackend,
    attempt: SharedAttempt,
}

/// An attempt that has begun and not ended, if there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedAttempt(Arc<Mutex<Option<Attempt>>>);

impl SharedAttempt {
    pub(super) fn begin(&self, attempt: Attempt) {
        *self.lock() = Some(attempt);
    }

    pub(super) fn end(&self, error: Option<&DbErr>) {
        let attempt = self.lock().take();
        if let Some(attempt) = attempt {
            attempt.end(error);
        }
    }

    /// Nothing panics while the lock is held, so a poisoned one still holds a whole value.
    fn lock(&self) -> MutexGuard<'_, Option<Attempt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> FinishingRows<T> {
    pub(super) fn new(
        rows: BoxStream<'static, T>,
        backend: DbBackend,
        attempt: SharedAttempt,
    ) -> Self {
        Self {
            rows: Some(rows),
            backend,
            attempt,
        }
    }
}

impl<T: Send + 'static> Stream for FinishingRows<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(rows) = &mut self.rows else {
            return Poll::Ready(None);
        };
        let row = rows.as_mut().poll_next(context);
        if matches!(row, Poll::Ready(None)) {
            self.rows = None;
        }
        row
    }
}

impl<T: Send + 'static> Drop for FinishingRows<T> {
    fn drop(&mut self) {
        drop(self.attempt.lock().take());
        if let (Some(mut rows), DbBackend::MySql) = (self.rows.take(), self.backend) {
            carry_on(async move { while rows.next().await.is_some() {} });
        }
    }
}

fn carry_on(rest: impl Future<Output = ()> + Send + 'static) {
    // Without a runtime there is nobody to wait for it.
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        drop(runtime.spawn(tokio::time::timeout(GRACE, rest)));
    }
}
