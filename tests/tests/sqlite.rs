//! The suite on Sqlite.

tests::mount!(sea_orm::DbBackend::Sqlite);
tests::mount_embedded!(sea_orm::DbBackend::Sqlite);
