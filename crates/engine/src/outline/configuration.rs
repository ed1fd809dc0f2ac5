//! The outline of a configuration: one node or two for each declaration, for each path of module calls.

use std::{rc::Rc, sync::Arc};

use addr::{ModulePath, ProviderConfigRef, ResourceMode};
use hir::{Entry, Program, item::ProviderConfig};

use rustc_hash::FxHashMap;

use super::{Draft, OutlineEdge, OutlineKind};
use crate::graph::{
    EdgeKind,
    dependencies::function_providers,
    provider_name::provider_name,
    template::{Declared, Template},
    tree::{ConfigNode, ConfigTree, FoundConfig, TreeIx},
};

/// The number of module paths beyond which no more are shown. Their number can grow exponentially with the depth of
/// calls.
const MOST_MODULES: usize = 20_000;

/// The outline of all declarations.
pub(super) fn outline(program: &Arc<Program>) -> Draft {
    let templates: Vec<Rc<Template>> = Template::all(program);
    let tree = ConfigTree::new(program, &templates);
    let mut builder = Builder { tree: &tree, draft: Draft::default(), opened: Vec::new() };
    let mut open = vec![TreeIx::ROOT];
    let mut count = 0;
    while let Some(module) = open.pop() {
        builder.add(module);
        let mut calls: Vec<_> = tree.template(module).calls.keys().collect();
        sorted::sort(&mut calls);
        open.extend(calls.into_iter().rev().filter_map(|call| tree.child(module, call)));
        count += 1;
        if count == MOST_MODULES {
            break;
        }
    }
    builder.close_ephemerals();
    builder.draft
}

/// The first part of the names in a module: empty, or `module.a.`.
pub(super) fn prefix(module: &ModulePath) -> String {
    if module.is_root() { String::new() } else { format!("{module}.") }
}

struct Builder<'t> {
    tree: &'t ConfigTree,
    draft: Draft,
    /// The ephemeral resources.
    opened: Vec<Opened>,
}

/// An ephemeral resource.
struct Opened {
    /// The node that opens it.
    open: u32,
    /// The node that closes it, after all its dependents.
    close: u32,
}

