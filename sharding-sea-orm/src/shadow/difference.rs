//! In what two answers differ.

use std::fmt;

use sea_orm::DbErr;

use super::answer::Row;
use super::cell::Cell;
use crate::error::ShardingError;

/// In what the sharded side's answer differs from the plain side's; the first difference that was
/// found. Rows and columns count from one, and rows are those of the plain answer. It prints well.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Difference {
    /// The sharded side does not take the statement, or not this row or value in it; see
    /// [`ShardingError`] for what to do.
    #[error("the sharded side does not take it: {0}")]
    Refused(ShardingError),
    /// One side failed and the other answered. If it is a missing table, create it on that side;
    /// if the sharded side fails where the plain one does not in another way, please report it.
    #[error("only the {side} side fails: {error}")]
    Error {
        /// The side that failed.
        side: Side,
        /// What it said.
        error: DbErr,
    },
    /// Both sides failed, so there was nothing to compare. Correct the statement, or create the
    /// tables on both sides.
    #[error("both sides fail; the plain side: {plain}; the sharded side: {sharded}")]
    NoAnswer {
        /// What the plain side said.
        plain: DbErr,
        /// What the sharded side said.
        sharded: DbErr,
    },
    /// A column has another name or type in the driver. If the tables were created with other
    /// types than the entity's on one side, alter them; otherwise please report it.
    #[error(
        "column {number} is {} on the sharded side and {} on the plain side",
        or_none(.sharded), or_none(.plain)
    )]
    Columns {
        /// The column.
        number: usize,
        /// Its name and type on the plain side; `None` if it is not there.
        plain: Option<String>,
        /// Its name and type on the sharded side.
        sharded: Option<String>,
    },
    /// The answers have different numbers of rows: the sides hold other rows, or the answer is
    /// wrong.
    #[error("the sharded side has {sharded} rows, the plain side {plain}{}", only_one(.row))]
    Count {
        /// The number of rows on the plain side.
        plain: usize,
        /// The number of rows on the sharded side.
        sharded: usize,
        /// A row that only one of them has, if there is one.
        row: Option<(Side, String)>,
    },
    /// A value differs: the sides hold other values, or the answer is wrong.
    #[error("row {row}, column `{column}`: the sharded side has {sharded}, the plain side {plain}")]
    Value {
        /// The row.
        row: usize,
        /// The name of the column.
        column: String,
        /// The value on the plain side.
        plain: String,
        /// The value on the sharded side.
        sharded: String,
    },
    /// A row of the plain side is not on the sharded side, which has another one that is not like
    /// it in any column.
    #[error("row {row}: the sharded side has {sharded}, the plain side {plain}")]
    Row {
        /// The row.
        row: usize,
        /// The row of the plain side.
        plain: String,
        /// A row that only the sharded side has.
        sharded: String,
    },
    /// The rows are the same in another order, from this row on. Rows that the database's order
    /// does not tell apart may come in any: text under a collation that ignores case, or keys that
    /// are not in the answer. Otherwise the order is wrong. Order by a unique key in addition to
    /// have one right order.
    #[error(
        "the rows are the same in another order, from row {row} on: the sharded side has \
         {sharded}, the plain side {plain}; both are right if these rows tie"
    )]
    Order {
        /// The first row that differs.
        row: usize,
        /// The row of the plain side.
        plain: String,
        /// The row of the sharded side.
        sharded: String,
    },
    /// The rows differ where LIMIT or OFFSET cuts them out of more, and the order does not say
    /// which come first: both may be right. Order by a unique key in addition to have one right
    /// page.
    #[error(
        "row {row} of a page without a unique order: the sharded side has {sharded}, the plain \
         side {plain}; both are right if these rows tie"
    )]
    Page {
        /// The row.
        row: usize,
        /// The row of the plain side.
        plain: String,
        /// A row that only the sharded side has.
        sharded: String,
    },
    /// A write affected different numbers of rows: the sides held other rows, or the write went
    /// to other ones.
    #[error("the sharded side affected {sharded} rows, the plain side {plain}")]
    Affected {
        /// The number of rows on the plain side.
        plain: u64,
        /// The number of rows on the sharded side.
        sharded: u64,
    },
}

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The unsharded database.
    Plain,
    /// The sharded connection.
    Sharded,
}

