//! The child of a fact, which repeats the columns that facts are sharded by.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "item")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    pub fact_id: i64,
    pub at: DateTimeUtc,
    pub kind: String,
    pub big: i64,
    pub qty: Option<i32>,
    #[sea_orm(column_type = "Decimal(Some((12, 2)))")]
    pub price: Option<Decimal>,
    pub label: Option<String>,
    pub tag_id: Option<i32>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::fact::Entity",
        from = "Column::FactId",
        to = "super::fact::Column::Id",
        skip_fk
    )]
    Fact,
    #[sea_orm(
        belongs_to = "super::tag::Entity",
        from = "Column::TagId",
        to = "super::tag::Column::Id",
        skip_fk
    )]
    Tag,
}

impl Related<super::fact::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Fact.def()
    }
}

impl Related<super::tag::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Tag.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
