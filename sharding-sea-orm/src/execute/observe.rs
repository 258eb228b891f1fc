//! What others may watch: spans of the `tracing` facade, and numbers of the `metrics` facade. Without
//! these features nothing of it is compiled.
//!
//! | span | level | fields |
//! |---|---|---|
//! | `sharding.statement` | debug | `rung`, `nodes`, `rows` |
//! | `sharding.node` | debug | `data_source`, `rows` |
//!
//! `rows` are those that were given back, or were written; it is set at the end.
//!
//! | metric | kind | labels |
//! |---|---|---|
//! | `sharding_statements_total` | counter | `data_source`, `outcome`: `answered`, `failed`, `given_up` |
//! | `sharding_statement_seconds` | histogram | `data_source` |
//! | `sharding_connections_in_use` | gauge | `data_source` |
//! | `sharding_rows_held` | gauge | `data_source` |

use sea_orm::{DbErr, ExecResult, QueryResult};

use super::RowStream;
use crate::catalog::Catalog;

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
            span: tracing::debug_span!(
                "sharding.statement",
                rung,
                nodes,
                rows = tracing::field::Empty
            ),
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
            span: tracing::debug_span!("sharding.node", data_source, rows = tracing::field::Empty),
        }
    }

    /// A future within the span.
    pub(crate) async fn around<T: Rows>(
        self,
        future: impl Future<Output = Result<T, DbErr>>,
    ) -> Result<T, DbErr> {
        #[cfg(feature = "tracing")]
        {
            let outcome = tracing::Instrument::instrument(future, self.span.clone()).await;
            if let Some(rows) = outcome.as_ref().ok().and_then(Rows::rows) {
                self.span.record("rows", rows);
            }
            outcome
        }
        #[cfg(not(feature = "tracing"))]
        {
            future.await
        }
    }

    /// A stream within the span.
    pub(crate) fn around_rows(self, rows: RowStream<'_>) -> RowStream<'_> {
        #[cfg(feature = "tracing")]
        {
            let mut rows = rows;
            let mut counted = Counted {
                span: self.span,
                rows: 0,
            };
            Box::pin(futures_util::stream::poll_fn(move |context| {
                let _entered = counted.span.enter();
                let row = rows.as_mut().poll_next(context);
                counted.rows += u64::from(matches!(row, std::task::Poll::Ready(Some(Ok(_)))));
                row
            }))
        }
        #[cfg(not(feature = "tracing"))]
        {
            rows
        }
    }
}

/// The rows of a stream so far, which its span is told when nobody reads it any more.
#[cfg(feature = "tracing")]
struct Counted {
    span: tracing::Span,
    rows: u64,
}

#[cfg(feature = "tracing")]
impl Drop for Counted {
    fn drop(&mut self) {
        self.span.record("rows", self.rows);
    }
}

/// What a statement gives.
#[cfg_attr(
    not(feature = "tracing"),
    allow(dead_code, reason = "a field of a span")
)]
pub(crate) trait Rows {
    /// How many rows, if that is known already.
    fn rows(&self) -> Option<u64>;
}

impl Rows for Vec<QueryResult> {
    fn rows(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

impl Rows for Option<QueryResult> {
    fn rows(&self) -> Option<u64> {
        Some(u64::from(self.is_some()))
    }
}

impl Rows for ExecResult {
    fn rows(&self) -> Option<u64> {
        Some(self.rows_affected())
    }
}

impl Rows for RowStream<'_> {
    fn rows(&self) -> Option<u64> {
        None
    }
}

impl Rows for Catalog {
    fn rows(&self) -> Option<u64> {
        None
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
