use std::cell::RefCell;

use sea_orm::sea_query::{
    BinOper, DynIden, EscapeBuilder, ExplainStatement, Expr, InsertStatement, OnConflict,
    OnConflictAction, OnConflictIdentifier, OnConflictTarget, OnConflictUpdate, Oper,
    OperLeftAssocDecider, PrecedenceDecider, QueryBuilder, Quote, QuotedBuilder, ReturningClause,
    SelectInto, SelectStatement, SqlWriter, SubQueryStatement, TableRef, TableRefBuilder,
    WithClause,
};
use sea_orm::{DbBackend, Value};
use sharding_core::error::KeyError;
use sharding_core::key::KeyValue;
use sharding_core::plan::Clause;
use sharding_core::topology::{KeyColumn, RowKey};

use super::scan::{Nothing, Scan, notation, scan_insert};
use crate::error::ShardingError;
use crate::shards::{Gathering, Sharded, Shards};
use crate::value::{AsKey, as_key, stored_as};

/// An INSERT into a sharded table.
#[derive(Debug)]
pub(crate) struct InsertView<'a> {
    pub(crate) sharded: Sharded<'a>,
    pub(crate) target: TableRef,
    pub(crate) columns: Vec<DynIden>,
    pub(crate) rows: Vec<Vec<Expr>>,
    pub(crate) on_conflict: Option<OnConflict>,
    pub(crate) returning: Option<ReturningClause>,
    /// What keeps the statement from being routed, whatever its rows.
    obstacle: Option<Clause>,
}

