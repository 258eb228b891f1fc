use chrono::{DateTime, Utc};

use super::{Extent, Flaw, Misplaced, Strategy, count_flaw, hash};
use crate::key::{KeyKind, KeyValue};

/// Any key by the remainder of its hash: partition = `hash(key) mod shards`, with [`hash`].
///
/// Equality and `IN` reach exactly the partitions of their values; any other predicate reaches
/// every partition. Several columns may be hashed together.
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
}

impl Strategy for HashModulo {
    fn describe(&self) -> String {
        format!("hash modulo {}", self.shards)
    }

    fn accepts(&self, _kind: KeyKind) -> bool {
        true
    }

    fn accepts_tuple(&self, _kinds: &[KeyKind]) -> bool {
        true
    }

    fn flaws(&self) -> Vec<Flaw> {
        count_flaw("shards", self.shards).into_iter().collect()
    }

    fn extent(&self, _now: DateTime<Utc>) -> Extent {
        Extent::fixed(self.shards)
    }

    fn place(&self, key: &KeyValue<'_>) -> Result<u32, Misplaced> {
        Ok(hash(key) % self.shards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Comparison, Predicate};
    use crate::strategy::Partitions;

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
