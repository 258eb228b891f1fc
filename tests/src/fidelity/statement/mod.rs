//! Statements as plain data, which can be written to a file, taken apart and built again.

pub mod build;
pub mod promise;
pub mod write;

use serde::{Deserialize, Serialize};

use super::schema::{Kind, Table};

/// A statement and how it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Inside of a transaction, which is rolled back.
    pub in_transaction: bool,
    /// What is asked.
    pub statement: Statement,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Statement {
    /// A SELECT of sea-query's builder.
    Query(Select, Fetch),
    /// SeaORM's query of an entity.
    Find(Find),
    /// A write.
    Write(write::Write),
}

/// How the rows of a SELECT are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the ways name themselves")]
pub enum Fetch {
    All,
    One,
    Stream,
}

/// A SELECT.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Select {
    /// Common tables.
    pub with: Vec<Common>,
    /// Whether WITH is a statement of its own around the SELECT, or else a part of it.
    pub with_outside: bool,
    /// DISTINCT.
    pub distinct: bool,
    /// The select list.
    pub items: Vec<Item>,
    /// The first table.
    pub from: Option<From>,
    /// The tables joined to it.
    pub joins: Vec<Join>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY.
    pub groups: Vec<Expr>,
    /// HAVING.
    pub having: Option<Expr>,
    /// Set operations with further selects.
    pub unions: Vec<(SetOperation, Self)>,
    /// ORDER BY.
    pub orders: Vec<Order>,
    /// LIMIT.
    pub limit: Option<u64>,
    /// OFFSET.
    pub offset: Option<u64>,
    /// FOR UPDATE and the like.
    pub lock: Option<Lock>,
}

/// A common table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Common {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub select: Select,
}

/// An item of a select list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The value.
    pub expr: Expr,
    /// OVER.
    #[serde(default)]
    pub over: Option<Window>,
    /// AS.
    #[serde(default)]
    pub alias: Option<String>,
}

/// A window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Window {
    /// PARTITION BY.
    pub partition: Vec<Expr>,
    /// ORDER BY.
    pub orders: Vec<Order>,
    /// ROWS between so many rows before and after the current one.
    pub rows: Option<(u32, u32)>,
}

/// Something in FROM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct From {
    /// What it is.
    pub relation: Relation,
    /// The alias, or else the name of the table.
    #[serde(default)]
    pub alias: Option<String>,
}

/// A source of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Relation {
    /// A table.
    Table(Table),
    /// A subquery, which has an alias.
    Select(Box<Select>),
    /// A common table.
    Common(String),
}

/// A join.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Join {
    /// Its kind.
    pub how: How,
    /// What is joined.
    pub to: From,
    /// ON; not with CROSS.
    pub on: Option<Expr>,
}

/// Kinds of joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the kinds name themselves")]
pub enum How {
    Inner,
    Left,
    Right,
    Full,
    Cross,
}

/// Set operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the operations name themselves")]
pub enum SetOperation {
    Union,
    UnionAll,
    Intersect,
    Except,
}

/// Row locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the locks name themselves")]
pub enum Lock {
    Update,
    Share,
    SkipLocked,
}

/// A key of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The value.
    pub by: Expr,
    /// Descending.
    #[serde(default)]
    pub desc: bool,
    /// NULLS FIRST, or LAST.
    #[serde(default)]
    pub nulls_first: Option<bool>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the operators name themselves")]
pub enum Expr {
    /// A column of a table, by the table's name or alias.
    Col(String, String),
    /// A bare name: a column, or an alias of the select list.
    Name(String),
    /// A bound value.
    Lit(Kind, Option<String>),
    /// NULL.
    Null,
    /// A binary operator: a comparison or arithmetic.
    Op(Operator, Box<Self>, Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    In(Box<Self>, Vec<Self>),
    NotIn(Box<Self>, Vec<Self>),
    Between(Box<Self>, Box<Self>, Box<Self>),
    NotBetween(Box<Self>, Box<Self>, Box<Self>),
    Like(Box<Self>, String),
    NotLike(Box<Self>, String),
    IsNull(Box<Self>),
    NotNull(Box<Self>),
    /// The columns as a tuple are among the listed tuples.
    Tuples(Vec<Self>, Vec<Vec<Self>>),
    /// CASE: conditions with values, and ELSE.
    Case(Vec<(Self, Self)>, Option<Box<Self>>),
    /// A function by its name.
    Call(String, Vec<Self>),
    /// CAST to text or to a number.
    Cast(Box<Self>, Kind),
    Aggregate(Aggregate),
    InSelect(Box<Self>, Box<Select>),
    NotInSelect(Box<Self>, Box<Select>),
    Exists(Box<Select>),
    NotExists(Box<Select>),
    /// A subquery of one value.
    Scalar(Box<Select>),
    /// A comparison with ANY or ALL rows of a subquery.
    Quantified(Operator, Box<Self>, bool, Box<Select>),
    /// SQL text in which `$1` and so on stand for the expressions.
    Text(String, Vec<Self>),
}

/// An aggregate function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aggregate {
    /// Its name in capitals.
    pub name: String,
    /// The argument; `*` if there is none.
    pub of: Option<Box<Expr>>,
    /// DISTINCT.
    #[serde(default)]
    pub distinct: bool,
    /// FILTER (WHERE …).
    #[serde(default)]
    pub filter: Option<Box<Expr>>,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the operators name themselves")]
pub enum Operator {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Concat,
}

/// SeaORM's query of an entity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Find {
    /// The entity.
    pub table: Table,
    /// Entities that are read with it.
    #[serde(default)]
    pub related: Option<Related>,
    /// `filter`.
    #[serde(default)]
    pub filter: Option<Expr>,
    /// `order_by`.
    #[serde(default)]
    pub orders: Vec<Order>,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    #[serde(default)]
    pub offset: Option<u64>,
    /// `distinct`.
    #[serde(default)]
    pub distinct: bool,
    /// `lock_exclusive`.
    #[serde(default)]
    pub lock: bool,
    /// The call that ends the query.
    pub finish: Finish,
}

