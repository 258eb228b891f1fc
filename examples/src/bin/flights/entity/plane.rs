//! A plane.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use crate::data::missing;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "plane")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tailnum: String,
    #[serde(deserialize_with = "missing")]
    pub year: Option<i32>,
    #[sea_orm(column_name = "type")]
    pub r#type: String,
    pub manufacturer: String,
    pub model: String,
    pub engines: i32,
    pub seats: i32,
    #[serde(deserialize_with = "missing")]
    pub speed: Option<i32>,
    pub engine: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
