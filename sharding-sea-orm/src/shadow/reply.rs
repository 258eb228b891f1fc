//! What a statement gives back, and in what two of them differ.

use sea_orm::{ConnectionTrait, DbErr, ExecResult, QueryResult};

use super::answer::Answer;
use super::compare::{self, Promise};
use super::difference::{Difference, Side};
use super::question::{Nature, Subject};

/// In what the outcomes of a statement differ. The plain side may be asked once more.
pub(super) async fn compare<C: ConnectionTrait, T: Reply>(
    plain_side: &C,
    subject: &Subject,
    plain: &Result<T, DbErr>,
    sharded: Result<T, DbErr>,
) -> Option<Difference> {
    let (plain, sharded) = match (plain, sharded) {
        (Ok(plain), Ok(sharded)) => (plain, sharded),
        (Ok(_), Err(error)) => return Some(Difference::of_error(error)),
        (Err(error), Ok(_)) => return Some(failed(Side::Plain, error.clone())),
        (Err(plain), Err(sharded)) => {
            let plain = plain.clone();
            return Some(Difference::NoAnswer { plain, sharded });
        }
    };
    let promise = || T::promise(subject);
    let found = plain.difference(&sharded, subject.nature(), &promise)?;
    if let Difference::Page { .. } = found
        && was_whole::<_, T>(plain_side, subject).await
    {
        let promise = || Promise {
            limit: None,
            ..T::promise(subject)
        };
        return plain.difference(&sharded, subject.nature(), &promise);
    }
    Some(found)
}

/// Whether the plain side has no row behind those of a page, so that nothing was cut off there.
async fn was_whole<C: ConnectionTrait, T: Reply>(plain_side: &C, subject: &Subject) -> bool {
    let Some(limit) = T::promise(subject).limit else {
        return false;
    };
    let Some(longer) = subject.longer(limit) else {
        return false;
    };
    let rows = plain_side.query_all(&longer).await;
    rows.is_ok_and(|rows| rows.len() as u64 <= limit)
}

/// What a statement gives back.
pub(super) trait Reply: Send + Sync {
    /// In what the sharded side's differs.
    fn difference(
        &self,
        sharded: &Self,
        nature: Nature,
        promise: &dyn Fn() -> Promise,
    ) -> Option<Difference>;

    /// What the statement says about the rows.
    fn promise(subject: &Subject) -> Promise {
        subject.promise()
    }
}

impl Reply for Answer {
    fn difference(
        &self,
        sharded: &Self,
        _: Nature,
        promise: &dyn Fn() -> Promise,
    ) -> Option<Difference> {
        compare::difference(self, sharded, promise)
    }
}

impl Reply for Vec<QueryResult> {
    fn difference(
        &self,
        sharded: &Self,
        nature: Nature,
        promise: &dyn Fn() -> Promise,
    ) -> Option<Difference> {
        answers(self, sharded, nature, promise)
    }
}

impl Reply for Option<QueryResult> {
    fn difference(
        &self,
        sharded: &Self,
        nature: Nature,
        promise: &dyn Fn() -> Promise,
    ) -> Option<Difference> {
        answers(self, sharded, nature, promise)
    }

    /// Whatever the statement says, one row is taken.
    fn promise(subject: &Subject) -> Promise {
        let promise = subject.promise();
        let limit = promise.limit.map_or(1, |limit| limit.min(1));
        Promise {
            limit: Some(limit),
            ..promise
        }
    }
}

impl Reply for ExecResult {
    fn difference(
        &self,
        sharded: &Self,
        nature: Nature,
        _: &dyn Fn() -> Promise,
    ) -> Option<Difference> {
        let (plain, sharded) = (self.rows_affected(), sharded.rows_affected());
        let differs = nature == Nature::Change && plain != sharded;
        differs.then_some(Difference::Affected { plain, sharded })
    }
}

fn answers<'r>(
    plain: impl IntoIterator<Item = &'r QueryResult>,
    sharded: impl IntoIterator<Item = &'r QueryResult>,
    nature: Nature,
    promise: &dyn Fn() -> Promise,
) -> Option<Difference> {
    let plain = match Answer::of(plain) {
        Ok(plain) => plain,
        Err(error) => return Some(failed(Side::Plain, error)),
    };
    match Answer::of(sharded) {
        Ok(sharded) => plain.difference(&sharded, nature, promise),
        Err(error) => Some(failed(Side::Sharded, error)),
    }
}

fn failed(side: Side, error: DbErr) -> Difference {
    Difference::Error { side, error }
}
