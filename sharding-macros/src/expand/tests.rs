//! What is written for rules without mistakes, and for those with some.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_quote};

use super::derive;

fn assert_expands(input: &DeriveInput, expected: &TokenStream) {
    assert_eq!(derive(input).to_string(), expected.to_string());
}

/// The implementation around what `sharding` returns.
fn implementation(krate: &TokenStream, rules: &TokenStream) -> TokenStream {
    quote! {
        const _: () = {
            #[automatically_derived]
            impl #krate::ShardedEntity for Entity {
                fn sharding() -> #krate::EntityRules<Self> {
                    #rules
                }
            }
        };
    }
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
    let krate = quote!(crate::vendor::sharding);
    let rules = quote! {
        #krate::EntityRules::new()
            .source(#krate::rule::<i64, _>(Column::Kind, |id: &i64| id % 2))
    };
    assert_expands(&input, &implementation(&krate, &rules));
}

#[test]
fn composite_and_secondary_keys() {
    let input = parse_quote! {
        #[sharded(
            table(
                key = placed,
                by = Monthly::starting(2013, 1),
                also(key = order_no, by = Embedded::new(0..6, Monthly::starting(2013, 1))),
                also(by = HashModulo::new(2), key = (region, r#type,))
            ),
            source(key = (tenant, type), by = HashModulo::new(2), also(key = region, by = regions()))
        )]
        pub struct Model {
            pub placed: DateTimeUtc,
            pub order_no: String,
            pub region: Option<String>,
            pub r#type: i16,
            #[sea_orm(enum_name = "Owner")]
            pub tenant: i64,
        }
    };
    let rules = quote! {
        ::sharding_sea_orm::EntityRules::new()
            .table(
                ::sharding_sea_orm::rule::<DateTimeUtc, _>(
                    Column::Placed,
                    Monthly::starting(2013, 1)
                )
                .also(::sharding_sea_orm::rule::<String, _>(
                    Column::OrderNo,
                    Embedded::new(0..6, Monthly::starting(2013, 1))
                ))
                .also(::sharding_sea_orm::composite::<(Option<String>, i16), _>(
                    [
                        ::sharding_sea_orm::part::<Option<String>, _>(Column::Region),
                        ::sharding_sea_orm::part::<i16, _>(Column::Type)
                    ],
                    HashModulo::new(2)
                ))
            )
            .source(
                ::sharding_sea_orm::composite::<(i64, i16), _>(
                    [
                        ::sharding_sea_orm::part::<i64, _>(Column::Owner),
                        ::sharding_sea_orm::part::<i16, _>(Column::Type)
                    ],
                    HashModulo::new(2)
                )
                .also(::sharding_sea_orm::rule::<Option<String>, _>(
                    Column::Region,
                    regions()
                ))
            )
    };
    assert_expands(&input, &implementation(&quote!(::sharding_sea_orm), &rules));
}

#[test]
fn tails_of_sources() {
    let input = parse_quote! {
        #[sharded(tails("ds0" = ["0..1", "3",], "ds1" = ["2"],))]
        #[sharded(table(key = id, by = Modulo::new(4)), separator = "")]
        struct Model {
            id: i64,
        }
    };
    let rules = quote! {
        ::sharding_sea_orm::EntityRules::new()
            .table(::sharding_sea_orm::rule::<i64, _>(Column::Id, Modulo::new(4)))
            .tails("ds0", ["0..1", "3"])
            .tails("ds1", ["2"])
            .separator("")
    };
    assert_expands(&input, &implementation(&quote!(::sharding_sea_orm), &rules));
}

#[test]
fn a_node_and_a_crate() {
    let input = parse_quote! {
        #[sharded(crate = vendor)]
        #[sharded(node(key = id, by = snowflake(), also(key = (a, b), by = Other)))]
        struct Model {
            id: i64,
            a: u8,
            b: u16,
        }
    };
    let rules = quote! {
        vendor::EntityRules::new().node(
            vendor::rule::<i64, _>(Column::Id, snowflake())
                .also(vendor::composite::<(u8, u16), _>(
                    [vendor::part::<u8, _>(Column::A), vendor::part::<u16, _>(Column::B)],
                    Other
                ))
        )
    };
    assert_expands(&input, &implementation(&quote!(vendor), &rules));
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
fn a_mistake_does_not_take_the_trait_away() {
    let input: DeriveInput = parse_quote! {
        #[sharded(separator = "_")]
        struct Model {
            id: i64,
        }
    };
    let never = quote!(::core::unreachable!());
    let stub = implementation(&quote!(::sharding_sea_orm), &never);
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
