//! The part that an apply and a destruction share: the planned actions, and the order of destructions.

use std::{
    cell::{Cell, OnceCell, RefCell},
    ops::Deref,
};

use addr::{ResourceInstance, ResourceMode};
use hir::Entry;
use rustc_hash::FxHashMap;
use sorted::TreeSet;
use state::{Action, DeposedKey, ResourceChange};

use crate::{
    graph::{EdgeKind, ModuleIx, NodeIx, NodeKind, template::Declared},
    resource::{subject::has_conditions, turn::InstanceNeeds},
    runs::{
        destruction::{Destruction, NeedsResource},
        planned_actions::PlannedActions,
    },
    schedule::{Failed, Step},
    walk::{context::Walk, instances::Each, modules::ModuleRun, outcome::Facts},
};

/// The part of the context that an apply and a destruction have.
pub(crate) struct Applying<'a> {
    walk: Walk<'a>,
    pub(crate) planned: &'a PlannedActions<'a>,
    /// Set once the root module is in the graph.
    destruction: OnceCell<Destruction<'a>>,
    /// The node that stands for all managed resources, once a data source of a `check` block waits for it.
    all_applied: Cell<Option<NodeIx>>,
    /// The objects that a new object replaces, and that are destroyed after it was created, by their instances.
    replaced: RefCell<FxHashMap<ResourceInstance, DeposedKey>>,
}

/// Work on one object of an apply.
pub(crate) enum ApplyPart {
    /// Applies the change of one declared instance, reads it or opens it.
    Instance(Each),
    /// Destroys the object of a destroy node.
    Destroy,
}

impl<'a> Deref for Applying<'a> {
    type Target = Walk<'a>;

    fn deref(&self) -> &Walk<'a> {
        &self.walk
    }
}

impl<'a> Applying<'a> {
    pub(crate) fn new(walk: Walk<'a>, planned: &'a PlannedActions<'a>) -> Applying<'a> {
        Applying {
            walk,
            planned,
            destruction: OnceCell::new(),
            all_applied: Cell::default(),
            replaced: RefCell::default(),
        }
    }

    /// Records that the new object of an instance exists, so that the deposed one may be destroyed.
    pub(crate) fn set_replaced(&self, instance: &ResourceInstance, deposed: DeposedKey) {
        self.replaced.borrow_mut().insert(instance.clone(), deposed);
    }

    /// The object that a new object of the instance has replaced; `None` if that has not succeeded.
    pub(crate) fn replaced(&self, instance: &ResourceInstance) -> Option<DeposedKey> {
        self.replaced.borrow().get(instance).copied()
    }

    /// Adds the nodes that destroy objects. The root module must be in the graph already.
    pub(crate) fn add_destruction(&self, needs: NeedsResource<'_>) {
        let add = || Destruction::add(&self.walk, self.planned, needs);
        self.destruction.get_or_init(add);
        self.connect_destruction(&self.module(ModuleIx(0)));
    }

    /// Makes destructions wait for creations in a new module instance. Does nothing before
    /// [`Applying::add_destruction`], which does it for the root module.
    pub(crate) fn connect_destruction(&self, module: &ModuleRun) {
        if let Some(destruction) = self.destruction.get() {
            destruction.connect(&self.walk, module);
        }
    }

    /// The planned change of an instance, unless it is that nothing changes.
    pub(crate) fn action_on(&self, address: &ResourceInstance) -> Option<&'a ResourceChange> {
        self.planned.change(address).filter(|it| it.change.action != Action::NoOp)
    }

    /// The change that a destroy node carries out.
    pub(crate) fn destroyed(&self, index: u32) -> &'a ResourceChange {
        self.planned.destroyed()[index as usize]
    }

    /// The nodes of the destructions that come before any work on an instance: of its own object, and of other
    /// objects that a change of the instance must wait for.
    pub(crate) fn destructions_before(
        &self,
        instance: &ResourceInstance,
        needs: NeedsResource<'_>,
    ) -> TreeSet<NodeIx> {
        let Some(destruction) = self.destruction.get() else { return TreeSet::new() };
        let others = match self.action_on(instance) {
            Some(_) => destruction.before(self.state.previous(), instance, needs),
            None => Vec::new(),
        };
        others.into_iter().chain(destruction.node(instance)).collect()
    }

    /// The needs of a resource's instances: which of their dependencies have to run.
    pub(crate) fn needs_of(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        entry: &Entry,
    ) -> InstanceNeeds {
        let Some(keys) = self.expanded(node) else { return InstanceNeeds::default() };
        let resource = entry.resource();
        let address = resource.resource.clone().in_module(module.address.clone());
        let mut needs = InstanceNeeds {
            acts: resource.resource.mode == ResourceMode::Ephemeral,
            conditions: has_conditions(entry) && !keys.instances.is_empty(),
            provisions: false,
        };
        let mut creates = false;
        for each in &keys.instances {
            if let Some(change) = self.planned.change(&address.instance(each.key.clone())) {
                let action = change.change.action;
                needs.acts |= !matches!(action, Action::NoOp | Action::Delete | Action::Forget);
                creates |= action.is_creation();
            }
        }
        needs.provisions = creates && resource.provisioners.iter().any(|it| !it.at_destroy);
        needs.acts &= !keys.instances.is_empty();
        needs
    }

    /// Begins the second turn of a resource: the work on the instances that change or have conditions. The others
    /// keep their objects.
    pub(crate) fn begin_apply(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        entry: &Entry,
    ) -> Step<ApplyPart> {
        let resource = entry.resource().resource.clone().in_module(module.address.clone());
        let runs = |each: &Each| self.action_on(&resource.instance(each.key.clone())).is_some();
        self.begin_instances(node, entry, runs).map(ApplyPart::Instance)
    }

    /// Runs one turn of a destroy node: waits for the provider, then starts the task. Other nodes that only an
    /// apply has order others.
    pub(crate) fn run_destroy(&self, node: NodeIx, kind: NodeKind) -> Step<ApplyPart> {
        let NodeKind::Destroy { index } = kind else { return Step::Done { keeps: false } };
        let ordered = self.destroyed(index);
        match self.wait_for_provider(node, &ordered.provider, &ordered.addr.to_string()) {
            Ok(true) => {
                let inherited = self.nodes.inherited(node);
                self.nodes.facts(node, |it| *it = Facts { prepared: true, ..inherited });
                Step::Tasks(vec![ApplyPart::Destroy])
            }
            Ok(false) => Step::Again,
            Err(Failed) => Step::Failed,
        }
    }

    /// The node that waits for all managed resources, including those of modules. Added by the first call.
    pub(crate) fn all_applied(&self) -> NodeIx {
        let node = self.all_applied.get().unwrap_or_else(|| self.add_all_applied());
        self.all_applied.set(Some(node));
        node
    }

    fn add_all_applied(&self) -> NodeIx {
        let node = self.nodes.add(NodeKind::AllApplied);
        let root = self.module(ModuleIx(0));
        for (local, declared) in root.template.nodes.iter().enumerate() {
            let changes = match declared {
                Declared::Resource(entry) => {
                    entry.resource().resource.mode == ResourceMode::Managed
                }
                declared => matches!(declared, Declared::CallDone(_)),
            };
            if changes {
                let resource = root.node(local as u32);
                self.nodes.change(|graph| graph.add_edge(resource, node, EdgeKind::Order));
            }
        }
        node
    }
}
