//! SeaORM's traits, alike for the connection and its transactions.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

use sea_orm::{
    AccessMode, ConnectionTrait, DbBackend, DbErr, ExecResult, IsolationLevel, QueryResult,
    Statement, StatementBuilder, StreamTrait, TransactionError, TransactionOptions,
    TransactionTrait,
};

use super::connection::{ShadowConnection, ShadowTransaction};
use super::observer::{Opening, panicked};
use super::question::Subject;
use crate::execute::RowStream;

macro_rules! connection_traits {
    ($connection:ty) => {
        #[async_trait::async_trait]
        impl ConnectionTrait for $connection {
            fn get_database_backend(&self) -> DbBackend {
                <$connection>::get_database_backend(self)
            }

            async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
                let subject = Subject::of_text(&statement);
                let sharded = self.sharded.execute_raw(statement.clone());
                let plain = self.plain.execute_raw(statement);
                self.observer
                    .ask(&self.plain, &subject, plain, sharded)
                    .await
            }

            async fn execute<S: StatementBuilder>(
                &self,
                statement: &S,
            ) -> Result<ExecResult, DbErr> {
                let subject = Subject::of(statement, self.get_database_backend());
                let sharded = self.sharded.execute(statement);
                let plain = self.plain.execute(statement);
                self.observer
                    .ask(&self.plain, &subject, plain, sharded)
                    .await
            }

            async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
                let statement = Statement::from_string(self.get_database_backend(), sql);
                let subject = Subject::of_text(&statement);
                let sharded = self.sharded.execute_unprepared(sql);
                let plain = self.plain.execute_unprepared(sql);
                self.observer
                    .ask(&self.plain, &subject, plain, sharded)
                    .await
            }

            async fn query_one_raw(
                &self,
                statement: Statement,
            ) -> Result<Option<QueryResult>, DbErr> {
                let subject = Subject::of_text(&statement);
                let sharded = self.sharded.query_one_raw(statement.clone());
                let plain = self.plain.query_one_raw(statement);
                self.observer
                    .ask(&self.plain, &subject, plain, sharded)
                    .await
            }

            async fn query_one<S: StatementBuilder>(
                &self,
                statement: &S,
            ) -> Result<Option<QueryResult>, DbErr> {
                let subject = Subject::of(statement, self.get_database_backend());
                let sharded = self.sharded.query_one(statement);
                let plain = self.plain.query_one(statement);
                self.observer
                    .ask(&self.plain, &subject, plain, sharded)
                    .await
            }

            async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
                let subject = Subject::of_text(&statement);
                let sharded = self.sharded.query_all_raw(statement.clone());
                let plain = self.plain.query_all_raw(statement);
                self.observer
                    .ask(&self.plain, &subject, plain, sharded)
                    .await
            }

            async fn query_all<S: StatementBuilder>(
                &self,
                statement: &S,
            ) -> Result<Vec<QueryResult>, DbErr> {
                let subject = Subject::of(statement, self.get_database_backend());
                let sharded = self.sharded.query_all(statement);
                let plain = self.plain.query_all(statement);
                self.observer
                    .ask(&self.plain, &subject, plain, sharded)
                    .await
            }

            fn support_returning(&self) -> bool {
                self.plain.support_returning()
            }

            fn is_mock_connection(&self) -> bool {
                self.plain.is_mock_connection()
            }
        }

        impl StreamTrait for $connection {
            type Stream<'a> = RowStream<'a>;

            fn get_database_backend(&self) -> DbBackend {
                <$connection>::get_database_backend(self)
            }

            fn stream_raw<'a>(&'a self, statement: Statement) -> Opening<'a, RowStream<'a>> {
                let subject = Subject::of_text(&statement);
                let sharded = opening(|| self.sharded.stream_raw(statement.clone()));
                let plain = self.plain.stream_raw(statement);
                Box::pin(self.observer.stream(&self.plain, subject, plain, sharded))
            }

            fn stream<'a, S: StatementBuilder + Sync>(
                &'a self,
                statement: &S,
            ) -> Opening<'a, RowStream<'a>> {
                let subject = Subject::of(statement, <$connection>::get_database_backend(self));
                let sharded = opening(|| self.sharded.stream(statement));
                let plain = self.plain.stream(statement);
                Box::pin(self.observer.stream(&self.plain, subject, plain, sharded))
            }
        }

        #[async_trait::async_trait]
        impl TransactionTrait for $connection {
            type Transaction = ShadowTransaction;

            async fn begin(&self) -> Result<ShadowTransaction, DbErr> {
                self.transaction_with(TransactionOptions::default()).await
            }

            async fn begin_with_config(
                &self,
                isolation_level: Option<IsolationLevel>,
                access_mode: Option<AccessMode>,
            ) -> Result<ShadowTransaction, DbErr> {
                self.transaction_with(TransactionOptions {
                    isolation_level,
                    access_mode,
                    ..TransactionOptions::default()
                })
                .await
            }

            async fn begin_with_options(
                &self,
                options: TransactionOptions,
            ) -> Result<ShadowTransaction, DbErr> {
                self.transaction_with(options).await
            }

            async fn transaction<F, T, E>(&self, callback: F) -> Result<T, TransactionError<E>>
            where
                F: for<'c> FnOnce(
                        &'c ShadowTransaction,
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
                        &'c ShadowTransaction,
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

connection_traits!(ShadowConnection);
connection_traits!(ShadowTransaction);

/// The sharded side plans when a stream is asked for, before it can be waited for.
fn opening<'a>(open: impl FnOnce() -> Opening<'a, RowStream<'a>>) -> Opening<'a, RowStream<'a>> {
    catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|_| Box::pin(async { Err(panicked()) }))
}
