use sea_orm::entity::prelude::*;
use sharding_sea_orm::{HashModulo, Monthly, Sharded, ShardedEntity};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
#[sea_orm(table_name = "flights")]
#[sharded(
    table(key = time_hour, by = Monthly::starting(2013, 1)),
    source(key = (carrier, r#type, tailnum), by = HashModulo::new(2), names("ds0", "ds1"))
)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    #[sea_orm(enum_name = "Airline")]
    pub carrier: String,
    pub r#type: i16,
    pub tailnum: Option<String>,
    pub time_hour: DateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

fn main() {
    let _ = Entity::sharding();
}
