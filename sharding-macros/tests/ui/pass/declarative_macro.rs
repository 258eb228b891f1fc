use sea_orm::entity::prelude::*;
use sharding_sea_orm::{HashModulo, Modulo, Sharded, ShardedEntity};

macro_rules! flights {
    ($key:ident, $other:expr, $by:expr, $source:literal: $tails:expr) => {
        #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
        #[sea_orm(table_name = "flights")]
        #[sharded(
            table(key = $key, by = $by, also(key = ($key, $other), by = HashModulo::new(2))),
            tails($source = $tails)
        )]
        pub struct Model {
            #[sea_orm(primary_key)]
            pub $key: i64,
            pub tailnum: String,
        }
    };
}

flights!(id, tailnum, Modulo::new(2), "ds0": ["0..1"]);

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

fn main() {
    let _ = Entity::sharding();
}
