//! The suite on Postgres.

tests::mount!(sea_orm::DbBackend::Postgres);
tests::mount_servers!(sea_orm::DbBackend::Postgres);
