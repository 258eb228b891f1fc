use super::Flaw;

/// A division of the 65,536 values of a 16-bit hash: by explicit ranges, or by remainder.
///
/// Ranges are written as "less than", each from where the one before it ends, and the last is
/// MAXVALUE, so there can be neither gap nor overlap once they ascend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashSplit<T>(Split<T>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Split<T> {
    Ranges(Vec<(u32, T)>),
    Modulo(Vec<T>),
}

/// The count of values of a 16-bit hash.
const VALUES: u32 = 65_536;

impl<T> HashSplit<T> {
    /// Ranges, none yet. The last must be [`HashSplit::max_value`].
    pub fn ranges() -> Self {
        Self(Split::Ranges(Vec::new()))
    }

    /// The hashes from the last bound up to this one, which is excluded: 1 to 65,536.
    #[must_use]
    pub fn less_than(mut self, hash: u32, owner: T) -> Self {
        if let Split::Ranges(ranges) = &mut self.0 {
            ranges.push((hash, owner));
        }
        self
    }

    /// All hashes from the last bound on.
    #[must_use]
    pub fn max_value(self, owner: T) -> Self {
        self.less_than(VALUES, owner)
    }

    /// By remainder: hash `h` belongs to owner `h mod n` of the `n` owners.
    pub fn modulo(owners: impl IntoIterator<Item = T>) -> Self {
        Self(Split::Modulo(owners.into_iter().collect()))
    }

    /// Everything to one owner.
    pub fn whole(owner: T) -> Self {
        Self::ranges().max_value(owner)
    }

    /// The same split between other owners.
    pub fn map<U>(self, owner: impl FnMut(T) -> U) -> HashSplit<U> {
        let mut owner = owner;
        HashSplit(match self.0 {
            Split::Ranges(ranges) => {
                let ranges = ranges.into_iter().map(|(end, old)| (end, owner(old)));
                Split::Ranges(ranges.collect())
            }
            Split::Modulo(owners) => Split::Modulo(owners.into_iter().map(owner).collect()),
        })
    }

    /// The owner of a hash. A split without flaws has one for every hash.
    pub fn owner(&self, hash: u16) -> Option<&T> {
        let hash = u32::from(hash);
        match &self.0 {
            Split::Ranges(ranges) => {
                let at = ranges.partition_point(|(end, _)| *end <= hash);
                ranges.get(at).map(|(_, owner)| owner)
            }
            Split::Modulo(owners) => {
                let count = u32::try_from(owners.len()).ok()?;
                owners.get(hash.checked_rem(count)? as usize)
            }
        }
    }

    /// The owners of the hashes from `first` to `last`, in order; some may repeat.
    pub fn owners_between(&self, first: u16, last: u16) -> impl Iterator<Item = &T> {
        let (first, last) = (u32::from(first), u32::from(last));
        let wide = last.wrapping_sub(first).wrapping_add(1);
        self.owners().enumerate().filter_map(move |(at, owner)| {
            let touched = match &self.0 {
                Split::Ranges(ranges) => {
                    let start = at.checked_sub(1).map_or(0, |before| ranges[before].0);
                    first <= last && start <= last && first < ranges[at].0
                }
                Split::Modulo(owners) => {
                    let count = owners.len() as u32;
                    // The first hash of this remainder that is not before the span.
                    let ahead = (at as u32 + count - first % count) % count;
                    first <= last && ahead < wide
                }
            };
            touched.then_some(owner)
        })
    }

    /// All owners, in order; some may repeat.
    pub fn owners(&self) -> impl Iterator<Item = &T> {
        let (ranges, modulo) = match &self.0 {
            Split::Ranges(ranges) => (Some(ranges), None),
            Split::Modulo(owners) => (None, Some(owners)),
        };
        let ranges = ranges.into_iter().flatten().map(|(_, owner)| owner);
        ranges.chain(modulo.into_iter().flatten())
    }

