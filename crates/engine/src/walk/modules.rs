//! The module instances of a run, as data. `module_graph.rs` adds their nodes to the graph.

use std::{
    cell::{Cell, OnceCell, RefCell},
    rc::Rc,
    sync::Arc,
};

use addr::{InstanceKey, ModuleInstance, ModulePath, ProviderConfigRef, ProviderSource};
use hir::{Entry, Module, program::ModuleId};
use rustc_hash::FxHashMap;
use sorted::TreeMap;
use values::Str;

use crate::{
    graph::{
        ModuleIx, NodeIx,
        template::{Declared, Template},
    },
    resource::reads::ReadAttributes,
    walk::{
        instances::{Each, Keys},
        outcome::ProviderInstance,
    },
};

/// A module instance of a run.
pub(crate) struct ModuleRun {
    pub(crate) template: Rc<Template>,
    pub(crate) address: ModuleInstance,
    pub(crate) path: ModulePath,
    /// The index in the graph of the template's first node.
    pub(crate) base: u32,
    /// The calling module instance, the call and this instance's repetition data; `None` for the root module.
    pub(crate) caller: Option<Caller>,
    /// The node that completes before any resource in this module begins, for `depends_on` of the module calls
    /// around it.
    pub(crate) gate: Option<NodeIx>,
    /// The provider configurations that the caller passed, by their names in this module.
    pub(crate) passed: PassedProviders,
    children: RefCell<ChildrenOfCalls>,
    /// The value of `path.temp`, set when an expression first reads it.
    pub(crate) temp: OnceCell<Str>,
}

/// The module instances of a run.
#[derive(Default)]
pub(crate) struct Modules {
    list: RefCell<Vec<Rc<ModuleRun>>>,
    /// The number of instances of resources and calls so far.
    instances: Cell<usize>,
    /// The attributes that modules read of their resources, computed at the first question.
    reads: RefCell<FxHashMap<ModuleId, Rc<ReadAttributes>>>,
    implicit: RefCell<ImplicitProviders>,
    /// The names of provider configurations, which all their objects share.
    provider_refs: RefCell<FxHashMap<ProviderInstance, Arc<ProviderConfigRef>>>,
}

/// The providers that the root module configures implicitly, by an empty configuration.
#[derive(Default)]
struct ImplicitProviders {
    sources: Vec<ProviderSource>,
    nodes: FxHashMap<ProviderSource, NodeIx>,
}

/// The module instances of an ended run.
#[derive(Default)]
pub(crate) struct KeptModules {
    pub(crate) list: Vec<Rc<ModuleRun>>,
    instances: usize,
    implicit: ImplicitProviders,
}

impl Modules {
    #[inline]
    pub(crate) fn get(&self, module: ModuleIx) -> Rc<ModuleRun> {
        Rc::clone(&self.list.borrow()[module.0 as usize])
    }

    /// The root module; `None` before the run has begun.
    pub(crate) fn root(&self) -> Option<Rc<ModuleRun>> {
        self.list.borrow().first().cloned()
    }

    pub(crate) fn add(&self, module: Rc<ModuleRun>) -> ModuleIx {
        let list = &mut *self.list.borrow_mut();
        list.push(module);
        ModuleIx(list.len() as u32 - 1)
    }

    /// All module instances so far.
    pub(crate) fn all(&self) -> Vec<Rc<ModuleRun>> {
        self.list.borrow().clone()
    }

    pub(crate) fn instances(&self) -> usize {
        self.instances.get()
    }

    pub(crate) fn set_instances(&self, instances: usize) {
        self.instances.set(instances);
    }

    /// The attributes that a module reads of its resources.
    pub(crate) fn reads(&self, module: &Module) -> Rc<ReadAttributes> {
        let mut reads = self.reads.borrow_mut();
        Rc::clone(reads.entry(module.id).or_insert_with(|| Rc::new(ReadAttributes::of(module))))
    }

    /// The provider of an implicit configuration.
    pub(crate) fn implicit_provider(&self, index: u32) -> ProviderSource {
        self.implicit.borrow().sources[index as usize].clone()
    }

