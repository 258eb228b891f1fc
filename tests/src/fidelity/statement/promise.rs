//! What SQL promises about the rows of a statement: an order, or only which rows there are.

use super::{
    Expr, Fetch, Find, Finish, From, Item, Nesting, Order, Related, Relation, Select, Statement,
};
use crate::fidelity::schema::Table;
use crate::fidelity::world::WorldSpec;

/// What is promised about the order of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// Every row has its place.
    Total,
    /// The values of these output columns come in one order; rows with equal ones in any.
    Keys(Vec<usize>),
}

/// What is promised about an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The order.
    pub order: Ordering,
    /// Whether LIMIT or OFFSET chooses among rows of which the order does not tell which are first.
    pub cut: bool,
}

/// What is promised about a statement.
pub fn of(statement: &Statement) -> Promise {
    match statement {
        Statement::Query(select, fetch) => {
            let mut promise = of_select(select);
            if promise.order != Ordering::Total {
                promise.cut |= *fetch == Fetch::One;
            }
            promise
        }
        Statement::Find(find) => of_find(find),
        Statement::Write(_) => Promise {
            order: Ordering::Keys(Vec::new()),
            cut: false,
        },
    }
}

/// The statement without what chooses among its rows.
pub fn uncut(statement: &Statement) -> Statement {
    match statement {
        Statement::Query(select, _) => {
            let mut select = select.clone();
            select.limit = None;
            select.offset = None;
            Statement::Query(select, Fetch::All)
        }
        Statement::Find(find) => {
            let mut find = find.clone();
            find.limit = None;
            find.offset = None;
            find.finish = match find.finish {
                Finish::Json => Finish::Json,
                _ => Finish::All,
            };
            Statement::Find(find)
        }
        Statement::Write(write) => Statement::Write(write.clone()),
    }
}

fn of_select(select: &Select) -> Promise {
    let cut = select.limit.is_some() || select.offset.is_some();
    if is_total(select, &[]) {
        return Promise {
            order: Ordering::Total,
            cut: false,
        };
    }
    let mut keys = Vec::new();
    for order in &select.orders {
        match output(select, &order.by) {
            Some(position) => keys.push(position),
            None => break,
        }
    }
    Promise {
        order: Ordering::Keys(keys),
        cut,
    }
}

fn of_find(find: &Find) -> Promise {
    let has = |table: &str| {
        let by = |order: &Order| order.by == Expr::col(table, "id");
        find.orders.iter().any(by)
    };
    let own = find.table.name();
    let total = match find.related {
        None => has(own),
        Some(
            Related::FactAlsoItem
            | Related::FactBothItem
            | Related::ItemAlsoFact
            | Related::ItemBothFact,
        ) => has("fact") && has("item"),
        Some(Related::FactAlsoOwner | Related::ItemAlsoTag) => has(own),
        Some(
            Related::FactLoadItem
            | Related::FactLoadOwner
            | Related::FactLoadTag
            | Related::ItemLoadFact,
        ) => has(own),
        Some(_) => false,
    };
    // Models with what belongs to them are always given as such.
    let counts = matches!(
        &find.finish,
        Finish::Count | Finish::Exists | Finish::Pages(_)
    ) && !find.related.is_some_and(Related::gathers);
    let total = total || counts;
    let cuts = matches!(
        find.finish,
        Finish::One | Finish::Page(..) | Finish::Cursor { .. }
    );
    let cut = find.limit.is_some() || find.offset.is_some() || cuts;
    match &find.finish {
        Finish::Cursor { by, .. } => Promise {
            order: if by == "id" && find.related.is_none() {
                Ordering::Total
            } else {
                Ordering::Keys(Vec::new())
            },
            cut: by != "id" || find.related.is_some(),
        },
        _ if total => Promise {
            order: Ordering::Total,
            cut: false,
        },
        _ => Promise {
            order: Ordering::Keys(Vec::new()),
            cut,
        },
    }
}

/// The output column that an order names: by its expression, its alias, or its number.
fn output(select: &Select, by: &Expr) -> Option<usize> {
    select
        .items
        .iter()
        .enumerate()
        .position(|(position, item)| {
            if item.over.is_some() && Some(by) != item.alias.clone().map(Expr::Name).as_ref() {
                return false;
            }
            match by {
                Expr::Text(text, arguments) if arguments.is_empty() => {
                    text.parse() == Ok(position + 1)
                }
                Expr::Name(name) => is_named(item, name),
                by => item.expr == *by,
            }
        })
}

fn is_named(item: &Item, name: &str) -> bool {
    match (&item.alias, &item.expr) {
        (Some(alias), _) => alias == name,
        (None, Expr::Col(_, column) | Expr::Name(column)) => column == name,
        _ => false,
    }
}

