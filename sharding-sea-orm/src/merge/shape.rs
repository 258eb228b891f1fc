use sea_orm::{DbErr, QueryResult};
use sharding_core::merge::Datum;
use sharding_core::plan::Output;
use sharding_core::topology::SourceId;

use crate::dialect::{self, Shape, ShapedColumn};
use crate::error::ShardingError;
use crate::execute::Session;

/// Turns computed values into rows. Rows of a driver cannot be made by hand, so the database makes
/// them: it is sent the values and answers with them, under their names and types, and divides
/// sums by counts by its own rules.
pub(super) async fn shape(
    session: Session<'_>,
    source: SourceId,
    shape: &Shape<'_>,
    rows: &[Vec<Datum>],
) -> Result<Vec<QueryResult>, DbErr> {
    let mut shaped = Vec::with_capacity(rows.len());
    for (at, chunk) in rows.chunks(dialect::chunk_size(shape)).enumerate() {
        // A computed column of SQLite has the type of its first value, so the very first row also
        // begins the other statements, and is dropped from their answers.
        let again = if at == 0 { &[][..] } else { &rows[..1] };
        let chunk: Vec<&[Datum]> = again.iter().chain(chunk).map(Vec::as_slice).collect();
        let answer = session
            .query_all(source, &dialect::shape(shape, &chunk)?)
            .await?;
        shaped.extend(answer.into_iter().skip(again.len()));
    }
    if shaped.len() != rows.len() {
        return Err(ShardingError::Unexpected("the rows sent did not all come back").into());
    }
    Ok(shaped)
}

/// A row with a count, as COUNT gives it.
pub(crate) async fn shape_count(
    session: Session<'_>,
    source: SourceId,
    name: String,
    count: i128,
) -> Result<Vec<QueryResult>, DbErr> {
    let backend = session.cluster().shards().backend;
    let output = Output::Partial(0);
    let rows_like = Shape {
        backend,
        columns: vec![ShapedColumn {
            name,
            output: &output,
            template: None,
            typed: None,
        }],
        typed: None,
        types: vec![dialect::type_of_count(backend).to_owned()],
    };
    shape(session, source, &rows_like, &[vec![Datum::Int(count)]]).await
}
