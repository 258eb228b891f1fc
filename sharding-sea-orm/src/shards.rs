//! Everything that is known while a statement is looked at: topology, entities, catalogs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sea_orm::DbBackend;
use sea_orm::sea_query::{DynIden, SchemaName, TableName as SqlName, TableRef};
use sharding_core::plan::{Clause, Refusal};
use sharding_core::topology::{Home, Node, SourceId, Table, TableName, Topology, TopologyDraft};

use crate::catalog::{Known, Loaded};
use crate::entity::EntityTable;
use crate::execute::Source;
use crate::visit::{Scan, raw};

/// The data sources, the tables and what is known of them. It is replaced as a whole when the
/// topology changes, when tails come to exist and when the catalogs are read again, so a statement
/// sees one state. Sources keep their ids in all of them.
#[derive(Clone, Debug)]
pub(crate) struct Shards {
    pub(crate) backend: DbBackend,
    pub(crate) topology: Arc<Topology>,
    /// One for each table of the topology, in its order.
    pub(crate) entities: Arc<Vec<EntityTable>>,
    /// One for each table of the topology, in its order.
    pub(crate) known: Vec<Arc<Known>>,
    /// The registered entities of tables that are not sharded.
    pub(crate) plain: Arc<Vec<PlainTable>>,
    /// What is known of the declared tables that are not sharded.
    pub(crate) plain_known: Arc<BTreeMap<TableName, Known>>,
    /// The data sources whose catalogs are read once a statement needs them.
    pub(crate) unread: Arc<BTreeSet<SourceId>>,
    /// By their ids, removed ones too.
    pub(crate) sources: Arc<Vec<Arc<Source>>>,
    /// What the topology was built from.
    pub(crate) draft: Arc<TopologyDraft>,
}

/// A registered entity of a broadcast or a single table.
#[derive(Clone, Debug)]
pub(crate) struct PlainTable {
    pub(crate) name: TableName,
    pub(crate) entity: EntityTable,
}

/// In which data source all tables can be read that a statement names beside a sharded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gathering {
    /// In every one.
    Anywhere,
    /// In this one only.
    At(SourceId),
    /// In none: they are in different ones.
    Torn,
}

impl Gathering {
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Anywhere, other) => other,
            (own, Self::Anywhere) => own,
            (Self::At(a), Self::At(b)) if a == b => self,
            _ => Self::Torn,
        }
    }
}

/// A sharded table with its entity and catalog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharded<'a> {
    /// The table's position in the topology.
    pub(crate) at: usize,
    pub(crate) table: &'a Arc<Table>,
    pub(crate) entity: &'a EntityTable,
    pub(crate) facts: &'a Known,
}

impl Shards {
    /// With what the catalogs say.
    pub(crate) fn with(self, loaded: Loaded) -> Self {
        Self {
            topology: loaded.topology,
            known: loaded.known,
            plain_known: loaded.plain,
            unread: loaded.unread,
            ..self
        }
    }

    /// What the catalogs say so far.
    pub(crate) fn loaded(&self) -> Loaded {
        Loaded {
            topology: Arc::clone(&self.topology),
            known: self.known.clone(),
            plain: Arc::clone(&self.plain_known),
            unread: Arc::clone(&self.unread),
        }
    }

