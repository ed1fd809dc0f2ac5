//! The statements that move objects, and what their ends match.

use addr::{
    AbsResource, InstanceKey, ModuleInstance, ModulePath, ModuleStep, Resource, ResourceInstance,
    SmolStr, Target,
};
use hir::{Entry, item};

/// A statement that objects move from one address to another.
pub(crate) struct Statement<'p> {
    /// The module with the statement, which holds in each instance of the module.
    pub(super) module: ModulePath,
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
    /// The `moved` block; `None` if the move is implied.
    pub(super) block: Option<&'p Entry>,
}

/// An end of a move, relative to the module of the statement. Both ends of a statement have the same form.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Endpoint {
    /// One instance of a module call.
    Module(Vec<ModuleStep>),
    /// All instances of a module call.
    Call { caller: Vec<ModuleStep>, name: SmolStr },
    /// All instances of a resource.
    Resource(AbsResource),
    /// One instance of a resource.
    Instance(ResourceInstance),
}

/// A step of a module address whose key may be open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct StepPattern {
    pub(super) name: SmolStr,
    /// `None` matches every key.
    pub(super) key: Option<InstanceKey>,
}

impl StepPattern {
    /// Matches the instance of a step.
    pub(super) fn exact(step: &ModuleStep) -> StepPattern {
        StepPattern { name: step.name.clone(), key: Some(step.key.clone()) }
    }

    /// Matches all instances of a call.
    fn open(name: &SmolStr) -> StepPattern {
        StepPattern { name: name.clone(), key: None }
    }
}

/// The object of an endpoint inside of its module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Subject {
    Module,
    Call,
    Resource(Resource),
    Instance(Resource, InstanceKey),
}

impl<'p> Statement<'p> {
    /// The statement of a `moved` block. If one of its addresses has a key, both name single instances.
    pub(super) fn of_block(
        module: ModulePath,
        moved: &item::Moved,
        block: &'p Entry,
    ) -> Option<Statement<'p>> {
        let is_single = moved.is_single();
        let from = Endpoint::of(&moved.from, is_single)?;
        let to = Endpoint::of(&moved.to, is_single)?;
        Some(Statement { module, from, to, block: Some(block) })
    }

    /// The statement of an implied move of one resource instance.
    pub(super) fn of_instance(from: ResourceInstance, to: ResourceInstance) -> Statement<'p> {
        let (from, to) = (Endpoint::Instance(from), Endpoint::Instance(to));
        Statement { module: ModulePath::root(), from, to, block: None }
    }

    /// The statement of an implied move of one module instance.
    pub(super) fn of_module(from: &ModuleInstance, to: &ModuleInstance) -> Statement<'p> {
        let [from, to] = [from, to].map(|it| Endpoint::Module(it.steps().to_vec()));
        Statement { module: ModulePath::root(), from, to, block: None }
    }

    /// The module addresses that an endpoint of this statement matches: for a move of modules those of the modules
    /// themselves, otherwise those around the resources.
    pub(super) fn pattern(&self, endpoint: &Endpoint) -> Vec<StepPattern> {
        let inner = endpoint.module_steps().iter().map(StepPattern::exact);
        let call = match endpoint {
            Endpoint::Call { name, .. } => Some(StepPattern::open(name)),
            _ => None,
        };
        self.module.names().iter().map(StepPattern::open).chain(inner).chain(call).collect()
    }

    /// The new address of a module instance; `None` if this statement does not move it.
    pub(super) fn module_destination(&self, module: &ModuleInstance) -> Option<ModuleInstance> {
        let (outer, inner) = self.split(module)?;
        let (target, suffix) = match (&self.from, &self.to) {
            (Endpoint::Module(from), Endpoint::Module(to)) => {
                (to.clone(), inner.strip_prefix(from.as_slice())?)
            }
            (Endpoint::Call { caller, name }, Endpoint::Call { caller: to, name: new }) => {
                let (step, suffix) = inner.strip_prefix(caller.as_slice())?.split_first()?;
                let moved = ModuleStep { name: new.clone(), key: step.key.clone() };
                (step.name == *name).then(|| ([to.as_slice(), &[moved]].concat(), suffix))?
            }
            _ => return None,
        };
        Some(ModuleInstance::new([outer, &target, suffix].concat()))
    }

    /// The resource and its new address, if this statement moves all instances of a resource in `module`.
    pub(super) fn resource_destination(
        &self,
        module: &ModuleInstance,
    ) -> Option<(AbsResource, AbsResource)> {
        let (Endpoint::Resource(from), Endpoint::Resource(to)) = (&self.from, &self.to) else {
            return None;
        };
        let outer = self.outer_of(module, &from.module)?;
        let target = from.resource.clone().in_module(module.clone());
        Some((target, to.resource.clone().in_module(joined(outer, to.module.steps()))))
    }

    /// The instance and its new address, if this statement moves one instance of a resource in `module`.
    pub(super) fn instance_destination(
        &self,
        module: &ModuleInstance,
    ) -> Option<(ResourceInstance, ResourceInstance)> {
        let (Endpoint::Instance(from), Endpoint::Instance(to)) = (&self.from, &self.to) else {
            return None;
        };
        let outer = self.outer_of(module, &from.module)?;
        let target = ResourceInstance { module: module.clone(), ..from.clone() };
        let new = ResourceInstance { module: joined(outer, to.module.steps()), ..to.clone() };
        Some((target, new))
    }

    /// Splits the steps of a module address after the module of this statement. `None` if it is not inside.
    fn split<'m>(
        &self,
        module: &'m ModuleInstance,
    ) -> Option<(&'m [ModuleStep], &'m [ModuleStep])> {
        let names = self.module.names();
        let (outer, inner) = module.steps().split_at_checked(names.len())?;
        outer.iter().zip(names).all(|(step, name)| step.name == *name).then_some((outer, inner))
    }

    /// The part of a module address that leads to the module of this statement, if exactly `inner` follows.
    fn outer_of<'m>(
        &self,
        module: &'m ModuleInstance,
        inner: &ModuleInstance,
    ) -> Option<&'m [ModuleStep]> {
        let (outer, rest) = self.split(module)?;
        (rest == inner.steps()).then_some(outer)
    }
}

