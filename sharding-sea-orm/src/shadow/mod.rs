//! The same queries asked of an unsharded database and of a sharded one, to see every difference
//! before the data moves.
//!
//! Two ways:
//!
//! - In tests, [`assert_same_answers!`](crate::assert_same_answers) and [`same_answers`] ask both
//!   sides one SELECT and compare the answers.
//! - In a running application, a [`ShadowConnection`] takes the place of the database connection.
//!   It answers from the present database, asks the sharded one the same, and collects the
//!   differences in a [`ShadowReport`].
//!
//! Both sides must hold the same rows: load the sharded tables from the present ones, or let a
//! [`ShadowConnection`] over empty databases write to both.
//!
//! ```
//! use sea_orm::entity::prelude::*;
//! use sea_orm::{ConnectionTrait, Database, QueryOrder, Schema, Set};
//! use sharding_sea_orm::shadow::ShadowConnection;
//! use sharding_sea_orm::{ShardingConnection, assert_same_answers};
//!
//! mod account {
//!     use sea_orm::entity::prelude::*;
//!     use sharding_sea_orm::{Modulo, Sharded};
//!
//!     #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
//!     #[sea_orm(table_name = "account")]
//!     #[sharded(table(key = id, by = Modulo::new(4)))]
//!     pub struct Model {
//!         #[sea_orm(primary_key, auto_increment = false)]
//!         pub id: i64,
//!         pub balance: i64,
//!     }
//!
//!     #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
//!     pub enum Relation {}
//!
//!     impl ActiveModelBehavior for ActiveModel {}
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let plain = Database::connect("sqlite::memory:").await?;
//! let schema = Schema::new(plain.get_database_backend());
//! plain.execute(&schema.create_table_from_entity(account::Entity)).await?;
//! let sharded = ShardingConnection::builder()
//!     .source("ds0", "sqlite::memory:")
//!     .entity::<account::Entity>()
//!     .connect()
//!     .await?;
//! sharded.create_tables().await?;
//!
//! let db = ShadowConnection::new(plain.clone(), sharded.clone());
//! for id in 1..=9 {
//!     account::ActiveModel { id: Set(id), balance: Set(id % 3) }.insert(&db).await?;
//! }
//! let rich = account::Entity::find().order_by_desc(account::Column::Balance);
//! rich.clone().all(&db).await?;
//! println!("{}", db.report());
//! assert_eq!(db.report().same, 10);
//!
//! assert_same_answers!(plain, sharded, rich);
//! # Ok(())
//! # }
//! ```
//!
//! # What is compared
//!
//! - The **names and types of columns**, by the driver's name of the type.
//! - The **number of rows**.
//! - **Values**, exactly: decimals with the digits after the point that are shown, text by its
//!   bytes, times to the microsecond. Floating point numbers may differ by 10⁻⁹ of their size, and
//!   those of single precision by 10⁻⁶, since sums depend on the order of summation.
//! - The **order of rows**, if the statement has ORDER BY. Rows that tie by order keys which are
//!   columns of the answer may come in any order; otherwise [`Difference::Order`] tells that the
//!   rows are the same and the order is not. Without ORDER BY there is no order.
//! - **Pages**: where LIMIT or OFFSET cuts rows out of more and the order does not say which, a
//!   difference is a [`Difference::Page`]. To tell, the plain side is asked for one row more.
//!
//! SQL text is not parsed: if it holds `ORDER BY` anywhere, its answer counts as ordered.

mod answer;
mod cell;
mod compare;
mod connection;
mod difference;
mod observer;
mod question;
mod reply;
mod report;
mod traits;

use sea_orm::ConnectionTrait;

pub use connection::{ShadowConnection, ShadowTransaction};
pub use difference::{Difference, DifferenceKind, Side};
pub use observer::STREAMED_ROWS;
pub use question::Question;
pub use report::{ShadowEntry, ShadowReport};

/// Asks both sides a SELECT and compares the answers, as the [module](self) describes.
///
/// # Errors
/// The first difference that was found.
pub async fn same_answers<P, S, Q>(plain: &P, sharded: &S, statement: &Q) -> Result<(), Difference>
where
    P: ConnectionTrait,
    S: ConnectionTrait,
    Q: Question,
{
    let subject = statement.subject(plain.get_database_backend());
    let answer = statement.ask(plain).await;
    let other = statement.ask(sharded).await;
    match reply::compare(plain, &subject, &answer, other).await {
        Some(difference) => Err(difference),
        None => Ok(()),
    }
}

/// Asserts that both sides give the same answer to a SELECT; see
/// [`same_answers`](crate::shadow::same_answers). It takes connections and statements as they are
/// or by reference, and is used in async functions.
///
/// ```no_run
/// # use sea_orm::{DatabaseConnection, sea_query::Query};
/// # use sharding_sea_orm::{ShardingConnection, assert_same_answers};
/// # async fn check(plain: DatabaseConnection, sharded: &ShardingConnection) {
/// assert_same_answers!(plain, sharded, Query::select().column("id").from("account"));
/// # }
/// ```
///
/// # Panics
/// If there is a difference, with the statement and the difference.
#[macro_export]
macro_rules! assert_same_answers {
    ($plain:expr, $sharded:expr, $statement:expr $(,)?) => {{
        use $crate::shadow::{ByReference as _, QuestionByReference as _};
        let difference = $crate::shadow::difference_text(
            ($plain).connection_by_reference(),
            ($sharded).connection_by_reference(),
            ($statement).question_by_reference(),
        )
        .await;
        if let Some(difference) = difference {
            panic!("{difference}");
        }
    }};
}

/// The difference between the answers with the statement, for the macro.
#[doc(hidden)]
pub async fn difference_text<P, S, Q>(plain: &P, sharded: &S, statement: &Q) -> Option<String>
where
    P: ConnectionTrait,
    S: ConnectionTrait,
    Q: Question,
{
    let difference = same_answers(plain, sharded, statement).await.err()?;
    let subject = statement.subject(plain.get_database_backend());
    Some(format!("{difference}\n{}", subject.statement()))
}

/// Method calls take a connection and a reference to one alike, which the macro makes use of.
#[doc(hidden)]
pub trait ByReference {
    fn connection_by_reference(&self) -> &Self {
        self
    }
}

impl<C: ConnectionTrait> ByReference for C {}

/// The same for statements.
#[doc(hidden)]
pub trait QuestionByReference {
    fn question_by_reference(&self) -> &Self {
        self
    }
}

impl<Q: Question> QuestionByReference for Q {}
