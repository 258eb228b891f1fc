//! A small entity that lives in one data source.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "owner")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i32,
    pub name: String,
    pub region: Option<String>,
    pub rank: Option<i16>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(has_many = "super::fact::Entity")]
    Fact,
}

impl Related<super::fact::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Fact.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
