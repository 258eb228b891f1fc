//! Reads `#[sharded(...)]` into cells which can be set once.
//!
//! A mistake which leaves the position of the next key clear is reported and stepped over. A
//! syntax error ends the list it is in, since anything behind it would be a guess.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Path, Token, parenthesized, token};

use crate::errors::{Errors, listed, near};

const SHARDED_KEYS: &[&str] = &["table", "source", "separator", "crate"];
const TABLE_KEYS: &[&str] = &["key", "by"];
const SOURCE_KEYS: &[&str] = &["key", "by", "names"];

/// What all the `#[sharded(...)]` of one struct say together.
pub(crate) struct Attributes<'a> {
    /// The first attribute, over which mistakes about the attribute as a whole are shown.
    pub(crate) first: Option<&'a Attribute>,
    pub(crate) table: Once<Rule>,
    pub(crate) source: Once<Rule>,
    pub(crate) separator: Once<LitStr>,
    pub(crate) krate: Once<Path>,
    /// Whether every attribute was read to its end. If not, what is absent may only be unread.
    pub(crate) whole: bool,
}

/// What `table(...)` or `source(...)` says.
pub(crate) struct Rule {
    pub(crate) name: Ident,
    /// The name and the parentheses, over which mistakes about the rule as a whole are shown.
    pub(crate) tokens: TokenStream,
    pub(crate) key: Once<Ident>,
    pub(crate) by: Once<Expr>,
    pub(crate) names: Once<Vec<LitStr>>,
    /// Whether the rule was read to its end. If not, what is absent may only be unread.
    pub(crate) whole: bool,
}

/// The value of a key that may be given once.
pub(crate) enum Once<T> {
    Absent,
    /// The key is there, with a value about which an error is reported already.
    Refused,
    Given(T),
}

impl<'a> Attributes<'a> {
    pub(crate) fn parse(errors: &Errors, attrs: &'a [Attribute]) -> Self {
        let mut attributes = Self {
            first: None,
            table: Once::Absent,
            source: Once::Absent,
            separator: Once::Absent,
            krate: Once::Absent,
            whole: true,
        };
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("sharded")) {
            attributes.first.get_or_insert(attr);
            attributes.parse_one(errors, attr);
        }
        attributes
    }

    fn parse_one(&mut self, errors: &Errors, attr: &Attribute) {
        let Meta::List(list) = &attr.meta else {
            errors.at(attr, "expected `#[sharded(...)]`");
            self.whole = false;
            return;
        };
        let read = list.parse_args_with(|input: ParseStream| {
            let whole = items(errors, input, |name, input| self.item(errors, name, input));
            self.whole &= whole;
            Ok(())
        });
        // Tokens left behind by a reported syntax error come back as a second error about them.
        if let Err(error) = read
            && errors.is_empty()
        {
            errors.push(error);
        }
    }

    fn item(&mut self, errors: &Errors, name: &Ident, input: ParseStream) -> syn::Result<()> {
        match name.to_string().as_str() {
            "table" => {
                let rule = Rule::parse(errors, name, TABLE_KEYS, input)?;
                self.table.set(errors, name, rule);
            }
            "source" => {
                let rule = Rule::parse(errors, name, SOURCE_KEYS, input)?;
                self.source.set(errors, name, rule);
            }
            "separator" => {
                let separator = assigned(errors, name, "separator = \"_\"", input)?;
                let separator = separator.and_then(|value| string(errors, &value));
                self.separator.set(errors, name, separator);
            }
            "crate" => {
                let krate = assigned(errors, name, "crate = ::sharding_sea_orm", input)?;
                let krate = krate.and_then(|value| module(errors, value));
                self.krate.set(errors, name, krate);
            }
            _ => {
                unknown(errors, name, "sharded", SHARDED_KEYS);
                skip_value(input)?;
            }
        }
        Ok(())
    }
}

