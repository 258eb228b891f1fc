//! What is known of a column's values by its type and its catalog.

use sea_orm::sea_query::StringLen;
use sea_orm::{ColumnType, DbBackend};
use sharding_core::plan::{Proof, TextOrder};

use crate::catalog::Known;
use crate::entity::is_integer;

/// Whether sums of a column of this type can be added exactly as the database would.
pub(super) fn adds(column_type: &ColumnType, backend: DbBackend) -> Proof {
    match column_type {
        // PostgreSQL rounds each partial sum of `real` to six digits.
        ColumnType::Float if backend == DbBackend::Postgres => {
            Proof::Unproven("is of the type `real`".into())
        }
        ColumnType::Boolean => Proof::Proven(TextOrder::NoText),
        number if is_number(number) => Proof::Proven(TextOrder::NoText),
        other => Proof::Unproven(format!("is of the type {other:?}")),
    }
}

/// Whether the order of a column of this type is known exactly.
pub(super) fn orders(
    column: &str,
    column_type: &ColumnType,
    known: &Known,
    backend: DbBackend,
) -> Proof {
    match column_type {
        // MySQL sorts long values by their first `max_sort_length` bytes, 1024 by default.
        _ if backend == DbBackend::MySql && is_long(column_type) => {
            Proof::Unproven("may be longer than the database sorts by".into())
        }
        // Whatever the declared type, SQLite compares by what is stored.
        _ if backend == DbBackend::Sqlite => known.text_order(column),
        ColumnType::String(_) | ColumnType::Text => known.text_order(column),
        ColumnType::Enum { .. } | ColumnType::Custom(_) if known.is_enum(column) => {
            known.text_order(column)
        }
        ColumnType::Boolean
        | ColumnType::Date
        | ColumnType::DateTime
        | ColumnType::Timestamp
        | ColumnType::TimestampWithTimeZone
        | ColumnType::Uuid
        | ColumnType::Binary(_)
        | ColumnType::VarBinary(_)
        | ColumnType::Blob => Proof::Proven(TextOrder::NoText),
        ColumnType::Time if backend == DbBackend::Postgres => Proof::Proven(TextOrder::NoText),
        number if is_number(number) => Proof::Proven(TextOrder::NoText),
        _ => Proof::Unproven(format!("is of the type {column_type:?}")),
    }
}

pub(super) fn is_number(column_type: &ColumnType) -> bool {
    is_integer(column_type)
        || matches!(
            column_type,
            ColumnType::Decimal(_) | ColumnType::Float | ColumnType::Double
        )
}

fn is_long(column_type: &ColumnType) -> bool {
    let longer = |length: &StringLen, most: u32| match length {
        StringLen::N(length) => *length > most,
        StringLen::Max => true,
        StringLen::None => false,
    };
    match column_type {
        ColumnType::Text | ColumnType::Blob => true,
        ColumnType::String(length) => longer(length, 255),
        ColumnType::VarBinary(length) => longer(length, 1024),
        _ => false,
    }
}
