//! The resources of a state by module instance.

use addr::{AbsResource, ModuleInstance};
use rustc_hash::{FxHashMap, FxHashSet};
use state::State;

/// The resources of a state by module instance. With it, finding the orphans of a module does not scan the whole
/// state.
#[derive(Default)]
pub(crate) struct StateIndex {
    pub(crate) resources: FxHashMap<ModuleInstance, Vec<AbsResource>>,
    /// The children of a module instance that contain resources, directly or further down.
    pub(crate) children: FxHashMap<ModuleInstance, Vec<ModuleInstance>>,
}

impl StateIndex {
    pub(crate) fn new(state: &State) -> StateIndex {
        let mut index = StateIndex::default();
        let mut placed = FxHashSet::default();
        for (address, _) in state.resources() {
            let known = index.resources.contains_key(&address.module);
            index.resources.entry(address.module.clone()).or_default().push(address.clone());
            if !known {
                index.add_parents(&address.module, &mut placed);
            }
        }
        index
    }

    /// Adds a module instance and its ancestors to the children of their parents. `placed` holds those that were
    /// added before.
    fn add_parents(&mut self, module: &ModuleInstance, placed: &mut FxHashSet<ModuleInstance>) {
        let mut module = module.clone();
        while let Some(parent) = module.parent() {
            if !placed.insert(module.clone()) {
                return;
            }
            self.children.entry(parent.clone()).or_default().push(module);
            module = parent;
        }
    }

    /// Appends the resources of a module instance and of all its descendants to `found`.
    pub(crate) fn all_within(&self, module: &ModuleInstance, found: &mut Vec<AbsResource>) {
        found.extend(self.resources.get(module).into_iter().flatten().cloned());
        for child in self.children.get(module).into_iter().flatten() {
            self.all_within(child, found);
        }
    }
}
