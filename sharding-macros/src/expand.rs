//! Writes the implementation.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::DeriveInput;
use syn::spanned::Spanned;

use crate::ast::{Model, Placement, Sharding};
use crate::attr::Attributes;
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
    let separator = sharding
        .separator
        .map(|separator| quote!(.separator(#separator)));
    quote!(#krate::EntityRules::new() #table #source #source_names #separator)
}

fn rule(attributes: &Attributes<'_>, placement: &Placement<'_>) -> TokenStream {
    let krate = krate(attributes);
    let Placement { key, field, by } = placement;
    let ty = field.ty;
    let variant = field.variant(key.span());
    quote!(#krate::rule::<#ty, _>(Column::#variant, #by))
}

fn krate(attributes: &Attributes<'_>) -> TokenStream {
    let path = attributes.krate.get();
    path.map_or_else(|| quote!(::sharding_sea_orm), ToTokens::to_token_stream)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn assert_expands(input: &DeriveInput, expected: &TokenStream) {
        assert_eq!(derive(input).to_string(), expected.to_string());
    }

    /// The messages of the errors in an expansion.
    fn errors(input: &DeriveInput) -> Vec<String> {
        let file: syn::File = syn::parse2(derive(input)).unwrap();
        file.items
            .iter()
            .filter_map(|item| match item {
                syn::Item::Macro(item) => Some(&item.mac),
                _ => None,
            })
            .map(|mac| mac.parse_body::<syn::LitStr>().unwrap().value())
            .collect()
    }

    #[test]
    fn all_the_keys() {
        let input = parse_quote! {
            #[sharded(
                table(key = time_hour, by = Monthly::starting(2013, 1)),
                source(key = tailnum, by = HashModulo::new(2), names("ds0", "ds1")),
                separator = "_",
            )]
            pub struct Model {
                pub time_hour: DateTimeUtc,
                pub tailnum: Option<String>,
            }
        };
        let expected = quote! {
            const _: () = {
                #[automatically_derived]
                impl ::sharding_sea_orm::ShardedEntity for Entity {
                    fn sharding() -> ::sharding_sea_orm::EntityRules<Self> {
                        ::sharding_sea_orm::EntityRules::new()
                            .table(::sharding_sea_orm::rule::<DateTimeUtc, _>(
                                Column::TimeHour,
                                Monthly::starting(2013, 1)
                            ))
                            .source(::sharding_sea_orm::rule::<Option<String>, _>(
                                Column::Tailnum,
                                HashModulo::new(2)
                            ))
                            .source_names(["ds0", "ds1"])
                            .separator("_")
                    }
                }
            };
        };
        assert_expands(&input, &expected);
    }

    #[test]
    fn keys_over_several_attributes_and_a_crate() {
        let input = parse_quote! {
            #[sharded(crate = crate::vendor::sharding)]
            #[sharded(source(key = type, by = |id: &i64| id % 2))]
            struct Model {
                #[sea_orm(enum_name = "Kind")]
                r#type: i64,
            }
        };
        let expected = quote! {
            const _: () = {
                #[automatically_derived]
                impl crate::vendor::sharding::ShardedEntity for Entity {
                    fn sharding() -> crate::vendor::sharding::EntityRules<Self> {
                        crate::vendor::sharding::EntityRules::new()
                            .source(crate::vendor::sharding::rule::<i64, _>(
                                Column::Kind,
                                |id: &i64| id % 2
                            ))
                    }
                }
            };
        };
        assert_expands(&input, &expected);
    }

    #[test]
    fn nothing_for_model_ex() {
        let input = parse_quote! {
            #[sharded(nonsense)]
            struct ModelEx<T>(T);
        };
        assert_expands(&input, &TokenStream::new());
    }

    #[test]
    fn several_errors_are_reported_together() {
        let input = parse_quote! {
            #[sharded(tabel(key = id, by = Modulo::<A, B>::new(2)), separator = 1)]
            #[sharded(source(key = idd, names("a", "b", "a")), separator = "_")]
            struct Model {
                id: i64,
            }
        };
        assert_eq!(
            errors(&input),
            [
                "unknown key `tabel` in `sharded(...)`, did you mean `table`?\n\
                 accepted are `table`, `source`, `separator` and `crate`",
                "expected a string literal",
                "`separator` is given twice, keep one of them",
                "missing `by` in `source(...)`, add `by = <strategy>`",
                "`Model` has no field `idd`, did you mean `id`?",
                "`a` is named twice in `names(...)`",
            ]
        );
    }

    #[test]
    fn a_syntax_error_ends_its_list_only() {
        let input = parse_quote! {
            #[sharded(table(key = id, by = f(1 2)), source(by = 1))]
            struct Model {
                id: i64,
            }
        };
        assert_eq!(
            errors(&input),
            [
                "expected `,`",
                "missing `key` in `source(...)`, add `key = <field>`",
            ]
        );
    }

    #[test]
    fn values_of_the_wrong_form_are_one_error_each() {
        let input = parse_quote! {
            #[sharded(table = 1, source(key id, by, names = "a"), separator("_"), crate = "a")]
            struct Model {
                id: i64,
            }
        };
        assert_eq!(
            errors(&input),
            [
                "expected `table(key = <field>, by = <strategy>)`",
                "expected `key = <field>`",
                "expected `by = <strategy>`",
                "expected `names(\"ds0\", \"ds1\")`",
                "expected `separator = \"_\"`",
                "expected a path without quotes, as in `crate = ::sharding_sea_orm`",
            ]
        );
    }

    #[test]
    fn shapes_are_refused() {
        let expected = "`Sharded` is derived for a struct with named fields, not for";
        let inputs: [(DeriveInput, &str); 4] = [
            (
                parse_quote!(
                    #[sharded(source(key = id, by = 1))]
                    enum Model {
                        A,
                    }
                ),
                "an enum",
            ),
            (
                parse_quote!(#[sharded(source(key = id, by = 1))] union Model { id: i64 }),
                "a union",
            ),
            (
                parse_quote!(
                    #[sharded(source(key = id, by = 1))]
                    struct Model(i64);
                ),
                "a tuple struct",
            ),
            (
                parse_quote!(
                    #[sharded(source(key = id, by = 1))]
                    struct Model;
                ),
                "a unit struct",
            ),
        ];
        for (input, shape) in inputs {
            assert_eq!(errors(&input), [format!("{expected} {shape}")]);
        }
    }

    #[test]
    fn a_mistake_does_not_take_the_trait_away() {
        let input: DeriveInput = parse_quote! {
            #[sharded(separator = "_")]
            struct Model {
                id: i64,
            }
        };
        let stub = quote! {
            const _: () = {
                #[automatically_derived]
                impl ::sharding_sea_orm::ShardedEntity for Entity {
                    fn sharding() -> ::sharding_sea_orm::EntityRules<Self> {
                        ::core::unreachable!()
                    }
                }
            };
        };
        assert!(derive(&input).to_string().ends_with(&stub.to_string()));
    }

    #[test]
    fn no_stub_where_there_is_no_entity() {
        let inputs: [DeriveInput; 4] = [
            parse_quote!(
                struct Flight {
                    id: i64,
                }
            ),
            parse_quote!(
                struct Model<T> {
                    id: T,
                }
            ),
            parse_quote!(
                struct Model<'a> {
                    id: &'a str,
                }
            ),
            parse_quote!(
                enum Model {
                    A,
                }
            ),
        ];
        for input in inputs {
            let tokens = derive(&input).to_string();
            assert!(tokens.contains("compile_error"));
            assert!(!tokens.contains("ShardedEntity"));
        }
    }
}
