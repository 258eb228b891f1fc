//! How an entity says where its rows go.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use sea_orm::sea_query::{SchemaName, TableName as SqlName, TableRef, ValueType};
use sea_orm::{
    ColumnTrait, ColumnType, DbBackend, EntityTrait, IdenStatic, Identity, Iterable, RelationTrait,
};
use sharding_core::error::Mistake;
use sharding_core::key::KeyKind;
use sharding_core::strategy::Strategy;
use sharding_core::topology::{
    ColumnDraft, ColumnKind, KeyDraft, RuleDraft, TableDraft, TableName, TailsDraft,
};

use crate::tables::Definition;

/// An entity whose rows are spread over several tables or databases; derived with
/// [`Sharded`](crate::Sharded).
pub trait ShardedEntity: EntityTrait {
    /// The rules that place the entity's rows.
    fn sharding() -> EntityRules<Self>;
}

/// The rules of an entity: for the tail, for the data source, for both, or for the node.
///
/// The derive macro writes these calls; write them by hand for an entity that it does not fit.
pub struct EntityRules<E> {
    draft: TableDraft,
    entity: PhantomData<fn() -> E>,
}

impl<E: EntityTrait> EntityRules<E> {
    /// No rules yet; the separator is `_`.
    pub fn new() -> Self {
        Self {
            draft: TableDraft::new(table_name::<E>()),
            entity: PhantomData,
        }
    }

    /// The rule that chooses the tail.
    #[must_use]
    pub fn table(mut self, rule: KeyRule<E::Column>) -> Self {
        self.draft.table = Some(rule.draft());
        self
    }

    /// The rule that chooses the data source.
    #[must_use]
    pub fn source(mut self, rule: KeyRule<E::Column>) -> Self {
        self.draft.source = Some(rule.draft());
        self
    }

    /// The rule that chooses data source and table together. The names of its strategy's
    /// partitions are `source.table`, with the whole physical name.
    #[must_use]
    pub fn node(mut self, rule: KeyRule<E::Column>) -> Self {
        self.draft.node = Some(rule.draft());
        self
    }

    /// The data source of each partition of the source rule. Unless given, it is the source with
    /// the partition's name if there is one for every partition, else all sources, in the order in
    /// which they were added.
    #[must_use]
    pub fn source_names<N: Into<Cow<'static, str>>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        self.draft.source_names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// The tails of one data source, if not every source has every tail: names, and runs of them
    /// such as `0..3` (both included), `4..` or `..3`. Without a source rule each tail must be in
    /// exactly one source, which is then the tail's.
    #[must_use]
    pub fn tails<T: Into<Cow<'static, str>>>(
        mut self,
        source: impl Into<Cow<'static, str>>,
        tails: impl IntoIterator<Item = T>,
    ) -> Self {
        self.draft.tails.get_or_insert_default().push(TailsDraft {
            source: source.into(),
            tails: tails.into_iter().map(Into::into).collect(),
        });
        self
    }

    /// What stands between the logical name and the tail: letters, digits, `_`, or nothing.
    #[must_use]
    pub fn separator(mut self, separator: impl Into<Cow<'static, str>>) -> Self {
        self.draft.separator = separator.into();
        self
    }

    pub(crate) fn draft(self) -> TableDraft {
        self.draft
    }
}

impl<E: EntityTrait> Default for EntityRules<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for EntityRules<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EntityRules").field(&self.draft).finish()
    }
}

/// A key of one column or several, and the strategy that places rows by it.
#[derive(Debug)]
pub struct KeyRule<C> {
    draft: RuleDraft,
    column: PhantomData<fn() -> C>,
}

impl<C: ColumnTrait> KeyRule<C> {
    /// A rule for a column whose field's type is not known: the column's type says what it holds,
    /// and whether the strategy can place that is checked while connecting.
    pub fn of(column: C, strategy: impl Strategy) -> Self {
        let kind = column_kind(column.def().get_column_type());
        Self::new(vec![column_draft(column, kind)], strategy)
    }

    fn new(columns: Vec<ColumnDraft>, strategy: impl Strategy) -> Self {
        let strategy: Arc<dyn Strategy> = Arc::new(strategy);
        Self {
            draft: RuleDraft::new(KeyDraft { columns, strategy }),
            column: PhantomData,
        }
    }

