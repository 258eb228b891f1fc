use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use sea_orm::{DatabaseConnection, DbErr, RuntimeErr, sqlx};
use sharding_core::execute::{Admission, Breaker, BreakerRules, BreakerState};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Limits;
use super::finish::Finishing;
use super::meter::{Counted, HeldRows, Meter};
use super::observe::{self, Begun, Outcome, Rows, Span};
use crate::dialect;
use crate::error::ShardingError;

/// A data source and the right to use its connections.
///
/// A statement takes a permit for each connection that it will hold, all at once, so statements
/// that hold several never wait for each other in a circle within a source. One that holds
/// connections of several sources takes them source by source in the order of their ids, so there
/// is no circle between sources either; and it leaves some for those that need this source alone,
/// which must go on while another source makes it wait.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) connection: DatabaseConnection,
    pub(crate) size: u32,
    pub(crate) limits: Limits,
    permits: Arc<Semaphore>,
    /// What statements that hold connections of several sources may take together.
    spanning: Arc<Semaphore>,
    spanning_size: u32,
    breaker: Mutex<Breaker>,
    /// Whether the breaker is closed and nothing has failed lately, so that nobody has to ask it.
    calm: AtomicBool,
    meter: Arc<Meter>,
    /// Held by whoever reads the catalog, if it was not read while connecting.
    pub(super) meeting: tokio::sync::Mutex<()>,
}

/// The right to some connections of a source.
#[derive(Debug)]
pub(crate) struct Permit {
    own: OwnedSemaphorePermit,
    spanning: Option<Arc<OwnedSemaphorePermit>>,
}

/// What makes a call, as often as it is to be made.
type Call<'f, T> = &'f mut (dyn FnMut() -> BoxFuture<'static, Result<T, DbErr>> + Send + 'f);

/// Whether a statement holds connections of other sources, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold<'h> {
    OneSource,
    /// Those of these sources are held already.
    Several(&'h [(String, u32)]),
}

impl Source {
    pub(crate) fn new(
        name: String,
        connection: DatabaseConnection,
        limits: Limits,
        rules: BreakerRules,
    ) -> Self {
        let size = dialect::pool_size(&connection).max(1);
        // A quarter stays with those that need nothing else.
        let spanning_size = match size {
            1 => 1,
            size => size - (size / 4).max(1),
        };
        Self {
            name,
            connection,
            size,
            limits,
            permits: Arc::new(Semaphore::new(size as usize)),
            spanning: Arc::new(Semaphore::new(spanning_size as usize)),
            spanning_size,
            breaker: Mutex::new(Breaker::new(rules)),
            calm: AtomicBool::new(true),
            meter: Arc::default(),
            meeting: tokio::sync::Mutex::default(),
        }
    }

