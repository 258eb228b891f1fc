//! The lists of keys in parentheses, and what can be wrong with a key before its value is read.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Ident, Token, token};

use crate::errors::{Errors, listed, near};

/// The lists and the keys that each of them takes.
const LISTS: &[(&str, &[&str])] = &[
    (
        "sharded",
        &["table", "source", "node", "tails", "separator", "crate"],
    ),
    ("table", &["key", "by", "also"]),
    ("source", &["key", "by", "also", "names"]),
    ("node", &["key", "by", "also"]),
    ("also", &["key", "by"]),
];

/// Whether a list takes a key.
pub(super) fn takes(list: &Ident, key: &Ident) -> bool {
    let mut keys = LISTS.iter().filter(|(name, _)| list == name);
    keys.any(|(_, keys)| keys.iter().any(|known| key == known))
}

/// Hands every `name <value>` of a list to `item`, and tells whether it came to the end.
pub(super) fn items(
    errors: &Errors,
    input: ParseStream,
    mut item: impl FnMut(&Ident, ParseStream) -> syn::Result<()>,
) -> bool {
    let read = to_end(errors, input, |input| {
        while !input.is_empty() {
            // Any word is taken for a key, so that a keyword is an unknown key like any other.
            let name = input.call(Ident::parse_any)?;
            item(&name, input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    });
    read.is_some()
}

/// Reads the whole of a list. A syntax error is reported, and what is left stepped over.
pub(super) fn to_end<T>(
    errors: &Errors,
    input: ParseStream,
    read: impl FnOnce(ParseStream) -> syn::Result<T>,
) -> Option<T> {
    match read(input) {
        Ok(value) => Some(value),
        Err(error) => {
            errors.push(error);
            while input.parse::<TokenTree>().is_ok() {}
            None
        }
    }
}

/// Parentheses and what stands before them, over which mistakes about the whole are shown.
pub(super) fn spanned(name: Option<&Ident>, parentheses: &token::Paren) -> TokenStream {
    let mut group = Group::new(Delimiter::Parenthesis, TokenStream::new());
    group.set_span(parentheses.span.join());
    quote!(#name #group)
}

/// Reports a key which the list does not take.
pub(super) fn unknown(errors: &Errors, name: &Ident, list: &str) {
    let key = name.to_string();
    let takers = LISTS.iter().filter(|(_, keys)| keys.contains(&&*key));
    let takers: Vec<_> = takers.map(|(taker, _)| format!("{taker}(...)")).collect();
    if !takers.is_empty() {
        let takers = listed(&takers, "or");
        let message = format!("`{key}` goes into {takers}, not into `{list}(...)`");
        errors.at(name, message);
        return;
    }
    let accepted = LISTS.iter().find(|(name, _)| *name == list);
    let accepted = accepted.map_or(&[][..], |(_, keys)| keys);
    let mut message = format!("unknown key `{key}` in `{list}(...)`");
    let near = near(&key, accepted);
    if !near.is_empty() {
        message += &format!(", did you mean {}?", listed(&near, "or"));
    }
    message += &format!("\naccepted are {}", listed(accepted, "and"));
    errors.at(name, message);
}

/// Reports a known key whose value does not have the form of that key.
pub(super) fn refuse<T>(
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
pub(super) fn skip_value(input: ParseStream) -> syn::Result<()> {
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
