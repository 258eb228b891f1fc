use std::collections::VecDeque;

use futures_util::StreamExt;
use futures_util::stream;
use sea_orm::{DbErr, QueryResult};
use sharding_core::merge::{ByKeys, Datum, Order, PageCutter, Tournament};
use sharding_core::plan::{Page, SortKey, TextOrder};

use super::Ranks;
use crate::dialect;
use crate::error::ShardingError;
use crate::execute::{HeldRows, RowStream};

/// Rows one stream after the other, cut to a page.
pub(crate) fn concatenate<'a>(streams: Vec<RowStream<'a>>, page: Page) -> RowStream<'a> {
    Box::pin(async_stream::try_stream! {
        let mut page = PageCutter::new(page);
        for mut rows in streams {
            while !page.is_full()
                && let Some(row) = rows.next().await
            {
                let row = row?;
                if page.admit() {
                    yield row;
                }
            }
        }
    })
}

/// Rows of streams that are read side by side, in no order. After an error no stream is read again.
pub(crate) fn as_they_arrive(mut streams: Vec<RowStream<'_>>) -> RowStream<'_> {
    if streams.len() == 1
        && let Some(only) = streams.pop()
    {
        return only;
    }
    Box::pin(async_stream::try_stream! {
        let mut rows = stream::select_all(streams);
        while let Some(row) = rows.next().await {
            yield row?;
        }
    })
}

/// What becomes of rows that are equal by the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equal {
    /// All are kept.
    Kept,
    /// They are one.
    One,
}

/// Rows of sorted streams in their common order, cut to a page; equal rows in the order of the
/// streams. Each stream is one row ahead of the merge. After an error no stream is read again.
pub(crate) fn merge_streams<'a>(
    mut streams: Vec<RowStream<'a>>,
    keys: Vec<SortKey>,
    page: Page,
    equal: Equal,
    ranks: Ranks,
) -> RowStream<'a> {
    Box::pin(async_stream::try_stream! {
        // First rows are waited for side by side: every node sorts at once.
        let mut heads = Vec::with_capacity(streams.len());
        let mut first = Vec::with_capacity(streams.len());
        for row in futures_util::future::join_all(streams.iter_mut().map(StreamExt::next)).await {
            let (head, row) = ahead(row, &keys, &ranks, Head::new())?;
            heads.push(head);
            first.push(row);
        }
        let order = by_positions(&keys);
        let mut tree = Tournament::new(heads, order.clone());
        let mut last = Last::new(equal, order);
        let mut page = PageCutter::new(page);
        while !page.is_full()
            && let Some(winner) = tree.winner()
        {
            let next = streams[winner].next().await;
            let (head, next) = ahead(next, &keys, &ranks, last.spare())?;
            let head = tree.replace(head).map_err(ShardingError::from)?;
            let row = std::mem::replace(&mut first[winner], next);
            if last.is_again(head) {
                continue;
            }
            if let Some(row) = row.filter(|_| page.admit()) {
                yield row;
            }
        }
    })
}

