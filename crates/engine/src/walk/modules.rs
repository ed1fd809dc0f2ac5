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

use super::{Each, Keys, Orphan, Walk};
use crate::{
    graph::{Declared, EdgeKind, FoundConfig, ModuleIx, NodeIx, NodeKind, Template},
    resource::{Reads, has_conditions},
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

    pub(crate) fn take(&self) -> Vec<Rc<ModuleRun>> {
        self.list.take()
    }

    pub(crate) fn restore(&self, list: Vec<Rc<ModuleRun>>, instances: usize) {
        self.list.replace(list);
        self.instances.set(instances);
    }
}

/// The origin of a module instance.
pub(crate) struct Caller {
    pub(crate) module: ModuleIx,
    pub(crate) call: Entry,
    pub(crate) each: Each,
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
    /// The node of the run for a node of the template.
    pub(crate) fn node(&self, local: u32) -> NodeIx {
        NodeIx(self.base + local)
    }

    pub(crate) fn id(&self) -> ModuleId {
        self.template.module
    }
}

impl Walk<'_> {
    /// Adds the root module to the graph.
    pub(crate) fn add_root(&self) -> ModuleIx {
        self.add_module(ModuleId(0), ModuleInstance::root(), None, None, BTreeMap::new())
    }

    /// Adds an instance of a module to the graph: its nodes, its edges, and the demand for the nodes that run even
    /// without a dependent.
    pub(crate) fn add_module(
        &self,
        id: ModuleId,
        address: ModuleInstance,
        caller: Option<Caller>,
        gate: Option<NodeIx>,
        passed: BTreeMap<(Str, Option<Str>), NodeIx>,
    ) -> ModuleIx {
        let template = Rc::clone(&self.config.templates[id.0 as usize]);
        let base = self.nodes.graph(|graph| graph.len()) as u32;
        let path = address.path();
        let module = Rc::new(ModuleRun {
            template: Rc::clone(&template),
            address,
            path,
            base,
            caller,
            gate,
            passed,
            children: RefCell::default(),
            temp: OnceCell::new(),
        });
        let index = self.modules.add(Rc::clone(&module));
        for local in 0..template.nodes.len() as u32 {
            self.nodes.add(NodeKind::Declared { module: index, local });
        }
        for edge in &template.edges {
            let (dependency, user) = (module.node(edge.dependency), module.node(edge.user));
            self.nodes.change(|graph| graph.add_edge(dependency, user, edge.kind));
        }
        for (local, declared) in template.nodes.iter().enumerate() {
            self.add_outer_edges(&module, module.node(local as u32), declared);
        }
        self.add_orphans(&module);
        self.demand_all(&module);
        for local in 0..template.nodes.len() as u32 {
            self.nodes.change(|graph| graph.settle(module.node(local)));
        }
        index
    }

    /// Demands the nodes of a module that run even without a dependent. If the run destroys everything or imports
    /// an object, these are at most the variables of the root module. Those run so that given values are checked
    /// even if nothing refers to them, but not in a destruction without a refresh: there, only variables with
    /// dependents run. In an apply, values that no change needs do not run.
    fn demand_all(&self, module: &ModuleRun) {
        let is_quiet = self.phase().is_destroy() || self.phase() == super::Phase::Import;
        let refreshes = self.settings.refresh && !self.state.previous().is_empty();
        let checks_variables = module.caller.is_none() && (refreshes || !self.phase().is_destroy());
        let template = &module.template;
        for (local, (declared, lazy)) in template.nodes.iter().zip(&template.lazy).enumerate() {
            let is_checked = checks_variables && matches!(declared, Declared::Variable(_));
            let is_value = match declared {
                Declared::Local(_) | Declared::ModuleOutput { .. } | Declared::ModuleObject(_) => {
                    true
                }
                // Without a change, nothing becomes of the resource: only its dependents need its instances.
                Declared::Expand(entry) | Declared::Resource(entry) => {
                    entry.resource().resource.mode == ResourceMode::Managed
                        && !has_conditions(entry)
                }
                // An output that opens ephemeral resources is never idle: an apply opens these resources again.
                Declared::Output(_) => {
                    let mut reads = template.dependencies(local as u32);
                    let opens_nothing = |it: u32| {
                        matches!(template.nodes[it as usize], Declared::Variable(_))
                            || self.opens_nothing(module, module.node(it))
                    };
                    module.caller.is_some() && reads.all(|(it, _)| opens_nothing(it))
                }
                Declared::Variable(_) => module.caller.is_some(),
                _ => false,
            };
            let is_idle = is_value && !self.is_retained(module, local as u32);
            if is_idle {
                continue;
            }
            let is_lazy = *lazy && !self.is_harmless_input(module, declared);
            if is_checked || (!is_lazy && !is_quiet) {
                self.nodes.change(|graph| graph.demand(module.node(local as u32)));
            }
        }
    }

    /// Returns true for a variable of a called module if a plan opens nothing to evaluate the argument that the
    /// call gives to it.
    fn is_harmless_input(&self, module: &ModuleRun, declared: &Declared) -> bool {
        let (Declared::Variable(entry), Some(caller)) = (declared, &module.caller) else {
            return false;
        };
        if self.phase() != super::Phase::Plan {
            return false;
        }
        let name = &entry.variable().name;
        let caller_module = self.module(caller.module);
        let call = &caller_module.template.calls[&caller.call.module_call().name];
        let input = call.inputs.iter().find(|it| it.name == *name);
        let mut reads = input.into_iter().flat_map(|it| &it.reads);
        reads.all(|read| self.opens_nothing(&caller_module, caller_module.node(*read)))
    }

    /// Adds the edges that lead out of the module: to providers, to the gate, and from variables to nodes of the
    /// caller.
    fn add_outer_edges(&self, module: &Rc<ModuleRun>, node: NodeIx, declared: &Declared) {
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
                    // In an apply, nothing inside of the module is evaluated before the gate.
                    let applies = self.phase() == super::Phase::Apply;
                    let kind = if applies { EdgeKind::Order } else { EdgeKind::Hold };
                    self.nodes.change(|graph| graph.add_edge(gate, node, kind));
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
        self.implied.provider_node(source, |index| {
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
                let source = self.implied.provider(index);
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

    /// Adds orphans for resources of the state in this module instance that it does not declare.
    fn add_orphans(&self, module: &ModuleRun) {
        if !matches!(self.phase(), super::Phase::Plan) {
            return;
        }
        for address in self.state.index().resources.get(&module.address).into_iter().flatten() {
            if !module.template.resources.contains_key(&address.resource) {
                self.add_orphan(address, |_| Some(state::Reason::DeleteBecauseNoResourceConfig));
            }
        }
        for child in self.state.index().children.get(&module.address).into_iter().flatten() {
            let Some((_, step)) = child.split_last() else { continue };
            if !module.template.calls.contains_key(step.name.as_str()) {
                self.add_orphans_within(child, state::Reason::DeleteBecauseNoResourceConfig);
            }
        }
    }

    /// Adds orphans for all resources of a module instance that no longer exists, because its call has other
    /// instances or is no longer in the configuration.
    pub(crate) fn add_orphans_within(&self, module: &ModuleInstance, reason: state::Reason) {
        let mut gone = Vec::new();
        self.state.index().all_within(module, &mut gone);
        for address in gone {
            self.add_orphan(&address, |_| Some(reason));
        }
    }

    /// Adds an orphan for a resource of the state; `None` if the state does not have it.
    pub(crate) fn add_orphan(
        &self,
        address: &addr::AbsResource,
        reason: impl Fn(&InstanceKey) -> Option<state::Reason>,
    ) -> Option<NodeIx> {
        let resource = self.state.previous().resource(address)?;
        let instances = resource.instances.iter().filter(|(_, it)| it.current.is_some());
        let orphan = Orphan {
            address: address.clone(),
            provider: resource.provider.clone(),
            instances: instances.map(|(key, _)| (key.clone(), reason(key))).collect(),
        };
        let add = |index| self.nodes.add(NodeKind::Orphan { index });
        let node = self.implied.add_orphan(orphan, add);
        if let FoundProvider::Node(provider) = self.find_provider_ref(&resource.provider) {
            self.nodes.change(|graph| graph.add_edge(provider, node, EdgeKind::Hold));
        }
        self.nodes.change(|graph| graph.demand(node));
        Some(node)
    }
}

/// The local name and the alias of the provider that a resource uses.
pub(crate) fn provider_name(resource: &hir::item::Resource) -> (Str, Option<Str>) {
    match &resource.provider {
        Some(provider) => (provider.local_name.clone(), provider.alias.clone()),
        None => (Str::from(resource.resource.implied_provider()), None),
    }
}
