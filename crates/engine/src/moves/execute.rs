//! Executes statements on a state.

use addr::{ModuleInstance, Resource, ResourceInstance, SmolStr};
use sorted::{TreeMap, TreeSet};
use state::State;

use crate::moves::{
    Moved, Previous,
    statement::{Statement, Subject},
};

/// A state whose objects move.
pub(super) struct Mover<'s> {
    state: &'s mut State,
    /// True if objects do not become objects of another type, because they are destroyed anyway.
    keeps_types: bool,
    places: Places,
    moved: Moved,
}

/// The module instances of a state that have resources of their own, by the names of their steps. A module comes
/// directly before the modules inside of it.
#[derive(Default)]
struct Places {
    by_names: TreeMap<Vec<SmolStr>, TreeMap<ModuleInstance, TreeSet<Resource>>>,
}

impl<'s> Mover<'s> {
    pub(super) fn new(state: &'s mut State, keeps_types: bool) -> Mover<'s> {
        let mut places = Places::default();
        for (address, _) in state.resources() {
            places.insert(&address.module, &address.resource);
        }
        Mover { state, keeps_types, places, moved: Moved::default() }
    }

    pub(super) fn finish(self) -> Moved {
        self.moved
    }

    /// Moves everything that a statement matches. Something whose new address has an object is blocked.
    pub(super) fn execute(&mut self, statement: &Statement<'_>) {
        let names: Vec<SmolStr> =
            statement.pattern(&statement.from).into_iter().map(|it| it.name).collect();
        match statement.from.subject() {
            Subject::Module | Subject::Call => {
                for module in self.places.within(&names) {
                    self.move_module(statement, &module);
                }
            }
            Subject::Resource(_) => {
                for module in self.places.at(&names) {
                    self.move_resource(statement, &module);
                }
            }
            Subject::Instance(..) => {
                for module in self.places.at(&names) {
                    self.move_single(statement, &module);
                }
            }
        }
    }

    /// Moves one module instance, without the modules inside of it, because each of them can be blocked
    /// independently.
    fn move_module(&mut self, statement: &Statement<'_>, module: &ModuleInstance) {
        let Some(target) = statement.module_destination(module) else { return };
        if self.places.has(&target) {
            self.moved.block(module, &target);
            return;
        }
        for resource in self.places.resources(module) {
            let [from, to] = [module, &target].map(|it| resource.clone().in_module(it.clone()));
            let keys: Vec<_> = self.keys(&from);
            for key in keys {
                self.move_instance(statement, &from.instance(key.clone()), &to.instance(key));
            }
        }
    }

    fn move_resource(&mut self, statement: &Statement<'_>, module: &ModuleInstance) {
        let Some((from, to)) = statement.resource_destination(module) else { return };
        let keys = self.keys(&from);
        if keys.is_empty() || from == to {
            return;
        }
        if self.state.resource(&to).is_some() {
            self.moved.block(&from, &to);
            return;
        }
        for key in keys {
            self.move_instance(statement, &from.instance(key.clone()), &to.instance(key));
        }
    }

    fn move_single(&mut self, statement: &Statement<'_>, module: &ModuleInstance) {
        let Some((from, to)) = statement.instance_destination(module) else { return };
        if self.state.instance(&from).is_none() || from == to {
            return;
        }
        match self.state.instance(&to) {
            Some(_) => self.moved.block(&from, &to),
            None => self.move_instance(statement, &from, &to),
        }
    }

    fn keys(&self, resource: &addr::AbsResource) -> Vec<addr::InstanceKey> {
        let resource = self.state.resource(resource);
        resource.into_iter().flat_map(|it| it.instances.keys().cloned()).collect()
    }

    fn move_instance(
        &mut self,
        statement: &Statement<'_>,
        from: &ResourceInstance,
        to: &ResourceInstance,
    ) {
        let is_other_type = from.resource.type_name != to.resource.type_name;
        if self.keeps_types && is_other_type || !self.state.move_instance(from, to) {
            return;
        }
        if self.state.resource(&from.containing_resource()).is_none() {
            self.places.remove(&from.module, &from.resource);
        }
        self.places.insert(&to.module, &to.resource);
        self.moved.record(from, to, statement.block.is_some());
    }
}

impl Moved {
    /// Records a move. If the object has moved before, its original address is kept.
    fn record(&mut self, from: &ResourceInstance, to: &ResourceInstance, is_declared: bool) {
        let first = self.previous.remove(from).map_or_else(|| from.clone(), |it| it.address);
        self.previous.insert(to.clone(), Previous { address: first, is_declared });
    }

    fn block(&mut self, from: &impl ToString, to: &impl ToString) {
        self.blocked.insert((from.to_string(), to.to_string()));
    }
}

impl Places {
    fn insert(&mut self, module: &ModuleInstance, resource: &Resource) {
        let modules = self.by_names.entry(names_of(module)).or_default();
        modules.entry(module.clone()).or_default().insert(resource.clone());
    }

    fn remove(&mut self, module: &ModuleInstance, resource: &Resource) {
        let names = names_of(module);
        let Some(modules) = self.by_names.get_mut(&names) else { return };
        if let Some(resources) = modules.get_mut(module) {
            resources.remove(resource);
            if resources.is_empty() {
                modules.remove(module);
            }
        }
        if modules.is_empty() {
            self.by_names.remove(&names);
        }
    }

    fn has(&self, module: &ModuleInstance) -> bool {
        self.by_names.get(&names_of(module)).is_some_and(|it| it.contains_key(module))
    }

    /// The module instances with these names.
    fn at(&self, names: &[SmolStr]) -> Vec<ModuleInstance> {
        self.by_names.get(names).into_iter().flat_map(|it| it.keys().cloned()).collect()
    }

    /// The module instances with these names, and those inside of them.
    fn within(&self, names: &[SmolStr]) -> Vec<ModuleInstance> {
        let all = self.by_names.range(names.to_vec()..);
        let inside = all.take_while(|(it, _)| it.starts_with(names));
        inside.flat_map(|(_, modules)| modules.keys().cloned()).collect()
    }

    fn resources(&self, module: &ModuleInstance) -> Vec<Resource> {
        let modules = self.by_names.get(&names_of(module));
        modules.and_then(|it| it.get(module)).into_iter().flatten().cloned().collect()
    }
}

fn names_of(module: &ModuleInstance) -> Vec<SmolStr> {
    module.steps().iter().map(|it| it.name.clone()).collect()
}
