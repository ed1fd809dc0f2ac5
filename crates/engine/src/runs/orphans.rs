//! Orphans: resources of the state whose objects are planned without a block of the configuration.

use std::{cell::RefCell, rc::Rc};

use addr::{AbsResource, InstanceKey, ProviderConfigRef};
use rustc_hash::FxHashMap;
use state::Reason;

use crate::graph::NodeIx;

/// A resource of the state without a block, with all its instances. In a destroy plan, any managed resource.
pub(crate) struct Orphan {
    pub(crate) address: AbsResource,
    pub(crate) provider: ProviderConfigRef,
    /// The instances with a current object, each with the reason of its deletion.
    pub(crate) instances: Vec<(InstanceKey, Option<Reason>)>,
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
