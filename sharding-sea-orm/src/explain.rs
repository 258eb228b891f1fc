//! Where a statement goes, and why.

use std::fmt;
use std::sync::Arc;

use sea_orm::sea_query::{
    DeleteStatement, InsertStatement, SelectStatement, UpdateStatement, WithQuery,
};
use sea_orm::{
    ActiveModelTrait, DbBackend, DeleteMany, EntityTrait, Insert, InsertMany, QueryTrait, Select,
    SelectTwo, SelectTwoMany, Statement, UpdateMany, ValidatedDeleteOne, ValidatedUpdateOne,
};
use sharding_core::plan::{Direction, GroupPlan, Merge, Page, ReadPlan, SortKey};
use sharding_core::topology::{SourceId, Table};

use crate::error::ShardingError;
use crate::execute::Job;
use crate::plan::{
    KeyReason, Planned, Want, key_reasons, plan_delete, plan_insert, plan_read, plan_update,
};
use crate::shards::Shards;
use crate::visit::select_of_with;

/// How a statement would be carried out. It prints well.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The sharded table; `None` if none is in the statement.
    pub table: Option<String>,
    /// The rung of the ladder on which the statement is answered.
    pub rung: Rung,
    /// What the statement says about each sharding key. Empty for an INSERT, whose rows say it.
    pub keys: Vec<ExplainedKey>,
    /// The nodes, in order, each with its statement. With [`Rung::Union`] the first one has the
    /// statement for all.
    pub nodes: Vec<ExplainedNode>,
    /// How many nodes the table has in all.
    pub of: usize,
    /// What is done with the nodes' answers, in order.
    pub steps: Vec<String>,
}

/// The rung of the ladder on which a statement is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rung {
    /// No sharded table: the default source answers.
    Unsharded,
    /// One node answers, untouched.
    Pass,
    /// Several nodes answer and the answers are merged.
    Merge,
    /// The database answers over the union of the nodes' tables. The text says which clause is
    /// not merged.
    Union(String),
    /// Several nodes are written to in one transaction.
    Together,
}

/// What a statement says about one sharding key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedKey {
    /// The key column.
    pub column: String,
    /// The strategy, described.
    pub strategy: String,
    /// The values that a matching row can have.
    pub values: String,
}

/// One node of a statement.
#[derive(Clone, Debug)]
pub struct ExplainedNode {
    /// The data source.
    pub source: String,
    /// The physical table.
    pub table: String,
    /// What is sent there; `None` if the node is part of another one's union.
    pub statement: Option<Statement>,
}

/// A statement that can be explained: SeaQuery's statements and SeaORM's query builders.
pub trait Explain {
    /// Explains the statement; called by
    /// [`ShardingConnection::explain`](crate::ShardingConnection::explain).
    #[doc(hidden)]
    fn explain_with(&self, explainer: &Explainer<'_>) -> Result<Explanation, ShardingError>;
}

/// What an explanation is made from.
#[derive(Debug)]
pub struct Explainer<'a> {
    shards: &'a Shards,
}

impl Explanation {
    pub(crate) fn of<S: Explain>(shards: &Shards, statement: &S) -> Result<Self, ShardingError> {
        statement.explain_with(&Explainer { shards })
    }

    fn unsharded(shards: &Shards, source: SourceId, statement: Statement) -> Self {
        let source = shards.topology.source(source).to_owned();
        Self {
            table: None,
            rung: Rung::Unsharded,
            keys: Vec::new(),
            nodes: vec![ExplainedNode {
                source,
                table: String::new(),
                statement: Some(statement),
            }],
            of: 1,
            steps: Vec::new(),
        }
    }
}