/// What an INSERT has to do with sharded tables.
#[derive(Debug)]
pub(crate) enum Inserted<'a> {
    /// Nothing: its tables are there.
    Unsharded(Gathering),
    /// It inserts into a table of which every data source has a copy.
    SpreadCopy(String),
    /// It inserts into one.
    Sharded(Box<InsertView<'a>>),
    /// It reads one, or names one in a way that is not supported.
    Refused(Sharded<'a>, Clause),
}

impl<'a> InsertView<'a> {
    pub(crate) fn of(insert: &InsertStatement, shards: &'a Shards) -> Inserted<'a> {
        let visitor = InsertVisitor::default();
        visitor.prepare_insert_statement(insert, &mut Nothing);
        let parts = visitor.parts.into_inner();
        let mut scan = Scan::default();
        scan_insert(insert, &mut scan);
        let sharded = match &parts.target {
            Some(TableRef::Table(name, _)) => shards.find(name).inspect(|_| {
                let own = scan.tables.iter().position(|table| table == name);
                own.map(|own| scan.tables.remove(own));
            }),
            _ => None,
        };
        if let Some((sharded, clause)) = shards.first_named(&scan) {
            return Inserted::Refused(sharded, clause);
        }
        let copy = parts
            .target
            .as_ref()
            .and_then(|target| shards.spread_copy(target));
        let (Some(sharded), Some(target)) = (sharded, parts.target) else {
            return match copy {
                Some(table) => Inserted::SpreadCopy(table),
                None => Inserted::Unsharded(shards.gather(&scan)),
            };
        };
        let width = parts.columns.len().max(1);
        let rows: Vec<Vec<Expr>> = parts.values.chunks(width).map(<[Expr]>::to_vec).collect();
        let mut view = Self {
            sharded,
            target,
            columns: parts.columns,
            rows,
            on_conflict: parts.on_conflict,
            returning: parts.returning,
            obstacle: None,
        };
        view.obstacle = if parts.select {
            Some(Clause::InsertSelect)
        } else if parts.default_values {
            Some(Clause::DefaultValues)
        } else if parts.replace && !view.all_unique_keys_hold_the_sharding_keys() {
            Some(Clause::Replace)
        } else if parts.with || !view.is_whole(insert, parts.replace) {
            Some(Clause::NotUnderstood)
        } else {
            view.conflict(shards.backend)
        };
        Inserted::Sharded(Box::new(view))
    }

    /// The position of each row's node.
    pub(crate) fn place(&self, shards: &Shards) -> Result<Vec<usize>, ShardingError> {
        let table = self.sharded.table;
        if let Some(clause) = &self.obstacle {
            return Err(shards.refusal(clause.clone(), table, &[]).into());
        }
        if let Some(column) = self.sharded.entity.generated {
            let at = self.position(column);
            let is_left_out = |row: &Vec<Expr>| at.is_none_or(|at| !sets_a_value(&row[at]));
            if self.rows.iter().any(is_left_out) {
                let clause = Clause::GeneratedKey(column.to_owned());
                return Err(shards.refusal(clause, table, &[]).into());
            }
        }
        let columns: Vec<_> = table
            .key_columns()
            .map(|column| (column, self.position(column.name())))
            .collect();
        self.rows
            .iter()
            .map(|row| self.place_row(row, &columns, shards.backend))
            .collect()
    }

    fn place_row(
        &self,
        row: &[Expr],
        columns: &[(&KeyColumn, Option<usize>)],
        backend: DbBackend,
    ) -> Result<usize, ShardingError> {
        let table = self.sharded.table;
        let mut keys: Vec<(&str, RowKey<'_>)> = Vec::with_capacity(columns.len());
        for (column, at) in columns {
            let key = match at.map(|at| &row[at]) {
                None => None,
                Some(expr) => Some(self.key(column, expr, backend)?),
            };
            keys.push((column.name(), key));
        }
        let find = |column: &str| keys.iter().find(|(name, _)| *name == column);
        let place = table.place(|column| find(column.name()).and_then(|(_, key)| key.clone()))?;
        // The database may round a key to the digits of its column; where it would then be looked
        // for must be where it is put.
        for (column, _) in columns {
            let Some((_, Some(Some(value)))) = find(column.name()) else {
                continue;
            };
            let digits = self.sharded.facts.digits(column.name(), backend);
            for stored in digits
                .map(|digits| stored_as(value, digits))
                .unwrap_or_default()
            {
                let elsewhere = table.place(|other| {
                    if other.name() == column.name() {
                        Some(Some(stored.clone()))
                    } else {
                        find(other.name()).and_then(|(_, key)| key.clone())
                    }
                });
                if elsewhere != Ok(place) {
                    return Err(ShardingError::RoundedKey {
                        table: table.name().to_string(),
                        column: column.name().to_owned(),
                        value: value.to_string(),
                    });
                }
            }
        }
        Ok(place)
    }

    fn key<'v>(
        &self,
        key: &KeyColumn,
        expr: &'v Expr,
        backend: DbBackend,
    ) -> Result<Option<KeyValue<'v>>, ShardingError> {
        let table = || self.sharded.table.name().to_string();
        let column = || key.name().to_owned();
        let value = match expr {
            Expr::Value(value) | Expr::Constant(value) => value,
            Expr::AsEnum(_, inner) => return self.key(key, inner, backend),
            Expr::Keyword(sea_orm::sea_query::Keyword::Null) => return Ok(None),
            _ => {
                let value = "an expression".to_owned();
                let (table, column, kind) = (table(), column(), key.kind());
                return Err(KeyError::Kind {
                    table,
                    column,
                    kind,
                    value,
                }
                .into());
            }
        };
        match as_key(value, key.kind(), backend) {
            AsKey::Value(value) => Ok(Some(value)),
            AsKey::Null => Ok(None),
            AsKey::Foreign => {
                let (table, column, kind) = (table(), column(), key.kind());
                Err(KeyError::Kind {
                    table,
                    column,
                    kind,
                    value: format!("{value:?}"),
                }
                .into())
            }
            AsKey::NotUtc => {
                let (table, column) = (table(), column());
                Err(ShardingError::KeyNotUtc {
                    table,
                    column,
                    value: format!("{value:?}"),
                })
            }
        }
    }

    fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name.inner() == column)
    }

    /// The same INSERT with these rows only.
    pub(crate) fn with_rows(&self, rows: &[Vec<Expr>]) -> InsertStatement {
        self.recompose(rows, false)
    }

    /// Whether the parts are the whole statement. SeaORM asks for default values in case there are
    /// no columns, which leaves a mark without a meaning where there are some.
    fn is_whole(&self, insert: &InsertStatement, replace: bool) -> bool {
        let mut composed = self.recompose(&self.rows, replace);
        composed == *insert || *composed.or_default_values() == *insert
    }

    fn recompose(&self, rows: &[Vec<Expr>], replace: bool) -> InsertStatement {
        let mut insert = InsertStatement::new();
        if replace {
            insert.replace();
        }
        insert
            .into_table(self.target.clone())
            .columns(self.columns.iter().cloned());
        for row in rows {
            // Rows were cut to the count of columns, so they fit.
            insert.values_panic(row.iter().cloned());
        }
        if let Some(on_conflict) = &self.on_conflict {
            insert.on_conflict(on_conflict.clone());
        }
        if let Some(returning) = &self.returning {
            insert.returning(returning.clone());
        }
        insert
    }

    /// A conflict is only noticed within a node, so it must not be possible with another node's
    /// rows; and the row that is updated must stay on its node.
    fn conflict(&self, backend: DbBackend) -> Option<Clause> {
        let on_conflict = self.on_conflict.as_ref()?;
        let seen = ConflictVisitor::default();
        seen.prepare_on_conflict(&Some(on_conflict.clone()), &mut Nothing);
        let seen = seen.seen.into_inner();
        let is_key = |name: &str| {
            self.sharded
                .table
                .key_columns()
                .any(|column| column.name().eq_ignore_ascii_case(name))
        };
        if let Some(key) = seen.computed.iter().find(|name| is_key(name)) {
            return Some(Clause::KeyUpdate(key.clone()));
        }
        // MySQL names no target: a conflict may be over any unique key.
        let target = seen.target.filter(|_| backend != DbBackend::MySql);
        let proven = match target {
            Some(target) => self
                .sharded
                .table
                .deciding_columns()
                .all(|column| target.iter().any(|name| name == column.name())),
            None => self.all_unique_keys_hold_the_sharding_keys(),
        };
        (!proven).then_some(Clause::Conflict)
    }

    fn all_unique_keys_hold_the_sharding_keys(&self) -> bool {
        self.sharded.entity.unique_keys.iter().all(|unique| {
            self.sharded
                .table
                .deciding_columns()
                .all(|column| unique.iter().any(|name| name == column.name()))
        })
    }
}

