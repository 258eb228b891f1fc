//! The tree into which both languages are parsed. It keeps what serde's own model loses: how a
//! scalar is spelled, so that `+08` stays a zone and `0.10` is exact, and where everything is.

use std::fmt;

/// A part of a file, and where it begins.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

#[derive(Clone)]
pub(super) enum Value {
    Null,
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Map),
}

/// A text, number, date or truth value as it is spelled, not resolved yet.
#[derive(Clone)]
pub(super) struct Scalar {
    /// As written, with escapes resolved and variables not.
    pub(super) written: String,
    pub(super) style: Style,
}

/// What the spelling says about the type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Without quotes: a number if it looks like one.
    Plain,
    /// A text.
    Quoted,
    /// A date or timestamp.
    Time,
}

/// Entries in the order of the file.
#[derive(Clone)]
pub(super) struct Map {
    pub(super) entries: Vec<Entry>,
    /// Whether it is in braces, where a comma ends a text that has no quotes.
    pub(super) is_flow: bool,
}

#[derive(Clone)]
pub(super) struct Entry {
    pub(super) key: Scalar,
    pub(super) place: Place,
    pub(super) node: Node,
}

/// A place in the text: lines and columns count from 1.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// What orders places.
    pub(super) offset: usize,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Node {
    /// How many nodes there are, this one included.
    pub(super) fn size(&self) -> usize {
        match &self.value {
            Value::Null | Value::Scalar(_) => 1,
            Value::List(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            Value::Map(map) => {
                let below = map.entries.iter().map(|entry| entry.node.size());
                1 + below.sum::<usize>()
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}
