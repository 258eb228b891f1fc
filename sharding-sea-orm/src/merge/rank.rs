use std::collections::{BTreeMap, BTreeSet, HashMap};

use sea_orm::{DbErr, QueryResult};
use sharding_core::merge::Datum;
use sharding_core::topology::SourceId;

use crate::catalog::{Collation, Ranking};
use crate::dialect::{self, json_texts};
use crate::error::ShardingError;
use crate::execute::Session;

/// The ranks of texts, for columns that only the database can put in order.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    /// By the column's position in the rows.
    by_column: BTreeMap<usize, HashMap<String, i64>>,
}

impl Ranks {
    /// Asks the database for the ranks of all texts in these columns of the rows. Data sources
    /// whose collations differ are not ranked at all, so any one of them may be asked.
    pub(crate) async fn of(
        session: Session<'_>,
        source: SourceId,
        columns: &[(usize, Ranking)],
        answers: &[Vec<QueryResult>],
    ) -> Result<Self, DbErr> {
        let mut ranks = Self::declared(columns);
        for (column, ranking) in columns {
            let Ranking::Asked(collation) = ranking else {
                continue;
            };
            let mut texts = BTreeSet::new();
            for row in answers.iter().flatten() {
                if let Datum::Text(text) = dialect::read(row, *column)? {
                    texts.insert(text);
                }
            }
            let texts: Vec<String> = texts.into_iter().collect();
            let values = ask(session, source, collation, &texts).await?;
            let ranked = texts.into_iter().zip(values).collect();
            ranks.by_column.insert(*column, ranked);
        }
        Ok(ranks)
    }

    /// The ranks that are known without asking: those of ENUMs.
    pub(crate) fn declared(columns: &[(usize, Ranking)]) -> Self {
        let declared = columns
            .iter()
            .filter_map(|(column, ranking)| match ranking {
                Ranking::Asked(_) => None,
                Ranking::Declared(values) => {
                    Some((*column, values.iter().cloned().zip(0..).collect()))
                }
            });
        Self {
            by_column: declared.collect(),
        }
    }

    /// The value of a column, with its rank if it has one.
    pub(crate) fn rank(&self, column: usize, value: Datum) -> Result<Datum, ShardingError> {
        match (value, self.by_column.get(&column)) {
            (Datum::Text(text), Some(ranks)) => match ranks.get(&text) {
                Some(&rank) => Ok(Datum::Ranked { rank, text }),
                // MySQL's ENUMs have this one before all others, for what was no value of theirs.
                None if text.is_empty() => Ok(Datum::Ranked { rank: -1, text }),
                None => Err(ShardingError::Unexpected("a text was not ranked")),
            },
            (value, _) => Ok(value),
        }
    }
}

async fn ask(
    session: Session<'_>,
    source: SourceId,
    collation: &Collation,
    texts: &[String],
) -> Result<Vec<i64>, DbErr> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let backend = session.cluster().shards().backend;
    let json = json_texts(texts.iter().map(String::as_str));
    let statement = dialect::rank(backend, collation, json)?;
    let answer = session.query_all(source, &statement).await?;
    if answer.len() != texts.len() {
        return Err(ShardingError::Unexpected("the texts sent did not all come back").into());
    }
    answer.iter().map(|row| row.try_get_by_index(0)).collect()
}
