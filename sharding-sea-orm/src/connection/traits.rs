//! SeaORM's traits, alike for the connection and its transactions.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use sea_orm::{
    AccessMode, ConnectionTrait, DbBackend, DbErr, ExecResult, IsolationLevel, QueryResult,
    Statement, StatementBuilder, StreamTrait, TransactionError, TransactionOptions,
    TransactionTrait,
};

use super::{ShardingConnection, ShardingTransaction};
use crate::execute::{RowStream, Session};
use crate::plan::Want;
use crate::statement::{Work, source_of_text};

macro_rules! connection_traits {
    ($connection:ty) => {
        #[async_trait::async_trait]
        impl ConnectionTrait for $connection {
            fn get_database_backend(&self) -> DbBackend {
                <$connection>::get_database_backend(self)
            }

            async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
                text(self.session(), statement)?
                    .execute(self.session())
                    .await
            }

            async fn execute<S: StatementBuilder>(
                &self,
                statement: &S,
            ) -> Result<ExecResult, DbErr> {
                work(self.session(), statement, Want::All)?
                    .execute(self.session())
                    .await
            }

            async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
                let shards = self.session().cluster().shards();
                let source = source_of_text(&shards, sql)?;
                self.session().execute_unprepared(source, sql).await
            }

            async fn query_one_raw(
                &self,
                statement: Statement,
            ) -> Result<Option<QueryResult>, DbErr> {
                text(self.session(), statement)?
                    .query_one(self.session())
                    .await
            }

            async fn query_one<S: StatementBuilder>(
                &self,
                statement: &S,
            ) -> Result<Option<QueryResult>, DbErr> {
                work(self.session(), statement, Want::One)?
                    .query_one(self.session())
                    .await
            }

            async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
                text(self.session(), statement)?
                    .query_all(self.session())
                    .await
            }

            async fn query_all<S: StatementBuilder>(
                &self,
                statement: &S,
            ) -> Result<Vec<QueryResult>, DbErr> {
                work(self.session(), statement, Want::All)?
                    .query_all(self.session())
                    .await
            }
        }

        impl StreamTrait for $connection {
            type Stream<'a> = RowStream<'a>;

            fn get_database_backend(&self) -> DbBackend {
                <$connection>::get_database_backend(self)
            }

            fn stream_raw<'a>(&'a self, statement: Statement) -> Streaming<'a> {
                let work = text(self.session(), statement);
                Box::pin(async move { work?.stream(self.session()).await })
            }

            fn stream<'a, S: StatementBuilder + Sync>(&'a self, statement: &S) -> Streaming<'a> {
                let session = self.session();
                let work = work(session, statement, session.streamed());
                Box::pin(async move { work?.stream(self.session()).await })
            }
        }

        #[async_trait::async_trait]
        impl TransactionTrait for $connection {
            type Transaction = ShardingTransaction;

            async fn begin(&self) -> Result<ShardingTransaction, DbErr> {
                self.begin_with_options(TransactionOptions::default()).await
            }

            async fn begin_with_config(
                &self,
                isolation_level: Option<IsolationLevel>,
                access_mode: Option<AccessMode>,
            ) -> Result<ShardingTransaction, DbErr> {
                self.begin_with_options(TransactionOptions {
                    isolation_level,
                    access_mode,
                    ..TransactionOptions::default()
                })
                .await
            }

            async fn begin_with_options(
                &self,
                options: TransactionOptions,
            ) -> Result<ShardingTransaction, DbErr> {
                Ok(self.transaction_with(options))
            }

            async fn transaction<F, T, E>(&self, callback: F) -> Result<T, TransactionError<E>>
            where
                F: for<'c> FnOnce(
                        &'c ShardingTransaction,
                    )
                        -> Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'c>>
                    + Send,
                T: Send,
                E: std::fmt::Display + std::fmt::Debug + Send,
            {
                self.transaction_with_config(callback, None, None).await
            }

            async fn transaction_with_config<F, T, E>(
                &self,
                callback: F,
                isolation_level: Option<IsolationLevel>,
                access_mode: Option<AccessMode>,
            ) -> Result<T, TransactionError<E>>
            where
                F: for<'c> FnOnce(
                        &'c ShardingTransaction,
                    )
                        -> Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'c>>
                    + Send,
                T: Send,
                E: std::fmt::Display + std::fmt::Debug + Send,
            {
                let transaction = self
                    .begin_with_config(isolation_level, access_mode)
                    .await
                    .map_err(TransactionError::Connection)?;
                let result = callback(&transaction)
                    .await
                    .map_err(TransactionError::Transaction);
                let ended = match &result {
                    Ok(_) => transaction.commit().await,
                    Err(_) => transaction.rollback().await,
                };
                ended.map_err(TransactionError::Connection)?;
                result
            }
        }
    };
}

connection_traits!(ShardingConnection);
connection_traits!(ShardingTransaction);

type Streaming<'a> = Pin<Box<dyn Future<Output = Result<RowStream<'a>, DbErr>> + 'a + Send>>;

fn work<S: StatementBuilder>(
    session: Session<'_>,
    statement: &S,
    want: Want,
) -> Result<Work, DbErr> {
    let work = Work::of(&session.cluster().shards(), statement, want)?;
    if let Some(max) = session.cluster().max_nodes(session.limits()) {
        work.check_nodes(max)?;
    }
    Ok(work)
}

fn text(session: Session<'_>, statement: Statement) -> Result<Work, DbErr> {
    Ok(Work::of_text(&session.cluster().shards(), statement)?)
}

impl ShardingConnection {
    pub(crate) fn transaction_with(&self, options: TransactionOptions) -> ShardingTransaction {
        ShardingTransaction::new(Arc::clone(&self.cluster), self.limits, options)
    }
}

impl ShardingTransaction {
    pub(crate) fn transaction_with(&self, options: TransactionOptions) -> Self {
        self.nested(options)
    }
}
