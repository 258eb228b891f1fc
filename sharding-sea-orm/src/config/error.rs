//! The error of one value, on its way to the place that it is reported for.

use std::fmt;

use serde::de;

#[derive(Debug)]
pub(super) enum Error {
    /// The value has to be something else.
    Expected(String),
    /// Something else is wrong with it.
    Other(String),
    /// It was reported.
    Reported,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(what) => write!(f, "has to be {what}"),
            Self::Other(why) => f.write_str(why),
            Self::Reported => f.write_str("is wrong"),
        }
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self::Other(why.to_string())
    }

    /// What was found is left out: it may be secret.
    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::Expected(expected.to_string())
    }

    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::Expected(expected.to_string())
    }
}
