//! Plain data into sea-query's statements.

use sea_orm::DbBackend;
use sea_orm::sea_query::{
    Alias, Asterisk, BinOper, CommonTableExpression, Condition, Expr as Sql, ExprTrait, Frame,
    FrameType, Func, IntoTableRef, JoinType, LockBehavior, LockType, NullOrdering,
    Order as Direction, OrderedStatement, OverStatement, Query, SelectStatement, TableRef,
    UnionType, WindowStatement, WithClause, WithQuery,
};

use super::{
    Aggregate, Expr, From, How, Join, Lock, Operator, Order, Relation, Select, SetOperation, Window,
};
use crate::fidelity::schema::Kind;

/// What sea-query makes of a SELECT.
#[derive(Clone, Debug)]
pub enum Built {
    /// A SELECT.
    Select(Box<SelectStatement>),
    /// A SELECT inside of WITH.
    With(Box<WithQuery>),
}

impl Built {
    /// The SQL, with its values inside, to be read.
    pub fn show(&self, backend: DbBackend) -> String {
        match self {
            Self::Select(select) => backend.build(&**select).to_string(),
            Self::With(with) => backend.build(&**with).to_string(),
        }
    }
}

/// Builds a SELECT with the WITH that may be around it.
pub fn built(select: &Select, backend: DbBackend) -> Built {
    let statement = self::select(select, backend);
    if select.with_outside && !select.with.is_empty() {
        let with = statement.with(with_clause(select, backend));
        return Built::With(Box::new(with));
    }
    Built::Select(Box::new(statement))
}

fn with_clause(select: &Select, backend: DbBackend) -> WithClause {
    let mut clause = WithClause::new();
    for common in &select.with {
        let mut table = CommonTableExpression::new();
        table
            .table_name(Alias::new(&common.name))
            .query(self::select(&common.select, backend));
        clause.cte(table);
    }
    clause
}

/// Builds a SELECT.
pub fn select(select: &Select, backend: DbBackend) -> SelectStatement {
    let mut statement = Query::select();
    if !select.with.is_empty() && !select.with_outside {
        statement.with_cte(with_clause(select, backend));
    }
    if select.distinct {
        statement.distinct();
    }
    for item in &select.items {
        let value = expr(&item.expr, backend);
        match (&item.over, &item.alias) {
            (None, None) => statement.expr(value),
            (None, Some(alias)) => statement.expr_as(value, Alias::new(alias)),
            (Some(over), None) => statement.expr_window(value, window(over, backend)),
            (Some(over), Some(alias)) => {
                statement.expr_window_as(value, window(over, backend), Alias::new(alias))
            }
        };
    }
    if let Some(first) = &select.from {
        from(&mut statement, first, backend);
    }
    for join in &select.joins {
        self::join(&mut statement, join, backend);
    }
    if let Some(filter) = &select.filter {
        statement.cond_where(condition(filter, backend));
    }
    for group in &select.groups {
        statement.add_group_by([expr(group, backend)]);
    }
    if let Some(having) = &select.having {
        statement.cond_having(condition(having, backend));
    }
    for (operation, other) in &select.unions {
        let operation = match operation {
            SetOperation::Union => UnionType::Distinct,
            SetOperation::UnionAll => UnionType::All,
            SetOperation::Intersect => UnionType::Intersect,
            SetOperation::Except => UnionType::Except,
        };
        statement.union(operation, self::select(other, backend));
    }
    orders(&mut statement, &select.orders, backend);
    if let Some(limit) = select.limit {
        statement.limit(limit);
    }
    if let Some(offset) = select.offset {
        statement.offset(offset);
    }
    match select.lock {
        Some(Lock::Update) => statement.lock_exclusive(),
        Some(Lock::Share) => statement.lock_shared(),
        Some(Lock::SkipLocked) => {
            statement.lock_with_behavior(LockType::Update, LockBehavior::SkipLocked)
        }
        None => &mut statement,
    };
    statement
}

fn orders<S: OrderedStatement>(statement: &mut S, orders: &[Order], backend: DbBackend) {
    for Order {
        by,
        desc,
        nulls_first,
    } in orders
    {
        let direction = if *desc {
            Direction::Desc
        } else {
            Direction::Asc
        };
        let by = expr(by, backend);
        match nulls_first {
            None => statement.order_by_expr(by, direction),
            Some(true) => statement.order_by_expr_with_nulls(by, direction, NullOrdering::First),
            Some(false) => statement.order_by_expr_with_nulls(by, direction, NullOrdering::Last),
        };
    }
}

fn window(window: &Window, backend: DbBackend) -> WindowStatement {
    let mut statement = WindowStatement::new();
    for partition in &window.partition {
        statement.add_partition_by(expr(partition, backend));
    }
    orders(&mut statement, &window.orders, backend);
    if let Some((before, after)) = window.rows {
        statement.frame_between(
            FrameType::Rows,
            Frame::Preceding(before),
            Frame::Following(after),
        );
    }
    statement
}

