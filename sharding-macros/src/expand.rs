//! Writes the implementation.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::DeriveInput;

use crate::ast::{Key, KeyColumn, Model, Placement, Sharding};
use crate::attr::{Attributes, Tails};
use crate::check::check;
use crate::errors::Errors;

/// The expansion of `#[derive(Sharded)]`, with all the mistakes in it if there are any.
pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    // `#[sea_orm::model]` copies the derive to a second struct, whose entity is the same.
    if input.ident == "ModelEx" {
        return TokenStream::new();
    }
    let errors = Errors::new();
    let attributes = Attributes::parse(&errors, &input.attrs);
    let model = Model::new(input, &attributes);
    let sharding = check(&errors, &model);
    match errors.finish() {
        Ok(()) => implementation(&attributes, &rules(&attributes, &sharding)),
        Err(error) => {
            let mut tokens = error.into_compile_error();
            // Without the trait, every use of the entity would be a further error.
            if model.has_entity() {
                let never = quote!(::core::unreachable!());
                tokens.extend(implementation(&attributes, &never));
            }
            tokens
        }
    }
}

fn implementation(attributes: &Attributes<'_>, body: &TokenStream) -> TokenStream {
    let krate = krate(attributes);
    quote! {
        const _: () = {
            #[automatically_derived]
            impl #krate::ShardedEntity for Entity {
                fn sharding() -> #krate::EntityRules<Self> {
                    #body
                }
            }
        };
    }
}

fn rules(attributes: &Attributes<'_>, sharding: &Sharding<'_>) -> TokenStream {
    let krate = krate(attributes);
    let table = sharding.table.as_ref().map(|table| {
        let rule = rule(attributes, table);
        quote!(.table(#rule))
    });
    let source = sharding.source.as_ref().map(|source| {
        let rule = rule(attributes, source);
        quote!(.source(#rule))
    });
    let source_names = sharding
        .source_names
        .map(|names| quote!(.source_names([#(#names),*])));
    let node = sharding.node.as_ref().map(|node| {
        let rule = rule(attributes, node);
        quote!(.node(#rule))
    });
    let tails = sharding
        .tails
        .iter()
        .map(|Tails { source, tails }| quote!(.tails(#source, [#(#tails),*])));
    let separator = sharding
        .separator
        .map(|separator| quote!(.separator(#separator)));
    quote!(#krate::EntityRules::new() #table #source #source_names #node #(#tails)* #separator)
}

fn rule(attributes: &Attributes<'_>, placement: &Placement<'_>) -> TokenStream {
    let primary = key(attributes, &placement.key);
    let secondary = placement
        .secondary
        .iter()
        .map(|other| key(attributes, other));
    quote!(#primary #(.also(#secondary))*)
}

fn key(attributes: &Attributes<'_>, key: &Key<'_>) -> TokenStream {
    let krate = krate(attributes);
    let Key { columns, by } = key;
    let types: Vec<_> = columns.iter().map(|column| column.field.ty).collect();
    let variants = columns.iter().map(KeyColumn::variant);
    if let [ty] = types.as_slice() {
        quote!(#krate::rule::<#ty, _>(#(Column::#variants,)* #by))
    } else {
        quote! {
            #krate::composite::<(#(#types),*), _>(
                [#(#krate::part::<#types, _>(Column::#variants)),*],
                #by
            )
        }
    }
}

fn krate(attributes: &Attributes<'_>) -> TokenStream {
    let path = attributes.krate.get();
    path.map_or_else(|| quote!(::sharding_sea_orm), ToTokens::to_token_stream)
}

#[cfg(test)]
mod tests;
