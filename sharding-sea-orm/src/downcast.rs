//! The one unsafe function of the workspace.

use sea_orm::StatementBuilder;

/// The statement as its own type, if it is a `T`.
///
/// SeaORM's connection trait hands statements over as `S: StatementBuilder` without `'static`, so
/// [`std::any::Any`] does not apply; the type ids that the compiler knows do.
#[allow(
    unsafe_code,
    reason = "a cast between types that were just found to be the same"
)]
pub(crate) fn downcast<S: StatementBuilder, T: 'static>(statement: &S) -> Option<&T> {
    if typeid::of::<S>() != std::any::TypeId::of::<T>() {
        return None;
    }
    // SAFETY: `typeid::of` gives the id of `S` with all its lifetimes made `'static`, so `S` is `T`
    // up to lifetimes; `T: 'static` has none of its own in the types used here, so both are one
    // type with one layout and the reference is to a valid `T`.
    Some(unsafe { &*std::ptr::from_ref(statement).cast::<T>() })
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::{DeleteStatement, Query, SelectStatement};

    use super::downcast;

    #[test]
    fn only_the_same_type_is_cast() {
        let select = Query::select().expr(1).to_owned();
        assert_eq!(downcast::<_, SelectStatement>(&select), Some(&select));
        assert!(downcast::<_, DeleteStatement>(&select).is_none());
    }
}
