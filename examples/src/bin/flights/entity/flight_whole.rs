//! The same flights in one table, to hold the answers of the sharded one against.

use chrono::{DateTime, Utc};
use sea_orm::entity::prelude::*;
use sea_orm::{IntoActiveModel, Set};

use super::flight;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "flight_whole")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i32,
    pub month: i32,
    pub day: i32,
    pub dep_time: Option<i32>,
    pub sched_dep_time: i32,
    pub dep_delay: Option<i32>,
    pub arr_time: Option<i32>,
    pub sched_arr_time: i32,
    pub arr_delay: Option<i32>,
    #[sea_orm(indexed)]
    pub carrier: String,
    pub number: i32,
    #[sea_orm(indexed)]
    pub tailnum: Option<String>,
    pub origin: String,
    #[sea_orm(indexed)]
    pub dest: String,
    pub air_time: Option<i32>,
    pub distance: i32,
    #[sea_orm(indexed)]
    pub time_hour: DateTime<Utc>,
}

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

impl IntoActiveModel<ActiveModel> for flight::Model {
    fn into_active_model(self) -> ActiveModel {
        ActiveModel {
            id: Set(self.id),
            month: Set(self.month),
            day: Set(self.day),
            dep_time: Set(self.dep_time),
            sched_dep_time: Set(self.sched_dep_time),
            dep_delay: Set(self.dep_delay),
            arr_time: Set(self.arr_time),
            sched_arr_time: Set(self.sched_arr_time),
            arr_delay: Set(self.arr_delay),
            carrier: Set(self.carrier),
            number: Set(self.number),
            tailnum: Set(self.tailnum),
            origin: Set(self.origin),
            dest: Set(self.dest),
            air_time: Set(self.air_time),
            distance: Set(self.distance),
            time_hour: Set(self.time_hour),
        }
    }
}
