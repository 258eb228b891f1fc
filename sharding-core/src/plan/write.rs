use super::{Clause, Reach};

/// What the planner needs to know of an UPDATE or DELETE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteShape {
    /// Whether it has ORDER BY or LIMIT.
    pub limited: bool,
    /// Whether it reads other tables, in FROM, WITH or a join.
    pub joined: bool,
    /// The first sharding key that it sets to something that may belong to another node.
    pub moves_key: Option<String>,
}

/// How a write is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePlan {
    /// One statement on one node.
    Pass,
    /// One statement for each node, in one transaction of their data source, so that it happens
    /// as a whole or not at all.
    Together,
}

/// Plans a write.
///
/// # Errors
/// The clause that cannot be carried out as it would be on one table.
pub fn plan_write(shape: &WriteShape, reach: Reach) -> Result<WritePlan, Clause> {
    if let Some(column) = &shape.moves_key {
        return Err(Clause::KeyUpdate(column.clone()));
    }
    match reach {
        Reach::OneNode => Ok(WritePlan::Pass),
        _ if shape.limited => Err(Clause::LimitedWrite),
        _ if shape.joined => Err(Clause::JoinedWrite),
        Reach::OneSource => Ok(WritePlan::Together),
        Reach::ManySources => Err(Clause::WriteAcrossSources),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_happen_as_a_whole_or_are_refused() {
        let plain = WriteShape::default();
        assert_eq!(plan_write(&plain, Reach::OneNode), Ok(WritePlan::Pass));
        assert_eq!(
            plan_write(&plain, Reach::OneSource),
            Ok(WritePlan::Together)
        );
        assert_eq!(
            plan_write(&plain, Reach::ManySources),
            Err(Clause::WriteAcrossSources)
        );
        let limited = WriteShape {
            limited: true,
            ..WriteShape::default()
        };
        assert_eq!(plan_write(&limited, Reach::OneNode), Ok(WritePlan::Pass));
        assert_eq!(
            plan_write(&limited, Reach::OneSource),
            Err(Clause::LimitedWrite)
        );
        let moving = WriteShape {
            moves_key: Some("k".into()),
            ..WriteShape::default()
        };
        assert_eq!(
            plan_write(&moving, Reach::OneNode),
            Err(Clause::KeyUpdate("k".into()))
        );
    }
}
