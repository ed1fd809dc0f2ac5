//! Errors of buckets.

/// An error that prevents the use of a bucket. The texts are sentence fragments.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The address, the credentials or an answer cannot be used.
    #[error("{0}")]
    Refused(String),
    /// The request failed.
    #[error("{cause}{advice}")]
    Http {
        /// The error of the request.
        cause: http_client::Error,
        /// The way out, which begins with a semicolon. Empty if there is none.
        advice: String,
    },
}

impl StorageError {
    pub(crate) fn refused(why: impl Into<String>) -> StorageError {
        StorageError::Refused(why.into())
    }
}