fn sets_a_value(expr: &Expr) -> bool {
    match expr {
        Expr::Keyword(_) => false,
        Expr::Value(value) | Expr::Constant(value) => *value != value.as_null(),
        _ => true,
    }
}

#[derive(Default)]
struct InsertParts {
    target: Option<TableRef>,
    columns: Vec<DynIden>,
    values: Vec<Expr>,
    on_conflict: Option<OnConflict>,
    returning: Option<ReturningClause>,
    replace: bool,
    select: bool,
    default_values: bool,
    with: bool,
}

#[derive(Default)]
struct InsertVisitor {
    parts: RefCell<InsertParts>,
}

impl QueryBuilder for InsertVisitor {
    fn prepare_insert(&self, replace: bool, _sql: &mut impl SqlWriter) {
        self.parts.borrow_mut().replace = replace;
    }

    fn prepare_table_ref(&self, table: &TableRef, _sql: &mut impl SqlWriter) {
        self.parts.borrow_mut().target = Some(table.clone());
    }

    fn prepare_expr(&self, expr: &Expr, _sql: &mut impl SqlWriter) {
        self.parts.borrow_mut().values.push(expr.clone());
    }

    fn prepare_select_statement(&self, _select: &SelectStatement, _sql: &mut impl SqlWriter) {
        self.parts.borrow_mut().select = true;
    }

