//! The flags of `refresh`, which is a form of `apply`.

use std::num::NonZero;

use clap::{ArgAction, Args};
use operations::{
    goal::{Goal, GoalFlags},
    session::{Failure, Session},
};

use super::{
    ApplyArgs, JsonArgs, OperationArgs, SecretsArgs, StateArgs, TargetArgs, VarArgs, ViewArgs,
    shared::{PARALLELISM, parallelism},
};

#[derive(Args)]
pub(crate) struct RefreshArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Maximum number of concurrent provider operations.
    #[arg(long, value_name = "N", default_value_t = PARALLELISM, value_parser = parallelism)]
    pub(crate) parallelism: NonZero<usize>,
    #[command(flatten)]
    pub(crate) secrets: SecretsArgs,
    #[command(flatten)]
    pub(crate) targets: TargetArgs,
    /// No effect: a refresh has only one mode.
    #[arg(long)]
    pub(crate) destroy: bool,
    /// No effect: a refresh has only one mode.
    #[arg(long)]
    pub(crate) refresh_only: bool,
    /// No effect: a refresh always reads the objects.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) refresh: bool,
    /// No effect: a refresh replaces nothing.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<String>,
    /// Ask for the values of variables that have none.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) input: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

impl RefreshArgs {
    /// Checks the flags that have no effect, as OpenTofu does.
    ///
    /// # Errors
    /// The errors in these flags.
    pub(crate) fn check(&self, session: &Session) -> Result<(), Failure> {
        let flags = GoalFlags {
            has_own_goal: true,
            destroy: self.destroy,
            refresh_only: self.refresh_only,
            refresh: self.refresh,
            replace: self.replace.clone(),
            ..GoalFlags::default()
        };
        Goal::new(session, &flags).map(drop)
    }

    /// The apply that the command stands for.
    pub(crate) fn into_apply(self) -> ApplyArgs {
        let operation = OperationArgs {
            parallelism: self.parallelism,
            refresh: true,
            destroy: false,
            refresh_only: true,
            replace: Vec::new(),
            retry_uncertain: false,
            secrets: self.secrets,
            targets: self.targets,
            input: self.input,
            json: self.json,
            show_sensitive: false,
        };
        ApplyArgs {
            view: self.view,
            vars: self.vars,
            state: self.state,
            operation,
            auto_approve: true,
            suppress_forget_errors: false,
            plan_file: None,
            is_destroy: false,
            is_refresh: true,
        }
    }
}
