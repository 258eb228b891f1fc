//! The suite on MySql.

tests::mount!(sea_orm::DbBackend::MySql);
tests::mount_servers!(sea_orm::DbBackend::MySql);
