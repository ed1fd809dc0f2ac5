//! The flags for output that scripts read.

use std::path::PathBuf;

use clap::Args;

/// Output as JSON, one object per line.
#[derive(Args, Clone, Default)]
pub(crate) struct JsonArgs {
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print text, and also write the output of -json to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) json_into: Option<PathBuf>,
}
