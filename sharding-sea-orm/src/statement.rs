//! What a connection and a transaction have in common: every statement comes through here.

use std::collections::BTreeSet;
use std::sync::Arc;

use sea_orm::sea_query::{
    DeleteStatement, InsertStatement, SelectStatement, TableCreateStatement, TableRef,
    UpdateStatement, WithQuery,
};
use sea_orm::{DbErr, ExecResult, QueryResult, Statement, StatementBuilder};
use sharding_core::plan::{Clause, ReadPlan};
use sharding_core::topology::SourceId;

use crate::downcast::downcast;
use crate::error::ShardingError;
use crate::execute::{Job, RowStream, Session, Span};
use crate::plan::{
    Planned, PlannedRead, PlannedWrite, Reached, Want, gathered, plan_delete, plan_insert,
    plan_read, plan_update,
};
use crate::run;
use crate::shards::Shards;
use crate::visit::{Scan, select_of_with};

/// What is to be done for a statement.
#[derive(Debug)]
pub(crate) enum Work {
    Read(Box<PlannedRead>),
    Write(Box<PlannedWrite>),
    /// No sharded table is in it: it goes to one data source as it stands.
    Pass(SourceId, Statement),
    /// It reaches tails that may not have been made yet, which has to be found out first.
    Unsure(Box<Unsure>),
}

/// A statement that waits until something is known.
#[derive(Debug)]
pub(crate) struct Unsure {
    shards: Arc<Shards>,
    statement: Sent,
    unknown: Unknown,
}

/// What has to be found out before a statement can be planned.
#[derive(Debug)]
enum Unknown {
    /// Whether these tails of a table, which has this position in the topology, are there.
    Tails(usize, Vec<usize>),
    /// What the catalogs of these data sources say.
    Sources(BTreeSet<SourceId>),
}

/// A statement, kept for another look at it.
#[derive(Debug)]
enum Sent {
    Select(SelectStatement, Want),
    Insert(InsertStatement),
    Update(UpdateStatement),
    Delete(DeleteStatement),
}

impl Sent {
    /// `None` if no catalog has to do with the statement.
    fn of<S: StatementBuilder>(statement: &S, want: Want) -> Option<Self> {
        if let Some(select) = downcast::<_, SelectStatement>(statement) {
            return Some(Self::Select(select.clone(), want));
        }
        if let Some(insert) = downcast::<_, InsertStatement>(statement) {
            return Some(Self::Insert(insert.clone()));
        }
        if let Some(update) = downcast::<_, UpdateStatement>(statement) {
            return Some(Self::Update(update.clone()));
        }
        if let Some(delete) = downcast::<_, DeleteStatement>(statement) {
            return Some(Self::Delete(delete.clone()));
        }
        let with = downcast::<_, WithQuery>(statement);
        let select = with.and_then(select_of_with)?;
        Some(Self::Select(select, want))
    }
}

impl Work {
    pub(crate) fn of<S: StatementBuilder>(
        shards: &Arc<Shards>,
        statement: &S,
        want: Want,
    ) -> Result<Self, ShardingError> {
        let found = Self::of_known(shards, statement, want);
        if shards.unread.is_empty() {
            return found;
        }
        // What would be refused, may not be once more is known.
        let needed = match &found {
            Ok(work) => work.needed(&shards.unread),
            Err(_) => BTreeSet::clone(&shards.unread),
        };
        match Sent::of(statement, want) {
            Some(sent) if !needed.is_empty() => Ok(Self::Unsure(Box::new(Unsure {
                shards: Arc::clone(shards),
                statement: sent,
                unknown: Unknown::Sources(needed),
            }))),
            _ => found,
        }
    }

    /// Those of the sources that the statement asks.
    fn needed(&self, unread: &BTreeSet<SourceId>) -> BTreeSet<SourceId> {
        let jobs = match self {
            Self::Read(read) => &read.jobs,
            Self::Write(write) => &write.jobs,
            Self::Pass(..) => return BTreeSet::new(),
            Self::Unsure(_) => return unread.clone(),
        };
        let sources = jobs.iter().map(Job::source);
        sources.filter(|source| unread.contains(source)).collect()
    }

