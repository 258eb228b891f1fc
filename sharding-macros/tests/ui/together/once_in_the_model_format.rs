#![allow(unused_imports)]

use sea_orm::entity::prelude::*;
use sharding_sea_orm::{HashModulo, Sharded};

#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
#[sea_orm(table_name = "flights")]
#[sharded(source(key = tialnum, by = HashModulo::new(2)))]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub tailnum: String,
    pub time_hour: DateTimeUtc,
}

impl ActiveModelBehavior for ActiveModel {}

fn main() {}
