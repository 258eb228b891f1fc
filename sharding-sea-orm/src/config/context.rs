//! What is known and found while a file is read.

use std::cell::RefCell;

use sharding_core::topology::Mistake;

use super::env::Env;
use super::field::Field;
use super::path::Path;
use super::tree::Place;

/// The environment, and the mistakes so far.
pub(super) struct Context<'a> {
    pub(super) env: Env<'a>,
    found: RefCell<Vec<(usize, Mistake)>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(env: Env<'a>) -> Self {
        Self {
            env,
            found: RefCell::default(),
        }
    }

    /// A mistake at a path, where a part of the file begins.
    pub(super) fn record(&self, path: &Path<'_>, place: Place, why: String) {
        let at = path.to_string();
        self.add(place.offset, Mistake::File { at, why });
    }

    /// A mistake in the value of a field.
    pub(super) fn wrong<T>(&self, field: &Field<T>, why: impl Into<String>) {
        let (at, why) = (field.at.clone(), why.into());
        self.add(field.offset, Mistake::File { at, why });
    }

    /// A mistake of the core's at a place in the file.
    pub(super) fn add(&self, offset: usize, mistake: Mistake) {
        self.found.borrow_mut().push((offset, mistake));
    }

    /// How many mistakes there are.
    pub(super) fn count(&self) -> usize {
        self.found.borrow().len()
    }

    /// The mistakes in the order of the file.
    pub(super) fn into_mistakes(self) -> Vec<Mistake> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(offset, _)| *offset);
        found.into_iter().map(|(_, mistake)| mistake).collect()
    }
}
