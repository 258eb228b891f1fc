//! The physical tables of sharded entities.

use std::borrow::Cow;

use futures_util::FutureExt;
use sea_orm::sea_query::{
    ColumnDef, ForeignKeyCreateStatement, IndexCreateStatement, TableCreateStatement,
    TableName as SqlName, TableRef,
};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, EntityTrait, Iterable, Schema, Statement,
};
use sea_orm::{RelationTrait, sea_query::extension::postgres::TypeCreateStatement};
use sharding_core::topology::{Home, SourceId};

use crate::error::ShardingError;
use crate::shards::{Gathering, PlainTable, Shards, physical_name, sql_name};
use crate::visit::Scan;

/// How an entity's table is defined, with its logical name.
#[derive(Debug)]
pub(crate) struct Definition {
    table: TableCreateStatement,
    indexes: Vec<IndexCreateStatement>,
    foreign_keys: Vec<ForeignKeyCreateStatement>,
    enums: Vec<TypeCreateStatement>,
}

impl Definition {
    pub(crate) fn of<E: EntityTrait>(backend: DbBackend) -> Self {
        let schema = Schema::new(backend);
        let foreign_keys = E::Relation::iter()
            .map(|relation| relation.def())
            .filter(|relation| !relation.is_owner && !relation.skip_fk)
            .map(Into::into)
            .collect();
        Self {
            table: schema.create_table_from_entity(E::default()),
            indexes: schema.create_index_from_entity(E::default()),
            foreign_keys,
            enums: schema.create_enum_from_entity(E::default()),
        }
    }

    /// The columns of every unique key but the primary one.
    pub(crate) fn unique_keys(&self) -> Vec<Vec<String>> {
        let columns = self.table.get_columns().iter();
        let single = columns.filter(|column| column.get_column_spec().unique);
        let single = single.map(|column| vec![column.get_column_name()]);
        let several = self.indexes.iter().filter(|index| index.is_unique_key());
        single
            .chain(several.map(|index| index.get_index_spec().get_column_names()))
            .collect()
    }

    /// The statements that create a table, each of which may be repeated. Indexes and constraints
    /// are named after the tail, since most databases want their names unique.
    pub(crate) fn statements(
        &self,
        place: &Place<'_>,
        shards: &Shards,
    ) -> Result<Vec<Statement>, ShardingError> {
        let backend = shards.backend;
        let Place { name, tail, .. } = place;
        let mut create = TableCreateStatement::new();
        create.table(name.clone()).if_not_exists();
        if let Some(comment) = self.table.get_comment() {
            create.comment(comment);
        }
        for column in self.table.get_columns() {
            // Tails that numbered their rows each on its own would repeat the numbers of others.
            if tail.is_some() {
                create.col(without_auto_increment(column));
            } else {
                create.col(column.clone());
            }
        }
        for key in self.table.get_indexes() {
            let mut key = key.clone();
            if let Some(name) = key.get_index_spec().get_name().map(str::to_owned) {
                key.name(tail_name(&name, tail.as_deref()));
            }
            create.primary_key(&mut key);
        }
        for key in &self.foreign_keys {
            create.foreign_key(&mut foreign_key(key, place, shards)?);
        }
        let mut indexes: Vec<IndexCreateStatement> = self
            .indexes
            .iter()
            .map(|index| tail_index(index, tail.as_deref()))
            .collect();
        let mut statements = Vec::with_capacity(1 + indexes.len());
        if backend == DbBackend::MySql {
            // MySQL has no CREATE INDEX IF NOT EXISTS, but takes indexes within the table.
            for index in &mut indexes {
                create.index(index);
            }
            statements.push(backend.build(&create));
        } else {
            statements.push(backend.build(&create));
            for index in &mut indexes {
                index
                    .table(TableRef::Table(index_table(name, backend), None))
                    .if_not_exists();
                statements.push(backend.build(index));
            }
        }
        Ok(statements)
    }
}

/// A table that is to be created.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    source: SourceId,
    name: SqlName,
    /// The tail of a sharded table, which may be empty.
    tail: Option<Cow<'a, str>>,
}

fn foreign_key(
    key: &ForeignKeyCreateStatement,
    place: &Place<'_>,
    shards: &Shards,
) -> Result<ForeignKeyCreateStatement, ShardingError> {
    let spec = key.get_foreign_key();
    if let Some(TableRef::Table(target, _)) = spec.get_ref_table() {
        let refuse = |why| {
            let (table, target) = (place.name.1.to_string(), target.1.to_string());
            Err(ShardingError::ForeignKey { table, target, why })
        };
        let named = Scan {
            tables: vec![target.clone()],
            ..Scan::default()
        };
        if shards.find(target).is_some() {
            return refuse("its target is sharded; give the relation `skip_fk`");
        }
        if !matches!(shards.gather(&named), Gathering::Anywhere)
            && shards.gather(&named) != Gathering::At(place.source)
        {
            return refuse("its target is in another data source; give the relation `skip_fk`");
        }
    }
    let mut key = key.clone();
    key.from_tbl(place.name.clone());
    if let Some(name) = spec.get_name() {
        key.name(tail_name(name, place.tail.as_deref()));
    }
    Ok(key)
}

