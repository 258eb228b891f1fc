use std::collections::BTreeMap;
use std::sync::Arc;

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query};
use sea_orm::{DbBackend, DbErr};
use sharding_core::topology::{SourceId, Table};

use super::Session;
use crate::shards::Shards;

impl Session<'_> {
    /// Looks which of these nodes of a table have a physical table at this moment, and gives the
    /// state in which a statement leaves the others out. What is there is remembered by all, with
    /// what the catalog says of it.
    pub(crate) async fn look_for(
        self,
        shards: &Shards,
        at: usize,
        nodes: &[usize],
    ) -> Result<Shards, DbErr> {
        let table = &shards.topology.tables()[at];
        let mut by_source: BTreeMap<SourceId, Vec<usize>> = BTreeMap::new();
        for &node in nodes {
            by_source.entry(table.source(node)).or_default().push(node);
        }
        let (mut absent, mut seen) = (Vec::new(), Vec::new());
        for (source, nodes) in by_source {
            let names = self.existing(shards.backend, source, table, &nodes).await?;
            let is_there = |node: &usize| names.iter().any(|name| *name == table.node(*node).table);
            let (there, missing): (Vec<usize>, Vec<usize>) = nodes.into_iter().partition(is_there);
            absent.extend(missing.iter().map(|&node| table.coordinates(node)));
            if there.is_empty() {
                continue;
            }
            let catalog = self.catalog(source).await?;
            for node in there {
                let columns = catalog.columns(table, &table.node(node).table);
                seen.push((
                    table.coordinates(node),
                    columns.cloned().unwrap_or_default(),
                ));
            }
        }
        let with_seen = |shards: &Shards| {
            let mut shards = shards.clone();
            let known = Arc::make_mut(&mut shards.known[at]);
            for (node, columns) in &seen {
                known.see(*node, columns);
            }
            shards
        };
        if !seen.is_empty() {
            self.cluster().learn(with_seen, shards);
        }
        let mut settled = with_seen(shards);
        Arc::make_mut(&mut settled.known[at]).leave_out(&absent);
        Ok(settled)
    }

    async fn existing(
        self,
        backend: DbBackend,
        source: SourceId,
        table: &Table,
        nodes: &[usize],
    ) -> Result<Vec<String>, DbErr> {
        let names: Vec<String> = nodes
            .iter()
            .map(|&node| table.node(node).table.into_owned())
            .collect();
        let mut query = Query::select();
        if backend == DbBackend::Sqlite {
            query
                .column("name")
                .from("sqlite_master")
                .and_where(Expr::col("type").eq("table"))
                .and_where(Expr::col("name").is_in(names));
        } else {
            let default = match backend {
                DbBackend::MySql => Expr::cust("DATABASE()"),
                _ => Expr::cust("current_schema()"),
            };
            let schema = table.name().schema.as_ref();
            query
                .expr_as(
                    Expr::col("table_name").cast_as(Alias::new("char(64)")),
                    "name",
                )
                .from(("information_schema", "tables"))
                .and_where(Expr::col("table_name").is_in(names))
                .and_where(Expr::col("table_schema").eq(match schema {
                    Some(schema) => Expr::val(schema.to_string()),
                    None => default,
                }));
        }
        let rows = self.query_all(source, &backend.build(&query)).await?;
        let name = |row: &sea_orm::QueryResult| {
            row.try_get_by_index::<String>(0)
                .map(|name| name.trim_end().to_owned())
        };
        rows.iter().map(name).collect()
    }
}
