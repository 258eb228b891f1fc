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
/// attributes, and needs `table`, `source` or both, or `node`.
///
/// | key | meaning |
/// |---|---|
/// | `table(<rule>)` | which tail table a row is in |
/// | `source(<rule>, names(...))` | which data source a row is in; `names("ds0", "ds1")` is optional and gives each partition its data source |
/// | `node(<rule>)` | which data source and table a row is in, for a strategy whose partitions are named `source.table`; stands without `table`, `source` and `tails` |
/// | `tails("ds0" = ["0..1", "3"], "ds1" = ["2"])` | the tails of each data source, if not every data source has every tail: names, and runs such as `0..3` (both included), `4..` or `..3`; needs `table` |
/// | `separator = "_"` | what stands between the name of the table and its tail |
/// | `crate = <path>` | where `sharding_sea_orm` is, when it is not a direct dependency under that name |
///
/// A `<rule>` is a list of the keys below.
///
/// | key | meaning |
/// |---|---|
/// | `key = <field>` | the field that decides |
/// | `key = (<field>, <field>)` | the fields that decide together, at least two: a composite key |
/// | `by = <strategy>` | how it decides |
/// | `also(key = ..., by = ...)` | a secondary key, optional and repeatable: another key that chooses the same partitions, so that conditions on it narrow routes, too; every row has to agree, or have NULL there |
///
/// A field is given by its identifier, without quotes. It has to be a column, so one with
/// `#[sea_orm(ignore)]` is refused.
///
/// A strategy is any expression. Its type is checked against the types of the fields, so a
/// strategy which cannot place such keys is an error of the compiler at the expression.
///
/// # Examples
///
/// Orders of a month are a table. The order number begins with the month, so it finds the table as
/// well as the date does. Tenant and user together choose the data source:
///
/// ```
/// # mod orders {
/// # use sea_orm::entity::prelude::*;
/// # use sharding_sea_orm::{Embedded, HashModulo, Monthly, Sharded};
/// #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
/// #[sea_orm(table_name = "orders")]
/// #[sharded(
///     table(
///         key = placed_at,
///         by = Monthly::starting(2013, 1),
///         also(key = order_no, by = Embedded::new(0..6, Monthly::starting(2013, 1)))
///     ),
///     source(key = (tenant, user_id), by = HashModulo::new(2), names("ds0", "ds1"))
/// )]
/// pub struct Model {
///     #[sea_orm(primary_key, auto_increment = false)]
///     pub order_no: String,
///     pub tenant: String,
///     pub user_id: i64,
///     pub placed_at: DateTimeUtc,
/// }
/// # #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
/// # pub enum Relation {}
/// # impl ActiveModelBehavior for ActiveModel {}
/// # }
/// # let _ = <orders::Entity as sharding_sea_orm::ShardedEntity>::sharding();
/// ```
///
/// Four tables, of which a larger data source has three:
///
/// ```
/// # mod users {
/// # use sea_orm::entity::prelude::*;
/// # use sharding_sea_orm::{Modulo, Sharded};
/// #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
/// #[sea_orm(table_name = "users")]
/// #[sharded(
///     table(key = id, by = Modulo::new(4)),
///     tails("ds0" = ["0..1", "3"], "ds1" = ["2"])
/// )]
/// pub struct Model {
///     #[sea_orm(primary_key, auto_increment = false)]
///     pub id: i64,
/// }
/// # #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
/// # pub enum Relation {}
/// # impl ActiveModelBehavior for ActiveModel {}
/// # }
/// # let _ = <users::Entity as sharding_sea_orm::ShardedEntity>::sharding();
/// ```
///
/// A strategy that knows data sources and tables, made by a function:
///
/// ```
/// # mod events {
/// # use sea_orm::entity::prelude::*;
/// use sharding_sea_orm::{HashSplit, Sharded, SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash};
///
/// #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
/// #[sea_orm(table_name = "event")]
/// #[sharded(node(key = id, by = by_id()))]
/// pub struct Model {
///     #[sea_orm(primary_key, auto_increment = false)]
///     pub id: i64,
/// }
///
/// fn by_id() -> SnowflakeHash {
///     let tables = HashSplit::ranges().less_than(32_768, "event_0").max_value("event_1");
///     let database = SnowflakeDatabase::new("ds0", tables);
///     SnowflakeHash::new([SnowflakeEpoch::new(HashSplit::whole(database))])
/// }
/// # #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
/// # pub enum Relation {}
/// # impl ActiveModelBehavior for ActiveModel {}
/// # }
/// # let _ = <events::Entity as sharding_sea_orm::ShardedEntity>::sharding();
/// ```
#[proc_macro_derive(Sharded, attributes(sharded))]
pub fn derive_sharded(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::derive(&input).into()
}
