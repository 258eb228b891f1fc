/// Why rows of several nodes cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A SUM of values that are not numbers. Select the rows themselves, or add the sharding key.
    #[error("values of this type cannot be added across nodes")]
    NotANumber,
    /// A database sorted rows otherwise than its catalog says. Read the catalogs again if the
    /// tables were altered; otherwise please report it.
    #[error("a data source sorted its rows otherwise than its catalog says")]
    OutOfOrder,
}
