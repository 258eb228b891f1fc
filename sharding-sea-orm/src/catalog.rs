//! What the databases say about the physical tables: text orders, digits, which tables exist.
//!
//! Entities tell types, but not collations. A route or a merge that depends on them waits for what
//! the catalog says; as long as it says nothing, nothing is taken for proven.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use futures_util::FutureExt;
use sea_orm::{DatabaseConnection, DbBackend, DbErr};
use sharding_core::key::KeyKind;
use sharding_core::plan::{Proof, TextOrder};
use sharding_core::topology::{SourceId, Table, TableName, Topology};

use crate::dialect;
use crate::entity::EntityTable;
use crate::execute::{Hold, Source};

/// The columns of one data source's tables, by schema and table.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// The schema of tables that name none.
    pub(crate) default_schema: Option<String>,
    pub(crate) tables: BTreeMap<(Option<String>, String), HashMap<String, Column>>,
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
    /// Equal and ordered by this order, which takes some different texts for equal.
    #[cfg_attr(
        not(feature = "sqlx-sqlite"),
        allow(dead_code, reason = "only SQLite's own collations are so simple")
    )]
    Folded(TextOrder),
    /// Equal by bytes, ordered by this collation.
    #[cfg_attr(
        not(feature = "sqlx-postgres"),
        allow(
            dead_code,
            reason = "only PostgreSQL has deterministic collations of this kind"
        )
    )]
    Collated(Collation),
    /// Equal and ordered by this collation.
    #[cfg_attr(
        not(any(feature = "sqlx-postgres", feature = "sqlx-mysql")),
        allow(dead_code, reason = "SQLite's own collations need no database")
    )]
    Loose(Collation),
    /// One of these values, in this order: an ENUM.
    #[cfg_attr(
        not(any(feature = "sqlx-postgres", feature = "sqlx-mysql")),
        allow(dead_code, reason = "SQLite has none")
    )]
    Declared(Arc<[String]>),
    /// It is not text, or nothing is known of its order. The text says which.
    Unknown(String),
}

/// A collation of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Collation {
    /// Its name, as SQL writes it after COLLATE; `None` if it is that of the whole database.
    pub(crate) sql: Option<String>,
    /// What tells it from one of the same name in another database: its locale and version.
    pub(crate) version: String,
}

/// Where the ranks of texts come from that do not sort as their bytes do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ranking {
    /// The database is asked, under this collation.
    Asked(Collation),
    /// The values of an ENUM, in their order.
    Declared(Arc<[String]>),
}

impl fmt::Display for Collation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sql.as_deref().unwrap_or(&self.version))
    }
}

/// What is known of a sharded table: what is true of all its physical tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    columns: Option<HashMap<String, Column>>,
    /// The nodes whose physical tables are there, by their coordinates.
    seen: BTreeSet<(usize, usize)>,
    /// Those that a statement found missing and leaves out.
    absent: BTreeSet<(usize, usize)>,
    /// Whether some of the data sources have not said yet what is true of theirs. What depends on
    /// nodes that a statement does not reach, such as its route, cannot be proven then.
    is_partial: bool,
}

impl Known {
    /// The nodes of a route that are worth a statement: all but those that are left out.
    pub(crate) fn present(&self, table: &Table, mut nodes: Vec<usize>) -> Vec<usize> {
        if !self.absent.is_empty() {
            nodes.retain(|node| !self.absent.contains(&table.coordinates(*node)));
        }
        nodes
    }

    /// The nodes of a route whose tables may not have been made yet: of a table whose tails grow
    /// with time, those that were not there, and nothing after them either, while there was
    /// something before them. Any other table that is missing is a fault.
    pub(crate) fn unmade(&self, table: &Table, nodes: &[usize]) -> Vec<usize> {
        if table.until().is_none() {
            return Vec::new();
        }
        let is_last = |node: &usize| {
            let (source, tail) = table.coordinates(*node);
            let mut before = self.seen.range((source, 0)..(source, tail));
            let mut after = self.seen.range((source, tail)..(source + 1, 0));
            before.next().is_some() && after.next().is_none()
        };
        nodes.iter().copied().filter(is_last).collect()
    }

