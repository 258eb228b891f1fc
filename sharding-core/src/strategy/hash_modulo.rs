use std::io::Cursor;

use bigdecimal::BigDecimal;
use chrono::{DateTime, Utc};

use super::{Misplaced, Partitions, Strategy, numbered};
use crate::key::{Interval, KeyKind, KeySet, KeyValue};

/// Any key by the remainder of its hash: partition = `hash(key) mod shards`, with [`hash`].
///
/// Equality and `IN` reach exactly the partitions of their values; any other predicate reaches
/// every partition.
///
/// Partitions are named `0`, `1`, …; changing their count moves nearly all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashModulo {
    shards: u32,
}

impl HashModulo {
    /// Over `shards` partitions: 1 to 65,536, checked when the topology is built.
    pub const fn new(shards: u32) -> Self {
        Self { shards }
    }

    fn remainder(self, key: &KeyValue<'_>) -> u32 {
        hash(key) % self.shards
    }
}

impl Strategy for HashModulo {
    fn describe(&self) -> String {
        format!("hash modulo {}", self.shards)
    }

    fn accepts(&self, _kind: KeyKind) -> bool {
        true
    }

    fn partitions(&self, _now: DateTime<Utc>) -> Result<Vec<String>, String> {
        numbered(self.shards)
    }

    fn place(&self, value: &KeyValue<'_>) -> Result<u32, Misplaced> {
        Ok(self.remainder(value))
    }

    fn route(&self, keys: &KeySet<'_>) -> Partitions {
        let place = |interval: &Interval<'_>| interval.as_point().map(|key| self.remainder(key));
        let points: Option<Partitions> = keys.intervals().iter().map(place).collect();
        points.unwrap_or_else(Partitions::all)
    }
}

/// MurmurHash3 (32-bit, x86, seed 0) over the bytes of a key in its normal form:
///
/// | key | bytes |
/// |---|---|
/// | integer, boolean, decimal without fraction | the value as 8 bytes, little-endian two's complement (also unsigned values); 16 bytes if it needs more |
/// | decimal with fraction | its shortest plain spelling in ASCII: `-0.5`, `12.25` |
/// | text | UTF-8, trailing spaces removed |
/// | bytes | as they are, trailing zeros removed |
/// | UUID | 16 bytes, most significant first |
/// | date | days since 1970-01-01, as an integer |
/// | timestamp with or without time zone | microseconds since 1970-01-01 00:00 (UTC), rounded down, as an integer |
///
/// For 64-bit integers this is what Guava's `murmur3_32().hashLong` gives.
pub fn hash(key: &KeyValue<'_>) -> u32 {
    match key {
        KeyValue::Int(value) => hash_integer(*value),
        KeyValue::Decimal(value) => hash_bytes(plain(value).as_bytes()),
        KeyValue::Text(text) => hash_bytes(text.as_bytes()),
        KeyValue::Bytes(bytes) => hash_bytes(bytes),
        KeyValue::Uuid(bytes) => hash_bytes(bytes),
        KeyValue::Date(date) => hash_integer(i128::from(date.to_epoch_days())),
        KeyValue::DateTime(time) => hash_integer(i128::from(time.and_utc().timestamp_micros())),
        KeyValue::Instant(time) => hash_integer(i128::from(time.timestamp_micros())),
    }
}

fn hash_integer(value: i128) -> u32 {
    if let Ok(signed) = i64::try_from(value) {
        hash_bytes(&signed.to_le_bytes())
    } else if let Ok(unsigned) = u64::try_from(value) {
        hash_bytes(&unsigned.to_le_bytes())
    } else {
        hash_bytes(&value.to_le_bytes())
    }
}

fn hash_bytes(bytes: &[u8]) -> u32 {
    murmur3::murmur3_32(&mut Cursor::new(bytes), 0)
        .unwrap_or_else(|_| unreachable!("reading from memory does not fail"))
}

fn plain(value: &BigDecimal) -> String {
    value.to_plain_string()
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::*;
    use crate::key::{Comparison, Predicate};

    /// Computed with an independent implementation (`mmh3` for Python, unsigned).
    #[test]
    fn vectors() {
        let date = NaiveDate::from_ymd_opt(2013, 1, 31).unwrap();
        let time = date.and_hms_micro_opt(10, 0, 0, 5).unwrap();
        let vectors = [
            (KeyValue::Int(0), 1_669_671_676),
            (KeyValue::Int(1), 1_392_991_556),
            (KeyValue::Int(-1), 1_651_860_712),
            (KeyValue::Int(i128::from(u64::MAX) - 1), 2_856_891_269),
            (KeyValue::decimal(&"-0.50".parse().unwrap()), 2_789_769_750),
            (KeyValue::text("N14228 "), 734_630_004),
            (KeyValue::text("žluťoučký"), 2_029_575_976),
            (KeyValue::text(""), 0),
            (KeyValue::bytes(vec![0xca, 0xfe, 0]), 2_020_765_323),
            (KeyValue::Date(date), 134_316_603),
            (KeyValue::DateTime(time), 1_633_191_217),
            (KeyValue::Instant(time.and_utc()), 1_633_191_217),
        ];
        for (key, expected) in vectors {
            assert_eq!(hash(&key), expected, "{key}");
        }
    }

    #[test]
    fn only_equality_narrows() {
        let hash_modulo = HashModulo::new(16);
        let keys = [3, 5].map(KeyValue::Int);
        let places = keys.clone().map(|key| hash_modulo.place(&key).unwrap());
        let list = Predicate::in_list(keys.to_vec(), true).keys();
        assert_eq!(hash_modulo.route(&list), places.into_iter().collect());
        let range = Predicate::Compare(Comparison::Less, KeyValue::Int(3)).keys();
        assert_eq!(hash_modulo.route(&range), Partitions::all());
    }
}
