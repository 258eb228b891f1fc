//! What the page has a line for.

use std::fmt::{Debug, Formatter, Result as Formatted};
use std::pin::Pin;

use sea_orm::sea_query::{
    DeleteStatement, InsertStatement, SelectStatement, UpdateStatement, WithQuery,
};
use sea_orm::{DatabaseConnection, DbBackend, DbErr, StatementBuilder};
use sharding_sea_orm::ShardingConnection;

/// A part of the page.
#[derive(Debug)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// What is to be said before the table.
    pub text: &'static str,
    /// The lines of the table.
    pub constructs: Vec<Construct>,
}

/// A line of the page: what is asked, and how answers are compared.
#[derive(Debug)]
pub struct Construct {
    /// What a reader would look for.
    pub name: &'static str,
    /// What is asked.
    pub ask: Ask,
    /// How answers are compared.
    pub answer: Answer,
    /// What a reader would not expect.
    pub note: Option<&'static str>,
    /// The database systems that do not have it.
    pub absent: &'static [DbBackend],
}

/// What an answer promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Rows in an order.
    Ordered,
    /// Rows in any order.
    Rows,
    /// A number of rows, which the database may choose.
    Count,
    /// Rows that were changed, and what the tables hold afterwards.
    Written,
    /// Rows that a write gives back, and what the tables hold afterwards.
    Returned,
}

/// What is asked.
pub enum Ask {
    /// Rows.
    Select(SelectStatement),
    /// Rows, with WITH in front.
    With(WithQuery),
    /// A write.
    Insert(InsertStatement),
    /// A write.
    Update(UpdateStatement),
    /// A write.
    Delete(DeleteStatement),
    /// Anything else.
    Call(Call),
}

/// A call of SeaORM or of the connection.
#[allow(missing_debug_implementations, reason = "functions have none")]
pub struct Call {
    /// As one would write it.
    pub example: &'static str,
    /// The statement that it makes, where one tells the rung.
    pub makes: Option<SelectStatement>,
    /// Makes the call on a plain connection.
    pub plain: Box<dyn for<'a> Fn(&'a DatabaseConnection) -> Asked<'a>>,
    /// Makes the call on a sharded connection.
    pub sharded: Box<dyn for<'a> Fn(&'a ShardingConnection) -> Asked<'a>>,
}

/// An answer, printed.
pub type Asked<'a> = Pin<Box<dyn Future<Output = Result<String, DbErr>> + 'a>>;

impl Construct {
    /// A query whose rows have an order.
    pub fn ordered(name: &'static str, query: SelectStatement) -> Self {
        Self::new(name, Ask::Select(query), Answer::Ordered)
    }

    /// A query whose rows have none.
    pub fn rows(name: &'static str, query: SelectStatement) -> Self {
        Self::new(name, Ask::Select(query), Answer::Rows)
    }

    /// A query of which only the number of rows is promised.
    pub fn counted(name: &'static str, query: SelectStatement) -> Self {
        Self::new(name, Ask::Select(query), Answer::Count)
    }

    /// A query with WITH in front, whose rows have no order.
    pub fn with(name: &'static str, query: WithQuery) -> Self {
        Self::new(name, Ask::With(query), Answer::Rows)
    }

    /// An INSERT.
    pub fn insert(name: &'static str, statement: InsertStatement) -> Self {
        Self::new(name, Ask::Insert(statement), Answer::Written)
    }

    /// An UPDATE.
    pub fn update(name: &'static str, statement: UpdateStatement) -> Self {
        Self::new(name, Ask::Update(statement), Answer::Written)
    }

    /// A DELETE.
    pub fn delete(name: &'static str, statement: DeleteStatement) -> Self {
        Self::new(name, Ask::Delete(statement), Answer::Written)
    }

    /// A call. Use `call!` to make one.
    pub fn call(
        name: &'static str,
        example: &'static str,
        makes: Option<SelectStatement>,
        plain: impl for<'a> Fn(&'a DatabaseConnection) -> Asked<'a> + 'static,
        sharded: impl for<'a> Fn(&'a ShardingConnection) -> Asked<'a> + 'static,
    ) -> Self {
        let call = Call {
            example,
            makes,
            plain: Box::new(plain),
            sharded: Box::new(sharded),
        };
        Self::new(name, Ask::Call(call), Answer::Ordered)
    }

    fn new(name: &'static str, ask: Ask, answer: Answer) -> Self {
        Self {
            name,
            ask,
            answer,
            note: None,
            absent: &[],
        }
    }

    /// The same for a write that gives rows back.
    pub fn returned(self) -> Self {
        Self {
            answer: Answer::Returned,
            ..self
        }
    }

    /// The same for a call that writes.
    pub fn written(self) -> Self {
        Self {
            answer: Answer::Written,
            ..self
        }
    }

    /// What a reader would not expect.
    pub fn note(self, note: &'static str) -> Self {
        Self {
            note: Some(note),
            ..self
        }
    }

    /// The database systems that do not have it.
    pub fn absent(self, absent: &'static [DbBackend]) -> Self {
        Self { absent, ..self }
    }

    /// What is asked, as the page shows it: in PostgreSQL's words if it has them.
    pub fn example(&self) -> String {
        let backend = if self.absent.contains(&DbBackend::Postgres) {
            DbBackend::MySql
        } else {
            DbBackend::Postgres
        };
        let sql = |statement: &dyn StatementBuilder| {
            let text = statement.build(&backend).to_string();
            text.replace(['"', '`'], "")
        };
        match &self.ask {
            Ask::Select(statement) => sql(statement),
            Ask::With(statement) => sql(statement),
            Ask::Insert(statement) => sql(statement),
            Ask::Update(statement) => sql(statement),
            Ask::Delete(statement) => sql(statement),
            Ask::Call(call) => call.example.to_owned(),
        }
    }
}

impl Debug for Ask {
    fn fmt(&self, f: &mut Formatter<'_>) -> Formatted {
        match self {
            Self::Select(statement) => statement.fmt(f),
            Self::With(statement) => statement.fmt(f),
            Self::Insert(statement) => statement.fmt(f),
            Self::Update(statement) => statement.fmt(f),
            Self::Delete(statement) => statement.fmt(f),
            Self::Call(call) => f.write_str(call.example),
        }
    }
}

/// A call, with `$db` for the connection. `as` names the statement that it makes.
macro_rules! call {
    ($name:expr, $example:expr, as $makes:expr, $db:ident => $run:expr) => {
        call!(@ $name, $example, Some($makes), $db => $run)
    };
    ($name:expr, $example:expr, $db:ident => $run:expr) => {
        call!(@ $name, $example, None, $db => $run)
    };
    (@ $name:expr, $example:expr, $makes:expr, $db:ident => $run:expr) => {
        $crate::suite::support::construct::Construct::call(
            $name,
            $example,
            $makes,
            |$db| Box::pin(async move {
                let found: Result<_, sea_orm::DbErr> = async { $run }.await;
                found.map(|found| format!("{found:?}"))
            }),
            |$db| Box::pin(async move {
                let found: Result<_, sea_orm::DbErr> = async { $run }.await;
                found.map(|found| format!("{found:?}"))
            }),
        )
    };
}
pub(super) use call;