    /// The node of the implicit configuration of a provider. `add` makes it from its index if there is none yet.
    pub(crate) fn implicit_provider_node(
        &self,
        source: &ProviderSource,
        add: impl FnOnce(u32) -> NodeIx,
    ) -> NodeIx {
        let implicit = &mut *self.implicit.borrow_mut();
        if let Some(node) = implicit.nodes.get(source) {
            return *node;
        }
        let node = add(implicit.sources.len() as u32);
        implicit.sources.push(source.clone());
        implicit.nodes.insert(source.clone(), node);
        node
    }

    /// The name of a provider configuration. `make` makes it at the first question.
    pub(crate) fn provider_ref(
        &self,
        instance: &ProviderInstance,
        make: impl FnOnce() -> ProviderConfigRef,
    ) -> Arc<ProviderConfigRef> {
        let mut refs = self.provider_refs.borrow_mut();
        if let Some(known) = refs.get(instance) {
            return Arc::clone(known);
        }
        let new = Arc::new(make());
        refs.insert(instance.clone(), Arc::clone(&new));
        new
    }

    /// Takes all module instances out.
    pub(crate) fn take(&self) -> KeptModules {
        KeptModules {
            list: self.list.take(),
            instances: self.instances.get(),
            implicit: self.implicit.take(),
        }
    }

    /// Puts the module instances of an earlier run in.
    pub(crate) fn restore(&self, kept: KeptModules) {
        self.list.replace(kept.list);
        self.instances.set(kept.instances);
        self.implicit.replace(kept.implicit);
        self.provider_refs.take();
    }
}

/// The origin of a module instance.
pub(crate) struct Caller {
    pub(crate) module: ModuleIx,
    pub(crate) call: Entry,
    pub(crate) each: Each,
}

/// The place of a new module instance.
pub(crate) struct Placement {
    pub(crate) address: ModuleInstance,
    /// `None` for the root module.
    pub(crate) caller: Option<Caller>,
    pub(crate) gate: Option<NodeIx>,
    pub(crate) passed: PassedProviders,
}

/// The provider configurations that a call passes, by their local names and aliases in the called module.
pub(crate) type PassedProviders = TreeMap<(Str, Option<Str>), ProviderInstance>;

/// The instances of one call.
pub(crate) struct Children {
    pub(crate) keys: Rc<Keys>,
    pub(crate) instances: TreeMap<InstanceKey, ModuleIx>,
}

/// The instances of the calls in a module, by the name of the call.
pub(crate) type ChildrenOfCalls = FxHashMap<Str, Rc<Children>>;

/// The result of resolving a provider configuration that a state or a plan names.
pub(crate) enum FoundProvider {
    /// The node of the configuration.
    Node(NodeIx),
    /// The configuration is declared in a module whose call is not expanded yet. This node must run first.
    After(NodeIx),
    /// The configuration does not exist.
    Missing,
}

impl ModuleRun {
    /// A module instance whose first node has the index `base`.
    pub(crate) fn new(template: Rc<Template>, base: u32, place: Placement) -> ModuleRun {
        let Placement { address, caller, gate, passed } = place;
        ModuleRun {
            template,
            path: address.path(),
            address,
            base,
            caller,
            gate,
            passed,
            children: RefCell::default(),
            temp: OnceCell::new(),
        }
    }

    /// The instances of a call; `None` if the call is not expanded yet.
    pub(crate) fn children_of(&self, call: &str) -> Option<Rc<Children>> {
        self.children.borrow().get(call).cloned()
    }

    /// Sets the instances of an expanded call.
    pub(crate) fn set_children(&self, call: Str, children: Children) {
        self.children.borrow_mut().insert(call, Rc::new(children));
    }

    /// Takes the instances of all calls out.
    pub(crate) fn take_children(&self) -> ChildrenOfCalls {
        self.children.take()
    }

    /// Puts the instances of all calls in.
    pub(crate) fn restore_children(&self, children: ChildrenOfCalls) {
        self.children.replace(children);
    }

    /// The node of the run for a node of the template.
    pub(crate) fn node(&self, local: u32) -> NodeIx {
        NodeIx(self.base + local)
    }

    /// Returns true if a declaration of this module instance is a variable of the root module.
    pub(crate) fn is_root_variable(&self, declared: &Declared) -> bool {
        self.caller.is_none() && matches!(declared, Declared::Variable(_))
    }

    pub(crate) fn id(&self) -> ModuleId {
        self.template.module
    }
}