    /// Adds a secondary key: another key that chooses the same partitions, so that it narrows
    /// routes, too. Every row must agree: a row whose secondary key chooses another partition than
    /// its key is refused. It may be NULL.
    #[must_use]
    pub fn also(mut self, secondary: Self) -> Self {
        self.draft.secondary.push(secondary.draft.key);
        self.draft.secondary.extend(secondary.draft.secondary);
        self
    }

    fn draft(self) -> RuleDraft {
        self.draft
    }
}

/// A column of a composite key.
#[derive(Debug)]
pub struct KeyPart<C> {
    draft: ColumnDraft,
    column: PhantomData<fn() -> C>,
}

/// A rule for a column whose field has the type `T`, so that a strategy which cannot place such a
/// field does not compile.
///
/// The kind of the key follows from the field, not from the column: it is the field's values that
/// statements carry.
pub fn rule<T: ValueType, C: ColumnTrait>(column: C, strategy: impl Places<T>) -> KeyRule<C> {
    KeyRule::new(vec![part::<T, C>(column).draft], strategy)
}

/// A column of a composite key, whose field has the type `T`.
pub fn part<T: ValueType, C: ColumnTrait>(column: C) -> KeyPart<C> {
    KeyPart {
        draft: column_draft(column, column_kind(&T::column_type())),
        column: PhantomData,
    }
}

/// A rule for several columns together, whose fields have the types of the tuple `T`.
pub fn composite<T, C: ColumnTrait>(
    columns: impl IntoIterator<Item = KeyPart<C>>,
    strategy: impl PlacesTogether<T>,
) -> KeyRule<C> {
    let columns = columns.into_iter().map(|part| part.draft).collect();
    KeyRule::new(columns, strategy)
}

fn column_draft(column: impl ColumnTrait, kind: ColumnKind) -> ColumnDraft {
    ColumnDraft {
        name: Cow::Borrowed(column.as_str()),
        kind,
    }
}

/// A strategy that can place rows by a field of the type `T`.
///
/// For a type of your own that holds an integer, a date or a timestamp, implement it on the
/// strategy: `impl Places<MyId> for Modulo {}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot place rows by a key of type `{T}`",
    label = "not a strategy for a `{T}` key",
    note = "strategies: `Modulo`, `SnowflakeHash` and `SnowflakeTime` for integer fields, calendars \
            such as `Monthly` for dates, timestamps and integers, `Embedded` for text, \
            `HashModulo`, `HashBuckets`, `Ranges` and `Lists` for any field"
)]
pub trait Places<T>: Strategy {}

/// A strategy that can place rows by several fields together, whose types are those of the tuple
/// `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot place rows by a key of several fields",
    label = "not a strategy for a `{T}` key",
    note = "strategies for two to six fields: `HashModulo`, `HashBuckets`"
)]
pub trait PlacesTogether<T>: Strategy {}

mod places {
    use sea_orm::Value;
    use sea_orm::prelude::{
        Date, DateTime, DateTimeUtc, DateTimeWithTimeZone, TimeDate, TimeDateTime,
        TimeDateTimeWithTimeZone,
    };
    use sharding_core::strategy::{
        Calendar, Embedded, HashBuckets, HashModulo, Lists, Modulo, Ranges, Slot, SnowflakeHash,
        SnowflakeTime, Strategy,
    };

    use super::{Places, PlacesTogether};

    /// Implements the trait for a field and for one that may be NULL.
    macro_rules! places {
        (<$($generic:ident: $bound:ident)?> $strategy:ty: $key:ty) => {
            impl $(<$generic: $bound>)? Places<$key> for $strategy {}
            impl $(<$generic: $bound>)? Places<Option<$key>> for $strategy {}
        };
    }

    macro_rules! integers {
        ($($key:ty)+) => { $(places!(<> Modulo: $key);)+ };
    }

    macro_rules! times {
        ($($key:ty)+) => { $(places!(<S: Slot> Calendar<S>: $key);)+ };
    }

    macro_rules! ids {
        ($($key:ty)+) => {
            $(
                places!(<> SnowflakeHash: $key);
                places!(<S: Slot> SnowflakeTime<S>: $key);
            )+
        };
    }

    integers!(i8 i16 i32 i64 u8 u16 u32 u64);
    times!(Date DateTime DateTimeUtc DateTimeWithTimeZone);
    times!(TimeDate TimeDateTime TimeDateTimeWithTimeZone);
    times!(i32 i64 u32 u64);
    ids!(i64 u64);
    places!(<S: Strategy> Embedded<S>: String);

