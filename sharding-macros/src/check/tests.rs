//! What is said about mistakes, of form and of content.

use syn::{DeriveInput, parse_quote};

use crate::expand::derive;

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
             accepted are `table`, `source`, `node`, `tails`, `separator` and `crate`",
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
fn keys_in_the_wrong_list_are_told_where_they_go() {
    let input = parse_quote! {
        #[sharded(
            key = id,
            names("a"),
            source(key = id, by = 1, also(key = at, by = 1, also(key = a, by = 1), names("a"))),
            table(key = id, by = 1, names("a"), tails("a" = ["0"]))
        )]
        struct Model {
            id: i64,
            at: i64,
        }
    };
    assert_eq!(
        errors(&input),
        [
            "`key` goes into `table(...)`, `source(...)`, `node(...)` or `also(...)`, not into \
             `sharded(...)`",
            "`names` goes into `source(...)`, not into `sharded(...)`",
            "`also` goes into `table(...)`, `source(...)` or `node(...)`, not into `also(...)`",
            "`names` goes into `source(...)`, not into `also(...)`",
            "`names` goes into `source(...)`, not into `table(...)`",
            "`tails` goes into `sharded(...)`, not into `table(...)`",
        ]
    );
}

#[test]
fn secondary_keys_are_looked_at_like_keys() {
    let input = parse_quote! {
        #[sharded(node(
            also(key = id),
            also(by = 1),
            also = 1,
            also(key = idd, bye = 1),
            also(key = id by = 1)
        ))]
        struct Model {
            id: i64,
        }
    };
    assert_eq!(
        errors(&input),
        [
            "expected `also(key = <field>, by = <strategy>)`",
            "unknown key `bye` in `also(...)`, did you mean `by`?\naccepted are `key` and `by`",
            "expected `,`",
            "missing `key` in `node(...)`, add `key = <field>`",
            "missing `by` in `node(...)`, add `by = <strategy>`",
            "missing `by` in `also(...)`, add `by = <strategy>`",
            "missing `key` in `also(...)`, add `key = <field>`",
            "missing `by` in `also(...)`, add `by = <strategy>`",
            "`Model` has no field `idd`, did you mean `id`?",
        ]
    );
}

#[test]
fn composite_keys_have_several_fields_each_of_them_once() {
    let input = parse_quote! {
        #[sharded(node(
            key = (),
            by = 1,
            also(key = (id), by = 1),
            also(key = (idd,), by = 1),
            also(key = ("id"), by = 1),
            also(key = (id, "at", Column::At, 1 + 1), by = 1),
            also(key = (type, at, r#type, note), by = 1),
            also(key = (id at), by = 1),
            also(key = [id, at], by = 1)
        ))]
        struct Model {
            id: i64,
            at: i64,
            r#type: i64,
            #[sea_orm(ignore)]
            note: i64,
        }
    };
    let no_field = "expected the identifier of a field, as in `key = id`";
    assert_eq!(
        errors(&input),
        [
            "a composite key has at least two fields, write `key = <field>` or \
             `key = (<field>, <field>)`",
            "a composite key has at least two fields, write `key = id`",
            "a composite key has at least two fields, write `key = idd`",
            "expected the identifier of a field, write `id`",
            "expected the identifier of a field, write `at`",
            no_field,
            no_field,
            "expected `,`",
            no_field,
            "`Model` has no field `idd`, did you mean `id`?",
            "`type` is twice in the key",
            "`note` is no column because of `#[sea_orm(ignore)]`, so it cannot be a key",
        ]
    );
}

#[test]
fn tails_are_lists_of_strings() {
    let input = parse_quote! {
        #[sharded(
            table(key = id, by = 1),
            tails(
                "a" = ["0", 1, '2'],
                "a" = [],
                b = [3..4],
                "c" = "5",
                "d",
                "c" = ["6"],
            )
        )]
        struct Model {
            id: i64,
        }
    };
    let no_string = "expected a string literal";
    assert_eq!(
        errors(&input),
        [
            no_string,
            no_string,
            "the list is empty, list at least one tail or leave the data source out",
            no_string,
            no_string,
            "expected a list of tails, as in `[\"0..1\", \"3\"]`",
            "expected `\"ds0\" = [\"0..1\", \"3\"]`",
            "`a` is listed twice in `tails(...)`",
            "`c` is listed twice in `tails(...)`",
        ]
    );
}

#[test]
fn tails_have_lists_and_a_table_rule() {
    let input = parse_quote! {
        #[sharded(source(key = id, by = 1), tails())]
        struct Model {
            id: i64,
        }
    };
    assert_eq!(
        errors(&input),
        [
            "`tails` is empty, list the tails of each data source or leave `tails` out",
            "`tails(...)` needs a `table(...)` rule, whose tails it lists",
        ]
    );
    let input = parse_quote! {
        #[sharded(tails = ["0"])]
        struct Model {
            id: i64,
        }
    };
    assert_eq!(
        errors(&input),
        [
            "expected `tails(\"ds0\" = [\"0..1\", \"3\"], \"ds1\" = [\"2\"])`",
            "no rule in `#[sharded(...)]`, give the entity a `table(...)` rule, a `source(...)` \
             rule, both, or a `node(...)` rule",
        ]
    );
}

#[test]
fn nothing_is_decided_beside_a_node() {
    let input = parse_quote! {
        #[sharded(table(key = id, by = 1), source = 1, node(key = id, by = 1), tails("a" = ["0"]))]
        struct Model {
            id: i64,
        }
    };
    let beside = |name| {
        format!("`node(...)` decides source and table together, remove the `{name}(...)` beside it")
    };
    assert_eq!(
        errors(&input),
        [
            "expected `source(key = <field>, by = <strategy>)`".to_owned(),
            beside("table"),
            beside("source"),
            beside("tails"),
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
