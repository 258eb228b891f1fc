//! The rules which need more than one token of the input, one function for each.

use std::collections::HashSet;

use syn::ext::IdentExt;
use syn::{Data, Fields, Ident, LitStr};

use crate::ast::{Field, Key, KeyColumn, Model, Placement, Sharding};
use crate::attr::{Once, Rule, Tails};
use crate::errors::{Errors, listed, near};

const A_RULE: &str =
    "give the entity a `table(...)` rule, a `source(...)` rule, both, or a `node(...)` rule";

/// Reports every mistake, and resolves the rules which have none.
pub(crate) fn check<'a>(errors: &Errors, model: &'a Model<'a>) -> Sharding<'a> {
    let attributes = model.attributes;
    is_struct_with_named_fields(errors, model);
    is_called_model(errors, model);
    has_no_generics(errors, model);
    has_a_rule(errors, model);
    has_nothing_beside_node(errors, model);
    has_a_table_for_tails(errors, model);
    has_no_attribute_on_a_field(errors, model);
    Sharding {
        table: placement(errors, model, &attributes.table),
        source: placement(errors, model, &attributes.source),
        source_names: source_names(errors, &attributes.source),
        node: placement(errors, model, &attributes.node),
        tails: tails(errors, &attributes.tails),
        separator: attributes.separator.get(),
    }
}

/// Only such a struct is a model to SeaORM, and a key has to have a name.
fn is_struct_with_named_fields(errors: &Errors, model: &Model<'_>) {
    if model.fields.is_some() {
        return;
    }
    let expected = "`Sharded` is derived for a struct with named fields, not for";
    match &model.input.data {
        Data::Struct(data) if matches!(data.fields, Fields::Unit) => {
            errors.at(&model.input.ident, format!("{expected} a unit struct"));
        }
        Data::Struct(data) => errors.at(&data.fields, format!("{expected} a tuple struct")),
        Data::Enum(data) => errors.at(data.enum_token, format!("{expected} an enum")),
        Data::Union(data) => errors.at(data.union_token, format!("{expected} a union")),
    }
}

/// The trait is implemented for `Entity`, which SeaORM puts next to a struct of this name only.
fn is_called_model(errors: &Errors, model: &Model<'_>) {
    let ident = &model.input.ident;
    if ident != "Model" {
        let message =
            format!("`#[derive(Sharded)]` goes on the `Model` of an entity, not on `{ident}`");
        errors.at(ident, message);
    }
}

/// `Entity` and `Column` are not generic, so neither can the types of the fields be.
fn has_no_generics(errors: &Errors, model: &Model<'_>) {
    let generics = &model.input.generics;
    if !generics.params.is_empty() {
        errors.at(generics, "the `Model` of an entity cannot have generics");
    }
}

/// An entity without a rule is not sharded, and needs no derive.
fn has_a_rule(errors: &Errors, model: &Model<'_>) {
    let attributes = model.attributes;
    let Some(attribute) = attributes.first else {
        errors.at(
            &model.input.ident,
            format!("missing `#[sharded(...)]`, {A_RULE}"),
        );
        return;
    };
    let rules = [&attributes.table, &attributes.source, &attributes.node];
    if attributes.whole && rules.into_iter().all(Once::is_absent) {
        errors.at(attribute, format!("no rule in `#[sharded(...)]`, {A_RULE}"));
    }
}

/// A node is a table in a source, so nothing is left for another rule to decide.
fn has_nothing_beside_node(errors: &Errors, model: &Model<'_>) {
    let attributes = model.attributes;
    if attributes.node.is_absent() {
        return;
    }
    let others = [
        attributes.table.name(),
        attributes.source.name(),
        attributes.tails.name(),
    ];
    for name in others.into_iter().flatten() {
        let message = format!(
            "`node(...)` decides source and table together, remove the `{name}(...)` beside it"
        );
        errors.at(name, message);
    }
}

/// The tails are the partitions of that rule. An entity without any rule is told so already.
fn has_a_table_for_tails(errors: &Errors, model: &Model<'_>) {
    let attributes = model.attributes;
    let is_source_alone = attributes.table.is_absent()
        && attributes.node.is_absent()
        && !attributes.source.is_absent();
    if let Some(name) = attributes.tails.name()
        && attributes.whole
        && is_source_alone
    {
        let message = "`tails(...)` needs a `table(...)` rule, whose tails it lists";
        errors.at(name, message);
    }
}

