//! The physical tables in place of the logical ones.

use sea_orm::sea_query::{
    Asterisk, CommonTableExpression, DynIden, Expr, ExprTrait, Query, SchemaName, SelectStatement,
    TableName, TableRef, UnionType, WithClause,
};
use sea_orm::{DbBackend, Statement};
use sharding_core::plan::Clause;
use sharding_core::topology::Node;

use super::select::{node_statement, swap, union_select};
use crate::shards::{Sharded, Shards, physical};
use crate::visit::{Scan, SelectView, Tree, dissect_select, parts_of_with, with_of, with_tables};

/// The physical tables that stand for a sharded one in a statement of one unit.
#[derive(Clone, Debug)]
pub(crate) struct Binding<'a> {
    pub(crate) sharded: Sharded<'a>,
    /// The positions of the nodes, all of one data source: at least one.
    pub(crate) nodes: Vec<usize>,
    /// Whether none of their rows take part: one node then lends its columns.
    pub(crate) is_empty: bool,
}

/// How the sharded tables of a statement are found in it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form<'a> {
    /// There is one, and it stands first in FROM.
    Simple(&'a SelectView<'a>),
    /// They are anywhere.
    Tree(&'a Tree<'a>),
}

/// The statements of units that have the same logical statement.
pub(crate) fn bound(
    form: Form<'_>,
    select: &SelectStatement,
    units: &[Vec<Binding<'_>>],
    shards: &Shards,
) -> Result<Vec<Statement>, Clause> {
    let view = match form {
        Form::Simple(view) => view,
        Form::Tree(_) => {
            let of = |unit: &Vec<Binding<'_>>| {
                Ok(shards
                    .backend
                    .build(&bound_tree(form, select, unit, shards)?))
            };
            return units.iter().map(of).collect();
        }
    };
    let of_node = node_statement(view, select, shards);
    let statement = |unit: &Vec<Binding<'_>>| match unit.as_slice() {
        [Binding { nodes, .. }] if nodes.len() == 1 => Ok(of_node(nodes[0])),
        unit => Ok(shards
            .backend
            .build(&bound_tree(form, select, unit, shards)?)),
    };
    units.iter().map(statement).collect()
}

/// The statement of one unit as a tree.
pub(crate) fn bound_tree(
    form: Form<'_>,
    select: &SelectStatement,
    unit: &[Binding<'_>],
    shards: &Shards,
) -> Result<SelectStatement, Clause> {
    match form {
        Form::Tree(tree) => match in_place(tree, select, unit, shards) {
            Some(swapped) => Ok(swapped),
            // Databases lock no rows through a WITH clause, without a word.
            None if tree.locks => Err(Clause::LockOfJoin),
            None => under_with(select, unit, &tree.scan, tree.has_with, shards.backend),
        },
        Form::Simple(view) => {
            let table = view.sharded.table;
            let nodes = unit.iter().flat_map(|binding| &binding.nodes);
            let nodes: Vec<Node<'_>> = nodes.map(|&at| table.node(at)).collect();
            match nodes.as_slice() {
                [node] => Ok(swap(view, select, &|alias| physical(table, node, alias))),
                nodes => union_select(view, select, nodes, shards.backend),
            }
        }
    }
}

/// The statement with one physical table in the place of each logical one, if these stand in FROM
/// and JOIN alone.
fn in_place(
    tree: &Tree<'_>,
    select: &SelectStatement,
    bindings: &[Binding<'_>],
    shards: &Shards,
) -> Option<SelectStatement> {
    let is_one = |binding: &Binding<'_>| binding.nodes.len() == 1 && !binding.is_empty;
    if !tree.is_flat() || !bindings.iter().all(is_one) {
        return None;
    }
    let parts = dissect_select(select, shards.backend);
    with_tables(select, parts, &|table| {
        let TableRef::Table(name, alias) = table else {
            return None;
        };
        let sharded = shards.find(name)?;
        let binding = bindings.iter().find(|own| own.sharded.at == sharded.at)?;
        let node = sharded.table.node(*binding.nodes.first()?);
        Some(physical(
            sharded.table,
            &node,
            alias.as_ref().unwrap_or(&name.1),
        ))
    })
}

/// The statement under a WITH clause in which each logical table is what its nodes hold. Names
/// mean that clause's tables wherever they stand in the statement, so nothing in it is changed.
fn under_with(
    select: &SelectStatement,
    bindings: &[Binding<'_>],
    scan: &Scan,
    has_with: bool,
    backend: DbBackend,
) -> Result<SelectStatement, Clause> {
    let mut with = WithClause::new();
    let mut is_needed = false;
    for binding in bindings {
        if binding.is_itself() {
            continue;
        }
        is_needed = true;
        let mut table = CommonTableExpression::new();
        let name = DynIden::from(binding.sharded.table.name().table.to_string());
        table.table_name(name).query(binding.rows(scan, backend)?);
        // A table that is read twice would be computed as a whole beforehand.
        if backend != DbBackend::MySql {
            table.materialized(false);
        }
        with.cte(table);
    }
    let mut select = select.clone();
    if !is_needed {
        return Ok(select);
    }
    if has_with {
        let own = with_of(&select, backend).map(|own| parts_of_with(&own));
        let own = own.ok_or(Clause::CommonTable)?;
        if own.has_options {
            return Err(Clause::CommonTable);
        }
        with.recursive(own.recursive);
        for table in own.tables {
            with.cte(table.whole);
        }
    }
    select.with_cte(with);
    Ok(select)
}

impl Binding<'_> {
    /// Whether the one physical table has the name of the logical one.
    fn is_itself(&self) -> bool {
        let table = self.sharded.table;
        matches!(self.nodes.as_slice(), [node] if table.node(*node).table == table.name().table)
            && !self.is_empty
    }

    /// What the nodes hold, with the columns that the statement names.
    fn rows(&self, scan: &Scan, backend: DbBackend) -> Result<SelectStatement, Clause> {
        let table = self.sharded.table;
        // Only names without a schema mean a common table expression.
        if table.name().schema.is_some() {
            return Err(Clause::Schema);
        }
        let alias = DynIden::from(table.name().table.to_string());
        let nodes: Vec<Node<'_>> = self.nodes.iter().map(|&at| table.node(at)).collect();
        let from = |node: &Node<'_>| match physical(table, node, &alias) {
            // SQLite would take the name for that of the common table expression itself.
            TableRef::Table(name, alias)
                if backend == DbBackend::Sqlite && name.1.inner() == table.name().table =>
            {
                TableRef::Table(TableName(Some(SchemaName::from("main")), name.1), alias)
            }
            other => other,
        };
        let all = || Expr::col(Asterisk);
        if let [node] = nodes.as_slice() {
            let mut rows = Query::select();
            rows.expr(all()).from(from(node));
            if self.is_empty {
                rows.and_where(Expr::val(1).eq(0));
            }
            // MariaDB 10.11 loses rows of a window function over a condition with a subquery if it
            // merges a table like this one into the statement; it does not merge one with LIMIT.
            if backend == DbBackend::MySql && scan.may_have_windows() {
                rows.limit(u64::MAX);
            }
            return Ok(rows.take());
        }
        let columns = needed_columns(self.sharded, scan, backend)?;
        let rows = |node: &Node<'_>| {
            let mut rows = Query::select();
            rows.columns(columns.iter().map(|column| (alias.clone(), column.clone())));
            rows.from(from(node));
            rows.take()
        };
        Ok(union_all(
            nodes.iter().map(rows).collect(),
            &columns,
            backend,
        ))
    }
}

