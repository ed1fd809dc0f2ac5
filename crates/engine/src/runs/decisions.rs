//! The decisions of a plan, collected while its nodes run.

use std::{cell::RefCell, sync::Arc};

use addr::{AbsResource, InstanceKey, ResourceInstance};
use rustc_hash::FxHashMap;
use sorted::TreeMap;
use state::{EphemeralPlan, ObjectAddress, OutputChange, ResourceChange};
use values::Str;

/// The decisions of a plan that is being made.
#[derive(Default)]
pub(crate) struct Decisions {
    parts: RefCell<DecisionParts>,
    by_resource: RefCell<ByResource>,
}

/// The changes by resource. Changes are entered when one is first looked for.
#[derive(Default)]
struct ByResource {
    changes: FxHashMap<AbsResource, ChangesOfResource>,
    /// The number of changes that are entered.
    entered: usize,
}

/// The planned changes of a resource's current objects.
#[derive(Default)]
pub(crate) struct ChangesOfResource {
    pub(crate) by_key: TreeMap<InstanceKey, Arc<ResourceChange>>,
    /// True if one of them creates, updates or replaces its object.
    pub(crate) any_renews: bool,
}

/// The decisions as data.
#[derive(Clone, Default)]
pub(crate) struct DecisionParts {
    pub(crate) changes: Vec<Arc<ResourceChange>>,
    pub(crate) drift: TreeMap<ObjectAddress, Arc<ResourceChange>>,
    /// The ephemeral resources that the plan opened or deferred; may name one several times.
    pub(crate) ephemerals: Vec<EphemeralPlan>,
    pub(crate) outputs: TreeMap<Str, OutputChange>,
}

impl Decisions {
    pub(crate) fn add_change(&self, change: Arc<ResourceChange>) {
        self.parts.borrow_mut().changes.push(change);
    }

    /// Gives `read` the changes of a resource that are planned so far.
    pub(crate) fn with_changes_of<T>(
        &self,
        resource: &AbsResource,
        read: impl FnOnce(&ChangesOfResource) -> T,
    ) -> T {
        let (parts, known) = (self.parts.borrow(), &mut *self.by_resource.borrow_mut());
        let new = parts.changes.iter().skip(known.entered).filter(|it| it.deposed.is_none());
        for change in new {
            let changes = known.changes.entry(change.addr.containing_resource()).or_default();
            changes.any_renews |= change.change.action.renews();
            changes.by_key.insert(change.addr.key.clone(), Arc::clone(change));
        }
        known.entered = parts.changes.len();
        read(known.changes.entry(resource.clone()).or_default())
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
        self.by_resource.take();
        let parts = &mut *self.parts.borrow_mut();
        parts.changes.retain(|it| is_kept(&it.addr));
        parts.drift.retain(|address, _| is_kept(&address.instance));
    }

    pub(crate) fn take(&self) -> DecisionParts {
        self.parts.take()
    }

    /// Starts from the decisions of an earlier plan.
    pub(crate) fn restore(&self, parts: DecisionParts) {
        self.by_resource.take();
        self.parts.replace(parts);
    }
}
