//! The options of `graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::shared::{VarArgs, ViewArgs};

#[derive(Args)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Show the graph for this saved plan instead of the configuration in the working directory.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// The operation: by default "plan", or "apply" with -plan.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<GraphType>,
    /// Color the edges of cycles.
    #[arg(long)]
    pub(crate) draw_cycles: bool,
    /// Also show the ends of provider configurations.
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Accepted for compatibility with scripts. The graph has the nodes of all modules.
    #[arg(long = "module-depth", value_name = "N", allow_hyphen_values = true)]
    pub(crate) _module_depth: Option<i64>,
}

/// The operation whose graph is shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum GraphType {
    Plan,
    PlanRefreshOnly,
    PlanDestroy,
    Apply,
}