    /// The first node whose table should be there and is not: tails of a growing table may be made
    /// later.
    pub(crate) fn first_missing(&self, table: &Table) -> Option<usize> {
        if self.seen.len() == table.node_count() {
            return None;
        }
        let is_missing = |node: &usize| !self.seen.contains(&table.coordinates(*node));
        let missing: Vec<usize> = table.positions().filter(is_missing).collect();
        let unmade = self.unmade(table, &missing);
        missing.into_iter().find(|node| !unmade.contains(node))
    }

    /// Leaves nodes out of every route.
    pub(crate) fn leave_out(&mut self, nodes: &[(usize, usize)]) {
        self.absent.extend(nodes);
    }

    /// The physical table of a node is there, with these columns.
    pub(crate) fn see(&mut self, node: (usize, usize), columns: &HashMap<String, Column>) {
        if self.seen.insert(node) {
            self.merge(columns);
        }
    }

    /// Whether a text key compares by bytes, so that equal values have equal hashes.
    pub(crate) fn is_exact(&self, column: &str, kind: KeyKind) -> bool {
        let text = self.column(column).map(|column| &column.text);
        let is_exact = matches!(text, Some(Text::Bytes(_) | Text::Collated(_)));
        kind != KeyKind::Text || (is_exact && !self.is_partial)
    }

    /// Whether text of the column is ordered by its bytes, trailing spaces included.
    pub(crate) fn is_ordered_by_bytes(&self, column: &str) -> bool {
        let text = self.column(column).map(|column| &column.text);
        text == Some(&Text::Bytes(TextOrder::Bytes)) && !self.is_partial
    }

    /// The order of text in the column.
    pub(crate) fn text_order(&self, column: &str) -> Proof {
        match self.column(column).map(|column| &column.text) {
            Some(Text::Bytes(order) | Text::Folded(order)) => Proof::Proven(*order),
            Some(Text::Declared(_)) => Proof::Proven(TextOrder::Ranked),
            Some(Text::Collated(collation) | Text::Loose(collation)) => {
                Proof::Ranked(format!("is text under the collation {collation}"))
            }
            Some(Text::Unknown(what)) => {
                Proof::Unproven(format!("is text under the collation {what}"))
            }
            None => Proof::Unproven("is text under an unknown collation".into()),
        }
    }

    /// The ranking of a column whose text does not sort as its bytes do.
    pub(crate) fn ranking(&self, column: &str) -> Option<Ranking> {
        match &self.column(column)?.text {
            Text::Collated(collation) | Text::Loose(collation) => {
                Some(Ranking::Asked(collation.clone()))
            }
            Text::Declared(values) => Some(Ranking::Declared(Arc::clone(values))),
            _ => None,
        }
    }

    /// Whether the column is an ENUM, the same one in all physical tables.
    pub(crate) fn is_enum(&self, column: &str) -> bool {
        matches!(
            self.column(column).map(|column| &column.text),
            Some(Text::Declared(_))
        )
    }

    /// The columns that are ENUMs, the same ones in all physical tables.
    pub(crate) fn enums(&self) -> impl Iterator<Item = &str> {
        let columns = self.columns.iter().flatten();
        let enums = columns.filter(|(_, column)| matches!(column.text, Text::Declared(_)));
        enums.map(|(name, _)| name.as_str())
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
                column.text = Text::Unknown("that differs between the tails".into());
            }
            column.digits = match (column.digits, other.digits) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
    }
}

/// What the catalogs say of a topology: which may have more tails than its clock says.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) topology: Arc<Topology>,
    /// One for each table, in the topology's order.
    pub(crate) known: Vec<Arc<Known>>,
    /// What is known of the declared tables that are not sharded.
    pub(crate) plain: Arc<BTreeMap<TableName, Known>>,
    /// The data sources whose catalogs have not been read.
    pub(crate) unread: Arc<BTreeSet<SourceId>>,
}

/// Reads the catalogs of all data sources.
pub(crate) async fn load(topology: &Topology, sources: &[Arc<Source>]) -> Result<Loaded, DbErr> {
    load_but(BTreeSet::new(), topology, sources).await
}

/// Reads the catalogs of all data sources but some, which are left unread.
pub(crate) async fn load_but(
    unread: BTreeSet<SourceId>,
    topology: &Topology,
    sources: &[Arc<Source>],
) -> Result<Loaded, DbErr> {
    let mut loaded = Loaded {
        topology: Arc::new(topology.clone()),
        known: topology.tables().iter().map(|_| Arc::default()).collect(),
        plain: Arc::default(),
        unread: Arc::default(),
    };
    if topology.is_empty() {
        return Ok(loaded);
    }
    let schemas = &schemas(topology);
    let read = topology.sources().filter(|(id, _)| !unread.contains(id));
    let catalogs = read.map(|(id, _)| async move {
        let source = &sources[id.index()];
        Ok::<_, DbErr>((id, catalog_of(source, schemas.clone()).await?))
    });
    let catalogs = futures_util::future::try_join_all(catalogs).await?;
    loaded.unread = Arc::new(unread);
    Ok(loaded.with(&catalogs))
}

