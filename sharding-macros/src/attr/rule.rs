//! `table(...)`, `source(...)`, `node(...)`, and the `also(...)` inside of them.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Ident, LitStr, Token, parenthesized, token};

use super::values::{self, Values, literal, ungrouped};
use super::{Once, list};
use crate::errors::Errors;

/// What a rule, or an `also(...)` inside of one, says.
pub(crate) struct Rule {
    pub(crate) name: Ident,
    /// The name and the parentheses, over which mistakes about the rule as a whole are shown.
    pub(crate) tokens: TokenStream,
    /// A field, or several of a composite key.
    pub(crate) key: Once<Vec<Ident>>,
    pub(crate) by: Once<Expr>,
    pub(crate) names: Once<Vec<LitStr>>,
    pub(crate) also: Vec<Rule>,
    /// Whether the rule was read to its end. If not, what is absent may only be unread.
    pub(crate) whole: bool,
}

/// What stands in the place of a field.
enum Part {
    Field(Ident),
    Other(Expr),
}

impl Rule {
    pub(super) fn parse(
        errors: &Errors,
        name: &Ident,
        input: ParseStream,
    ) -> syn::Result<Option<Self>> {
        if !input.peek(token::Paren) {
            let form = format!("{name}(key = <field>, by = <strategy>)");
            return list::refuse(errors, name, &form, input);
        }
        let content;
        let parentheses = parenthesized!(content in input);
        let mut rule = Self {
            name: name.clone(),
            tokens: list::spanned(Some(name), &parentheses),
            key: Once::absent(),
            by: Once::absent(),
            names: Once::absent(),
            also: Vec::new(),
            whole: true,
        };
        rule.whole = list::items(errors, &content, |key, input| rule.item(errors, key, input));
        Ok(Some(rule))
    }

    fn item(&mut self, errors: &Errors, key: &Ident, input: ParseStream) -> syn::Result<()> {
        match key.to_string().as_str() {
            "key" => {
                let fields = key_fields(errors, key, input)?;
                self.key.set(errors, key, fields);
            }
            "by" => {
                let strategy = values::assigned(errors, key, "by = <strategy>", input)?;
                self.by.set(errors, key, strategy);
            }
            "names" if list::takes(&self.name, key) => {
                let names = values::names(errors, key, input)?;
                self.names.set(errors, key, names);
            }
            "also" if list::takes(&self.name, key) => {
                self.also.extend(Self::parse(errors, key, input)?);
            }
            _ => {
                list::unknown(errors, key, &self.name.to_string());
                list::skip_value(input)?;
            }
        }
        Ok(())
    }
}

/// The fields of `key = <field>` and of `key = (<field>, <field>)`, less those which were refused.
fn key_fields(
    errors: &Errors,
    name: &Ident,
    input: ParseStream,
) -> syn::Result<Option<Vec<Ident>>> {
    if !input.peek(Token![=]) {
        return list::refuse(errors, name, "key = <field>", input);
    }
    input.parse::<Token![=]>()?;
    if !input.peek(token::Paren) {
        let field = input.parse::<Part>()?.field(errors);
        return Ok(field.map(|field| vec![field]));
    }
    let content;
    let parentheses = parenthesized!(content in input);
    let parts = list::to_end(errors, &content, Values::<Part>::parse_terminated);
    let Some(parts) = parts else {
        return Ok(None);
    };
    let count = parts.len();
    let fields = parts.into_iter().filter_map(|part| part.field(errors));
    let fields: Vec<_> = fields.collect();
    let too_few = "a composite key has at least two fields, write";
    match (count, fields.as_slice()) {
        (0, _) => errors.at(
            list::spanned(None, &parentheses),
            format!("{too_few} `key = <field>` or `key = (<field>, <field>)`"),
        ),
        (1, [field]) => errors.at(
            list::spanned(None, &parentheses),
            format!("{too_few} `key = {field}`"),
        ),
        _ => {}
    }
    Ok((!fields.is_empty()).then_some(fields))
}

impl Parse for Part {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let ahead = input.fork();
        // A field `r#type` may be written `type` here, where nothing else could be meant.
        if let Ok(field) = ahead.call(Ident::parse_any)
            && (ahead.is_empty() || ahead.peek(Token![,]))
        {
            input.advance_to(&ahead);
            return Ok(Self::Field(field));
        }
        // A field out of a declarative macro, or with something wrong behind it, is still one.
        let value = input.parse()?;
        let field = match ungrouped(&value) {
            Expr::Path(value) => value.path.get_ident().cloned(),
            _ => None,
        };
        Ok(field.map_or(Self::Other(value), Self::Field))
    }
}

impl Part {
    fn field(self, errors: &Errors) -> Option<Ident> {
        let value = match self {
            Self::Field(field) => return Some(field),
            Self::Other(value) => value,
        };
        let quoted = literal(&value).and_then(|text| text.parse::<Ident>().ok());
        let message = quoted.map_or_else(
            || "expected the identifier of a field, as in `key = id`".to_owned(),
            |field| format!("expected the identifier of a field, write `{field}`"),
        );
        errors.at(value, message);
        None
    }
}
