//! What someone may have meant.

/// The word among those that differs from this one by a slip or two, or by its end.
pub(super) fn nearest<'w>(word: &str, among: &[&'w str]) -> Option<&'w str> {
    let word = word.to_ascii_lowercase().replace('-', "_");
    // Beyond that the words have nothing to do with each other.
    let most = (word.chars().count() / 3).clamp(1, 3);
    let is_part = |other: &&str| {
        let goes_on = |longer: &str, shorter: &str, most| {
            let rest = longer.strip_prefix(shorter);
            shorter.len() >= 3 && rest.is_some_and(|rest| rest.len() <= most)
        };
        goes_on(other, &word, usize::MAX) || goes_on(&word, other, 3)
    };
    if let Some(other) = among.iter().copied().find(is_part) {
        return Some(other);
    }
    let distances = among.iter().map(|other| (distance(&word, other), *other));
    let (distance, other) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= most).then_some(other)
}

/// The words, each in backticks.
pub(super) fn listed(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

/// How many characters have to be inserted, removed, changed or swapped with the next.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut older: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(older[j - 2] + 1);
            }
            row.push(least);
        }
        older = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found() {
        let words = ["shards", "strategy", "buckets", "through"];
        assert_eq!(nearest("shard", &words), Some("shards"));
        assert_eq!(nearest("Stragety", &words), Some("strategy"));
        assert_eq!(nearest("thruogh", &words), Some("through"));
        assert_eq!(nearest("bucketing", &words), Some("buckets"));
        assert_eq!(nearest("modulo", &["mod"]), Some("mod"));
        assert_eq!(
            nearest("hash", &["lists", "hash_modulo"]),
            Some("hash_modulo")
        );
        assert_eq!(nearest("x", &words), None);
        assert_eq!(nearest("shards_of_table", &words), None);
        assert_eq!(nearest("x", &[]), None);
    }
}
