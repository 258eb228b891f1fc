//! TOML as a tree.

use sharding_core::topology::Mistake;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::tree::{Entry, Map, Node, Place, Scalar, Style, Value};

/// Parses a text.
///
/// # Errors
/// Every mistake of syntax.
pub(super) fn parse(text: &str) -> Result<Node, Vec<Mistake>> {
    let lines = Lines::of(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let place = |error: &Error| lines.place(error.span().map_or(text.len(), |s| s.start));
        let mut errors: Vec<_> = errors.iter().map(|error| (place(error), error)).collect();
        errors.sort_by_key(|(place, _)| place.offset);
        // The others of a line mostly follow from its first.
        errors.dedup_by_key(|(place, _)| place.line);
        let mistakes = errors.into_iter().map(|(place, error)| Mistake::File {
            at: place.to_string(),
            why: format!("is no TOML: {}", error.message()),
        });
        return Err(mistakes.collect());
    }
    let (offset, table) = (table.span().start, table.into_inner());
    Ok(Node {
        place: lines.place(offset),
        value: lines.map(table),
    })
}

/// The offsets at which lines begin.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(ends).collect(),
        }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self
            .starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default();
        Place {
            offset,
            line,
            column: before.chars().count() + 1,
        }
    }

    fn map(&self, table: DeTable<'_>) -> Value {
        let mut entries: Vec<_> = table
            .into_iter()
            .map(|(key, value)| Entry {
                place: self.place(key.span().start),
                key: quoted(key.into_inner().into_owned()),
                node: self.node(value),
            })
            .collect();
        entries.sort_by_key(|entry| entry.place.offset);
        Value::Map(Map {
            entries,
            is_flow: false,
        })
    }

    fn node(&self, value: Spanned<DeValue<'_>>) -> Node {
        let place = self.place(value.span().start);
        let scalar = |written: String, style| Value::Scalar(Scalar { written, style });
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Scalar(quoted(text.into_owned())),
            DeValue::Integer(number) => scalar(number.to_string(), Style::Plain),
            DeValue::Float(number) => scalar(number.as_str().to_owned(), Style::Plain),
            DeValue::Boolean(truth) => scalar(truth.to_string(), Style::Plain),
            DeValue::Datetime(time) => scalar(time.to_string(), Style::Time),
            DeValue::Array(items) => {
                Value::List(items.into_iter().map(|item| self.node(item)).collect())
            }
            DeValue::Table(table) => self.map(table),
        };
        Node { place, value }
    }
}

fn quoted(written: String) -> Scalar {
    Scalar {
        written,
        style: Style::Quoted,
    }
}