    /// Where an owner is, in a split of this name.
    pub(super) fn place(&self, at: &str, owner: usize) -> String {
        match &self.0 {
            Split::Ranges(_) => format!("{at}[{owner}]"),
            Split::Modulo(_) => format!("{at}.mod[{owner}]"),
        }
    }

    /// The mistakes in the split itself, in a list of this name.
    pub(super) fn flaws(&self, at: &str) -> Vec<Flaw> {
        let mut flaws = Vec::new();
        match &self.0 {
            Split::Modulo(owners) if owners.is_empty() || owners.len() > VALUES as usize => {
                let why = format!("has {} owners; 1 to {VALUES} are possible", owners.len());
                flaws.push(Flaw::new(format!("{at}.mod"), why));
            }
            Split::Modulo(_) => {}
            Split::Ranges(ranges) => {
                let mut start = 0;
                for (index, (end, _)) in ranges.iter().enumerate() {
                    if *end <= start {
                        let why = format!(
                            "range 0..{end} overlaps the one before it, which ends with {start}"
                        );
                        flaws.push(Flaw::new(format!("{at}[{index}]"), why));
                    }
                    start = start.max(*end);
                }
                if start != VALUES {
                    let why = match ranges.len() {
                        0 => "is empty; the whole is one range with MAXVALUE".to_owned(),
                        _ if start > VALUES => format!("ends with {start}, beyond {VALUES}"),
                        _ => format!("leaves {start}..{VALUES} without owner; end with MAXVALUE"),
                    };
                    flaws.push(Flaw::new(at, why));
                }
            }
        }
        flaws
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves() -> HashSplit<char> {
        HashSplit::ranges().less_than(0x8000, 'a').max_value('b')
    }

    #[test]
    fn owners_of_hashes() {
        let owner = |split: &HashSplit<char>, hash| *split.owner(hash).unwrap();
        assert_eq!(
            [0, 0x7fff, 0x8000, 0xffff].map(|h| owner(&halves(), h)),
            ['a', 'a', 'b', 'b']
        );
        let modulo = HashSplit::modulo(['a', 'b', 'c']);
        assert_eq!(
            [0, 1, 2, 3, 65_535].map(|h| owner(&modulo, h)),
            ['a', 'b', 'c', 'a', 'a']
        );
    }

    /// Against asking for each hash.
    #[test]
    fn owners_of_spans() {
        let ranges = HashSplit::ranges()
            .less_than(3, 'a')
            .less_than(7, 'b')
            .max_value('c');
        let modulo = HashSplit::modulo(['a', 'b', 'c', 'd', 'e']);
        for split in [ranges, modulo] {
            for first in 0..12 {
                for last in 0..12 {
                    let mut expected: Vec<_> =
                        (first..=last).map(|h| *split.owner(h).unwrap()).collect();
                    expected.sort_unstable();
                    expected.dedup();
                    let owners: Vec<_> = split.owners_between(first, last).copied().collect();
                    assert_eq!(owners, expected, "{first} to {last}");
                }
            }
            assert_eq!(
                split.owners_between(0, u16::MAX).count(),
                split.owners().count()
            );
        }
    }

    #[test]
    fn gaps_and_overlaps_are_named() {
        let texts = |split: HashSplit<char>| {
            let text = |flaw: Flaw| format!("{}: {}", flaw.at, flaw.why);
            split
                .flaws("tables")
                .into_iter()
                .map(text)
                .collect::<Vec<_>>()
        };
        assert_eq!(texts(halves()), [""; 0]);
        assert_eq!(
            texts(
                HashSplit::ranges()
                    .less_than(0x8000, 'a')
                    .less_than(0x8000, 'b')
            ),
            [
                "tables[1]: range 0..32768 overlaps the one before it, which ends with 32768",
                "tables: leaves 32768..65536 without owner; end with MAXVALUE",
            ]
        );
        assert!(texts(HashSplit::ranges())[0].contains("is empty"));
        assert!(texts(HashSplit::modulo([]))[0].contains("0 owners"));
        assert!(texts(halves().less_than(70_000, 'c'))[0].contains("beyond"));
    }
}
