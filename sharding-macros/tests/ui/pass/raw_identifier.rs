use sea_orm::entity::prelude::*;
use sharding_sea_orm::{HashModulo, Modulo, Sharded, ShardedEntity};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
#[sea_orm(table_name = "flights")]
#[sharded(table(key = r#type, by = Modulo::new(4)))]
#[sharded(source(key = self_, by = HashModulo::new(2)))]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub r#type: i32,
    pub self_: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

fn main() {
    let _ = Entity::sharding();
}
