use sea_orm::sea_query::{Condition, Query, SelectDistinct, SelectStatement, TableRef};

use super::dissect::{LockPart, Parts};

/// Whether the parts are the whole statement: put together again they are equal to it.
///
/// A clause that the visitor does not know, or that has no public setter, shows up as a
/// difference here, so that a statement is never merged on the strength of half its meaning.
pub(crate) fn is_whole(select: &SelectStatement, parts: &Parts) -> bool {
    recompose(parts).is_some_and(|composed| composed == *select)
}

/// The statement with other tables in FROM and JOIN, where `replace` gives one. `None` if it has a
/// clause that cannot be put together again.
pub(crate) fn with_tables(
    select: &SelectStatement,
    mut parts: Parts,
    replace: &dyn Fn(&TableRef) -> Option<TableRef>,
) -> Option<SelectStatement> {
    if !is_whole(select, &parts) {
        return None;
    }
    let joined = parts.joins.iter_mut().map(|join| &mut *join.table);
    for table in parts.from.iter_mut().chain(joined) {
        if let Some(other) = replace(table) {
            *table = other;
        }
    }
    recompose(&parts)
}

fn recompose(parts: &Parts) -> Option<SelectStatement> {
    if parts.window.is_some() || parts.into || parts.chained {
        return None;
    }
    let mut select = Query::select();
    if let Some(with) = &parts.with {
        select.with_cte(with.clone());
    }
    match &parts.distinct {
        None => {}
        Some(SelectDistinct::Distinct) => {
            select.distinct();
        }
        Some(SelectDistinct::DistinctOn(columns)) => {
            select.distinct_on(columns.clone());
        }
        Some(_) => return None,
    }
    select.exprs(parts.items.iter().cloned());
    for table in &parts.from {
        match table {
            TableRef::SubQuery(inner, alias) => {
                select.from_subquery((**inner).clone(), alias.clone());
            }
            table => {
                select.from(table.clone());
            }
        }
    }
    if parts.joins.iter().filter(|join| join.on.is_some()).count() != parts.join_conditions.len() {
        return None;
    }
    let mut conditions = parts.join_conditions.iter().cloned();
    for join in &parts.joins {
        if join.lateral {
            return None;
        }
        let condition = match join.on {
            Some(_) => conditions.next()?,
            None => Condition::all(),
        };
        select.join(join.join, (*join.table).clone(), condition);
    }
    if let Some(condition) = &parts.condition {
        select.cond_where(condition.clone());
    }
    select.add_group_by(parts.group.iter().cloned());
    if let Some(condition) = &parts.having {
        select.cond_having(condition.clone());
    }
    select.unions(parts.unions.iter().cloned());
    for key in &parts.order {
        let order = key.order.clone()?;
        match key.nulls {
            Some(nulls) => select.order_by_expr_with_nulls(key.expr.clone(), order, nulls),
            None => select.order_by_expr(key.expr.clone(), order),
        };
    }
    if let Some(limit) = parts.limit {
        select.limit(limit);
    }
    if let Some(offset) = parts.offset {
        select.offset(offset);
    }
    if let Some(LockPart {
        lock,
        tables,
        behavior,
    }) = parts.lock.clone()
    {
        match (tables.is_empty(), behavior) {
            (true, None) => select.lock(lock),
            (true, Some(behavior)) => select.lock_with_behavior(lock, behavior),
            (false, None) => select.lock_with_tables(lock, tables),
            (false, Some(behavior)) => select.lock_with_tables_behavior(lock, tables, behavior),
        };
    }
    Some(select)
}
