//! The arguments of `taint`, `untaint` and the commands of `state`.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};

use super::{
    deferred::Deferred,
    json::JsonArgs,
    shared::{LockArgs, StateArgs, VarArgs, ViewArgs},
};

#[derive(Subcommand)]
pub(crate) enum StateCommand {
    /// List the resources in the state.
    #[command(alias = "ls")]
    List(Deferred<StateListArgs>),
    /// Show one resource of the state.
    Show(Deferred<StateShowArgs>),
    /// Move an object to another address, or to another state.
    #[command(alias = "move")]
    Mv(Deferred<MvArgs>),
    /// Remove objects from the state, and leave them as they are.
    #[command(alias = "remove")]
    Rm(Deferred<RmArgs>),
    /// Print the whole state.
    Pull(Deferred<PullArgs>),
    /// Replace the whole state.
    Push(Deferred<PushArgs>),
    /// Give the objects of one provider to another one.
    ReplaceProvider(Deferred<ReplaceProviderArgs>),
    /// Record the outcome of a creation that a provider never confirmed.
    Adopt(Deferred<StateAdoptArgs>),
}

#[derive(Args)]
pub(crate) struct StateListArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// The state file to read.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    /// Only list objects with this ID.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Only list these resources, or resources in these modules.
    #[arg(value_name = "ADDRESS")]
    pub(crate) addresses: Vec<String>,
}

#[derive(Args)]
pub(crate) struct StateShowArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// The state file to read.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    /// Show sensitive values.
    #[arg(long)]
    pub(crate) show_sensitive: bool,
    /// The address of the resource instance.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
}

#[derive(Args)]
pub(crate) struct StateAdoptArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Record that the object does not exist, so that it can be created again.
    #[arg(long, conflicts_with = "id")]
    pub(crate) gone: bool,
    /// Ask for the values of variables that have none.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) input: bool,
    /// The address of the instance whose creation was not confirmed.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
    /// The import ID of the object. See "Import" in the provider's documentation.
    #[arg(value_name = "ID", required_unless_present = "gone")]
    pub(crate) id: Option<String>,
}

#[derive(Args)]
pub(crate) struct TaintArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Succeed with a warning if the state has no such object.
    #[arg(long)]
    pub(crate) allow_missing: bool,
    /// Accepted for compatibility with scripts. Only a remote backend has another version.
    #[arg(long = "ignore-remote-version")]
    pub(crate) _ignore_remote_version: bool,
    /// The address of the resource instance.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
}

#[derive(Args)]
pub(crate) struct MvArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Only print what would be moved.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The file for the backup of the state that gets the objects.
    #[arg(long, value_name = "PATH")]
    pub(crate) backup_out: Option<String>,
    /// Accepted for compatibility with scripts. Only a remote backend has another version.
    #[arg(long = "ignore-remote-version")]
    pub(crate) _ignore_remote_version: bool,
    /// The address of a module, a resource or an instance.
    #[arg(value_name = "SOURCE")]
    pub(crate) from: String,
    /// Its new address.
    #[arg(value_name = "DESTINATION")]
    pub(crate) to: String,
}

#[derive(Args)]
pub(crate) struct RmArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// The state file to change.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    /// The file for the backup of the previous state.
    #[arg(long, value_name = "PATH")]
    pub(crate) backup: Option<String>,
    /// Only print what would be removed.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Accepted for compatibility with scripts. Only a remote backend has another version.
    #[arg(long = "ignore-remote-version")]
    pub(crate) _ignore_remote_version: bool,
    /// Addresses of modules, resources or instances.
    #[arg(value_name = "ADDRESS", required = true)]
    pub(crate) addresses: Vec<String>,
}

#[derive(Args)]
pub(crate) struct PullArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
}

#[derive(Args)]
pub(crate) struct PushArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// Write the state even if it has another lineage or a lower serial.
    #[arg(long)]
    pub(crate) force: bool,
    /// Accepted for compatibility with scripts. Only a remote backend has another version.
    #[arg(long = "ignore-remote-version")]
    pub(crate) _ignore_remote_version: bool,
    /// The state file to push; "-" for standard input.
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
}

#[derive(Args)]
pub(crate) struct ReplaceProviderArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// The state file to change.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    /// The file for the backup of the previous state.
    #[arg(long, value_name = "PATH")]
    pub(crate) backup: Option<String>,
    /// Do not ask for approval.
    #[arg(long)]
    pub(crate) auto_approve: bool,
    /// Accepted for compatibility with scripts. Only a remote backend has another version.
    #[arg(long = "ignore-remote-version")]
    pub(crate) _ignore_remote_version: bool,
    /// The source address of the provider in the state.
    #[arg(value_name = "FROM")]
    pub(crate) from: String,
    /// The source address of the provider that takes its place.
    #[arg(value_name = "TO")]
    pub(crate) to: String,
}