    fn of_known<S: StatementBuilder>(
        shards: &Arc<Shards>,
        statement: &S,
        want: Want,
    ) -> Result<Self, ShardingError> {
        let source = if let Some(select) = downcast::<_, SelectStatement>(statement) {
            match plan_read(shards, select, want)? {
                Planned::Sharded(read) => {
                    let sent = || Sent::Select(select.clone(), want);
                    let unmade = |own: &Reached| {
                        let unmade = shards.known[own.at].unmade(&own.table, &own.nodes);
                        (!unmade.is_empty()).then_some((own.at, unmade))
                    };
                    // One table after the other is settled.
                    let (at, unmade) = read.tables.iter().find_map(unmade).unwrap_or_default();
                    return Ok(Self::or_unsure(shards, at, unmade, sent, || {
                        Self::Read(Box::new(read))
                    }));
                }
                Planned::Unsharded(source) => source,
            }
        } else if let Some(insert) = downcast::<_, InsertStatement>(statement) {
            match plan_insert(shards, insert)? {
                Planned::Sharded(write) => return Ok(Self::Write(Box::new(write))),
                Planned::Unsharded(source) => source,
            }
        } else if let Some(update) = downcast::<_, UpdateStatement>(statement) {
            match plan_update(shards, update)? {
                Planned::Sharded(write) => {
                    return Ok(Self::write_or_unsure(shards, write, || {
                        Sent::Update(update.clone())
                    }));
                }
                Planned::Unsharded(source) => source,
            }
        } else if let Some(delete) = downcast::<_, DeleteStatement>(statement) {
            match plan_delete(shards, delete)? {
                Planned::Sharded(write) => {
                    return Ok(Self::write_or_unsure(shards, write, || {
                        Sent::Delete(delete.clone())
                    }));
                }
                Planned::Unsharded(source) => source,
            }
        } else if let Some(select) = downcast::<_, WithQuery>(statement).and_then(select_of_with) {
            return Self::of_known(shards, &select, want);
        } else if let Some(create) = downcast::<_, TableCreateStatement>(statement) {
            check_definition(shards, create)?
        } else {
            let statement = shards.backend.build(statement);
            return match shards.in_text(&statement.sql) {
                Some(sharded) => Err(refuse(shards, sharded, definition_or_text(&statement.sql))),
                None => Ok(Self::Pass(
                    source_of_unsharded(shards, &statement.sql)?,
                    statement,
                )),
            };
        };
        Ok(Self::Pass(source, shards.backend.build(statement)))
    }

    fn write_or_unsure(
        shards: &Arc<Shards>,
        write: PlannedWrite,
        sent: impl FnOnce() -> Sent,
    ) -> Self {
        let nodes: Vec<usize> = write.jobs.iter().map(|job| job.node).collect();
        let unmade = shards.known[write.at].unmade(&write.table, &nodes);
        Self::or_unsure(shards, write.at, unmade, sent, || {
            Self::Write(Box::new(write))
        })
    }

    fn or_unsure(
        shards: &Arc<Shards>,
        at: usize,
        unmade: Vec<usize>,
        sent: impl FnOnce() -> Sent,
        work: impl FnOnce() -> Self,
    ) -> Self {
        if unmade.is_empty() {
            return work();
        }
        Self::Unsure(Box::new(Unsure {
            shards: Arc::clone(shards),
            statement: sent(),
            unknown: Unknown::Tails(at, unmade),
        }))
    }

    /// Checks that a statement reaches no more physical tables than it may.
    pub(crate) fn check_nodes(&self, max: usize) -> Result<(), ShardingError> {
        let (tables, nodes) = match self {
            Self::Read(read) => {
                let tables = read.tables.iter();
                let names: Vec<String> = tables
                    .clone()
                    .map(|own| format!("`{}`", own.table.name()))
                    .collect();
                (names.join(", "), tables.map(|own| own.nodes.len()).sum())
            }
            Self::Write(write) => (format!("`{}`", write.table.name()), write.jobs.len()),
            Self::Pass(..) | Self::Unsure(_) => return Ok(()),
        };
        match nodes <= max {
            true => Ok(()),
            false => Err(ShardingError::TooManyNodes { tables, nodes, max }),
        }
    }