impl Explainer<'_> {
    fn select(&self, select: &SelectStatement) -> Result<Explanation, ShardingError> {
        let shards = self.shards;
        let read = match plan_read(shards, select, Want::All)? {
            Planned::Sharded(read) => read,
            Planned::Unsharded(source) => {
                let statement = shards.backend.build(select);
                return Ok(Explanation::unsharded(shards, source, statement));
            }
        };
        let nodes = read.jobs.iter().flat_map(|job| self.nodes(job)).collect();
        let (rung, steps) = match &read.plan {
            ReadPlan::Pass => (Rung::Pass, Vec::new()),
            ReadPlan::Union(clause) => (Rung::Union(clause.to_string()), Vec::new()),
            ReadPlan::Merge {
                merge,
                page,
                strips,
            } => {
                let mut steps = steps(merge, *page);
                let may_stop = page.limit.is_some() || matches!(merge, Merge::Groups(_));
                if !read.paging.groups.is_empty() && may_stop {
                    let tails = read.paging.groups.len();
                    steps.insert(0, format!("one tail after the other, {tails} at most"));
                }
                if *strips {
                    steps.push("let the database make rows without what was sorted by".to_owned());
                }
                (Rung::Merge, steps)
            }
        };
        let mut steps = steps;
        if read.counted.is_some() {
            steps.push("count the rows".to_owned());
        }
        let names: Vec<String> = read
            .tables
            .iter()
            .map(|own| own.table.name().to_string())
            .collect();
        Ok(Explanation {
            table: Some(names.join(", ")),
            rung,
            keys: explained(key_reasons(shards, select)),
            nodes,
            of: read.tables.iter().map(|own| own.table.node_count()).sum(),
            steps,
        })
    }

    /// The nodes of one job, the first one with the statement.
    fn nodes(&self, job: &Job) -> Vec<ExplainedNode> {
        let first = std::iter::once((&job.table, job.node));
        let others = job.others.iter().map(|(table, node)| (table, *node));
        let node = |(number, (table, node)): (usize, (&Arc<Table>, usize))| {
            let node = table.node(node);
            ExplainedNode {
                source: self.shards.topology.source(node.source).to_owned(),
                table: node.table.to_string(),
                statement: (number == 0).then(|| job.statement.clone()),
            }
        };
        first.chain(others).enumerate().map(node).collect()
    }

    fn write(
        &self,
        planned: Planned<crate::plan::PlannedWrite>,
        statement: impl FnOnce(DbBackend) -> Statement,
    ) -> Explanation {
        let shards = self.shards;
        let write = match planned {
            Planned::Sharded(write) => write,
            Planned::Unsharded(source) => {
                return Explanation::unsharded(shards, source, statement(shards.backend));
            }
        };
        let node = |job: &Job| {
            let node = job.table.node(job.node);
            ExplainedNode {
                source: shards.topology.source(node.source).to_owned(),
                table: node.table.to_string(),
                statement: Some(job.statement.clone()),
            }
        };
        let (rung, steps) = match write.jobs.len() {
            1 => (Rung::Pass, Vec::new()),
            _ => (
                Rung::Together,
                vec!["in one transaction, add up the affected rows".to_owned()],
            ),
        };
        Explanation {
            table: Some(write.table.name().to_string()),
            rung,
            keys: explained(write.keys),
            nodes: write.jobs.iter().map(node).collect(),
            of: write.table.node_count(),
            steps,
        }
    }
}

fn explained(keys: Vec<KeyReason>) -> Vec<ExplainedKey> {
    let explain = |key: KeyReason| ExplainedKey {
        column: key.column,
        strategy: key.strategy,
        values: key.keys,
    };
    keys.into_iter().map(explain).collect()
}

