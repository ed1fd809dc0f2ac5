//! The tree of module calls of a configuration, without instances.
//!
//! Modules are added to the tree on demand: calls that double at every level make more paths than any run visits.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use addr::{ConfigResource, ModulePath, ProviderConfigRef, ProviderSource};
use hir::{
    Entry, Program,
    program::{Module, ModuleId},
};
use rustc_hash::FxHashMap;
use sorted::TreeSet;
use values::Str;

use crate::graph::template::{CallNodes, Declared, Template};

/// The index of a module in the tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct TreeIx(u32);

impl TreeIx {
    /// The root module.
    pub(crate) const ROOT: TreeIx = TreeIx(0);
}

/// A node of the configuration: a module of the tree, and a node of its template.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ConfigNode {
    pub(crate) module: TreeIx,
    /// The index in the nodes of the template.
    pub(crate) local: u32,
}

/// The provider configuration that a name refers to.
pub(crate) enum FoundConfig {
    /// A `provider` block.
    Declared {
        config: ConfigNode,
        /// The name under which a module call passed it; `None` if the module that refers to it inherits it, or
        /// declares it itself.
        passed: Option<PassedName>,
    },
    /// The empty configuration of a provider for which the root module has no block.
    Implicit(ProviderSource),
}

/// The local name and the alias that a module call gives to a provider configuration.
pub(crate) struct PassedName {
    /// The called module.
    pub(crate) module: TreeIx,
    pub(crate) name: (Str, Option<Str>),
}

/// The modules of a configuration, one for each path of calls.
pub(crate) struct ConfigTree {
    program: Arc<Program>,
    templates: Vec<Rc<Template>>,
    modules: RefCell<Vec<TreeModule>>,
}

struct TreeModule {
    id: ModuleId,
    path: ModulePath,
    /// The calling module and the call; `None` for the root module.
    caller: Option<(TreeIx, Entry)>,
    children: FxHashMap<Str, TreeIx>,
}

impl ConfigTree {
    /// The tree of a program, with the templates of its modules.
    pub(crate) fn new(program: &Arc<Program>, templates: &[Rc<Template>]) -> ConfigTree {
        let root = TreeModule {
            id: program.root().id,
            path: ModulePath::root(),
            caller: None,
            children: FxHashMap::default(),
        };
        ConfigTree {
            program: Arc::clone(program),
            templates: templates.to_vec(),
            modules: RefCell::new(vec![root]),
        }
    }

    /// The module at a path; `None` if no calls lead there.
    pub(crate) fn find(&self, path: &ModulePath) -> Option<TreeIx> {
        path.names()
            .iter()
            .try_fold(TreeIx::ROOT, |module, call| self.child(module, &Str::from(&**call)))
    }

    /// The node of a resource; `None` if the configuration does not declare it.
    pub(crate) fn resource(&self, resource: &ConfigResource) -> Option<ConfigNode> {
        let module = self.find(&resource.module)?;
        let local = *self.template(module).resources.get(&resource.resource)?;
        Some(ConfigNode { module, local })
    }

    /// The module that a call leads to; `None` if there is no such call, or if a module would contain itself.
    pub(crate) fn child(&self, module: TreeIx, call: &Str) -> Option<TreeIx> {
        if let Some(child) = self.modules.borrow()[module.0 as usize].children.get(call) {
            return Some(*child);
        }
        let (entry, callee) = self.declaration(module).calls.get(call)?;
        if self.is_within(module, *callee) {
            return None;
        }
        let mut modules = self.modules.borrow_mut();
        let child = TreeIx(modules.len() as u32);
        let caller = &mut modules[module.0 as usize];
        caller.children.insert(call.clone(), child);
        let path = caller.path.child(&**call);
        let caller = Some((module, entry.clone()));
        modules.push(TreeModule { id: *callee, path, caller, children: FxHashMap::default() });
        Some(child)
    }

    /// Returns true if `module` or one of its ancestors is the module `id` of the program.
    fn is_within(&self, module: TreeIx, id: ModuleId) -> bool {
        let modules = self.modules.borrow();
        let mut around = Some(module);
        while let Some(module) = around {
            let it = &modules[module.0 as usize];
            if it.id == id {
                return true;
            }
            around = it.caller.as_ref().map(|(caller, _)| *caller);
        }
        false
    }

    /// The modules, with all modules inside of them.
    pub(crate) fn with_inner(&self, mut open: Vec<TreeIx>) -> TreeSet<TreeIx> {
        let mut found = TreeSet::new();
        while let Some(module) = open.pop() {
            if found.insert(module) {
                let calls = self.template(module).calls.keys();
                open.extend(calls.filter_map(|call| self.child(module, call)));
            }
        }
        found
    }

    /// The nodes of a module, with the declarations that they stand for.
    pub(crate) fn nodes(&self, module: TreeIx) -> impl Iterator<Item = (ConfigNode, &Declared)> {
        let nodes = self.template(module).nodes.iter().enumerate();
        nodes.map(move |(local, it)| (ConfigNode { module, local: local as u32 }, it))
    }

    /// The nodes of all modules, with the declarations that they stand for.
    pub(crate) fn all_nodes(&self) -> impl Iterator<Item = (ConfigNode, &Declared)> {
        self.with_inner(vec![TreeIx::ROOT]).into_iter().flat_map(|module| self.nodes(module))
    }

