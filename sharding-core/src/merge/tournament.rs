use std::hint::select_unpredictable;

use super::{MergeError, Order};

/// A k-way merge of sorted inputs: a loser tree over the heads of the inputs (Knuth, The Art of
/// Computer Programming, volume 3, section 5.4.1).
///
/// Equal heads win in the order of their inputs, so a merge is stable. Taking the winner and
/// putting the next head of its input in place costs ⌈log₂ k⌉ comparisons and no allocation.
///
/// ```text
///           winner
///             │
///        losers[1]            inner nodes keep the loser of the match below them
///        ╱        ╲
///   losers[2]   losers[3]
///    ╱    ╲      ╱    ╲
///   0      1    2      3      inputs; an exhausted one loses to all
/// ```
#[derive(Debug)]
pub struct Tournament<H, O> {
    heads: Vec<Option<H>>,
    /// The first one stays unused.
    losers: Vec<Player>,
    winner: Player,
    order: O,
}

/// An input, with the abbreviation of its head.
#[derive(Clone, Copy, Debug, Default)]
struct Player {
    abbreviation: u64,
    input: usize,
}

impl Player {
    fn either(condition: bool, a: Self, b: Self) -> Self {
        Self {
            abbreviation: select_unpredictable(condition, a.abbreviation, b.abbreviation),
            input: select_unpredictable(condition, a.input, b.input),
        }
    }
}

impl<H, O: Order<H>> Tournament<H, O> {
    /// Over the first head of each input; `None` for an empty input.
    pub fn new(heads: Vec<Option<H>>, order: O) -> Self {
        let losers = vec![Player::default(); heads.len()];
        let mut tree = Self {
            heads,
            losers,
            winner: Player::default(),
            order,
        };
        if !tree.heads.is_empty() {
            tree.winner = tree.play(1);
        }
        tree
    }

    /// The input whose head comes next; `None` if all are exhausted.
    pub fn winner(&self) -> Option<usize> {
        let input = self.winner.input;
        self.heads.get(input)?.is_some().then_some(input)
    }

    /// Takes the winner's head and puts the next head of its input in place.
    ///
    /// # Errors
    /// If the next head comes before the one that is taken: the input is not sorted as the merge
    /// is, so the merge would not be either.
    ///
    /// # Panics
    /// If there is no winner.
    pub fn replace(&mut self, next: Option<H>) -> Result<H, MergeError> {
        let Player {
            abbreviation: before,
            input,
        } = self.winner;
        let head = std::mem::replace(&mut self.heads[input], next);
        let head = head.unwrap_or_else(|| panic!("a tournament without a winner has no head"));
        let mut champion = self.player(input);
        if champion.abbreviation <= before
            && let Some(next) = &self.heads[input]
            && (champion.abbreviation < before || self.order.compare(next, &head).is_lt())
        {
            return Err(MergeError::OutOfOrder);
        }
        let mut at = (input + self.heads.len()) / 2;
        while at > 0 {
            let rival = self.losers[at];
            // Who wins is as random as the rows, so no branch depends on it.
            let rival_wins = self.beats(rival, champion);
            self.losers[at] = Player::either(rival_wins, champion, rival);
            champion = Player::either(rival_wins, rival, champion);
            at /= 2;
        }
        self.winner = champion;
        Ok(head)
    }

    /// Plays all matches below an inner node and returns their winner. Leaves are numbered from
    /// the count of inputs on, as in a binary heap, so any count of inputs fits.
    fn play(&mut self, at: usize) -> Player {
        if at >= self.heads.len() {
            return self.player(at - self.heads.len());
        }
        let (left, right) = (self.play(2 * at), self.play(2 * at + 1));
        let (winner, loser) = match self.beats(right, left) {
            true => (right, left),
            false => (left, right),
        };
        self.losers[at] = loser;
        winner
    }

    fn player(&self, input: usize) -> Player {
        let head = self.heads[input].as_ref();
        Player {
            abbreviation: head.map_or(u64::MAX, |head| self.order.abbreviate(head)),
            input,
        }
    }

    fn beats(&self, a: Player, b: Player) -> bool {
        match a.abbreviation == b.abbreviation {
            true => self.beats_in_full(a.input, b.input),
            false => a.abbreviation < b.abbreviation,
        }
    }

    #[cold]
    fn beats_in_full(&self, a: usize, b: usize) -> bool {
        match (&self.heads[a], &self.heads[b]) {
            (Some(x), Some(y)) => self.order.compare(x, y).then(a.cmp(&b)).is_lt(),
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => a < b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(inputs: &[Vec<u32>]) -> Vec<(u32, usize)> {
        let mut inputs: Vec<_> = inputs.iter().map(|input| input.iter().copied()).collect();
        let heads = inputs.iter_mut().map(Iterator::next).collect();
        let mut tournament = Tournament::new(heads, u32::cmp);
        let mut merged = Vec::new();
        while let Some(input) = tournament.winner() {
            let next = inputs[input].next();
            merged.push((tournament.replace(next).unwrap(), input));
        }
        merged
    }

    #[test]
    fn an_input_that_is_not_sorted_is_an_error() {
        let mut tournament = Tournament::new(vec![Some(2), Some(3)], u32::cmp);
        assert_eq!(tournament.replace(Some(1)), Err(MergeError::OutOfOrder));
    }

    /// The oracle is the standard library's stable sort.
    #[test]
    fn merges_like_a_stable_sort() {
        let mut seed = 7_u64;
        let mut random = move |below: u64| {
            // Constants of Knuth's MMIX generator.
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for inputs in 0..20 {
            for _ in 0..20 {
                let inputs: Vec<Vec<u32>> = (0..inputs)
                    .map(|_| {
                        let mut input: Vec<_> = (0..random(9)).map(|_| random(12) as u32).collect();
                        input.sort_unstable();
                        input
                    })
                    .collect();
                let mut expected: Vec<(u32, usize)> = inputs
                    .iter()
                    .enumerate()
                    .flat_map(|(at, input)| input.iter().map(move |value| (*value, at)))
                    .collect();
                expected.sort_by_key(|(value, _)| *value);
                assert_eq!(merge(&inputs), expected, "{inputs:?}");
            }
        }
    }
}
