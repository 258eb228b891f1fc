//! The arguments of the program.

use std::path::PathBuf;

use sea_orm::DbBackend;

/// What a run is to do.
#[derive(Clone, Debug)]
pub struct Args {
    /// The database system.
    pub backend: DbBackend,
    /// How many comparisons there are, each of one statement on one sharding.
    pub queries: u64,
    /// The seed of the worlds and statements.
    pub seed: u64,
    /// The counts of nodes of the shardings.
    pub shards: Vec<u32>,
    /// The counts of data sources of the shardings.
    pub sources: Vec<usize>,
    /// How many worlds are there at once.
    pub jobs: usize,
    /// How many statements are asked in one world.
    pub per_world: u64,
    /// After how many differences the run ends.
    pub most_differences: usize,
    /// Where differences are written.
    pub out: PathBuf,
    /// How many seconds one difference is made smaller for.
    pub patience: u64,
    /// What is done with the ratchet file.
    pub bless: Bless,
    /// A file with one case to run again.
    pub replay: Option<PathBuf>,
}

/// What is done with the ratchet file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bless {
    /// It tells what may be refused.
    No,
    /// What is refused is added to it.
    More,
    /// The lines of the database system are written anew.
    Anew,
}

/// What the program says about its arguments.
pub const USAGE: &str = "\
usage: fidelity --backend sqlite|postgres|mysql [--queries N] [--seed S]
                [--shards 1,2,3,7] [--sources 1,2,3] [--jobs N] [--per-world N]
                [--most-differences N] [--patience SECONDS] [--out DIRECTORY]
                [--bless | --bless-more]
       fidelity --replay FILE";

impl Args {
    /// The usual run on a database system.
    pub fn new(backend: DbBackend) -> Self {
        Self {
            backend,
            queries: 3_000,
            seed: 1,
            shards: vec![1, 2, 3, 7],
            sources: vec![1, 2, 3],
            jobs: std::thread::available_parallelism().map_or(1, Into::into),
            per_world: 250,
            most_differences: 10,
            out: PathBuf::from("target/fidelity"),
            patience: 40,
            bless: Bless::No,
            replay: None,
        }
    }

    /// Reads arguments.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut args = Self::new(DbBackend::Sqlite);
        let mut has_backend = false;
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let bless = match &*argument {
                "--bless" => Some(Bless::Anew),
                "--bless-more" => Some(Bless::More),
                _ => None,
            };
            if let Some(bless) = bless {
                args.bless = bless;
                continue;
            }
            let value = arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value\n{USAGE}"))?;
            match &*argument {
                "--backend" => {
                    args.backend = backend(&value)?;
                    has_backend = true;
                }
                "--queries" => args.queries = number(&argument, &value)?,
                "--seed" => args.seed = number(&argument, &value)?,
                "--shards" => args.shards = numbers(&argument, &value)?,
                "--sources" => args.sources = numbers(&argument, &value)?,
                "--jobs" => args.jobs = number(&argument, &value)?,
                "--per-world" => args.per_world = number(&argument, &value)?,
                "--most-differences" => args.most_differences = number(&argument, &value)?,
                "--patience" => args.patience = number(&argument, &value)?,
                "--out" => args.out = value.into(),
                "--replay" => args.replay = Some(value.into()),
                _ => return Err(format!("{argument} is not known\n{USAGE}")),
            }
        }
        if has_backend || args.replay.is_some() {
            Ok(args)
        } else {
            Err(format!("--backend is missing\n{USAGE}"))
        }
    }
}

/// The database system of a name.
///
/// # Errors
/// If there is none of this name.
pub fn backend(name: &str) -> Result<DbBackend, String> {
    match name {
        "sqlite" => Ok(DbBackend::Sqlite),
        "postgres" => Ok(DbBackend::Postgres),
        "mysql" => Ok(DbBackend::MySql),
        other => Err(format!("{other} is no database system\n{USAGE}")),
    }
}

/// The name of a database system.
pub fn name(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Sqlite => "sqlite",
        DbBackend::Postgres => "postgres",
        _ => "mysql",
    }
}

fn number<T: std::str::FromStr>(argument: &str, value: &str) -> Result<T, String> {
    let wrong = |_| format!("{argument} takes a number, not {value}");
    value.parse().map_err(wrong)
}

fn numbers<T: std::str::FromStr>(argument: &str, value: &str) -> Result<Vec<T>, String> {
    value.split(',').map(|one| number(argument, one)).collect()
}
