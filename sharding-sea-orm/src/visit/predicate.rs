use sea_orm::sea_query::{BinOper, ColumnName, ColumnRef, Expr, Keyword, UnOper};
use sea_orm::{DbBackend, Value};
use sharding_core::key::{Comparison, KeyKind, KeyValue, Predicate, compare_text};

use crate::value::{AsKey, as_key};

/// The sharding key that conditions are read for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyReader<'a> {
    /// The name by which the statement calls the table: its alias, if it has one.
    pub(crate) table: &'a str,
    pub(crate) column: &'a str,
    pub(crate) kind: KeyKind,
    /// Whether a column without a table means this one: not if another table could be meant.
    pub(crate) bare: bool,
    /// Whether the database compares the key's values exactly: not under most collations.
    pub(crate) exact: bool,
    /// Whether the database orders text by its bytes.
    pub(crate) by_bytes: bool,
    pub(crate) backend: DbBackend,
}

impl KeyReader<'_> {
    /// What a condition says about the key. What is not understood widens, never narrows.
    pub(crate) fn read<'v>(&self, condition: &'v Expr) -> Predicate<'v> {
        match condition {
            Expr::Binary(_, BinOper::And, _) => Predicate::And(self.chain(condition, BinOper::And)),
            Expr::Binary(_, BinOper::Or, _) => Predicate::Or(self.chain(condition, BinOper::Or)),
            Expr::Unary(UnOper::Not, inner) => not(self.read(inner)),
            Expr::Binary(left, operator, right) => self.comparison(left, *operator, right),
            Expr::Value(value) | Expr::Constant(value) => match value {
                Value::Bool(outcome) => Predicate::Constant(*outcome),
                _ => Predicate::Unknown,
            },
            Expr::Keyword(Keyword::Null) => Predicate::Constant(None),
            _ => Predicate::Unknown,
        }
    }

    /// The links of `a AND b AND c`, which nests to the left.
    fn chain<'v>(&self, mut condition: &'v Expr, link: BinOper) -> Vec<Predicate<'v>> {
        let mut links = Vec::new();
        while let Expr::Binary(left, operator, right) = condition
            && *operator == link
        {
            links.push(self.read(right));
            condition = left;
        }
        links.push(self.read(condition));
        links
    }

    fn comparison<'v>(&self, left: &'v Expr, operator: BinOper, right: &'v Expr) -> Predicate<'v> {
        match operator {
            BinOper::Equal
            | BinOper::SmallerThan
            | BinOper::SmallerThanOrEqual
            | BinOper::GreaterThan
            | BinOper::GreaterThanOrEqual => self.compare(left, operator, right),
            BinOper::NotEqual => not(self.compare(left, BinOper::Equal, right)),
            BinOper::Between => self.between(left, right),
            BinOper::NotBetween => not(self.between(left, right)),
            BinOper::In => self.in_list(left, right),
            BinOper::NotIn => not(self.in_list(left, right)),
            BinOper::Is => self.is_null(left, right),
            BinOper::IsNot => not(self.is_null(left, right)),
            _ => Predicate::Unknown,
        }
    }

    fn compare<'v>(&self, left: &'v Expr, operator: BinOper, right: &'v Expr) -> Predicate<'v> {
        let comparison = match operator {
            BinOper::SmallerThan => Comparison::Less,
            BinOper::SmallerThanOrEqual => Comparison::LessOrEqual,
            BinOper::GreaterThan => Comparison::Greater,
            BinOper::GreaterThanOrEqual => Comparison::GreaterOrEqual,
            _ => Comparison::Equal,
        };
        if let (Some(left), Some(right)) = (value_of(left), value_of(right)) {
            return constants(comparison, left, right);
        }
        let (comparison, value) = if self.is_key(left) {
            (comparison, value_of(right))
        } else if self.is_key(right) {
            (comparison.mirrored(), value_of(left))
        } else {
            return Predicate::Unknown;
        };
        let Some(value) = value else {
            return Predicate::Unknown;
        };
        match self.as_key(value) {
            AsKey::Null => Predicate::Constant(None),
            AsKey::Value(key) => self.leaf(comparison, key, value),
            AsKey::Foreign | AsKey::NotUtc => Predicate::Unknown,
        }
    }

    fn leaf<'v>(
        &self,
        comparison: Comparison,
        key: KeyValue<'v>,
        value: &'v Value,
    ) -> Predicate<'v> {
        if let Value::String(Some(text)) = value
            && self.kind == KeyKind::Text
            && self.by_bytes
        {
            return compare_text(comparison, text);
        }
        if comparison == Comparison::Equal || self.kind.is_ordered() {
            Predicate::Compare(comparison, key)
        } else {
            Predicate::Unknown
        }
    }

    fn between<'v>(&self, key: &'v Expr, bounds: &'v Expr) -> Predicate<'v> {
        let Expr::Binary(low, BinOper::And, high) = bounds else {
            return Predicate::Unknown;
        };
        Predicate::And(vec![
            self.compare(key, BinOper::GreaterThanOrEqual, low),
            self.compare(key, BinOper::SmallerThanOrEqual, high),
        ])
    }

    fn in_list<'v>(&self, key: &'v Expr, list: &'v Expr) -> Predicate<'v> {
        // An empty list is written as a constant comparison, whatever stands on its left.
        let Expr::Tuple(items) = list else {
            return Predicate::Unknown;
        };
        if items.is_empty() {
            return Predicate::Constant(Some(false));
        }
        let is_key = match key {
            Expr::Tuple(columns) => matches!(columns.as_slice(), [one] if self.is_key(one)),
            key => self.is_key(key),
        };
        if !is_key {
            return Predicate::Unknown;
        }
        let (mut values, mut has_null) = (Vec::with_capacity(items.len()), false);
        for item in items {
            let value = match item {
                Expr::Values(values) => values.first().filter(|_| values.len() == 1),
                Expr::Tuple(parts) => match parts.as_slice() {
                    [one] => value_of(one),
                    _ => None,
                },
                item => value_of(item),
            };
            match value.map(|value| self.as_key(value)) {
                Some(AsKey::Value(value)) => values.push(value),
                Some(AsKey::Null) => has_null = true,
                _ => return Predicate::Unknown,
            }
        }
        Predicate::in_list(values, has_null)
    }

    fn is_null<'v>(&self, left: &Expr, right: &Expr) -> Predicate<'v> {
        match right {
            Expr::Keyword(Keyword::Null) if self.is_key(left) => Predicate::IsNull,
            _ => Predicate::Unknown,
        }
    }

    fn as_key<'v>(&self, value: &'v Value) -> AsKey<'v> {
        match as_key(value, self.kind, self.backend) {
            AsKey::Value(_) if !self.exact => AsKey::Foreign,
            key => key,
        }
    }

    fn is_key(&self, expr: &Expr) -> bool {
        let Expr::Column(ColumnRef::Column(ColumnName(table, column))) = expr else {
            return false;
        };
        let of_table = match table {
            Some(table) => table.1.inner() == self.table,
            None => self.bare,
        };
        of_table && column.inner() == self.column
    }
}

