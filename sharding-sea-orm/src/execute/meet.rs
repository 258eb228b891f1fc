use std::collections::BTreeSet;

use futures_util::future::try_join_all;
use sea_orm::DbErr;
use sharding_core::topology::SourceId;

use super::Session;
use crate::error::ShardingError;

impl Session<'_> {
    /// Reads the catalogs of data sources that were not asked while connecting. What they say is
    /// remembered by all.
    pub(crate) async fn meet(self, sources: &BTreeSet<SourceId>) -> Result<(), DbErr> {
        let all = sources.iter().map(|&source| self.meet_one(source));
        try_join_all(all).await.map(drop)
    }

    async fn meet_one(self, id: SourceId) -> Result<(), DbErr> {
        let cluster = self.cluster();
        let source = cluster.source(id);
        let limits = cluster.limits(self.limits(), &source);
        // Others that need it at the same time wait until it is read, or try it themselves.
        let _turn = source.in_time(limits, source.meeting.lock()).await?;
        if !cluster.shards().unread.contains(&id) {
            return Ok(());
        }
        let session = match self {
            // Its one connection is that of another source, or it has none so far.
            Self::Transaction(own, caller) if own.source() != Some(id) => {
                Self::Pool(cluster, caller)
            }
            own => own,
        };
        let unreachable = |error| match ShardingError::of(&error) {
            Some(_) => error,
            None => ShardingError::Unreachable {
                data_source: source.name.clone(),
                error,
            }
            .into(),
        };
        let catalogs = [(id, session.catalog(id).await.map_err(unreachable)?)];
        cluster.learn_any(|shards| {
            let is_unread = shards.unread.contains(&id);
            is_unread.then(|| shards.clone().with(shards.loaded().with(&catalogs)))
        });
        Ok(())
    }
}