/// The compiler accepts the attribute there, where it would be without effect.
fn has_no_attribute_on_a_field(errors: &Errors, model: &Model<'_>) {
    let attrs = model.fields.iter().flatten().flat_map(|field| field.attrs);
    for attr in attrs.filter(|attr| attr.path().is_ident("sharded")) {
        errors.at(attr, "`#[sharded(...)]` goes on the struct, not on a field");
    }
}

fn placement<'a>(
    errors: &Errors,
    model: &'a Model<'a>,
    rule: &'a Once<Rule>,
) -> Option<Placement<'a>> {
    let rule = rule.get()?;
    let primary = key(errors, model, rule);
    // All the keys are looked at before any is given up, so that every mistake is reported.
    let secondary = rule.also.iter().map(|rule| key(errors, model, rule));
    let secondary: Vec<_> = secondary.collect();
    Some(Placement {
        key: primary?,
        secondary: secondary.into_iter().collect::<Option<_>>()?,
    })
}

fn key<'a>(errors: &Errors, model: &'a Model<'a>, rule: &'a Rule) -> Option<Key<'a>> {
    has_key_and_strategy(errors, rule);
    let names = rule.key.get()?;
    has_no_field_twice(errors, names);
    let columns = names.iter().map(|name| column(errors, model, name));
    let columns: Vec<_> = columns.collect();
    Some(Key {
        columns: columns.into_iter().collect::<Option<_>>()?,
        by: rule.by.get()?,
    })
}

/// There is no default for either: a guess would send rows to the wrong place.
fn has_key_and_strategy(errors: &Errors, rule: &Rule) {
    if !rule.whole {
        return;
    }
    let name = &rule.name;
    if rule.key.is_absent() {
        let message = format!("missing `key` in `{name}(...)`, add `key = <field>`");
        errors.at(&rule.tokens, message);
    }
    if rule.by.is_absent() {
        let message = format!("missing `by` in `{name}(...)`, add `by = <strategy>`");
        errors.at(&rule.tokens, message);
    }
}

/// A field that is there already tells nothing more about a row.
fn has_no_field_twice(errors: &Errors, names: &[Ident]) {
    for (name, text) in repeated(names, |name| name.unraw().to_string()) {
        errors.at(name, format!("`{text}` is twice in the key"));
    }
}

/// A key is read from the rows and from the conditions of a statement, and both know columns only.
fn column<'a>(errors: &Errors, model: &'a Model<'a>, key: &'a Ident) -> Option<KeyColumn<'a>> {
    let fields = model.fields.as_ref()?;
    let name = key.unraw().to_string();
    match fields.iter().find(|field| field.name() == name) {
        Some(field) if field.ignored => {
            let message = format!(
                "`{name}` is no column because of `#[sea_orm(ignore)]`, so it cannot be a key"
            );
            errors.at(key, message);
            None
        }
        Some(field) => Some(KeyColumn { name: key, field }),
        None => {
            errors.at(key, no_field(model, fields, &name));
            None
        }
    }
}

fn no_field(model: &Model<'_>, fields: &[Field<'_>], name: &str) -> String {
    let columns = fields.iter().filter(|field| !field.ignored);
    let columns: Vec<_> = columns.map(Field::name).collect();
    let near = near(name, &columns);
    let message = format!("`{}` has no field `{name}`", model.input.ident);
    match (near.is_empty(), columns.is_empty()) {
        (false, _) => format!("{message}, did you mean {}?", listed(&near, "or")),
        (true, false) => format!("{message}\navailable are {}", listed(&columns, "and")),
        (true, true) => message,
    }
}

/// The strategy counts data sources, so two numbers with one name would be a source short.
fn source_names<'a>(errors: &Errors, source: &'a Once<Rule>) -> Option<&'a [LitStr]> {
    let names = source.get()?.names.get()?;
    for (name, text) in repeated(names, LitStr::value) {
        errors.at(name, format!("`{text}` is named twice in `names(...)`"));
    }
    Some(names)
}

/// The list of a data source is all that it holds, so two of them contradict each other.
fn tails<'a>(errors: &Errors, tails: &'a Once<Vec<Tails>>) -> &'a [Tails] {
    let tails = tails.get().map_or(&[][..], Vec::as_slice);
    for (list, text) in repeated(tails, |list| list.source.value()) {
        errors.at(
            &list.source,
            format!("`{text}` is listed twice in `tails(...)`"),
        );
    }
    tails
}

/// The values with a name that one before them has, too.
fn repeated<T>(values: &[T], name: impl Fn(&T) -> String) -> impl Iterator<Item = (&T, String)> {
    let mut seen = HashSet::new();
    let named = values.iter().map(move |value| (value, name(value)));
    named.filter(move |(_, name)| !seen.insert(name.clone()))
}

#[cfg(test)]
mod tests;
