//! The decisions of a plan, collected while its nodes run.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use addr::ResourceInstance;
use state::{EphemeralPlan, ObjectAddress, OutputChange, ResourceChange};
use values::Str;

/// The decisions of a plan that is being made.
#[derive(Default)]
pub(crate) struct Decisions {
    parts: RefCell<DecisionParts>,
}

/// The decisions as data.
#[derive(Clone, Default)]
pub(crate) struct DecisionParts {
    pub(crate) changes: Vec<Arc<ResourceChange>>,
    pub(crate) drift: BTreeMap<ObjectAddress, Arc<ResourceChange>>,
    /// The ephemeral resources that the plan opened or deferred; may name one several times.
    pub(crate) ephemerals: Vec<EphemeralPlan>,
    pub(crate) outputs: BTreeMap<Str, OutputChange>,
}

impl Decisions {
    pub(crate) fn add_change(&self, change: Arc<ResourceChange>) {
        self.parts.borrow_mut().changes.push(change);
    }

    /// Adds a change that was made outside of Mayfly, and that the refresh found.
    pub(crate) fn add_drift(&self, drift: Arc<ResourceChange>) {
        self.parts.borrow_mut().drift.insert(drift.object(), drift);
    }

    /// The drift of an object; `None` if the refresh found no change.
    pub(crate) fn drift(&self, address: &ObjectAddress) -> Option<Arc<ResourceChange>> {
        self.parts.borrow().drift.get(address).cloned()
    }

    pub(crate) fn add_ephemeral(&self, ephemeral: EphemeralPlan) {
        self.parts.borrow_mut().ephemerals.push(ephemeral);
    }

    pub(crate) fn set_output(&self, name: Str, change: OutputChange) {
        self.parts.borrow_mut().outputs.insert(name, change);
    }

    pub(crate) fn remove_output(&self, name: &str) {
        self.parts.borrow_mut().outputs.remove(name);
    }

    /// Drops the decisions about instances for which `is_kept` returns false.
    pub(crate) fn retain(&self, is_kept: impl Fn(&ResourceInstance) -> bool) {
        let parts = &mut *self.parts.borrow_mut();
        parts.changes.retain(|it| is_kept(&it.addr));
        parts.drift.retain(|address, _| is_kept(&address.instance));
    }

    pub(crate) fn take(&self) -> DecisionParts {
        self.parts.take()
    }

    /// Starts from the decisions of an earlier plan.
    pub(crate) fn restore(&self, parts: DecisionParts) {
        self.parts.replace(parts);
    }
}