fn joined(outer: &[ModuleStep], inner: &[ModuleStep]) -> ModuleInstance {
    ModuleInstance::new([outer, inner].concat())
}

impl Endpoint {
    /// The endpoint of an address. `None` for the root module, which cannot move.
    fn of(target: &Target, is_single: bool) -> Option<Endpoint> {
        Some(match target {
            Target::Module(module) if is_single => Endpoint::Module(module.steps().to_vec()),
            Target::Module(module) => {
                let (step, caller) = module.steps().split_last()?;
                Endpoint::Call { caller: caller.to_vec(), name: step.name.clone() }
            }
            Target::Resource(resource) if is_single => {
                Endpoint::Instance(resource.instance(InstanceKey::None))
            }
            Target::Resource(resource) => Endpoint::Resource(resource.clone()),
            Target::Instance(instance) => Endpoint::Instance(instance.clone()),
        })
    }

    pub(super) fn subject(&self) -> Subject {
        match self {
            Endpoint::Module(_) => Subject::Module,
            Endpoint::Call { .. } => Subject::Call,
            Endpoint::Resource(it) => Subject::Resource(it.resource.clone()),
            Endpoint::Instance(it) => Subject::Instance(it.resource.clone(), it.key.clone()),
        }
    }

    /// The steps with exact keys: of the module itself, or of the modules around the object.
    fn module_steps(&self) -> &[ModuleStep] {
        match self {
            Endpoint::Module(steps) => steps,
            Endpoint::Call { caller, .. } => caller,
            Endpoint::Resource(it) => it.module.steps(),
            Endpoint::Instance(it) => it.module.steps(),
        }
    }

    /// Returns true if both endpoints are instances of the same module call.
    pub(super) fn is_reindex(&self, to: &Endpoint) -> bool {
        let names = |it: &Endpoint| -> Option<Vec<SmolStr>> {
            let mut names: Vec<_> = it.module_steps().iter().map(|it| it.name.clone()).collect();
            match it {
                Endpoint::Module(_) => {}
                Endpoint::Call { name, .. } => names.push(name.clone()),
                Endpoint::Resource(_) | Endpoint::Instance(_) => return None,
            }
            Some(names)
        };
        names(self).is_some_and(|it| Some(it) == names(to))
    }

    /// The endpoint as an address in an instance of the statement's module.
    pub(super) fn within(&self, outer: &ModuleInstance) -> Endpoint {
        let around = |steps: &[ModuleStep]| [outer.steps(), steps].concat();
        let module = |inner: &ModuleInstance| ModuleInstance::new(around(inner.steps()));
        match self {
            Endpoint::Module(steps) => Endpoint::Module(around(steps)),
            Endpoint::Call { caller, name } => {
                Endpoint::Call { caller: around(caller), name: name.clone() }
            }
            Endpoint::Resource(it) => {
                Endpoint::Resource(it.resource.clone().in_module(module(&it.module)))
            }
            Endpoint::Instance(it) => {
                Endpoint::Instance(ResourceInstance { module: module(&it.module), ..it.clone() })
            }
        }
    }

    /// The kind of the named object, as a noun.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Endpoint::Module(_) => "module instance",
            Endpoint::Call { .. } => "module call",
            Endpoint::Resource(_) => "resource",
            Endpoint::Instance(_) => "resource instance",
        }
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Endpoint::Module(steps) => ModuleInstance::new(steps.iter().cloned()).fmt(f),
            Endpoint::Call { caller, name } => ModuleInstance::new(caller.iter().cloned())
                .child(name.clone(), InstanceKey::None)
                .fmt(f),
            Endpoint::Resource(it) => it.fmt(f),
            Endpoint::Instance(it) => it.fmt(f),
        }
    }
}
