//! One case in a file, to be run again.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sea_orm::DbBackend;
use serde::{Deserialize, Serialize};

use super::args;
use super::databases::Databases;
use super::judge::{Verdict, expect, judge};
use super::statement::{Case, Statement, build};
use super::world::{World, WorldSpec};

/// Everything that a difference needs to show again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// The database system.
    pub backend: String,
    /// What differed when the file was written.
    #[serde(default)]
    pub difference: String,
    /// The statement, as SQL, to be read.
    #[serde(default)]
    pub sql: String,
    /// The statement.
    pub case: Case,
    /// The world, with one sharding.
    pub world: WorldSpec,
}

impl Replay {
    /// A case on one sharding of a world.
    pub fn new(backend: DbBackend, world: &WorldSpec, sharding: usize, case: &Case) -> Self {
        let mut world = world.clone();
        world.shardings = vec![world.shardings[sharding].clone()];
        Self {
            backend: args::name(backend).to_owned(),
            difference: String::new(),
            sql: String::new(),
            case: case.clone(),
            world,
        }
    }

    /// Writes the file and gives its path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, directory: &Path, name: &str, difference: &str) -> io::Result<PathBuf> {
        let mut replay = self.clone();
        difference.clone_into(&mut replay.difference);
        if let Ok(backend) = args::backend(&self.backend) {
            replay.sql = self.case.show(backend);
        }
        fs::create_dir_all(directory)?;
        let path = directory.join(format!("{}-{name}.json", self.backend));
        fs::write(&path, serde_json::to_string_pretty(&replay)?)?;
        Ok(path)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no such file.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
    }

    /// Runs the case and tells what comes of it.
    ///
    /// # Errors
    /// If the world cannot be made.
    pub async fn run(&self) -> Result<(bool, String), String> {
        let backend = args::backend(&self.backend)?;
        let databases = Databases::new(backend).await;
        let world = World::build(self.world.clone(), &databases).await;
        let world = world.map_err(|error| error.to_string())?;
        let expected = expect(&world, &self.case).await;
        let mut text = format!("{}\n", self.case.show(backend));
        if let Statement::Query(select, _) = &self.case.statement
            && let build::Built::Select(select) = build::built(select, backend)
        {
            match world.shardings[0].db.explain(&*select) {
                Ok(explained) => text.push_str(&format!("{explained}\n")),
                Err(error) => text.push_str(&format!("{error}\n")),
            }
        }
        match &expected.answer {
            Ok(answer) => {
                let names: Vec<String> = answer
                    .columns
                    .iter()
                    .map(|(name, kind)| format!("{name} {kind}"))
                    .collect();
                text.push_str(&format!("the oracle: {}\n", names.join(", ")));
                for row in answer.rows.iter().take(20) {
                    text.push_str(&format!("  {}\n", super::compare::show(row)));
                }
            }
            Err(error) => text.push_str(&format!("the oracle: {error}\n")),
        }
        let verdict = judge(&world.shardings[0], &self.case, &expected).await;
        let good = !matches!(verdict, Verdict::Differ(_));
        text.push_str(&format!("{verdict:?}"));
        world.end(&databases).await;
        databases.end().await;
        Ok((good, text))
    }
}
