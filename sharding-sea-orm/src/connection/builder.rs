use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::{ConnectOptions, Database, DatabaseConnection, DbBackend};
use sharding_core::error::Mistake;
use sharding_core::key::KeyKind;
use sharding_core::topology::{RuleDraft, TableDraft, TopologyDraft};
use tokio::sync::Semaphore;

use super::ShardingConnection;
use crate::catalog;
use crate::dialect;
use crate::entity::{EntityTable, ShardedEntity};
use crate::error::ShardingError;
use crate::execute::{Cluster, Source};
use crate::shards::Shards;

/// The configuration of a [`ShardingConnection`]. Everything is checked by
/// [`ShardingBuilder::connect`], all mistakes are reported at once, and no database is touched
/// before that.
pub struct ShardingBuilder {
    sources: Vec<(String, Access)>,
    default_source: Option<String>,
    tables: Vec<(TableDraft, EntityTable)>,
    max_query_connections: Option<usize>,
    clock: Box<dyn Fn() -> DateTime<Utc> + Send + Sync>,
}

enum Access {
    Options(Box<ConnectOptions>),
    Connection(DatabaseConnection),
}

impl Default for ShardingBuilder {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            default_source: None,
            tables: Vec::new(),
            max_query_connections: None,
            clock: Box::new(Utc::now),
        }
    }
}

impl fmt::Debug for ShardingBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<_> = self.sources.iter().map(|(name, _)| name).collect();
        f.debug_struct("ShardingBuilder")
            .field("sources", &sources)
            .field("default_source", &self.default_source)
            .field("tables", &self.tables)
            .field("max_query_connections", &self.max_query_connections)
            .finish_non_exhaustive()
    }
}

impl ShardingBuilder {
    /// Adds a data source: a name of letters, digits, `_` and `-`, and a URL or SeaORM's options
    /// for its pool. All sources must be of one database system.
    ///
    /// SeaORM opens at most one connection to SQLite unless told otherwise; with more of them the
    /// tails of one file are read side by side.
    ///
    /// Drivers keep 100 prepared statements for each connection, and a statement over 13 tails is
    /// 13 of them. With many tails, raise that, for PostgreSQL and MySQL in the URL
    /// (`?statement-cache-capacity=1000`): MySQL's driver waits for some 40 ms whenever it has to
    /// drop one.
    #[must_use]
    pub fn source(mut self, name: impl Into<String>, options: impl Into<ConnectOptions>) -> Self {
        self.sources
            .push((name.into(), Access::Options(Box::new(options.into()))));
        self
    }

    /// Adds a data source that is connected already.
    #[must_use]
    pub fn source_connection(
        mut self,
        name: impl Into<String>,
        connection: DatabaseConnection,
    ) -> Self {
        self.sources
            .push((name.into(), Access::Connection(connection)));
        self
    }

    /// The data source of tables that are not sharded, and of sharded tables without a source
    /// rule: the first one unless named here.
    #[must_use]
    pub fn default_source(mut self, name: impl Into<String>) -> Self {
        self.default_source = Some(name.into());
        self
    }

    /// Adds a sharded entity.
    #[must_use]
    pub fn entity<E: ShardedEntity>(mut self) -> Self {
        self.tables
            .push((E::sharding().draft(), EntityTable::of::<E>()));
        self
    }

    /// How many statements one query runs at once in a data source: the available parallelism
    /// unless given here, and never more than the pool's size. At least 1.
    #[must_use]
    pub fn max_query_connections(mut self, count: usize) -> Self {
        self.max_query_connections = Some(count);
        self
    }

