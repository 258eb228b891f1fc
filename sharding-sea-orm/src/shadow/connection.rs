//! A connection to both sides, and its transactions.

use std::fmt;

use sea_orm::{
    DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, Statement, TransactionOptions,
    TransactionSession, TransactionTrait,
};

use super::observer::{Observer, Writes};
use super::report::{Recorder, ShadowReport};
use crate::connection::{ShardingConnection, ShardingTransaction};

/// A connection that answers from the plain database and asks the sharded connection the same.
///
/// It goes wherever a [`DatabaseConnection`] went. What the application gets is what the plain
/// database says, errors included; nothing that happens on the sharded side reaches it but the
/// time that it takes. In what the sides differ is in [`ShadowConnection::report`]. It is cheap to
/// clone; clones share the report.
///
/// - **Reads** are asked of both sides at the same time, and compared as
///   [`same_answers`](super::same_answers) does. Those that lock are asked of the plain side first.
/// - **Writes** are made on the plain side first, and on the sharded side if that went well. The
///   numbers of affected rows are compared, or the rows of `RETURNING`.
/// - **Transactions** begin and end on both sides, the plain one first. If a statement fails on
///   the sharded side otherwise than by a refusal, that side takes no further part and is rolled
///   back, which is recorded with the end of the transaction.
/// - **Streams** flow from the plain side. Their rows are kept, up to
///   [`STREAMED_ROWS`](super::STREAMED_ROWS), and compared when the stream has ended: before the
///   end is reported, the sharded side is asked.
///
/// A statement that runs beside a write may see it on one side and not on the other; such a
/// difference is none, and goes away when it is asked again.
#[derive(Clone, Debug)]
pub struct ShadowConnection {
    pub(super) plain: DatabaseConnection,
    pub(super) sharded: ShardingConnection,
    pub(super) observer: Observer,
}

impl ShadowConnection {
    /// A connection to both sides.
    ///
    /// Every write is made on both, so a table must not be the same on both: the sharded
    /// connection's unsharded tables must be in another database than the plain ones, also if both
    /// are on one server. If they are shared, use [`ShadowConnection::reads_only`].
    pub fn new(plain: DatabaseConnection, sharded: ShardingConnection) -> Self {
        Self {
            plain,
            sharded,
            observer: Observer::new(Recorder::default(), Writes::Both),
        }
    }

    /// Leaves writes to the plain side alone, if the sharded tables are filled in another way, or
    /// both sides share tables. Within a transaction, reads of the sharded side do not see what the
    /// plain side has written.
    #[must_use]
    pub fn reads_only(mut self) -> Self {
        self.observer.writes = Writes::PlainOnly;
        self
    }

    /// What was seen until now.
    pub fn report(&self) -> ShadowReport {
        self.observer.recorder.report()
    }

    /// Begins a new report, for all clones.
    pub fn reset(&self) {
        self.observer.recorder.reset();
    }

    /// The connection that answers.
    pub fn plain(&self) -> &DatabaseConnection {
        &self.plain
    }

    /// The connection that is asked beside.
    pub fn sharded(&self) -> &ShardingConnection {
        &self.sharded
    }

    /// The database system of the plain side.
    pub fn get_database_backend(&self) -> DbBackend {
        self.plain.get_database_backend()
    }

    pub(super) async fn transaction_with(
        &self,
        options: TransactionOptions,
    ) -> Result<ShadowTransaction, DbErr> {
        Ok(ShadowTransaction {
            plain: self.plain.begin_with_options(options).await?,
            sharded: self.sharded.transaction_with(options),
            observer: self.observer.of_transaction(),
        })
    }
}

/// A transaction on both sides. Without [`ShadowTransaction::commit`] both are rolled back when it
/// is dropped.
pub struct ShadowTransaction {
    pub(super) plain: DatabaseTransaction,
    pub(super) sharded: ShardingTransaction,
    pub(super) observer: Observer,
}

impl ShadowTransaction {
    /// Makes everything permanent on the plain side, and then on the sharded side.
    ///
    /// # Errors
    /// Errors of the plain side; the sharded side is rolled back then.
    pub async fn commit(self) -> Result<(), DbErr> {
        let Self {
            plain,
            sharded,
            observer,
        } = self;
        let statement = Statement::from_string(sharded.get_database_backend(), "COMMIT");
        let committed = plain.commit().await;
        let ended = match &committed {
            Ok(()) if observer.has_given_up() => {
                let undone = sharded.rollback().await;
                undone.and(Err(DbErr::Custom(GIVEN_UP.to_owned())))
            }
            Ok(()) => sharded.commit().await,
            Err(_) => sharded.rollback().await,
        };
        observer.ended(&statement, ended);
        committed
    }

    /// Undoes everything on both sides.
    ///
    /// # Errors
    /// Errors of the plain side.
    pub async fn rollback(self) -> Result<(), DbErr> {
        let statement = Statement::from_string(self.sharded.get_database_backend(), "ROLLBACK");
        let undone = self.plain.rollback().await;
        let ended = self.sharded.rollback().await;
        self.observer.ended(&statement, ended);
        undone
    }

    /// The database system of the plain side.
    pub fn get_database_backend(&self) -> DbBackend {
        use sea_orm::ConnectionTrait;

        self.plain.get_database_backend()
    }

    pub(super) async fn transaction_with(
        &self,
        options: TransactionOptions,
    ) -> Result<Self, DbErr> {
        Ok(Self {
            plain: self.plain.begin_with_options(options).await?,
            sharded: self.sharded.transaction_with(options),
            observer: self.observer.of_transaction(),
        })
    }
}

const GIVEN_UP: &str = "the transaction was rolled back, since a statement of it had failed there";

#[async_trait::async_trait]
impl TransactionSession for ShadowTransaction {
    async fn commit(self) -> Result<(), DbErr> {
        Self::commit(self).await
    }

    async fn rollback(self) -> Result<(), DbErr> {
        Self::rollback(self).await
    }
}

impl fmt::Debug for ShadowTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShadowTransaction").finish_non_exhaustive()
    }
}
