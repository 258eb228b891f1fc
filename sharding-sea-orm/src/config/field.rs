//! Parts of the model that know their place and outlive mistakes: what is wrong within one does
//! not end the reading of its neighbours.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Unexpected, Visitor};

/// By these names the reader knows what a value wants to be told about itself.
pub(super) const FIELD: &str = "$field";
pub(super) const RAW: &str = "$raw";

/// A value and its place.
pub(super) struct Field<T> {
    /// The path.
    pub(super) at: String,
    /// What orders places.
    pub(super) offset: usize,
    /// `None` if it was wrong, which is reported then.
    pub(super) value: Option<T>,
    /// Whether there is no mistake anywhere in it.
    pub(super) is_sound: bool,
}

impl<T> Default for Field<T> {
    fn default() -> Self {
        Self {
            at: String::new(),
            offset: 0,
            value: None,
            is_sound: false,
        }
    }
}

impl<T> Field<T> {
    pub(super) fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }
}

impl<T> Field<Option<T>> {
    /// The value if there is one and it is right.
    pub(super) fn given(&self) -> Option<&T> {
        self.value.as_ref().and_then(Option::as_ref)
    }

    /// Whether there is something, right or wrong.
    pub(super) fn is_given(&self) -> bool {
        !matches!(self.value, Some(None))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for FieldVisitor<T> {
            type Value = Field<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Field<T>, A::Error> {
                let missing = || A::Error::invalid_type(Unexpected::Seq, &self);
                let at = parts.next_element()?.ok_or_else(missing)?;
                let offset = parts.next_element()?.ok_or_else(missing)?;
                // The reader has reported what is wrong.
                let value = parts.next_element().ok().flatten();
                let is_sound = parts.next_element()?.ok_or_else(missing)?;
                Ok(Field {
                    at,
                    offset,
                    value,
                    is_sound,
                })
            }
        }

        deserializer.deserialize_newtype_struct(FIELD, FieldVisitor(PhantomData))
    }
}

/// A list.
pub(super) struct List<T>(pub(super) Vec<Field<T>>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<List<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(List(list))
            }
        }

        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

impl<T: Clone> List<T> {
    /// The items; `None` if one is wrong.
    pub(super) fn all(&self) -> Option<Vec<T>> {
        self.0.iter().map(|item| item.value.clone()).collect()
    }
}

/// One value, or a list of them.
#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(untagged, inline))]
#[serde(rename = "form", expecting = "a text or a list of texts")]
#[serde(bound = "T: Deserialize<'de>")]
pub(super) enum OneOrMany<T> {
    #[serde(rename = "text")]
    One(Field<T>),
    #[serde(rename = "list")]
    Many(List<T>),
}

impl<T: Clone> OneOrMany<T> {
    /// The values; `None` if one is wrong.
    pub(super) fn all(&self) -> Option<Vec<T>> {
        match self {
            Self::One(one) => Some(vec![one.value.clone()?]),
            Self::Many(many) => many.all(),
        }
    }
}

/// A map whose keys are values.
pub(super) struct Entries<K, T>(pub(super) Vec<(Field<K>, Field<T>)>);

impl<'de, K: Deserialize<'de>, T: Deserialize<'de>> Deserialize<'de> for Entries<K, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<K, T>(PhantomData<(K, T)>);

        impl<'de, K: Deserialize<'de>, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<K, T> {
            type Value = Entries<K, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<K, T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}
