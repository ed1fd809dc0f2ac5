//! The arguments of the commands of `workspace`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    deferred::Deferred,
    json::JsonArgs,
    shared::{LockArgs, VarArgs, ViewArgs},
};

#[derive(Subcommand)]
pub(crate) enum WorkspaceCommand {
    /// List the workspaces.
    List(Deferred<WorkspaceListArgs>),
    /// Select another workspace.
    Select(Deferred<WorkspaceSelectArgs>),
    /// Create a workspace and select it.
    New(Deferred<WorkspaceNewArgs>),
    /// Delete a workspace.
    Delete(Deferred<WorkspaceDeleteArgs>),
    /// Print the name of the selected workspace.
    Show(Deferred<WorkspaceShowArgs>),
}

#[derive(Args)]
pub(crate) struct WorkspaceListArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
}

#[derive(Args)]
pub(crate) struct WorkspaceShowArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
}

#[derive(Args)]
pub(crate) struct WorkspaceSelectArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Create the workspace if it does not exist.
    #[arg(long)]
    pub(crate) or_create: bool,
    /// The name of the workspace.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Args)]
pub(crate) struct WorkspaceNewArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// A state file that becomes the first state of the workspace.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    /// The name of the workspace.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Args)]
pub(crate) struct WorkspaceDeleteArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// Delete the workspace even if it manages objects, which are not managed any more then.
    #[arg(long)]
    pub(crate) force: bool,
    /// The name of the workspace.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}