    impl<T: Into<Value>> Places<T> for HashModulo {}
    impl<T: Into<Value>> Places<T> for HashBuckets {}
    impl<T: Into<Value>> Places<T> for Ranges {}
    impl<T: Into<Value>> Places<T> for Lists {}

    macro_rules! places_together {
        ($($part:ident)+) => {
            impl<$($part: Into<Value>),+> PlacesTogether<($($part,)+)> for HashModulo {}
            impl<$($part: Into<Value>),+> PlacesTogether<($($part,)+)> for HashBuckets {}
        };
    }

    places_together!(A B);
    places_together!(A B C);
    places_together!(A B C D);
    places_together!(A B C D E);
    places_together!(A B C D E F);
}

/// What a sharded entity's table looks like, without its type.
#[derive(Clone, Debug)]
pub(crate) struct EntityTable {
    pub(crate) columns: Vec<EntityColumn>,
    /// The column that the database would number, if the primary key is one.
    pub(crate) generated: Option<&'static str>,
    /// The columns of the primary key and of every unique key.
    pub(crate) unique_keys: Vec<Vec<String>>,
    /// The relations in which the entity holds a foreign key of one column.
    pub(crate) relations: Vec<EntityRelation>,
    pub(crate) definition: fn(DbBackend) -> Definition,
}

/// A foreign key of one column.
#[derive(Clone, Debug)]
pub(crate) struct EntityRelation {
    pub(crate) from: String,
    pub(crate) target: TableName,
    pub(crate) to: String,
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
            relations: relations::<E>(),
            definition: Definition::of::<E>,
        }
    }

    /// What a column holds as a key.
    #[cfg(feature = "config")]
    pub(crate) fn kind(&self, name: &str) -> ColumnKind {
        self.column(name).map_or(ColumnKind::Unknown, |column| {
            column_kind(&column.column_type)
        })
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

fn relations<E: EntityTrait>() -> Vec<EntityRelation> {
    let held = E::Relation::iter()
        .map(|relation| relation.def())
        .filter(|relation| !relation.is_owner);
    let simple = held.filter_map(|relation| {
        let (Identity::Unary(from), Identity::Unary(to)) = (&relation.from_col, &relation.to_col)
        else {
            return None;
        };
        let TableRef::Table(SqlName(schema, table), _) = &relation.to_tbl else {
            return None;
        };
        let schema = schema.as_ref().map(|SchemaName(_, schema)| schema.inner());
        Some(EntityRelation {
            from: from.to_string(),
            target: TableName {
                schema,
                table: table.inner(),
            },
            to: to.to_string(),
        })
    });
    simple.collect()
}

/// Checks what the draft of a table says against the entity and the database system.
pub(crate) fn check_draft(
    draft: &mut TableDraft,
    entity: &EntityTable,
    backend: Option<DbBackend>,
    mistakes: &mut Vec<Mistake>,
) {
    let table = draft.name.to_string();
    let keys = draft.rules_mut().flat_map(RuleDraft::keys_mut);
    for column in keys.flat_map(|key| &mut key.columns) {
        // SQLite keeps decimals as floating point numbers, so different keys could become equal.
        if backend == Some(DbBackend::Sqlite) && column.kind == ColumnKind::Key(KeyKind::Decimal) {
            let why = "a decimal, which SQLite keeps as a floating point number";
            column.kind = ColumnKind::Unusable(why.to_owned());
        }
        if entity.generated == Some(&*column.name) {
            mistakes.push(Mistake::GeneratedKey {
                table: table.clone(),
                column: column.name.to_string(),
            });
        }
    }
}

/// A tuple of entities.
pub trait EntityGroup {
    /// The names of their tables.
    fn names() -> Vec<TableName>;
}

macro_rules! entity_group {
    ($($entity:ident)+) => {
        impl<$($entity: EntityTrait),+> EntityGroup for ($($entity,)+) {
            fn names() -> Vec<TableName> {
                vec![$(table_name::<$entity>()),+]
            }
        }
    };
}

entity_group!(A B);
entity_group!(A B C);
entity_group!(A B C D);
entity_group!(A B C D E);
entity_group!(A B C D E F);

/// What a column of this type holds as a key.
pub(crate) fn column_kind(column_type: &ColumnType) -> ColumnKind {
    ColumnKind::Key(match column_type {
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
        other => return ColumnKind::Unusable(format!("of the type {other:?}")),
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
