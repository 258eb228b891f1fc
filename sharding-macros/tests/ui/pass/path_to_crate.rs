use sea_orm::entity::prelude::*;
use sharding_sea_orm::ShardedEntity;

mod vendor {
    pub use sharding_sea_orm as sharding;
}

#[derive(Clone, Debug, PartialEq, DeriveEntityModel, vendor::sharding::Sharded)]
#[sea_orm(table_name = "flights")]
#[sharded(
    source(
        key = id,
        by = vendor::sharding::Modulo::new(2),
        also(key = (tailnum, time_hour), by = vendor::sharding::HashModulo::new(2))
    ),
    crate = vendor::sharding
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

fn main() {
    let _ = Entity::sharding();
}
