use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use sea_orm::{ConnectOptions, DatabaseConnection, EntityTrait};
use sharding_core::error::Mistake;
use sharding_core::execute::BreakerRules;
use sharding_core::topology::{TableDraft, Topology};

use super::builder::links;
use super::source::{Access, check_limits, common_backend, limits_of, open};
use crate::catalog;
use crate::entity::{EntityRules, EntityTable, check_draft};
use crate::error::ShardingError;
use crate::execute::{Cluster, Limits, Source};
use crate::shards::Shards;
use crate::tables;

/// A change of data sources and rules, made by [`ShardingConnection::change`]. Nothing happens
/// before [`ShardingChange::apply`], and then everything at once: a statement sees the state before
/// or the state after.
///
/// A change is refused if a row that is there would not be found any more. Tails may be appended,
/// epochs added, values listed, and calendars extended; changing the count of a modulo moves rows,
/// which takes more than another rule.
///
/// [`ShardingConnection::change`]: crate::ShardingConnection::change
#[must_use = "nothing happens before `apply`"]
pub struct ShardingChange<'a> {
    cluster: &'a Cluster,
    sources: Vec<(String, Access)>,
    source_limits: Vec<(String, Limits)>,
    drain: Vec<String>,
    resume: Vec<String>,
    remove: Vec<String>,
    tables: Vec<(TableDraft, EntityTable)>,
    missing: Missing,
}

/// What is done about physical tables that the change needs and that are not there.
enum Missing {
    Refuse,
    Create,
}

impl<'a> ShardingChange<'a> {
    pub(super) fn new(cluster: &'a Cluster) -> Self {
        Self {
            cluster,
            sources: Vec::new(),
            source_limits: Vec::new(),
            drain: Vec::new(),
            resume: Vec::new(),
            remove: Vec::new(),
            tables: Vec::new(),
            missing: Missing::Refuse,
        }
    }

    /// Adds a data source, as when the connection was built.
    pub fn source(mut self, name: impl Into<String>, options: impl Into<ConnectOptions>) -> Self {
        let access = Access::Options(Box::new(options.into()));
        self.sources.push((name.into(), access));
        self
    }

    /// Adds a data source that is connected already.
    pub fn source_connection(
        mut self,
        name: impl Into<String>,
        connection: DatabaseConnection,
    ) -> Self {
        let access = Access::Connection(connection);
        self.sources.push((name.into(), access));
        self
    }

    /// What a statement may take of a data source that this change adds, unless it has limits of
    /// its own.
    pub fn source_limits(mut self, source: impl Into<String>, limits: Limits) -> Self {
        self.source_limits.push((source.into(), limits));
        self
    }

    /// Lets a data source get no new rows of sharded tables: an INSERT that would put one there is
    /// refused. Rows that are there are read, updated and deleted as ever.
    pub fn drain(mut self, source: impl Into<String>) -> Self {
        self.drain.push(source.into());
        self
    }

    /// Ends the draining of a data source.
    pub fn resume(mut self, source: impl Into<String>) -> Self {
        self.resume.push(source.into());
        self
    }

    /// Removes a data source that holds no table. Its pool is closed once no statement uses it.
    pub fn remove(mut self, source: impl Into<String>) -> Self {
        self.remove.push(source.into());
        self
    }

    /// Gives a sharded entity other rules, which leave every row where it is; or adds an entity.
    pub fn table<E: EntityTrait>(mut self, rules: EntityRules<E>) -> Self {
        self.tables.push((rules.draft(), EntityTable::of::<E>()));
        self
    }

    /// Creates the physical tables that are missing before the change takes place. Otherwise it
    /// is refused if some are.
    pub fn create_tables(mut self) -> Self {
        self.missing = Missing::Create;
        self
    }

