//! Arguments as options of the operations.

use operations::{plan::PlanOptions, store::StateOptions};

use super::{OperationArgs, StateArgs};

impl StateArgs {
    /// The options for the operations.
    pub(crate) fn options(&self) -> StateOptions {
        StateOptions {
            lock: self.lock,
            lock_timeout: self.lock_timeout.clone(),
            state: self.state.clone(),
            state_out: self.state_out.clone(),
            backup: self.backup.clone(),
        }
    }
}

impl OperationArgs {
    /// The options for planning.
    pub(crate) fn plan(&self, applying: bool, is_saved: bool) -> PlanOptions {
        PlanOptions {
            parallelism: self.parallelism.get(),
            refresh: self.refresh,
            destroy: self.destroy,
            replace: self.replace.clone(),
            retry_uncertain: self.retry_uncertain,
            input: self.input && !self.json.json,
            applying,
            is_saved,
        }
    }
}