    /// The sharded table that a statement names.
    pub(crate) fn find(&self, name: &SqlName) -> Option<Sharded<'_>> {
        let at = self.topology.position(&table_name(name)?)?;
        Some(self.at(at))
    }

    pub(crate) fn at(&self, position: usize) -> Sharded<'_> {
        Sharded {
            at: position,
            table: &self.topology.tables()[position],
            entity: &self.entities[position],
            facts: &self.known[position],
        }
    }

    /// A registered entity's table that is not sharded, and what is known of it.
    pub(crate) fn find_plain(&self, name: &SqlName) -> Option<(&EntityTable, &Known)> {
        let name = table_name(name)?;
        let plain = self.plain.iter().find(|plain| plain.name == name)?;
        Some((&plain.entity, self.plain_known.get(&name)?))
    }

    /// Where the tables are together that a statement names, in its tree or in text.
    pub(crate) fn gather(&self, scan: &Scan) -> Gathering {
        let named = scan.tables.iter().map(|name| self.gathering(name));
        let gathering = named.fold(Gathering::Anywhere, Gathering::and);
        let in_texts = scan
            .texts
            .iter()
            .flat_map(|text| self.homes_in(text, raw::first_table_read));
        in_texts.fold(gathering, Gathering::and)
    }

    /// Where the tables are together that SQL text names; the default source if it names none that
    /// is declared.
    pub(crate) fn gather_text(&self, text: &str) -> Gathering {
        let mut homes = self.homes_in(text, raw::first_table).peekable();
        if homes.peek().is_none() {
            return Gathering::At(self.topology.default_source());
        }
        homes.fold(Gathering::Anywhere, Gathering::and)
    }

    fn gathering(&self, name: &SqlName) -> Gathering {
        let home = table_name(name).and_then(|name| self.topology.home(&name));
        self.gathering_of(home)
    }

    fn gathering_of(&self, home: Option<Home>) -> Gathering {
        match home {
            Some(Home::Broadcast) => Gathering::Anywhere,
            Some(Home::Single(source)) => Gathering::At(source),
            _ => Gathering::At(self.topology.default_source()),
        }
    }

    fn homes_in<'s>(
        &'s self,
        text: &'s str,
        find: impl Fn(&str, &std::iter::Once<&'s str>) -> Option<usize> + 's,
    ) -> impl Iterator<Item = Gathering> + 's {
        let is_named = move |(name, _): &(&'s TableName, Home)| {
            find(text, &std::iter::once(&*name.table)).is_some()
        };
        let named = self.topology.plain().filter(is_named);
        named.map(|(_, home)| self.gathering_of(Some(home)))
    }

    /// The name of a table that writes would have to reach in several data sources, since all
    /// have a copy of it.
    pub(crate) fn spread_copy(&self, table: &TableRef) -> Option<String> {
        let TableRef::Table(name, _) = table else {
            return None;
        };
        let name = table_name(name)?;
        let is_spread = self.topology.home(&name) == Some(Home::Broadcast)
            && self.topology.sources().nth(1).is_some();
        is_spread.then(|| name.to_string())
    }

    /// A broadcast table that SQL text names, if there are several copies of it.
    pub(crate) fn spread_copy_in(&self, text: &str) -> Option<&TableName> {
        self.topology.sources().nth(1)?;
        let plain = self.topology.plain();
        let mut broadcast = plain.filter(|(_, home)| *home == Home::Broadcast);
        let is_named =
            |name: &TableName| raw::first_table(text, &std::iter::once(&*name.table)).is_some();
        broadcast
            .find(|(name, _)| is_named(name))
            .map(|(name, _)| name)
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

    /// The refusal of a statement because of a table, wherever that is.
    pub(crate) fn refusal_of(clause: Clause, table: String) -> Refusal {
        Refusal {
            clause,
            table,
            nodes: 0,
            sources: Vec::new(),
        }
    }

    /// The refusal of a statement that reaches these nodes.
    pub(crate) fn refusal(&self, clause: Clause, table: &Table, nodes: &[usize]) -> Refusal {
        self.refusal_of_all(clause, &[(table, nodes)])
    }

    /// The refusal of a statement that reaches these nodes of several tables.
    pub(crate) fn refusal_of_all(&self, clause: Clause, tables: &[(&Table, &[usize])]) -> Refusal {
        let places = |(table, nodes): &(&Table, &[usize])| -> Vec<SourceId> {
            nodes.iter().map(|&at| table.source(at)).collect()
        };
        let mut sources: Vec<SourceId> = tables.iter().flat_map(places).collect();
        sources.sort_unstable();
        sources.dedup();
        let names: Vec<String> = tables
            .iter()
            .map(|(table, _)| table.name().to_string())
            .collect();
        let name = |&id: &SourceId| self.topology.source(id).to_owned();
        Refusal {
            clause,
            table: names.join("`, `"),
            nodes: tables.iter().map(|(_, nodes)| nodes.len()).sum(),
            sources: sources.iter().map(name).collect(),
        }
    }
}

/// A name out of a statement as a table is declared; `None` if it names a database, which an
/// entity's table never does.
fn table_name(SqlName(schema, table): &SqlName) -> Option<TableName> {
    let schema = match schema {
        None => None,
        Some(SchemaName(None, schema)) => Some(schema.inner()),
        Some(SchemaName(Some(_), _)) => return None,
    };
    Some(TableName {
        schema,
        table: table.inner(),
    })
}

/// A node's physical table under the name by which the statement calls the logical one.
pub(crate) fn physical(table: &Table, node: &Node<'_>, alias: &DynIden) -> TableRef {
    TableRef::Table(physical_name(table, node), Some(alias.clone()))
}

/// A node's physical table, schema included.
pub(crate) fn physical_name(table: &Table, node: &Node<'_>) -> SqlName {
    SqlName(schema_name(table.name()), node.table.to_string().into())
}

/// A declared table's own name, for SQL.
pub(crate) fn sql_name(name: &TableName) -> SqlName {
    SqlName(schema_name(name), name.table.to_string().into())
}

fn schema_name(name: &TableName) -> Option<SchemaName> {
    let schema = name.schema.as_ref()?;
    Some(SchemaName(None, DynIden::from(schema.to_string())))
}
