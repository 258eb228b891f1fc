//! Data sources: what they are reached by, and opening them.

use sea_orm::{ConnectOptions, Database, DatabaseConnection, DbBackend};
use sharding_core::error::Mistake;
use sharding_core::execute::BreakerRules;

use crate::error::ShardingError;
use crate::execute::{Limits, Source};

/// What a data source is reached by.
pub(super) enum Access {
    Options(Box<ConnectOptions>),
    Connection(DatabaseConnection),
}

impl Access {
    /// Whether it is not to be asked while connecting.
    pub(super) fn is_lazy(&self) -> bool {
        match self {
            Self::Options(options) => options.get_connect_lazy(),
            Self::Connection(_) => false,
        }
    }
}

/// The one database system of all sources; `first` is one that is known already.
pub(super) fn common_backend<'a>(
    mut first: Option<(&'a str, DbBackend)>,
    sources: &'a [(String, Access)],
    mistakes: &mut Vec<Mistake>,
) -> Option<DbBackend> {
    for (name, access) in sources {
        let backend = match access {
            Access::Connection(connection) => connection.get_database_backend(),
            Access::Options(options) => match backend_of(options.get_url()) {
                Ok(backend) => backend,
                Err(why) => {
                    let name = name.clone();
                    mistakes.push(Mistake::BadSourceUrl { name, why });
                    continue;
                }
            },
        };
        match first {
            None => first = Some((name, backend)),
            Some((first, first_backend)) if first_backend != backend => {
                mistakes.push(Mistake::MixedBackends {
                    name: name.clone(),
                    backend: format!("{backend:?}"),
                    first: first.to_owned(),
                    first_backend: format!("{first_backend:?}"),
                });
            }
            Some(_) => {}
        }
    }
    first.map(|(_, backend)| backend)
}

/// The database system that a URL is for, if its feature is enabled.
fn backend_of(url: &str) -> Result<DbBackend, String> {
    // SeaORM panics on a URL that cannot be parsed, and its error holds the URL.
    url::Url::parse(url).map_err(|error| format!("its URL cannot be parsed: {error}"))?;
    let enabled = [
        (
            DbBackend::Sqlite,
            "sqlx-sqlite",
            cfg!(feature = "sqlx-sqlite"),
        ),
        (
            DbBackend::Postgres,
            "sqlx-postgres",
            cfg!(feature = "sqlx-postgres"),
        ),
        (DbBackend::MySql, "sqlx-mysql", cfg!(feature = "sqlx-mysql")),
    ];
    match enabled
        .into_iter()
        .find(|(backend, _, _)| backend.is_prefix_of(url))
    {
        Some((backend, _, true)) => Ok(backend),
        Some((_, feature, false)) => Err(format!("its URL needs the feature `{feature}`")),
        None => Err("its URL begins with none of `sqlite:`, `postgres:`, `mysql:`".to_owned()),
    }
}

/// What was given for one data source, the last word first.
pub(super) fn limits_of(given: &[(String, Limits)], name: &str) -> Limits {
    let own = given.iter().filter(|(own, _)| own == name);
    own.fold(Limits::new(), |limits, (_, own)| own.or(limits))
}

/// Checks limits that were given for data sources, which have to be among these.
pub(super) fn check_limits(
    given: &[(String, Limits)],
    sources: &[String],
    mistakes: &mut Vec<Mistake>,
) {
    for (name, limits) in given {
        let name = name.clone();
        if !sources.contains(&name) {
            let at = "source_limits";
            mistakes.push(Mistake::NoSuchSource { at, name });
        } else if limits.max_nodes.is_some() {
            mistakes.push(Mistake::WholeLimit { name });
        }
    }
}

/// Connects to a data source.
pub(super) async fn open(
    name: String,
    access: Access,
    limits: Limits,
    breaker: BreakerRules,
) -> Result<Source, ShardingError> {
    let (connection, own) = match access {
        Access::Connection(connection) => (connection, Limits::new()),
        Access::Options(mut options) => {
            // A statement that is given up while its connection is tried loses that connection, and
            // with it a database in memory. There is no way to SQLite that could have failed.
            if options.get_url().starts_with("sqlite:") {
                options.test_before_acquire(false);
            }
            let own = match options.get_acquire_timeout() {
                Some(timeout) => Limits::new().acquire_timeout(timeout),
                None => Limits::new(),
            };
            let connection = Database::connect(*options).await;
            let unreachable = |error| ShardingError::Unreachable {
                data_source: name.clone(),
                error,
            };
            (connection.map_err(unreachable)?, own)
        }
    };
    Ok(Source::new(name, connection, limits.or(own), breaker))
}
