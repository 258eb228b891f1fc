//! The entities: a wide one and its children, both sharded, and two small ones beside them.

#![allow(missing_docs, reason = "the fields name themselves")]

pub mod fact;
pub mod item;
pub mod owner;
pub mod tag;

use sea_orm::entity::prelude::*;

/// A native enumeration where the database has one; MySQL orders it by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Enum", enum_name = "mood")]
pub enum Mood {
    #[sea_orm(string_value = "glad")]
    Glad,
    #[sea_orm(string_value = "calm")]
    Calm,
    #[sea_orm(string_value = "sad")]
    Sad,
}

/// An enumeration that is kept as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(1))")]
pub enum Grade {
    #[sea_orm(string_value = "A")]
    High,
    #[sea_orm(string_value = "B")]
    Middle,
    #[sea_orm(string_value = "C")]
    Low,
}

/// From a fact over its items to their tags.
#[derive(Clone, Copy, Debug)]
pub struct FactToTag;

impl Linked for FactToTag {
    type FromEntity = fact::Entity;
    type ToEntity = tag::Entity;

    fn link(&self) -> Vec<RelationDef> {
        vec![fact::Relation::Item.def(), item::Relation::Tag.def()]
    }
}

/// From an item over its fact to that one's owner.
#[derive(Clone, Copy, Debug)]
pub struct ItemToOwner;

impl Linked for ItemToOwner {
    type FromEntity = item::Entity;
    type ToEntity = owner::Entity;

    fn link(&self) -> Vec<RelationDef> {
        vec![item::Relation::Fact.def(), fact::Relation::Owner.def()]
    }
}

/// From a fact to its parent, which is a fact, too.
#[derive(Clone, Copy, Debug)]
pub struct FactToParent;

impl Linked for FactToParent {
    type FromEntity = fact::Entity;
    type ToEntity = fact::Entity;

    fn link(&self) -> Vec<RelationDef> {
        vec![fact::Relation::Parent.def()]
    }
}
