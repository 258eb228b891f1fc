//! Random statements, weighted to what users of SeaORM write.

mod aggregate;
mod find;
mod join;
mod nested;
mod predicate;
mod select;
mod write;

use sea_orm::DbBackend;

use super::data::{Recipe, text};
use super::random::Random;
use super::schema::{Kind, Table};
use super::statement::{Case, Expr, Fetch, Order, Statement};
use super::world::WorldSpec;

/// Makes statements for one world.
#[derive(Debug)]
pub struct Maker<'a> {
    random: Random,
    backend: DbBackend,
    spec: &'a WorldSpec,
    recipe: Recipe,
    /// How deep subqueries may still be.
    depth: usize,
    /// How many names were made up.
    names: usize,
}

/// A column that an expression may name.
#[derive(Clone, Debug)]
struct Seen {
    table: String,
    name: String,
    kind: Kind,
    /// Where its values come from.
    origin: Option<Table>,
}

impl Seen {
    fn expr(&self) -> Expr {
        Expr::col(&self.table, &self.name)
    }
}

/// The columns of a table under a name.
fn seen(table: Table, name: &str) -> Vec<Seen> {
    let of = |column: &super::schema::Column| Seen {
        table: name.to_owned(),
        name: column.name.to_owned(),
        kind: column.kind,
        origin: Some(table),
    };
    table.columns().iter().map(of).collect()
}

/// The statement of a world's seed and a number.
pub fn case(spec: &WorldSpec, backend: DbBackend, seed: u64, number: u64) -> Case {
    let mut maker = Maker {
        random: Random::new(seed, number),
        backend,
        spec,
        recipe: Recipe {
            backend,
            span: spec.span,
            snowflake: false,
            exact_floats: spec.exact_floats,
            nulls: 0,
            extremes: false,
        },
        depth: 2,
        names: 0,
    };
    let statement = if maker.random.percent(10) {
        Statement::Write(maker.write())
    } else if maker.random.percent(35) {
        Statement::Find(maker.find())
    } else {
        let select = maker.select();
        let fetch = maker
            .random
            .weighted(&[(84, Fetch::All), (8, Fetch::One), (8, Fetch::Stream)]);
        Statement::Query(select, fetch)
    };
    Case {
        in_transaction: maker.random.one_in(25),
        statement,
    }
}

impl Maker<'_> {
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// A column of those that fit; the columns that rules use as keys come up more often.
    fn column(&mut self, scope: &[Seen], fits: impl Fn(&Seen) -> bool) -> Option<Seen> {
        let all: Vec<&Seen> = scope.iter().filter(|seen| fits(seen)).collect();
        let is_key = |seen: &&&Seen| {
            matches!(
                &*seen.name,
                "id" | "at" | "kind" | "big" | "day" | "uid" | "fact_id"
            )
        };
        let keys: Vec<&Seen> = all.iter().filter(is_key).copied().collect();
        if !keys.is_empty() && self.random.percent(40) {
            return self.random.pick(&keys).map(|seen| (*seen).clone());
        }
        self.random.pick(&all).map(|seen| (*seen).clone())
    }

    /// A value for a column: mostly one that is there.
    fn literal(&mut self, seen: &Seen) -> Expr {
        if let Some(table) = seen.origin
            && self.random.percent(75)
            && let Some(at) = table.position(&seen.name)
            && let Some(row) = self.random.pick(self.spec.rows_of(table))
            && let Some(value) = &row[at]
        {
            return self.typed(seen.kind, value.clone());
        }
        let value = match &*seen.name {
            "id" | "fact_id" | "parent_id" if seen.kind.is_integer() => {
                self.random.between(-3, 300).to_string()
            }
            _ => text(&mut self.random, &self.recipe, seen.kind),
        };
        self.typed(seen.kind, value)
    }

    /// A value of a kind, or the same number as another kind.
    fn typed(&mut self, kind: Kind, text: String) -> Expr {
        let kind = match kind {
            Kind::Big | Kind::Int | Kind::Small if self.random.one_in(10) => {
                let kind = self.random.of(&[Kind::Big, Kind::Decimal, Kind::Int]);
                match kind {
                    Kind::Int if text.parse::<i32>().is_err() => Kind::Big,
                    other => other,
                }
            }
            other => other,
        };
        Expr::Lit(kind, Some(text))
    }

    /// An order by an expression, in any direction.
    fn order(&mut self, by: Expr) -> Order {
        let number = matches!(by, Expr::Text(..))
            || (self.backend == DbBackend::MySql && matches!(by, Expr::Name(_)));
        Order {
            by,
            desc: self.random.one_in(2),
            nulls_first: match self.random.below(14) {
                // NULLS FIRST becomes `1 IS NULL` where a database does not have it, and MySQL takes
                // no alias there.
                _ if number => None,
                0 => Some(true),
                1 => Some(false),
                _ => None,
            },
        }
    }

    /// Whether texts have to stay what they are, because equal ones may stand for each other.
    fn is_loose(&self) -> bool {
        self.spec.is_loose()
    }

    /// Whether sums of a column are the same in every order.
    fn is_exact(&self, kind: Kind) -> bool {
        !kind.is_float(self.backend) || (self.spec.exact_floats && kind != Kind::Decimal)
    }

    /// A limit, and perhaps an offset.
    fn page(&mut self) -> (Option<u64>, Option<u64>) {
        let limit = self.random.of(&[0, 1, 2, 5, 10, 20, 50, 1000]);
        let offset = self.random.of(&[0, 1, 3, 10, 100]);
        match self.random.below(10) {
            0..6 => (Some(limit), None),
            6..9 => (Some(limit), Some(offset)),
            // Without LIMIT, MySQL and SQLite do not take OFFSET; the error is compared.
            _ => (Some(1000), Some(offset)),
        }
    }
}
