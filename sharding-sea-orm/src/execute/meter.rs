use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What goes on in a data source, in numbers.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub(super) statements: AtomicUsize,
    pub(super) begun: AtomicU64,
    pub(super) waiting: AtomicUsize,
    pub(super) most_in_use: AtomicUsize,
    pub(super) rows: AtomicUsize,
    pub(super) most_rows: AtomicUsize,
    pub(super) failures: AtomicU64,
}

/// Counts one of something for as long as it lives.
#[derive(Debug)]
pub(super) struct Counted<'m>(&'m AtomicUsize);

impl<'m> Counted<'m> {
    pub(super) fn one(counter: &'m AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(counter)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Rows of a data source that are held in memory.
#[derive(Debug)]
pub(crate) struct HeldRows {
    meter: Arc<Meter>,
    count: usize,
}

impl HeldRows {
    pub(super) fn none(meter: &Arc<Meter>) -> Self {
        Self {
            meter: Arc::clone(meter),
            count: 0,
        }
    }

    /// So many are held now.
    pub(crate) fn are(&mut self, count: usize) {
        if count > self.count {
            let more = count - self.count;
            let rows = self.meter.rows.fetch_add(more, Ordering::Relaxed) + more;
            self.meter.most_rows.fetch_max(rows, Ordering::Relaxed);
        } else {
            self.meter
                .rows
                .fetch_sub(self.count - count, Ordering::Relaxed);
        }
        self.count = count;
    }
}

impl Drop for HeldRows {
    fn drop(&mut self) {
        self.are(0);
    }
}