    /// The declaration that a node stands for.
    #[inline]
    pub(crate) fn declared(&self, node: ConfigNode) -> &Declared {
        &self.template(node.module).nodes[node.local as usize]
    }

    /// The calling module and the call; `None` for the root module.
    pub(crate) fn caller(&self, module: TreeIx) -> Option<(TreeIx, Entry)> {
        self.modules.borrow()[module.0 as usize].caller.clone()
    }

    /// The nodes of the call that leads to a module, with the calling module; `None` for the root module.
    pub(crate) fn with_call<T>(
        &self,
        module: TreeIx,
        read: impl FnOnce(TreeIx, &CallNodes) -> T,
    ) -> Option<T> {
        let (caller, call) = self.caller(module)?;
        Some(read(caller, &self.template(caller).calls[&call.module_call().name]))
    }

    /// The path of calls that leads to a module.
    pub(crate) fn path(&self, module: TreeIx) -> ModulePath {
        self.modules.borrow()[module.0 as usize].path.clone()
    }

    /// The nodes and edges of a module.
    pub(crate) fn template(&self, module: TreeIx) -> &Template {
        let id = self.modules.borrow()[module.0 as usize].id;
        &self.templates[id.0 as usize]
    }

    fn declaration(&self, module: TreeIx) -> &Module {
        let id = self.modules.borrow()[module.0 as usize].id;
        self.program.module(id)
    }

    /// The configuration that a provider's local name refers to in a module: its own, one that the caller passes,
    /// or the caller's default configuration for the same provider. Without any, the implicit empty configuration
    /// of the root module. `None` if there is no configuration with this alias.
    pub(crate) fn provider(
        &self,
        module: TreeIx,
        name: &Str,
        alias: Option<&Str>,
    ) -> Option<FoundConfig> {
        let key = (name.clone(), alias.cloned());
        if let Some(&local) = self.template(module).providers.get(&key) {
            let config = ConfigNode { module, local };
            return Some(FoundConfig::Declared { config, passed: None });
        }
        let caller = self.caller(module);
        if let Some((caller, call)) = &caller
            && let Some(found) = self.passed(module, *caller, call, |it| it == (name, alias))
        {
            return Some(found);
        }
        if alias.is_some() {
            return None;
        }
        let source = self.source(module, name);
        match caller {
            Some((caller, _)) => Some(self.default_provider(caller, source)),
            None => Some(FoundConfig::Implicit(source)),
        }
    }

    /// The configuration that a call passes to a module under a name that `is_wanted` accepts.
    fn passed(
        &self,
        module: TreeIx,
        caller: TreeIx,
        call: &Entry,
        is_wanted: impl Fn((&Str, Option<&Str>)) -> bool,
    ) -> Option<FoundConfig> {
        let mut passed = call.module_call().providers.iter().flatten();
        let it = passed.find(|it| is_wanted((&it.child_name, it.child_alias.as_ref())))?;
        let found = self.provider(caller, &it.parent.local_name, it.parent.alias.as_ref())?;
        let name = (it.child_name.clone(), it.child_alias.clone());
        Some(match found {
            FoundConfig::Declared { config, .. } => {
                FoundConfig::Declared { config, passed: Some(PassedName { module, name }) }
            }
            FoundConfig::Implicit(source) => FoundConfig::Implicit(source),
        })
    }

    /// The default configuration for a provider in a module or in a module around it.
    fn default_provider(&self, mut module: TreeIx, source: ProviderSource) -> FoundConfig {
        loop {
            let is_default = |(name, alias): (&Str, Option<&Str>)| {
                alias.is_none() && self.source(module, name) == source
            };
            let providers = self.template(module).providers.iter();
            let mut own = providers.filter(|((name, alias), _)| is_default((name, alias.as_ref())));
            if let Some((_, &local)) = own.next() {
                let config = ConfigNode { module, local };
                return FoundConfig::Declared { config, passed: None };
            }
            let Some((caller, call)) = self.caller(module) else {
                return FoundConfig::Implicit(source);
            };
            if let Some(found) = self.passed(module, caller, &call, is_default) {
                return found;
            }
            module = caller;
        }
    }

    /// The node of the configuration that a state or a plan names, in its module or in a module around it.
    pub(crate) fn find_provider(&self, wanted: &ProviderConfigRef) -> Option<ConfigNode> {
        let mut wanted = wanted.clone();
        loop {
            if let Some(module) = self.find(&wanted.module) {
                let mut providers = self.template(module).providers.iter();
                let found = providers.find(|((name, alias), _)| {
                    alias.as_deref() == wanted.alias.as_deref()
                        && self.source(module, name) == wanted.source
                });
                if let Some((_, &local)) = found {
                    return Some(ConfigNode { module, local });
                }
            }
            wanted = wanted.inherited()?;
        }
    }

    /// The source of the provider that a local name refers to in a module.
    pub(crate) fn source(&self, module: TreeIx, name: &Str) -> ProviderSource {
        let declared = self.declaration(module).provider_sources.get(name).cloned();
        declared.unwrap_or_else(|| ProviderSource::implied_for(name))
    }
}
