use super::{Clause, Page};

/// What the planner needs to know of a SELECT.
///
/// Where every group is of one unit, since the sharding key is among the keys, its groups are
/// rows here, and so for DISTINCT.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelectShape {
    /// The select list, and after it the hidden items: what HAVING and ORDER BY compute beyond it.
    pub items: Vec<Item>,
    /// How many items are the statement's own; the others are hidden.
    pub visible: usize,
    /// The GROUP BY list.
    pub group: Vec<GroupKey>,
    /// HAVING, as the position of a hidden item.
    pub having: Option<usize>,
    /// Whether equal rows are one.
    pub distinct: bool,
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
    /// A column, or something else that is computed from one row alone.
    Row(RowItem),
    /// All columns, so that the positions of later ones are not known.
    Star,
    /// An aggregate.
    Aggregate(Aggregate),
    /// An expression over aggregates and group keys, in the order of its pieces.
    Compound(Vec<Piece>),
    /// Something else: it may look at several rows.
    Opaque,
}

/// An item that is computed from one row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowItem {
    /// What is computed: equal texts mean equal values.
    pub text: String,
    /// Whether this backend's order and equality of the values are known.
    pub proof: Proof,
}

/// What an expression over groups is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A group key: what is computed.
    Key(String),
    /// An aggregate.
    Aggregate(Aggregate),
}

/// An aggregate function over one argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// The function.
    pub function: Function,
    /// With DISTINCT: the argument.
    pub distinct: Option<RowItem>,
    /// Whether values of the argument combine as this backend combines them.
    pub proof: Proof,
}

impl Aggregate {
    /// Whether this backend's order of the outcome is known.
    pub fn order(&self) -> Proof {
        match self.function {
            Function::Min | Function::Max => self.proof.clone(),
            _ => Proof::Proven(TextOrder::NoText),
        }
    }
}

/// The aggregate functions that decompose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// COUNT of rows or of values.
    Count,
    /// SUM.
    Sum,
    /// MIN, also BOOL_AND.
    Min,
    /// MAX, also BOOL_OR.
    Max,
    /// AVG: never from averages, always from SUM and COUNT.
    Avg,
    /// BIT_AND.
    BitAnd,
    /// BIT_OR.
    BitOr,
}

/// One key of GROUP BY.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupKey {
    /// What is computed: equal texts mean equal values.
    pub text: String,
    /// Whether this backend's order and equality of the key are known.
    pub proof: Proof,
}

/// One key of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderKey {
    /// The item that is ordered by; `None` if the order is by something that cannot be selected.
    pub item: Option<usize>,
    /// ASC or DESC.
    pub direction: Direction,
    /// Where NULLs go, the backend's default included.
    pub nulls: Nulls,
    /// Whether this backend's order of the key is known.
    pub proof: Proof,
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
    /// It is for numbers, times and bytes, and only the rows will show whether they are that;
    /// other values will be an error. It takes what is said of them.
    Checked(String),
    /// Only the database knows it, by the collation that this says, and can be asked to rank the
    /// values.
    Ranked(String),
    /// It is not, for this reason.
    Unproven(String),
}

impl Proof {
    /// The order of text, if the order is known, or will be checked.
    pub(super) fn text(&self) -> Result<TextOrder, &str> {
        match self {
            Self::Proven(text) => Ok(*text),
            Self::Checked(_) => Ok(TextOrder::NoText),
            Self::Ranked(_) => Ok(TextOrder::Ranked),
            Self::Unproven(why) => Err(why),
        }
    }

    /// The same for a caller who has a way that needs neither checks nor ranks.
    pub(super) fn without_checks(&mut self) {
        if let Self::Checked(why) | Self::Ranked(why) = self {
            *self = Self::Unproven(std::mem::take(why));
        }
    }
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
    /// By bytes, with the letters A to Z taken for a to z.
    NoCase,
    /// By bytes, without trailing spaces.
    TrimmedBytes,
    /// By the rank that the database gave it.
    Ranked,
}