/// The kinds of differences, from the gravest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DifferenceKind {
    /// [`Difference::Value`] and [`Difference::Row`].
    Value,
    /// [`Difference::Count`].
    Count,
    /// [`Difference::Columns`].
    Columns,
    /// [`Difference::Affected`].
    Affected,
    /// [`Difference::Error`].
    Error,
    /// [`Difference::NoAnswer`].
    NoAnswer,
    /// [`Difference::Order`].
    Order,
    /// [`Difference::Page`].
    Page,
    /// [`Difference::Refused`].
    Refused,
}

impl Difference {
    /// The kind of the difference.
    pub fn kind(&self) -> DifferenceKind {
        match self {
            Self::Refused(_) => DifferenceKind::Refused,
            Self::Error { .. } => DifferenceKind::Error,
            Self::NoAnswer { .. } => DifferenceKind::NoAnswer,
            Self::Columns { .. } => DifferenceKind::Columns,
            Self::Count { .. } => DifferenceKind::Count,
            Self::Value { .. } | Self::Row { .. } => DifferenceKind::Value,
            Self::Order { .. } => DifferenceKind::Order,
            Self::Page { .. } => DifferenceKind::Page,
            Self::Affected { .. } => DifferenceKind::Affected,
        }
    }

    /// What the sharded side's failure is, where the plain side has answered.
    pub(super) fn of_error(error: DbErr) -> Self {
        match refusal(&error) {
            Some(refused) => Self::Refused(refused.clone()),
            None => Self::Error {
                side: Side::Sharded,
                error,
            },
        }
    }
}

/// The refusal that an error of the sharded side is; `None` if it is a failure, be it of the
/// database or of the sharding layer.
pub(super) fn refusal(error: &DbErr) -> Option<&ShardingError> {
    let is_refusal = |error: &&ShardingError| {
        matches!(
            error,
            ShardingError::Refused(_)
                | ShardingError::Key(_)
                | ShardingError::RoundedKey { .. }
                | ShardingError::KeyNotUtc { .. }
                | ShardingError::Draining { .. }
                | ShardingError::SecondSource { .. }
                | ShardingError::UnmergeableType { .. }
        )
    };
    ShardingError::of(error).filter(is_refusal)
}

/// Two values as texts that show where they differ.
pub(super) fn show_cells(plain: &Cell, sharded: &Cell) -> (String, String) {
    shorten(&plain.to_string(), &sharded.to_string())
}

/// Two rows as texts that show where they differ.
pub(super) fn show_rows(plain: &Row, sharded: &Row) -> (String, String) {
    shorten(&plain.to_string(), &sharded.to_string())
}

/// Long texts are cut to what surrounds their first difference.
fn shorten(a: &str, b: &str) -> (String, String) {
    const SHOWN: usize = 200;
    const BEFORE: usize = 40;
    let length = a.chars().count().max(b.chars().count());
    let alike = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let skipped = if length > SHOWN {
        alike.saturating_sub(BEFORE)
    } else {
        0
    };
    let cut = |text: &str| {
        let start = if skipped > 0 { "…" } else { "" };
        let rest = text.chars().count().saturating_sub(skipped);
        let end = if rest > SHOWN { "…" } else { "" };
        let shown: String = text.chars().skip(skipped).take(SHOWN).collect();
        format!("{start}{shown}{end}")
    };
    (cut(a), cut(b))
}

fn or_none(column: &Option<String>) -> &str {
    column.as_deref().unwrap_or("not there")
}

fn only_one(row: &Option<(Side, String)>) -> String {
    match row {
        Some((side, row)) => format!("; only the {side} side has {row}"),
        None => String::new(),
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Sharded => "sharded",
        })
    }
}

impl fmt::Display for DifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value => "other values",
            Self::Count => "other numbers of rows",
            Self::Columns => "other columns",
            Self::Affected => "other numbers of affected rows",
            Self::Error => "failed on one side",
            Self::NoAnswer => "failed on both sides",
            Self::Order => "another order, perhaps of ties",
            Self::Page => "another page, perhaps of ties",
            Self::Refused => "refused",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn long_texts_show_where_they_differ() {
        let same = "é".repeat(300);
        let (a, b) = shorten(&format!("{same}a"), &format!("{same}b{same}"));
        assert_eq!(a, format!("…{}a", "é".repeat(40)));
        assert_eq!(b, format!("…{}b{}…", "é".repeat(40), "é".repeat(159)));
        assert_eq!(shorten("a", "b"), ("a".to_owned(), "b".to_owned()));
    }
}
