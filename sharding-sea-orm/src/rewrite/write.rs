use sea_orm::sea_query::{
    DeleteStatement, DynIden, Expr, InsertStatement, MysqlQueryBuilder, TableRef, UpdateStatement,
};
use sea_orm::{DbBackend, Statement};
use sharding_core::topology::Node;

use crate::shards::{Shards, physical, physical_name};
use crate::visit::{InsertView, WriteView};

/// The INSERT of these rows for one node. With an alias for the table, where there can be one,
/// ON CONFLICT and RETURNING may go on naming the logical table.
pub(crate) fn node_insert(
    view: &InsertView<'_>,
    rows: &[Vec<Expr>],
    node: &Node<'_>,
    shards: &Shards,
) -> InsertStatement {
    let table = view.sharded.table;
    let mut insert = view.with_rows(rows);
    let target = match (shards.backend, &view.target) {
        (DbBackend::MySql, _) => TableRef::Table(physical_name(table, node), None),
        (_, TableRef::Table(name, alias)) => {
            physical(table, node, alias.as_ref().unwrap_or(&name.1))
        }
        _ => physical(table, node, &DynIden::from(table.name().table.to_string())),
    };
    insert.into_table(target);
    insert
}

/// The UPDATE for one node.
pub(crate) fn node_update(
    view: &WriteView<'_>,
    update: &UpdateStatement,
    node: &Node<'_>,
) -> UpdateStatement {
    let mut update = update.clone();
    update.table(physical(view.sharded.table, node, &view.alias));
    update
}

/// The DELETE for one node.
pub(crate) fn node_delete(
    view: &WriteView<'_>,
    delete: &DeleteStatement,
    node: &Node<'_>,
    shards: &Shards,
) -> Statement {
    let mut delete = delete.clone();
    delete.from_table(physical(view.sharded.table, node, &view.alias));
    if shards.backend != DbBackend::MySql {
        return shards.backend.build(&delete);
    }
    // MariaDB before 11.6 and MySQL before 8.0.16 take an alias only in the multi-table form,
    // `DELETE a FROM t AS a`, which SeaQuery cannot write; its text begins alike.
    let mut statement = shards.backend.build(&delete);
    let mut alias = String::new();
    sea_orm::sea_query::QuotedBuilder::prepare_iden(&MysqlQueryBuilder, &view.alias, &mut alias);
    statement.sql = statement
        .sql
        .replacen("DELETE FROM ", &format!("DELETE {alias} FROM "), 1);
    statement
}
