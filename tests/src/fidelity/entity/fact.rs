//! The wide sharded entity: a column of every type.

use sea_orm::entity::prelude::*;

use super::{Grade, Mood};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "fact")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    pub at: DateTimeUtc,
    pub kind: String,
    pub big: i64,
    pub day: Date,
    pub uid: Uuid,
    pub small: Option<i16>,
    pub n: Option<i32>,
    pub units: Option<u32>,
    pub ratio: Option<f32>,
    pub score: Option<f64>,
    #[sea_orm(column_type = "Decimal(Some((20, 4)))")]
    pub amount: Option<Decimal>,
    pub flag: Option<bool>,
    #[sea_orm(column_type = "Text", nullable)]
    pub note: Option<String>,
    #[sea_orm(column_type = "Char(Some(4))", nullable)]
    pub code: Option<String>,
    pub data: Option<Vec<u8>>,
    pub tod: Option<Time>,
    pub made: Option<DateTime>,
    pub seen: Option<DateTimeUtc>,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub doc: Option<Json>,
    pub mood: Option<Mood>,
    pub grade: Option<Grade>,
    pub owner_id: Option<i32>,
    pub parent_id: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(has_many = "super::item::Entity")]
    Item,
    #[sea_orm(
        belongs_to = "super::owner::Entity",
        from = "Column::OwnerId",
        to = "super::owner::Column::Id",
        skip_fk
    )]
    Owner,
    #[sea_orm(
        belongs_to = "Entity",
        from = "Column::ParentId",
        to = "Column::Id",
        skip_fk
    )]
    Parent,
}

impl Related<super::item::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Item.def()
    }
}

impl Related<super::owner::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Owner.def()
    }
}

impl Related<super::tag::Entity> for Entity {
    fn to() -> RelationDef {
        super::item::Relation::Tag.def()
    }

    fn via() -> Option<RelationDef> {
        Some(super::item::Relation::Fact.def().rev())
    }
}

impl ActiveModelBehavior for ActiveModel {}
