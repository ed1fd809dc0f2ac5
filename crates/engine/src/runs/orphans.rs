//! Orphans: resources of the state whose objects are planned without a block of the configuration.

use std::{cell::RefCell, rc::Rc};

use addr::{AbsResource, InstanceKey, ProviderConfigRef};
use rustc_hash::FxHashMap;
use state::{DeposedKey, Reason, ResourceState};

use crate::graph::NodeIx;

/// A resource of the state without a block, with all its instances. In a destroy plan, any managed resource.
pub(crate) struct Orphan {
    pub(crate) address: AbsResource,
    pub(crate) provider: ProviderConfigRef,
    pub(crate) objects: Vec<GoneObject>,
}

/// An object of the state that the configuration does not have: the current one of an instance without a
/// declaration, or a deposed one of any instance.
#[derive(Clone)]
pub(crate) struct GoneObject {
    pub(crate) key: InstanceKey,
    /// The key of a deposed object; `None` for the current one.
    pub(crate) deposed: Option<DeposedKey>,
    /// The reason of the deletion.
    pub(crate) reason: Option<Reason>,
}

impl GoneObject {
    /// The objects of a resource that are gone: all deposed ones, and the current ones of the instances for which
    /// `is_declared` returns false.
    pub(crate) fn all_of(
        resource: &ResourceState,
        is_declared: impl Fn(&InstanceKey) -> bool,
        reason: impl Fn(&InstanceKey) -> Option<Reason>,
    ) -> Vec<GoneObject> {
        let mut gone = Vec::new();
        for (key, instance) in &resource.instances {
            if instance.current.is_some() && !is_declared(key) {
                gone.push(GoneObject { key: key.clone(), deposed: None, reason: reason(key) });
            }
            // The plan gives deposed objects no reason: they are left over from a replacement, whatever is declared.
            gone.extend(instance.deposed.keys().map(|deposed| GoneObject {
                key: key.clone(),
                deposed: Some(*deposed),
                reason: None,
            }));
        }
        gone
    }
}

/// The orphans of a plan, with their nodes.
#[derive(Default)]
pub(crate) struct Orphans {
    parts: RefCell<OrphanParts>,
}

/// The orphans of an ended plan.
#[derive(Default)]
pub(crate) struct OrphanParts {
    list: Vec<Rc<Orphan>>,
    nodes: FxHashMap<AbsResource, NodeIx>,
}

impl Orphans {
    pub(crate) fn get(&self, index: u32) -> Rc<Orphan> {
        Rc::clone(&self.parts.borrow().list[index as usize])
    }

    /// The node of an orphan; `None` if the resource is no orphan.
    pub(crate) fn node(&self, address: &AbsResource) -> Option<NodeIx> {
        self.parts.borrow().nodes.get(address).copied()
    }

    /// Adds an orphan. `add` makes its node from its index.
    pub(crate) fn add(&self, orphan: Orphan, add: impl FnOnce(u32) -> NodeIx) -> NodeIx {
        let parts = &mut *self.parts.borrow_mut();
        let node = add(parts.list.len() as u32);
        parts.nodes.insert(orphan.address.clone(), node);
        parts.list.push(Rc::new(orphan));
        node
    }

    pub(crate) fn take(&self) -> OrphanParts {
        self.parts.take()
    }

    /// Starts from the orphans of an earlier plan.
    pub(crate) fn restore(&self, parts: OrphanParts) {
        self.parts.replace(parts);
    }
}