async fn catalog_of(source: &Source, schemas: Vec<String>) -> Result<Catalog, DbErr> {
    let permit = source.permit(source.limits, 1, Hold::OneSource).await?;
    let read = |connection: DatabaseConnection| {
        async move { dialect::catalog(&connection, &schemas).await }.boxed()
    };
    source.finished(Some(permit), read).await
}

impl Loaded {
    /// What is known once these catalogs are read, too.
    pub(crate) fn with(self, catalogs: &[(SourceId, Catalog)]) -> Self {
        let mut unread = Arc::unwrap_or_clone(self.unread);
        let mut longest = HashMap::new();
        for (source, catalog) in catalogs {
            unread.remove(source);
            for (at, table) in self.topology.tables().iter().enumerate() {
                let names = catalog.beginning_with(table);
                if let Some(last) = names.filter_map(|(name, _)| table.growing_tail(name)).max() {
                    let longest = longest.entry(at).or_insert(0);
                    *longest = (last + 1).max(*longest);
                }
            }
        }
        let topology = self.topology.reaching(&longest);
        let known = topology.tables().iter().zip(self.known);
        let known = known.map(|(table, known)| {
            let mut known = Arc::unwrap_or_clone(known);
            for (source, catalog) in catalogs {
                for (physical, columns) in catalog.beginning_with(table) {
                    if let Some(position) = table.position_of(*source, physical) {
                        known.see(table.coordinates(position), columns);
                    }
                }
            }
            known.is_partial = !unread.is_empty();
            Arc::new(known)
        });
        let mut plain = Arc::unwrap_or_clone(self.plain);
        for (name, _) in topology.plain() {
            let known = plain.entry(name.clone()).or_default();
            for (source, catalog) in catalogs {
                if let Some(columns) = catalog.named(name) {
                    known.see((source.index(), 0), columns);
                }
            }
            known.is_partial = !unread.is_empty();
        }
        Self {
            known: known.collect(),
            plain: Arc::new(plain),
            unread: Arc::new(unread),
            topology: Arc::new(topology),
        }
    }
}

/// The schemas that tables name.
pub(crate) fn schemas(topology: &Topology) -> Vec<String> {
    let sharded = topology.tables().iter().map(|table| table.name());
    let names = sharded.chain(topology.plain().map(|(name, _)| name));
    let schemas: BTreeSet<String> = names
        .filter_map(|name| name.schema.as_ref().map(ToString::to_string))
        .collect();
    schemas.into_iter().collect()
}

impl Catalog {
    /// The columns of a physical table; `None` if it is not there.
    pub(crate) fn columns(
        &self,
        table: &Table,
        physical: &str,
    ) -> Option<&HashMap<String, Column>> {
        self.tables.get(&(self.schema(table), physical.to_owned()))
    }

    /// The tables in the schema of a sharded one whose names begin as its physical tables' do.
    fn beginning_with<'c>(
        &'c self,
        table: &'c Table,
    ) -> impl Iterator<Item = (&'c str, &'c HashMap<String, Column>)> {
        let (schema, prefix) = (self.schema(table), table.prefix());
        let first = (schema.clone(), prefix.to_owned());
        let tables = self
            .tables
            .range(first..)
            .map(|((own, name), columns)| (own, &**name, columns));
        tables
            .take_while(move |(own, name, _)| **own == schema && name.starts_with(prefix))
            .map(|(_, name, columns)| (name, columns))
    }

    /// The columns of a table that is not sharded.
    fn named(&self, name: &TableName) -> Option<&HashMap<String, Column>> {
        self.tables
            .get(&(self.schema_of(name), name.table.to_string()))
    }

    fn schema(&self, table: &Table) -> Option<String> {
        self.schema_of(table.name())
    }

    fn schema_of(&self, name: &TableName) -> Option<String> {
        let schema = name.schema.as_ref().map(ToString::to_string);
        schema.or_else(|| self.default_schema.clone())
    }
}
