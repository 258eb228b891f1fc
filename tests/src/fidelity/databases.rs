//! Empty databases, made once and used by one world after the other.

use std::env;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, DbErr};
use tempfile::TempDir;

/// The databases of a run; [`Databases::end`] drops them.
#[derive(Debug)]
pub struct Databases {
    /// The database system.
    pub backend: DbBackend,
    directory: TempDir,
    admin: Option<DatabaseConnection>,
    server: String,
    free: Mutex<Vec<String>>,
    made: Mutex<Vec<String>>,
}

impl Databases {
    /// Connects to the server of a database system, the same as the suite's.
    ///
    /// # Panics
    /// If it does not answer.
    pub async fn new(backend: DbBackend) -> Self {
        let (variable, default, database) = match backend {
            DbBackend::Postgres => (
                "SHARDING_TEST_POSTGRES",
                "postgres://postgres@127.0.0.1:5432",
                "postgres",
            ),
            _ => (
                "SHARDING_TEST_MYSQL",
                "mysql://root@127.0.0.1:3306",
                "mysql",
            ),
        };
        let server = env::var(variable).unwrap_or_else(|_| default.to_owned());
        let admin = match backend {
            DbBackend::Sqlite => None,
            _ => {
                let url = format!("{server}/{database}");
                Some(Database::connect(options(&url, 2)).await.unwrap())
            }
        };
        Self {
            backend,
            directory: TempDir::new().unwrap(),
            admin,
            server,
            free: Mutex::default(),
            made: Mutex::default(),
        }
    }

    /// The name of an empty database.
    ///
    /// # Panics
    /// If it cannot be made.
    pub async fn take(&self) -> String {
        let free = self.free.lock().unwrap().pop();
        let name = free.unwrap_or_else(|| {
            // One process may have several of these.
            static NUMBER: AtomicUsize = AtomicUsize::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("sharding_fidelity_{}_{number}", std::process::id());
            self.made.lock().unwrap().push(name.clone());
            name
        });
        if let Some(admin) = &self.admin {
            let create = format!("CREATE DATABASE {name}");
            admin.execute_unprepared(&create).await.unwrap();
        }
        name
    }

    /// Empties a database for the next one who needs it. Nobody may be connected any more.
    ///
    /// # Panics
    /// If it cannot be dropped.
    pub async fn give_back(&self, name: String) {
        match &self.admin {
            None => {
                for ending in ["", "-journal", "-wal", "-shm"] {
                    let path = self.directory.path().join(format!("{name}{ending}"));
                    let _ = std::fs::remove_file(path);
                }
            }
            Some(admin) => self.drop(admin, &name).await,
        }
        self.free.lock().unwrap().push(name);
    }

    async fn drop(&self, admin: &DatabaseConnection, name: &str) {
        let force = match self.backend {
            DbBackend::Postgres => " WITH (FORCE)",
            _ => "",
        };
        let drop = format!("DROP DATABASE IF EXISTS {name}{force}");
        admin.execute_unprepared(&drop).await.unwrap();
    }

    /// Options of a connection pool for a database.
    pub fn options(&self, name: &str, connections: u32) -> ConnectOptions {
        match self.backend {
            DbBackend::Sqlite => {
                let path = self.directory.path().join(name);
                options(
                    &format!("sqlite://{}?mode=rwc", path.display()),
                    connections,
                )
            }
            // Drivers keep 100 prepared statements unless told otherwise.
            _ => options(
                &format!("{}/{name}?statement-cache-capacity=500", self.server),
                connections,
            ),
        }
    }

    /// Connects to a database.
    ///
    /// # Errors
    /// What the database says.
    pub async fn connect(&self, name: &str) -> Result<DatabaseConnection, DbErr> {
        Database::connect(self.options(name, 2)).await
    }

    /// Drops what is left of the databases and closes the connection to the server.
    ///
    /// # Panics
    /// If that fails.
    pub async fn end(mut self) {
        if let Some(admin) = self.admin.take() {
            let made = std::mem::take(&mut *self.made.lock().unwrap());
            for name in made {
                self.drop(&admin, &name).await;
            }
            admin.close().await.unwrap();
        }
    }
}

fn options(url: &str, connections: u32) -> ConnectOptions {
    let mut options = ConnectOptions::new(url.to_owned());
    options
        .max_connections(connections)
        .min_connections(1)
        .sqlx_logging(false)
        // Nothing here has to outlive a crash.
        .map_sqlx_sqlite_opts(|options| {
            options
                .pragma("synchronous", "OFF")
                .pragma("journal_mode", "MEMORY")
                .statement_cache_capacity(500)
        });
    options
}
