use std::fmt;

/// A statement that cannot be answered exactly over the nodes that it reaches.
///
/// The author of the statement must act: the text names the clause, the reach and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The part of the statement that stands in the way.
    pub clause: Clause,
    /// The sharded table.
    pub table: String,
    /// How many nodes the statement reaches.
    pub nodes: usize,
    /// The data sources of those nodes, by name.
    pub sources: Vec<String>,
}

/// A part of a statement that several nodes, or several data sources, cannot answer together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clause {
    /// DISTINCT.
    Distinct,
    /// DISTINCT of a value whose equality in this database is not known.
    DistinctUnproven(String),
    /// Aggregates of several DISTINCT arguments.
    DistinctArguments,
    /// HAVING.
    Having,
    /// UNION, INTERSECT or EXCEPT.
    SetOperation,
    /// A window function or WINDOW.
    Window,
    /// WITH.
    CommonTable,
    /// An outer join that keeps the unmatched rows of a table which is not sharded.
    OuterJoin,
    /// A join with a table of another data source.
    JoinAcrossSources,
    /// A sharded table in the subquery of a write.
    NestedTable,
    /// A join of sharded tables whose rows are not sure to be together: other columns are compared
    /// than the sharding keys, or the tables are not sharded alike.
    Join,
    /// A subquery that reads rows of other units than the row it is evaluated for.
    Subquery,
    /// INSERT … ON CONFLICT (ON DUPLICATE KEY) where the conflict may be with a row of another
    /// node.
    Conflict,
    /// REPLACE.
    Replace,
    /// An INSERT of a row whose values the database would choose.
    DefaultValues,
    /// A subquery in FROM that has groups, a page, or another clause of its own.
    DerivedTable,
    /// A select item that is neither a column, a plain aggregate nor computed from one row.
    SelectItem,
    /// An aggregate of an argument whose values cannot be combined.
    AggregateArgument(String),
    /// A selected column that is not in GROUP BY.
    UngroupedColumn(String),
    /// GROUP BY a column whose order in this database is not known.
    GroupOrder(String),
    /// ORDER BY something that is not selected.
    OrderNotSelected,
    /// ORDER BY something that cannot be selected, such as a list of values.
    OrderExpression,
    /// ORDER BY a column whose order in this database is not known.
    OrderUnproven(String),
    /// ORDER BY an ENUM, which a union makes a text of.
    EnumOrder,
    /// ORDER BY of which all rows are streamed, over more tables than there are connections, or where
    /// the database merges at less cost.
    Cursors,
    /// FOR UPDATE and the like together with LIMIT.
    LockWithLimit,
    /// FOR UPDATE and the like together with a join or a subquery of a sharded table.
    LockOfJoin,
    /// LIMIT or ORDER BY in an UPDATE or DELETE.
    LimitedWrite,
    /// An UPDATE or DELETE that reads other tables.
    JoinedWrite,
    /// A write to nodes of several data sources.
    WriteAcrossSources,
    /// A write to a broadcast table, of which several data sources have a copy.
    BroadcastWrite,
    /// An UPDATE that sets the sharding key.
    KeyUpdate(String),
    /// An INSERT of the rows of a SELECT.
    InsertSelect,
    /// An INSERT of rows whose primary key the database would generate.
    GeneratedKey(String),
    /// A statement that cannot be taken apart without losing something.
    NotUnderstood,
    /// SQL text that names a sharded table.
    RawSql,
    /// A sharded table of a schema, in another place than the first of FROM.
    Schema,
    /// `*`, of a table with columns that its entity does not know.
    Star,
    /// A sharded table's name under another schema or in another case than the entity's.
    Spelling,
    /// A statement that defines or changes the structure of a sharded table.
    Definition,
}

