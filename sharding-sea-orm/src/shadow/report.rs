//! What a shadow connection has seen.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sea_orm::Statement;

use super::difference::{Difference, DifferenceKind};
use crate::error::ShardingError;

/// What a [`ShadowConnection`](super::ShadowConnection) has seen so far. It prints well.
///
/// Every statement counts in one of `same`, `differences`, `failed` and `skipped`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ShadowReport {
    /// How many statements both sides answered alike.
    pub same: u64,
    /// How many statements differed, by kind. Refused ones and ends of transactions that failed on
    /// one side are among them.
    pub differences: BTreeMap<DifferenceKind, u64>,
    /// How many statements were refused, by the reason: the clause and the table. After 100
    /// reasons others count under `other reasons`.
    pub refusals: BTreeMap<String, u64>,
    /// How many statements failed on the plain side, so that there was nothing to compare with:
    /// reads that failed on both sides, and writes and locks, which are not sent to the sharded
    /// side then.
    pub failed: u64,
    /// How many statements were not compared: streams of more rows than
    /// [`STREAMED_ROWS`](super::STREAMED_ROWS) or that were not read to their end, what came
    /// after a failure of the sharded side in a transaction, and writes if only reads are shadowed.
    pub skipped: u64,
    /// The first 100 statements of each kind of difference, in the order in which they came.
    /// Statements that differ only in their values are one.
    pub entries: Vec<ShadowEntry>,
}

/// A statement with its difference.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShadowEntry {
    /// The SQL, with placeholders for values; long ones are cut.
    pub sql: String,
    /// The SQL with the values of the first time; long ones are cut.
    pub example: String,
    /// The difference of the first time.
    pub difference: Difference,
    /// How many times there was a difference of this kind.
    pub times: u64,
}

impl ShadowReport {
    /// How many statements there were, compared or not.
    pub fn statements(&self) -> u64 {
        self.same + self.failed + self.skipped + self.differences.values().sum::<u64>()
    }

    /// How many statements differed in this way.
    pub fn count(&self, kind: DifferenceKind) -> u64 {
        self.differences.get(&kind).copied().unwrap_or_default()
    }

    /// How many statements were answered otherwise than on the plain side: all differences but
    /// refusals.
    pub fn different(&self) -> u64 {
        self.differences.values().sum::<u64>() - self.refused()
    }

    /// How many statements were refused.
    pub fn refused(&self) -> u64 {
        self.count(DifferenceKind::Refused)
    }

    /// The statements that were kept of this kind.
    pub fn of(&self, kind: DifferenceKind) -> impl Iterator<Item = &ShadowEntry> {
        let of_kind = move |entry: &&ShadowEntry| entry.difference.kind() == kind;
        self.entries.iter().filter(of_kind)
    }

    fn add(&mut self, statement: &Statement, difference: Difference) {
        let kind = difference.kind();
        *self.differences.entry(kind).or_default() += 1;
        if let Difference::Refused(error) = &difference {
            self.add_refusal(reason(error));
        }
        let sql = shorten(&statement.sql);
        let mut kept = 0;
        for entry in &mut self.entries {
            if entry.difference.kind() != kind {
                continue;
            }
            if entry.sql == sql {
                entry.times += 1;
                return;
            }
            kept += 1;
        }
        if kept < KEPT {
            self.entries.push(ShadowEntry {
                sql,
                example: shorten(&statement.to_string()),
                difference,
                times: 1,
            });
        }
    }

    fn add_refusal(&mut self, reason: String) {
        let is_new = !self.refusals.contains_key(&reason);
        let reason = if is_new && self.refusals.len() >= KEPT {
            "other reasons".to_owned()
        } else {
            reason
        };
        *self.refusals.entry(reason).or_default() += 1;
    }
}

/// How many statements of a kind, and reasons, are kept.
const KEPT: usize = 100;

/// Values are no part of a reason, as far as that is possible.
fn reason(error: &ShardingError) -> String {
    match error {
        ShardingError::Refused(refusal) => format!("{} on `{}`", refusal.clause, refusal.table),
        error => error.to_string(),
    }
}

fn shorten(text: &str) -> String {
    const SHOWN: usize = 2000;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl fmt::Display for ShadowReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} statements: {} same, {} different, {} refused, {} failed, {} not compared",
            self.statements(),
            self.same,
            self.different(),
            self.refused(),
            self.failed,
            self.skipped
        )?;
        for (kind, count) in &self.differences {
            write!(f, "\n{kind}: {count}")?;
            if *kind == DifferenceKind::Refused {
                for (reason, count) in &self.refusals {
                    write!(f, "\n  {count} × for {reason}")?;
                }
            }
            for entry in self.of(*kind) {
                write!(f, "\n  {} × {}", entry.times, entry.example)?;
                write!(f, "\n    {}", entry.difference)?;
            }
        }
        Ok(())
    }
}

/// A report that several connections and transactions write.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorder(Arc<Mutex<ShadowReport>>);

impl Recorder {
    pub(super) fn report(&self) -> ShadowReport {
        self.lock().clone()
    }

    pub(super) fn reset(&self) {
        *self.lock() = ShadowReport::default();
    }

    pub(super) fn compared(&self, statement: &Statement, difference: Option<Difference>) {
        match difference {
            None => self.lock().same += 1,
            Some(Difference::NoAnswer { .. }) => self.failed(),
            Some(difference) => self.lock().add(statement, difference),
        }
    }

    pub(super) fn failed(&self) {
        self.lock().failed += 1;
    }

    pub(super) fn skipped(&self) {
        self.lock().skipped += 1;
    }

    /// A report is sound whatever happened while it was locked.
    fn lock(&self) -> MutexGuard<'_, ShadowReport> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::DbBackend;

    use super::*;

    fn affected(recorder: &Recorder, sql: &str, value: i32) {
        let statement =
            Statement::from_sql_and_values(DbBackend::Sqlite, sql, [sea_orm::Value::from(value)]);
        let difference = Difference::Affected {
            plain: 1,
            sharded: 0,
        };
        recorder.compared(&statement, Some(difference));
    }

    #[test]
    fn statements_are_kept_up_to_a_limit() {
        let recorder = Recorder::default();
        for number in 0..150 {
            affected(&recorder, &format!("DELETE FROM t{number} WHERE id = ?"), 7);
            affected(&recorder, "DELETE FROM t0 WHERE id = ?", number);
        }
        let report = recorder.report();
        assert_eq!(report.entries.len(), KEPT);
        assert_eq!(report.entries[0].times, 151);
        assert_eq!(report.entries[0].example, "DELETE FROM t0 WHERE id = 7");
        assert_eq!((report.statements(), report.different()), (300, 300));
        recorder.reset();
        assert_eq!(recorder.report().statements(), 0);
    }

    #[test]
    fn it_prints() {
        let recorder = Recorder::default();
        recorder.skipped();
        affected(&recorder, "DELETE FROM t WHERE id = ?", 7);
        let expected = "2 statements: 0 same, 1 different, 0 refused, 0 failed, 1 not compared\n\
                        other numbers of affected rows: 1\n  \
                        1 × DELETE FROM t WHERE id = 7\n    \
                        the sharded side affected 0 rows, the plain side 1";
        assert_eq!(recorder.report().to_string(), expected);
    }
}
