//! A flight, in the table of its month.

use chrono::{DateTime, Utc};
use sea_orm::entity::prelude::*;
use serde::Deserialize;
use sharding_sea_orm::{Monthly, Sharded};

use crate::data::missing;

/// The hours are in UTC, so the last evening of 2013 is in January 2014.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel, Deserialize, Sharded)]
#[sea_orm(table_name = "flight")]
#[sharded(table(key = time_hour, by = Monthly::starting(2013, 1).through(2014, 1)))]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    #[serde(skip_deserializing)]
    pub id: i32,
    pub month: i32,
    pub day: i32,
    #[serde(deserialize_with = "missing")]
    pub dep_time: Option<i32>,
    pub sched_dep_time: i32,
    #[serde(deserialize_with = "missing")]
    pub dep_delay: Option<i32>,
    #[serde(deserialize_with = "missing")]
    pub arr_time: Option<i32>,
    pub sched_arr_time: i32,
    #[serde(deserialize_with = "missing")]
    pub arr_delay: Option<i32>,
    #[sea_orm(indexed)]
    pub carrier: String,
    #[serde(rename = "flight")]
    pub number: i32,
    #[sea_orm(indexed)]
    #[serde(deserialize_with = "missing")]
    pub tailnum: Option<String>,
    pub origin: String,
    #[sea_orm(indexed)]
    pub dest: String,
    #[serde(deserialize_with = "missing")]
    pub air_time: Option<i32>,
    pub distance: i32,
    #[sea_orm(indexed)]
    pub time_hour: DateTime<Utc>,
}

/// Foreign keys are left out: some planes are not in the table of planes.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::airline::Entity",
        from = "Column::Carrier",
        to = "super::airline::Column::Carrier",
        skip_fk
    )]
    Airline,
    #[sea_orm(
        belongs_to = "super::plane::Entity",
        from = "Column::Tailnum",
        to = "super::plane::Column::Tailnum",
        skip_fk
    )]
    Plane,
}

impl Related<super::airline::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Airline.def()
    }
}

impl Related<super::plane::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Plane.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