/// Whether the order of a SELECT gives every row its place.
fn is_total(select: &Select, scope: &[&Select]) -> bool {
    let ordered = |expr: &Expr| {
        select.orders.iter().any(|order| {
            order.by == *expr
                || output(select, &order.by).is_some_and(|at| {
                    select.items[at].over.is_none() && select.items[at].expr == *expr
                })
        })
    };
    let all_items = || {
        (0..select.items.len()).all(|at| {
            let is_it = |order: &Order| output(select, &order.by) == Some(at);
            select.orders.iter().any(is_it)
        })
    };
    if !select.unions.is_empty() || select.distinct {
        return all_items();
    }
    if select.is_aggregated() {
        return select.groups.iter().all(ordered);
    }
    select.relations().all(|from| {
        keys(from, select, scope).is_some_and(|keys| {
            let column = |key: &String| Expr::col(from.name(), key);
            keys.iter().all(|key| ordered(&column(key)))
        })
    })
}

/// The columns that tell the rows of something in FROM apart.
fn keys(from: &From, select: &Select, scope: &[&Select]) -> Option<Vec<String>> {
    match &from.relation {
        Relation::Table(_) => Some(vec!["id".to_owned()]),
        Relation::Select(inner) => unique(inner, scope),
        Relation::Common(name) => {
            let mut outer = scope.to_vec();
            outer.push(select);
            let mut commons = outer.iter().rev().flat_map(|select| &select.with);
            let found = commons.find(|common| common.name == *name)?;
            unique(&found.select, scope)
        }
    }
}

/// The output columns that tell the rows of a SELECT apart.
fn unique(select: &Select, scope: &[&Select]) -> Option<Vec<String>> {
    let name = |item: &Item| match (&item.alias, &item.expr) {
        (Some(alias), _) => Some(alias.clone()),
        (None, Expr::Col(_, column)) => Some(column.clone()),
        _ => None,
    };
    let of = |expr: &Expr| {
        let found = select.items.iter().find(|item| item.expr == *expr)?;
        name(found)
    };
    if select
        .unions
        .iter()
        .any(|(operation, _)| *operation == super::SetOperation::UnionAll)
    {
        return None;
    }
    if select.distinct || !select.unions.is_empty() {
        return select.items.iter().map(name).collect();
    }
    if select.is_aggregated() {
        return select.groups.iter().map(of).collect();
    }
    let mut names = Vec::new();
    for from in select.relations() {
        for key in keys(from, select, scope)? {
            names.push(of(&Expr::col(from.name(), &key))?);
        }
    }
    Some(names)
}

/// Whether the database has to give the same answer on every day: else a difference tells nothing.
/// The same holds for what a sharding does not promise: that primary keys are unique over nodes.
pub fn is_determined(statement: &Statement, spec: &WorldSpec) -> bool {
    let outer = Select::default();
    let all = |exprs: Vec<&Expr>| {
        let mut selects = exprs.into_iter().flat_map(Expr::selects);
        selects.all(|(select, nesting)| nested(select, nesting, &[&outer]))
    };
    match statement {
        Statement::Query(select, _) => determined(select, &[]),
        Statement::Find(find) => {
            let orders = find.orders.iter().map(|order| &order.by);
            all(find.filter.iter().chain(orders).collect())
        }
        Statement::Write(write) => write.is_fair(spec.rows_of(write.table)) && all(write.exprs()),
    }
}

fn determined(select: &Select, scope: &[&Select]) -> bool {
    let mut inner_scope = scope.to_vec();
    inner_scope.push(select);
    let nested = |inner: &Select, nesting: Nesting| nested(inner, nesting, &inner_scope);
    let commons = select
        .with
        .iter()
        .all(|common| nested(&common.select, Nesting::Set));
    let tables = select.relations().all(|from| match &from.relation {
        Relation::Select(inner) => nested(inner, Nesting::Set),
        _ => true,
    });
    let subqueries = select.exprs().into_iter().flat_map(Expr::selects);
    let subqueries = subqueries
        .into_iter()
        .all(|(inner, nesting)| nested(inner, nesting));
    let unions = select
        .unions
        .iter()
        .all(|(_, inner)| nested(inner, Nesting::Set));
    commons && tables && subqueries && unions && windows(select, scope) && groups(select, scope)
}

/// Whether a subquery has to give the same on every day.
fn nested(inner: &Select, nesting: Nesting, scope: &[&Select]) -> bool {
    let cut = inner.limit.is_some() || inner.offset.is_some();
    let sure = match nesting {
        Nesting::Exists => true,
        Nesting::Set => !cut || is_total(inner, scope),
        // A subquery of several rows is an error, or the first of them.
        Nesting::Scalar => {
            (inner.is_aggregated() && inner.groups.is_empty() && inner.unions.is_empty())
                || (inner.limit == Some(1) && is_total(inner, scope))
        }
    };
    sure && determined(inner, scope)
}

