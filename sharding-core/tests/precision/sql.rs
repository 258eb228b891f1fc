//! Conditions as text, so that tables of them can be read.

use std::iter::Peekable;
use std::vec::IntoIter;

use bigdecimal::BigDecimal;
use chrono::{DateTime, NaiveDate, NaiveDateTime};
use sharding_core::key::{Comparison, KeyKind, KeySet, KeyValue, Predicate, compare_text};
use sharding_core::topology::KeyColumn;

/// The keys of rows for which the condition may be true. What is about another column is unknown,
/// and so is the order of text, but for a column `ascii`, which is ordered by its bytes.
pub(crate) fn keys(condition: &str, column: &KeyColumn) -> KeySet<'static> {
    let mut parser = Parser {
        tokens: tokens(condition).into_iter().peekable(),
        column,
    };
    let predicate = parser.any();
    assert_eq!(parser.tokens.next(), None, "{condition}");
    predicate.keys()
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A name, a keyword or a number.
    Word(String),
    Quoted(String),
    Sign(String),
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let of = |is_part: fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let length = match first {
            '\'' => {
                let end = rest[1..].find('\'').unwrap_or_else(|| panic!("{text}"));
                tokens.push(Token::Quoted(rest[1..=end].to_owned()));
                end + 2
            }
            '<' | '>' | '=' => of(|c| matches!(c, '<' | '>' | '=')),
            '(' | ')' | ',' => 1,
            _ => of(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')),
        };
        assert!(length > 0, "{text}");
        let token = rest[..length].to_owned();
        match first {
            '\'' => {}
            '<' | '>' | '=' | '(' | ')' | ',' => tokens.push(Token::Sign(token)),
            _ => tokens.push(Token::Word(token)),
        }
        rest = rest[length..].trim_start();
    }
    tokens
}

struct Parser<'a> {
    tokens: Peekable<IntoIter<Token>>,
    column: &'a KeyColumn,
}

