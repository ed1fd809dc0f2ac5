//! Progress events of an operation.

pub(crate) mod human;
pub(crate) mod json;
mod progress;
#[cfg(test)]
mod tests;

pub use self::{
    human::{event, summary},
    json::event_json,
    progress::{DownloadProgress, ProgressLine, download_line, progress_line},
};
