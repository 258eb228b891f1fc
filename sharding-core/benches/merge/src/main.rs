//! Merging sorted streams that are in memory: the library's tournament beside `itertools::kmerge_by`
//! and DataFusion's sort-preserving merge, in one run on one thread.
//!
//! `cargo run --release -- [rows]`, from this folder. Rows are spread over the inputs at random.
//! Rates are in millions of rows a second; allocations are those of the tournament's whole run.

use std::alloc::System;
use std::cmp::Ordering;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion_execution::memory_pool::{MemoryConsumer, MemoryPool, UnboundedMemoryPool};
use datafusion_physical_expr::expressions::col;
use datafusion_physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion_physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use datafusion_physical_plan::sorts::streaming_merge::StreamingMergeBuilder;
use datafusion_physical_plan::stream::RecordBatchStreamAdapter;
use futures_util::{StreamExt, stream};
use itertools::Itertools;
use sharding_core::merge::{ByKeys, Datum, Order, Tournament};
use sharding_core::plan::{Direction, Nulls, SortKey, TextOrder};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

type Three = (i64, String, i64);

/// Rows as they are, with the beginning of what they are sorted by.
struct Plain;

impl Order<i64> for Plain {
    fn compare(&self, a: &i64, b: &i64) -> Ordering {
        a.cmp(b)
    }

    fn abbreviate(&self, head: &i64) -> u64 {
        head.cast_unsigned() ^ 1 << 63
    }
}

impl Order<String> for Plain {
    fn compare(&self, a: &String, b: &String) -> Ordering {
        a.cmp(b)
    }

    fn abbreviate(&self, head: &String) -> u64 {
        let mut begin = [0; 8];
        begin
            .iter_mut()
            .zip(head.bytes())
            .for_each(|(to, byte)| *to = byte);
        u64::from_be_bytes(begin)
    }
}

impl Order<Three> for Plain {
    fn compare(&self, a: &Three, b: &Three) -> Ordering {
        a.cmp(b)
    }

    fn abbreviate(&self, head: &Three) -> u64 {
        Self.abbreviate(&head.0)
    }
}

fn main() {
    let rows = std::env::args()
        .nth(1)
        .map_or(10_000_000, |rows| rows.parse().unwrap());
    println!(
        "{:<16}{:>8}{:>12}{:>12}{:>12}{:>12}{:>14}",
        "keys", "inputs", "tournament", "of values", "kmerge", "DataFusion", "allocations"
    );
    for inputs in [2, 16, 256] {
        of_numbers(rows, inputs);
    }
    for inputs in [2, 16, 256] {
        of_texts(rows / 4, inputs);
    }
    for inputs in [2, 16, 256] {
        of_three(rows / 4, inputs);
    }
}

fn of_numbers(rows: usize, inputs: usize) {
    let data = spread(rows, inputs, |random| random as i64 >> 8);
    let (tree, allocations) = tournament(rows, data.clone(), Plain);
    let values = data.iter().map(|input| {
        input
            .iter()
            .map(|n| vec![Datum::Int((*n).into())])
            .collect()
    });
    let (values, _) = tournament(rows, values.collect(), keys(1));
    let kmerge = kmerge(rows, data.clone(), |a, b| a < b);
    let columns = |input: &[i64]| vec![Arc::new(Int64Array::from(input.to_vec())) as ArrayRef];
    let other = datafusion(rows, &data, &[DataType::Int64], columns);
    show("i64", inputs, [tree, values, kmerge, other], allocations);
}

fn of_texts(rows: usize, inputs: usize) {
    let data = spread(rows, inputs, |random| format!("text {:016x}", random >> 8));
    let (tree, allocations) = tournament(rows, data.clone(), Plain);
    let values = data.iter().map(|input| {
        input
            .iter()
            .map(|text| vec![Datum::Text(text.clone())])
            .collect()
    });
    let (values, _) = tournament(rows, values.collect(), keys(1));
    let kmerge = kmerge(rows, data.clone(), |a, b| a < b);
    let columns =
        |input: &[String]| vec![Arc::new(StringArray::from_iter_values(input)) as ArrayRef];
    let other = datafusion(rows, &data, &[DataType::Utf8], columns);
    show("text", inputs, [tree, values, kmerge, other], allocations);
}

