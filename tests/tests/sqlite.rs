//! The suite on Sqlite.

tests::mount!(sea_orm::DbBackend::Sqlite);