/// How entities are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the ways name SeaORM's calls")]
pub enum Related {
    FactAlsoItem,
    FactBothItem,
    FactAlsoOwner,
    FactAlsoTag,
    FactWithItem,
    FactWithTag,
    FactAlsoLinkedTag,
    FactWithLinkedTag,
    FactAlsoLinkedParent,
    FactLoadItem,
    FactLoadOwner,
    FactLoadTag,
    ItemAlsoFact,
    ItemBothFact,
    ItemAlsoTag,
    ItemAlsoLinkedOwner,
    ItemLoadFact,
    TagWithItem,
    OwnerWithFact,
}

impl Related {
    /// Whether the rows that belong to one model are gathered to it.
    pub fn gathers(self) -> bool {
        matches!(
            self,
            Self::FactWithItem
                | Self::FactWithTag
                | Self::FactWithLinkedTag
                | Self::TagWithItem
                | Self::OwnerWithFact
        )
    }
}

/// The call that ends a query of an entity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Finish {
    /// `all`.
    All,
    /// `one`.
    One,
    /// `stream`.
    Stream,
    /// `into_json().all`.
    Json,
    /// `count`.
    Count,
    /// `exists`.
    Exists,
    /// `paginate(size).fetch_page(page)`.
    Page(u64, u64),
    /// `paginate(size).num_items_and_pages`.
    Pages(u64),
    /// `cursor_by` a column, from `after` and up to `before`, and the `first` rows or the last.
    Cursor {
        /// The column.
        by: String,
        /// The exclusive lower bound.
        after: Option<Expr>,
        /// The exclusive upper bound.
        before: Option<Expr>,
        /// How many rows.
        count: u64,
        /// The last rows, not the first.
        last: bool,
        /// Descending.
        desc: bool,
    },
}

impl From {
    /// The name by which columns are qualified.
    pub fn name(&self) -> &str {
        match (&self.alias, &self.relation) {
            (Some(alias), _) => alias,
            (None, Relation::Table(table)) => table.name(),
            (None, Relation::Common(name)) => name,
            (None, Relation::Select(_)) => "derived",
        }
    }
}

impl Expr {
    /// A column.
    pub fn col(table: &str, column: &str) -> Self {
        Self::Col(table.to_owned(), column.to_owned())
    }

    /// A binary operator.
    pub fn op(operator: Operator, left: Self, right: Self) -> Self {
        Self::Op(operator, Box::new(left), Box::new(right))
    }

    /// An aggregate without more to it.
    pub fn aggregate(name: &str, of: Option<Self>) -> Self {
        Self::Aggregate(Aggregate {
            name: name.to_owned(),
            of: of.map(Box::new),
            distinct: false,
            filter: None,
        })
    }

