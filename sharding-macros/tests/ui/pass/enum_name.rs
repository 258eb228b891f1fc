use sea_orm::entity::prelude::*;
use sharding_sea_orm::{HashModulo, Sharded, ShardedEntity};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
#[sea_orm(table_name = "flights")]
#[sharded(source(key = serial_no, by = HashModulo::new(2)))]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    #[sea_orm(column_name = "no", enum_name = "SerialNumber")]
    pub serial_no: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

fn main() {
    let _ = Entity::sharding();
}