fn of_three(rows: usize, inputs: usize) {
    let data = spread(rows, inputs, |random| {
        let (first, second) = (random % 100, random / 100 % 1_000);
        (first as i64, format!("{second:04}"), (random >> 20) as i64)
    });
    let (tree, allocations) = tournament(rows, data.clone(), Plain);
    let value = |(a, b, c): &Three| {
        vec![
            Datum::Int((*a).into()),
            Datum::Text(b.clone()),
            Datum::Int((*c).into()),
        ]
    };
    let values = data.iter().map(|input| input.iter().map(value).collect());
    let (values, _) = tournament(rows, values.collect(), keys(3));
    let kmerge = kmerge(rows, data.clone(), |a, b| a < b);
    let columns = |input: &[Three]| {
        let first = Int64Array::from_iter_values(input.iter().map(|row| row.0));
        let second = StringArray::from_iter_values(input.iter().map(|row| &row.1));
        let third = Int64Array::from_iter_values(input.iter().map(|row| row.2));
        vec![
            Arc::new(first) as ArrayRef,
            Arc::new(second),
            Arc::new(third),
        ]
    };
    let types = [DataType::Int64, DataType::Utf8, DataType::Int64];
    let other = datafusion(rows, &data, &types, columns);
    show(
        "three columns",
        inputs,
        [tree, values, kmerge, other],
        allocations,
    );
}

fn show(keys: &str, inputs: usize, rates: [f64; 4], allocations: usize) {
    print!("{keys:<16}{inputs:>8}");
    for rate in rates {
        print!("{rate:>12.2}");
    }
    println!("{allocations:>14}");
}

fn keys(count: usize) -> ByKeys {
    let key = |column| SortKey {
        column,
        direction: Direction::Ascending,
        nulls: Nulls::First,
        text: TextOrder::Bytes,
    };
    ByKeys((0..count).map(key).collect())
}

/// Sorted inputs of random rows.
fn spread<T: Ord>(rows: usize, inputs: usize, row: impl Fn(u64) -> T) -> Vec<Vec<T>> {
    let mut state = 42_u64;
    let mut random = move || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut data: Vec<Vec<T>> = (0..inputs).map(|_| Vec::new()).collect();
    for _ in 0..rows {
        let at = random() as usize % inputs;
        data[at].push(row(random()));
    }
    data.iter_mut().for_each(|input| input.sort());
    data
}

/// Millions of rows a second, and how often memory was allocated.
fn tournament<T>(rows: usize, data: Vec<Vec<T>>, order: impl Order<T>) -> (f64, usize) {
    let mut inputs: Vec<_> = data.into_iter().map(Vec::into_iter).collect();
    let region = Region::new(ALLOCATOR);
    let begin = Instant::now();
    let heads = inputs.iter_mut().map(Iterator::next).collect();
    let mut tree = Tournament::new(heads, order);
    let mut count = 0;
    while let Some(winner) = tree.winner() {
        let next = inputs[winner].next();
        black_box(tree.replace(next).unwrap());
        count += 1;
    }
    let rate = rate(rows, begin);
    let allocations = region.change().allocations;
    assert_eq!(count, rows);
    (rate, allocations)
}

fn kmerge<T>(rows: usize, data: Vec<Vec<T>>, less: impl FnMut(&T, &T) -> bool) -> f64 {
    let begin = Instant::now();
    let mut count = 0;
    for row in data.into_iter().kmerge_by(less) {
        black_box(row);
        count += 1;
    }
    let rate = rate(rows, begin);
    assert_eq!(count, rows);
    rate
}

fn datafusion<T>(
    rows: usize,
    data: &[Vec<T>],
    types: &[DataType],
    columns: impl Fn(&[T]) -> Vec<ArrayRef>,
) -> f64 {
    const BATCH: usize = 8_192;

    let fields = types.iter().enumerate();
    let fields =
        fields.map(|(at, data_type)| Field::new(format!("c{at}"), data_type.clone(), false));
    let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let streams = data.iter().map(|input| {
        let batches = input
            .chunks(BATCH)
            .map(|rows| Ok(RecordBatch::try_new(Arc::clone(&schema), columns(rows)).unwrap()));
        let batches: Vec<_> = batches.collect();
        let rows = RecordBatchStreamAdapter::new(Arc::clone(&schema), stream::iter(batches));
        Box::pin(rows) as datafusion_execution::SendableRecordBatchStream
    });
    let streams: Vec<_> = streams.collect();
    let exprs = (0..types.len())
        .map(|at| PhysicalSortExpr::new_default(col(&format!("c{at}"), &schema).unwrap()));
    let ordering = LexOrdering::new(exprs).unwrap();
    let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let begin = Instant::now();
        let mut merged = StreamingMergeBuilder::new()
            .with_streams(streams)
            .with_schema(Arc::clone(&schema))
            .with_expressions(&ordering)
            .with_metrics(BaselineMetrics::new(&ExecutionPlanMetricsSet::new(), 0))
            .with_batch_size(BATCH)
            .with_reservation(MemoryConsumer::new("merge").register(&pool))
            .build()
            .unwrap();
        let mut count = 0;
        while let Some(batch) = merged.next().await {
            count += black_box(batch.unwrap()).num_rows();
        }
        let rate = rate(rows, begin);
        assert_eq!(count, rows);
        rate
    })
}

fn rate(rows: usize, begin: Instant) -> f64 {
    rows as f64 / begin.elapsed().as_secs_f64() / 1e6
}
