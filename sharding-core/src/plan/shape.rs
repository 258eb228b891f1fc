use super::{Clause, Page};

/// What the planner needs to know of a SELECT over one sharded table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelectShape {
    /// The select list.
    pub items: Vec<Item>,
    /// The GROUP BY list.
    pub group: Vec<GroupKey>,
    /// The ORDER BY list.
    pub order: Vec<OrderKey>,
    /// LIMIT and OFFSET.
    pub page: Page,
    /// Clauses of the statement that the planner does not decompose.
    pub obstacles: Vec<Clause>,
    /// Whether rows are locked: a union cannot do that.
    pub locks: bool,
}

/// One item of a select list.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A column of the table.
    Column(String),
    /// Something that is computed from one row alone.
    Scalar,
    /// All columns, so that the positions of later ones are not known.
    Star,
    /// An aggregate.
    Aggregate(Aggregate),
    /// Something else: it may look at several rows.
    Opaque,
}

/// An aggregate function over one argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// The function.
    pub function: Function,
    /// Whether this backend's order of the argument is known: needed for MIN and MAX.
    pub proof: Proof,
}

/// The aggregate functions that decompose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// COUNT of rows or of values.
    Count,
    /// SUM.
    Sum,
    /// MIN.
    Min,
    /// MAX.
    Max,
    /// AVG: never from averages, always from SUM and COUNT.
    Avg,
}

/// One key of GROUP BY.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupKey {
    /// The column; `None` for an expression.
    pub column: Option<String>,
    /// Whether this backend's order and equality of the key are known.
    pub proof: Proof,
}

/// One key of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderKey {
    /// What is ordered by.
    pub target: OrderTarget,
    /// ASC or DESC.
    pub direction: Direction,
    /// Where NULLs go, the backend's default included.
    pub nulls: Nulls,
    /// Whether this backend's order of the key is known.
    pub proof: Proof,
}

/// What an ORDER BY key refers to.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderTarget {
    /// An item of the select list, by position from 0.
    Item(usize),
    /// A column that is not selected.
    Column(String),
    /// Something else.
    Expression,
}

/// ASC or DESC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// Where NULLs go in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// Before every value.
    First,
    /// After every value.
    Last,
}

/// Whether the order in which the database sorts a column is known exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It is: numbers by value, times by time, text as said.
    Proven(TextOrder),
    /// It is not, for this reason.
    Unproven(String),
}

/// The order of text in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextOrder {
    /// There is no text: meeting some is an error.
    NoText,
    /// By bytes.
    Bytes,
    /// By bytes, as if the shorter text were padded with spaces.
    PaddedBytes,
}
