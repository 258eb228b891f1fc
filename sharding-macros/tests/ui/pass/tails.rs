use sea_orm::entity::prelude::*;
use sharding_sea_orm::{HashModulo, Sharded, ShardedEntity};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
#[sea_orm(table_name = "flights")]
#[sharded(tails("ds0" = ["0..1", "3"], "ds1" = ["2"]))]
#[sharded(table(key = tailnum, by = HashModulo::new(4)), separator = "")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub tailnum: String,
    pub time_hour: DateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

fn main() {
    let _ = Entity::sharding();
}
