//! Shared code of the providers for files.
//!
//! Start at [`Draft`], which writes files; [`Digests`] describes their content, and [`Mode`] their permissions.

mod digests;
mod draft;
mod mode;

use mayfly_sdk::{Diagnostic, Path};

pub(crate) use self::{
    digests::Digests,
    draft::{Draft, FileId},
    mode::{IsMode, Mode},
};

/// Runs blocking work on a separate thread.
pub(crate) async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, so no caller waits for an answer.
            Err(_) => std::future::pending().await,
        },
    }
}

/// Creates an error about a file that an attribute names. `why` must not quote the content of the file.
pub(crate) fn file_error(
    attribute: impl Into<Path>,
    summary: &str,
    file: impl AsRef<std::path::Path>,
    why: impl std::fmt::Display,
) -> Diagnostic {
    let detail = format!("{}: {why}.", file.as_ref().display());
    Diagnostic::error(summary, detail).at(attribute.into())
}
