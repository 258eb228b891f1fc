//! The tables of the reports, as the peers' authors describe them.

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::prelude::{Decimal, Uuid};

/// An entity in a module of its own.
macro_rules! entity {
    (
        $(#[doc = $doc:literal])* $name:ident, $table:literal;
        $($(#[$attribute:meta])* $field:ident: $type:ty),+ $(,)?
    ) => {
        entity!(
            $(#[doc = $doc])* $name, $table; $($(#[$attribute])* $field: $type),+;
            relations {}
        );
    };
    (
        $(#[doc = $doc:literal])* $name:ident, $table:literal;
        $($(#[$attribute:meta])* $field:ident: $type:ty),+ $(,)?;
        relations { $($relations:tt)* }
    ) => {
        $(#[doc = $doc])*
        pub mod $name {
            #![allow(missing_docs, reason = "the fields name themselves")]

            use sea_orm::entity::prelude::*;

            #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
            #[sea_orm(table_name = $table)]
            pub struct Model {
                $($(#[$attribute])* pub $field: $type,)+
            }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub enum Relation { $($relations)* }

            impl ActiveModelBehavior for ActiveModel {}
        }
    };
}
pub(in crate::suite) use entity;

entity!(
    /// Rows of many types.
    t, "t";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    k: i32,
    c: String,
    n: Option<i32>,
    #[sea_orm(column_type = "Decimal(Some((30, 10)))")]
    d: Option<Decimal>,
    ts: DateTimeUtc,
    f: Option<f64>,
    #[sea_orm(column_type = "VarBinary(StringLen::N(16))", nullable)]
    b: Option<Vec<u8>>,
    g: Uuid,
);
entity!(
    /// Parents.
    o, "o";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    k: i32;
    relations {
        #[sea_orm(has_many = "super::i::Entity")]
        Item,
        #[sea_orm(has_many = "super::j::Entity")]
        Job,
    }
);
entity!(
    /// Children, which are where their parent is.
    i, "i";
    #[sea_orm(primary_key, auto_increment = false)]
    iid: i64,
    oid: i64,
    k: i32;
    relations {
        #[sea_orm(
            belongs_to = "super::o::Entity",
            from = "Column::Oid",
            to = "super::o::Column::Id",
            skip_fk
        )]
        Parent,
    }
);
entity!(
    /// Other children of the same parents, under a name in upper case.
    j, "J";
    #[sea_orm(primary_key, auto_increment = false)]
    jid: i64,
    oid: i64,
    k: i32;
    relations {
        #[sea_orm(
            belongs_to = "super::o::Entity",
            from = "Column::Oid",
            to = "super::o::Column::Id",
            skip_fk
        )]
        Parent,
    }
);
entity!(
    /// A table that is not sharded, in one data source.
    s, "s";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    x: i32,
    c: String,
);
entity!(
    /// A table that every data source has.
    p, "p";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i32,
    name: String,
);

impl sea_orm::Related<i::Entity> for o::Entity {
    fn to() -> sea_orm::RelationDef {
        sea_orm::RelationTrait::def(&o::Relation::Item)
    }
}

impl sea_orm::Related<o::Entity> for i::Entity {
    fn to() -> sea_orm::RelationDef {
        sea_orm::RelationTrait::def(&i::Relation::Parent)
    }
}

impl sea_orm::Related<j::Entity> for o::Entity {
    fn to() -> sea_orm::RelationDef {
        sea_orm::RelationTrait::def(&o::Relation::Job)
    }
}

impl sea_orm::Related<o::Entity> for j::Entity {
    fn to() -> sea_orm::RelationDef {
        sea_orm::RelationTrait::def(&j::Relation::Parent)
    }
}

/// A row of which only the key is of interest.
pub fn row(id: i64) -> t::Model {
    t::Model {
        id,
        k: 0,
        c: String::new(),
        n: None,
        d: None,
        ts: "2024-01-01T00:00:00Z".parse().unwrap(),
        f: None,
        b: None,
        g: Uuid::from_u128(id.unsigned_abs().into()),
    }
}

/// Forty rows, ten in each table. Every group of `k`, every spelling of `c` and the NULLs are in
/// several tables.
pub fn rows() -> Vec<t::Model> {
    let start: DateTime<Utc> = "2024-01-01T00:00:00Z".parse().unwrap();
    let row = |id: i64| t::Model {
        id,
        k: (id % 5) as i32,
        c: ["A", "a", "B", "c", "b d", "É", "e", "é", ""][(id * 7 % 9) as usize].to_owned(),
        n: (id % 7 != 2).then_some((id * 11 % 13) as i32 - 4),
        d: (id % 6 != 5).then(|| Decimal::new(id * 12_345 - 100_000, 4)),
        ts: start + TimeDelta::hours(17 * id),
        f: (id % 9 != 1).then_some(id as f64 * 0.25 - 3.0),
        b: (id % 7 != 3)
            .then(|| [vec![0x7f], vec![0x80], vec![0x7f, 0]][(id % 3) as usize].clone()),
        g: Uuid::from_u128((id as u128 * 0x9e37_79b9_7f4a_7c15) << 61),
    };
    (0..40).map(row).collect()
}

/// Twelve parents, of which some have no children.
pub fn parents() -> Vec<o::Model> {
    let row = |id: i64| o::Model {
        id,
        k: (id % 3) as i32,
    };
    (1..=12).map(row).collect()
}

/// Children; some of them have no parent.
pub fn children() -> Vec<i::Model> {
    let row = |iid: i64| i::Model {
        iid,
        oid: iid * iid % 15,
        k: (iid % 4) as i32,
    };
    (1..=30).map(row).collect()
}

/// The other children.
pub fn other_children() -> Vec<j::Model> {
    let row = |jid: i64| j::Model {
        jid,
        oid: jid * 5 % 14,
        k: (jid % 3) as i32,
    };
    (1..=20).map(row).collect()
}

/// Rows of the table that is not sharded; their ids are those of sharded rows, too.
pub fn singles() -> Vec<s::Model> {
    let row = |id: i64| s::Model {
        id,
        x: (id * 3 % 5) as i32,
        c: ["A", "a", "z"][(id % 3) as usize].to_owned(),
    };
    (0..9).map(row).collect()
}

/// Rows of the table that every data source has.
pub fn broadcasts() -> Vec<p::Model> {
    let row = |id: i32| p::Model {
        id,
        name: format!("p{id}"),
    };
    (0..7).map(row).collect()
}
