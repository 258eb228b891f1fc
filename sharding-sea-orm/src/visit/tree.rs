//! A SELECT with everything in it that reads a table: joins, subqueries, set operations, WITH.

use std::rc::Rc;

use sea_orm::DbBackend;
use sea_orm::sea_query::{
    ColumnRef, Expr, Func, JoinOn, JoinType, SelectExpr, SelectStatement, SubQueryStatement,
    TableName as SqlName, TableRef, UnionType, WindowSelectType,
};
use sharding_core::plan::Clause;

use super::dissect::{Parts, dissect_select};
use super::expr::{each_part, parts_of_window, parts_of_with, select_of_with};
use super::recompose::is_whole;
use super::scan::{Scan, is_count_of_rows, scan_expr, scan_statement};
use crate::catalog::Known;
use crate::entity::EntityTable;
use crate::shards::{Sharded, Shards};

/// A whole statement.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    pub(crate) root: Block<'a>,
    /// What the whole statement holds; its tables are those that are not sharded.
    pub(crate) scan: Scan,
    /// Whether the statement itself begins with WITH.
    pub(crate) has_with: bool,
    /// Whether rows are locked anywhere in it.
    pub(crate) locks: bool,
}

/// One SELECT of it.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub(crate) parts: Parts,
    /// The WHERE condition as one expression; `None` if there is none or it cannot be read as a
    /// tree.
    pub(super) condition: Option<Expr>,
    /// What FROM and JOIN name, in order.
    pub(super) uses: Vec<Use<'a>>,
    /// The subqueries in expressions that read sharded tables.
    pub(super) inner: Vec<Inner<'a>>,
    pub(super) branches: Vec<(UnionType, Block<'a>)>,
    /// The common table expressions that it begins with, used or not.
    defined: Vec<Rc<Block<'a>>>,
    /// Whether the parts are all there is.
    pub(super) whole: bool,
    /// What is wrong with the block wherever it stands: a clause that is never divided.
    pub(super) obstacle: Option<Clause>,
}

/// One table of FROM or JOIN.
#[derive(Debug)]
pub(super) struct Use<'a> {
    pub(super) alias: String,
    pub(super) reads: Reads<'a>,
    /// `None` in FROM.
    pub(super) join: Option<JoinType>,
    pub(super) on: Option<Expr>,
    pub(super) lateral: bool,
}

#[derive(Debug)]
pub(super) enum Reads<'a> {
    Table(Sharded<'a>),
    /// A subquery, or a common table expression with the names that it gives its columns.
    Block(Rc<Block<'a>>, Vec<String>),
    /// A recursive common table expression.
    Itself,
    /// A table that is not sharded, of a registered entity.
    Plain(&'a EntityTable, &'a Known),
    /// Another table that is not sharded, or a function.
    Other,
}

/// A subquery in an expression.
#[derive(Debug)]
pub(super) struct Inner<'a> {
    pub(super) block: Block<'a>,
    pub(super) place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// `x IN (SELECT …)` as a link of WHERE; the position among the links.
    In(usize),
    On,
    Elsewhere,
}

/// Why a statement has no tree.
pub(crate) type Refused<'a> = (Sharded<'a>, Clause);

/// The common table expressions in scope.
#[derive(Clone, Debug, Default)]
struct Scope<'a>(Vec<(String, Named<'a>)>);

#[derive(Clone, Debug)]
enum Named<'a> {
    Block(Rc<Block<'a>>, Vec<String>),
    Itself,
    Other,
}

impl<'a> Tree<'a> {
    pub(crate) fn of(select: &SelectStatement, shards: &'a Shards) -> Result<Self, Refused<'a>> {
        let mut scan = scan_statement(select);
        let named: Vec<SqlName> = std::mem::take(&mut scan.tables);
        let in_texts = Scan {
            texts: scan.texts.clone(),
            ..Scan::default()
        };
        if let Some(refused) = shards.first_named(&in_texts) {
            return Err(refused);
        }
        let mut builder = Builder {
            shards,
            others: Vec::new(),
            found: 0,
            locks: false,
            defined: Vec::new(),
            breaks_out: scan.breaks_out,
        };
        let root = builder.block(select, &Scope::default())?;
        // Whatever the builder has not come by is in a place that it does not know.
        let sharded = named.iter().filter_map(|name| shards.find(name));
        if sharded.clone().count() != builder.found
            && let Some(first) = sharded.clone().next()
        {
            return Err((first, Clause::NotUnderstood));
        }
        scan.tables = builder.others;
        let others = Scan {
            tables: scan.tables.clone(),
            ..Scan::default()
        };
        if let Some(refused) = shards.first_named(&others) {
            return Err(refused);
        }
        // Both names would mean the common table expression.
        let mut namesake = None;
        root.each_table(&mut Vec::new(), &mut |_, _, sharded: Sharded<'a>| {
            let name = &sharded.table.name().table;
            if builder
                .defined
                .iter()
                .any(|own| own.eq_ignore_ascii_case(name))
            {
                namesake = Some(sharded);
            }
        });
        if let Some(sharded) = namesake {
            return Err((sharded, Clause::CommonTable));
        }
        Ok(Self {
            has_with: root.parts.with.is_some(),
            // SQLite has no locks of rows, and no words for them.
            locks: builder.locks && shards.backend != DbBackend::Sqlite,
            root,
            scan,
        })
    }