    /// Visits this expression and those inside of it, but not those of subqueries.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        let mut go = |inner: &'a Self| inner.each(visit);
        match self {
            Self::Col(..) | Self::Name(_) | Self::Lit(..) | Self::Null => {}
            Self::Exists(_) | Self::NotExists(_) | Self::Scalar(_) => {}
            Self::Op(_, left, right) => {
                go(left);
                go(right);
            }
            Self::All(parts) | Self::Any(parts) | Self::Call(_, parts) | Self::Text(_, parts) => {
                parts.iter().for_each(go);
            }
            Self::Not(inner)
            | Self::Like(inner, _)
            | Self::NotLike(inner, _)
            | Self::IsNull(inner)
            | Self::NotNull(inner)
            | Self::Cast(inner, _)
            | Self::InSelect(inner, _)
            | Self::NotInSelect(inner, _)
            | Self::Quantified(_, inner, ..) => go(inner),
            Self::In(inner, list) | Self::NotIn(inner, list) => {
                go(inner);
                list.iter().for_each(go);
            }
            Self::Between(value, low, high) | Self::NotBetween(value, low, high) => {
                go(value);
                go(low);
                go(high);
            }
            Self::Tuples(columns, tuples) => {
                columns.iter().for_each(&mut go);
                tuples.iter().flatten().for_each(go);
            }
            Self::Case(arms, otherwise) => {
                for (condition, value) in arms {
                    go(condition);
                    go(value);
                }
                if let Some(otherwise) = otherwise {
                    go(otherwise);
                }
            }
            Self::Aggregate(aggregate) => {
                if let Some(of) = &aggregate.of {
                    go(of);
                }
                if let Some(filter) = &aggregate.filter {
                    go(filter);
                }
            }
        }
    }

    /// The subqueries of this expression.
    pub fn selects(&self) -> Vec<(&Select, Nesting)> {
        let mut selects = Vec::new();
        self.each(&mut |expr| match expr {
            Self::InSelect(_, select)
            | Self::NotInSelect(_, select)
            | Self::Quantified(.., select) => selects.push((&**select, Nesting::Set)),
            Self::Exists(select) | Self::NotExists(select) => {
                selects.push((&**select, Nesting::Exists));
            }
            Self::Scalar(select) => selects.push((&**select, Nesting::Scalar)),
            _ => {}
        });
        selects
    }

    /// Whether there is an aggregate in it, outside of subqueries.
    pub fn has_aggregate(&self) -> bool {
        let mut found = false;
        self.each(&mut |expr| found |= matches!(expr, Self::Aggregate(_)));
        found
    }
}

/// What a subquery is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// Its rows as a set.
    Set,
    /// Whether there is a row.
    Exists,
    /// Its one value.
    Scalar,
}

impl Select {
    /// Every expression of this SELECT alone: not of its subqueries and set operations.
    pub fn exprs(&self) -> Vec<&Expr> {
        let mut exprs: Vec<&Expr> = Vec::new();
        for item in &self.items {
            exprs.push(&item.expr);
            if let Some(over) = &item.over {
                exprs.extend(&over.partition);
                exprs.extend(over.orders.iter().map(|order| &order.by));
            }
        }
        exprs.extend(self.joins.iter().filter_map(|join| join.on.as_ref()));
        exprs.extend(&self.filter);
        exprs.extend(&self.groups);
        exprs.extend(&self.having);
        exprs.extend(self.orders.iter().map(|order| &order.by));
        exprs
    }

    /// Everything in FROM.
    pub fn relations(&self) -> impl Iterator<Item = &From> {
        let joined = self.joins.iter().map(|join| &join.to);
        self.from.iter().chain(joined)
    }

    /// Whether it makes one row out of all, or one of each group.
    pub fn is_aggregated(&self) -> bool {
        !self.groups.is_empty()
            || self.having.is_some()
            || self
                .items
                .iter()
                .any(|item| item.over.is_none() && item.expr.has_aggregate())
            || self.orders.iter().any(|order| order.by.has_aggregate())
    }

    /// This SELECT and all inside of it.
    pub fn all(&self) -> Vec<&Self> {
        let mut all = vec![self];
        for common in &self.with {
            all.extend(common.select.all());
        }
        for from in self.relations() {
            if let Relation::Select(select) = &from.relation {
                all.extend(select.all());
            }
        }
        for expr in self.exprs() {
            for (select, _) in expr.selects() {
                all.extend(select.all());
            }
        }
        for (_, select) in &self.unions {
            all.extend(select.all());
        }
        all
    }
}

impl Case {
    /// The statement as SQL, to be read.
    pub fn show(&self, backend: sea_orm::DbBackend) -> String {
        let around = if self.in_transaction {
            "in a transaction: "
        } else {
            ""
        };
        match &self.statement {
            Statement::Query(select, fetch) => {
                let sql = build::built(select, backend).show(backend);
                format!("{around}{fetch:?} {sql}")
            }
            Statement::Find(find) => {
                let filter = find.filter.as_ref().map_or(String::new(), |filter| {
                    let select = Select {
                        items: vec![Item {
                            expr: Expr::Name("*".to_owned()),
                            over: None,
                            alias: None,
                        }],
                        filter: Some(filter.clone()),
                        ..Select::default()
                    };
                    let sql = build::built(&select, backend).show(backend);
                    let at = sql.find("WHERE").unwrap_or(0);
                    sql[at..].to_owned()
                });
                let rest = Find {
                    filter: None,
                    ..find.clone()
                };
                format!("{around}{rest:?} {filter}")
            }
            Statement::Write(write) => {
                format!("{around}{}", super::execute_write::show(write, backend))
            }
        }
    }
}
