//! The suite on Postgres.

tests::mount!(sea_orm::DbBackend::Postgres);
