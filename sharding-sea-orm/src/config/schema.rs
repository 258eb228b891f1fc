//! The JSON Schema of the file, from the model.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::calendar::Moment;
use super::field::{Entries, Field, List};
use super::file::File;
use super::scalar::{
    Bound, Count, Epoch, Instant, LogicalName, Name, Positive, Raw, Seconds, Secret, SourceName,
    Start, Switch, Text, Timeout, Zone,
};

/// The JSON Schema, draft 7, of configuration files, with which editors complete and check them
/// while they are written. It is also the file `schema/sharding.schema.json` of this crate.
pub fn json_schema() -> Value {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<File>().to_value();
    tidy(&mut schema);
    schema
}

/// Puts descriptions on one line, and leaves out null: what may be left out may be that, too, but
/// nobody should be told to write it.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(fields) => {
            fields.values_mut().for_each(tidy);
            if let Some(Value::String(description)) = fields.get_mut("description") {
                *description = description.replace('\n', " ");
            }
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_mut_slice() {
                    let only = only.take();
                    fields.insert("type".to_owned(), only);
                }
            }
            let Some(Value::Array(choices)) = fields.get_mut("anyOf") else {
                return;
            };
            choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
            let [Value::Object(only)] = choices.as_mut_slice() else {
                return;
            };
            let only = std::mem::take(only);
            fields.remove("anyOf");
            if only.contains_key("$ref") {
                // Other keywords beside a reference would not count.
                fields.insert("allOf".to_owned(), Value::Array(vec![only.into()]));
            } else {
                fields.extend(only);
            }
        }
        _ => {}
    }
}

impl<T: JsonSchema> JsonSchema for Field<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }
}

impl<T: JsonSchema> JsonSchema for List<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Owned(format!("List_of_{}", T::schema_name()))
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": generator.subschema_for::<T>() })
    }
}

impl<K: JsonSchema, T: JsonSchema> JsonSchema for Entries<K, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Owned(format!("{}_by_{}", T::schema_name(), K::schema_name()))
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "propertyNames": generator.subschema_for::<K>(),
            "additionalProperties": generator.subschema_for::<T>(),
        })
    }
}

/// A text with a variable of the environment, which may become anything.
const VARIABLE: &str = r"\$\{[A-Za-z_]";

/// A number in a text.
const NUMBER: &str = r"^[-+]?([0-9]+|0[xX][0-9A-Fa-f]+|0o[0-7]+|0b[01]+)$";

/// A number that may have a fraction, in a text.
const SECONDS: &str = r"^(\+?[0-9]+|[0-9]*\.[0-9]+|0[xX][0-9A-Fa-f]+|0o[0-7]+|0b[01]+)$";

const TIME: &str = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9:.]+ ?([Zz]|[-+][0-9:]+)?)?$";

const MOMENT: &str = r"^[0-9]{4}(-?[qQ][1-4]|-[0-9]{2}|-[0-9]{2}-[0-9]{2}([Tt ][0-9:.]+)?)?$";

/// A text of one of the forms, or one with a variable.
fn text(forms: &[&str]) -> Value {
    let forms: Vec<_> = forms.iter().copied().chain([VARIABLE]).collect();
    json_schema!({ "type": "string", "pattern": forms.join("|") }).to_value()
}

fn whole(minimum: u64, maximum: u64) -> Value {
    json_schema!({ "type": "integer", "minimum": minimum, "maximum": maximum }).to_value()
}

macro_rules! scalars {
    ($($scalar:ty, $name:literal, $description:literal, [$($choice:expr),+];)+) => {
        $(
            impl JsonSchema for $scalar {
                fn schema_name() -> Cow<'static, str> {
                    Cow::Borrowed($name)
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    let choices = [$(Value::from($choice)),+];
                    json_schema!({ "description": $description, "anyOf": choices })
                }
            }
        )+
    };
}

fn kind(name: &str) -> Value {
    json_schema!({ "type": name }).to_value()
}

scalars! {
    Name, "Name", "A name.", [text(&["^.+$"]), kind("integer")];
    Text, "Text", "A text, which may be empty.", [kind("string"), kind("integer")];
    SourceName, "SourceName", "A name of letters, digits, `_` and `-`.",
        [text(&["^[A-Za-z0-9_-]+$"])];
    LogicalName, "TableName", "A table, or `schema.table`.", [text(&[r"^[^.]+(\.[^.]+)?$"])];
    Secret, "Url", "A URL that begins with `sqlite:`, `postgres:` or `mysql:`.",
        [text(&[r"^\s*[A-Za-z][A-Za-z0-9+.-]*:"])];
    Switch, "Switch", "True or false.",
        [kind("boolean"), text(&["^(true|True|TRUE|false|False|FALSE)$"])];
    Count, "Count", "A whole number, decimal or hexadecimal.",
        [whole(0, u32::MAX.into()), text(&[NUMBER])];
    Positive, "Positive", "A whole number, at least 1, decimal or hexadecimal.",
        [whole(1, u32::MAX.into()), text(&[NUMBER])];
    Seconds, "Seconds", "A number of seconds such as 30 or 0.5.",
        [json_schema!({ "type": "number", "minimum": 0 }).to_value(), text(&[SECONDS])];
    Timeout, "Timeout", "A number of seconds such as 30 or 0.5, more than 0.",
        [json_schema!({ "type": "number", "exclusiveMinimum": 0 }).to_value(), text(&[SECONDS])];
    Bound, "HashBound", "A whole number, decimal or hexadecimal, or MAXVALUE.",
        [whole(0, u32::MAX.into()), text(&[NUMBER, "^[Mm][Aa][Xx][Vv][Aa][Ll][Uu][Ee]$"])];
    Start, "HashStart", "Where a range of hashes starts, from 0x0000 to 0xFFFF.",
        [whole(0, u16::MAX.into()), text(&[NUMBER])];
    Instant, "Instant", "A time such as 2016-11-20T17:00:00+08:00; without an offset it is UTC.",
        [text(&[TIME])];
    Epoch, "Epoch", "Milliseconds since 1970, or a time such as 2010-11-04T01:42:54.657Z.",
        [kind("integer"), text(&[NUMBER, TIME])];
    Zone, "Zone", "UTC, an offset such as +08:00, or an IANA zone such as Asia/Shanghai.",
        [text(&["^(UTC|utc|Z)$", "^[-+][0-9]{2}(:?[0-9]{2})?$", "^[A-Z][A-Za-z0-9_+/-]*$"]),
         kind("integer")];
    Moment, "Moment", "A slot as fits the unit: 2013, 2013-q1, 2013-01, 2013-01-31, 2013-01-31T05.",
        [whole(1, 9_999), text(&[MOMENT])];
    Raw, "Value", "A number, a text, a date or a timestamp.", [kind("string"), kind("number"), kind("boolean")];
}