    /// Waits for the right to hold so many connections, which is given for all of them together.
    pub(crate) async fn permit(
        &self,
        limits: Limits,
        count: usize,
        hold: Hold<'_>,
    ) -> Result<Permit, DbErr> {
        let wanted = u32::try_from(count).unwrap_or(u32::MAX).clamp(1, self.size);
        if hold == Hold::OneSource
            && let Ok(own) = Arc::clone(&self.permits).try_acquire_many_owned(wanted)
        {
            return Ok(self.granted(own, None));
        }
        let _waiting = Counted::one(&self.meter.waiting);
        let acquire = async {
            let spanning = match hold {
                Hold::OneSource => None,
                Hold::Several(_) => {
                    let shared = wanted.min(self.spanning_size);
                    Some(
                        Arc::clone(&self.spanning)
                            .acquire_many_owned(shared)
                            .await?,
                    )
                }
            };
            let own = Arc::clone(&self.permits).acquire_many_owned(wanted).await?;
            Ok::<_, tokio::sync::AcquireError>(self.granted(own, spanning))
        };
        match tokio::time::timeout(acquire_timeout(limits), acquire).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(self.no_connection(wanted, hold).into()),
        }
    }

    /// Waits for the one connection of a transaction, as long as for one of the pool.
    pub(crate) async fn in_time<T>(
        &self,
        limits: Limits,
        connection: impl Future<Output = T>,
    ) -> Result<T, DbErr> {
        let waited = tokio::time::timeout(acquire_timeout(limits), connection).await;
        waited.map_err(|_| self.no_connection(1, Hold::OneSource).into())
    }

    fn no_connection(&self, wanted: u32, hold: Hold<'_>) -> ShardingError {
        ShardingError::NoConnection {
            data_source: self.name.clone(),
            wanted,
            free: self.permits.available_permits().try_into().unwrap_or(0),
            size: self.size,
            held: match hold {
                Hold::OneSource => Vec::new(),
                Hold::Several(held) => held.to_vec(),
            },
        }
    }

    fn granted(&self, own: OwnedSemaphorePermit, spanning: Option<OwnedSemaphorePermit>) -> Permit {
        let in_use = self.in_use() as usize;
        self.meter.most_in_use.fetch_max(in_use, Ordering::Relaxed);
        Permit {
            own,
            spanning: spanning.map(Arc::new),
        }
    }

    fn in_use(&self) -> u32 {
        let free = u32::try_from(self.permits.available_permits()).unwrap_or(u32::MAX);
        self.size.saturating_sub(free)
    }

    /// That the source is being left alone, without trying it.
    pub(crate) fn refuses(&self, caller: u64) -> Option<ShardingError> {
        if self.calm.load(Ordering::Relaxed) {
            return None;
        }
        let pause = self.breaker().refuses(Instant::now(), caller)?;
        Some(self.down(pause))
    }

    fn down(&self, pause: Duration) -> ShardingError {
        ShardingError::SourceDown {
            data_source: self.name.clone(),
            pause,
        }
    }

    /// Begins a statement, unless the source is being left alone.
    pub(crate) fn attempt(self: &Arc<Self>, caller: u64) -> Result<Attempt, ShardingError> {
        let admission = match self.calm.load(Ordering::Relaxed) {
            true => Admission::Regular,
            false => self
                .breaker()
                .admit(Instant::now(), caller)
                .map_err(|pause| self.down(pause))?,
        };
        let rows = self.meter.rows.load(Ordering::Relaxed);
        observe::held(&self.name, self.in_use(), rows);
        self.meter.statements.fetch_add(1, Ordering::Relaxed);
        self.meter.begun.fetch_add(1, Ordering::Relaxed);
        Ok(Attempt {
            source: Arc::clone(self),
            admission: Some(admission),
            begun: Begun::now(),
        })
    }

    /// What a call says, within the statement timeout, tried again if it may be.
    pub(crate) async fn call<T: Rows + Send + 'static>(
        self: &Arc<Self>,
        limits: Limits,
        caller: u64,
        mut permit: Permit,
        call: Call<'_, T>,
    ) -> Result<T, DbErr> {
        let backend = self.connection.get_database_backend();
        let mut left = limits.retry.map_or(0, |retry| retry.times);
        loop {
            let outcome = match self.attempt(caller) {
                Ok(attempt) => {
                    let mut running = Finishing::new(call(), Some(permit), backend);
                    let node = Span::node(&self.name);
                    let outcome = node.around(self.within(limits, &mut running)).await;
                    attempt.end(outcome.as_ref().err());
                    permit = match running.into_permit() {
                        Some(permit) => permit,
                        // It takes too long, and is not tried again.
                        None => return outcome,
                    };
                    outcome
                }
                Err(down) => Err(down.into()),
            };
            match (outcome, limits.retry) {
                (Err(error), Some(retry)) if left > 0 && may_pass(&error) => {
                    left -= 1;
                    tokio::time::sleep(retry.pause).await;
                }
                (outcome, _) => return outcome,
            }
        }
    }

    /// What a call gives that is no statement of a caller's, on a connection of the pool.
    pub(crate) async fn finished<T: Send + 'static>(
        &self,
        permit: Option<Permit>,
        call: impl FnOnce(DatabaseConnection) -> BoxFuture<'static, T>,
    ) -> T {
        let backend = self.connection.get_database_backend();
        Finishing::new(call(self.connection.clone()), permit, backend).await
    }

    /// What a future gives, or that it took too long.
    pub(crate) async fn within<T>(
        &self,
        limits: Limits,
        future: impl Future<Output = Result<T, DbErr>>,
    ) -> Result<T, DbErr> {
        let Some(timeout) = limits.statement_timeout else {
            return future.await;
        };
        match tokio::time::timeout(timeout, future).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ShardingError::Timeout {
                data_source: self.name.clone(),
                timeout,
            }
            .into()),
        }
    }

    /// Rows of this source that are held in memory: none so far.
    pub(crate) fn held_rows(&self) -> HeldRows {
        HeldRows::none(&self.meter)
    }

    /// Lets no statement begin any more, waits until no statement holds a connection, as long as
    /// one would wait, and closes the pool.
    pub(crate) async fn retire(&self) -> Result<(), DbErr> {
        let all = self
            .permit(self.limits, self.size as usize, Hold::OneSource)
            .await;
        self.permits.close();
        self.spanning.close();
        drop(all);
        self.connection.close_by_ref().await
    }

    /// What is going on.
    pub(crate) fn status(&self) -> SourceStatus {
        let meter = &self.meter;
        let (open, idle) = dialect::pool_state(&self.connection);
        SourceStatus {
            name: self.name.clone(),
            size: self.size,
            open,
            idle,
            in_use: self.in_use(),
            most_in_use: meter.most_in_use.load(Ordering::Relaxed),
            waiting: meter.waiting.load(Ordering::Relaxed),
            statements: meter.statements.load(Ordering::Relaxed),
            begun: meter.begun.load(Ordering::Relaxed),
            rows: meter.rows.load(Ordering::Relaxed),
            most_rows: meter.most_rows.load(Ordering::Relaxed),
            failures: meter.failures.load(Ordering::Relaxed),
            breaker: self.breaker().state(Instant::now()),
        }
    }

    /// Nothing panics while the lock is held, so a poisoned one still holds a whole value.
    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A data source at one moment: see [`ShardingConnection::status`].