fn from(statement: &mut SelectStatement, from: &From, backend: DbBackend) {
    match &from.relation {
        Relation::Select(select) => {
            statement.from_subquery(self::select(select, backend), Alias::new(from.name()));
        }
        _ => {
            statement.from(table(from));
        }
    }
}

fn table(from: &From) -> TableRef {
    let name = match &from.relation {
        Relation::Table(table) => Alias::new(table.name()),
        Relation::Common(name) => Alias::new(name),
        Relation::Select(_) => Alias::new(from.name()),
    };
    let table = name.into_table_ref();
    match &from.alias {
        Some(alias) => table.alias(Alias::new(alias)),
        None => table,
    }
}

fn join(statement: &mut SelectStatement, join: &Join, backend: DbBackend) {
    let how = match join.how {
        How::Inner => JoinType::InnerJoin,
        How::Left => JoinType::LeftJoin,
        How::Right => JoinType::RightJoin,
        How::Full => JoinType::FullOuterJoin,
        How::Cross => JoinType::CrossJoin,
    };
    let on = join.on.as_ref().map(|on| condition(on, backend));
    match (&join.to.relation, on) {
        (Relation::Select(select), on) => {
            let select = self::select(select, backend);
            let alias = Alias::new(join.to.name());
            let on = on.unwrap_or_else(Condition::all);
            statement.join_subquery(how, select, alias, on);
        }
        (_, None) if join.how == How::Cross => {
            statement.cross_join(table(&join.to));
        }
        (_, on) => {
            statement.join(how, table(&join.to), on.unwrap_or_else(Condition::all));
        }
    }
}

/// Builds a condition; AND and OR at its top become sea-query's conditions.
pub fn condition(filter: &Expr, backend: DbBackend) -> Condition {
    let add = |condition: Condition, parts: &[Expr]| {
        parts.iter().fold(condition, |condition, part| match part {
            Expr::All(_) | Expr::Any(_) => condition.add(self::condition(part, backend)),
            part => condition.add(expr(part, backend)),
        })
    };
    match filter {
        Expr::All(parts) => add(Condition::all(), parts),
        Expr::Any(parts) => add(Condition::any(), parts),
        Expr::Not(inner) if matches!(**inner, Expr::All(_) | Expr::Any(_)) => {
            condition(inner, backend).not()
        }
        other => Condition::all().add(expr(other, backend)),
    }
}

/// Builds an expression.
pub fn expr(of: &Expr, backend: DbBackend) -> Sql {
    let one = |inner: &Expr| expr(inner, backend);
    let many = |inner: &[Expr]| inner.iter().map(one).collect::<Vec<Sql>>();
    match of {
        Expr::Col(table, column) => Sql::col((Alias::new(table), Alias::new(column))),
        Expr::Name(name) => Sql::col(Alias::new(name)),
        Expr::Lit(kind, text) => kind.expr(text.as_deref()),
        Expr::Null => Sql::null(),
        Expr::Op(operator, left, right) => binary(*operator, one(left), one(right), backend),
        Expr::All(parts) => chain(many(parts), true),
        Expr::Any(parts) => chain(many(parts), false),
        Expr::Not(inner) => one(inner).not(),
        Expr::In(inner, list) => one(inner).is_in(many(list)),
        Expr::NotIn(inner, list) => one(inner).is_not_in(many(list)),
        Expr::Between(value, low, high) => one(value).between(one(low), one(high)),
        Expr::NotBetween(value, low, high) => one(value).not_between(one(low), one(high)),
        Expr::Like(inner, pattern) => one(inner).like(pattern.as_str()),
        Expr::NotLike(inner, pattern) => one(inner).not_like(pattern.as_str()),
        Expr::IsNull(inner) => one(inner).is_null(),
        Expr::NotNull(inner) => one(inner).is_not_null(),
        Expr::Tuples(columns, tuples) => {
            let tuples = tuples.iter().map(|tuple| Sql::tuple(many(tuple)));
            Sql::tuple(many(columns)).is_in(tuples)
        }
        Expr::Case(arms, otherwise) => {
            let mut case = sea_orm::sea_query::CaseStatement::new();
            for (when, then) in arms {
                case = case.case(condition(when, backend), one(then));
            }
            match otherwise {
                Some(otherwise) => case.finally(one(otherwise)).into(),
                None => case.into(),
            }
        }
        Expr::Call(name, arguments) => call(name, many(arguments)),
        Expr::Cast(inner, kind) => {
            let name = match (kind, backend) {
                (Kind::Text, DbBackend::MySql) => "CHAR",
                (Kind::Text, _) => "TEXT",
                (Kind::Double, DbBackend::Postgres) => "double precision",
                (Kind::Double, _) => "DOUBLE",
                (Kind::Decimal, _) => "DECIMAL(20, 3)",
                (_, DbBackend::MySql) => "SIGNED",
                (_, DbBackend::Sqlite) => "INTEGER",
                _ => "bigint",
            };
            one(inner).cast_as(Alias::new(name))
        }
        Expr::Aggregate(of) => aggregate(of, backend),
        Expr::InSelect(inner, inside) => one(inner).in_subquery(select(inside, backend)),
        Expr::NotInSelect(inner, inside) => one(inner).not_in_subquery(select(inside, backend)),
        Expr::Exists(inside) => Sql::exists(select(inside, backend)),
        Expr::NotExists(inside) => Sql::not_exists(select(inside, backend)),
        Expr::Scalar(inside) => Sql::SubQuery(None, Box::new(select(inside, backend).into())),
        Expr::Quantified(operator, inner, any, inside) => {
            let inside = select(inside, backend);
            let right = if *any {
                Sql::any(inside)
            } else {
                Sql::all(inside)
            };
            binary(*operator, one(inner), right, backend)
        }
        Expr::Text(text, arguments) if arguments.is_empty() => Sql::cust(text.clone()),
        Expr::Text(text, arguments) => custom(text, many(arguments), backend),
    }
}