/// Whether windows that depend on places have an order that gives every row one.
fn windows(select: &Select, scope: &[&Select]) -> bool {
    select.items.iter().all(|item| {
        let Some(over) = &item.over else {
            return true;
        };
        let by_place = over.rows.is_some()
            || matches!(&item.expr, Expr::Call(name, _) if !matches!(&**name, "RANK" | "DENSE_RANK"));
        if !by_place {
            return true;
        }
        if select.is_aggregated() {
            let ordered = |group: &Expr| over.orders.iter().any(|order| order.by == *group);
            return select.groups.iter().all(ordered);
        }
        select.relations().all(|from| {
            keys(from, select, scope).is_some_and(|keys| {
                keys.iter().all(|key| {
                    let column = Expr::col(from.name(), key);
                    over.orders.iter().any(|order| order.by == column)
                })
            })
        })
    })
}

/// Whether groups give no value that some databases take from any of their rows, and DISTINCT is
/// ordered by what it selects.
fn groups(select: &Select, scope: &[&Select]) -> bool {
    if select.distinct {
        let selected = |order: &Order| output(select, &order.by).is_some();
        if !select.orders.iter().all(selected) {
            return false;
        }
    }
    if !select.is_aggregated() {
        return true;
    }
    let identified = select.relations().all(|from| {
        keys(from, select, scope).is_some_and(|keys| {
            let grouped = |key: &String| select.groups.contains(&Expr::col(from.name(), key));
            !keys.is_empty() && keys.iter().all(grouped)
        })
    });
    let own: Vec<&str> = select.relations().map(From::name).collect();
    let sure = |expr: &Expr| identified || grouped(expr, select, &own);
    let orders = select
        .orders
        .iter()
        .all(|order| output(select, &order.by).is_some() || sure(&order.by));
    let windows = select.items.iter().filter_map(|item| item.over.as_ref());
    let mut windows = windows.flat_map(|over| {
        over.partition
            .iter()
            .chain(over.orders.iter().map(|order| &order.by))
    });
    orders
        && windows.all(sure)
        && select.items.iter().all(|item| sure(&item.expr))
        && select.having.iter().all(sure)
}

/// Whether an expression is made of groups and aggregates.
fn grouped(expr: &Expr, select: &Select, own: &[&str]) -> bool {
    if select.groups.contains(expr) {
        return true;
    }
    let all = |parts: &[Expr]| parts.iter().all(|part| grouped(part, select, own));
    let one = |part: &Expr| grouped(part, select, own);
    match expr {
        Expr::Aggregate(_) | Expr::Lit(..) | Expr::Null => true,
        Expr::Col(table, _) => !own.contains(&&**table),
        Expr::Name(name) => select.items.iter().any(|item| {
            is_named(item, name) && item.alias.is_some() && grouped(&item.expr, select, own)
        }),
        Expr::Op(_, left, right) => one(left) && one(right),
        Expr::All(parts) | Expr::Any(parts) | Expr::Call(_, parts) | Expr::Text(_, parts) => {
            all(parts)
        }
        Expr::Not(inner)
        | Expr::Like(inner, _)
        | Expr::NotLike(inner, _)
        | Expr::IsNull(inner)
        | Expr::NotNull(inner)
        | Expr::Cast(inner, _) => one(inner),
        Expr::In(inner, list) | Expr::NotIn(inner, list) => one(inner) && all(list),
        Expr::Between(value, low, high) | Expr::NotBetween(value, low, high) => {
            one(value) && one(low) && one(high)
        }
        Expr::Case(arms, otherwise) => {
            arms.iter().all(|(when, then)| one(when) && one(then))
                && otherwise.as_deref().is_none_or(one)
        }
        Expr::Tuples(columns, _) => all(columns),
        Expr::InSelect(inner, select) | Expr::NotInSelect(inner, select) => {
            one(inner) && is_closed(select, own)
        }
        Expr::Exists(select) | Expr::NotExists(select) | Expr::Scalar(select) => {
            is_closed(select, own)
        }
        Expr::Quantified(_, inner, _, select) => one(inner) && is_closed(select, own),
    }
}

/// Whether a subquery names none of these tables of the outer one.
fn is_closed(select: &Select, outer: &[&str]) -> bool {
    select.all().into_iter().all(|select| {
        let own: Vec<&str> = select.relations().map(From::name).collect();
        select.exprs().into_iter().all(|expr| {
            let mut closed = true;
            expr.each(&mut |expr| {
                if let Expr::Col(table, _) = expr {
                    closed &= own.contains(&&**table) || !outer.contains(&&**table);
                }
            });
            closed
        })
    })
}

/// The table of a query of an entity in which rows of another are as well.
pub fn second(related: Related) -> Option<Table> {
    match related {
        Related::FactAlsoItem
        | Related::FactBothItem
        | Related::FactWithItem
        | Related::FactLoadItem => Some(Table::Item),
        Related::ItemAlsoFact | Related::ItemBothFact | Related::ItemLoadFact => Some(Table::Fact),
        Related::FactAlsoOwner | Related::FactLoadOwner => Some(Table::Owner),
        Related::ItemAlsoTag => Some(Table::Tag),
        Related::TagWithItem => Some(Table::Item),
        Related::OwnerWithFact => Some(Table::Fact),
        _ => None,
    }
}