impl Rule {
    fn parse(
        errors: &Errors,
        name: &Ident,
        keys: &[&str],
        input: ParseStream,
    ) -> syn::Result<Option<Self>> {
        if !input.peek(token::Paren) {
            let form = format!("{name}(key = <field>, by = <strategy>)");
            return refuse(errors, name, &form, input);
        }
        let content;
        let parentheses = parenthesized!(content in input);
        let mut group = Group::new(Delimiter::Parenthesis, TokenStream::new());
        group.set_span(parentheses.span.join());
        let mut rule = Self {
            name: name.clone(),
            tokens: quote!(#name #group),
            key: Once::Absent,
            by: Once::Absent,
            names: Once::Absent,
            whole: true,
        };
        rule.whole = items(errors, &content, |key, input| {
            rule.item(errors, key, keys, input)
        });
        Ok(Some(rule))
    }

    fn item(
        &mut self,
        errors: &Errors,
        key: &Ident,
        keys: &[&str],
        input: ParseStream,
    ) -> syn::Result<()> {
        match key.to_string().as_str() {
            "key" => {
                let field = field(errors, key, input)?;
                self.key.set(errors, key, field);
            }
            "by" => {
                let strategy = assigned(errors, key, "by = <strategy>", input)?;
                self.by.set(errors, key, strategy);
            }
            "names" if keys.contains(&"names") => {
                let names = names(errors, key, input)?;
                self.names.set(errors, key, names);
            }
            _ => {
                unknown(errors, key, &self.name.to_string(), keys);
                skip_value(input)?;
            }
        }
        Ok(())
    }
}

impl<T> Once<T> {
    /// Sets the value, where none stands for one that was refused with an error of its own.
    fn set(&mut self, errors: &Errors, name: &Ident, value: Option<T>) {
        if matches!(self, Self::Absent) {
            *self = value.map_or(Self::Refused, Self::Given);
        } else {
            errors.at(name, format!("`{name}` is given twice, keep one of them"));
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        match self {
            Self::Given(value) => Some(value),
            Self::Absent | Self::Refused => None,
        }
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

/// Hands every `name <value>` of a list to `item`, and tells whether it came to the end.
fn items(
    errors: &Errors,
    input: ParseStream,
    mut item: impl FnMut(&Ident, ParseStream) -> syn::Result<()>,
) -> bool {
    let mut read = || {
        while !input.is_empty() {
            // Any word is taken for a key, so that a keyword is an unknown key like any other.
            let name = input.call(Ident::parse_any)?;
            item(&name, input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    match read() {
        Ok(()) => true,
        Err(error) => {
            errors.push(error);
            while input.parse::<TokenTree>().is_ok() {}
            false
        }
    }
}

/// The expression of `name = <expression>`.
fn assigned(
    errors: &Errors,
    name: &Ident,
    form: &str,
    input: ParseStream,
) -> syn::Result<Option<Expr>> {
    if !input.peek(Token![=]) {
        return refuse(errors, name, form, input);
    }
    input.parse::<Token![=]>()?;
    input.parse().map(Some)
}

/// The identifier of `key = <field>`.
fn field(errors: &Errors, name: &Ident, input: ParseStream) -> syn::Result<Option<Ident>> {
    if input.peek(Token![=]) {
        let ahead = input.fork();
        ahead.parse::<Token![=]>()?;
        // A field `r#type` may be written `type` here, where nothing else could be meant.
        if let Ok(field) = ahead.call(Ident::parse_any)
            && (ahead.is_empty() || ahead.peek(Token![,]))
        {
            input.advance_to(&ahead);
            return Ok(Some(field));
        }
    }
    if let Some(value) = assigned(errors, name, "key = <field>", input)? {
        let quoted = literal(&value).and_then(|text| text.parse::<Ident>().ok());
        let message = quoted.map_or_else(
            || "expected the identifier of a field, as in `key = id`".to_owned(),
            |field| format!("expected the identifier of a field, write `key = {field}`"),
        );
        errors.at(value, message);
    }
    Ok(None)
}

/// The literals of `names("ds0", "ds1")`.
fn names(errors: &Errors, name: &Ident, input: ParseStream) -> syn::Result<Option<Vec<LitStr>>> {
    if !input.peek(token::Paren) {
        return refuse(errors, name, "names(\"ds0\", \"ds1\")", input);
    }
    let content;
    let parentheses = parenthesized!(content in input);
    let values = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
    if values.is_empty() {
        let message = "`names` is empty, name at least one data source or leave `names` out";
        let mut group = Group::new(Delimiter::Parenthesis, TokenStream::new());
        group.set_span(parentheses.span.join());
        errors.at(quote!(#name #group), message);
        return Ok(None);
    }
    // All the values are looked at before any refusal, so that every wrong one is reported.
    let names: Vec<_> = values.iter().map(|value| string(errors, value)).collect();
    Ok(names.into_iter().collect())
}

fn string(errors: &Errors, value: &Expr) -> Option<LitStr> {
    let literal = literal(value).cloned();
    if literal.is_none() {
        errors.at(value, "expected a string literal");
    }
    literal
}

fn literal(value: &Expr) -> Option<&LitStr> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(literal),
            ..
        }) => Some(literal),
        // A literal which a declarative macro passed on stands in an invisible group.
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}

fn module(errors: &Errors, value: Expr) -> Option<Path> {
    match value {
        Expr::Path(value)
            if value.qself.is_none()
                && value.path.segments.iter().all(|s| s.arguments.is_none()) =>
        {
            Some(value.path)
        }
        value => {
            let message = "expected a path without quotes, as in `crate = ::sharding_sea_orm`";
            errors.at(value, message);
            None
        }
    }
}

fn unknown(errors: &Errors, name: &Ident, list: &str, accepted: &[&str]) {
    let mut message = format!("unknown key `{name}` in `{list}(...)`");
    let near = near(&name.to_string(), accepted);
    if !near.is_empty() {
        message += &format!(", did you mean {}?", listed(&near, "or"));
    }
    message += &format!("\naccepted are {}", listed(accepted, "and"));
    errors.at(name, message);
}

/// Reports a known key whose value does not have the form of that key.
fn refuse<T>(
    errors: &Errors,
    name: &Ident,
    form: &str,
    input: ParseStream,
) -> syn::Result<Option<T>> {
    errors.at(name, format!("expected `{form}`"));
    skip_value(input)?;
    Ok(None)
}

/// Steps over a value to the comma behind it.
fn skip_value(input: ParseStream) -> syn::Result<()> {
    if input.peek(Token![=]) {
        // An expression may have commas of its own, between generic arguments.
        input.parse::<Token![=]>()?;
        Expr::parse(input)?;
    }
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}