    pub(crate) fn of_text(shards: &Shards, statement: Statement) -> Result<Self, ShardingError> {
        let source = source_of_text(shards, &statement.sql)?;
        Ok(Self::Pass(source, statement))
    }

    /// The span of the statement: how it is answered, and by how many nodes.
    fn span(&self) -> Span {
        let (rung, nodes) = match self {
            Self::Read(read) => {
                let nodes = read.tables.iter().map(|own| own.nodes.len()).sum();
                let rung = match read.plan {
                    ReadPlan::Pass => "pass",
                    ReadPlan::Merge { .. } => "merge",
                    ReadPlan::Union(_) => "union",
                };
                (rung, nodes)
            }
            Self::Write(write) => ("write", write.jobs.len()),
            Self::Pass(..) => ("unsharded", 0),
            Self::Unsure(_) => ("unsure", 0),
        };
        Span::statement(rung, nodes)
    }

    pub(crate) async fn query_all(self, session: Session<'_>) -> Result<Vec<QueryResult>, DbErr> {
        self.span().around(self.all_rows(session)).await
    }

    async fn all_rows(self, session: Session<'_>) -> Result<Vec<QueryResult>, DbErr> {
        match self {
            Self::Read(read) => run::read_all(session, *read).await,
            Self::Write(write) => run::write_returning(session, *write).await,
            Self::Pass(source, statement) => {
                let session = once_unless_select(session, &statement);
                session.query_all(source, &statement).await
            }
            Self::Unsure(unsure) => {
                Box::pin(unsure.settle(session).await?.query_all(session)).await
            }
        }
    }

    pub(crate) async fn query_one(
        self,
        session: Session<'_>,
    ) -> Result<Option<QueryResult>, DbErr> {
        self.span().around(self.first_row(session)).await
    }

    async fn first_row(self, session: Session<'_>) -> Result<Option<QueryResult>, DbErr> {
        match self {
            Self::Read(read) => run::read_one(session, *read).await,
            Self::Write(write) => Ok(run::write_returning(session, *write)
                .await?
                .into_iter()
                .next()),
            Self::Pass(source, statement) => {
                let session = once_unless_select(session, &statement);
                session.query_one(source, &statement).await
            }
            Self::Unsure(unsure) => {
                Box::pin(unsure.settle(session).await?.query_one(session)).await
            }
        }
    }

    pub(crate) async fn execute(self, session: Session<'_>) -> Result<ExecResult, DbErr> {
        self.span().around(self.effect(session)).await
    }

    async fn effect(self, session: Session<'_>) -> Result<ExecResult, DbErr> {
        match self {
            Self::Write(write) => run::write(session, *write).await,
            Self::Pass(source, statement) => session.execute(source, &statement).await,
            Self::Unsure(unsure) => Box::pin(unsure.settle(session).await?.execute(session)).await,
            // A SELECT is executed for its effects, such as locks; its rows do not count.
            Self::Read(read) => {
                let backend = session.cluster().shards().backend;
                let rows = run::read_all(session, *read).await?;
                run::exec_result(backend, rows.len() as u64, 0).await
            }
        }
    }

    pub(crate) async fn stream(self, session: Session<'_>) -> Result<RowStream<'_>, DbErr> {
        let span = self.span();
        let rows = span.clone().around(self.rows(session)).await?;
        Ok(span.around_rows(rows))
    }

    async fn rows(self, session: Session<'_>) -> Result<RowStream<'_>, DbErr> {
        match self {
            Self::Read(read) => run::read_stream(session, *read).await,
            Self::Write(write) => Ok(crate::merge::buffered(
                run::write_returning(session, *write).await?,
            )),
            Self::Pass(source, statement) => {
                let session = once_unless_select(session, &statement);
                Ok(session.stream(source, statement, None))
            }
            Self::Unsure(unsure) => Box::pin(unsure.settle(session).await?.stream(session)).await,
        }
    }
}

/// Only what reads is tried again.
fn once_unless_select<'a>(session: Session<'a>, statement: &Statement) -> Session<'a> {
    match is_select(&statement.sql) {
        true => session,
        false => session.once(),
    }
}

