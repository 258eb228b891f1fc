//! What the facades `tracing` and `metrics` are told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use sea_orm::{DbBackend, EntityTrait, QueryOrder, QuerySelect};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Record};
use tracing::{Id, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use crate::entity::spread;
use crate::world::{World, builder};

/// A span: its name, that of its parent, and its rows once they are told.
type Seen = (String, Option<String>, Option<u64>);

#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<(Id, Seen)>>>);

/// The field `rows` of a span.
#[derive(Default)]
struct Rows(Option<u64>);

impl Visit for Rows {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "rows" {
            self.0 = Some(value);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Spans {
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        let parent = span.parent().map(|parent| parent.name().to_owned());
        if span.name().starts_with("sharding.") {
            let seen = (span.name().to_owned(), parent, None);
            self.0.lock().unwrap().push((id.clone(), seen));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut rows = Rows::default();
        values.record(&mut rows);
        // Ids are used again, by later spans.
        let mut spans = self.0.lock().unwrap();
        if let Some((_, seen)) = spans.iter_mut().rev().find(|(own, _)| own == id) {
            seen.2 = rows.0;
        }
    }
}

/// A statement has a span, each node's one within it; and both are counted by data source.
pub async fn spans_and_numbers(backend: DbBackend) {
    let world = World::filled(backend).await;
    let urls = world.urls().clone();
    let watch = move || {
        let spans = Spans::default();
        let recorder = DebuggingRecorder::new();
        // With one subscriber only, `tracing` asks the thread that meets a span first whether anybody
        // wants it; that may be one of another test.
        let _second = tracing::Dispatch::new(tracing_subscriber::registry());
        let subscriber = tracing_subscriber::registry().with(spans.clone());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let ask = async {
            let db = builder(&urls).connect().await.unwrap();
            let query = spread::Entity::find()
                .order_by_asc(spread::Column::Id)
                .limit(5);
            assert_eq!(query.all(&db).await.unwrap().len(), 5);
            let one = spread::Entity::find_by_id(3);
            one.one(&db).await.unwrap().unwrap();
            db.close().await.unwrap();
        };
        metrics::with_local_recorder(&recorder, || {
            tracing::subscriber::with_default(subscriber, || runtime.block_on(ask));
        });
        let spans = spans.0.lock().unwrap().clone();
        let spans: Vec<Seen> = spans.into_iter().map(|(_, seen)| seen).collect();
        (spans, recorder.snapshotter().snapshot().into_vec())
    };
    let watched = tokio::task::spawn_blocking(watch).await;
    let (spans, numbers) = watched.unwrap();
    let (statements, nodes): (Vec<Seen>, Vec<Seen>) = spans
        .into_iter()
        .partition(|(name, ..)| name == "sharding.statement");
    let rows_of = |spans: &[Seen]| spans.iter().map(|(.., rows)| *rows).collect::<Vec<_>>();
    assert_eq!(rows_of(&statements), [Some(5), Some(1)], "{statements:?}");
    assert!(statements.iter().all(|(_, parent, _)| parent.is_none()));
    assert!(nodes.len() > 2, "{nodes:?}");
    let within = Some("sharding.statement".to_owned());
    for (name, parent, rows) in &nodes {
        assert_eq!((name.as_str(), parent), ("sharding.node", &within));
        assert!(rows.is_some(), "{nodes:?}");
    }
    let mut answered: BTreeMap<String, u64> = BTreeMap::new();
    for (key, _, _, value) in numbers {
        let label = |name: &str| {
            let mut labels = key.key().labels();
            labels
                .find(|label| label.key() == name)
                .map(|label| label.value().to_owned())
        };
        if let (DebugValue::Counter(count), Some(source)) = (value, label("data_source")) {
            assert_eq!(key.key().name(), "sharding_statements_total");
            *answered.entry(source).or_default() += count;
        }
    }
    let nodes = nodes.len() as u64;
    assert_eq!(answered.values().sum::<u64>(), nodes, "{answered:?}");
    assert_eq!(answered.len(), 2, "{answered:?}");
    world.end().await;
}
