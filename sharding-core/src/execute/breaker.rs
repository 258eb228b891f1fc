use std::time::{Duration, Instant};

/// When a data source is left alone, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerRules {
    /// After so many failures in a row. At least 1; the default is 5.
    pub failures: u32,
    /// For so long; the default is a second.
    pub pause: Duration,
}

impl Default for BreakerRules {
    fn default() -> Self {
        Self {
            failures: 5,
            pause: Duration::from_secs(1),
        }
    }
}

/// A circuit breaker (Nygard, Release It!, chapter 5): once a data source has failed several times
/// in a row, statements for it fail at once, until one that is let through succeeds.
#[derive(Clone, Debug)]
pub struct Breaker {
    rules: BreakerRules,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant },
    HalfOpen { caller: u64 },
}

/// What a breaker lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerState {
    /// Everything.
    Closed,
    /// Nothing.
    Open,
    /// One caller, to see what becomes of its statements.
    HalfOpen,
}

/// How a statement was let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// As always.
    Regular,
    /// To see whether the data source is well again: the breaker waits for its outcome.
    Probe,
}

impl Breaker {
    /// A closed breaker.
    pub fn new(rules: BreakerRules) -> Self {
        Self {
            rules,
            state: State::Closed { failures: 0 },
        }
    }

    /// Whether a statement of a caller may pass now. One caller at a time is tried once the pause is
    /// over, with all its statements: they would not be answered without each other.
    ///
    /// # Errors
    /// It may not, for so much longer; zero while another caller is being tried.
    pub fn admit(&mut self, now: Instant, caller: u64) -> Result<Admission, Duration> {
        if let Some(pause) = self.refuses(now, caller) {
            return Err(pause);
        }
        Ok(match self.state {
            State::Closed { .. } => Admission::Regular,
            State::Open { .. } | State::HalfOpen { .. } => {
                self.state = State::HalfOpen { caller };
                Admission::Probe
            }
        })
    }

    /// For how much longer a statement of a caller may not pass; `None` if it may. Nothing is tried
    /// by asking.
    pub fn refuses(&self, now: Instant, caller: u64) -> Option<Duration> {
        match self.state {
            State::Open { until } if until > now => Some(until - now),
            State::HalfOpen { caller: tried } if tried != caller => Some(Duration::ZERO),
            _ => None,
        }
    }

    /// A statement that was let through has been answered. One that began before the breaker opened
    /// changes nothing.
    pub fn succeeded(&mut self, admission: Admission) {
        match (self.state, admission) {
            (State::Closed { .. }, _) | (State::HalfOpen { .. }, Admission::Probe) => {
                self.state = State::Closed { failures: 0 };
            }
            _ => {}
        }
    }

    /// The data source has failed on a statement that was let through.
    pub fn failed(&mut self, admission: Admission, now: Instant) {
        let open = State::Open {
            until: now + self.rules.pause,
        };
        match (self.state, admission) {
            (State::Closed { failures }, _) => {
                let failures = failures + 1;
                self.state = if failures >= self.rules.failures.max(1) {
                    open
                } else {
                    State::Closed { failures }
                };
            }
            (State::HalfOpen { .. }, Admission::Probe) => self.state = open,
            _ => {}
        }
    }

    /// A statement that was let through was given up before anything was known.
    pub fn abandoned(&mut self, admission: Admission, now: Instant) {
        if let (State::HalfOpen { .. }, Admission::Probe) = (self.state, admission) {
            self.state = State::Open { until: now };
        }
    }

    /// What is let through at this time.
    pub fn state(&self, now: Instant) -> BreakerState {
        match self.state {
            State::Closed { .. } => BreakerState::Closed,
            State::Open { until } if until > now => BreakerState::Open,
            State::Open { .. } | State::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    /// Whether it is closed and nothing has failed since the last success.
    pub fn is_calm(&self) -> bool {
        matches!(self.state, State::Closed { failures: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_millis(100);

    fn breaker() -> Breaker {
        Breaker::new(BreakerRules {
            failures: 3,
            pause: PAUSE,
        })
    }

    #[test]
    fn opens_after_failures_in_a_row() {
        let (mut breaker, now) = (breaker(), Instant::now());
        for _ in 0..2 {
            breaker.failed(Admission::Regular, now);
        }
        breaker.succeeded(Admission::Regular);
        assert!(breaker.is_calm());
        for _ in 0..3 {
            assert_eq!(breaker.admit(now, 1), Ok(Admission::Regular));
            breaker.failed(Admission::Regular, now);
        }
        assert_eq!(breaker.state(now), BreakerState::Open);
        assert_eq!(breaker.admit(now + PAUSE / 2, 1), Err(PAUSE / 2));
    }

    fn opened(now: Instant) -> Breaker {
        let mut breaker = breaker();
        for _ in 0..3 {
            breaker.failed(Admission::Regular, now);
        }
        breaker
    }

    #[test]
    fn one_caller_is_tried_and_closes_it() {
        let now = Instant::now();
        let (mut breaker, later) = (opened(now), now + PAUSE);
        assert_eq!(breaker.state(later), BreakerState::HalfOpen);
        assert_eq!(breaker.refuses(now, 1), Some(PAUSE));
        for caller in 1..3 {
            assert_eq!(breaker.refuses(later, caller), None);
        }
        assert_eq!(breaker.admit(later, 1), Ok(Admission::Probe));
        assert_eq!(breaker.refuses(later, 1), None);
        assert_eq!(breaker.refuses(later, 2), Some(Duration::ZERO));
        // Its other statements may pass as well, but nobody else's.
        assert_eq!(breaker.admit(later, 1), Ok(Admission::Probe));
        assert_eq!(breaker.admit(later, 2), Err(Duration::ZERO));
        // One from before says nothing of how the source is now.
        breaker.succeeded(Admission::Regular);
        assert_eq!(breaker.admit(later, 2), Err(Duration::ZERO));
        breaker.succeeded(Admission::Probe);
        assert_eq!(breaker.state(later), BreakerState::Closed);
        assert_eq!(breaker.admit(later, 1), Ok(Admission::Regular));
    }

    #[test]
    fn one_that_fails_opens_it_again() {
        let now = Instant::now();
        let (mut breaker, later) = (opened(now), now + PAUSE);
        breaker.admit(later, 1).unwrap();
        breaker.failed(Admission::Regular, later);
        assert_eq!(breaker.state(later), BreakerState::HalfOpen);
        breaker.failed(Admission::Probe, later);
        assert_eq!(breaker.admit(later + PAUSE / 2, 1), Err(PAUSE / 2));
    }

    #[test]
    fn one_that_is_given_up_lets_another_be_tried() {
        let now = Instant::now();
        let (mut breaker, later) = (opened(now), now + PAUSE);
        breaker.admit(later, 1).unwrap();
        breaker.abandoned(Admission::Probe, later);
        assert_eq!(breaker.admit(later, 1), Ok(Admission::Probe));
    }
}
