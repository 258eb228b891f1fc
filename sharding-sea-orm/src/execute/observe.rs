//! What others may watch: spans of the `tracing` facade, and numbers of the `metrics` facade. Without
//! these features nothing of it is compiled.
//!
//! | span | level | fields |
//! |---|---|---|
//! | `sharding.statement` | debug | `rung`, `nodes` |
//! | `sharding.node` | debug | `data_source` |
//!
//! | metric | kind | labels |
//! |---|---|---|
//! | `sharding_statements_total` | counter | `data_source`, `outcome`: `answered`, `failed`, `given_up` |
//! | `sharding_statement_seconds` | histogram | `data_source` |
//! | `sharding_connections_in_use` | gauge | `data_source` |
//! | `sharding_rows_held` | gauge | `data_source` |

use std::pin::Pin;

use futures_util::Stream;

/// A span, or nothing.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

impl Span {
    /// That of a logical statement.
    #[cfg_attr(
        not(feature = "tracing"),
        allow(unused_variables, reason = "fields of a span")
    )]
    pub(crate) fn statement(rung: &'static str, nodes: usize) -> Self {
        Self {
            #[cfg(feature = "tracing")]
            span: tracing::debug_span!("sharding.statement", rung, nodes),
        }
    }

    /// That of a statement of one node.
    #[cfg_attr(
        not(feature = "tracing"),
        allow(unused_variables, reason = "fields of a span")
    )]
    pub(crate) fn node(data_source: &str) -> Self {
        Self {
            #[cfg(feature = "tracing")]
            span: tracing::debug_span!("sharding.node", data_source),
        }
    }

    /// A future within the span.
    pub(crate) async fn around<T>(self, future: impl Future<Output = T>) -> T {
        #[cfg(feature = "tracing")]
        {
            tracing::Instrument::instrument(future, self.span).await
        }
        #[cfg(not(feature = "tracing"))]
        {
            future.await
        }
    }

    /// A stream within the span.
    pub(crate) fn around_rows<'a, T: 'a>(
        self,
        rows: Pin<Box<dyn Stream<Item = T> + Send + 'a>>,
    ) -> Pin<Box<dyn Stream<Item = T> + Send + 'a>> {
        #[cfg(feature = "tracing")]
        {
            let mut rows = rows;
            Box::pin(futures_util::stream::poll_fn(move |context| {
                let _entered = self.span.enter();
                rows.as_mut().poll_next(context)
            }))
        }
        #[cfg(not(feature = "tracing"))]
        {
            rows
        }
    }
}

/// How a statement of a source has ended.
#[cfg_attr(
    not(feature = "metrics"),
    allow(dead_code, reason = "a label of a metric")
)]
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    Answered,
    Failed,
    GivenUp,
}

/// When a statement began, if anybody wants to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    #[cfg(feature = "metrics")]
    at: std::time::Instant,
}

impl Begun {
    pub(super) fn now() -> Self {
        Self {
            #[cfg(feature = "metrics")]
            at: std::time::Instant::now(),
        }
    }

    /// Counts a statement that has ended.
    #[cfg_attr(
        not(feature = "metrics"),
        allow(unused_variables, reason = "labels of metrics")
    )]
    pub(super) fn end(self, data_source: &str, outcome: Outcome) {
        #[cfg(feature = "metrics")]
        {
            let outcome = match outcome {
                Outcome::Answered => "answered",
                Outcome::Failed => "failed",
                Outcome::GivenUp => "given_up",
            };
            let source = data_source.to_owned();
            let labels = [
                ("data_source", source.clone()),
                ("outcome", outcome.to_owned()),
            ];
            metrics::counter!("sharding_statements_total", &labels).increment(1);
            metrics::histogram!("sharding_statement_seconds", "data_source" => source)
                .record(self.at.elapsed());
        }
    }
}

/// Tells how many connections and rows are held.
#[cfg_attr(
    not(feature = "metrics"),
    allow(unused_variables, reason = "labels of metrics")
)]
pub(super) fn held(data_source: &str, connections: u32, rows: usize) {
    #[cfg(feature = "metrics")]
    {
        let source = data_source.to_owned();
        metrics::gauge!("sharding_connections_in_use", "data_source" => source.clone())
            .set(f64::from(connections));
        metrics::gauge!("sharding_rows_held", "data_source" => source).set(rows as f64);
    }
}
