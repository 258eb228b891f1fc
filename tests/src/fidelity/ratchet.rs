//! The refusals that are allowed; what used to be answered may not become refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::{fs, io};

use sea_orm::{DbBackend, DbErr};
use sharding_sea_orm::ShardingError;
use sharding_sea_orm::error::KeyError;

use super::args::{self, Bless};

/// A kind of refusal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refused {
    /// Whether nodes of several data sources were reached, or of one.
    pub several_sources: bool,
    /// What is refused, without the names in it.
    pub clause: String,
}

impl Refused {
    /// The refusal in an error of a connection to so many data sources; `None` if it is another
    /// error.
    pub fn of(error: &DbErr, sources: usize) -> Option<Self> {
        let error = ShardingError::of(error)?;
        Some(match error {
            ShardingError::Refused(refusal) => Self {
                several_sources: match refusal.sources.len() {
                    0 => sources > 1,
                    reached => reached > 1,
                },
                clause: nameless(&refusal.clause.to_string()),
            },
            ShardingError::SecondSource { .. } => Self {
                several_sources: true,
                clause: "a second data source in a transaction".to_owned(),
            },
            ShardingError::Key(KeyError::Outside { .. }) => Self {
                several_sources: sources > 1,
                clause: "a row whose key no tail takes".to_owned(),
            },
            ShardingError::Key(_)
            | ShardingError::RoundedKey { .. }
            | ShardingError::KeyNotUtc { .. }
            | ShardingError::UnmergeableType { .. } => Self {
                several_sources: sources > 1,
                clause: nameless(&error.to_string()),
            },
            _ => return None,
        })
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = if self.several_sources {
            "several sources"
        } else {
            "one source"
        };
        write!(f, "{scope}: {}", self.clause)
    }
}

/// A text without what stands between quotes, and without numbers.
pub(super) fn nameless(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split(['`', '\'', '"']).enumerate() {
        if at % 2 == 1 {
            out.push('…');
            continue;
        }
        for letter in part.chars() {
            if !letter.is_ascii_digit() {
                out.push(letter);
            } else if !out.ends_with('#') {
                out.push('#');
            }
        }
    }
    out
}

fn path() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fidelity/refusals.txt"
    ))
}

/// The allowed refusals of a database system.
pub fn allowed(backend: DbBackend) -> BTreeSet<String> {
    let text = fs::read_to_string(path()).unwrap_or_default();
    let own = text.lines().filter_map(|line| {
        let (name, refusal) = line.split_once(' ')?;
        (name == args::name(backend)).then(|| refusal.to_owned())
    });
    own.collect()
}

/// Writes into the file what was refused on a database system.
///
/// # Errors
/// If it cannot be written.
pub fn bless(backend: DbBackend, how: Bless, seen: &BTreeMap<Refused, u64>) -> io::Result<()> {
    let name = args::name(backend);
    let text = fs::read_to_string(path()).unwrap_or_default();
    let others = text.lines().filter(|line| {
        let kept = |other: &str| other != name || how != Bless::Anew;
        !line.starts_with('#') && line.split_once(' ').is_some_and(|(other, _)| kept(other))
    });
    let mut lines: BTreeSet<String> = others.map(str::to_owned).collect();
    lines.extend(seen.keys().map(|refused| format!("{name} {refused}")));
    let mut out = String::from(
        "# The refusals that the fidelity machine allows: a database system, the scope, the clause.\n\
         # `fidelity --bless` writes the lines of one database system anew, `--bless-more` adds to them.\n",
    );
    for line in lines {
        out.push_str(&line);
        out.push('\n');
    }
    if let Some(directory) = path().parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(path(), out)
}
