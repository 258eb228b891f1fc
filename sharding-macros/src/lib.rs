//! The derive macro `Sharded`, which declares the sharding rules of a SeaORM entity.
//!
//! Applications take it from `sharding_sea_orm`, which re-exports it next to the trait it
//! implements and the strategies it is given.

mod ast;
mod attr;
mod check;
mod errors;
mod expand;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `ShardedEntity` for the `Entity` of a SeaORM `Model`.
///
/// The derive goes on the `Model` of an ordinary entity, in the compact format as well as in the
/// `#[sea_orm::model]` format:
///
/// ```
/// mod flights {
///     use sea_orm::entity::prelude::*;
///     use sharding_sea_orm::{HashModulo, Monthly, Sharded};
///
///     #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
///     #[sea_orm(table_name = "flights")]
///     #[sharded(
///         table(key = time_hour, by = Monthly::starting(2013, 1)),
///         source(key = tailnum, by = HashModulo::new(2), names("ds0", "ds1"))
///     )]
///     pub struct Model {
///         #[sea_orm(primary_key)]
///         pub id: i64,
///         pub tailnum: String,
///         pub time_hour: DateTimeUtc,
///     }
///
///     #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
///     pub enum Relation {}
///
///     impl ActiveModelBehavior for ActiveModel {}
/// }
///
/// let rules = <flights::Entity as sharding_sea_orm::ShardedEntity>::sharding();
/// # let _ = rules;
/// ```
///
/// # The attribute
///
/// `#[sharded(...)]` takes the keys below, each of them once. It may be split over several
/// attributes, and needs at least one of `table` and `source`.
///
/// | key | meaning |
/// |---|---|
/// | `table(key = <field>, by = <strategy>)` | which tail table a row is in |
/// | `source(key = <field>, by = <strategy>, names(...))` | which data source a row is in; `names` is optional and lists the data sources as string literals |
/// | `separator = "_"` | what stands between the name of the table and its tail |
/// | `crate = <path>` | where `sharding_sea_orm` is, when it is not a direct dependency under that name |
///
/// A `key` is the identifier of a field of the struct, without quotes. The field has to be a
/// column, so one with `#[sea_orm(ignore)]` is refused.
///
/// A strategy is any expression. Its type is checked against the type of the field, so a strategy
/// which cannot place keys of that type is an error of the compiler at the expression.
#[proc_macro_derive(Sharded, attributes(sharded))]
pub fn derive_sharded(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::derive(&input).into()
}