    /// The statement whose rows this one counts, if it does nothing else, and the alias of the
    /// count.
    pub(crate) fn count_of(&self) -> Option<(Option<String>, &SelectStatement)> {
        let parts = &self.root.parts;
        let bare = parts.joins.is_empty()
            && parts.condition.is_none()
            && parts.group.is_empty()
            && parts.having.is_none()
            && parts.order.is_empty()
            && parts.unions.is_empty()
            && parts.distinct.is_none()
            && (parts.limit, parts.offset) == (None, None)
            && parts.lock.is_none()
            && self.root.whole
            && !self.has_with;
        let ([item], [TableRef::SubQuery(rows, _)]) = (&*parts.items, &*parts.from) else {
            return None;
        };
        let alias = item.alias.as_ref().map(ToString::to_string);
        let name = match &item.expr {
            Expr::Custom(text) if is_count_of_rows(text) => {
                alias.or_else(|| text.split(" AS ").nth(1).map(str::to_owned))
            }
            Expr::FunctionCall(call) => {
                let counts_rows = matches!(call.get_func(), Func::Count)
                    && matches!(call.get_args(), [Expr::Column(ColumnRef::Asterisk(None))])
                    && call.get_filter().is_none();
                if !counts_rows {
                    return None;
                }
                alias
            }
            _ => return None,
        };
        (bare && item.window.is_none()).then_some((name, rows))
    }

    /// Whether sharded tables stand in FROM and JOIN of the statement itself and nowhere else.
    pub(crate) fn is_flat(&self) -> bool {
        let is_flat = |used: &Use<'_>| !matches!(used.reads, Reads::Block(..) | Reads::Itself);
        self.root.uses.iter().all(is_flat)
            && self.root.inner.is_empty()
            && self.root.branches.is_empty()
            && self.root.defined.is_empty()
            && self.root.whole
            && !self.has_with
    }

    /// Every use of a sharded table with the blocks around it, the innermost first.
    pub(crate) fn each_table<'t>(&'t self, look: Look<'_, 't, 'a>) {
        self.root.each_table(&mut Vec::new(), look);
    }
}

/// What is done with a use of a sharded table: the blocks around it, its place in the innermost
/// one, and the table.
type Look<'l, 't, 'a> = &'l mut dyn FnMut(&[&'t Block<'a>], usize, Sharded<'a>);

impl<'a> Block<'a> {
    fn each_table<'t>(&'t self, around: &mut Vec<&'t Block<'a>>, look: Look<'_, 't, 'a>) {
        for table in &self.defined {
            table.each_table(around, look);
        }
        around.insert(0, self);
        for (at, used) in self.uses.iter().enumerate() {
            match &used.reads {
                Reads::Table(sharded) => look(around, at, *sharded),
                Reads::Block(block, _) => {
                    // What stands in FROM does not see the tables beside it.
                    let outside = usize::from(!used.lateral);
                    block.each_table(&mut around[outside..].to_vec(), look);
                }
                Reads::Itself | Reads::Plain(..) | Reads::Other => {}
            }
        }
        for inner in &self.inner {
            inner.block.each_table(around, look);
        }
        around.remove(0);
        for (_, branch) in &self.branches {
            branch.each_table(around, look);
        }
    }

    /// Whether a sharded table is read in it, at any depth.
    pub(super) fn reads_sharded(&self) -> bool {
        let reads = |used: &Use<'_>| match &used.reads {
            Reads::Table(_) => true,
            Reads::Block(block, _) => block.reads_sharded(),
            Reads::Itself | Reads::Plain(..) | Reads::Other => false,
        };
        self.uses.iter().any(reads)
            || self.defined.iter().any(|table| table.reads_sharded())
            || !self.inner.is_empty()
            || self
                .branches
                .iter()
                .any(|(_, branch)| branch.reads_sharded())
    }
}

