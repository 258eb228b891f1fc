#![allow(unused_imports)]

use sea_orm::entity::prelude::*;
use sharding_sea_orm::{HashModulo, Monthly, Sharded};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
#[sea_orm(table_name = "flights")]
#[sharded(
    node(key = (id, idd), by = HashModulo::new(2), also(key = (tailnum))),
    table(key = time_hour, by = Monthly::starting(2013, 1), names("ds0", "ds1")),
    tails("ds0" = [], "ds0" = [1])
)]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub tailnum: String,
    pub time_hour: DateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

fn main() {}