/// Creates what is missing of the tables of all nodes, and of registered tables that are not
/// sharded.
pub(crate) async fn create(shards: &Shards) -> Result<(), ShardingError> {
    // Everything is worked out before the first table is created.
    let mut statements: Vec<(SourceId, Statement)> = Vec::new();
    let mut enums: Vec<(SourceId, TypeCreateStatement)> = Vec::new();
    let mut add = |definition: &Definition, place: &Place<'_>| {
        let created = definition.statements(place, shards)?;
        statements.extend(
            created
                .into_iter()
                .map(|statement| (place.source, statement)),
        );
        enums.extend(
            definition
                .enums
                .iter()
                .map(|name| (place.source, name.clone())),
        );
        Ok::<_, ShardingError>(())
    };
    for plain in shards.plain.iter() {
        let definition = (plain.entity.definition)(shards.backend);
        for source in homes(plain, shards) {
            let place = Place {
                source,
                name: sql_name(&plain.name),
                tail: None,
            };
            add(&definition, &place)?;
        }
    }
    for (table, entity) in shards.topology.tables().iter().zip(shards.entities.iter()) {
        let definition = (entity.definition)(shards.backend);
        for position in table.positions() {
            let node = table.node(position);
            let place = Place {
                source: node.source,
                name: physical_name(table, &node),
                tail: Some(node.tail),
            };
            add(&definition, &place)?;
        }
    }
    let enums = enums.into_iter().map(|(source, name)| {
        let create = create_enum(&name);
        (source, Statement::from_string(DbBackend::Postgres, create))
    });
    for (source, statement) in enums.chain(statements) {
        let on = &shards.sources[source.index()];
        let create =
            |on: DatabaseConnection| async move { on.execute_raw(statement).await }.boxed();
        on.finished(None, create).await?;
    }
    Ok(())
}

/// The data sources of a table that is not sharded.
fn homes(plain: &PlainTable, shards: &Shards) -> Vec<SourceId> {
    match shards.topology.home(&plain.name) {
        Some(Home::Broadcast) => shards.topology.sources().map(|(id, _)| id).collect(),
        Some(Home::Single(source)) => vec![source],
        _ => Vec::new(),
    }
}

/// PostgreSQL has no CREATE TYPE IF NOT EXISTS; a block that forgives the type's presence does
/// the same.
fn create_enum(create: &TypeCreateStatement) -> String {
    let create = create.to_string(sea_orm::sea_query::PostgresQueryBuilder);
    format!("DO $create$ BEGIN {create}; EXCEPTION WHEN duplicate_object THEN NULL; END $create$")
}

fn without_auto_increment(column: &ColumnDef) -> ColumnDef {
    let spec = column.get_column_spec();
    if !spec.auto_increment {
        return column.clone();
    }
    let name = column.get_column_name();
    let mut plain = match column.get_column_type() {
        Some(column_type) => ColumnDef::new_with_type(name, column_type.clone()),
        None => ColumnDef::new(name),
    };
    if spec.nullable == Some(false) {
        plain.not_null();
    }
    if spec.primary_key {
        plain.primary_key();
    }
    if spec.unique {
        plain.unique_key();
    }
    if let Some(default) = &spec.default {
        plain.default(default.clone());
    }
    if let Some(extra) = &spec.extra {
        plain.extra(extra.clone());
    }
    if let Some(comment) = &spec.comment {
        plain.comment(comment.clone());
    }
    plain
}

fn tail_index(index: &IndexCreateStatement, tail: Option<&str>) -> IndexCreateStatement {
    let mut index = index.clone();
    if let Some(name) = index.get_index_spec().get_name().map(str::to_owned) {
        index.name(tail_name(&name, tail));
    }
    index
}

/// SQLite and MySQL do not take a schema here.
fn index_table(name: &SqlName, backend: DbBackend) -> SqlName {
    match backend {
        DbBackend::Postgres => name.clone(),
        _ => SqlName(None, name.1.clone()),
    }
}

/// A name with a tail, cut to what every database takes. A cut name ends with a hash of the whole.
fn tail_name(name: &str, tail: Option<&str>) -> String {
    const LIMIT: usize = 63;
    let whole = match tail {
        None | Some("") => name.to_owned(),
        Some(tail) => format!("{name}_{tail}"),
    };
    if whole.len() <= LIMIT {
        return whole;
    }
    use sharding_core::key::KeyValue;
    use sharding_core::strategy::hash;
    let suffix = format!("_{:08x}", hash(&KeyValue::text(whole.as_str())));
    let mut end = LIMIT - suffix.len();
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{suffix}", &whole[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_without_becoming_alike() {
        assert_eq!(
            tail_name("idx-flight-carrier", Some("201301")),
            "idx-flight-carrier_201301"
        );
        assert_eq!(tail_name("pk", None), "pk");
        let long = "x".repeat(70);
        let (a, b) = (tail_name(&long, Some("1")), tail_name(&long, Some("2")));
        assert_eq!((a.len(), b.len()), (63, 63));
        assert_ne!(a, b);
    }
}
