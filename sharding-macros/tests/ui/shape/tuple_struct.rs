#![allow(unused_imports)]

use sharding_sea_orm::{HashModulo, Sharded};

#[derive(Sharded)]
#[sharded(source(key = id, by = HashModulo::new(2)))]
pub struct Model(pub i64);

fn main() {}