impl Unsure {
    /// Finds out what is not known, and plans the statement. A tail that is not there is left out:
    /// a table that does not exist has no rows.
    async fn settle(self, session: Session<'_>) -> Result<Work, DbErr> {
        let settled = match &self.unknown {
            Unknown::Tails(at, nodes) => {
                let settled = session.look_for(&self.shards, *at, nodes).await?;
                Arc::new(settled)
            }
            Unknown::Sources(sources) => {
                session.meet(sources).await?;
                session.cluster().shards()
            }
        };
        let work = match &self.statement {
            Sent::Select(select, want) => Work::of(&settled, select, *want)?,
            Sent::Insert(insert) => Work::of(&settled, insert, Want::All)?,
            Sent::Update(update) => Work::of(&settled, update, Want::All)?,
            Sent::Delete(delete) => Work::of(&settled, delete, Want::All)?,
        };
        if let Some(max) = session.cluster().max_nodes(session.limits()) {
            work.check_nodes(max)?;
        }
        Ok(work)
    }
}

/// Where SQL text goes. It is refused if it names a sharded table.
pub(crate) fn source_of_text(shards: &Shards, sql: &str) -> Result<SourceId, ShardingError> {
    match shards.in_text(sql) {
        Some(sharded) => Err(refuse(shards, sharded, Clause::RawSql)),
        None => source_of_unsharded(shards, sql),
    }
}

/// Where SQL text without a sharded table goes. Only a SELECT may name a table of which every
/// data source has a copy.
fn source_of_unsharded(shards: &Shards, sql: &str) -> Result<SourceId, ShardingError> {
    if !is_select(sql)
        && let Some(table) = shards.spread_copy_in(sql)
    {
        return Err(Shards::refusal_of(Clause::BroadcastWrite, table.to_string()).into());
    }
    gathered(shards, shards.gather_text(sql))
}

/// Columns may be called like a sharded table; the table and the targets of its foreign keys may
/// not be one.
fn check_definition(
    shards: &Shards,
    create: &TableCreateStatement,
) -> Result<SourceId, ShardingError> {
    let keys = create.get_foreign_key_create_stmts().iter();
    let targets = keys.filter_map(|key| key.get_foreign_key().get_ref_table());
    let named = create.get_table_name().into_iter().chain(targets);
    let scan = Scan {
        tables: named
            .filter_map(|table| match table {
                TableRef::Table(name, _) => Some(name.clone()),
                _ => None,
            })
            .collect(),
        ..Scan::default()
    };
    if let Some((sharded, _)) = shards.first_named(&scan) {
        return Err(refuse(shards, sharded, Clause::Definition));
    }
    let copy = create
        .get_table_name()
        .and_then(|table| shards.spread_copy(table));
    match copy {
        Some(table) => Err(Shards::refusal_of(Clause::BroadcastWrite, table).into()),
        None => gathered(shards, shards.gather(&scan)),
    }
}

fn refuse(shards: &Shards, sharded: crate::shards::Sharded<'_>, clause: Clause) -> ShardingError {
    shards.refusal(clause, sharded.table, &[]).into()
}

fn definition_or_text(sql: &str) -> Clause {
    let first = sql.split_whitespace().next().unwrap_or_default();
    match first.to_ascii_uppercase().as_str() {
        "CREATE" | "ALTER" | "DROP" | "TRUNCATE" | "RENAME" => Clause::Definition,
        "WITH" => Clause::CommonTable,
        _ => Clause::RawSql,
    }
}

fn is_select(sql: &str) -> bool {
    let first = sql
        .split(|c: char| !c.is_ascii_alphabetic())
        .find(|word| !word.is_empty());
    first.is_some_and(|word| word.eq_ignore_ascii_case("select"))
}
