//! A run: worlds, statements, and what came of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::args::{Args, Bless};
use super::databases::Databases;
use super::generate;
use super::judge::{Difference, DifferenceKind, Verdict, expect, judge};
use super::random::Random;
use super::ratchet::{self, Refused};
use super::replay::Replay;
use super::shrink::shrink;
use super::statement::promise::is_determined;
use super::world::{World, WorldSpec};

/// What came of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// How many statements were compared, each on one sharding.
    pub compared: u64,
    /// Those that neither side answers, by what the oracle says.
    pub failing: BTreeMap<String, u64>,
    /// Those of which the oracle's error tells nothing.
    pub unclear: u64,
    /// The refusals, by kind.
    pub refused: BTreeMap<Refused, u64>,
    /// Refusals that the ratchet does not allow, with a statement for each.
    pub not_allowed: BTreeMap<String, String>,
    /// How many statements differ.
    pub differ: u64,
    /// The differences that are told, each of another kind as far as that can be seen.
    pub differences: Vec<String>,
    /// Worlds that could not be made.
    pub broken: Vec<String>,
    /// How long it took.
    pub took: Duration,
    /// How many worlds were made, and how long that took in all jobs together.
    pub worlds: (u64, Duration),
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_good(&self) -> bool {
        self.differ == 0 && self.not_allowed.is_empty() && self.broken.is_empty()
    }

    fn refusals(&self) -> u64 {
        self.refused.values().sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for text in &self.broken {
            writeln!(f, "a world could not be made: {text}")?;
        }
        for (number, text) in self.differences.iter().enumerate() {
            writeln!(f, "difference {}: {text}\n", number + 1)?;
        }
        for (refused, statement) in &self.not_allowed {
            writeln!(f, "not allowed to be refused: {refused}\n  {statement}")?;
        }
        let mut failing: Vec<_> = self.failing.iter().collect();
        failing.sort_by_key(|(_, count)| Reverse(**count));
        for (error, count) in failing.into_iter().take(8) {
            writeln!(f, "{count:>7} failed on both sides: {error}")?;
        }
        let mut refused: Vec<_> = self.refused.iter().collect();
        refused.sort_by_key(|(_, count)| Reverse(**count));
        for (refused, count) in refused {
            writeln!(f, "{count:>7} {refused}")?;
        }
        let failing: u64 = self.failing.values().sum();
        let percent = |count: u64| 100.0 * count as f64 / self.compared.max(1) as f64;
        writeln!(
            f,
            "{} failed on both sides ({:.1} %), {} unclear, {:.0} statements a second, {} worlds \
             made within {:.1} s",
            failing,
            percent(failing),
            self.unclear,
            self.compared as f64 / self.took.as_secs_f64().max(1e-3),
            self.worlds.0,
            self.worlds.1.as_secs_f64(),
        )?;
        write!(
            f,
            "{} statements compared, {} differ, {} refused ({:.1} %)",
            self.compared,
            self.differ,
            self.refusals(),
            percent(self.refusals()),
        )
    }
}

struct Shared {
    args: Args,
    databases: Databases,
    next_world: AtomicU64,
    compared: AtomicU64,
    differ: AtomicUsize,
    alike: Mutex<BTreeMap<String, u32>>,
    report: Mutex<Report>,
}

impl Shared {
    fn is_done(&self) -> bool {
        self.compared.load(Ordering::Relaxed) >= self.args.queries
            || self.differ.load(Ordering::Relaxed) >= self.args.most_differences
    }
}

