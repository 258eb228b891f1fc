#![allow(unused_imports)]

use sharding_sea_orm::{HashModulo, Sharded};

#[derive(Sharded)]
#[sharded(source(key = id, by = HashModulo::new(2)))]
pub enum Model {
    Id(i64),
}

fn main() {}
