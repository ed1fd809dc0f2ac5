//! The error of fetching a package.

use std::io;

/// An error that prevented fetching a package. The texts are sentence fragments.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The output of git or hg.
    #[error("{0}")]
    Program(String),
    /// The source was refused, with the reason.
    #[error("{0}")]
    Refused(String),
    /// This version does not support the getter.
    #[error("{0}")]
    Unsupported(String),
    /// The download failed.
    #[error(transparent)]
    Http(#[from] http_client::Error),
    /// The bucket cannot be used.
    #[error(transparent)]
    Storage(#[from] object_storage::StorageError),
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}
