//! The arguments of the commands of `providers`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    deferred::Deferred,
    json::JsonArgs,
    shared::{VarArgs, ViewArgs},
};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ProvidersArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// The directory with test files, in addition to the working directory.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    pub(crate) test_directory: PathBuf,
    #[command(subcommand)]
    pub(crate) command: Option<ProvidersCommand>,
}

#[derive(Subcommand)]
pub(crate) enum ProvidersCommand {
    /// Print the schemas of the configuration's providers.
    Schema(Deferred<ProvidersSchemaArgs>),
    /// Add the checksums of packages to the lock file, without installing them.
    Lock(Deferred<ProvidersLockArgs>),
    /// Copy the packages of all required providers to a directory that serves as a mirror.
    Mirror(Deferred<ProvidersMirrorArgs>),
}

#[derive(Args)]
pub(crate) struct ProvidersSchemaArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Required: schemas are only printed as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ProvidersLockArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// The platform of the packages, such as linux_amd64. May be repeated. Defaults to the current one.
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Vec<String>,
    /// Take the packages from this directory only.
    #[arg(long, value_name = "DIR")]
    pub(crate) fs_mirror: Option<PathBuf>,
    /// Take the packages from this network mirror only.
    #[arg(long, value_name = "URL")]
    pub(crate) net_mirror: Option<String>,
    /// The source addresses of the providers to lock. Defaults to all that the configuration requires.
    #[arg(value_name = "PROVIDER")]
    pub(crate) providers: Vec<String>,
}

#[derive(Args)]
pub(crate) struct ProvidersMirrorArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// The platform of the packages, such as linux_amd64. May be repeated. Defaults to the current one.
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Vec<String>,
    /// The directory of the mirror.
    #[arg(value_name = "TARGET_DIR")]
    pub(crate) directory: PathBuf,
}
