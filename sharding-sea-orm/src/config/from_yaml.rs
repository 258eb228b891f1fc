//! YAML as a tree.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, StrInput, StructureStyle, Tag};
use sharding_core::topology::Mistake;

use super::env;
use super::tree::{Entry, Map, Node, Place, Scalar, Style, Value};

/// How deep collections may be nested.
const DEPTH: usize = 64;

/// How many nodes aliases may add, lest a small file becomes a huge one.
const MAX_COPIES: usize = 100_000;

/// Parses a text. One without content is null.
pub(super) fn parse(text: &str) -> Result<Node, Mistake> {
    let options = granit_parser::options! {
        flow_nesting_limit: DEPTH,
        block_nesting_limit: DEPTH,
        emit_comments: false,
    };
    let text = env::shield(text);
    let mut builder = Builder {
        events: Parser::new_from_str_with_options(&text, options),
        anchors: HashMap::new(),
        copies: 0,
    };
    builder.file()
}

struct Builder<'t> {
    events: Parser<'t, StrInput<'t>>,
    anchors: HashMap<usize, Node>,
    copies: usize,
}

impl<'t> Builder<'t> {
    fn file(&mut self) -> Result<Node, Mistake> {
        let mut root = None;
        loop {
            let (event, place) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                _ if root.is_some() => {
                    return Err(at(place, "is a second document; only one is possible"));
                }
                event => root = Some(self.node(event, place)?),
            }
        }
        Ok(root.unwrap_or(Node {
            place: Place {
                offset: 0,
                line: 1,
                column: 1,
            },
            value: Value::Null,
        }))
    }

    fn next(&mut self) -> Result<(Event<'t>, Place), Mistake> {
        match self.events.next() {
            Some(Ok((event, span))) => Ok((event, place(span.start))),
            Some(Err(error)) => {
                let why = match error.kind() {
                    // It may be a character of a password.
                    ErrorKind::UnexpectedCharacter { .. } => {
                        "a text that begins with this character needs quotes".to_owned()
                    }
                    ErrorKind::ExpectedFlowMappingSeparator
                    | ErrorKind::ExpectedFlowSequenceSeparator => format!(
                        "{}; a text with a comma, a bracket or a brace needs quotes here",
                        error.kind()
                    ),
                    ErrorKind::UnknownAnchor => {
                        "there is no anchor of this name; a text that begins with `*` needs quotes"
                            .to_owned()
                    }
                    kind => kind.to_string(),
                };
                let why = format!("is no YAML: {why}");
                Err(at(place(*error.marker()), &why))
            }
            None => Ok((Event::StreamEnd, place(Marker::default()))),
        }
    }

    fn node(&mut self, event: Event<'t>, place: Place) -> Result<Node, Mistake> {
        let (anchor, value) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain;
                (
                    anchor,
                    scalar(
                        env::unshield(text.into_owned()),
                        is_plain,
                        tag.as_deref(),
                        place,
                    )?,
                )
            }
            Event::SequenceStart(_, anchor, tag) => {
                check_collection(tag.as_deref(), "seq", place)?;
                (anchor, Value::List(self.items()?))
            }
            Event::MappingStart(style, anchor, tag) => {
                check_collection(tag.as_deref(), "map", place)?;
                let map = Map {
                    entries: self.entries()?,
                    is_flow: style == StructureStyle::Flow,
                };
                (anchor, Value::Map(map))
            }
            Event::Alias(anchor) => return self.copy(anchor, place),
            _ => return Err(at(place, "is no YAML: a value is missing")),
        };
        let node = Node { place, value };
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn copy(&mut self, anchor: usize, place: Place) -> Result<Node, Mistake> {
        let Some(original) = self.anchors.get(&anchor) else {
            return Err(at(place, "is an alias of what it is in"));
        };
        self.copies += original.size();
        if self.copies > MAX_COPIES {
            return Err(at(place, "is an alias too many; the file grows too large"));
        }
        Ok(Node {
            place,
            value: original.value.clone(),
        })
    }

    fn items(&mut self) -> Result<Vec<Node>, Mistake> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, place) => items.push(self.node(event, place)?),
            }
        }
    }

    fn entries(&mut self) -> Result<Vec<Entry>, Mistake> {
        let mut entries = Vec::new();
        loop {
            let (event, place) = match self.next()? {
                (Event::MappingEnd, _) => return Ok(entries),
                next => next,
            };
            let key = match self.node(event, place)?.value {
                Value::Scalar(key) => key,
                Value::Null => Scalar {
                    written: "null".to_owned(),
                    style: Style::Plain,
                },
                Value::List(_) | Value::Map(_) => {
                    return Err(at(place, "has to be a text, since it is a key"));
                }
            };
            let (event, value_place) = self.next()?;
            let node = self.node(event, value_place)?;
            entries.push(Entry { key, place, node });
        }
    }
}

fn scalar(
    written: String,
    is_plain: bool,
    tag: Option<&Tag>,
    place: Place,
) -> Result<Value, Mistake> {
    let style = match tag {
        None if is_plain => Style::Plain,
        None => Style::Quoted,
        Some(tag) => match tag.suffix() {
            "str" | "!" | "" => Style::Quoted,
            "int" | "float" | "bool" => Style::Plain,
            "timestamp" => Style::Time,
            "null" => return Ok(Value::Null),
            _ => return Err(at(place, UNKNOWN_TAG)),
        },
    };
    let is_null = matches!(written.as_str(), "" | "~" | "null" | "Null" | "NULL");
    if is_null && style == Style::Plain {
        return Ok(Value::Null);
    }
    Ok(Value::Scalar(Scalar { written, style }))
}

fn check_collection(tag: Option<&Tag>, suffix: &str, place: Place) -> Result<(), Mistake> {
    match tag {
        Some(tag) if tag.suffix() != suffix => Err(at(place, UNKNOWN_TAG)),
        _ => Ok(()),
    }
}

const UNKNOWN_TAG: &str = "has a tag that means nothing here; remove it";

fn place(marker: Marker) -> Place {
    Place {
        offset: marker.index(),
        line: marker.line(),
        column: marker.col() + 1,
    }
}

fn at(place: Place, why: &str) -> Mistake {
    Mistake::File {
        at: place.to_string(),
        why: why.to_owned(),
    }
}
