//! What a connection and a transaction have in common: every statement comes through here.

use sea_orm::sea_query::{
    DeleteStatement, InsertStatement, SelectStatement, TableCreateStatement, TableRef,
    UpdateStatement,
};
use sea_orm::{DbErr, ExecResult, QueryResult, Statement, StatementBuilder};
use sharding_core::plan::Clause;
use sharding_core::topology::SourceId;

use crate::downcast::downcast;
use crate::error::ShardingError;
use crate::execute::{RowStream, Session};
use crate::plan::{
    PlannedRead, PlannedWrite, Want, plan_delete, plan_insert, plan_read, plan_update,
};
use crate::run;
use crate::shards::Shards;
use crate::visit::Scan;

/// What is to be done for a statement.
#[derive(Debug)]
pub(crate) enum Work {
    Read(Box<PlannedRead>),
    Write(Box<PlannedWrite>),
    /// No sharded table is in it: it goes to the default source as it stands.
    Pass(SourceId, Statement),
}

impl Work {
    pub(crate) fn of<S: StatementBuilder>(
        shards: &Shards,
        statement: &S,
        want: Want,
    ) -> Result<Self, ShardingError> {
        let read = |read| Self::Read(Box::new(read));
        let write = |write| Self::Write(Box::new(write));
        let work = if let Some(select) = downcast::<_, SelectStatement>(statement) {
            plan_read(shards, select, want)?.map(read)
        } else if let Some(insert) = downcast::<_, InsertStatement>(statement) {
            plan_insert(shards, insert)?.map(write)
        } else if let Some(update) = downcast::<_, UpdateStatement>(statement) {
            plan_update(shards, update)?.map(write)
        } else if let Some(delete) = downcast::<_, DeleteStatement>(statement) {
            plan_delete(shards, delete)?.map(write)
        } else if let Some(create) = downcast::<_, TableCreateStatement>(statement) {
            check_definition(shards, create)?;
            None
        } else {
            let statement = shards.backend.build(statement);
            return match shards.in_text(&statement.sql) {
                Some(sharded) => Err(refuse(shards, sharded, definition_or_text(&statement.sql))),
                None => Ok(Self::Pass(shards.topology.default_source(), statement)),
            };
        };
        Ok(work.unwrap_or_else(|| {
            Self::Pass(
                shards.topology.default_source(),
                shards.backend.build(statement),
            )
        }))
    }

    pub(crate) fn of_text(shards: &Shards, statement: Statement) -> Result<Self, ShardingError> {
        check_text(shards, &statement.sql)?;
        Ok(Self::Pass(shards.topology.default_source(), statement))
    }

    pub(crate) async fn query_all(self, session: Session<'_>) -> Result<Vec<QueryResult>, DbErr> {
        match self {
            Self::Read(read) => run::read_all(session, *read).await,
            Self::Write(write) => run::write_returning(session, *write).await,
            Self::Pass(source, statement) => session.query_all(source, statement).await,
        }
    }

    pub(crate) async fn query_one(
        self,
        session: Session<'_>,
    ) -> Result<Option<QueryResult>, DbErr> {
        match self {
            Self::Read(read) => run::read_one(session, *read).await,
            Self::Write(write) => Ok(run::write_returning(session, *write)
                .await?
                .into_iter()
                .next()),
            Self::Pass(source, statement) => session.query_one(source, statement).await,
        }
    }

    pub(crate) async fn execute(self, session: Session<'_>) -> Result<ExecResult, DbErr> {
        match self {
            Self::Write(write) => run::write(session, *write).await,
            Self::Pass(source, statement) => session.execute(source, statement).await,
            // A SELECT is executed for its effects, such as locks; its rows do not count.
            Self::Read(read) => {
                let backend = session.cluster().shards().backend;
                let rows = run::read_all(session, *read).await?;
                run::exec_result(backend, rows.len() as u64, 0).await
            }
        }
    }

    pub(crate) async fn stream(self, session: Session<'_>) -> Result<RowStream<'_>, DbErr> {
        match self {
            Self::Read(read) => run::read_stream(session, *read).await,
            Self::Write(write) => Ok(crate::merge::buffered(
                run::write_returning(session, *write).await?,
            )),
            Self::Pass(source, statement) => Ok(session.stream(source, statement)),
        }
    }
}

/// Refuses SQL text that names a sharded table.
pub(crate) fn check_text(shards: &Shards, sql: &str) -> Result<(), ShardingError> {
    match shards.in_text(sql) {
        Some(sharded) => Err(refuse(shards, sharded, Clause::RawSql)),
        None => Ok(()),
    }
}

/// Columns may be called like a sharded table; the table and the targets of its foreign keys may
/// not be one.
fn check_definition(shards: &Shards, create: &TableCreateStatement) -> Result<(), ShardingError> {
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
    match shards.first_named(&scan) {
        Some((sharded, _)) => Err(refuse(shards, sharded, Clause::Definition)),
        None => Ok(()),
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
