use futures_util::StreamExt;
use sea_orm::{DbErr, QueryResult};
use sharding_core::merge::Datum;
use sharding_core::plan::Output;
use sharding_core::topology::SourceId;

use super::shape::shape;
use crate::dialect::{self, Shape, ShapedColumn};
use crate::execute::{RowStream, Session};
use crate::plan::Computed;

/// Rows without the hidden columns at their end, as rows that the database itself has made: a
/// driver's row cannot be cut.
pub(crate) fn strip<'a>(
    session: Session<'a>,
    source: SourceId,
    computed: Computed,
    rows: RowStream<'a>,
) -> RowStream<'a> {
    /// So many rows are sent to the database at once.
    const CHUNK: usize = 1_000;

    Box::pin(async_stream::try_stream! {
        let visible = computed.columns.len() - computed.hidden;
        let outputs: Vec<Output> = (0..visible).map(Output::Partial).collect();
        let mut chunks = rows.chunks(CHUNK);
        while let Some(chunk) = chunks.next().await {
            let chunk: Vec<QueryResult> = chunk.into_iter().collect::<Result<_, DbErr>>()?;
            for row in stripped(session, source, &computed, &outputs, &chunk).await? {
                yield row;
            }
        }
    })
}

async fn stripped(
    session: Session<'_>,
    source: SourceId,
    computed: &Computed,
    outputs: &[Output],
    rows: &[QueryResult],
) -> Result<Vec<QueryResult>, DbErr> {
    let Some(first) = rows.first() else {
        return Ok(Vec::new());
    };
    let names = first.column_names();
    let column = |(at, output): (usize, _)| ShapedColumn {
        name: names.get(at).cloned().unwrap_or_default(),
        output,
        template: None,
        typed: computed.columns[at].as_ref(),
    };
    let rows_like = Shape {
        backend: session.cluster().shards().backend,
        columns: outputs.iter().enumerate().map(column).collect(),
        typed: computed.typed.as_ref(),
        types: (0..outputs.len())
            .map(|at| dialect::type_name(first, at))
            .collect(),
    };
    let values = |row: &QueryResult| -> Result<Vec<Datum>, DbErr> {
        let values = (0..outputs.len()).map(|at| Ok(dialect::read(row, at)?));
        values.collect()
    };
    let values: Vec<Vec<Datum>> = rows.iter().map(values).collect::<Result<_, _>>()?;
    shape(session, source, &rows_like, &values).await
}
