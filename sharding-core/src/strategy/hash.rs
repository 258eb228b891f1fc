use std::io::Cursor;

use bigdecimal::BigDecimal;

use crate::key::KeyValue;

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
/// | tuple | for each part the count of its bytes as 4 bytes, little-endian, and its bytes |
///
/// For 64-bit integers this is what Guava's `murmur3_32().hashLong` gives.
pub fn hash(key: &KeyValue<'_>) -> u32 {
    match key {
        KeyValue::Text(text) => hash_bytes(text.as_bytes()),
        KeyValue::Bytes(bytes) => hash_bytes(bytes),
        KeyValue::Uuid(bytes) => hash_bytes(bytes),
        KeyValue::Int(value) => hash_integer(*value),
        other => {
            let mut bytes = Vec::new();
            write(other, &mut bytes);
            hash_bytes(&bytes)
        }
    }
}

fn write(key: &KeyValue<'_>, bytes: &mut Vec<u8>) {
    match key {
        KeyValue::Int(value) => write_integer(*value, bytes),
        KeyValue::Decimal(value) => bytes.extend(plain(value).as_bytes()),
        KeyValue::Text(text) => bytes.extend(text.as_bytes()),
        KeyValue::Bytes(own) => bytes.extend(&**own),
        KeyValue::Uuid(own) => bytes.extend(own),
        KeyValue::Date(date) => write_integer(i128::from(date.to_epoch_days()), bytes),
        KeyValue::DateTime(time) => {
            write_integer(i128::from(time.and_utc().timestamp_micros()), bytes);
        }
        KeyValue::Instant(time) => write_integer(i128::from(time.timestamp_micros()), bytes),
        KeyValue::Tuple(parts) => {
            for part in parts {
                let at = bytes.len();
                bytes.extend([0; 4]);
                write(part, bytes);
                // No key is anywhere near as long as this would have to be to wrap.
                let length = (bytes.len() - at - 4) as u32;
                bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
            }
        }
    }
}

fn hash_integer(value: i128) -> u32 {
    match i64::try_from(value) {
        Ok(value) => hash_bytes(&value.to_le_bytes()),
        Err(_) => {
            let mut bytes = Vec::new();
            write_integer(value, &mut bytes);
            hash_bytes(&bytes)
        }
    }
}

fn write_integer(value: i128, bytes: &mut Vec<u8>) {
    if let Ok(signed) = i64::try_from(value) {
        bytes.extend(signed.to_le_bytes());
    } else if let Ok(unsigned) = u64::try_from(value) {
        bytes.extend(unsigned.to_le_bytes());
    } else {
        bytes.extend(value.to_le_bytes());
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
            (tuple([KeyValue::Int(7), KeyValue::text("UA")]), TUPLE_7_UA),
            (
                tuple([KeyValue::text("ab"), KeyValue::text("c")]),
                TUPLE_AB_C,
            ),
            (
                tuple([KeyValue::text("a"), KeyValue::text("bc")]),
                TUPLE_A_BC,
            ),
        ];
        for (key, expected) in vectors {
            assert_eq!(hash(&key), expected, "{key}");
        }
    }

    const TUPLE_7_UA: u32 = 2_652_869_015;
    const TUPLE_AB_C: u32 = 1_206_584_791;
    const TUPLE_A_BC: u32 = 1_143_632_225;

    fn tuple<const N: usize>(parts: [KeyValue<'static>; N]) -> KeyValue<'static> {
        KeyValue::Tuple(parts.into())
    }
}
