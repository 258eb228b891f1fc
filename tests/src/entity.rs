//! One kind of row, as an unsharded table and under several shardings.

use sea_orm::entity::prelude::*;

/// The same entity in a module of its own, under the attributes given.
#[macro_export]
macro_rules! event_entity {
    ($(#[doc = $doc:literal])* $name:ident, $table:literal, [$($derive:ident)?], $(#[$attribute:meta])*) => {
        $(#[doc = $doc])*
        pub mod $name {
            #![allow(missing_docs, reason = "the fields name themselves")]
            #![allow(unused_imports, reason = "not every sharding needs every strategy")]

            use sea_orm::entity::prelude::*;
            use sharding_sea_orm::{HashModulo, Modulo, Monthly, Sharded};

            #[derive(Clone, Debug, PartialEq, DeriveEntityModel $(, $derive)?)]
            #[sea_orm(table_name = $table)]
            $(#[$attribute])*
            pub struct Model {
                #[sea_orm(primary_key, auto_increment = false)]
                pub id: i64,
                pub at: DateTimeUtc,
                pub day: Option<Date>,
                #[sea_orm(indexed)]
                pub kind: String,
                pub note: Option<String>,
                pub n: Option<i32>,
                pub big: i64,
                pub score: Option<f64>,
                #[sea_orm(column_type = "Decimal(Some((20, 4)))")]
                pub amount: Option<Decimal>,
                pub flag: bool,
                pub data: Option<Vec<u8>>,
                pub uid: Uuid,
                pub place_id: Option<i32>,
            }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub enum Relation {
                #[sea_orm(
                    belongs_to = "super::place::Entity",
                    from = "Column::PlaceId",
                    to = "super::place::Column::Id",
                    skip_fk
                )]
                Place,
            }

            impl Related<super::place::Entity> for Entity {
                fn to() -> RelationDef {
                    Relation::Place.def()
                }
            }

            impl ActiveModelBehavior for ActiveModel {}
        }
    };
}

event_entity!(
    /// The oracle: one table.
    whole, "event_whole", [],
);
event_entity!(
    /// By month, in one data source.
    monthly, "event_monthly", [Sharded],
    #[sharded(table(key = at, by = Monthly::starting(2013, 1).through(2013, 6)))]
);
event_entity!(
    /// By hash of a text, in one data source.
    hashed, "event_hashed", [Sharded],
    #[sharded(table(key = kind, by = HashModulo::new(4)))]
);
event_entity!(
    /// By the number modulo two over two data sources, and by month within each.
    spread, "event_spread", [Sharded],
    #[sharded(
        source(key = id, by = Modulo::new(2)),
        table(key = at, by = Monthly::starting(2013, 1).through(2013, 6))
    )]
);

/// An unsharded table to join.
pub mod place {
    #![allow(missing_docs, reason = "the fields name themselves")]

    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "place")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
        pub name: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A row for any of the entities.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields name themselves")]
pub struct Event {
    pub id: i64,
    pub at: DateTimeUtc,
    pub day: Option<Date>,
    pub kind: String,
    pub note: Option<String>,
    pub n: Option<i32>,
    pub big: i64,
    pub score: Option<f64>,
    pub amount: Option<Decimal>,
    pub flag: bool,
    pub data: Option<Vec<u8>>,
    pub uid: Uuid,
    pub place_id: Option<i32>,
}

/// Conversions of the rows of these entities.
#[macro_export]
macro_rules! conversions {
    ($($name:ident),+ $(,)?) => {
        $(
            impl From<$crate::entity::Event> for $name::Model {
                fn from(event: $crate::entity::Event) -> Self {
                    let $crate::entity::Event {
                        id, at, day, kind, note, n, big, score, amount, flag, data, uid, place_id,
                    } = event;
                    Self {
                        id, at, day, kind, note, n, big, score, amount, flag, data, uid, place_id,
                    }
                }
            }
        )+
    };
}

conversions!(whole, monthly, hashed, spread);
