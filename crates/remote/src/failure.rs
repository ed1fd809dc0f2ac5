//! The reasons why a connection fails.

use engine::ConnectError;

/// An error that another attempt may not have.
pub(crate) fn passing(reason: impl Into<String>) -> ConnectError {
    ConnectError { reason: reason.into(), is_final: false }
}

/// An error that every attempt would have.
pub(crate) fn lasting(reason: impl Into<String>) -> ConnectError {
    ConnectError { reason: reason.into(), is_final: true }
}
