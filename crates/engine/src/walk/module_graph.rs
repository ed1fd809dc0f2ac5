//! The nodes and edges of module instances, and the resolution of provider names in them.

use std::{rc::Rc, sync::Arc};

use addr::{
    InstanceKey, ModuleInstance, ModulePath, ProviderConfigRef, ProviderSource, ResourceMode,
};
use hir::{Entry, program::ModuleId};
use sorted::TreeMap;
use values::Str;

use crate::{
    graph::{
        EdgeKind, ModuleIx, NodeIx, NodeKind,
        function_uses::FunctionUse,
        provider_name::provider_name,
        template::Declared,
        tree::{ConfigNode, FoundConfig, TreeIx},
    },
    walk::{
        context::Walk,
        modules::{FoundProvider, ModuleRun, Placement},
        outcome::ProviderInstance,
        rules::GraphRules,
    },
};

impl Walk<'_> {
    /// Adds the root module to the graph.
    pub(crate) fn add_root(&self, rules: &dyn GraphRules) -> ModuleIx {
        let place = Placement {
            address: ModuleInstance::root(),
            caller: None,
            gate: None,
            passed: TreeMap::new(),
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
        self.add_function_edges(&module);
        rules.add_undeclared(&module);
        for local in 0..template.nodes.len() as u32 {
            if rules.demands(&module, local) && rules.is_selected(&module, local) {
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
                    let kind = EdgeKind::Provider;
                    self.nodes.change(|graph| graph.add_edge(provider.node, node, kind));
                }
                if let Some(gate) = module.gate {
                    self.nodes.change(|graph| graph.add_edge(gate, node, EdgeKind::DependsOn));
                }
                self.add_import_edges(module, node, entry);
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

    /// Adds the edges to the provider configurations that answer calls of functions. The variables of a called module
    /// evaluate the arguments of the call, but do not exist yet.
    fn add_function_edges(&self, module: &Rc<ModuleRun>) {
        for it in module.template.function_uses() {
            if let Some(provider) = self.find_provider(module, &it.provider, it.alias.as_ref()) {
                let kind = if it.input.is_some() { EdgeKind::Hold } else { it.kind };
                let user = module.node(it.user);
                self.nodes.change(|graph| graph.add_edge(provider.node, user, kind));
            }
        }
    }

    /// Adds the edges from `import` blocks, which stand in the root module, to a resource in another module.
    fn add_import_edges(&self, module: &ModuleRun, node: NodeIx, entry: &Entry) {
        let Some(root) = self.modules.root().filter(|_| module.caller.is_some()) else { return };
        for import in root.template.imports_to(entry, &module.path) {
            let import = root.node(*import);
            self.nodes.change(|graph| graph.add_edge(import, node, EdgeKind::Import));
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
        let of_input = |it: &&FunctionUse| it.user == nodes.call && it.input.as_ref() == Some(name);
        for it in parent.template.function_uses().iter().filter(of_input) {
            if let Some(provider) = self.find_provider(&parent, &it.provider, it.alias.as_ref()) {
                self.nodes.change(|graph| graph.add_edge(provider.node, node, it.kind));
            }
        }
    }

    /// The provider configurations that a module inside of this one could use.
    fn visible_providers(&self, module: &Rc<ModuleRun>) -> Vec<NodeIx> {
        let mut found = Vec::new();
        let mut module = Rc::clone(module);
        loop {
            found.extend(module.template.providers.values().map(|local| module.node(*local)));
            found.extend(module.passed.values().map(|it| it.node));
            match &module.caller {
                Some(caller) => module = self.module(caller.module),
                None => break,
            }
        }
        sorted::sort(&mut found);
        found.dedup();
        found
    }

    /// The provider configuration that a local name refers to in a module; `None` if there is none. It has the key of
    /// an instance if a module call chose one.
    pub(crate) fn find_provider(
        &self,
        module: &Rc<ModuleRun>,
        name: &Str,
        alias: Option<&Str>,
    ) -> Option<ProviderInstance> {
        match self.config.tree.provider(self.config.tree.find(&module.path)?, name, alias)? {
            FoundConfig::Implicit(source) => {
                Some(ProviderInstance::without_key(self.implicit_provider(&source)))
            }
            FoundConfig::Declared { config: ConfigNode { module: declaring, local }, passed } => {
                let node = self.module_around(module, declaring)?.node(local);
                let Some(passed) = passed else { return Some(ProviderInstance::without_key(node)) };
                let called = self.module_around(module, passed.module)?;
                let key = called.passed.get(&passed.name).map(|it| it.key.clone());
                Some(ProviderInstance { node, key: key.unwrap_or(InstanceKey::None) })
            }
        }
    }

    /// The instance of an outer module, or of the module itself, that an instance of a module is in.
    fn module_around(&self, module: &Rc<ModuleRun>, outer: TreeIx) -> Option<Rc<ModuleRun>> {
        let path = self.config.tree.path(outer);
        let mut module = Rc::clone(module);
        while module.path != path {
            module = self.module(module.caller.as_ref()?.module);
        }
        Some(module)
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

    /// The reference to an instance of a provider configuration.
    pub(crate) fn provider_ref_of(&self, instance: &ProviderInstance) -> Arc<ProviderConfigRef> {
        self.modules.provider_ref(instance, || ProviderConfigRef {
            key: instance.key.clone(),
            ..self.provider_ref(instance.node)
        })
    }

    /// Finds the provider configuration that a state or a plan names, in its module or in a module around it.
    pub(crate) fn find_provider_ref(&self, wanted: &ProviderConfigRef) -> FoundProvider {
        let mut module = self.module(ModuleIx(0));
        for name in wanted.module.names() {
            let name = Str::from(name.as_str());
            let next = match module.children_of(&name) {
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
