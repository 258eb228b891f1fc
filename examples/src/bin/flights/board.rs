//! Asks a question of both tables, and keeps the score.

use std::time::{Duration, Instant};

use sea_orm::DbErr;
use sharding_sea_orm::{Explanation, ShardingConnection, ShardingError};

use crate::answer::Answer;

/// The score, question by question.
#[derive(Debug)]
pub(crate) struct Board<'a> {
    /// The connection that answers.
    pub(crate) db: &'a ShardingConnection,
    /// Whether routes are shown in full.
    pub(crate) explain: bool,
    questions: usize,
    differ: usize,
}

/// Asks a question several times and compares the answers.
///
/// The name before the arrow stands for the module of an entity: of the sharded one, and then of
/// the whole one. `route` is what is explained; the statement itself unless given.
macro_rules! ask {
    (
        $board:ident, $words:expr, $flight:ident =>
        let $query:ident = $statement:expr;
        $(route $route:expr;)?
        answer $answer:expr
    ) => {{
        let (route, sharded) = {
            use $crate::entity::flight as $flight;
            let $query = $statement;
            let route = $board.db.explain($crate::board::route!($query $($route)?))?;
            (route, async move || { let $query = $query.clone(); Ok($answer) })
        };
        let whole = {
            use $crate::entity::flight_whole as $flight;
            let $query = $statement;
            async move || { let $query = $query.clone(); Ok($answer) }
        };
        $board.ask($words, &route, sharded, whole).await?
    }};
}

/// Writes to both tables, once, and compares what is said about it and what can be read afterwards.
macro_rules! change {
    (
        $board:ident, $words:expr, $flight:ident =>
        let $query:ident = $statement:expr;
        $(route $route:expr;)?
        answer $answer:expr;
        afterwards $afterwards:expr
    ) => {{
        let (route, sharded, sharded_after) = {
            use $crate::entity::flight as $flight;
            let $query = $statement;
            let route = $board.db.explain($crate::board::route!($query $($route)?))?;
            (route, async move || Ok($answer), async move || Ok($afterwards))
        };
        let (whole, whole_after) = {
            use $crate::entity::flight_whole as $flight;
            let $query = $statement;
            (async move || Ok($answer), async move || Ok($afterwards))
        };
        $board.change($words, &route, (sharded, sharded_after), (whole, whole_after)).await?
    }};
}

macro_rules! route {
    ($query:ident) => {
        &$query
    };
    ($query:ident $route:expr) => {
        &$route
    };
}

pub(crate) use {ask, change, route};

impl<'a> Board<'a> {
    /// A score of nothing.
    pub(crate) fn new(db: &'a ShardingConnection, explain: bool) -> Self {
        Self {
            db,
            explain,
            questions: 0,
            differ: 0,
        }
    }

    /// Compares the answers of [`ask!`]. Of several times the best one counts, so that neither
    /// table pays for what the other one finds in memory.
    pub(crate) async fn ask<A: Answer, B: Answer>(
        &mut self,
        words: &str,
        route: &Explanation,
        sharded: impl AsyncFn() -> Result<A, DbErr>,
        whole: impl AsyncFn() -> Result<B, DbErr>,
    ) -> Result<(), DbErr> {
        const AGAIN: usize = 2;

        let (answer, mut time) = timed(&sharded).await?;
        let (expected, mut expected_time) = timed(&whole).await?;
        for _ in 0..AGAIN {
            time = time.min(timed(&sharded).await?.1);
            expected_time = expected_time.min(timed(&whole).await?.1);
        }
        self.show(words, route, &answer.brief(), [time, expected_time]);
        self.compare(&answer, &expected);
        Ok(())
    }

    /// Compares the answers of [`change!`].
    pub(crate) async fn change<A: Answer, B: Answer, C: Answer, D: Answer>(
        &mut self,
        words: &str,
        route: &Explanation,
        (sharded, sharded_after): (
            impl AsyncFnOnce() -> Result<A, DbErr>,
            impl AsyncFnOnce() -> Result<C, DbErr>,
        ),
        (whole, whole_after): (
            impl AsyncFnOnce() -> Result<B, DbErr>,
            impl AsyncFnOnce() -> Result<D, DbErr>,
        ),
    ) -> Result<(), DbErr> {
        let (answer, time) = timed(sharded).await?;
        let (expected, expected_time) = timed(whole).await?;
        self.show(words, route, &answer.brief(), [time, expected_time]);
        let answer = (answer, sharded_after().await?);
        let expected = (expected, whole_after().await?);
        self.compare(&answer, &expected);
        Ok(())
    }

    /// Expects an error of the sharding layer.
    pub(crate) fn refused<T>(&mut self, words: &str, result: &Result<T, DbErr>) {
        self.questions += 1;
        println!("{:2}. {words}", self.questions);
        match result.as_ref().map_err(ShardingError::of) {
            Err(Some(refusal)) => println!("    error    {refusal}"),
            Err(None) | Ok(_) => {
                self.differ += 1;
                println!("    DIFFERS  it was not refused");
            }
        }
    }

    /// Prints the score. True if there was no difference.
    pub(crate) fn finish(&self) -> bool {
        println!("{} questions, {} differ", self.questions, self.differ);
        self.differ == 0
    }

    fn show(&mut self, words: &str, route: &Explanation, answer: &str, times: [Duration; 2]) {
        self.questions += 1;
        println!("{:2}. {words}", self.questions);
        let (nodes, of, rung) = (route.nodes.len(), route.of, &route.rung);
        println!("    route    {nodes} of {of} nodes, {rung}");
        if self.explain {
            for line in route.to_string().lines().skip(1) {
                println!("           {}", cut(line));
            }
        }
        println!("    answer   {}", cut(answer));
        let [sharded, whole] = times.map(|time| time.as_secs_f64() * 1e3);
        let ratio = sharded / whole;
        println!("    time     {sharded:.1} ms sharded, {whole:.1} ms whole, ratio {ratio:.2}");
    }

    fn compare(&mut self, answer: &impl Answer, expected: &impl Answer) {
        let (mut values, mut others) = (Vec::new(), Vec::new());
        answer.values(&mut values);
        expected.values(&mut others);
        if values == others {
            return;
        }
        self.differ += 1;
        let mut pairs = values.iter().zip(&others);
        match pairs.find(|(value, other)| value != other) {
            Some((value, other)) => println!("    DIFFERS  {value:?} sharded, {other:?} whole"),
            None => println!("    DIFFERS  one has more values"),
        }
    }
}

async fn timed<T>(ask: impl AsyncFnOnce() -> Result<T, DbErr>) -> Result<(T, Duration), DbErr> {
    let start = Instant::now();
    Ok((ask().await?, start.elapsed()))
}

/// Long lines would hide the others.
fn cut(line: &str) -> String {
    const LENGTH: usize = 160;

    match line.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
