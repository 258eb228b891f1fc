//! The reading of a tree into the model, which reports every mistake where it is and goes on.

use std::borrow::Cow;

use serde::de::value::{SeqDeserializer, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, IntoDeserializer, Unexpected,
    VariantAccess, Visitor,
};

use super::access::{Fields, Items, Pairs, Parts};
use super::context::Context;
use super::env;
use super::error::Error;
use super::field::{FIELD, RAW};
use super::path::{Path, looks_secret};
use super::suggest::{listed, nearest};
use super::tree::{Place, Scalar, Style, Value};

/// A deserializer of one part of the tree.
///
/// The names of enums say how their variants are told apart: the one called `form` by what is
/// there, a `text`, a `list` or a `map`; the one called `strategy` by the field of that name beside
/// the variant's own; others by the text.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) place: Place,
    pub(super) path: Path<'a>,
    pub(super) context: &'a Context<'a>,
    /// The field that was read to choose the variant.
    pub(super) tag: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    /// What is not there.
    Absent,
    Value(&'a Value),
    Key(&'a Scalar),
    /// What belongs to a key that is not shown, and reported there.
    Hidden,
}

/// How many characters a mistake shows at most.
const SHOWN: usize = 40;

impl<'a> Reader<'a> {
    /// Reports what is not reported yet.
    pub(super) fn settle<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        let why = match result {
            Ok(value) => return Ok(value),
            Err(Error::Reported) => return Err(Error::Reported),
            Err(_) if matches!(self.subject, Subject::Hidden) => return Err(Error::Reported),
            Err(Error::Other(why)) => why,
            Err(Error::Expected(what)) => self.expected(&what),
        };
        self.context.record(&self.path, self.place, why);
        Err(Error::Reported)
    }

    fn expected(&self, what: &str) -> String {
        let found = match self.subject {
            Subject::Absent | Subject::Hidden | Subject::Value(Value::Null) => {
                return format!("is missing; it has to be {what}");
            }
            Subject::Value(Value::List(_)) => ", not a list".to_owned(),
            Subject::Value(Value::Map(_)) => ", not a mapping".to_owned(),
            Subject::Key(scalar) | Subject::Value(Value::Scalar(scalar)) => self
                .shown(scalar)
                .map_or_else(String::new, |shown| format!(", not {shown}")),
        };
        let key = if matches!(self.subject, Subject::Key(_)) {
            "the key "
        } else {
            ""
        };
        format!("{key}has to be {what}{found}")
    }

    /// What is written, unless it may be secret.
    fn shown(&self, Scalar { written, .. }: &Scalar) -> Option<String> {
        let is_open = !self.path.is_secret() && !looks_secret(written);
        let has_variable = env::has_variable(written);
        let shown = || match has_variable {
            true => format!("the value of `{written}`"),
            false => format!("`{}`", written.escape_debug()),
        };
        (is_open && written.chars().count() <= SHOWN).then(shown)
    }

    fn scalar(&self) -> Option<&'a Scalar> {
        match self.subject {
            Subject::Key(scalar) | Subject::Value(Value::Scalar(scalar)) => Some(scalar),
            Subject::Absent | Subject::Hidden | Subject::Value(_) => None,
        }
    }

    /// The text of a scalar with the values of variables.
    fn text(&self, scalar: &'a Scalar) -> Result<Cow<'a, str>, Error> {
        env::expand(&scalar.written, self.context.env).map_err(Error::Other)
    }

    fn is_null(&self) -> bool {
        matches!(self.subject, Subject::Absent | Subject::Value(Value::Null))
    }

    fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.subject {
            Subject::Hidden => Err(Error::Reported),
            Subject::Key(scalar) if self.path.is_hidden() => {
                visitor.visit_str(&self.text(scalar)?)?;
                let why = "has no URL; one with a comma needs quotes here";
                Err(Error::Other(why.to_owned()))
            }
            Subject::Absent | Subject::Value(Value::Null) => {
                Err(Error::invalid_type(Unexpected::Unit, &visitor))
            }
            Subject::Key(scalar) | Subject::Value(Value::Scalar(scalar)) => {
                visitor.visit_str(&self.text(scalar)?)
            }
            Subject::Value(Value::List(items)) => visitor.visit_seq(Items::new(self, items)),
            Subject::Value(Value::Map(map)) => visitor.visit_map(Pairs::new(self, map)),
        }
    }

    fn variant(
        self,
        variants: &'static [&'static str],
        expected: &dyn Expected,
    ) -> Result<(&'static str, Self), Error> {
        let wrong = || Error::invalid_type(Unexpected::Other("a value"), expected);
        let Some(scalar) = self.scalar() else {
            return Err(wrong());
        };
        let text = self.text(scalar)?;
        let found = variants.iter().find(|variant| **variant == text);
        match found {
            Some(variant) => Ok((variant, self)),
            None => Err(self.unknown_variant(scalar, &text, variants)),
        }
    }

    fn unknown_variant(&self, scalar: &Scalar, text: &str, variants: &[&str]) -> Error {
        let what = match nearest(text, variants) {
            Some(near) if !env::has_variable(&scalar.written) => format!("did you mean `{near}`?"),
            _ => format!("possible are {}", listed(variants)),
        };
        let shown = self.shown(scalar).unwrap_or_else(|| "this".to_owned());
        Error::Other(format!("{shown} is not known; {what}"))
    }

    /// The variant by what is there.
    fn form(
        self,
        variants: &'static [&'static str],
        expected: &dyn Expected,
    ) -> Result<(&'static str, Self), Error> {
        let form = match self.subject {
            Subject::Absent | Subject::Hidden | Subject::Value(Value::Null) => "null",
            Subject::Key(_) | Subject::Value(Value::Scalar(_)) => "text",
            Subject::Value(Value::List(_)) => "list",
            Subject::Value(Value::Map(_)) => "map",
        };
        let found = variants.iter().find(|variant| **variant == form);
        let wrong = || Error::invalid_type(Unexpected::Other("a value"), expected);
        found.map(|found| (*found, self)).ok_or_else(wrong)
    }

    /// The variant by a field of the map.
    fn tagged(
        self,
        tag: &'static str,
        variants: &'static [&'static str],
        expected: &dyn Expected,
    ) -> Result<(&'static str, Self), Error> {
        let Subject::Value(Value::Map(map)) = self.subject else {
            return Err(Error::invalid_type(Unexpected::Other("a value"), expected));
        };
        let path = self.path.field(tag);
        let entry = map.entries.iter().find(|entry| entry.key.written == tag);
        let reader = Reader {
            subject: entry.map_or(Subject::Absent, |entry| Subject::Value(&entry.node.value)),
            place: entry.map_or(self.place, |entry| entry.node.place),
            path,
            context: self.context,
            tag: None,
        };
        let expected = format!("one of {}", listed(variants));
        let (variant, _) = reader.settle(reader.variant(variants, &expected.as_str()))?;
        Ok((
            variant,
            Self {
                tag: Some(tag),
                ..self
            },
        ))
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.settle(self.visit(visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match (name, self.scalar()) {
            (FIELD, _) => visitor.visit_seq(Parts::new(self)),
            (RAW, Some(scalar)) => {
                let text = self.settle(self.text(scalar))?;
                let style = match scalar.style {
                    Style::Plain => "plain",
                    Style::Quoted => "quoted",
                    Style::Time => "time",
                };
                let shown = self.shown(scalar).unwrap_or_default();
                visitor.visit_seq(SeqDeserializer::new([&*text, &shown, style].into_iter()))
            }
            (RAW, None) => self.settle(Err(Error::invalid_type(Unexpected::Unit, &visitor))),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Subject::Value(Value::Map(map)) = self.subject else {
            let wrong = Error::invalid_type(Unexpected::Other("a value"), &visitor);
            return self.settle(Err(wrong));
        };
        self.settle(visitor.visit_map(Fields::new(self, map, fields)))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let chosen = match name {
            "form" => self.form(variants, &visitor),
            "strategy" => self.tagged(name, variants, &visitor),
            _ => self.variant(variants, &visitor),
        };
        let (variant, reader) = self.settle(chosen)?;
        self.settle(visitor.visit_enum(Choice { variant, reader }))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// A variant that was chosen.
struct Choice<'a> {
    variant: &'static str,
    reader: Reader<'a>,
}

impl<'de, 'a> EnumAccess<'de> for Choice<'a> {
    type Error = Error;
    type Variant = Reader<'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Reader<'a>), Error> {
        let variant: StrDeserializer<'_, Error> = self.variant.into_deserializer();
        Ok((seed.deserialize(variant)?, self.reader))
    }
}

impl<'de> VariantAccess<'de> for Reader<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_struct("", fields, visitor)
    }
}
