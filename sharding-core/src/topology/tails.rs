//! Tails that differ from source to source.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::SourceId;
use super::draft::TailsDraft;
use super::mistake::Mistake;
use crate::strategy::{Extent, Partitions, Strategy};

/// Reads the lists of tails. `sources` are those of the source rule, if there is one.
pub(super) fn read(
    table: &str,
    lists: &[TailsDraft],
    strategy: &dyn Strategy,
    extent: Extent,
    ids: &HashMap<&str, SourceId>,
    sources: Option<&[SourceId]>,
    mistakes: &mut Vec<Mistake>,
) -> Vec<(Partitions, SourceId)> {
    let mut read: Vec<(Partitions, SourceId)> = Vec::with_capacity(lists.len());
    for list in lists {
        let id = ids.get(&*list.source).copied();
        let Some(id) = id else {
            mistakes.push(Mistake::UnknownSource {
                table: table.to_owned(),
                rule: "tails",
                name: list.source.to_string(),
            });
            continue;
        };
        let mut wrong = |text: &str, why: &'static str| {
            mistakes.push(Mistake::BadTails {
                table: table.to_owned(),
                data_source: list.source.to_string(),
                text: text.to_owned(),
                why,
            });
        };
        if list.tails.is_empty() {
            wrong("", "is an empty list; leave the source out");
        }
        if read.iter().any(|(_, other)| *other == id) {
            wrong("", "is listed twice");
        }
        if sources.is_some_and(|sources| !sources.contains(&id)) {
            wrong("", "is not among the sources of the `source` rule");
        }
        let mut runs = Vec::with_capacity(list.tails.len());
        for text in &list.tails {
            match run(text, strategy, extent) {
                Ok(run) => runs.push(run),
                Err(why) => wrong(text, why),
            }
        }
        read.push((Partitions::from_runs(runs), id));
    }
    read
}

/// `a`, or `a..b` with both included, of which either may be left out.
fn run(
    text: &str,
    strategy: &dyn Strategy,
    extent: Extent,
) -> Result<RangeInclusive<u32>, &'static str> {
    let number = |name: &str| {
        let number = strategy.number(name.trim());
        let exists = |number: &u32| *number < extent.count || extent.until.is_some();
        number.filter(exists).ok_or("names no tail of the strategy")
    };
    let Some((first, last)) = text.split_once("..") else {
        let number = number(text)?;
        return Ok(number..=number);
    };
    let first = match first.trim() {
        "" => 0,
        first => number(first)?,
    };
    let last = match last.trim() {
        "" => u32::MAX,
        last => number(last)?,
    };
    if last < first {
        return Err("ends before it begins");
    }
    Ok(first..=last)
}

/// Every tail that exists or will exist has to be in a source, and without a source rule, if the
/// tails are spread, in exactly one.
pub(super) fn check(
    table: &str,
    lists: &[(Partitions, SourceId)],
    strategy: &dyn Strategy,
    extent: Extent,
    is_spread: bool,
    mistakes: &mut Vec<Mistake>,
) {
    // Of those that will exist, each from which on the lists say something else.
    let mut later: Vec<u32> = match extent.until {
        None => Vec::new(),
        Some(_) => {
            let edges = lists.iter().flat_map(|(tails, _)| tails.edges());
            let edges = edges.filter(|edge| *edge > extent.count);
            edges.chain([extent.count]).collect()
        }
    };
    later.sort_unstable();
    later.dedup();
    for tail in (0..extent.count).chain(later) {
        let of_tail = |(tails, _): &&(Partitions, SourceId)| tails.contains(tail);
        let place = match lists.iter().filter(of_tail).count() {
            0 => "no data source",
            2.. if is_spread => "two data sources; without a source rule a tail is in one",
            _ => continue,
        };
        mistakes.push(Mistake::MisplacedTail {
            table: table.to_owned(),
            tail: strategy.name(tail).into_owned(),
            place,
        });
    }
}

/// The tails of each source of the source rule, in its order.
pub(super) fn of_sources(
    lists: Vec<(Partitions, SourceId)>,
    sources: &[SourceId],
) -> Vec<Partitions> {
    let mut lists: HashMap<SourceId, Partitions> = lists
        .into_iter()
        .map(|(tails, source)| (source, tails))
        .collect();
    let own = |source: &SourceId| lists.remove(source).unwrap_or_else(Partitions::none);
    sources.iter().map(own).collect()
}
