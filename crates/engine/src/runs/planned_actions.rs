//! The changes of a plan, as the apply looks them up.

use addr::ResourceInstance;
use rustc_hash::FxHashMap;
use sorted::TreeMap;
use state::{Action, OutputChange, Plan, PlanMode, ResourceChange};
use values::{Str, Value};

use crate::targeting::Targeting;

/// The changes of a plan, by address.
pub(crate) struct PlannedActions<'p> {
    changes: FxHashMap<&'p ResourceInstance, &'p ResourceChange>,
    outputs: &'p TreeMap<Str, OutputChange>,
    destroyed: Vec<&'p ResourceChange>,
    targeting: Option<Targeting>,
    is_partial: bool,
}

impl<'p> PlannedActions<'p> {
    pub(crate) fn new(plan: &'p Plan) -> PlannedActions<'p> {
        let current = plan.changes().filter(|it: &&ResourceChange| it.deposed.is_none());
        let destroys = |it: &&ResourceChange| {
            matches!(
                it.change.action,
                Action::Delete
                    | Action::DeleteThenCreate
                    | Action::CreateThenDelete
                    | Action::Forget
            )
        };
        PlannedActions {
            changes: current.map(|it| (&it.addr, it)).collect(),
            outputs: &plan.output_changes,
            destroyed: plan.changes().filter(destroys).collect(),
            is_partial: plan.mode == PlanMode::RefreshOnly
                || !plan.targets.is_empty()
                || !plan.excludes.is_empty(),
            targeting: Targeting::of(&plan.targets, &plan.excludes),
        }
    }

    /// The planned change of the current object of an instance; `None` if the plan has none.
    pub(crate) fn change(&self, address: &ResourceInstance) -> Option<&'p ResourceChange> {
        self.changes.get(address).copied()
    }

    /// The planned changes of current objects, in no particular order.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &'p ResourceChange> + '_ {
        self.changes.values().copied()
    }

    /// The targets that the plan was made with; `None` if it has none.
    pub(crate) fn targeting(&self) -> Option<&Targeting> {
        self.targeting.as_ref()
    }

    /// Returns true if instances may have no object after the apply, or objects no instance, because the plan left them
    /// as they are.
    pub(crate) fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Returns true if the plan evaluated an output of the root module.
    pub(crate) fn has_output(&self, name: &str) -> bool {
        self.outputs.get(name).is_some_and(|it| it.action != Action::Delete)
    }

    /// The value of a root output, if the plan knew it wholly. An apply keeps this value, whatever providers
    /// return meanwhile.
    pub(crate) fn known_output(&self, name: &str) -> Option<&'p Value> {
        self.outputs.get(name).map(|it| &it.after).filter(|it| it.is_wholly_known())
    }

    /// The changes that destroy or forget an object, current or deposed. A destroy node has an index into this list.
    pub(crate) fn destroyed(&self) -> &[&'p ResourceChange] {
        &self.destroyed
    }
}