/// The columns of a sharded table that a statement names.
pub(super) fn needed_columns(
    sharded: Sharded<'_>,
    scan: &Scan,
    backend: DbBackend,
) -> Result<Vec<DynIden>, Clause> {
    let Sharded { entity, facts, .. } = sharded;
    // A union names the entity's columns, so `*` over it would leave out any other.
    if scan.selects_all && !facts.has_only(entity) {
        return Err(Clause::Star);
    }
    let is_needed = |name: &str| {
        let mut named = scan.columns.iter();
        // SQLite takes the quoted name of a column that is not there for a text.
        backend == DbBackend::Sqlite
            || scan.selects_all
            || !scan.texts.is_empty()
            || named.any(|column| column.eq_ignore_ascii_case(name))
    };
    let all = || entity.columns.iter().map(|column| column.name);
    let needed: Vec<DynIden> = all()
        .filter(|name| is_needed(name))
        .map(DynIden::from)
        .collect();
    // A statement that names no column counts rows, of which any column will do.
    Ok(match needed.is_empty() {
        true => all().take(1).map(DynIden::from).collect(),
        false => needed,
    })
}

/// A union of any number of parts.
pub(super) fn union_all(
    mut parts: Vec<SelectStatement>,
    columns: &[DynIden],
    backend: DbBackend,
) -> SelectStatement {
    /// SQLite takes so many terms in one compound SELECT.
    const MOST_TERMS: usize = 500;

    if backend == DbBackend::Sqlite && parts.len() > MOST_TERMS {
        let chunks: Vec<Vec<_>> = parts.chunks(MOST_TERMS).map(<[_]>::to_vec).collect();
        let nested = chunks.into_iter().map(|chunk| {
            let alias = DynIden::from("part");
            let mut part = Query::select();
            part.columns(columns.iter().map(|column| (alias.clone(), column.clone())));
            part.from_subquery(union_all(chunk, columns, backend), alias);
            part.take()
        });
        parts = nested.collect();
        return union_all(parts, columns, backend);
    }
    let mut parts = parts.into_iter();
    let mut union = parts.next().unwrap_or_default();
    union.unions(parts.map(|part| (UnionType::All, part)));
    union
}
