//! How an entity says where its rows go.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use sea_orm::sea_query::ValueType;
use sea_orm::{ColumnTrait, ColumnType, DbBackend, EntityTrait, IdenStatic, Iterable};
use sharding_core::key::KeyKind;
use sharding_core::strategy::Strategy;
use sharding_core::topology::{RuleDraft, TableDraft, TableName};

use crate::tables::Definition;

/// An entity whose rows are spread over several tables or databases; derived with
/// [`Sharded`](crate::Sharded).
pub trait ShardedEntity: EntityTrait {
    /// The rules that place the entity's rows.
    fn sharding() -> EntityRules<Self>;
}

/// The rules of an entity: for the tail, for the data source, or for both.
///
/// The derive macro writes these calls; write them by hand for an entity that it does not fit.
pub struct EntityRules<E> {
    source: Option<RuleDraft>,
    source_names: Option<Vec<Cow<'static, str>>>,
    table: Option<RuleDraft>,
    separator: Cow<'static, str>,
    entity: PhantomData<fn() -> E>,
}

impl<E: EntityTrait> EntityRules<E> {
    /// No rules yet; the separator is `_`.
    pub fn new() -> Self {
        Self {
            source: None,
            source_names: None,
            table: None,
            separator: Cow::Borrowed("_"),
            entity: PhantomData,
        }
    }

    /// The rule that chooses the tail.
    #[must_use]
    pub fn table(mut self, rule: KeyRule<E::Column>) -> Self {
        self.table = Some(rule.draft());
        self
    }

    /// The rule that chooses the data source.
    #[must_use]
    pub fn source(mut self, rule: KeyRule<E::Column>) -> Self {
        self.source = Some(rule.draft());
        self
    }

    /// The data source of each partition of the source rule: all sources, in the order in which
    /// they were added, unless named here.
    #[must_use]
    pub fn source_names<N: Into<Cow<'static, str>>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        self.source_names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// What stands between the logical name and the tail: letters, digits, `_`, or nothing.
    #[must_use]
    pub fn separator(mut self, separator: impl Into<Cow<'static, str>>) -> Self {
        self.separator = separator.into();
        self
    }

    pub(crate) fn draft(self) -> TableDraft {
        TableDraft {
            name: table_name::<E>(),
            separator: self.separator,
            source: self.source,
            source_names: self.source_names,
            table: self.table,
        }
    }
}

impl<E: EntityTrait> Default for EntityRules<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for EntityRules<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntityRules")
            .field("source", &self.source)
            .field("source_names", &self.source_names)
            .field("table", &self.table)
            .field("separator", &self.separator)
            .finish_non_exhaustive()
    }
}

/// A key column and the strategy that places rows by it.
#[derive(Debug)]
pub struct KeyRule<C> {
    column: C,
    kind: Result<KeyKind, String>,
    strategy: Arc<dyn Strategy>,
}

impl<C: ColumnTrait> KeyRule<C> {
    fn draft(self) -> RuleDraft {
        let column = Cow::Borrowed(self.column.as_str());
        RuleDraft {
            column,
            kind: self.kind,
            strategy: self.strategy,
        }
    }
}

/// A rule for a column whose field has the type `T`, so that a strategy which cannot place such a
/// field does not compile.
///
/// The kind of the key follows from the field, not from the column: it is the field's values that
/// statements carry.
pub fn rule<T: ValueType, C>(column: C, strategy: impl Places<T>) -> KeyRule<C> {
    KeyRule {
        column,
        kind: key_kind(&T::column_type()),
        strategy: Arc::new(strategy),
    }
}

/// A strategy that can place rows by a field of the type `T`.
///
/// For a type of your own that holds an integer, a date or a timestamp, implement it on the
/// strategy: `impl Places<MyId> for Modulo {}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot place rows by a key of type `{T}`",
    label = "not a strategy for a `{T}` key",
    note = "strategies: `Modulo` for integer fields, `HashModulo` for any field, `Monthly` for \
            dates and timestamps"
)]
pub trait Places<T>: Strategy {}

