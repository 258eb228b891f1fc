//! Values as rows by `SELECT … UNION ALL SELECT …`, one term for each row.

use sea_orm::sea_query::{Expr, Query, SelectStatement, UnionType};
use sharding_core::merge::Datum;
use sharding_core::plan::Output;

use super::{Shape, TypeName, Unshapeable};

/// How a dialect writes values.
pub(super) struct Values {
    /// An expression of the type and value that the database itself would have given.
    pub(super) literal: fn(&Datum, &TypeName) -> Result<Expr, TypeName>,
    /// SUM / COUNT by the rules of the database's own AVG.
    pub(super) quotient: fn(&Datum, &TypeName, &Datum) -> Result<Expr, TypeName>,
}

/// One term for each row, behind the first one if there is one.
pub(super) fn select(
    shape: &Shape<'_>,
    first: Option<SelectStatement>,
    rows: &[&[Datum]],
    values: &Values,
) -> Result<SelectStatement, Unshapeable> {
    let terms = rows.iter().map(|row| term(shape, row, values));
    let terms: Vec<_> = first
        .into_iter()
        .map(Ok)
        .chain(terms)
        .collect::<Result<_, _>>()?;
    let mut terms = terms.into_iter();
    let mut select = terms.next().unwrap_or_default();
    select.unions(terms.map(|term| (UnionType::All, term)));
    Ok(select)
}

fn term(shape: &Shape<'_>, row: &[Datum], values: &Values) -> Result<SelectStatement, Unshapeable> {
    let mut select = Query::select();
    for output in shape.outputs {
        let expr = match *output {
            Output::Partial(at) => (values.literal)(&row[at], &shape.types[at]),
            Output::Quotient { sum, count } => {
                (values.quotient)(&row[sum], &shape.types[sum], &row[count])
            }
        };
        let name = &shape.names[output.first()];
        let expr = expr.map_err(|type_name| Unshapeable {
            column: name.clone(),
            type_name,
        })?;
        select.expr_as(expr, name.clone());
    }
    Ok(select)
}
