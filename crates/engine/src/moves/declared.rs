//! The instances that a configuration declares, with which `moved` blocks are compared.
//!
//! A plan has expanded all modules and resources. A destroy plan expands nothing, so there the instances are those that
//! follow from variables and the prior state.

use std::{rc::Rc, sync::Arc};

use crate::{
    functions::Functions,
    graph::ModuleIx,
    moves::statement::Endpoint,
    offline::{ModuleScope, Offline},
    validate::MAX_STEPS,
    walk::{context::Walk, modules::ModuleRun},
};
use addr::{ModuleInstance, ModuleStep, ResourceInstance, SmolStr};

/// The declared instances.
pub(super) trait Declarations {
    /// The instances of a module.
    fn instances_of(&self, names: &[SmolStr]) -> Vec<ModuleInstance>;

    /// Returns true if the configuration declares what an endpoint names.
    fn declares(&self, end: &Endpoint) -> bool;
}

/// The instances that a plan found.
pub(super) struct OfPlan<'w, 'p>(pub(super) &'w Walk<'p>);

impl OfPlan<'_, '_> {
    fn module(&self, steps: &[ModuleStep]) -> Option<Rc<ModuleRun>> {
        let mut module = self.0.modules.root()?;
        for step in steps {
            let child = *module.children_of(&step.name)?.instances.get(&step.key)?;
            module = self.0.modules.get(child);
        }
        Some(module)
    }
}

impl Declarations for OfPlan<'_, '_> {
    fn instances_of(&self, names: &[SmolStr]) -> Vec<ModuleInstance> {
        let root = self.0.modules.root();
        let mut found: Vec<_> = root.into_iter().collect();
        for name in names {
            let inner = found.iter().filter_map(|it| it.children_of(name));
            let inner: Vec<ModuleIx> =
                inner.flat_map(|it| it.instances.values().copied().collect::<Vec<_>>()).collect();
            found = inner.into_iter().map(|it| self.0.modules.get(it)).collect();
        }
        found.iter().map(|it| it.address.clone()).collect()
    }

    fn declares(&self, end: &Endpoint) -> bool {
        match end {
            Endpoint::Module(steps) => self.module(steps).is_some(),
            Endpoint::Call { caller, name } => {
                self.module(caller).is_some_and(|it| it.template.calls.contains_key(name.as_str()))
            }
            Endpoint::Resource(it) => self
                .module(it.module.steps())
                .is_some_and(|module| module.template.resources.contains_key(&it.resource)),
            Endpoint::Instance(it) => self.module(it.module.steps()).is_some_and(|module| {
                let Some(node) = module.template.resources.get(&it.resource) else { return false };
                // The expansion of a resource is the node before.
                let nodes = [Some(*node), node.checked_sub(1)].into_iter().flatten();
                let keys = nodes.filter_map(|node| self.0.nodes.keys(module.node(node))).next();
                keys.is_some_and(|keys| keys.contains(&it.key))
            }),
        }
    }
}

/// The limits of a plan with targets.
pub(crate) struct Limits<'l> {
    /// True if whole modules and resources are within the limits.
    pub(crate) selects_modules: bool,
    /// Returns true if an instance is within the limits.
    pub(crate) selects: &'l dyn Fn(&ResourceInstance) -> bool,
}

/// The instances that follow from variables and the prior state, within the limits of a plan.
pub(super) struct OfValues<'v> {
    pub(super) root: Rc<ModuleScope<'v>>,
    pub(super) limits: Limits<'v>,
}

impl<'v> OfValues<'v> {
    fn module(&self, steps: &[ModuleStep]) -> Option<Rc<ModuleScope<'v>>> {
        steps.iter().try_fold(Rc::clone(&self.root), |module, step| {
            let (call, _) = module.module().calls.get(step.name.as_str())?;
            let each = module.instances_of(call)?.into_iter().find(|it| it.key == step.key)?;
            module.child(&step.name, each)
        })
    }
}

impl Declarations for OfValues<'_> {
    fn instances_of(&self, names: &[SmolStr]) -> Vec<ModuleInstance> {
        let mut found = vec![(ModuleInstance::root(), Rc::clone(&self.root))];
        for name in names {
            let mut inner = Vec::new();
            for (address, module) in &found {
                let call = module.module().calls.get(name.as_str());
                for each in
                    call.and_then(|(call, _)| module.instances_of(call)).into_iter().flatten()
                {
                    let address = address.child(name.as_str(), each.key.clone());
                    inner.extend(module.child(name, each).map(|it| (address, it)));
                }
            }
            found = inner;
        }
        found.into_iter().map(|(address, _)| address).collect()
    }

    fn declares(&self, end: &Endpoint) -> bool {
        match end {
            Endpoint::Module(steps) => self.limits.selects_modules && self.module(steps).is_some(),
            Endpoint::Call { caller, name } => {
                let caller = self.module(caller).filter(|_| self.limits.selects_modules);
                caller.is_some_and(|it| it.module().calls.contains_key(name.as_str()))
            }
            Endpoint::Resource(it) => {
                let module = self.module(it.module.steps()).filter(|_| self.limits.selects_modules);
                module.is_some_and(|module| module.module().resources.contains_key(&it.resource))
            }
            Endpoint::Instance(it) => self.module(it.module.steps()).is_some_and(|module| {
                let Some(entry) = module.module().resources.get(&it.resource) else { return false };
                let known = module.instances_of(entry);
                let is_declared = |it: &ResourceInstance| {
                    known.is_some_and(|known| known.iter().any(|each| each.key == it.key))
                };
                is_declared(it) && (self.limits.selects)(it)
            }),
        }
    }
}

/// The context in which [`OfValues`] evaluates: the variables and the prior state of a plan.
pub(super) fn known_values<'v>(walk: &'v Walk<'_>) -> Offline<'v> {
    let system = &walk.environment.system;
    Offline {
        program: walk.config.program,
        objects: Some(&**walk.state.previous()),
        values: Some(&walk.config.variables),
        workspace: walk.settings.workspace.clone(),
        functions: Functions::new(system, false).without_plan().at_most(MAX_STEPS),
        system: Arc::clone(system),
        answers: None,
    }
}