    fn insert_default_values(&self, _rows: u32, _sql: &mut impl SqlWriter) {
        self.parts.borrow_mut().default_values = true;
    }

    fn prepare_on_conflict(&self, on_conflict: &Option<OnConflict>, _sql: &mut impl SqlWriter) {
        self.parts.borrow_mut().on_conflict = on_conflict.clone();
    }

    fn prepare_returning(&self, returning: &Option<ReturningClause>, _sql: &mut impl SqlWriter) {
        self.parts.borrow_mut().returning = returning.clone();
    }

    fn prepare_with_clause(&self, _with: &WithClause, _sql: &mut impl SqlWriter) {
        self.parts.borrow_mut().with = true;
    }

    fn prepare_query_statement(&self, _query: &SubQueryStatement, _sql: &mut impl SqlWriter) {}

    fn prepare_select_into(&self, _into: &SelectInto, _sql: &mut impl SqlWriter) {}

    fn prepare_explain_statement(&self, _explain: &ExplainStatement, _sql: &mut impl SqlWriter) {}

    fn prepare_value(&self, _value: Value, _sql: &mut impl SqlWriter) {}
}

impl QuotedBuilder for InsertVisitor {
    fn quote(&self) -> Quote {
        Quote::new(b'"')
    }

    /// Everything else that holds a name keeps it without coming here.
    fn prepare_iden(&self, name: &DynIden, _sql: &mut impl SqlWriter) {
        self.parts.borrow_mut().columns.push(name.clone());
    }
}

impl EscapeBuilder for InsertVisitor {}
impl TableRefBuilder for InsertVisitor {}

impl PrecedenceDecider for InsertVisitor {
    fn inner_expr_well_known_greater_precedence(&self, _: &Expr, _: &Oper) -> bool {
        true
    }
}

impl OperLeftAssocDecider for InsertVisitor {
    fn well_known_left_associative(&self, _: &BinOper) -> bool {
        true
    }
}

/// What ON CONFLICT names.
#[derive(Default)]
struct Conflict {
    /// The columns of its target; `None` if it names none, or none that is known.
    target: Option<Vec<String>>,
    /// The columns that it sets to something else than the row to insert has.
    computed: Vec<String>,
}

#[derive(Default)]
struct ConflictVisitor {
    seen: RefCell<Conflict>,
}

impl QueryBuilder for ConflictVisitor {
    fn prepare_on_conflict_target(&self, target: &OnConflictTarget, _sql: &mut impl SqlWriter) {
        let OnConflictTarget::Identifiers(names) = target else {
            return;
        };
        let columns: Option<Vec<String>> = names
            .iter()
            .map(|name| match name {
                OnConflictIdentifier::Column(column) => Some(column.to_string()),
                OnConflictIdentifier::Expr(_) => None,
            })
            .collect();
        self.seen.borrow_mut().target = columns.filter(|columns| !columns.is_empty());
    }

    fn prepare_on_conflict_action(
        &self,
        action: &Option<OnConflictAction>,
        _sql: &mut impl SqlWriter,
    ) {
        let Some(OnConflictAction::Update(updates)) = action else {
            return;
        };
        let computed = updates.iter().filter_map(|update| match update {
            OnConflictUpdate::Column(_) => None,
            OnConflictUpdate::Expr(column, _) => Some(column.to_string()),
        });
        self.seen.borrow_mut().computed = computed.collect();
    }

    fn prepare_query_statement(&self, _query: &SubQueryStatement, _sql: &mut impl SqlWriter) {}

    fn prepare_select_into(&self, _into: &SelectInto, _sql: &mut impl SqlWriter) {}

    fn prepare_explain_statement(&self, _explain: &ExplainStatement, _sql: &mut impl SqlWriter) {}

    fn prepare_value(&self, _value: Value, _sql: &mut impl SqlWriter) {}
}

notation!(ConflictVisitor);
