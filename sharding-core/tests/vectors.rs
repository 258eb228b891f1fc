//! Hashes of integers against an independent implementation of MurmurHash3.

use sharding_core::key::KeyValue;
use sharding_core::strategy::hash;

/// The file holds ids and the hash of their eight bytes, little-endian.
#[test]
fn hashes_of_integers() {
    let mut lines = include_str!("murmur3_snowflake.csv").lines();
    assert_eq!(
        lines
            .next()
            .map(|header| header.starts_with("id,murmur3_32,")),
        Some(true)
    );
    let mut checked = 0;
    for line in lines {
        let mut fields = line.split(',');
        let mut number = || fields.next().and_then(|field| field.parse::<i128>().ok());
        let (Some(id), Some(expected)) = (number(), number()) else {
            panic!("{line}")
        };
        assert_eq!(i128::from(hash(&KeyValue::Int(id))), expected, "{id}");
        checked += 1;
    }
    assert_eq!(checked, 120);
}
