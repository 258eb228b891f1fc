#![allow(unused_imports)]

use sea_orm::entity::prelude::*;
use sharding_sea_orm::{Modulo, Sharded};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
#[sea_orm(table_name = "flights")]
#[sharded(
    table(key = id, by = Modulo::new(4)),
    tails("ds0" = ["0..3"], "ds1" = [])
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