///
/// [`ShardingConnection::status`]: crate::ShardingConnection::status
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceStatus {
    /// Its name.
    pub name: String,
    /// The most connections that its pool opens.
    pub size: u32,
    /// The connections that are open.
    pub open: u32,
    /// Those of them that nobody uses.
    pub idle: u32,
    /// The connections that statements and transactions hold, or have the right to.
    pub in_use: u32,
    /// The most that were in use at once.
    pub most_in_use: usize,
    /// How many statements wait for connections.
    pub waiting: usize,
    /// How many statements run, streams that are open included.
    pub statements: usize,
    /// How many statements have begun since the connection was made, transactions' own ones aside.
    pub begun: u64,
    /// How many rows are held to be merged: one for each open cursor, and those that are kept.
    pub rows: usize,
    /// The most rows that were held at once.
    pub most_rows: usize,
    /// How many statements have failed since the connection was made: because the source did not
    /// answer, not because it said no.
    pub failures: u64,
    /// Whether statements are let through.
    pub breaker: BreakerState,
}

/// A statement that was let through to a source. Dropped before its end, it was given up.
#[derive(Debug)]
pub(crate) struct Attempt {
    source: Arc<Source>,
    admission: Option<Admission>,
    begun: Begun,
}

impl Attempt {
    /// It ended, with this error if any. An answer of the database that says no is one, too.
    pub(crate) fn end(mut self, error: Option<&DbErr>) {
        let Some(admission) = self.admission.take() else {
            return;
        };
        let source = &self.source;
        let failed = error.is_some_and(is_no_answer);
        let outcome = match failed {
            true => Outcome::Failed,
            false => Outcome::Answered,
        };
        self.begun.end(&source.name, outcome);
        if failed {
            source.meter.failures.fetch_add(1, Ordering::Relaxed);
            let mut breaker = source.breaker();
            breaker.failed(admission, Instant::now());
            source.calm.store(false, Ordering::Relaxed);
        } else if !source.calm.load(Ordering::Relaxed) {
            let mut breaker = source.breaker();
            breaker.succeeded(admission);
            source.calm.store(breaker.is_calm(), Ordering::Relaxed);
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let meter = &self.source.meter;
        meter.statements.fetch_sub(1, Ordering::Relaxed);
        if let Some(admission) = self.admission {
            self.begun.end(&self.source.name, Outcome::GivenUp);
            self.source.breaker().abandoned(admission, Instant::now());
        }
        let rows = meter.rows.load(Ordering::Relaxed);
        observe::held(&self.source.name, self.source.in_use(), rows);
    }
}

impl Permit {
    /// One of the connections.
    pub(crate) fn split(&mut self) -> Option<Self> {
        Some(Self {
            own: self.own.split(1)?,
            spanning: self.spanning.clone(),
        })
    }
}

fn acquire_timeout(limits: Limits) -> Duration {
    /// What sqlx waits for a connection unless told otherwise.
    const DEFAULT: Duration = Duration::from_secs(30);

    limits.acquire_timeout.unwrap_or(DEFAULT)
}

/// Whether the data source did not answer at all, or not in time.
fn is_no_answer(error: &DbErr) -> bool {
    match ShardingError::of(error) {
        Some(ShardingError::Timeout { .. }) => true,
        Some(_) => false,
        None => matches!(error, DbErr::ConnectionAcquire(_)) || is_lost_connection(error),
    }
}

/// Whether a statement may be answered if it is tried again.
pub(super) fn may_pass(error: &DbErr) -> bool {
    let is_down = matches!(
        ShardingError::of(error),
        Some(ShardingError::SourceDown { .. })
    );
    is_down || is_lost_connection(error)
}

/// Whether a connection has failed, or could not be made.
fn is_lost_connection(error: &DbErr) -> bool {
    let (DbErr::Conn(RuntimeErr::SqlxError(error))
    | DbErr::Query(RuntimeErr::SqlxError(error))
    | DbErr::Exec(RuntimeErr::SqlxError(error))) = error
    else {
        return matches!(error, DbErr::Conn(_));
    };
    matches!(
        **error,
        sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::WorkerCrashed
    )
}
