//! The connection that takes the place of SeaORM's, and its transactions.

mod builder;
mod change;
#[cfg(feature = "config")]
mod merge_config;
mod source;
mod traits;
mod transaction;

use std::sync::Arc;

use futures_util::FutureExt;
use sea_orm::{DatabaseConnection, DbBackend, DbErr, StatementBuilder, TransactionTrait};
use sharding_core::topology::Topology;

pub use builder::ShardingBuilder;
pub use change::ShardingChange;
pub(crate) use transaction::OpenTransaction;
pub use transaction::ShardingTransaction;

use crate::error::ShardingError;
use crate::execute::{Caller, Cluster, Limits, Session, SourceStatus};
use crate::explain::{Explain, Explanation};
use crate::plan::Want;
use crate::statement::Work;
use crate::tables;

/// A connection to several data sources that answers as if sharded tables were whole.
///
/// It implements SeaORM's connection traits, so it goes wherever a
/// [`DatabaseConnection`] went. Statements without a sharded table go to the default source as
/// they stand. It is cheap to clone; clones share pools.
#[derive(Clone, Debug)]
pub struct ShardingConnection {
    cluster: Arc<Cluster>,
    /// Those of the statements that come through this one.
    limits: Limits,
}

impl ShardingConnection {
    /// Begins the configuration of a connection.
    pub fn builder() -> ShardingBuilder {
        ShardingBuilder::default()
    }

    fn new(cluster: Cluster) -> Self {
        Self {
            cluster: Arc::new(cluster),
            limits: Limits::new(),
        }
    }

    fn session(&self) -> Session<'_> {
        Session::Pool(&self.cluster, Caller::new(self.limits))
    }

    /// The same connection with limits for the statements that come through it, for a single one
    /// as well as for many. What they do not say stays as it is. It shares everything else.
    ///
    /// ```
    /// # use sea_orm::{DbErr, EntityTrait, QueryOrder};
    /// # use sharding_sea_orm::{ConnectionMode, Limits, ShardingConnection};
    /// # async fn report<E: EntityTrait>(db: &ShardingConnection) -> Result<Vec<E::Model>, DbErr> {
    /// let patient = db.with_limits(Limits::new().connection_mode(ConnectionMode::MemoryStrictly));
    /// E::find().all(&patient).await
    /// # }
    /// ```
    #[must_use]
    pub fn with_limits(&self, limits: Limits) -> Self {
        Self {
            cluster: Arc::clone(&self.cluster),
            limits: limits.or(self.limits),
        }
    }

    /// What is going on in each data source.
    pub fn status(&self) -> Vec<SourceStatus> {
        let shards = self.cluster.shards();
        let sources = shards.topology.sources();
        sources
            .map(|(id, _)| shards.sources[id.index()].status())
            .collect()
    }

    /// Opens the connections of every data source that its pool may open, so that no statement has
    /// to wait for one to be opened.
    ///
    /// # Errors
    /// The first source that does not answer.
    pub async fn warm_up(&self) -> Result<(), ShardingError> {
        let shards = self.cluster.shards();
        let warm = shards.topology.sources().map(|(id, _)| {
            let source = &shards.sources[id.index()];
            async move {
                let begin = |on: DatabaseConnection| async move { on.begin().await }.boxed();
                let all = (0..source.size).map(|_| source.finished(None, begin));
                let opened = futures_util::future::try_join_all(all).await;
                opened.map_err(|error| ShardingError::Unreachable {
                    data_source: source.name.clone(),
                    error,
                })
            }
        });
        futures_util::future::try_join_all(warm).await?;
        Ok(())
    }

    /// Creates what is missing of the physical tables of all sharded entities, with their indexes
    /// and constraints, and the tables of registered broadcast and single entities. It may be
    /// repeated; after a new period has begun, it creates the tails that are due.
    ///
    /// # Errors
    /// If a foreign key leads out of reach, before anything is created; and errors of the
    /// databases.
    pub async fn create_tables(&self) -> Result<(), ShardingError> {
        tables::create(&self.cluster.shards()).await?;
        self.cluster.refresh().await?;
        Ok(())
    }

    /// Reads the catalogs of all data sources again. This is done while connecting and by
    /// [`ShardingConnection::create_tables`]; do it after tables were created or altered in
    /// another way. Until then text keys and text orders of new tables count as unknown, which makes
    /// answers slower, never wrong; but orders by a column whose collation has changed, or by an
    /// ENUM whose values have another order now, are merged as they were.
    ///
    /// # Errors
    /// Errors of the databases.
    pub async fn refresh(&self) -> Result<(), DbErr> {
        self.cluster.refresh().await
    }

    /// Begins a change of data sources and rules, which takes place under running statements.
    pub fn change(&self) -> ShardingChange<'_> {
        ShardingChange::new(&self.cluster)
    }

    /// How a statement would be carried out: its nodes, the reasons for them, the rung of the
    /// ladder, and the SQL for each node. No database is asked, so what depends on a collation of
    /// a source that is connected lazily is wide until a statement has needed that source.
    ///
    /// # Errors
    /// The refusal, if the statement would be refused.
    pub fn explain<S: Explain>(&self, statement: &S) -> Result<Explanation, ShardingError> {
        Explanation::of(&self.cluster.shards(), statement)
    }

    /// Plans a statement without running it, for the benchmarks; gives the count of jobs.
    #[doc(hidden)]
    pub fn plan<S: StatementBuilder>(&self, statement: &S) -> Result<usize, ShardingError> {
        let work = Work::of(&self.cluster.shards(), statement, Want::All)?;
        Ok(match work {
            Work::Read(read) => read.jobs.len(),
            Work::Write(write) => write.jobs.len(),
            Work::Pass(..) | Work::Unsure(_) => 1,
        })
    }

    /// The data sources and sharded tables.
    pub fn topology(&self) -> Arc<Topology> {
        Arc::clone(&self.cluster.shards().topology)
    }

    /// The plain connection of one data source, which knows nothing of sharding.
    pub fn source(&self, name: &str) -> Option<DatabaseConnection> {
        let shards = self.cluster.shards();
        let id = shards.topology.source_id(name)?;
        Some(shards.sources[id.index()].connection.clone())
    }

    /// The database system of the data sources.
    pub fn get_database_backend(&self) -> DbBackend {
        self.cluster.shards().backend
    }

    /// Checks that every data source answers.
    ///
    /// # Errors
    /// The first source that does not.
    pub async fn ping(&self) -> Result<(), ShardingError> {
        let shards = self.cluster.shards();
        for (id, _) in shards.topology.sources() {
            let source = &shards.sources[id.index()];
            let ping = |on: DatabaseConnection| async move { on.ping().await }.boxed();
            source
                .finished(None, ping)
                .await
                .map_err(|error| ShardingError::Unreachable {
                    data_source: source.name.clone(),
                    error,
                })?;
        }
        Ok(())
    }

    /// Closes the pools of all data sources, for all clones. Statements that run are waited for, as
    /// long as a statement would wait for a connection; none begins any more.
    ///
    /// # Errors
    /// Errors of the databases; the other pools are closed all the same.
    pub async fn close(self) -> Result<(), DbErr> {
        let shards = self.cluster.shards();
        let sources = shards.topology.sources();
        let retired = sources.map(|(id, _)| shards.sources[id.index()].retire());
        let retired = futures_util::future::join_all(retired).await;
        retired.into_iter().collect()
    }
}