mod places {
    use sea_orm::Value;
    use sea_orm::prelude::{
        Date, DateTime, DateTimeUtc, DateTimeWithTimeZone, TimeDate, TimeDateTime,
        TimeDateTimeWithTimeZone,
    };
    use sharding_core::strategy::{HashModulo, Modulo, Monthly};

    use super::Places;

    macro_rules! places {
        ($strategy:ident: $($key:ty),+ $(,)?) => {
            $(
                impl Places<$key> for $strategy {}
                impl Places<Option<$key>> for $strategy {}
            )+
        };
    }

    places!(Modulo: i8, i16, i32, i64, u8, u16, u32, u64);
    places!(
        Monthly: Date, DateTime, DateTimeUtc, DateTimeWithTimeZone, TimeDate, TimeDateTime,
        TimeDateTimeWithTimeZone,
    );

    impl<T: Into<Value>> Places<T> for HashModulo {}
}

/// What a sharded entity's table looks like, without its type.
#[derive(Clone, Debug)]
pub(crate) struct EntityTable {
    pub(crate) columns: Vec<EntityColumn>,
    /// The column that the database would number, if the primary key is one.
    pub(crate) generated: Option<&'static str>,
    /// The columns of the primary key and of every unique key.
    pub(crate) unique_keys: Vec<Vec<String>>,
    pub(crate) definition: fn(DbBackend) -> Definition,
}

#[derive(Clone, Debug)]
pub(crate) struct EntityColumn {
    pub(crate) name: &'static str,
    pub(crate) column_type: ColumnType,
}

impl EntityTable {
    pub(crate) fn of<E: EntityTrait>() -> Self {
        use sea_orm::{PrimaryKeyToColumn, PrimaryKeyTrait};

        let primary: Vec<_> = E::PrimaryKey::iter()
            .map(|key| key.into_column().as_str())
            .collect();
        let generated = match primary.as_slice() {
            [one] if E::PrimaryKey::auto_increment() => Some(*one),
            _ => None,
        };
        let mut unique_keys = Definition::of::<E>(DbBackend::Sqlite).unique_keys();
        unique_keys.push(primary.iter().map(ToString::to_string).collect());
        Self {
            columns: E::Column::iter()
                .map(|column| EntityColumn {
                    name: column.as_str(),
                    column_type: column.def().get_column_type().clone(),
                })
                .collect(),
            generated,
            unique_keys,
            definition: Definition::of::<E>,
        }
    }

    pub(crate) fn column(&self, name: &str) -> Option<&EntityColumn> {
        self.columns.iter().find(|column| column.name == name)
    }
}

pub(crate) fn table_name<E: EntityTrait>() -> TableName {
    let entity = E::default();
    TableName {
        schema: entity
            .schema_name()
            .map(|schema| Cow::Owned(schema.to_owned())),
        table: Cow::Borrowed(entity.table_name()),
    }
}

fn key_kind(column_type: &ColumnType) -> Result<KeyKind, String> {
    Ok(match column_type {
        ColumnType::Boolean => KeyKind::Integer,
        integer if is_integer(integer) => KeyKind::Integer,
        ColumnType::Decimal(_) => KeyKind::Decimal,
        ColumnType::Char(_)
        | ColumnType::String(_)
        | ColumnType::Text
        | ColumnType::Enum { .. } => KeyKind::Text,
        ColumnType::Binary(_) | ColumnType::VarBinary(_) | ColumnType::Blob => KeyKind::Bytes,
        ColumnType::Uuid => KeyKind::Uuid,
        ColumnType::Date => KeyKind::Date,
        ColumnType::DateTime => KeyKind::DateTime,
        ColumnType::Timestamp | ColumnType::TimestampWithTimeZone => KeyKind::Instant,
        other => return Err(format!("of the type {other:?}")),
    })
}

pub(crate) fn is_integer(column_type: &ColumnType) -> bool {
    matches!(
        column_type,
        ColumnType::TinyInteger
            | ColumnType::SmallInteger
            | ColumnType::Integer
            | ColumnType::BigInteger
            | ColumnType::TinyUnsigned
            | ColumnType::SmallUnsigned
            | ColumnType::Unsigned
            | ColumnType::BigUnsigned
    )
}
