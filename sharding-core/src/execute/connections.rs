use std::fmt;
use std::num::NonZeroUsize;

/// What a query saves on in a data source in which it has several statements to run: memory, or
/// connections. The modes and their rules are those of ShardingCore.
///
/// Data sources are always asked side by side; this is about the statements of one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionMode {
    /// The least memory: every statement has a cursor of its own that stays open, and one row of
    /// each is held to be merged. The limit is how many are opened at a time; the query needs a
    /// connection for each statement.
    MemoryStrictly,
    /// Never more connections than the limit: the statements run in groups of that size. The rows
    /// of a group are merged with those that were kept of the groups before, and its connections
    /// are given back before the next group begins. Of a page, no more rows are kept than it and
    /// what is before it.
    ConnectionStrictly,
    /// Connections are saved where there are more statements than the limit, and memory otherwise;
    /// memory is saved in any case where too many rows would have to be kept.
    #[default]
    Auto,
}

/// What a query needs of one data source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// How many statements there are to run.
    pub statements: usize,
    /// The most connections that the query may use.
    pub limit: NonZeroUsize,
    /// How many cursors can be open at all: the size of the pool, or 1 within a transaction.
    pub size: usize,
    /// How many rows would have to be kept; `None` if that is not known before.
    pub rows: Option<u64>,
}

/// How the statements of a query run in one data source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    /// All have a cursor; so many are opened at a time.
    Cursors {
        /// At least 1.
        at_once: usize,
    },
    /// So many run at once, group after group.
    Groups {
        /// At least 1.
        width: usize,
    },
}

impl ConnectionMode {
    /// More rows than these are rather streamed than kept.
    pub const MANY_ROWS: u64 = 10_000;

    /// How to run the statements; `None` if the mode needs more cursors than there can be.
    ///
    /// With a limit L and S statements, `ConnectionStrictly` makes max(⌈S / L⌉, 1) groups, and
    /// `Auto` is `ConnectionStrictly` if L < S.
    pub fn running(self, demand: Demand) -> Option<Running> {
        let Demand {
            statements,
            limit,
            size,
            rows,
        } = demand;
        let limit = limit.get();
        let cursors = Running::Cursors {
            at_once: limit.min(statements).max(1),
        };
        let groups = Running::Groups {
            width: limit.min(size).max(1),
        };
        let fits = statements <= size;
        match self {
            Self::MemoryStrictly => fits.then_some(cursors),
            Self::ConnectionStrictly => Some(groups),
            Self::Auto => {
                let is_large = rows.is_none_or(|rows| rows > Self::MANY_ROWS);
                let streams = statements <= limit || is_large;
                Some(if streams && fits { cursors } else { groups })
            }
        }
    }
}

impl Running {
    /// The most connections that are held at once for so many statements.
    pub fn connections(self, statements: usize) -> usize {
        match self {
            Self::Cursors { .. } => statements,
            Self::Groups { width } => width.min(statements),
        }
    }
}

impl fmt::Display for ConnectionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MemoryStrictly => "memory strictly",
            Self::ConnectionStrictly => "connection strictly",
            Self::Auto => "auto",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(statements: usize, limit: usize) -> Demand {
        Demand {
            statements,
            limit: NonZeroUsize::new(limit).unwrap(),
            size: 10,
            rows: Some(20),
        }
    }

    /// The examples of ShardingCore's own description.
    #[test]
    fn modes_of_three_tables_and_a_limit_of_two() {
        let of = |mode: ConnectionMode| mode.running(demand(3, 2)).unwrap();
        assert_eq!(
            of(ConnectionMode::MemoryStrictly),
            Running::Cursors { at_once: 2 }
        );
        assert_eq!(of(ConnectionMode::MemoryStrictly).connections(3), 3);
        assert_eq!(
            of(ConnectionMode::ConnectionStrictly),
            Running::Groups { width: 2 }
        );
        assert_eq!(of(ConnectionMode::Auto), Running::Groups { width: 2 });
        assert_eq!(of(ConnectionMode::Auto).connections(3), 2);
    }

    #[test]
    fn auto_saves_memory_where_it_can() {
        let auto = ConnectionMode::Auto;
        let cursors = |at_once| Some(Running::Cursors { at_once });
        let groups = |width| Some(Running::Groups { width });
        assert_eq!(auto.running(demand(2, 2)), cursors(2));
        assert_eq!(auto.running(demand(1, 4)), cursors(1));
        let unknown = Demand {
            rows: None,
            ..demand(5, 2)
        };
        assert_eq!(auto.running(unknown), cursors(2));
        let large = Demand {
            rows: Some(10_001),
            ..demand(5, 2)
        };
        assert_eq!(auto.running(large), cursors(2));
        // No more cursors than there are connections.
        let narrow = Demand { size: 4, ..large };
        assert_eq!(auto.running(narrow), groups(2));
        let narrower = Demand { size: 1, ..large };
        assert_eq!(auto.running(narrower), groups(1));
        assert_eq!(ConnectionMode::MemoryStrictly.running(narrow), None);
    }
}