fn not(predicate: Predicate<'_>) -> Predicate<'_> {
    Predicate::Not(Box::new(predicate))
}

fn value_of(expr: &Expr) -> Option<&Value> {
    match expr {
        Expr::Value(value) | Expr::Constant(value) => Some(value),
        Expr::AsEnum(_, inner) => value_of(inner),
        _ => None,
    }
}

/// Two constants, such as the `1 = 2` that stands for an empty list.
fn constants(comparison: Comparison, left: &Value, right: &Value) -> Predicate<'static> {
    let integer = |value| match as_key(value, KeyKind::Integer, DbBackend::Sqlite) {
        AsKey::Value(KeyValue::Int(value)) => Some(value),
        _ => None,
    };
    let (Some(left), Some(right)) = (integer(left), integer(right)) else {
        return Predicate::Unknown;
    };
    Predicate::Constant(Some(match comparison {
        Comparison::Equal => left == right,
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }))
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::ExprTrait;

    use super::*;

    const KEY: KeyReader<'_> = KeyReader {
        table: "t",
        column: "id",
        kind: KeyKind::Integer,
        bare: true,
        exact: true,
        by_bytes: false,
        backend: DbBackend::Postgres,
    };

    fn id() -> Expr {
        Expr::col(("t", "id"))
    }

    fn keys(expr: &Expr) -> String {
        KEY.read(expr).keys().to_string()
    }

    #[test]
    fn either_side_may_hold_the_column() {
        assert_eq!(keys(&Expr::val(5).gt(id())), keys(&id().lt(5)));
        assert_eq!(keys(&Expr::val(5).gte(id())), "(-∞ .. 5]");
        assert_eq!(keys(&Expr::val(5).eq(id())), "5");
        assert_eq!(keys(&Expr::col("id").eq(5)), "5");
    }

    #[test]
    fn lists_and_tuples() {
        assert_eq!(keys(&id().is_in([3, 1, 3])), "1, 3");
        assert_eq!(keys(&Expr::tuple([id()]).in_tuples([1, 2])), "1, 2");
        let pair = Expr::tuple([id(), Expr::col(("t", "x"))]).in_tuples([(1, 2)]);
        assert_eq!(keys(&pair), "any value");
        assert_eq!(keys(&id().is_in([Some(1), None])), "1");
        assert_eq!(keys(&id().is_not_in([Some(1), None])), "no value");
        assert_eq!(keys(&id().is_in(Vec::<i32>::new())), "no value");
        assert_eq!(keys(&id().is_not_in(Vec::<i32>::new())), "any value");
    }

    #[test]
    fn negations_and_ranges() {
        assert_eq!(keys(&id().between(3, 5)), "[3 .. 5]");
        assert_eq!(keys(&id().not_between(3, 5)), "(-∞ .. 3), (5 .. ∞)");
        assert_eq!(keys(&id().ne(3)), "(-∞ .. 3), (3 .. ∞)");
        assert_eq!(keys(&id().is_null()), "NULL");
        assert_eq!(keys(&id().is_not_null()), "any value but NULL");
        assert_eq!(keys(&id().eq(3).or(Expr::val(1).eq(1))), "any value");
        assert_eq!(keys(&id().eq(3).and(Expr::val(1).eq(2))), "no value");
        assert_eq!(keys(&id().eq(Option::<i32>::None)), "no value");
    }

    #[test]
    fn anything_else_widens() {
        let other = Expr::col(("u", "id")).eq(5);
        assert_eq!(keys(&other), "any value");
        assert_eq!(keys(&id().add(1).eq(5)), "any value");
        assert_eq!(keys(&id().eq("5")), "any value");
        assert_eq!(keys(&id().like("5%")), "any value");
        assert_eq!(keys(&id().eq(Expr::col(("t", "x")))), "any value");
        assert_eq!(keys(&Expr::cust("id = 5")), "any value");
        let loose = KeyReader {
            exact: false,
            ..KEY
        };
        assert_eq!(loose.read(&id().eq(5)).keys().to_string(), "any value");
        let text = KeyReader {
            kind: KeyKind::Text,
            ..KEY
        };
        assert_eq!(text.read(&id().lt("a")).keys().to_string(), "any value");
        assert_eq!(text.read(&id().eq("a")).keys().to_string(), "'a'");
        let by_bytes = KeyReader {
            by_bytes: true,
            ..text
        };
        let keys = |expr: &Expr| by_bytes.read(expr).keys().to_string();
        assert_eq!(keys(&id().lt("b")), "(-∞ .. 'b')");
        assert_eq!(keys(&Expr::val("b").lte(id())), "['b' .. ∞)");
        assert_eq!(keys(&id().between("a", "c")), "['a' .. 'c']");
        assert_eq!(keys(&id().eq("b")), "'b'");
    }
}
