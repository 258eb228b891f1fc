//! Answers that can be compared value by value and shown in a few words.

use chrono::{DateTime, Utc};
use sea_orm::prelude::Decimal;
use sea_orm::{
    ColIdx, EntityTrait, Iterable, JsonValue, ModelTrait, QueryResult, TryGetError, TryGetable,
    Value,
};

use crate::entity::{airline, flight, flight_whole, plane};

/// What a question gets for an answer.
pub(crate) trait Answer {
    /// Adds all of its values, with their types.
    fn values(&self, into: &mut Vec<Value>);

    /// Says it in a few words.
    fn brief(&self) -> String;
}

/// A sum or an average, whose type differs between databases.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number(Value);

impl TryGetable for Number {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        // Decimals come last, since SQLite would make one from a floating point number.
        fn get<T: TryGetable + Into<Value>>(
            row: &QueryResult,
            index: impl ColIdx,
        ) -> Result<Number, TryGetError> {
            T::try_get_by(row, index).map(|value| Number(value.into()))
        }
        match get::<i64>(row, index) {
            Err(TryGetError::DbErr(_)) => {}
            known => return known,
        }
        match get::<f64>(row, index) {
            Err(TryGetError::DbErr(_)) => {}
            known => return known,
        }
        get::<Decimal>(row, index)
    }
}

impl Answer for Number {
    fn values(&self, into: &mut Vec<Value>) {
        // Decimals are equal whatever zeros they end with, but their texts are not.
        into.extend([self.0.clone(), self.brief().into()]);
    }

    fn brief(&self) -> String {
        match &self.0 {
            Value::BigInt(Some(number)) => number.to_string(),
            Value::Double(Some(number)) => number.to_string(),
            Value::Decimal(Some(number)) => number.to_string(),
            other => format!("{other:?}"),
        }
    }
}

macro_rules! plain {
    ($($plain:ty),+) => {
        $(
            impl Answer for $plain {
                fn values(&self, into: &mut Vec<Value>) {
                    into.push(self.clone().into());
                }

                fn brief(&self) -> String {
                    self.to_string()
                }
            }
        )+
    };
}

plain!(bool, i32, i64, u64, String, DateTime<Utc>, JsonValue);

macro_rules! brief_flight {
    ($row:ident) => {
        format!(
            "#{} {} {} {}–{} {} {}",
            $row.id,
            $row.carrier,
            $row.number,
            $row.origin,
            $row.dest,
            $row.time_hour.format("%d %b %H:%M"),
            $row.dep_delay
                .map_or("cancelled".to_owned(), |delay| format!("{delay:+} min")),
        )
    };
}
macro_rules! models {
    ($($model:ty: $row:ident => $brief:expr;)+) => {
        $(
            impl Answer for $model {
                fn values(&self, into: &mut Vec<Value>) {
                    into.extend(columns(self));
                }

                fn brief(&self) -> String {
                    let $row = self;
                    $brief
                }
            }
        )+
    };
}

models! {
    flight::Model: row => brief_flight!(row);
    flight_whole::Model: row => brief_flight!(row);
    airline::Model: row => row.name.clone();
    plane::Model: row => format!("{} {}", row.manufacturer, row.model);
}

fn columns<M: ModelTrait>(row: &M) -> impl Iterator<Item = Value> {
    <M::Entity as EntityTrait>::Column::iter().map(|column| row.get(column))
}

impl<A: Answer> Answer for Option<A> {
    fn values(&self, into: &mut Vec<Value>) {
        into.push(self.is_some().into());
        if let Some(answer) = self {
            answer.values(into);
        }
    }

    fn brief(&self) -> String {
        self.as_ref().map_or("none".to_owned(), Answer::brief)
    }
}

impl<A: Answer> Answer for Vec<A> {
    fn values(&self, into: &mut Vec<Value>) {
        into.push((self.len() as u64).into());
        for answer in self {
            answer.values(into);
        }
    }

    fn brief(&self) -> String {
        const SHOWN: usize = 2;
        let shown: Vec<_> = self.iter().take(SHOWN).map(Answer::brief).collect();
        let more = if self.len() > SHOWN { "; …" } else { "" };
        format!("{} rows: {}{more}", self.len(), shown.join("; "))
    }
}

macro_rules! tuples {
    ($($($name:ident)+;)+) => {
        $(
            impl<$($name: Answer),+> Answer for ($($name,)+) {
                #[allow(non_snake_case, reason = "the names are those of the types")]
                fn values(&self, into: &mut Vec<Value>) {
                    let ($($name,)+) = self;
                    $($name.values(into);)+
                }

                #[allow(non_snake_case, reason = "the names are those of the types")]
                fn brief(&self) -> String {
                    let ($($name,)+) = self;
                    [$($name.brief()),+].join(" | ")
                }
            }
        )+
    };
}

tuples! {
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}