impl Builder<'_> {
    fn add(&mut self, module: TreeIx) {
        let expand = self
            .tree
            .with_call(module, |caller, nodes| ConfigNode { module: caller, local: nodes.call });
        let expand = expand.map(|it| self.node(it));
        let close = expand.map(|_| format!("{} (close)", self.tree.path(module)));
        let close = close.map(|name| self.draft.node(name, OutlineKind::ModuleClose));
        let declared: Vec<_> = self.tree.nodes(module).map(|(node, _)| node).collect();
        for declared in declared {
            let node = self.node(declared);
            let within = self.declare(declared, node);
            if let (Some(expand), Some(close)) = (expand, close) {
                self.draft.depend(within, expand);
                self.draft.depend(close, node);
            }
            for (dependency, kind) in self.tree.template(module).dependencies(declared.local) {
                if kind != EdgeKind::Hold {
                    let dependency = self.node(ConfigNode { module, local: dependency });
                    self.draft.depend(node, dependency);
                }
            }
            self.use_functions(declared, node);
        }
        if let (Some(expand), Some(close)) = (expand, close) {
            self.draft.depend(close, expand);
        }
    }

    /// The node that references to a declaration lead to.
    fn node(&mut self, declared: ConfigNode) -> u32 {
        let path = self.tree.path(declared.module);
        let prefix = prefix(&path);
        let draft = &mut self.draft;
        let called = |call: &Entry| path.child(&*call.module_call().name);
        match self.tree.declared(declared) {
            Declared::Variable(it) => {
                draft.plain(format!("{prefix}var.{} (expand, reference)", it.variable().name))
            }
            Declared::Local(it) => {
                let name = it.item.kind.as_local().map(|it| &*it.name).unwrap_or_default();
                draft.plain(format!("{prefix}local.{name} (expand)"))
            }
            Declared::Output(it) => {
                let kind = if path.is_root() { OutlineKind::Output } else { OutlineKind::Other };
                draft.node(format!("{prefix}output.{} (expand)", it.output().name), kind)
            }
            Declared::Expand(it) | Declared::Resource(it) => {
                let resource = &it.resource().resource;
                let address = format!("{prefix}{resource}");
                let name = format!("{address} (expand)");
                match resource.mode {
                    ResourceMode::Ephemeral => draft.node(name, OutlineKind::Ephemeral(address)),
                    _ => draft.node(name, OutlineKind::Resource(address)),
                }
            }
            Declared::Call(it, _) | Declared::Gate(it) => {
                draft.plain(format!("{} (expand)", called(it)))
            }
            Declared::CallDone(it) | Declared::ModuleObject(it) => {
                draft.node(format!("{} (close)", called(it)), OutlineKind::ModuleClose)
            }
            Declared::ModuleOutput { call, output } => {
                draft.plain(format!("{}.output.{output} (expand)", called(call)))
            }
            Declared::Provider(it) => {
                let name = self.provider_name(declared.module, it.provider_config());
                self.draft.node(name, OutlineKind::Provider)
            }
            Declared::Check(it) => {
                draft.plain(format!("{prefix}check.{} (expand)", it.check().name))
            }
            Declared::Assertions(_) => draft.plain("assertions".to_owned()),
            Declared::Import(it) => {
                // The resource waits for what the block refers to.
                let to = it.item.kind.as_import().map(|it| it.to.config().to_string());
                let address = to.unwrap_or_default();
                draft.node(format!("{address} (expand)"), OutlineKind::Resource(address))
            }
        }
    }

    /// Adds the nodes that belong to a declaration beside its own. Returns the node that begins first.
    fn declare(&mut self, declared: ConfigNode, node: u32) -> u32 {
        let path = self.tree.path(declared.module);
        match self.tree.declared(declared) {
            Declared::Variable(it) => {
                let name = format!("{}var.{}", prefix(&path), it.variable().name);
                let input = match path.is_root() {
                    true => self.draft.node(name, OutlineKind::Variable),
                    false => self.draft.plain(format!("{name} (expand, input)")),
                };
                self.draft.depend(node, input);
                self.add_argument(declared.module, &it.variable().name, input);
                input
            }
            Declared::Resource(it) => {
                self.declare_resource(declared, it, node);
                node
            }
            Declared::Check(it) => {
                let report = self.report(&path, &it.check().name);
                self.draft.depend(node, report);
                node
            }
            _ => node,
        }
    }

    /// Adds the use of the provider configuration. A data source of a check runs after the check's report began.
    fn declare_resource(&mut self, declared: ConfigNode, entry: &Entry, node: u32) {
        let path = self.tree.path(declared.module);
        let resource = entry.resource();
        let mut end = node;
        if let OutlineKind::Ephemeral(address) = &self.draft.nodes[node as usize].kind {
            let close = format!("{address} (close)");
            end = self.draft.plain(close);
            self.draft.depend(end, node);
            self.opened.push(Opened { open: node, close: end });
        }
        if let Some(check) = &resource.in_check {
            let report = self.report(&path, check);
            self.draft.depend(node, report);
        }
        let (name, alias) = provider_name(resource);
        let provider = match self.tree.provider(declared.module, &name, alias.as_ref()) {
            Some(FoundConfig::Declared { config: found, .. }) => {
                let provider = self.node(found);
                self.draft.nodes[provider as usize].name.clone()
            }
            Some(FoundConfig::Implicit(source)) => {
                ProviderConfigRef::default_in(ModulePath::root(), source).to_string()
            }
            None => return,
        };
        let use_ends = self.draft.use_provider(node, &provider);
        self.draft.depend(use_ends, end);
    }

    /// Adds the uses of provider configurations whose functions a declaration calls.
    fn use_functions(&mut self, declared: ConfigNode, node: u32) {
        for config in function_providers(self.tree, declared) {
            let provider = self.node(config);
            let name = self.draft.nodes[provider as usize].name.clone();
            self.draft.use_provider(node, &name);
        }
    }

    fn report(&mut self, module: &ModulePath, check: &str) -> u32 {
        let name = format!("{}check.{check} (report)", prefix(module));
        self.draft.node(name, OutlineKind::CheckReport)
    }

    /// Makes the end of each ephemeral resource depend on what uses it. A provider configuration uses it to its own
    /// end.
    fn close_ephemerals(&mut self) {
        let opened: FxHashMap<u32, u32> =
            self.opened.iter().map(|it| (it.open, it.close)).collect();
        let uses: Vec<OutlineEdge> = self
            .draft
            .edges
            .iter()
            .filter(|it| opened.get(&it.dependency).is_some_and(|close| *close != it.user))
            .copied()
            .collect();
        for OutlineEdge { user, dependency } in uses {
            let used = &self.draft.nodes[user as usize];
            let last = match used.kind {
                OutlineKind::ProviderClose => continue,
                OutlineKind::Provider => {
                    let end = format!("{} (close)", used.name);
                    self.draft.node(end, OutlineKind::ProviderClose)
                }
                _ => user,
            };
            self.draft.depend(opened[&dependency], last);
        }
    }

    /// Makes a variable of a called module depend on what the argument of the call refers to.
    fn add_argument(&mut self, module: TreeIx, variable: &str, input: u32) {
        let reads = self.tree.with_call(module, |caller, nodes| {
            let argument = nodes.inputs.iter().find(|it| &*it.name == variable);
            let reads = argument.map(|it| it.reads.clone()).unwrap_or_default();
            reads.into_iter().map(move |local| ConfigNode { module: caller, local }).collect()
        });
        let reads: Vec<ConfigNode> = reads.unwrap_or_default();
        for read in reads {
            let dependency = self.node(read);
            self.draft.depend(input, dependency);
        }
    }

    fn provider_name(&self, module: TreeIx, config: &ProviderConfig) -> String {
        ProviderConfigRef {
            module: self.tree.path(module),
            source: self.tree.source(module, &config.local_name),
            alias: config.alias.as_deref().map(Into::into),
            key: addr::InstanceKey::None,
        }
        .to_string()
    }
}