    /// The clock that decides which calendar tails exist: the system's unless given here. It is
    /// read once, while connecting.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        self.clock = Box::new(now);
        self
    }

    /// Checks the configuration, connects to every data source and reads its catalog.
    ///
    /// # Errors
    /// [`ShardingError::Config`] with every mistake, before any database is touched;
    /// [`ShardingError::Unreachable`] for the first source that does not answer.
    pub async fn connect(self) -> Result<ShardingConnection, ShardingError> {
        let mut mistakes = Vec::new();
        let backend = self.backend(&mut mistakes);
        let (drafts, entities) = self.tables.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
        let topology = TopologyDraft {
            sources: self.sources.iter().map(|(name, _)| name.clone()).collect(),
            default_source: self.default_source,
            tables: drafts
                .into_iter()
                .map(|draft| for_backend(draft, backend))
                .collect(),
            mistakes,
        }
        .build((self.clock)())?;
        let opened = self
            .sources
            .into_iter()
            .map(|(name, access)| open(name, access));
        let sources = futures_util::future::try_join_all(opened).await?;
        let connections: Vec<_> = sources
            .iter()
            .map(|source| source.connection.clone())
            .collect();
        let known = catalog::load(&topology, &connections).await?;
        let shards = Shards {
            backend: backend.unwrap_or(DbBackend::Sqlite),
            topology: Arc::new(topology),
            entities: Arc::new(entities),
            known,
        };
        let parallelism = || std::thread::available_parallelism().map_or(1, Into::into);
        let max_query_connections = self.max_query_connections.unwrap_or_else(parallelism);
        Ok(ShardingConnection::new(Cluster::new(
            shards,
            sources,
            max_query_connections,
        )))
    }

    /// The one database system of all sources.
    fn backend(&self, mistakes: &mut Vec<Mistake>) -> Option<DbBackend> {
        let mut first: Option<(&str, DbBackend)> = None;
        for (name, access) in &self.sources {
            let backend = match access {
                Access::Connection(connection) => connection.get_database_backend(),
                Access::Options(options) => match backend_of(options.get_url()) {
                    Ok(backend) => backend,
                    Err(why) => {
                        mistakes.push(Mistake::BadSourceUrl {
                            name: name.clone(),
                            why,
                        });
                        continue;
                    }
                },
            };
            match first {
                None => first = Some((name, backend)),
                Some((first, first_backend)) if first_backend != backend => {
                    mistakes.push(Mistake::MixedBackends {
                        name: name.clone(),
                        backend: format!("{backend:?}"),
                        first: first.to_owned(),
                        first_backend: format!("{first_backend:?}"),
                    });
                }
                Some(_) => {}
            }
        }
        first.map(|(_, backend)| backend)
    }
}

/// The database system that a URL is for, if its feature is enabled.
fn backend_of(url: &str) -> Result<DbBackend, String> {
    // SeaORM panics on a URL that cannot be parsed, and its error holds the URL.
    url::Url::parse(url).map_err(|error| format!("its URL cannot be parsed: {error}"))?;
    let enabled = [
        (
            DbBackend::Sqlite,
            "sqlx-sqlite",
            cfg!(feature = "sqlx-sqlite"),
        ),
        (
            DbBackend::Postgres,
            "sqlx-postgres",
            cfg!(feature = "sqlx-postgres"),
        ),
        (DbBackend::MySql, "sqlx-mysql", cfg!(feature = "sqlx-mysql")),
    ];
    match enabled
        .into_iter()
        .find(|(backend, _, _)| backend.is_prefix_of(url))
    {
        Some((backend, _, true)) => Ok(backend),
        Some((_, feature, false)) => Err(format!("its URL needs the feature `{feature}`")),
        None => Err("its URL begins with none of `sqlite:`, `postgres:`, `mysql:`".to_owned()),
    }
}

/// SQLite keeps decimals as floating point numbers, so different keys could become equal.
fn for_backend(mut draft: TableDraft, backend: Option<DbBackend>) -> TableDraft {
    let unusable = |rule: &mut RuleDraft| {
        if rule.kind == Ok(KeyKind::Decimal) {
            rule.kind = Err("a decimal, which SQLite keeps as a floating point number".to_owned());
        }
    };
    if backend == Some(DbBackend::Sqlite) {
        draft
            .source
            .iter_mut()
            .chain(&mut draft.table)
            .for_each(unusable);
    }
    draft
}

async fn open(name: String, access: Access) -> Result<Source, ShardingError> {
    /// What sqlx waits for a connection unless told otherwise.
    const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);

    let (connection, acquire_timeout) = match access {
        Access::Connection(connection) => (connection, None),
        Access::Options(options) => {
            let timeout = options.get_acquire_timeout();
            let connection = Database::connect(*options).await;
            let unreachable = |error| ShardingError::Unreachable {
                data_source: name.clone(),
                error,
            };
            (connection.map_err(unreachable)?, timeout)
        }
    };
    let size = dialect::pool_size(&connection).max(1);
    Ok(Source {
        name,
        size,
        acquire_timeout: acquire_timeout.unwrap_or(ACQUIRE_TIMEOUT),
        permits: Arc::new(Semaphore::new(size as usize)),
        connection,
    })
}
