#![allow(unused_imports)]

use sharding_sea_orm::{HashModulo, Sharded};

#[derive(Sharded)]
#[sharded(source(key = id, by = HashModulo::new(2)))]
pub struct Model<const N: usize> {
    pub id: [u8; N],
}

fn main() {}