fn steps(merge: &Merge, page: Page) -> Vec<String> {
    let by = |keys: &[SortKey]| {
        let key = |key: &SortKey| {
            let direction = match key.direction {
                Direction::Ascending => "ascending",
                Direction::Descending => "descending",
            };
            format!("column {} {direction}", key.column + 1)
        };
        keys.iter().map(key).collect::<Vec<_>>().join(", ")
    };
    let mut steps = match merge {
        Merge::Concatenate => vec!["concatenate in the order of the nodes".to_owned()],
        Merge::Order(keys) => vec![format!("merge by {}", by(keys))],
        Merge::Distinct(keys) => vec![
            format!("merge by {}", by(keys)),
            "keep one of equal rows".to_owned(),
        ],
        Merge::Groups(GroupPlan {
            keys,
            order,
            outputs,
            ..
        }) => {
            let mut steps = vec![match keys.len() {
                0 => "combine the aggregates into one row".to_owned(),
                count => format!("combine groups with equal keys ({count} of them)"),
            }];
            if !order.is_empty() {
                steps.push(format!("sort by {}", by(order)));
            }
            steps.push(format!("let the database shape {} columns", outputs.len()));
            steps
        }
    };
    match (page.offset, page.limit) {
        (0, None) => {}
        (offset, None) => steps.push(format!("skip {offset} rows")),
        (offset, Some(limit)) => steps.push(format!("skip {offset} rows, take {limit}")),
    }
    steps
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 3;
        match &self.table {
            None => write!(f, "no sharded table: the default source answers")?,
            Some(table) => {
                write!(
                    f,
                    "{table}: {} of {} nodes, {}",
                    self.nodes.len(),
                    self.of,
                    self.rung
                )?;
            }
        }
        for key in &self.keys {
            write!(
                f,
                "\n  key {}: {} ({})",
                key.column, key.values, key.strategy
            )?;
        }
        for node in self.nodes.iter().take(SHOWN) {
            write!(f, "\n  {}", node.source)?;
            if !node.table.is_empty() {
                write!(f, ".{}", node.table)?;
            }
            if let Some(statement) = &node.statement {
                write!(f, ": {}", statement.sql)?;
            }
        }
        if self.nodes.len() > SHOWN {
            write!(f, "\n  … and {} more", self.nodes.len() - SHOWN)?;
        }
        for step in &self.steps {
            write!(f, "\n  then {step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsharded => f.write_str("not sharded"),
            Self::Pass => f.write_str("passed through"),
            Self::Merge => f.write_str("merged"),
            Self::Union(clause) => write!(f, "one statement over their union, for {clause}"),
            Self::Together => f.write_str("written in one transaction"),
        }
    }
}

impl Explain for SelectStatement {
    fn explain_with(&self, explainer: &Explainer<'_>) -> Result<Explanation, ShardingError> {
        explainer.select(self)
    }
}

impl Explain for WithQuery {
    fn explain_with(&self, explainer: &Explainer<'_>) -> Result<Explanation, ShardingError> {
        match select_of_with(self) {
            Some(select) => explainer.select(&select),
            None => Err(ShardingError::Unexpected(
                "only a SELECT under WITH is explained",
            )),
        }
    }
}

impl Explain for InsertStatement {
    fn explain_with(&self, explainer: &Explainer<'_>) -> Result<Explanation, ShardingError> {
        let planned = plan_insert(explainer.shards, self)?;
        Ok(explainer.write(planned, |backend| backend.build(self)))
    }
}

impl Explain for UpdateStatement {
    fn explain_with(&self, explainer: &Explainer<'_>) -> Result<Explanation, ShardingError> {
        let planned = plan_update(explainer.shards, self)?;
        Ok(explainer.write(planned, |backend| backend.build(self)))
    }
}

impl Explain for DeleteStatement {
    fn explain_with(&self, explainer: &Explainer<'_>) -> Result<Explanation, ShardingError> {
        let planned = plan_delete(explainer.shards, self)?;
        Ok(explainer.write(planned, |backend| backend.build(self)))
    }
}

/// SeaORM's builders hold one of SeaQuery's statements.
macro_rules! explain_inner {
    ($($builder:ty: $($param:ident: $bound:ident),+;)+) => {
        $(
            impl<$($param: $bound),+> Explain for $builder {
                fn explain_with(
                    &self,
                    explainer: &Explainer<'_>,
                ) -> Result<Explanation, ShardingError> {
                    QueryTrait::as_query(self).explain_with(explainer)
                }
            }
        )+
    };
}

explain_inner! {
    Select<E>: E: EntityTrait;
    SelectTwo<E, F>: E: EntityTrait, F: EntityTrait;
    SelectTwoMany<E, F>: E: EntityTrait, F: EntityTrait;
    Insert<A>: A: ActiveModelTrait;
    InsertMany<A>: A: ActiveModelTrait;
    ValidatedUpdateOne<A>: A: ActiveModelTrait;
    ValidatedDeleteOne<E>: E: EntityTrait;
    UpdateMany<E>: E: EntityTrait;
    DeleteMany<E>: E: EntityTrait;
}
