//! What the reader hands to visitors: fields, entries and items, one by one.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};

use super::env;
use super::error::Error;
use super::path::looks_secret;
use super::read::{Reader, Subject};
use super::suggest::{listed, nearest};
use super::tree::{Entry, Map, Node};

/// The fields of a struct: those that are there, then those that are not, so that each can say
/// itself whether it may be left out.
pub(super) struct Fields<'a> {
    reader: Reader<'a>,
    queue: std::vec::IntoIter<(&'static str, Option<&'a Entry>)>,
    next: Option<(&'static str, Option<&'a Entry>)>,
}

impl<'a> Fields<'a> {
    /// Reports fields that are not known, or there twice.
    pub(super) fn new(reader: Reader<'a>, map: &'a Map, fields: &'static [&'static str]) -> Self {
        let possible: Vec<&'static str> = fields.iter().copied().chain(reader.tag).collect();
        let mut present: Vec<(&'static str, &'a Entry)> = Vec::new();
        for entry in &map.entries {
            let key = entry.key.written.as_str();
            let Some(field) = possible.iter().find(|field| **field == key) else {
                unknown(reader, map, entry, &possible);
                continue;
            };
            match present.iter().find(|(name, _)| name == field) {
                Some((_, first)) => twice(reader, map, first, entry),
                None => present.push((field, entry)),
            }
        }
        let is_absent = |field: &&str| !present.iter().any(|(name, _)| name == field);
        let absent: Vec<_> = fields.iter().copied().filter(is_absent).collect();
        present.retain(|(name, _)| reader.tag != Some(*name));
        let present = present.into_iter().map(|(name, entry)| (name, Some(entry)));
        let queue: Vec<_> = present
            .chain(absent.into_iter().map(|name| (name, None)))
            .collect();
        Self {
            reader,
            queue: queue.into_iter(),
            next: None,
        }
    }
}

fn unknown(reader: Reader<'_>, map: &Map, entry: &Entry, possible: &[&str]) {
    let key = entry.key.written.as_str();
    let (path, what) = match nearest(key, possible) {
        Some(near) if !looks_secret(key) => {
            (reader.path.field(key), format!("did you mean `{near}`?"))
        }
        _ => {
            let path = reader.path.unknown(map, entry);
            let quotes = if path.is_hidden() {
                "; a URL with a comma needs quotes here"
            } else {
                ""
            };
            (path, format!("possible are {}{quotes}", listed(possible)))
        }
    };
    let why = format!("is not known; {what}");
    reader.context.record(&path, entry.place, why);
}

fn twice(reader: Reader<'_>, map: &Map, first: &Entry, second: &Entry) {
    let why = format!(
        "is given twice, on line {} and on line {}; remove one",
        first.place.line, second.place.line
    );
    let path = reader.path.entry(map, second);
    reader.context.record(&path, second.place, why);
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.next = self.queue.next();
        let Some((name, _)) = self.next else {
            return Ok(None);
        };
        let name: StrDeserializer<'_, Error> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let (name, entry) = self.next.take().ok_or(Error::Reported)?;
        seed.deserialize(Reader {
            subject: entry.map_or(Subject::Absent, |entry| Subject::Value(&entry.node.value)),
            place: entry.map_or(self.reader.place, |entry| entry.node.place),
            path: self.reader.path.field(name),
            context: self.reader.context,
            tag: None,
        })
    }
}

/// The entries of a map whose keys are values.
pub(super) struct Pairs<'a> {
    reader: Reader<'a>,
    map: &'a Map,
    queue: std::vec::IntoIter<&'a Entry>,
    next: Option<&'a Entry>,
}

impl<'a> Pairs<'a> {
    /// Reports keys that are there twice.
    pub(super) fn new(reader: Reader<'a>, map: &'a Map) -> Self {
        let mut seen: HashMap<Cow<'_, str>, &Entry> = HashMap::with_capacity(map.entries.len());
        let mut queue = Vec::with_capacity(map.entries.len());
        for entry in &map.entries {
            // A variable that is not set is reported once the key is read.
            let written = || Cow::Borrowed(entry.key.written.as_str());
            let key = env::expand(&entry.key.written, reader.context.env);
            match seen.entry(key.unwrap_or_else(|_| written())) {
                Slot::Occupied(first) => twice(reader, map, first.get(), entry),
                Slot::Vacant(slot) => {
                    slot.insert(entry);
                    queue.push(entry);
                }
            }
        }
        Self {
            reader,
            map,
            queue: queue.into_iter(),
            next: None,
        }
    }
}

impl<'de> MapAccess<'de> for Pairs<'_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.next = self.queue.next();
        let Some(entry) = self.next else {
            return Ok(None);
        };
        let key = Reader {
            subject: Subject::Key(&entry.key),
            place: entry.place,
            path: self.reader.path.entry(self.map, entry),
            context: self.reader.context,
            tag: None,
        };
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let entry = self.next.take().ok_or(Error::Reported)?;
        let path = self.reader.path.entry(self.map, entry);
        seed.deserialize(Reader {
            subject: if path.is_hidden() {
                Subject::Hidden
            } else {
                Subject::Value(&entry.node.value)
            },
            place: entry.node.place,
            path,
            context: self.reader.context,
            tag: None,
        })
    }
}

/// The items of a list.
pub(super) struct Items<'a> {
    reader: Reader<'a>,
    queue: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'a> Items<'a> {
    pub(super) fn new(reader: Reader<'a>, items: &'a [Node]) -> Self {
        Self {
            reader,
            queue: items.iter().enumerate(),
        }
    }
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let Some((index, item)) = self.queue.next() else {
            return Ok(None);
        };
        let item = Reader {
            subject: Subject::Value(&item.value),
            place: item.place,
            path: self.reader.path.index(index),
            context: self.reader.context,
            tag: None,
        };
        seed.deserialize(item).map(Some)
    }
}

/// A value and what it wants to know about itself: path, offset, value, whether it is sound.
pub(super) struct Parts<'a> {
    reader: Reader<'a>,
    step: u8,
    mistakes_before: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn new(reader: Reader<'a>) -> Self {
        Self {
            reader,
            step: 0,
            mistakes_before: reader.context.count(),
        }
    }
}

impl<'de> SeqAccess<'de> for Parts<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let reader = self.reader;
        self.step += 1;
        let part = match self.step {
            1 => seed.deserialize(reader.path.to_string().into_deserializer()),
            2 => seed.deserialize(reader.place.offset.into_deserializer()),
            3 => reader.settle(seed.deserialize(reader)),
            4 => seed
                .deserialize((reader.context.count() == self.mistakes_before).into_deserializer()),
            _ => return Ok(None),
        };
        part.map(Some)
    }
}
