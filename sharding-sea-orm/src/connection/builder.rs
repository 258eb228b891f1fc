use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use sea_orm::{ConnectOptions, DatabaseConnection, DbBackend, EntityTrait};
#[cfg(feature = "config")]
use sharding_core::error::ConfigError;
use sharding_core::execute::BreakerRules;
use sharding_core::topology::{LinkDraft, TableDraft, TableName, TopologyDraft};

use super::ShardingConnection;
use super::source::{Access, check_limits, common_backend, limits_of, open};
use crate::catalog::{self, Loaded};
#[cfg(feature = "config")]
use crate::config::Config;
use crate::entity::{
    EntityGroup, EntityRelation, EntityRules, EntityTable, ShardedEntity, check_draft, table_name,
};
use crate::error::ShardingError;
use crate::execute::{Clock, Cluster, Limits};
use crate::shards::{PlainTable, Shards};

/// The configuration of a [`ShardingConnection`]. Everything is checked by
/// [`ShardingBuilder::connect`], all mistakes are reported at once, and no database is touched
/// before that.
pub struct ShardingBuilder {
    pub(super) sources: Vec<(String, Access)>,
    pub(super) draft: TopologyDraft,
    /// One for each table of the draft, in its order.
    pub(super) entities: Vec<EntityTable>,
    plain: Vec<PlainTable>,
    pub(super) limits: Limits,
    pub(super) source_limits: Vec<(String, Limits)>,
    pub(super) breaker: Option<BreakerRules>,
    clock: Clock,
    #[cfg(feature = "config")]
    config: Option<Config>,
}

impl Default for ShardingBuilder {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            draft: TopologyDraft::default(),
            entities: Vec::new(),
            plain: Vec::new(),
            limits: Limits::new(),
            source_limits: Vec::new(),
            breaker: None,
            clock: Box::new(Utc::now),
            #[cfg(feature = "config")]
            config: None,
        }
    }
}

