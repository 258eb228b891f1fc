//! Collects mistakes, so that all of them are reported by one compilation.

use std::cell::RefCell;
use std::fmt::Display;
use std::thread;

use quote::ToTokens;

/// The mistakes found so far.
///
/// It has to be emptied by [`Errors::finish`]. Dropping it earlier would lose mistakes and let
/// wrong input through, hence the panic.
pub(crate) struct Errors {
    found: RefCell<Option<Vec<syn::Error>>>,
}

impl Errors {
    pub(crate) fn new() -> Self {
        Self {
            found: RefCell::new(Some(Vec::new())),
        }
    }

    /// Reports a mistake, shown over the whole of `tokens`.
    pub(crate) fn at(&self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn push(&self, error: syn::Error) {
        if let Some(found) = self.found.borrow_mut().as_mut() {
            found.push(error);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.borrow().as_ref().is_none_or(Vec::is_empty)
    }

    /// All the mistakes as one error, in the order in which they were reported.
    pub(crate) fn finish(self) -> syn::Result<()> {
        let found = self.found.take().unwrap_or_default();
        let all = found.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        });
        all.map_or(Ok(()), Err)
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        let unchecked = self.found.get_mut().is_some();
        // A second panic would abort and hide the first one.
        assert!(
            !unchecked || thread::panicking(),
            "errors were dropped without being checked"
        );
    }
}

/// The candidates which `name` may be a misspelling of, the nearest first.
pub(crate) fn near(
    name: &str,
    candidates: impl IntoIterator<Item = impl AsRef<str>>,
) -> Vec<String> {
    let name = name.to_lowercase();
    // A third of the letters is the tolerance the compiler has for its own suggestions.
    let tolerance = name.chars().count().max(3) / 3;
    let mut near: Vec<_> = candidates
        .into_iter()
        .map(|candidate| {
            let candidate = candidate.as_ref();
            (
                distance(&name, &candidate.to_lowercase()),
                candidate.to_owned(),
            )
        })
        .filter(|(distance, _)| *distance <= tolerance)
        .collect();
    near.sort();
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Names in backticks, with `last` before the last one: "`a`, `b` or `c`".
pub(crate) fn listed(names: &[impl AsRef<str>], last: &str) -> String {
    let quoted: Vec<_> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    match quoted.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// The number of letters to insert, remove, replace or swap with the next to get from one name to
/// the other.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    #[test]
    fn errors_come_back_in_order() {
        let errors = Errors::new();
        errors.push(syn::Error::new(Span::call_site(), "first"));
        errors.push(syn::Error::new(Span::call_site(), "second"));
        let messages: Vec<_> = errors
            .finish()
            .unwrap_err()
            .into_iter()
            .map(|error| error.to_string())
            .collect();
        assert_eq!(messages, ["first", "second"]);
    }

    #[test]
    fn nothing_found_is_no_error() {
        assert!(Errors::new().finish().is_ok());
    }

    #[test]
    #[should_panic(expected = "without being checked")]
    fn dropping_unchecked_errors_panics() {
        drop(Errors::new());
    }

    #[test]
    fn near_names_are_sorted_by_distance() {
        let fields = ["tail", "tailnum", "time_hour", "id"];
        assert_eq!(near("tialnum", fields), ["tailnum"]);
        assert_eq!(near("tails", fields), ["tail"]);
        assert_eq!(near("TimeHour", fields), ["time_hour"]);
        assert!(near("carrier", fields).is_empty());
    }

    #[test]
    fn lists_read_as_english() {
        assert_eq!(listed(&["a"], "or"), "`a`");
        assert_eq!(listed(&["a", "b"], "or"), "`a` or `b`");
        assert_eq!(listed(&["a", "b", "c"], "and"), "`a`, `b` and `c`");
    }
}
