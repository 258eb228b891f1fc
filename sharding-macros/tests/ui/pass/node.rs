use sea_orm::entity::prelude::*;
use sharding_sea_orm::{
    HashSplit, Sharded, ShardedEntity, SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash,
};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
#[sea_orm(table_name = "flights")]
#[sharded(node(key = id, by = snowflake(), also(key = reversed, by = snowflake())))]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    pub reversed: Option<u64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

fn snowflake() -> SnowflakeHash {
    let tables = HashSplit::modulo(["flights_0", "flights_1"]);
    let database = SnowflakeDatabase::new("ds0", tables);
    SnowflakeHash::new([SnowflakeEpoch::new(HashSplit::whole(database))])
}

fn main() {
    let _ = Entity::sharding();
}