impl Clause {
    /// What would make the statement work.
    fn remedy(&self) -> &'static str {
        match self {
            Self::OrderNotSelected => {
                "select it, or add the sharding key so that one data source is reached"
            }
            Self::OrderUnproven(_) | Self::GroupOrder(_) | Self::DistinctUnproven(_) => {
                "give the column a binary collation, or add the sharding key so that one data \
                 source is reached"
            }
            Self::LockWithLimit => {
                "drop LIMIT, or add the sharding key so that one node is reached"
            }
            Self::EnumOrder => {
                "sort by its text, or add the sharding key so that one node is reached"
            }
            Self::LockOfJoin => "lock the rows of each table in a statement of its own",
            Self::LimitedWrite | Self::JoinedWrite => {
                "add the sharding key so that one node is reached"
            }
            Self::WriteAcrossSources => {
                "add the sharding key, or write to one data source at a time"
            }
            Self::BroadcastWrite => {
                "write to the copy of each data source on its plain connection, `source(name)`"
            }
            Self::KeyUpdate(_) => {
                "fix the key to one value of the same node in WHERE, or delete the row and insert \
                 it anew"
            }
            Self::InsertSelect => "select the rows first and insert them with `insert_many`",
            Self::GeneratedKey(_) => {
                "set it: each tail would count on its own, so values would repeat"
            }
            Self::Conflict | Self::Replace => {
                "make the sharding key part of every unique key: rows of other nodes are not seen"
            }
            Self::DefaultValues => "set the sharding key",
            Self::Schema => "set the schema in the connection's search path instead",
            Self::Star => "name the columns",
            Self::Spelling => "name the table as its entity does",
            Self::RawSql => "write the statement with SeaORM or sea-query",
            Self::Definition => "use `create_tables`, or name the physical tables",
            Self::NestedTable => "read it in a statement of its own",
            Self::Join => {
                "compare the sharding keys of both tables and shard them alike, make one a \
                 broadcast table, or add the sharding keys so that one data source is reached"
            }
            Self::Subquery => {
                "compare the sharding keys within the subquery, or add the sharding keys so that \
                 one data source is reached"
            }
            Self::NotUnderstood => "split the statement, or add the sharding key",
            Self::JoinAcrossSources => {
                "add the sharding key so that only the data source of the other table is reached"
            }
            _ => "add the sharding key so that one data source is reached",
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Distinct => f.write_str("DISTINCT"),
            Self::DistinctUnproven(why) => write!(f, "DISTINCT of a value that {why}"),
            Self::DistinctArguments => f.write_str("aggregates of several DISTINCT arguments"),
            Self::Having => f.write_str("HAVING"),
            Self::SetOperation => f.write_str("UNION, INTERSECT or EXCEPT"),
            Self::Window => f.write_str("a window function"),
            Self::CommonTable => f.write_str("WITH"),
            Self::OuterJoin => {
                f.write_str("an outer join that keeps rows of a table which is not sharded")
            }
            Self::JoinAcrossSources => f.write_str("a join with a table of another data source"),
            Self::NestedTable => f.write_str("a subquery"),
            Self::Join => f.write_str("a join on other columns than the sharding keys"),
            Self::Subquery => {
                f.write_str("a subquery that is not tied to the row by the sharding key")
            }
            Self::Conflict => f.write_str("ON CONFLICT over keys without the sharding key"),
            Self::Replace => f.write_str("REPLACE"),
            Self::DefaultValues => f.write_str("an INSERT of default values"),
            Self::DerivedTable => f.write_str("the subquery in FROM"),
            Self::SelectItem => {
                f.write_str("a select item other than a column, a plain aggregate or a row's value")
            }
            Self::AggregateArgument(why) => write!(f, "an aggregate whose argument {why}"),
            Self::UngroupedColumn(column) => write!(f, "`{column}` outside of GROUP BY"),
            Self::GroupOrder(why) => write!(f, "GROUP BY a column that {why}"),
            Self::OrderNotSelected => f.write_str("ORDER BY something that is not selected"),
            Self::OrderExpression => f.write_str("ORDER BY something that cannot be selected"),
            Self::OrderUnproven(why) => write!(f, "ORDER BY a column that {why}"),
            Self::EnumOrder => f.write_str("ORDER BY an ENUM"),
            Self::Cursors => {
                f.write_str("a stream in an order, which the database merges at less cost")
            }
            Self::LockWithLimit => f.write_str("row locks together with LIMIT"),
            Self::LockOfJoin => f.write_str("row locks together with a join or a subquery"),
            Self::LimitedWrite => f.write_str("ORDER BY or LIMIT in an UPDATE or DELETE"),
            Self::JoinedWrite => f.write_str("an UPDATE or DELETE that reads other tables"),
            Self::WriteAcrossSources => f.write_str("a write to several data sources"),
            Self::BroadcastWrite => f.write_str("a write to a broadcast table of several sources"),
            Self::KeyUpdate(column) => write!(f, "an UPDATE of the sharding key `{column}`"),
            Self::InsertSelect => f.write_str("INSERT of a SELECT"),
            Self::GeneratedKey(column) => {
                write!(
                    f,
                    "an INSERT that leaves the primary key `{column}` to the database"
                )
            }
            Self::NotUnderstood => f.write_str("a clause that cannot be taken apart"),
            Self::Schema => f.write_str("a name with a schema in a join or a subquery"),
            Self::Star => f.write_str("`*` over columns that the entity does not know"),
            Self::Spelling => f.write_str("another schema or another case than the entity's"),
            Self::RawSql => f.write_str("raw SQL that names a sharded table"),
            Self::Definition => f.write_str("a definition of a sharded table"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            clause,
            table,
            nodes,
            sources,
        } = self;
        write!(f, "refused: {clause} on `{table}`")?;
        match (nodes, sources.as_slice()) {
            (0 | 1, _) => {}
            (nodes, [] | [_]) => write!(f, ", which reaches {nodes} nodes")?,
            (nodes, sources) => {
                let (count, names) = (sources.len(), sources.join(", "));
                write!(
                    f,
                    ", which reaches {nodes} nodes in {count} data sources ({names})"
                )?;
            }
        }
        write!(f, "; {}", clause.remedy())
    }
}

impl std::error::Error for Refusal {}
