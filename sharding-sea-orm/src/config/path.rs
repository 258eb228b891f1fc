//! Places in the file as a reader names them: `tables.order.table.by.shards`.

use std::fmt;

use super::tree::{Entry, Map, Place, Value};

/// A path, as a chain from its end to the root.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
    region: Region,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
    /// An entry whose key may be a piece of a URL.
    Hidden(Place),
}

/// How close a place is to URLs, which are never shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    Root,
    /// The entries are sources.
    Sources,
    /// Within a source.
    Source,
    Elsewhere,
}

impl<'a> Path<'a> {
    /// The whole file.
    pub(super) fn root() -> Self {
        Self {
            parent: None,
            step: Step::Root,
            region: Region::Root,
        }
    }

    /// A field of the model.
    pub(super) fn field(&'a self, name: &'a str) -> Self {
        self.step(Step::Key(name))
    }

    /// An entry of a map whose keys are values.
    pub(super) fn entry(&'a self, map: &Map, entry: &'a Entry) -> Self {
        self.step(if self.hides(map, entry) {
            Step::Hidden(entry.place)
        } else {
            Step::Key(&entry.key.written)
        })
    }

    /// An entry where only certain fields are possible, and this is none.
    pub(super) fn unknown(&'a self, map: &Map, entry: &'a Entry) -> Self {
        let is_piece = self.region == Region::Source && map.is_flow;
        self.step(if is_piece || looks_secret(&entry.key.written) {
            Step::Hidden(entry.place)
        } else {
            Step::Key(&entry.key.written)
        })
    }

    /// An item of a list.
    pub(super) fn index(&'a self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    /// Whether values here are never shown.
    pub(super) fn is_secret(&self) -> bool {
        matches!(self.region, Region::Sources | Region::Source)
    }

    /// Whether the key is not shown.
    pub(super) fn is_hidden(&self) -> bool {
        matches!(self.step, Step::Hidden(_))
    }

    fn step(&'a self, step: Step<'a>) -> Self {
        let region = match (self.region, step) {
            (Region::Root, Step::Key("sources")) => Region::Sources,
            (Region::Sources | Region::Source, _) => Region::Source,
            (Region::Root | Region::Elsewhere, _) => Region::Elsewhere,
        };
        Self {
            parent: Some(self),
            step,
            region,
        }
    }

    /// In braces a comma ends a URL without quotes, and what follows looks like a key.
    fn hides(&self, map: &Map, entry: &Entry) -> bool {
        let is_piece = match &entry.node.value {
            Value::Null => true,
            Value::Scalar(scalar) => !scalar.written.contains([':', '$']),
            Value::List(_) | Value::Map(_) => false,
        };
        let is_source = self.region == Region::Sources;
        let key = &entry.key.written;
        looks_secret(key) || (is_source && (!is_source_name(key) || (map.is_flow && is_piece)))
    }
}

/// Whether a text may hold a password.
pub(super) fn looks_secret(text: &str) -> bool {
    text.contains("://") || text.contains('@')
}

/// Whether the core takes the text for the name of a data source, or a variable may become one.
pub(super) fn is_source_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-${}:".contains(c);
    !text.is_empty() && text.chars().all(is_plain)
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else {
            return f.write_str("the file");
        };
        let is_first = parent.parent.is_none();
        if !is_first {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Hidden(place) if is_first => write!(f, "{place}"),
            Step::Hidden(place) => write!(f, " ({place})"),
            Step::Key(key) => {
                let dot = if is_first { "" } else { "." };
                let is_bare = |c: char| c.is_alphanumeric() || "_-+.".contains(c);
                if !key.is_empty() && key.chars().all(is_bare) {
                    write!(f, "{dot}{key}")
                } else {
                    write!(f, "{dot}{key:?}")
                }
            }
        }
    }
}
