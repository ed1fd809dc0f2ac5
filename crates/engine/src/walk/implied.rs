//! Nodes without a block in the configuration: resources that only the state has, and implied provider
//! configurations.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use addr::{AbsResource, ProviderSource};
use rustc_hash::FxHashMap;

use super::Orphan;
use crate::graph::NodeIx;

/// The implied nodes of a run, each found by what it stands for.
#[derive(Default)]
pub(crate) struct ImpliedNodes {
    parts: RefCell<ImpliedParts>,
    /// The node that stands for all managed resources, once a data source of a `check` block waits for it.
    all_applied: Cell<Option<NodeIx>>,
}

/// The implied nodes of an ended run.
#[derive(Default)]
pub(crate) struct ImpliedParts {
    orphans: Vec<Rc<Orphan>>,
    orphan_nodes: FxHashMap<AbsResource, NodeIx>,
    providers: Vec<ProviderSource>,
    provider_nodes: FxHashMap<ProviderSource, NodeIx>,
}

impl ImpliedNodes {
    pub(crate) fn orphan(&self, index: u32) -> Rc<Orphan> {
        Rc::clone(&self.parts.borrow().orphans[index as usize])
    }

    /// The node of a resource that only the state has; `None` if it has none.
    pub(crate) fn orphan_node(&self, address: &AbsResource) -> Option<NodeIx> {
        self.parts.borrow().orphan_nodes.get(address).copied()
    }

    /// Adds a resource that only the state has; `add` makes its node from its index.
    pub(crate) fn add_orphan(&self, orphan: Orphan, add: impl FnOnce(u32) -> NodeIx) -> NodeIx {
        let parts = &mut *self.parts.borrow_mut();
        let node = add(parts.orphans.len() as u32);
        parts.orphan_nodes.insert(orphan.address.clone(), node);
        parts.orphans.push(Rc::new(orphan));
        node
    }

    /// The provider of an implied configuration.
    pub(crate) fn provider(&self, index: u32) -> ProviderSource {
        self.parts.borrow().providers[index as usize].clone()
    }

    /// The node of the implied configuration of a provider; `add` makes it from its index if there is none yet.
    pub(crate) fn provider_node(
        &self,
        source: &ProviderSource,
        add: impl FnOnce(u32) -> NodeIx,
    ) -> NodeIx {
        let parts = &mut *self.parts.borrow_mut();
        if let Some(node) = parts.provider_nodes.get(source) {
            return *node;
        }
        let node = add(parts.providers.len() as u32);
        parts.providers.push(source.clone());
        parts.provider_nodes.insert(source.clone(), node);
        node
    }

    /// The node that stands for all managed resources; `add` makes it at the first question.
    pub(crate) fn all_applied(&self, add: impl FnOnce() -> NodeIx) -> NodeIx {
        let node = self.all_applied.get().unwrap_or_else(add);
        self.all_applied.set(Some(node));
        node
    }

    pub(crate) fn take(&self) -> ImpliedParts {
        self.parts.take()
    }

    pub(crate) fn restore(&self, parts: ImpliedParts) {
        self.parts.replace(parts);
    }
}
