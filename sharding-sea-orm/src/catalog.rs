//! What the databases say about the physical tables: text orders, digits, which tables exist.
//!
//! Entities tell types, but not collations. A route or a merge that depends on them waits for what
//! the catalog says; as long as it says nothing, nothing is taken for proven.

use std::collections::HashMap;

use sea_orm::{DatabaseConnection, DbBackend, DbErr};
use sharding_core::key::KeyKind;
use sharding_core::plan::{Proof, TextOrder};
use sharding_core::topology::{Table, Topology};

use crate::dialect;
use crate::entity::EntityTable;

/// The columns of one data source's tables, by schema and table.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// The schema of tables that name none.
    pub(crate) default_schema: Option<String>,
    pub(crate) tables: HashMap<(Option<String>, String), HashMap<String, Column>>,
}

/// What a catalog says about a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// How text of the column compares; meaningless for other types.
    pub(crate) text: Text,
    /// The digits after the point that the column keeps; `None` if all that the driver sends.
    pub(crate) digits: Option<u32>,
}

/// How text of a column compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// Equal and ordered by bytes.
    Bytes(TextOrder),
    /// Equal by bytes, ordered by this collation.
    #[cfg_attr(
        not(feature = "sqlx-postgres"),
        allow(
            dead_code,
            reason = "only PostgreSQL has deterministic collations of this kind"
        )
    )]
    Collated(String),
    /// Equal and ordered by this collation.
    Loose(String),
}

/// What is known of a sharded table: what is true of all its physical tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    columns: Option<HashMap<String, Column>>,
}

impl Known {
    /// Whether a text key compares by bytes, so that equal values have equal hashes.
    pub(crate) fn is_exact(&self, column: &str, kind: KeyKind) -> bool {
        kind != KeyKind::Text
            || matches!(
                self.column(column),
                Some(Column {
                    text: Text::Bytes(_) | Text::Collated(_),
                    ..
                })
            )
    }

    /// The order of text in the column.
    pub(crate) fn text_order(&self, column: &str) -> Proof {
        match self.column(column).map(|column| &column.text) {
            Some(Text::Bytes(order)) => Proof::Proven(*order),
            Some(Text::Collated(collation) | Text::Loose(collation)) => {
                Proof::Unproven(format!("is text under the collation `{collation}`"))
            }
            None => Proof::Unproven("is text under an unknown collation".into()),
        }
    }

    /// The digits after the point that the column keeps; `None` if all that the driver sends.
    pub(crate) fn digits(&self, column: &str, backend: DbBackend) -> Option<u32> {
        match self.column(column) {
            Some(column) => column.digits,
            // MySQL keeps none unless it is told to.
            None if backend == DbBackend::MySql => Some(0),
            None => None,
        }
    }

    /// Whether the physical tables have these columns and no others, as far as is known.
    pub(crate) fn has_only(&self, entity: &EntityTable) -> bool {
        self.columns.as_ref().is_none_or(|columns| {
            columns.len() == entity.columns.len()
                && columns.keys().all(|name| entity.column(name).is_some())
        })
    }

    fn column(&self, name: &str) -> Option<&Column> {
        self.columns.as_ref()?.get(name)
    }

    fn merge(&mut self, columns: &HashMap<String, Column>) {
        let Some(known) = &mut self.columns else {
            self.columns = Some(columns.clone());
            return;
        };
        known.retain(|name, _| columns.contains_key(name));
        for (name, column) in known {
            let other = &columns[name];
            if column.text != other.text {
                column.text = Text::Loose("that differs between the tails".into());
            }
            column.digits = match (column.digits, other.digits) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
    }
}

/// Reads the catalogs of all data sources.
pub(crate) async fn load(
    topology: &Topology,
    connections: &[DatabaseConnection],
) -> Result<Vec<Known>, DbErr> {
    let mut known = vec![Known::default(); topology.tables().len()];
    if topology.is_empty() {
        return Ok(known);
    }
    let catalogs = connections.iter().map(dialect::catalog);
    let catalogs = futures_util::future::try_join_all(catalogs).await?;
    for (table, known) in topology.tables().iter().zip(&mut known) {
        for position in 0..table.node_count() {
            let node = table.node(position);
            let columns = catalogs[node.source.index()].columns(table, node.table);
            if let Some(columns) = columns {
                known.merge(columns);
            }
        }
    }
    Ok(known)
}

impl Catalog {
    fn columns(&self, table: &Table, physical: &str) -> Option<&HashMap<String, Column>> {
        let schema = table.name().schema.as_ref().map(ToString::to_string);
        let schema = schema.or_else(|| self.default_schema.clone());
        self.tables.get(&(schema, physical.to_owned()))
    }
}
