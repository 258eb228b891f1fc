//! The suite on MySql.

tests::mount!(sea_orm::DbBackend::MySql);
