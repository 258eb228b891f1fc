//! Everything that is known while a statement is looked at: topology, entities, catalogs.

use std::sync::Arc;

use sea_orm::DbBackend;
use sea_orm::sea_query::{DynIden, SchemaName, TableName as SqlName, TableRef};
use sharding_core::plan::{Clause, Refusal};
use sharding_core::topology::{Node, SourceId, Table, TableName, Topology};

use crate::catalog::Known;
use crate::entity::EntityTable;
use crate::visit::{Scan, raw};

/// The sharded tables and what is known of them. It is replaced as a whole when the catalogs are
/// read again, so a statement sees one state.
#[derive(Debug)]
pub(crate) struct Shards {
    pub(crate) backend: DbBackend,
    pub(crate) topology: Arc<Topology>,
    /// One for each table of the topology, in its order.
    pub(crate) entities: Arc<Vec<EntityTable>>,
    /// One for each table of the topology, in its order.
    pub(crate) known: Vec<Known>,
}

/// A sharded table with its entity and catalog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharded<'a> {
    pub(crate) table: &'a Arc<Table>,
    pub(crate) entity: &'a EntityTable,
    pub(crate) facts: &'a Known,
}

impl Shards {
    /// The sharded table that a statement names.
    pub(crate) fn find(&self, name: &SqlName) -> Option<Sharded<'_>> {
        let SqlName(schema, table) = name;
        // A database's name in front of the schema never occurs in an entity's table.
        let schema = match schema {
            None => None,
            Some(SchemaName(None, schema)) => Some(schema.inner()),
            Some(SchemaName(Some(_), _)) => return None,
        };
        let at = self.topology.position(&TableName {
            schema,
            table: table.inner(),
        })?;
        Some(self.at(at))
    }

    pub(crate) fn at(&self, position: usize) -> Sharded<'_> {
        Sharded {
            table: &self.topology.tables()[position],
            entity: &self.entities[position],
            facts: &self.known[position],
        }
    }

    /// The first sharded table that was found somewhere in a statement, also in raw text, and what
    /// is to be said about that.
    pub(crate) fn first_named(&self, scan: &Scan) -> Option<(Sharded<'_>, Clause)> {
        let table = scan.tables.iter().find_map(|name| match self.find(name) {
            Some(sharded) => Some((sharded, Clause::NestedTable)),
            None => self
                .namesake(name)
                .map(|sharded| (sharded, Clause::Spelling)),
        });
        let in_text = |text: &String| {
            let position = raw::first_table_read(text, &self.names())?;
            Some((self.at(position), Clause::RawSql))
        };
        table.or_else(|| scan.texts.iter().find_map(in_text))
    }

    /// A sharded table that the name may mean, though it is not spelled as the entity does: the
    /// search path and the rules of case are the database's.
    fn namesake(&self, SqlName(_, table): &SqlName) -> Option<Sharded<'_>> {
        let table = table.inner();
        let position = self
            .names()
            .position(|name| name.eq_ignore_ascii_case(&table))?;
        Some(self.at(position))
    }

    /// The first sharded table that SQL text names.
    pub(crate) fn in_text(&self, text: &str) -> Option<Sharded<'_>> {
        raw::first_table(text, &self.names()).map(|position| self.at(position))
    }

    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.topology
            .tables()
            .iter()
            .map(|table| &*table.name().table)
    }

    /// The refusal of a statement that reaches these nodes.
    pub(crate) fn refusal(&self, clause: Clause, table: &Table, nodes: &[usize]) -> Refusal {
        let mut sources: Vec<SourceId> = nodes.iter().map(|&at| table.node(at).source).collect();
        sources.dedup();
        Refusal {
            clause,
            table: table.name().to_string(),
            nodes: nodes.len(),
            sources: sources
                .iter()
                .map(|&id| self.topology.source(id).to_owned())
                .collect(),
        }
    }
}

/// A node's physical table under the name by which the statement calls the logical one.
pub(crate) fn physical(table: &Table, node: Node<'_>, alias: &DynIden) -> TableRef {
    TableRef::Table(physical_name(table, node), Some(alias.clone()))
}

/// A node's physical table, schema included.
pub(crate) fn physical_name(table: &Table, node: Node<'_>) -> SqlName {
    let schema = table
        .name()
        .schema
        .as_ref()
        .map(|schema| schema.to_string().into());
    SqlName(
        schema.map(|schema: DynIden| SchemaName(None, schema)),
        node.table.to_owned().into(),
    )
}
