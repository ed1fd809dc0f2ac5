//! What the providers of files have in common.
//!
//! Start at [`Draft`], which is how files come to be; [`Digests`] is what is known of one, [`Mode`] what may be done with
//! it.

mod digests;
mod draft;
mod mode;

use provider::ProviderDiagnostic;
use values::Path;

pub(crate) use self::{
    digests::Digests,
    draft::{Draft, FileId},
    mode::{IsMode, Mode},
};

/// Does work that waits for disks beside the calls that do not.
pub(crate) async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The server ends, and nobody waits for an answer.
            Err(_) => std::future::pending().await,
        },
    }
}

/// An error about a file that an attribute names. The text must not be of the file's content.
pub(crate) fn file_error(
    attribute: &Path,
    summary: &str,
    file: &std::path::Path,
    why: impl std::fmt::Display,
) -> ProviderDiagnostic {
    ProviderDiagnostic::error(summary, format!("{}: {why}.", file.display())).at(attribute.clone())
}
