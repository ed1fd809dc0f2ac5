//! Arguments as options of the operations.

use operations::{
    goal::{Goal, GoalFlags},
    plan::PlanOptions,
    session::{Failure, Session},
    store::StateOptions,
};

use super::{LockArgs, OperationArgs, StateArgs};

impl StateArgs {
    /// The options for the operations.
    pub(crate) fn options(&self) -> StateOptions {
        StateOptions {
            state: self.state.clone(),
            state_out: self.state_out.clone(),
            backup: self.backup.clone(),
            ..self.lock.options()
        }
    }
}

impl LockArgs {
    /// The options for the operations: a lock, and the configured place of the state.
    pub(crate) fn options(&self) -> StateOptions {
        StateOptions {
            lock: self.lock,
            lock_timeout: self.lock_timeout.clone(),
            state: None,
            state_out: None,
            backup: None,
        }
    }
}

impl OperationArgs {
    /// The options for planning.
    pub(crate) fn plan(&self, goal: Goal, applying: bool, is_saved: bool) -> PlanOptions {
        PlanOptions {
            parallelism: self.parallelism.get(),
            refresh: self.refresh,
            goal,
            retry_uncertain: self.retry_uncertain,
            input: self.input && !self.json.json,
            applying,
            is_saved,
            is_quiet: false,
            generate_config_out: None,
            since: None,
            changes: None,
        }
    }

    /// The goal that the flags describe. `is_saved` is true if the command applies a saved plan, which has its own
    /// goal.
    ///
    /// # Errors
    /// The errors in the flags.
    pub(crate) fn goal(&self, session: &Session, is_saved: bool) -> Result<Goal, Failure> {
        let flags = GoalFlags {
            has_own_goal: is_saved,
            destroy: self.destroy,
            refresh_only: self.refresh_only,
            refresh: self.refresh,
            replace: self.replace.clone(),
            targets: self.targets.target.clone(),
            target_files: self.targets.target_file.clone(),
            excludes: self.targets.exclude.clone(),
            exclude_files: self.targets.exclude_file.clone(),
        };
        Goal::new(session, &flags)
    }
}