impl fmt::Debug for ShardingBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<_> = self.sources.iter().map(|(name, _)| name).collect();
        f.debug_struct("ShardingBuilder")
            .field("sources", &sources)
            .field("draft", &self.draft)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl ShardingBuilder {
    /// Adds a data source: a name of letters, digits, `_` and `-`, and a URL or SeaORM's options
    /// for its pool. All sources must be of one database system.
    ///
    /// A source with the option `connect_lazy` is not asked while connecting, so it need not be
    /// there yet; its catalog is read by the first statement that needs it. Until then a text key
    /// does not narrow, since its collation there is not known, so such a statement needs it, too.
    /// (SeaORM itself opens SQLite's files in any case.)
    ///
    /// Connections to SQLite are not tried before a statement gets one (`test_before_acquire`): a
    /// database in memory would be lost with a statement that is given up meanwhile.
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
        let access = Access::Options(Box::new(options.into()));
        self.sources.push((name.into(), access));
        self
    }

    /// Adds a data source that is connected already.
    #[must_use]
    pub fn source_connection(
        mut self,
        name: impl Into<String>,
        connection: DatabaseConnection,
    ) -> Self {
        let access = Access::Connection(connection);
        self.sources.push((name.into(), access));
        self
    }

    /// The data source of tables that are not declared, and of sharded tables without a source
    /// rule: the first one unless named here.
    #[must_use]
    pub fn default_source(mut self, name: impl Into<String>) -> Self {
        self.draft.default_source = Some(name.into());
        self
    }

    /// Takes a configuration file: its data sources join those that were added here, its rules take
    /// the place of those in the code. An entity without rules in the code, `EntityRules::new()`,
    /// gets all of them from the file.
    #[cfg(feature = "config")]
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Adds a sharded entity with the rules of its derive.
    #[must_use]
    pub fn entity<E: ShardedEntity>(self) -> Self {
        self.table(E::sharding())
    }

    /// Adds a sharded entity with rules that are written here.
    #[must_use]
    pub fn table<E: EntityTrait>(mut self, rules: EntityRules<E>) -> Self {
        self.draft.tables.push(rules.draft());
        self.entities.push(EntityTable::of::<E>());
        self
    }

    /// Adds an entity whose table is present in full in every data source, so that it can be
    /// joined everywhere. It is read in any of them. Writes to it are refused as long as there are
    /// several: write to each copy on its plain connection.
    #[must_use]
    pub fn broadcast<E: EntityTrait>(mut self) -> Self {
        let name = self.plain::<E>();
        self.draft.broadcast.push(name);
        self
    }

    /// Adds an entity that is not sharded and lives in this data source. Entities that are not
    /// added live in the default one.
    #[must_use]
    pub fn single<E: EntityTrait>(mut self, source: impl Into<String>) -> Self {
        let name = self.plain::<E>();
        self.draft.single.push((name, source.into()));
        self
    }

    /// Declares that sharded entities, as a tuple of at least two, place rows with equal keys
    /// together. It is a mistake if their rules do not. Entities with alike rules are co-located
    /// without being declared, where a relation leads from key to key.
    #[must_use]
    pub fn co_located<G: EntityGroup>(mut self) -> Self {
        self.draft.co_located.push(G::names());
        self
    }

    /// A data source that gets no new rows from the beginning.
    #[must_use]
    pub fn draining(mut self, source: impl Into<String>) -> Self {
        self.draft.draining.push(source.into());
        self
    }

    /// How many connections of one data source a query uses: see
    /// [`Limits::max_query_connections`].
    #[must_use]
    pub fn max_query_connections(mut self, count: usize) -> Self {
        self.limits = self.limits.max_query_connections(count);
        self
    }

    /// What every statement may take, unless it or its data source has limits of its own.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits.or(self.limits);
        self
    }

    /// What a statement may take of this data source, unless it has limits of its own.
    #[must_use]
    pub fn source_limits(mut self, source: impl Into<String>, limits: Limits) -> Self {
        self.source_limits.push((source.into(), limits));
        self
    }

    /// When a data source that does not answer is left alone, and for how long: the default of
    /// [`BreakerRules`] unless given.
    #[must_use]
    pub fn breaker(mut self, rules: BreakerRules) -> Self {
        self.breaker = Some(rules);
        self
    }

    /// The clock that decides which calendar tails exist: the system's unless given here.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        self.clock = Box::new(now);
        self
    }

    /// Checks the configuration, connects to every data source and reads its catalog, lazy ones
    /// aside.
    ///
    /// # Errors
    /// [`ShardingError::Config`] with every mistake, before any database is touched;
    /// [`ShardingError::Unreachable`] for the first source that does not answer.
    pub async fn connect(mut self) -> Result<ShardingConnection, ShardingError> {
        self.draft.sources = self.sources.iter().map(|(name, _)| name.clone()).collect();
        #[cfg(feature = "config")]
        self.take_config()?;
        let mut draft = self.draft;
        let backend = common_backend(None, &self.sources, &mut draft.mistakes);
        check_limits(&self.source_limits, &draft.sources, &mut draft.mistakes);
        draft.links = links(&self.entities, &draft.tables);
        for (table, entity) in draft.tables.iter_mut().zip(&self.entities) {
            check_draft(table, entity, backend, &mut draft.mistakes);
        }
        let topology = draft.clone().build((self.clock)())?;
        draft.freeze(&topology);
        let breaker = self.breaker.unwrap_or_default();
        let lazy = self.sources.iter().filter(|(_, access)| access.is_lazy());
        let unread = lazy
            .filter_map(|(name, _)| topology.source_id(name))
            .collect();
        let opened = self.sources.into_iter().map(|(name, access)| {
            let limits = limits_of(&self.source_limits, &name);
            open(name, access, limits, breaker)
        });
        let sources = futures_util::future::try_join_all(opened).await?;
        let sources: Vec<_> = sources.into_iter().map(Arc::new).collect();
        let Loaded {
            topology,
            known,
            plain: plain_known,
            unread,
        } = catalog::load_but(unread, &topology, &sources).await?;
        let shards = Shards {
            backend: backend.unwrap_or(DbBackend::Sqlite),
            topology,
            entities: Arc::new(self.entities),
            known,
            plain: Arc::new(self.plain),
            plain_known,
            unread,
            sources: Arc::new(sources),
            draft: Arc::new(draft),
        };
        let cluster = Cluster::new(shards, self.clock, breaker, self.limits);
        Ok(ShardingConnection::new(cluster))
    }

    /// Merges the file into what was said in code.
    #[cfg(feature = "config")]
    fn take_config(&mut self) -> Result<(), ShardingError> {
        let Some(config) = self.config.take() else {
            return Ok(());
        };
        if !config.is_complete()
            && let Some(error) = ConfigError::new(config.mistakes().to_vec())
        {
            return Err(error.into());
        }
        super::merge_config::merge(&config, self);
        Ok(())
    }

    fn plain<E: EntityTrait>(&mut self) -> TableName {
        let name = table_name::<E>();
        self.plain.push(PlainTable {
            name: name.clone(),
            entity: EntityTable::of::<E>(),
        });
        name
    }
}

/// The relations between sharded tables.
pub(super) fn links(entities: &[EntityTable], tables: &[TableDraft]) -> Vec<LinkDraft> {
    let of_table = |(table, entity): (&TableDraft, &EntityTable)| -> Vec<LinkDraft> {
        let link = |relation: &EntityRelation| LinkDraft {
            from: (table.name.clone(), relation.from.clone()),
            to: (relation.target.clone(), relation.to.clone()),
        };
        entity.relations.iter().map(link).collect()
    };
    tables.iter().zip(entities).flat_map(of_table).collect()
}
