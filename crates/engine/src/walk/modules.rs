//! Module instances: their nodes in the graph, and the resolution of provider names in them.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use addr::{
    InstanceKey, ModuleInstance, ModulePath, ProviderConfigRef, ProviderSource, ResourceMode,
};
use hir::{Entry, Module, program::ModuleId};
use rustc_hash::FxHashMap;
use values::Str;

use super::{Each, GraphRules, Keys, Walk};
use crate::{
    graph::{Declared, EdgeKind, FoundConfig, ModuleIx, NodeIx, NodeKind, Template},
    resource::Reads,
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
    pub(crate) passed: BTreeMap<(Str, Option<Str>), NodeIx>,
    /// The instances of the calls in this module, by the name of the call.
    pub(crate) children: RefCell<FxHashMap<Str, Children>>,
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
    reads: RefCell<FxHashMap<ModuleId, Rc<Reads>>>,
    implicit: RefCell<ImplicitProviders>,
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
    pub(crate) fn get(&self, module: ModuleIx) -> Rc<ModuleRun> {
        Rc::clone(&self.list.borrow()[module.0 as usize])
    }

    pub(crate) fn add(&self, module: Rc<ModuleRun>) -> ModuleIx {
        let list = &mut *self.list.borrow_mut();
        list.push(module);
        ModuleIx(list.len() as u32 - 1)
    }

    pub(crate) fn instances(&self) -> usize {
        self.instances.get()
    }

    pub(crate) fn set_instances(&self, instances: usize) {
        self.instances.set(instances);
    }

    /// The attributes that a module reads of its resources.
    pub(crate) fn reads(&self, module: &Module) -> Rc<Reads> {
        let mut reads = self.reads.borrow_mut();
        Rc::clone(reads.entry(module.id).or_insert_with(|| Rc::new(Reads::of(module))))
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
    pub(crate) passed: BTreeMap<(Str, Option<Str>), NodeIx>,
}

/// The instances of one call.
pub(crate) struct Children {
    pub(crate) keys: Rc<Keys>,
    pub(crate) instances: BTreeMap<InstanceKey, ModuleIx>,
}

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
    fn new(template: Rc<Template>, base: u32, place: Placement) -> ModuleRun {
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

impl Walk<'_> {
    /// Adds the root module to the graph.
    pub(crate) fn add_root(&self, rules: &dyn GraphRules) -> ModuleIx {
        let place = Placement {
            address: ModuleInstance::root(),
            caller: None,
            gate: None,
            passed: BTreeMap::new(),
        };
        self.add_module(rules, ModuleId(0), place)
    }

    /// Adds an instance of a module to the graph: its nodes, its edges, and the demand for the nodes that run even
    /// without a dependent.
    pub(crate) fn add_module(
        &self,
        rules: &dyn GraphRules,
        id: ModuleId,
        place: Placement,
    ) -> ModuleIx {
        let template = Rc::clone(&self.config.templates[id.0 as usize]);
        let base = self.nodes.graph(|graph| graph.len()) as u32;
        let module = Rc::new(ModuleRun::new(template, base, place));
        let template = &module.template;
        let index = self.modules.add(Rc::clone(&module));
        for local in 0..template.nodes.len() as u32 {
            self.nodes.add(NodeKind::Declared { module: index, local });
        }
        for edge in &template.edges {
            let (dependency, user) = (module.node(edge.dependency), module.node(edge.user));
            self.nodes.change(|graph| graph.add_edge(dependency, user, edge.kind));
        }
        for (local, declared) in template.nodes.iter().enumerate() {
            self.add_outer_edges(rules, &module, module.node(local as u32), declared);
        }
        rules.add_undeclared(&module);
        for local in 0..template.nodes.len() as u32 {
            if rules.demands(&module, local) {
                self.nodes.change(|graph| graph.demand(module.node(local)));
            }
        }
        for local in 0..template.nodes.len() as u32 {
            self.nodes.change(|graph| graph.settle(module.node(local)));
        }
        index
    }

    /// Adds the edges that lead out of the module: to providers, to the gate, and from variables to nodes of the
    /// caller.
    fn add_outer_edges(
        &self,
        rules: &dyn GraphRules,
        module: &Rc<ModuleRun>,
        node: NodeIx,
        declared: &Declared,
    ) {
        match declared {
            Declared::Variable(entry) => self.add_input_edges(module, node, &entry.variable().name),
            Declared::Resource(entry) => {
                let resource = entry.resource();
                let (name, alias) = provider_name(resource);
                if let Some(provider) = self.find_provider(module, &name, alias.as_ref()) {
                    self.nodes.change(|graph| graph.add_edge(provider, node, EdgeKind::Provider));
                }
                if let Some(gate) = module.gate {
                    self.nodes.change(|graph| graph.add_edge(gate, node, EdgeKind::DependsOn));
                }
            }
            Declared::Gate(_) => {
                if let Some(gate) = module.gate {
                    self.nodes.change(|graph| graph.add_edge(gate, node, EdgeKind::DependsOn));
                }
            }
            Declared::Call(entry, _) => {
                for provider in self.visible_providers(module) {
                    self.nodes.change(|graph| graph.add_edge(provider, node, EdgeKind::Hold));
                }
                let own = module.template.calls[&entry.module_call().name].gate;
                if let Some(gate) = own.map(|it| module.node(it)).or(module.gate) {
                    self.nodes.change(|graph| graph.add_edge(gate, node, rules.gate_edge()));
                }
            }
            Declared::Provider(_) => {
                self.nodes.change(|graph| graph.set_closes(node));
            }
            _ => {}
        }
        if let Declared::Resource(entry) = declared
            && entry.resource().resource.mode == ResourceMode::Ephemeral
        {
            self.nodes.change(|graph| graph.set_closes(node));
        }
    }

    fn add_input_edges(&self, module: &ModuleRun, node: NodeIx, name: &Str) {
        let Some(caller) = &module.caller else { return };
        let parent = self.module(caller.module);
        let nodes = &parent.template.calls[&caller.call.module_call().name];
        let Some(input) = nodes.inputs.iter().find(|input| input.name == *name) else { return };
        for &read in &input.reads {
            self.nodes.change(|graph| graph.add_edge(parent.node(read), node, EdgeKind::Value));
        }
    }

    /// The provider configurations that a module inside of this one could use.
    fn visible_providers(&self, module: &Rc<ModuleRun>) -> Vec<NodeIx> {
        let mut found = Vec::new();
        let mut module = Rc::clone(module);
        loop {
            found.extend(module.template.providers.values().map(|local| module.node(*local)));
            found.extend(module.passed.values().copied());
            match &module.caller {
                Some(caller) => module = self.module(caller.module),
                None => break,
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The node of the provider configuration that a local name refers to in a module; `None` if there is none.
    pub(crate) fn find_provider(
        &self,
        module: &Rc<ModuleRun>,
        name: &Str,
        alias: Option<&Str>,
    ) -> Option<NodeIx> {
        match self.config.tree.provider(self.config.tree.find(&module.path)?, name, alias)? {
            FoundConfig::Implicit(source) => Some(self.implicit_provider(&source)),
            FoundConfig::Declared(declaring, local) => {
                let path = self.config.tree.path(declaring);
                let mut module = Rc::clone(module);
                while module.path != path {
                    module = self.module(module.caller.as_ref()?.module);
                }
                Some(module.node(local))
            }
        }
    }

    fn implicit_provider(&self, source: &ProviderSource) -> NodeIx {
        self.modules.implicit_provider_node(source, |index| {
            let node = self.nodes.add(NodeKind::ImplicitProvider { index });
            self.nodes.change(|graph| graph.set_closes(node));
            node
        })
    }

    /// The source of the provider that a local name refers to in a module.
    pub(crate) fn provider_source(&self, module: &ModuleRun, name: &str) -> Option<ProviderSource> {
        let program = self.config.program.module(module.id());
        program
            .provider_sources
            .get(name)
            .cloned()
            .or_else(|| Some(ProviderSource::implied_for(name)))
    }

    /// The reference to a provider configuration, as the state and the plan record it.
    pub(crate) fn provider_ref(&self, node: NodeIx) -> ProviderConfigRef {
        let kind = self.nodes.kind(node);
        match kind {
            NodeKind::Declared { module, local } => {
                let module = self.module(module);
                let Declared::Provider(entry) = &module.template.nodes[local as usize] else {
                    unreachable!("only provider nodes are asked for their reference")
                };
                let config = entry.provider_config();
                let source = self
                    .provider_source(&module, &config.local_name)
                    .unwrap_or_else(|| ProviderSource::implied_for(&config.local_name));
                ProviderConfigRef {
                    module: module.path.clone(),
                    source,
                    alias: config.alias.as_deref().map(addr::SmolStr::new),
                    key: InstanceKey::None,
                }
            }
            NodeKind::ImplicitProvider { index } => {
                let source = self.modules.implicit_provider(index);
                ProviderConfigRef::default_in(ModulePath::root(), source)
            }
            _ => unreachable!("only provider nodes are asked for their reference"),
        }
    }

    /// Finds the provider configuration that a state or a plan names, in its module or in a module around it.
    pub(crate) fn find_provider_ref(&self, wanted: &ProviderConfigRef) -> FoundProvider {
        let mut module = self.module(ModuleIx(0));
        for name in wanted.module.names() {
            let name = Str::from(name.as_str());
            let next = match module.children.borrow().get(&name) {
                Some(children) => children.instances.values().next().copied(),
                None => {
                    return match module.template.calls.get(&name) {
                        Some(nodes) => FoundProvider::After(module.node(nodes.call)),
                        None => self.inherited_ref(wanted),
                    };
                }
            };
            match next {
                Some(next) => module = self.module(next),
                None => return self.inherited_ref(wanted),
            }
        }
        let alias = wanted.alias.as_deref();
        let declared = module.template.providers.iter().find(|((name, own_alias), _)| {
            own_alias.as_deref() == alias
                && self.provider_source(&module, name).as_ref() == Some(&wanted.source)
        });
        match declared {
            Some((_, local)) => FoundProvider::Node(module.node(*local)),
            None if alias.is_none() && wanted.module.is_root() => {
                FoundProvider::Node(self.implicit_provider(&wanted.source))
            }
            None => self.inherited_ref(wanted),
        }
    }

    fn inherited_ref(&self, wanted: &ProviderConfigRef) -> FoundProvider {
        match wanted.inherited() {
            Some(outer) => self.find_provider_ref(&outer),
            None => FoundProvider::Missing,
        }
    }
}

/// The local name and the alias of the provider that a resource uses.
pub(crate) fn provider_name(resource: &hir::item::Resource) -> (Str, Option<Str>) {
    match &resource.provider {
        Some(provider) => (provider.local_name.clone(), provider.alias.clone()),
        None => (Str::from(resource.resource.implied_provider()), None),
    }
}