fn chain(parts: Vec<Sql>, all: bool) -> Sql {
    let join = |left: Sql, right: Sql| if all { left.and(right) } else { left.or(right) };
    let chained = parts.into_iter().reduce(join);
    chained.unwrap_or_else(|| Sql::cust(if all { "1 = 1" } else { "1 = 0" }))
}

fn binary(operator: Operator, left: Sql, right: Sql, backend: DbBackend) -> Sql {
    match operator {
        Operator::Eq => left.eq(right),
        Operator::Ne => left.ne(right),
        Operator::Lt => left.lt(right),
        Operator::Le => left.lte(right),
        Operator::Gt => left.gt(right),
        Operator::Ge => left.gte(right),
        Operator::Add => left.add(right),
        Operator::Sub => left.sub(right),
        Operator::Mul => left.mul(right),
        Operator::Div => left.div(right),
        Operator::Mod => left.modulo(right),
        Operator::Concat => match backend {
            DbBackend::MySql => Func::cust(Alias::new("CONCAT")).args([left, right]).into(),
            _ => left.binary(BinOper::Custom("||"), right),
        },
    }
}

fn call(name: &str, mut arguments: Vec<Sql>) -> Sql {
    // An argument is missing only where a statement is being made smaller.
    let mut first = || match arguments.is_empty() {
        true => Sql::Keyword(sea_orm::sea_query::Keyword::Null),
        false => arguments.remove(0),
    };
    match name {
        "LOWER" => Func::lower(first()).into(),
        "UPPER" => Func::upper(first()).into(),
        "ABS" => Func::abs(first()).into(),
        "ROUND" => Func::round(first()).into(),
        "LENGTH" => Func::char_length(first()).into(),
        "COALESCE" => Func::coalesce(arguments).into(),
        "IFNULL" => {
            let value = first();
            Func::if_null(value, arguments.remove(0)).into()
        }
        other => Func::cust(Alias::new(other)).args(arguments).into(),
    }
}

fn aggregate(of: &Aggregate, backend: DbBackend) -> Sql {
    let Aggregate {
        name,
        of,
        distinct,
        filter,
    } = of;
    let argument = match of {
        None => Sql::col(Asterisk),
        Some(of) => expr(of, backend),
    };
    let call = match (&**name, distinct) {
        ("COUNT", false) => Func::count(argument),
        ("COUNT", true) => Func::count_distinct(argument),
        ("SUM", false) => Func::sum(argument),
        ("AVG", false) => Func::avg(argument),
        ("MIN", false) => Func::min(argument),
        ("MAX", false) => Func::max(argument),
        (other, false) => Func::cust(Alias::new(other)).arg(argument),
        (other, true) => {
            return custom(&format!("{other}(DISTINCT $1)"), vec![argument], backend);
        }
    };
    match filter {
        None => call.into(),
        Some(filter) => call.filter(condition(filter, backend)).into(),
    }
}

/// SQL text with places for expressions: `$1` and so on, or `?` for each where the database has
/// them so.
fn custom(text: &str, arguments: Vec<Sql>, backend: DbBackend) -> Sql {
    let mut text = text.to_owned();
    if backend != DbBackend::Postgres {
        for number in 1..=arguments.len() {
            text = text.replace(&format!("${number}"), "?");
        }
    }
    Sql::cust_with_exprs(text, arguments)
}