struct Builder<'a> {
    shards: &'a Shards,
    /// The tables that are not sharded.
    others: Vec<SqlName>,
    /// How many names of sharded tables were found.
    found: usize,
    locks: bool,
    /// The names of common table expressions.
    defined: Vec<String>,
    breaks_out: bool,
}

impl<'a> Builder<'a> {
    fn block(
        &mut self,
        select: &SelectStatement,
        scope: &Scope<'a>,
    ) -> Result<Block<'a>, Refused<'a>> {
        let parts = dissect_select(select, self.shards.backend);
        self.locks |= parts.lock.is_some();
        let mut block = Block {
            condition: None,
            uses: Vec::new(),
            inner: Vec::new(),
            branches: Vec::new(),
            defined: Vec::new(),
            whole: is_whole(select, &parts),
            obstacle: None,
            parts,
        };
        let mut scope = scope.clone();
        self.with(&mut block, &mut scope)?;
        self.tables(&mut block, &scope)?;
        self.expressions(&mut block, &scope)?;
        for (kind, branch) in &block.parts.unions {
            block.branches.push((*kind, self.block(branch, &scope)?));
        }
        Ok(block)
    }

    fn with(&mut self, block: &mut Block<'a>, scope: &mut Scope<'a>) -> Result<(), Refused<'a>> {
        let Some(with) = &block.parts.with else {
            return Ok(());
        };
        let with = parts_of_with(with);
        if with.recursive {
            block.obstacle = Some(Clause::CommonTable);
            for table in &with.tables {
                scope.0.push((table.name.clone(), Named::Itself));
            }
        }
        for table in with.tables {
            self.defined.push(table.name.clone());
            let own = match self.select_of(table.query)? {
                None => Named::Other,
                Some(select) => {
                    let inner = self.block(&select, scope)?;
                    Named::Block(Rc::new(inner), table.columns)
                }
            };
            if let Named::Block(inner, _) = &own {
                block.defined.push(Rc::clone(inner));
            }
            if !with.recursive {
                scope.0.push((table.name, own));
            }
        }
        Ok(())
    }

    fn tables(&mut self, block: &mut Block<'a>, scope: &Scope<'a>) -> Result<(), Refused<'a>> {
        for table in &block.parts.from {
            let used = self.used(table, scope)?;
            block.uses.push(used);
        }
        let mut conditions = block.parts.join_conditions.iter();
        for join in &block.parts.joins {
            let on = match &join.on {
                Some(JoinOn::Condition(_)) => conditions.next().cloned().map(Expr::from),
                _ => None,
            };
            let used = self.used(&join.table, scope)?;
            block.uses.push(Use {
                join: Some(join.join),
                on: on.filter(|_| !self.breaks_out),
                lateral: join.lateral,
                ..used
            });
        }
        Ok(())
    }

    fn used(&mut self, table: &TableRef, scope: &Scope<'a>) -> Result<Use<'a>, Refused<'a>> {
        let (alias, reads) = match table {
            TableRef::Table(name, alias) => {
                let alias = alias.as_ref().unwrap_or(&name.1).to_string();
                (alias, self.named(name, scope))
            }
            TableRef::SubQuery(inner, alias) => {
                let inner = self.block(inner, scope)?;
                (alias.to_string(), Reads::Block(Rc::new(inner), Vec::new()))
            }
            TableRef::ValuesList(_, alias) | TableRef::FunctionCall(_, alias) => {
                (alias.to_string(), Reads::Other)
            }
            _ => (String::new(), Reads::Other),
        };
        let reads = match reads {
            Reads::Block(block, _) if !block.reads_sharded() => Reads::Other,
            reads => reads,
        };
        Ok(Use {
            alias,
            reads,
            join: None,
            on: None,
            lateral: false,
        })
    }

    fn named(&mut self, name: &SqlName, scope: &Scope<'a>) -> Reads<'a> {
        let own = name.1.to_string();
        let known = scope.0.iter().rev().find(|(known, _)| *known == own);
        if let (None, Some((_, named))) = (&name.0, known) {
            // It is not the sharded table of that name.
            self.found += usize::from(self.shards.find(name).is_some());
            return match named {
                Named::Block(block, columns) => Reads::Block(Rc::clone(block), columns.clone()),
                Named::Itself => Reads::Itself,
                Named::Other => Reads::Other,
            };
        }
        match self.shards.find(name) {
            Some(sharded) => {
                self.found += 1;
                Reads::Table(sharded)
            }
            None => {
                self.others.push(name.clone());
                match self.shards.find_plain(name) {
                    Some((entity, known)) => Reads::Plain(entity, known),
                    None => Reads::Other,
                }
            }
        }
    }

    fn expressions(&mut self, block: &mut Block<'a>, scope: &Scope<'a>) -> Result<(), Refused<'a>> {
        let mut inner = Vec::new();
        let parts = &block.parts;
        for item in &parts.items {
            self.item(item, scope, &mut inner)?;
        }
        let condition = parts.condition.clone().map(Expr::from);
        if let Some(condition) = &condition {
            for (link, expr) in super::expr::conjuncts(condition).into_iter().enumerate() {
                let place = match expr {
                    Expr::Binary(_, sea_orm::sea_query::BinOper::In, list)
                        if matches!(**list, Expr::SubQuery(None, _)) =>
                    {
                        Place::In(link)
                    }
                    _ => Place::Elsewhere,
                };
                self.look(expr, place, scope, &mut inner)?;
            }
        }
        if !parts.chained && !self.breaks_out {
            block.condition = condition;
        }
        let having = parts.having.clone().map(Expr::from);
        let orders = parts.order.iter().map(|key| &key.expr);
        for expr in parts.group.iter().chain(orders).chain(&having) {
            self.look(expr, Place::Elsewhere, scope, &mut inner)?;
        }
        for condition in &parts.join_conditions {
            let expr = Expr::from(condition.clone());
            self.look(&expr, Place::On, scope, &mut inner)?;
        }
        if let Some(window) = &parts.window {
            let window = parts_of_window(window);
            for expr in window.partition.iter().chain(&window.order) {
                self.look(expr, Place::Elsewhere, scope, &mut inner)?;
            }
        }
        for table in parts
            .from
            .iter()
            .chain(parts.joins.iter().map(|join| &*join.table))
        {
            if let TableRef::FunctionCall(call, _) = table {
                self.look(
                    &Expr::FunctionCall(call.clone()),
                    Place::On,
                    scope,
                    &mut inner,
                )?;
            }
        }
        block.inner = inner;
        Ok(())
    }

    fn item(
        &mut self,
        item: &SelectExpr,
        scope: &Scope<'a>,
        inner: &mut Vec<Inner<'a>>,
    ) -> Result<(), Refused<'a>> {
        self.look(&item.expr, Place::Elsewhere, scope, inner)?;
        if let Some(WindowSelectType::Query(window)) = &item.window {
            let window = parts_of_window(window);
            for expr in window.partition.iter().chain(&window.order) {
                self.look(expr, Place::Elsewhere, scope, inner)?;
            }
        }
        Ok(())
    }

    /// Looks for subqueries in an expression.
    fn look(
        &mut self,
        expr: &Expr,
        place: Place,
        scope: &Scope<'a>,
        inner: &mut Vec<Inner<'a>>,
    ) -> Result<(), Refused<'a>> {
        if let Expr::SubQuery(_, query) = expr {
            if let Some(select) = self.select_of(Some((**query).clone()))? {
                let block = self.block(&select, scope)?;
                if block.reads_sharded() {
                    inner.push(Inner { block, place });
                }
            }
            return Ok(());
        }
        let mut outcome = Ok(());
        each_part(expr, &mut |part| {
            // The place is that of the whole link: only its own list is what it says.
            let own = match (place, expr) {
                (Place::In(_), Expr::Binary(_, _, list)) if std::ptr::eq(&**list, part) => place,
                (Place::In(_), _) => Place::Elsewhere,
                _ => place,
            };
            if outcome.is_ok() {
                outcome = self.look(part, own, scope, inner);
            }
        });
        outcome
    }

    /// The SELECT that a subquery is; `None` if it is none and reads no sharded table.
    fn select_of(
        &mut self,
        query: Option<SubQueryStatement>,
    ) -> Result<Option<SelectStatement>, Refused<'a>> {
        match query {
            None => Ok(None),
            Some(SubQueryStatement::SelectStatement(select)) => Ok(Some(select)),
            Some(SubQueryStatement::WithStatement(query)) => match select_of_with(&query) {
                Some(select) => Ok(Some(select)),
                None => self.unread(SubQueryStatement::WithStatement(query)),
            },
            Some(other) => self.unread(other),
        }
    }

    fn unread(&mut self, query: SubQueryStatement) -> Result<Option<SelectStatement>, Refused<'a>> {
        let mut scan = Scan::default();
        scan_expr(&Expr::SubQuery(None, Box::new(query)), &mut scan);
        if let Some((sharded, _)) = self.shards.first_named(&scan) {
            return Err((sharded, Clause::NotUnderstood));
        }
        self.others.extend(scan.tables);
        Ok(None)
    }
}
