//! The options of `explain`.

use std::{num::NonZero, path::PathBuf};

use clap::{ArgAction, Args};
use operations::store::StateOptions;

use super::{
    JsonArgs, LockArgs, OperationArgs, SecretsArgs, TargetArgs, VarArgs, ViewArgs,
    shared::{PARALLELISM, parallelism},
};

#[derive(Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    /// The address of an object, an attribute, an output, a local value, a variable or a module; or the ID of an error
    /// or warning, as shown in brackets. Without it, each change of the plan is explained in one line.
    #[arg(value_name = "ADDRESS|ID")]
    pub(crate) subject: Option<String>,
    /// List the IDs of all errors and warnings.
    #[arg(long)]
    pub(crate) ids: bool,
    /// Explain this saved plan, instead of planning the working directory.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Maximum number of concurrent provider operations.
    #[arg(long, value_name = "N", default_value_t = PARALLELISM, value_parser = parallelism)]
    pub(crate) parallelism: NonZero<usize>,
    /// Read the current state of every object from its provider before planning.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) refresh: bool,
    /// Explain a plan to destroy all objects.
    #[arg(long)]
    pub(crate) destroy: bool,
    /// Explain a plan that replaces this instance. May be repeated.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<String>,
    #[command(flatten)]
    pub(crate) secrets: SecretsArgs,
    #[command(flatten)]
    pub(crate) targets: TargetArgs,
    /// Ask for the values of variables that have none.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) input: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// The state file to read.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
}

impl ExplainArgs {
    /// The options of the plan that is explained.
    pub(crate) fn operation(&self) -> OperationArgs {
        OperationArgs {
            parallelism: self.parallelism,
            refresh: self.refresh,
            destroy: self.destroy,
            refresh_only: false,
            replace: self.replace.clone(),
            retry_uncertain: false,
            secrets: self.secrets,
            targets: self.targets.clone(),
            input: self.input,
            json: self.json.clone(),
            show_sensitive: false,
        }
    }

    /// The options for the state of the plan.
    pub(crate) fn state_options(&self) -> StateOptions {
        StateOptions { state: self.state.clone(), ..self.lock.options() }
    }

    /// Returns true if an option is about planning, which has no meaning for a saved plan.
    pub(crate) fn has_plan_options(&self) -> bool {
        let has_addresses = !self.replace.is_empty() || self.targets != TargetArgs::default();
        let has_values = !self.vars.vars.is_empty() || !self.vars.var_files.is_empty();
        !self.refresh || self.destroy || has_addresses || has_values || self.state.is_some()
    }
}