/// One side of a comparison: `None` is NULL.
enum Side {
    Key,
    Other,
    Value(Option<KeyValue<'static>>),
}

impl Parser<'_> {
    fn any(&mut self) -> Predicate<'static> {
        let mut parts = vec![self.all()];
        while self.word("OR") {
            parts.push(self.all());
        }
        single(parts, Predicate::Or)
    }

    fn all(&mut self) -> Predicate<'static> {
        let mut parts = vec![self.one()];
        while self.word("AND") {
            parts.push(self.one());
        }
        single(parts, Predicate::And)
    }

    fn one(&mut self) -> Predicate<'static> {
        if self.word("NOT") {
            return not(self.one());
        }
        if self.sign("(") {
            let inner = self.any();
            assert!(self.sign(")"), "a parenthesis is open");
            return inner;
        }
        for (word, outcome) in [("TRUE", Some(true)), ("FALSE", Some(false))] {
            if self.word(word) {
                return Predicate::Constant(outcome);
            }
        }
        let left = self.side();
        self.rest(left)
    }

    fn rest(&mut self, left: Side) -> Predicate<'static> {
        if self.word("IS") {
            let is_negated = self.word("NOT");
            assert!(self.word("NULL"), "IS without NULL");
            let leaf = match left {
                Side::Key => Predicate::IsNull,
                Side::Other => Predicate::Unknown,
                Side::Value(value) => Predicate::Constant(Some(value.is_none())),
            };
            return if is_negated { not(leaf) } else { leaf };
        }
        let is_negated = self.word("NOT");
        let leaf = if self.word("IN") {
            let list = self.list();
            self.in_list(&left, list)
        } else if self.word("BETWEEN") {
            let low = self.value();
            assert!(self.word("AND"), "BETWEEN without AND");
            let high = self.value();
            Predicate::And(vec![
                self.leaf(&left, Comparison::GreaterOrEqual, low),
                self.leaf(&left, Comparison::LessOrEqual, high),
            ])
        } else {
            self.comparison(left)
        };
        if is_negated { not(leaf) } else { leaf }
    }

    fn comparison(&mut self, left: Side) -> Predicate<'static> {
        let Some(Token::Sign(sign)) = self.tokens.next() else {
            // What stands alone is a truth value, and the only one left is NULL.
            assert!(matches!(left, Side::Value(None)));
            return Predicate::Constant(None);
        };
        let (comparison, is_negated) = match sign.as_str() {
            "=" => (Comparison::Equal, false),
            "<>" => (Comparison::Equal, true),
            "<" => (Comparison::Less, false),
            "<=" => (Comparison::LessOrEqual, false),
            ">" => (Comparison::Greater, false),
            ">=" => (Comparison::GreaterOrEqual, false),
            _ => panic!("{sign} is no comparison"),
        };
        let leaf = match (left, self.side()) {
            (Side::Value(value), right) => self.leaf(&right, comparison.mirrored(), value),
            (left, Side::Value(value)) => self.leaf(&left, comparison, value),
            _ => Predicate::Unknown,
        };
        if is_negated { not(leaf) } else { leaf }
    }

    fn leaf(
        &self,
        side: &Side,
        comparison: Comparison,
        value: Option<KeyValue<'static>>,
    ) -> Predicate<'static> {
        let narrows = comparison == Comparison::Equal || self.column.kind().is_ordered();
        match (side, value) {
            (_, None) => Predicate::Constant(None),
            (Side::Key, Some(KeyValue::Text(text))) if self.column.name() == "ascii" => {
                compare_text(comparison, text.into_owned().leak())
            }
            (Side::Key, Some(value)) if narrows => Predicate::Compare(comparison, value),
            _ => Predicate::Unknown,
        }
    }

    fn in_list(&self, side: &Side, list: Vec<Option<KeyValue<'static>>>) -> Predicate<'static> {
        let has_null = list.iter().any(Option::is_none);
        match side {
            _ if list.is_empty() => Predicate::Constant(Some(false)),
            Side::Key => Predicate::in_list(list.into_iter().flatten().collect(), has_null),
            _ => Predicate::Unknown,
        }
    }

    fn list(&mut self) -> Vec<Option<KeyValue<'static>>> {
        assert!(self.sign("("), "a list without parentheses");
        let mut values = Vec::new();
        while !self.sign(")") {
            values.push(self.value());
            self.sign(",");
        }
        values
    }

    fn value(&mut self) -> Option<KeyValue<'static>> {
        match self.side() {
            Side::Value(value) => value,
            Side::Key | Side::Other => panic!("a column where a value should be"),
        }
    }

    fn side(&mut self) -> Side {
        match self.tokens.next() {
            Some(Token::Quoted(text)) => Side::Value(Some(self.literal(&text))),
            Some(Token::Word(word)) if word == "NULL" => Side::Value(None),
            Some(Token::Word(word)) if word == self.column.name() => Side::Key,
            Some(Token::Word(word)) => match word.parse::<BigDecimal>() {
                Ok(number) => Side::Value(Some(KeyValue::decimal(&number))),
                Err(_) => Side::Other,
            },
            token => panic!("{token:?} is neither column nor value"),
        }
    }

    /// A literal by what it looks like: a date is a timestamp too.
    fn literal(&self, text: &str) -> KeyValue<'static> {
        let kind = self.column.kind();
        if let (Ok(time), KeyKind::Instant) = (text.parse::<DateTime<chrono::FixedOffset>>(), kind)
        {
            return KeyValue::Instant(time.to_utc());
        }
        if let (Ok(date), KeyKind::Date | KeyKind::DateTime) = (text.parse::<NaiveDate>(), kind) {
            return match kind {
                KeyKind::Date => KeyValue::Date(date),
                _ => KeyValue::DateTime(date.into()),
            };
        }
        match text.replacen(' ', "T", 1).parse::<NaiveDateTime>() {
            Ok(time) if kind == KeyKind::DateTime => KeyValue::DateTime(time),
            _ => KeyValue::text(text.to_owned()),
        }
    }

    fn word(&mut self, word: &str) -> bool {
        let is_next = |token: &Token| matches!(token, Token::Word(own) if own == word);
        self.tokens.next_if(is_next).is_some()
    }

    fn sign(&mut self, sign: &str) -> bool {
        let is_next = |token: &Token| matches!(token, Token::Sign(own) if own == sign);
        self.tokens.next_if(is_next).is_some()
    }
}

fn single(
    mut parts: Vec<Predicate<'static>>,
    link: fn(Vec<Predicate<'static>>) -> Predicate<'static>,
) -> Predicate<'static> {
    match (parts.len(), parts.pop()) {
        (1, Some(one)) => one,
        (_, last) => link(parts.into_iter().chain(last).collect()),
    }
}

fn not(predicate: Predicate<'static>) -> Predicate<'static> {
    Predicate::Not(Box::new(predicate))
}
