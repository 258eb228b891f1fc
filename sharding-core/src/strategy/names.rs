//! The names that a user gives to partitions.

use std::collections::HashMap;
use std::fmt;

use super::Flaw;

/// Names of partitions in the order in which they first occur; a name may occur again and means
/// the same partition.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    /// The partition of this name, which is a new one if the name is.
    pub(super) fn intern(&mut self, name: impl Into<String>) -> u32 {
        let name = name.into();
        // A list in memory is never as long as a `u32` counts.
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }

    pub(super) fn count(&self) -> u32 {
        self.names.len() as u32
    }

    /// The name of a partition; empty beyond the last.
    pub(super) fn name(&self, partition: u32) -> &str {
        self.names
            .get(partition as usize)
            .map_or("", String::as_str)
    }

    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// Whether the names of an older list are the first ones of this.
    pub(super) fn begin_with(&self, older: &Self) -> bool {
        self.names.starts_with(&older.names)
    }

    pub(super) fn flaws(&self) -> Option<Flaw> {
        self.names
            .is_empty()
            .then(|| Flaw::of_whole("has no partition; name at least one"))
    }
}

/// The names alone, which say all.
impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.names.fmt(f)
    }
}