/// The first rows of those that were kept and of sorted streams, in their common order, equal ones
/// in the order of the inputs. Never are there more rows than that at once, and one of each stream.
pub(crate) async fn keep_first(
    kept: Vec<QueryResult>,
    mut streams: Vec<RowStream<'_>>,
    sorted: &Sorted<'_>,
    most: usize,
    held: &mut HeldRows,
) -> Result<Vec<QueryResult>, DbErr> {
    let Sorted { keys, equal, ranks } = sorted;
    let mut kept = VecDeque::from(kept);
    let (mut heads, mut first) = (Vec::new(), Vec::new());
    let firsts = futures_util::future::join_all(streams.iter_mut().map(StreamExt::next)).await;
    for row in std::iter::once(kept.pop_front().map(Ok)).chain(firsts) {
        let (head, row) = ahead(row, keys, ranks, Head::new())?;
        heads.push(head);
        first.push(row);
    }
    let order = by_positions(keys);
    let mut tree = Tournament::new(heads, order.clone());
    let mut last = Last::new(*equal, order);
    let mut found = Vec::new();
    while found.len() < most
        && let Some(winner) = tree.winner()
    {
        let next = match winner.checked_sub(1) {
            None => kept.pop_front().map(Ok),
            Some(stream) => streams[stream].next().await,
        };
        let (head, next) = ahead(next, keys, ranks, last.spare())?;
        let head = tree.replace(head).map_err(ShardingError::from)?;
        let row = std::mem::replace(&mut first[winner], next);
        if last.is_again(head) {
            continue;
        }
        found.extend(row);
        // The last ones that were kept are not among the first any more.
        let of_kept = |first: &[Option<QueryResult>]| usize::from(first[0].is_some());
        while found.len() + kept.len() + of_kept(&first) > most && kept.pop_back().is_some() {}
        held.are(found.len() + kept.len() + of_kept(&first));
    }
    held.are(found.len());
    // What is left of the streams is no more than was asked for, and until it is read, the
    // connections are not free.
    for rows in &mut streams {
        while rows.next().await.transpose()?.is_some() {}
    }
    Ok(found)
}

/// How inputs are sorted.
#[derive(Debug)]
pub(crate) struct Sorted<'s> {
    pub(crate) keys: &'s [SortKey],
    pub(crate) equal: Equal,
    pub(crate) ranks: Ranks,
}

/// Rows that are there already, as a stream.
pub(crate) fn buffered<'a>(rows: Vec<QueryResult>) -> RowStream<'a> {
    Box::pin(stream::iter(rows.into_iter().map(Ok)))
}

/// The values of a row that it is sorted by.
type Head = Vec<Datum>;

/// The head that was taken last, which tells whether the next row is an equal one; and one whose
/// memory is free for the next row.
struct Last {
    equal: Equal,
    order: ByKeys,
    head: Option<Head>,
    spare: Head,
}

impl Last {
    fn new(equal: Equal, order: ByKeys) -> Self {
        Self {
            equal,
            order,
            head: None,
            spare: Head::new(),
        }
    }

    fn spare(&mut self) -> Head {
        std::mem::take(&mut self.spare)
    }

    /// Whether a row is to be left out since one that is equal was taken before.
    fn is_again(&mut self, head: Head) -> bool {
        let same = |last: &Head| self.order.compare(last, &head).is_eq();
        let is_again = self.equal == Equal::One && self.head.as_ref().is_some_and(same);
        self.spare = match is_again {
            true => head,
            false => self.head.replace(head).unwrap_or_default(),
        };
        is_again
    }
}

/// The next row of a stream with its sort key, which takes the memory of another one.
fn ahead(
    row: Option<Result<QueryResult, DbErr>>,
    keys: &[SortKey],
    ranks: &Ranks,
    mut head: Head,
) -> Result<(Option<Head>, Option<QueryResult>), DbErr> {
    let Some(row) = row.transpose()? else {
        return Ok((None, None));
    };
    head.clear();
    for key in keys {
        head.push(read(&row, key.column, key.text, ranks)?);
    }
    Ok((Some(head), Some(row)))
}

/// The order of heads: by the keys, which are in them one after the other.
fn by_positions(keys: &[SortKey]) -> ByKeys {
    let keys = keys.iter().enumerate();
    ByKeys(
        keys.map(|(column, key)| SortKey { column, ..*key })
            .collect(),
    )
}

/// A value that will be compared. Text where none is expected has no known order.
pub(super) fn read(
    row: &QueryResult,
    column: usize,
    text: TextOrder,
    ranks: &Ranks,
) -> Result<Datum, ShardingError> {
    match ranks.rank(column, dialect::read(row, column)?)? {
        Datum::Text(_) if text == TextOrder::NoText => Err(ShardingError::UnmergeableType {
            column: row.column_names().get(column).cloned().unwrap_or_default(),
            type_name: "text".to_owned(),
        }),
        datum => Ok(datum),
    }
}
