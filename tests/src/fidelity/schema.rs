//! What the tables look like, as plain data.

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{DbBackend, Value};
use serde::{Deserialize, Serialize};

/// One of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Table {
    /// The wide sharded table.
    Fact,
    /// Its child, sharded as well.
    Item,
    /// A broadcast table.
    Tag,
    /// A table that lives in one data source.
    Owner,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// What a column or a value holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the kinds name themselves")]
pub enum Kind {
    Small,
    Int,
    Big,
    Unsigned,
    Real,
    Double,
    Decimal,
    Bool,
    Text,
    Char,
    Bytes,
    Uuid,
    Date,
    Time,
    DateTime,
    Instant,
    Json,
    Mood,
    Grade,
}

/// A row: the values of the table's columns, in their order, as text.
pub type Row = Vec<Option<String>>;

const fn column(name: &'static str, kind: Kind, nullable: bool) -> Column {
    Column {
        name,
        kind,
        nullable,
    }
}

const FACT: [Column; 24] = [
    column("id", Kind::Big, false),
    column("at", Kind::Instant, false),
    column("kind", Kind::Text, false),
    column("big", Kind::Big, false),
    column("day", Kind::Date, false),
    column("uid", Kind::Uuid, false),
    column("small", Kind::Small, true),
    column("n", Kind::Int, true),
    column("units", Kind::Unsigned, true),
    column("ratio", Kind::Real, true),
    column("score", Kind::Double, true),
    column("amount", Kind::Decimal, true),
    column("flag", Kind::Bool, true),
    column("note", Kind::Text, true),
    column("code", Kind::Char, true),
    column("data", Kind::Bytes, true),
    column("tod", Kind::Time, true),
    column("made", Kind::DateTime, true),
    column("seen", Kind::Instant, true),
    column("doc", Kind::Json, true),
    column("mood", Kind::Mood, true),
    column("grade", Kind::Grade, true),
    column("owner_id", Kind::Int, true),
    column("parent_id", Kind::Big, true),
];
const ITEM: [Column; 9] = [
    column("id", Kind::Big, false),
    column("fact_id", Kind::Big, false),
    column("at", Kind::Instant, false),
    column("kind", Kind::Text, false),
    column("big", Kind::Big, false),
    column("qty", Kind::Int, true),
    column("price", Kind::Decimal, true),
    column("label", Kind::Text, true),
    column("tag_id", Kind::Int, true),
];
const TAG: [Column; 4] = [
    column("id", Kind::Int, false),
    column("name", Kind::Text, false),
    column("color", Kind::Text, true),
    column("weight", Kind::Int, true),
];
const OWNER: [Column; 4] = [
    column("id", Kind::Int, false),
    column("name", Kind::Text, false),
    column("region", Kind::Text, true),
    column("rank", Kind::Small, true),
];

impl Table {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Fact, Self::Item, Self::Tag, Self::Owner];

    /// The logical name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Item => "item",
            Self::Tag => "tag",
            Self::Owner => "owner",
        }
    }

    /// The columns, of which the first is the primary key.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Self::Fact => &FACT,
            Self::Item => &ITEM,
            Self::Tag => &TAG,
            Self::Owner => &OWNER,
        }
    }

    /// The position of a column.
    pub fn position(self, name: &str) -> Option<usize> {
        self.columns().iter().position(|column| column.name == name)
    }

    /// The column of a name.
    pub fn column(self, name: &str) -> Option<&'static Column> {
        self.columns().iter().find(|column| column.name == name)
    }
}

impl Kind {
    /// Whether sums and averages can be made of it.
    pub fn is_number(self) -> bool {
        self.is_integer() || matches!(self, Self::Real | Self::Double | Self::Decimal)
    }

    /// Whether it is an integer.
    pub fn is_integer(self) -> bool {
        matches!(self, Self::Small | Self::Int | Self::Big | Self::Unsigned)
    }

    /// Whether it is kept as a floating point number.
    pub fn is_float(self, backend: DbBackend) -> bool {
        matches!(self, Self::Real | Self::Double)
            || (self == Self::Decimal && backend == DbBackend::Sqlite)
    }

    /// Whether it is text with a collation.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Char)
    }

    /// Whether it is a date or a time.
    pub fn is_time(self) -> bool {
        matches!(
            self,
            Self::Date | Self::Time | Self::DateTime | Self::Instant
        )
    }

    /// A value of this kind, from its text.
    ///
    /// # Panics
    /// If the text is no such value.
    pub fn value(self, text: Option<&str>) -> Value {
        macro_rules! parsed {
            ($type:ty) => {
                text.map(|text| text.parse::<$type>().unwrap()).into()
            };
        }
        match self {
            Self::Small => parsed!(i16),
            Self::Int => parsed!(i32),
            Self::Big => parsed!(i64),
            Self::Unsigned => parsed!(u32),
            Self::Real => parsed!(f32),
            Self::Double => parsed!(f64),
            Self::Decimal => parsed!(sea_orm::prelude::Decimal),
            Self::Bool => parsed!(bool),
            Self::Text | Self::Char | Self::Mood | Self::Grade => text.map(str::to_owned).into(),
            Self::Bytes => text.map(bytes).into(),
            Self::Uuid => parsed!(sea_orm::prelude::Uuid),
            Self::Date => parsed!(chrono::NaiveDate),
            Self::Time => parsed!(chrono::NaiveTime),
            Self::DateTime => parsed!(chrono::NaiveDateTime),
            Self::Instant => parsed!(chrono::DateTime<chrono::Utc>),
            Self::Json => parsed!(serde_json::Value),
        }
    }

    /// The value as an expression; enumerations need a cast.
    pub fn expr(self, text: Option<&str>) -> Expr {
        let value = Expr::val(self.value(text));
        match self {
            Self::Mood => value.as_enum("mood"),
            _ => value,
        }
    }
}

/// Bytes out of hexadecimal digits.
fn bytes(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
        .collect()
}
