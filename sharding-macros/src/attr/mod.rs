//! Reads `#[sharded(...)]` into cells which can be set once.
//!
//! A mistake which leaves the position of the next key clear is reported and stepped over. A
//! syntax error ends the list it is in, since anything behind it would be a guess.

mod list;
mod rule;
mod values;

use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr, Meta, Path};

use crate::errors::Errors;

pub(crate) use rule::Rule;
pub(crate) use values::Tails;

/// What all the `#[sharded(...)]` of one struct say together.
pub(crate) struct Attributes<'a> {
    /// The first attribute, over which mistakes about the attribute as a whole are shown.
    pub(crate) first: Option<&'a Attribute>,
    pub(crate) table: Once<Rule>,
    pub(crate) source: Once<Rule>,
    pub(crate) node: Once<Rule>,
    pub(crate) tails: Once<Vec<Tails>>,
    pub(crate) separator: Once<LitStr>,
    pub(crate) krate: Once<Path>,
    /// Whether every attribute was read to its end. If not, what is absent may only be unread.
    pub(crate) whole: bool,
}

/// The value of a key that may be given once.
pub(crate) struct Once<T> {
    /// The key, where it is given first.
    name: Option<Ident>,
    /// None if the key is absent, or has a value about which an error is reported already.
    value: Option<T>,
}

impl<'a> Attributes<'a> {
    pub(crate) fn parse(errors: &Errors, attrs: &'a [Attribute]) -> Self {
        let mut attributes = Self {
            first: None,
            table: Once::absent(),
            source: Once::absent(),
            node: Once::absent(),
            tails: Once::absent(),
            separator: Once::absent(),
            krate: Once::absent(),
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
            let whole = list::items(errors, input, |name, input| self.item(errors, name, input));
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
                let rule = Rule::parse(errors, name, input)?;
                self.table.set(errors, name, rule);
            }
            "source" => {
                let rule = Rule::parse(errors, name, input)?;
                self.source.set(errors, name, rule);
            }
            "node" => {
                let rule = Rule::parse(errors, name, input)?;
                self.node.set(errors, name, rule);
            }
            "tails" => {
                let tails = values::tails(errors, name, input)?;
                self.tails.set(errors, name, tails);
            }
            "separator" => {
                let separator = values::assigned(errors, name, "separator = \"_\"", input)?;
                let separator = separator.and_then(|value| values::string(errors, &value));
                self.separator.set(errors, name, separator);
            }
            "crate" => {
                let form = "crate = ::sharding_sea_orm";
                let krate = values::assigned(errors, name, form, input)?;
                let krate = krate.and_then(|value| values::module(errors, value));
                self.krate.set(errors, name, krate);
            }
            _ => {
                list::unknown(errors, name, "sharded");
                list::skip_value(input)?;
            }
        }
        Ok(())
    }
}

impl<T> Once<T> {
    fn absent() -> Self {
        Self {
            name: None,
            value: None,
        }
    }

    /// Sets the value, where none stands for one that was refused with an error of its own.
    fn set(&mut self, errors: &Errors, name: &Ident, value: Option<T>) {
        if self.is_absent() {
            self.name = Some(name.clone());
            self.value = value;
        } else {
            errors.at(name, format!("`{name}` is given twice, keep one of them"));
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    pub(crate) fn name(&self) -> Option<&Ident> {
        self.name.as_ref()
    }

    pub(crate) fn is_absent(&self) -> bool {
        self.name.is_none()
    }
}
