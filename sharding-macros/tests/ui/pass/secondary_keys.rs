use sea_orm::entity::prelude::*;
use sharding_sea_orm::{Embedded, HashModulo, Monthly, Sharded, ShardedEntity};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
#[sea_orm(table_name = "flights")]
#[sharded(
    table(
        key = time_hour,
        by = Monthly::starting(2013, 1),
        also(key = ticket, by = Embedded::new(0..6, Monthly::starting(2013, 1))),
        also(key = day, by = Monthly::starting(2013, 1)),
    ),
    source(
        key = id,
        by = HashModulo::new(2),
        names("ds0", "ds1"),
        also(key = (tailnum, time_hour), by = HashModulo::new(2))
    )
)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    pub ticket: Option<String>,
    pub tailnum: String,
    pub time_hour: DateTimeUtc,
    pub day: Date,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

fn main() {
    let _ = Entity::sharding();
}
