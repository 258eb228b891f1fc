//! The values of keys.

use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Path, Token, parenthesized, token};

use super::list::{refuse, spanned, to_end};
use crate::errors::Errors;

pub(super) type Values<T> = Punctuated<T, Token![,]>;

/// What `tails(...)` says of one data source.
pub(crate) struct Tails {
    pub(crate) source: LitStr,
    /// Empty if the list was refused with an error.
    pub(crate) tails: Vec<LitStr>,
}

/// The expression of `name = <expression>`.
pub(super) fn assigned(
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

/// The literals of `names("ds0", "ds1")`.
pub(super) fn names(
    errors: &Errors,
    name: &Ident,
    input: ParseStream,
) -> syn::Result<Option<Vec<LitStr>>> {
    if !input.peek(token::Paren) {
        return refuse(errors, name, "names(\"ds0\", \"ds1\")", input);
    }
    let content;
    let parentheses = parenthesized!(content in input);
    let values = to_end(errors, &content, Values::<Expr>::parse_terminated);
    let Some(values) = values else {
        return Ok(None);
    };
    if values.is_empty() {
        let message = "`names` is empty, name at least one data source or leave `names` out";
        errors.at(spanned(Some(name), &parentheses), message);
        return Ok(None);
    }
    Ok(strings(errors, &values))
}

/// The lists of `tails("ds0" = ["0..1", "3"], "ds1" = ["2"])`, less those which were refused.
pub(super) fn tails(
    errors: &Errors,
    name: &Ident,
    input: ParseStream,
) -> syn::Result<Option<Vec<Tails>>> {
    if !input.peek(token::Paren) {
        let form = "tails(\"ds0\" = [\"0..1\", \"3\"], \"ds1\" = [\"2\"])";
        return refuse(errors, name, form, input);
    }
    let content;
    let parentheses = parenthesized!(content in input);
    let lists = to_end(errors, &content, Values::<Expr>::parse_terminated);
    let Some(lists) = lists else {
        return Ok(None);
    };
    if lists.is_empty() {
        let message = "`tails` is empty, list the tails of each data source or leave `tails` out";
        errors.at(spanned(Some(name), &parentheses), message);
        return Ok(None);
    }
    let lists = lists.iter().filter_map(|list| tails_of_one(errors, list));
    Ok(Some(lists.collect()))
}

fn tails_of_one(errors: &Errors, list: &Expr) -> Option<Tails> {
    let Expr::Assign(list) = ungrouped(list) else {
        errors.at(list, "expected `\"ds0\" = [\"0..1\", \"3\"]`");
        return None;
    };
    let source = string(errors, &list.left);
    let tails = match ungrouped(&list.right) {
        Expr::Array(tails) if tails.elems.is_empty() => {
            let message = "the list is empty, list at least one tail or leave the data source out";
            errors.at(tails, message);
            None
        }
        Expr::Array(tails) => strings(errors, &tails.elems),
        value => {
            errors.at(value, "expected a list of tails, as in `[\"0..1\", \"3\"]`");
            None
        }
    };
    Some(Tails {
        source: source?,
        tails: tails.unwrap_or_default(),
    })
}

fn strings(errors: &Errors, values: &Values<Expr>) -> Option<Vec<LitStr>> {
    // All the values are looked at before any refusal, so that every wrong one is reported.
    let strings: Vec<_> = values.iter().map(|value| string(errors, value)).collect();
    strings.into_iter().collect()
}

pub(super) fn string(errors: &Errors, value: &Expr) -> Option<LitStr> {
    let literal = literal(value).cloned();
    if literal.is_none() {
        errors.at(value, "expected a string literal");
    }
    literal
}

pub(super) fn literal(value: &Expr) -> Option<&LitStr> {
    match ungrouped(value) {
        Expr::Lit(ExprLit {
            lit: Lit::Str(literal),
            ..
        }) => Some(literal),
        _ => None,
    }
}

/// What a declarative macro passed on stands in an invisible group.
pub(super) fn ungrouped(value: &Expr) -> &Expr {
    match value {
        Expr::Group(group) => ungrouped(&group.expr),
        value => value,
    }
}

pub(super) fn module(errors: &Errors, value: Expr) -> Option<Path> {
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
