//! The struct the derive is put on, as far as sharding has to know it. Borrows the syntax.

use heck::ToUpperCamelCase;
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Attribute, Data, DeriveInput, Expr, Fields, Ident, LitStr, Type};

use crate::attr::{Attributes, Tails};

/// The input of the derive.
pub(crate) struct Model<'a> {
    pub(crate) input: &'a DeriveInput,
    /// None when the input is not a struct with named fields.
    pub(crate) fields: Option<Vec<Field<'a>>>,
    pub(crate) attributes: &'a Attributes<'a>,
}

/// A field of the struct.
pub(crate) struct Field<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a Type,
    pub(crate) attrs: &'a [Attribute],
    /// Whether SeaORM was told that the field is not a column.
    pub(crate) ignored: bool,
    /// The name which the variant of `Column` was given instead of the one made from the field.
    enum_name: Option<Ident>,
}

/// Rules without mistakes.
pub(crate) struct Sharding<'a> {
    pub(crate) table: Option<Placement<'a>>,
    pub(crate) source: Option<Placement<'a>>,
    pub(crate) source_names: Option<&'a [LitStr]>,
    pub(crate) node: Option<Placement<'a>>,
    pub(crate) tails: &'a [Tails],
    pub(crate) separator: Option<&'a LitStr>,
}

/// The keys of a rule.
pub(crate) struct Placement<'a> {
    pub(crate) key: Key<'a>,
    /// Keys that choose the same.
    pub(crate) secondary: Vec<Key<'a>>,
}

/// Where a rule looks and what it decides by.
pub(crate) struct Key<'a> {
    /// One, or those of a composite key.
    pub(crate) columns: Vec<KeyColumn<'a>>,
    pub(crate) by: &'a Expr,
}

/// A field, and its name where the rule gives it.
pub(crate) struct KeyColumn<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) field: &'a Field<'a>,
}

impl<'a> Model<'a> {
    pub(crate) fn new(input: &'a DeriveInput, attributes: &'a Attributes<'a>) -> Self {
        let fields = match &input.data {
            Data::Struct(data) => match &data.fields {
                Fields::Named(fields) => Some(fields.named.iter().filter_map(Field::new).collect()),
                Fields::Unnamed(_) | Fields::Unit => None,
            },
            Data::Enum(_) | Data::Union(_) => None,
        };
        Self {
            input,
            fields,
            attributes,
        }
    }

    /// Whether this is the struct next to which SeaORM puts `Entity`.
    pub(crate) fn has_entity(&self) -> bool {
        self.input.ident == "Model"
            && self.fields.is_some()
            && self.input.generics.params.is_empty()
    }
}

impl<'a> Field<'a> {
    fn new(field: &'a syn::Field) -> Option<Self> {
        let mut ignored = false;
        let mut enum_name = None;
        for attr in field.attrs.iter().filter(|a| a.path().is_ident("sea_orm")) {
            // What is wrong with the attribute is for SeaORM to say, whose derive stops there too.
            let _ = attr.parse_nested_meta(|meta| {
                if meta.path.is_ident("ignore") {
                    ignored = true;
                } else if meta.path.is_ident("enum_name") {
                    enum_name = Some(meta.value()?.parse::<LitStr>()?.parse()?);
                } else if let Ok(value) = meta.value() {
                    value.parse::<Expr>()?;
                }
                Ok(())
            });
        }
        Some(Self {
            ident: field.ident.as_ref()?,
            ty: &field.ty,
            attrs: &field.attrs,
            ignored,
            enum_name,
        })
    }

    /// The name of the field without `r#`, which is not a part of it.
    pub(crate) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }

    /// The variant of `Column` which SeaORM makes from this field.
    fn variant(&self, span: Span) -> Ident {
        let name = self
            .enum_name
            .as_ref()
            .map_or_else(|| self.name().to_upper_camel_case(), Ident::to_string);
        // `Self` is the one keyword in camel case, and SeaORM escapes it like this.
        let name = if name == "Self" { "Self_" } else { &name };
        // A name of digits or underscores has no variant, and SeaORM refuses the struct for it.
        let mut variant = syn::parse_str(name).unwrap_or_else(|_| self.ident.clone());
        variant.set_span(span);
        variant
    }
}

impl KeyColumn<'_> {
    /// The variant of `Column`, shown in messages where the rule gives the field's name.
    pub(crate) fn variant(&self) -> Ident {
        self.field.variant(self.name.span())
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn variant(field: &syn::Field) -> String {
        let field = Field::new(field).unwrap();
        field.variant(Span::call_site()).to_string()
    }

    #[test]
    fn variants_are_named_as_by_sea_orm() {
        assert_eq!(variant(&parse_quote!(id: i64)), "Id");
        assert_eq!(variant(&parse_quote!(time_hour: i64)), "TimeHour");
        assert_eq!(variant(&parse_quote!(_version_: i64)), "Version");
        assert_eq!(variant(&parse_quote!(line1_text: i64)), "Line1Text");
        assert_eq!(variant(&parse_quote!(userID: i64)), "UserId");
    }

    #[test]
    fn raw_identifiers_and_keywords_are_escaped_as_by_sea_orm() {
        assert_eq!(variant(&parse_quote!(r#type: i64)), "Type");
        assert_eq!(variant(&parse_quote!(self_: i64)), "Self_");
    }

    #[test]
    fn a_given_variant_is_taken_as_it_is() {
        let field = parse_quote!(#[sea_orm(column_name = "no", enum_name = "SerialNo")] id: i64);
        assert_eq!(variant(&field), "SerialNo");
        let field = parse_quote!(#[sea_orm(primary_key)] #[sea_orm(enum_name = "lower")] id: i64);
        assert_eq!(variant(&field), "lower");
    }

    #[test]
    fn other_attributes_do_not_rename_or_ignore() {
        let field = parse_quote!(#[serde(ignore, enum_name = "Other")] id: i64);
        assert!(!Field::new(&field).unwrap().ignored);
        assert_eq!(variant(&field), "Id");
    }

    #[test]
    fn ignored_fields_are_known() {
        let field = parse_quote!(#[sea_orm(column_type = "Text", ignore)] id: i64);
        assert!(Field::new(&field).unwrap().ignored);
    }
}
