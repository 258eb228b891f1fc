use std::sync::Arc;

use sea_orm::{DbErr, RuntimeErr, Statement};
use sharding_core::topology::{SourceId, Table};

use super::Cluster;
use crate::error::{NodeFailure, ShardingError};

/// A statement for one node.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) table: Arc<Table>,
    pub(crate) node: usize,
    /// The other nodes that the statement names, all of the same data source.
    pub(crate) others: Vec<(Arc<Table>, usize)>,
    pub(crate) statement: Statement,
}

impl Job {
    pub(crate) fn source(&self) -> SourceId {
        self.table.source(self.node)
    }

    /// The failure of this job, one of several.
    pub(crate) fn failure(&self, error: DbErr, cluster: &Cluster) -> NodeFailure {
        let node = self.table.node(self.node);
        NodeFailure {
            data_source: cluster.source(node.source).name.clone(),
            table: node.table.into_owned(),
            error,
        }
    }

    /// The failures in an error of a source: those of the nodes that it tells, or of this job.
    pub(crate) fn failures(&self, error: DbErr, cluster: &Cluster) -> Vec<NodeFailure> {
        match ShardingError::of(&error) {
            Some(ShardingError::NodesFailed { failures, .. }) => failures.clone(),
            _ => vec![self.failure(error, cluster)],
        }
    }

    /// An error of the node, with the name of the missing table if that is what it is.
    pub(crate) fn explain(&self, error: DbErr, cluster: &Cluster) -> DbErr {
        if !is_missing_table(&error) {
            return error;
        }
        let text = error.to_string();
        let first = std::iter::once((&self.table, self.node));
        let others = self.others.iter().map(|(table, node)| (table, *node));
        let mut nodes = first
            .chain(others)
            .map(|(table, node)| (table, table.node(node)));
        let Some((table, node)) = nodes.find(|(_, node)| names(&text, &node.table)) else {
            return error;
        };
        ShardingError::MissingTable {
            table: table.name().to_string(),
            physical: node.table.to_string(),
            data_source: cluster.source(node.source).name.clone(),
        }
        .into()
    }
}

/// SQLite says it in words only; PostgreSQL and MySQL have codes.
fn is_missing_table(error: &DbErr) -> bool {
    let (DbErr::Query(RuntimeErr::SqlxError(error)) | DbErr::Exec(RuntimeErr::SqlxError(error))) =
        error
    else {
        return false;
    };
    error.as_database_error().is_some_and(|error| {
        matches!(error.code().as_deref(), Some("42P01" | "42S02"))
            || error.message().contains("no such table")
    })
}

/// Whether a message has a name that is not a part of a longer one.
fn names(message: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    message.match_indices(name).any(|(at, _)| {
        let before = message[..at].chars().next_back();
        let after = message[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