    /// Makes the change. Changes of one connection are made one after the other.
    ///
    /// # Errors
    /// [`ShardingError::Config`] with every mistake, [`ShardingError::Unreachable`] for a new
    /// source that does not answer, [`ShardingError::MissingTable`] for a table that is not there;
    /// then nothing has changed.
    pub async fn apply(self) -> Result<(), ShardingError> {
        let _changing = self.cluster.changing.lock().await;
        let before = self.cluster.shards();
        let mut draft = (*before.draft).clone();
        let mut entities = (*before.entities).clone();
        let added: Vec<_> = self.sources.iter().map(|(name, _)| name.clone()).collect();
        check_limits(&self.source_limits, &added, &mut draft.mistakes);
        draft.sources.extend(added);
        let first = before
            .topology
            .sources()
            .next()
            .map(|(_, name)| (name, before.backend));
        common_backend(first, &self.sources, &mut draft.mistakes);
        draft
            .draining
            .retain(|name| !self.resume.contains(name) && !self.remove.contains(name));
        draft.draining.extend(self.drain);
        for (at, names) in [("remove", &self.remove), ("resume", &self.resume)] {
            let unknown = names.iter().filter(|name| !draft.sources.contains(name));
            let mistake = |name: &String| Mistake::NoSuchSource {
                at,
                name: name.clone(),
            };
            draft.mistakes.extend(unknown.map(mistake));
        }
        draft.sources.retain(|name| !self.remove.contains(name));
        for (mut table, entity) in self.tables {
            check_draft(
                &mut table,
                &entity,
                Some(before.backend),
                &mut draft.mistakes,
            );
            match draft.tables.iter().position(|own| own.name == table.name) {
                Some(at) => (draft.tables[at], entities[at]) = (table, entity),
                None => {
                    draft.tables.push(table);
                    entities.push(entity);
                }
            }
        }
        draft.links = links(&entities, &draft.tables);
        let topology = draft.clone().change(&before.topology, self.cluster.now())?;
        draft.freeze(&topology);

        let breaker = self.cluster.breaker;
        let limits = self.source_limits;
        let sources = with_opened(&before, &topology, self.sources, &limits, breaker).await?;
        let loaded = catalog::load(&topology, &sources).await?;
        let mut after = Shards {
            entities: Arc::new(entities),
            sources: Arc::new(sources),
            draft: Arc::new(draft),
            ..Shards::clone(&before)
        }
        .with(loaded);
        if matches!(self.missing, Missing::Create) {
            tables::create(&after).await?;
            let created = catalog::load(&after.topology, &after.sources).await?;
            after = after.with(created);
        }
        check_present(&after)?;
        let removed = removed(&before, &after);
        self.cluster.replace(after);
        for source in removed {
            source.retire().await?;
        }
        Ok(())
    }
}

/// The sources by their ids, the new ones opened.
async fn with_opened(
    before: &Shards,
    topology: &Topology,
    new: Vec<(String, Access)>,
    limits: &[(String, Limits)],
    breaker: BreakerRules,
) -> Result<Vec<Arc<Source>>, ShardingError> {
    let mut sources: Vec<Arc<Source>> = before.sources.to_vec();
    let opened = new.into_iter().map(|(name, access)| {
        let own = limits_of(limits, &name);
        open(name, access, own, breaker)
    });
    let mut opened = futures_util::future::try_join_all(opened).await?;
    opened.sort_by_key(|source| topology.source_id(&source.name));
    sources.extend(opened.into_iter().map(Arc::new));
    Ok(sources)
}

/// Running statements must not meet a table that is not there.
fn check_present(shards: &Shards) -> Result<(), ShardingError> {
    for (table, known) in shards.topology.tables().iter().zip(&shards.known) {
        if let Some(position) = known.first_missing(table) {
            let node = table.node(position);
            return Err(ShardingError::MissingTable {
                table: table.name().to_string(),
                physical: node.table.into_owned(),
                data_source: shards.topology.source(node.source).to_owned(),
            });
        }
    }
    Ok(())
}

fn removed(before: &Shards, after: &Shards) -> Vec<Arc<Source>> {
    let kept: HashSet<_> = after.topology.sources().map(|(id, _)| id).collect();
    let gone = before
        .topology
        .sources()
        .filter(|(id, _)| !kept.contains(id));
    gone.map(|(id, _)| Arc::clone(&before.sources[id.index()]))
        .collect()
}

impl fmt::Debug for ShardingChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<_> = self.sources.iter().map(|(name, _)| name).collect();
        f.debug_struct("ShardingChange")
            .field("sources", &sources)
            .field("drain", &self.drain)
            .field("remove", &self.remove)
            .field("tables", &self.tables)
            .finish_non_exhaustive()
    }
}
