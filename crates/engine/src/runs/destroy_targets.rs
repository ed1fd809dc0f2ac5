//! The objects that a destroy plan with targets destroys, and those that it only reads.
//!
//! ```text
//!   target ──► the object ──► all that depends on it     are destroyed
//!   exclude ─► the object ──► all that it depends on     stay
//! ```
//!
//! As in OpenTofu, objects are read as by a plan without destruction: a target with all that it depends on.
//! Dependencies are those that the state stores and, for objects that are read, those of the configuration. Within one
//! module, objects of different instances do not depend on each other.

use addr::{AbsResource, ConfigResource, ModuleInstance, ResourceInstance, ResourceMode};
use rustc_hash::{FxHashMap, FxHashSet};
use sorted::TreeSet;
use state::{ObjectAddress, State};

use crate::{
    graph::tree::ConfigTree,
    targeting::{Selection, Targeting},
    walk::{context::Walk, modules::ModuleRun},
};

/// The limits of a destroy plan.
pub(crate) struct DestroyTargets {
    selection: Selection,
    /// The instances whose current objects are destroyed.
    ended: FxHashSet<ResourceInstance>,
}

impl DestroyTargets {
    /// Finds the objects. `refreshes` is true if the plan reads objects.
    pub(crate) fn new(targeting: Targeting, walk: &Walk<'_>, refreshes: bool) -> DestroyTargets {
        let state = walk.state.previous();
        let stored = state.resources().map(|(address, _)| address);
        let selection = Selection::new(targeting, &walk.config.tree, stored);
        let mut targets = DestroyTargets { selection, ended: FxHashSet::default() };
        let links = Links::new(state, |instance| {
            let tree = &walk.config.tree;
            (refreshes && targets.reads_current(tree, instance))
                .then(|| walk.dependencies_of(instance))
        });
        targets.ended = links.ended(targets.selection.targeting());
        targets
    }

    /// Returns true if an object is destroyed.
    pub(crate) fn ends(&self, object: &ObjectAddress) -> bool {
        match object.deposed {
            Some(_) => self.selection.targeting().selects(&object.instance),
            None => self.ended.contains(&object.instance),
        }
    }

    /// Returns true if an object is read, unless the plan reads none.
    pub(crate) fn reads(&self, tree: &ConfigTree, object: &ObjectAddress) -> bool {
        match object.deposed {
            Some(_) => self.selection.targeting().selects(&object.instance),
            None => self.reads_current(tree, &object.instance),
        }
    }

    fn reads_current(&self, tree: &ConfigTree, instance: &ResourceInstance) -> bool {
        let selects = || self.selection.targeting().selects(instance);
        match tree.resource(&instance.config()) {
            None => selects(),
            Some(node) => {
                self.selection.keeps(node) && (!self.selection.is_chosen(node) || selects())
            }
        }
    }

    /// Returns true if the plan needs a declaration of a module instance.
    pub(crate) fn needs(&self, tree: &ConfigTree, module: &ModuleRun, local: u32) -> bool {
        let module = tree.find(&module.path);
        module.is_some_and(|module| {
            self.selection.keeps(crate::graph::tree::ConfigNode { module, local })
        })
    }
}

/// The dependencies between the objects of a state.
struct Links {
    instances: Vec<ResourceInstance>,
    /// The positions of the instances of each resource.
    of_resource: FxHashMap<AbsResource, Vec<usize>>,
    /// The resources in all instances of a module.
    of_config: FxHashMap<ConfigResource, Vec<AbsResource>>,
    /// The dependencies of each instance.
    dependencies: Vec<Vec<ConfigResource>>,
}