/// Runs what the arguments ask for.
///
/// # Panics
/// If databases cannot be made.
pub async fn run(args: &Args) -> Report {
    let begin = Instant::now();
    let shared = Arc::new(Shared {
        databases: Databases::new(args.backend).await,
        args: args.clone(),
        next_world: AtomicU64::new(0),
        compared: AtomicU64::new(0),
        differ: AtomicUsize::new(0),
        alike: Mutex::default(),
        report: Mutex::default(),
    });
    let workers: Vec<_> = (0..args.jobs)
        .map(|_| {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                while !shared.is_done() {
                    let world = shared.next_world.fetch_add(1, Ordering::Relaxed);
                    self::world(&shared, world).await;
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let shared = Arc::into_inner(shared).unwrap();
    shared.databases.end().await;
    let mut report = shared.report.into_inner().unwrap();
    report.took = begin.elapsed();
    let allowed = ratchet::allowed(args.backend);
    report
        .not_allowed
        .retain(|refused, _| args.bless == Bless::No && !allowed.contains(refused));
    report
}

/// The specification of a world of a run.
pub fn world_spec(args: &Args, number: u64) -> WorldSpec {
    let mut random = Random::new(args.seed, number);
    WorldSpec::random(&mut random, args.backend, &args.shards, &args.sources)
}

fn statement_seed(args: &Args, world: u64) -> u64 {
    args.seed.wrapping_mul(1_000_003).wrapping_add(world)
}

async fn world(shared: &Shared, number: u64) {
    let args = &shared.args;
    let spec = world_spec(args, number);
    let begin = Instant::now();
    let world = match World::build(spec.clone(), &shared.databases).await {
        Ok(world) => world,
        Err(error) => {
            let text = format!("world {number}: {error}");
            let mut report = shared.report.lock().unwrap();
            report.broken.push(text);
            shared.differ.fetch_add(1, Ordering::Relaxed);
            return;
        }
    };
    {
        let mut report = shared.report.lock().unwrap();
        report.worlds.0 += 1;
        report.worlds.1 += begin.elapsed();
    }
    for statement in 0..args.per_world {
        if shared.is_done() {
            break;
        }
        let case = generate::case(&spec, args.backend, statement_seed(args, number), statement);
        if !is_determined(&case.statement, &spec) {
            continue;
        }
        let expected = expect(&world, &case).await;
        for (at, sharded) in world.shardings.iter().enumerate() {
            let verdict = judge(sharded, &case, &expected).await;
            shared.compared.fetch_add(1, Ordering::Relaxed);
            let difference = {
                let mut report = shared.report.lock().unwrap();
                report.compared += 1;
                match verdict {
                    Verdict::Same => None,
                    Verdict::BothFail => {
                        let error = expected.answer.as_ref().err();
                        let error =
                            error.map_or(String::new(), |error| error.chars().take(200).collect());
                        *report.failing.entry(error).or_default() += 1;
                        None
                    }
                    Verdict::Unclear => {
                        report.unclear += 1;
                        None
                    }
                    Verdict::Refused(refused) => {
                        let text = refused.to_string();
                        let show = || case.show(args.backend);
                        report.not_allowed.entry(text).or_insert_with(show);
                        *report.refused.entry(refused).or_default() += 1;
                        None
                    }
                    Verdict::Differ(difference) => Some(difference),
                }
            };
            if let Some(difference) = difference {
                let replay = Replay::new(args.backend, &spec, at, &case);
                let name = format!("{}-{number}-{statement}-{at}", args.seed);
                report(shared, replay, &name, difference).await;
                // The other shardings would only tell the same again.
                break;
            }
        }
    }
    world.end(&shared.databases).await;
}

/// Shrinks a difference and writes it to a file, unless enough of its kind were told.
async fn report(shared: &Shared, replay: Replay, name: &str, difference: Difference) {
    shared.report.lock().unwrap().differ += 1;
    let most = match difference.kind {
        DifferenceKind::Answer => 12,
        _ => 3,
    };
    if shared.is_alike(&difference.signature(), most) || shared.is_done() {
        return;
    }
    let (replay, difference) =
        shrink(replay, difference, &shared.databases, shared.args.patience).await;
    let sql = replay.case.show(shared.args.backend);
    if shared.is_alike(&ratchet::nameless(&sql), 1) {
        return;
    }
    shared.differ.fetch_add(1, Ordering::Relaxed);
    let path = replay.write(&shared.args.out, name, &difference.text);
    let text = format!(
        "{:?}: {}\n  {sql}\n  {}",
        difference.kind,
        difference.text,
        match path {
            Ok(path) => format!("--replay {}", path.display()),
            Err(error) => format!("could not be written: {error}"),
        }
    );
    shared.report.lock().unwrap().differences.push(text);
}

impl Shared {
    /// Whether so many of these were seen before.
    fn is_alike(&self, signature: &str, most: u32) -> bool {
        let mut alike = self.alike.lock().unwrap();
        let seen = alike.entry(signature.to_owned()).or_default();
        *seen += 1;
        *seen > most
    }
}
