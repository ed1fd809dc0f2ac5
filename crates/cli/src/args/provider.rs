//! The arguments of the commands of `provider`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{deferred::Deferred, shared::ViewArgs};

#[derive(Subcommand)]
pub(crate) enum ProviderCommand {
    /// Create the crate of a provider written in Rust, with a test of each of its types.
    New(Deferred<ProviderNewArgs>),
}

#[derive(Args)]
pub(crate) struct ProviderNewArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// The name of the provider: lower-case letters and digits. The names of its types begin with it.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The namespace of the provider's source address.
    #[arg(long, value_name = "NAMESPACE", default_value = "example")]
    pub(crate) namespace: String,
    /// The root of a checkout of Mayfly, which has the SDK. Defaults to the one that this program was built in.
    #[arg(long, value_name = "DIR")]
    pub(crate) sdk: Option<PathBuf>,
}