impl Links {
    /// `more` gives the dependencies of an instance that the state does not store yet.
    fn new<D: AsRef<[ConfigResource]>>(
        state: &State,
        more: impl Fn(&ResourceInstance) -> Option<D>,
    ) -> Links {
        let mut links = Links {
            instances: Vec::new(),
            of_resource: FxHashMap::default(),
            of_config: FxHashMap::default(),
            dependencies: Vec::new(),
        };
        for entry in state.instances() {
            let Some(object) = &entry.instance.current else { continue };
            let instance = entry.address;
            if instance.resource.mode != ResourceMode::Managed {
                continue;
            }
            let resource = instance.containing_resource();
            let known = links.of_resource.entry(resource.clone()).or_default();
            if known.is_empty() {
                links.of_config.entry(resource.config()).or_default().push(resource);
            }
            known.push(links.instances.len());
            let configured = more(&instance);
            let configured = configured.iter().flat_map(|it| it.as_ref()).cloned();
            let all: TreeSet<ConfigResource> =
                object.dependencies.iter().cloned().chain(configured).collect();
            links.dependencies.push(all.into_iter().collect());
            links.instances.push(instance);
        }
        links
    }

    /// The instances that a destruction with these limits ends.
    fn ended(self, targeting: &Targeting) -> FxHashSet<ResourceInstance> {
        let addressed = |position: &usize| {
            targeting.selects(&self.instances[*position]) != targeting.is_exclusion()
        };
        let all = 0..self.instances.len();
        let addressed: Vec<usize> = all.clone().filter(addressed).collect();
        let reached = match targeting.is_exclusion() {
            false => self.with_dependents(addressed),
            true => self.with_dependencies(addressed),
        };
        let is_ended = |it: &usize| reached[*it] != targeting.is_exclusion();
        all.filter(is_ended).map(|it| self.instances[it].clone()).collect()
    }

    /// Adds all that these instances depend on.
    fn with_dependencies(&self, mut open: Vec<usize>) -> Vec<bool> {
        let mut reached = vec![false; self.instances.len()];
        let mut visited: FxHashSet<AbsResource> = FxHashSet::default();
        while let Some(position) = open.pop() {
            if std::mem::replace(&mut reached[position], true) {
                continue;
            }
            let module = &self.instances[position].module;
            for dependency in &self.dependencies[position] {
                for resource in self.reachable(dependency, module) {
                    if visited.insert(resource.clone()) {
                        open.extend(self.of_resource.get(&resource).into_iter().flatten());
                    }
                }
            }
        }
        reached
    }

    /// The resources that a dependency of an object in a module instance stands for.
    fn reachable(&self, dependency: &ConfigResource, module: &ModuleInstance) -> Vec<AbsResource> {
        if module.is_instance_of(&dependency.module) {
            return vec![dependency.resource.clone().in_module(module.clone())];
        }
        self.of_config.get(dependency).cloned().unwrap_or_default()
    }

    /// Adds all that depends on these instances.
    fn with_dependents(&self, mut open: Vec<usize>) -> Vec<bool> {
        // By the resource in one module instance, or in all of them.
        let mut within: FxHashMap<AbsResource, Vec<usize>> = FxHashMap::default();
        let mut outside: FxHashMap<&ConfigResource, Vec<usize>> = FxHashMap::default();
        for (position, dependencies) in self.dependencies.iter().enumerate() {
            let module = &self.instances[position].module;
            for dependency in dependencies {
                if module.is_instance_of(&dependency.module) {
                    let resource = dependency.resource.clone().in_module(module.clone());
                    within.entry(resource).or_default().push(position);
                } else {
                    outside.entry(dependency).or_default().push(position);
                }
            }
        }
        let mut reached = vec![false; self.instances.len()];
        while let Some(position) = open.pop() {
            if std::mem::replace(&mut reached[position], true) {
                continue;
            }
            let resource = self.instances[position].containing_resource();
            // Each list is taken once, because further instances of the resource lead to no others.
            open.extend(outside.remove(&resource.config()).into_iter().flatten());
            open.extend(within.remove(&resource).into_iter().flatten());
        }
        reached
    }
}
