use sea_orm::sea_query::{Query, SelectStatement, UnionType};
use sea_orm::{DbBackend, DbErr, QueryResult};
use sharding_core::merge::Datum;
use sharding_core::plan::Output;
use sharding_core::topology::SourceId;

use crate::dialect::{self, TypeName};
use crate::error::ShardingError;
use crate::execute::Session;

/// What computed rows look like.
#[derive(Debug)]
pub(super) struct Shape<'a> {
    pub(super) outputs: &'a [Output],
    /// The name of each partial's column.
    pub(super) names: Vec<String>,
    /// The type of each partial's column.
    pub(super) types: Vec<TypeName>,
    pub(super) backend: DbBackend,
}

/// Turns computed values into rows. Rows of a driver cannot be made by hand, so the database makes
/// them: it is sent the values and answers with them, under their names and types, and divides
/// sums by counts by its own rules.
pub(super) async fn shape(
    session: Session<'_>,
    source: SourceId,
    shape: &Shape<'_>,
    rows: &[Vec<Datum>],
) -> Result<Vec<QueryResult>, DbErr> {
    // SQLite takes 500 terms in a compound SELECT and 32,766 values in a statement, the fewest.
    const TERMS: usize = 400;
    const VALUES: usize = 30_000;
    let size = (VALUES / (2 * shape.outputs.len()).max(1)).clamp(1, TERMS);
    let mut shaped = Vec::with_capacity(rows.len());
    for chunk in rows.chunks(size) {
        let mut selects = Vec::with_capacity(chunk.len());
        for row in chunk {
            selects.push(shape.select(row)?);
        }
        let mut selects = selects.into_iter();
        let Some(mut select) = selects.next() else {
            break;
        };
        select.unions(selects.map(|select| (UnionType::All, select)));
        shaped.extend(
            session
                .query_all(source, shape.backend.build(&select))
                .await?,
        );
    }
    if shaped.len() != rows.len() {
        return Err(ShardingError::Unexpected("UNION ALL changed the number of rows").into());
    }
    Ok(shaped)
}

impl Shape<'_> {
    fn select(&self, row: &[Datum]) -> Result<SelectStatement, ShardingError> {
        let mut select = Query::select();
        for output in self.outputs {
            let (column, expr) = match *output {
                Output::Partial(at) => (
                    at,
                    dialect::literal(self.backend, &row[at], &self.types[at]),
                ),
                Output::Quotient { sum, count } => {
                    let (sum_type, count_type) = (&self.types[sum], &self.types[count]);
                    let (of, by) = (&row[sum], &row[count]);
                    (
                        sum,
                        dialect::quotient(self.backend, of, sum_type, by, count_type),
                    )
                }
            };
            let column = self.names[column].clone();
            let expr = expr.map_err(|type_name| ShardingError::UnmergeableType {
                column: column.clone(),
                type_name,
            })?;
            select.expr_as(expr, column);
        }
        Ok(select)
    }
}
