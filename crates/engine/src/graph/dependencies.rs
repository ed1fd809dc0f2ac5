//! The dependencies of a resource: every resource that its block reaches in the configuration.
//!
//! The state stores them with each object, so that objects are destroyed in the right order after their blocks are
//! gone. They follow from the configuration alone, whatever the number of instances:
//!
//! ```text
//!   resource ──► count, for_each, enabled ──► references
//!      │──► arguments, conditions, provisioners, connection, depends_on ──► references
//!      │──► provider configuration, also of functions ──► references
//!      └──► module call around ──► its count, for_each, enabled and depends_on ──► references
//! ```
//!
//! **Invariant:** the edges of a node are followed once, and nodes with the same dependencies share one list.

use std::{cell::RefCell, collections::hash_map::Entry, rc::Rc, sync::Arc};

use addr::{ConfigResource, ProviderConfigRef};
use rustc_hash::FxHashMap;
use values::Str;

use crate::graph::{
    EdgeKind,
    function_uses::FunctionUse,
    provider_name::provider_name,
    template::Declared,
    tree::{ConfigNode, ConfigTree, FoundConfig, TreeIx},
};

/// Numbers of resources, in the order of their addresses as text.
type List = Rc<[u32]>;

/// The dependencies of all resources of a configuration, computed on demand.
pub(crate) struct Dependencies {
    known: RefCell<Known>,
}

#[derive(Default)]
struct Known {
    /// True if an object depends on what the ID of its `import` block is derived from.
    counts_imports: bool,
    resources: Vec<ConfigResource>,
    /// The addresses as text.
    names: Vec<String>,
    numbers: FxHashMap<ConfigNode, u32>,
    /// The dependencies of each node; `None` while they are being computed.
    lists: FxHashMap<ConfigNode, Option<List>>,
    /// The lists as the state holds them, by the memory address of the list. `lists` keeps each list alive.
    finished: FxHashMap<*const u32, Arc<[ConfigResource]>>,
    /// For each resource, the number of the last union that it was added to.
    added_in: Vec<u32>,
    unions: u32,
}

/// A node whose dependencies are being computed.
struct Visit {
    node: ConfigNode,
    dependencies: Vec<ConfigNode>,
    next: usize,
}

impl Dependencies {
    /// `counts_imports` is true if an object depends on what the ID of its `import` block is derived from.
    pub(crate) fn new(counts_imports: bool) -> Dependencies {
        Dependencies { known: RefCell::new(Known { counts_imports, ..Known::default() }) }
    }

    /// The dependencies of a resource, in the order of their addresses as text; empty if the configuration does
    /// not declare it.
    pub(crate) fn of(&self, tree: &ConfigTree, resource: &ConfigResource) -> Arc<[ConfigResource]> {
        self.of_node(tree, tree.resource(resource))
    }

    /// The resources that a provider configuration depends on; empty if the configuration does not declare it.
    pub(crate) fn of_provider(
        &self,
        tree: &ConfigTree,
        provider: &ProviderConfigRef,
    ) -> Arc<[ConfigResource]> {
        self.of_node(tree, tree.find_provider(provider))
    }

    fn of_node(&self, tree: &ConfigTree, node: Option<ConfigNode>) -> Arc<[ConfigResource]> {
        let Some(node) = node else { return Arc::default() };
        let mut known = self.known.borrow_mut();
        known.compute(tree, node);
        known.finish(node)
    }
}

impl Known {
    /// Computes the dependencies of a node and of all nodes that it leads to. It does not recurse, because chains
    /// of dependencies can be as long as the configuration.
    fn compute(&mut self, tree: &ConfigTree, node: ConfigNode) {
        let mut path = Vec::new();
        self.begin(tree, node, &mut path);
        while let Some(visit) = path.last_mut() {
            match visit.dependencies.get(visit.next).copied() {
                Some(dependency) => {
                    visit.next += 1;
                    self.begin(tree, dependency, &mut path);
                }
                None => {
                    let Some(visit) = path.pop() else { return };
                    let list = self.union(tree, &visit.dependencies);
                    self.lists.insert(visit.node, Some(list));
                }
            }
        }
    }

    /// Starts with a node, unless its dependencies are known or being computed. A node that is being computed is
    /// part of a cycle, which is reported where it is evaluated.
    fn begin(&mut self, tree: &ConfigTree, node: ConfigNode, path: &mut Vec<Visit>) {
        if let Entry::Vacant(list) = self.lists.entry(node) {
            list.insert(None);
            let counts = |it: &ConfigNode| {
                self.counts_imports || !matches!(tree.declared(*it), Declared::Import(_))
            };
            let dependencies = direct(tree, node).into_iter().filter(counts).collect();
            path.push(Visit { node, dependencies, next: 0 });
        }
    }

    /// The resources among these nodes, together with their dependencies.
    fn union(&mut self, tree: &ConfigTree, nodes: &[ConfigNode]) -> List {
        let lists = nodes.iter().filter_map(|node| self.lists.get(node)?.clone());
        let lists: Vec<List> = lists.collect();
        let largest = lists.iter().max_by_key(|list| list.len()).cloned().unwrap_or_default();
        self.unions += 1;
        let mut more = Vec::new();
        self.add(&largest, &mut Vec::new());
        for list in lists.iter().filter(|list| !Rc::ptr_eq(list, &largest)) {
            self.add(list, &mut more);
        }
        for node in nodes {
            if let Some(number) = self.number(tree, *node) {
                self.add(&[number], &mut more);
            }
        }
        if more.is_empty() {
            return largest;
        }
        sorted::sort_by(&mut more, |a, b| self.names[*a as usize].cmp(&self.names[*b as usize]));
        self.merge(&largest, &more).into()
    }

    /// Appends the resources to `to` that the current union does not have yet.
    fn add(&mut self, list: &[u32], to: &mut Vec<u32>) {
        for &resource in list {
            let added_in = &mut self.added_in[resource as usize];
            if std::mem::replace(added_in, self.unions) != self.unions {
                to.push(resource);
            }
        }
    }

    fn merge(&self, a: &[u32], b: &[u32]) -> Vec<u32> {
        let mut merged = Vec::with_capacity(a.len() + b.len());
        let mut rest = a;
        for &resource in b {
            let name = &self.names[resource as usize];
            let before = rest.partition_point(|it| self.names[*it as usize] < *name);
            merged.extend_from_slice(&rest[..before]);
            merged.push(resource);
            rest = &rest[before..];
        }
        merged.extend_from_slice(rest);
        merged
    }

    /// The number of the resource that a node stands for; `None` if it stands for something else.
    fn number(&mut self, tree: &ConfigTree, node: ConfigNode) -> Option<u32> {
        if let Some(number) = self.numbers.get(&node) {
            return Some(*number);
        }
        let Declared::Resource(entry) = tree.declared(node) else {
            return None;
        };
        let resource = entry.resource().resource.clone();
        let resource = ConfigResource { module: tree.path(node.module), resource };
        let number = self.resources.len() as u32;
        self.names.push(resource.to_string());
        self.resources.push(resource);
        self.added_in.push(0);
        self.numbers.insert(node, number);
        Some(number)
    }

    fn finish(&mut self, node: ConfigNode) -> Arc<[ConfigResource]> {
        let Some(Some(list)) = self.lists.get(&node) else { return Arc::default() };
        let resources = &self.resources;
        let finish = || list.iter().map(|it| resources[*it as usize].clone()).collect();
        Arc::clone(self.finished.entry(list.as_ptr()).or_insert_with(finish))
    }
}

/// The direct dependencies of a node.
pub(crate) fn direct(tree: &ConfigTree, node: ConfigNode) -> Vec<ConfigNode> {
    let ConfigNode { module, local } = node;
    let template = tree.template(module);
    let edges = template.dependencies(local).filter(|(_, kind)| *kind != EdgeKind::Hold);
    let mut found: Vec<ConfigNode> = edges.map(|(local, _)| ConfigNode { module, local }).collect();
    found.extend(
        tree.with_call(module, |caller, call| ConfigNode { module: caller, local: call.call }),
    );
    match &template.nodes[local as usize] {
        Declared::Call(entry, _) => {
            let gate = template.calls[&entry.module_call().name].gate;
            found.extend(gate.map(|local| ConfigNode { module, local }));
        }
        Declared::Variable(entry) => {
            let name = &entry.variable().name;
            let reads = tree.with_call(module, |caller, call| {
                let input = call.inputs.iter().find(|input| input.name == *name);
                let reads = input.into_iter().flat_map(|input| &input.reads);
                reads.map(|read| ConfigNode { module: caller, local: *read }).collect::<Vec<_>>()
            });
            found.extend(reads.into_iter().flatten());
        }
        Declared::Resource(entry) => {
            let (name, alias) = provider_name(entry.resource());
            if let Some(FoundConfig::Declared { config, .. }) =
                tree.provider(module, &name, alias.as_ref())
            {
                found.push(config);
            }
            // An object that is imported depends on all that its ID was computed from.
            if module != TreeIx::ROOT {
                let imports = tree.template(TreeIx::ROOT).imports_to(entry, &tree.path(module));
                let node = |local: &u32| ConfigNode { module: TreeIx::ROOT, local: *local };
                found.extend(imports.iter().map(node));
            }
        }
        Declared::ModuleOutput { call, output } => {
            let child = tree.child(module, &call.module_call().name);
            let output = |module| {
                let local = *tree.template(module).outputs.get(output)?;
                Some(ConfigNode { module, local })
            };
            found.extend(child.and_then(output));
        }
        // A reference to a call as a whole depends on everything inside of the module.
        Declared::ModuleObject(call) => {
            let local = template.calls[&call.module_call().name].done;
            found.push(ConfigNode { module, local });
        }
        Declared::CallDone(call) => {
            let child = tree.child(module, &call.module_call().name);
            found.extend(child.into_iter().flat_map(|child| everything_in(tree, child)));
        }
        _ => {}
    }
    found.extend(function_providers(tree, node));
    found
}

/// The provider configurations that answer the calls of functions of a node. Those of the arguments of a module call
/// belong to the variables of the called module.
pub(crate) fn function_providers(tree: &ConfigTree, node: ConfigNode) -> Vec<ConfigNode> {
    let mut found = providers_of_calls(tree, node, None);
    if let Declared::Variable(entry) = tree.declared(node) {
        let name = &entry.variable().name;
        let of_argument = tree.with_call(node.module, |caller, call| {
            let call = ConfigNode { module: caller, local: call.call };
            providers_of_calls(tree, call, Some(name))
        });
        found.extend(of_argument.into_iter().flatten());
    }
    found
}

fn providers_of_calls(tree: &ConfigTree, user: ConfigNode, input: Option<&Str>) -> Vec<ConfigNode> {
    let uses = tree.template(user.module).function_uses().iter();
    let uses = uses.filter(|it| it.user == user.local && it.input.as_ref() == input);
    let config =
        |it: &FunctionUse| match tree.provider(user.module, &it.provider, it.alias.as_ref())? {
            FoundConfig::Declared { config, .. } => Some(config),
            FoundConfig::Implicit(_) => None,
        };
    uses.filter_map(config).collect()
}

/// The nodes of a module that must be done before its call is done. Checks and their data sources are left out,
/// because they may depend on the call.
fn everything_in(tree: &ConfigTree, module: TreeIx) -> impl Iterator<Item = ConfigNode> {
    let counts = |declared: &Declared| match declared {
        Declared::Check(_)
        | Declared::Assertions(_)
        | Declared::Import(_)
        | Declared::Provider(_) => false,
        Declared::Expand(entry) | Declared::Resource(entry) => entry.resource().in_check.is_none(),
        _ => true,
    };
    let nodes = tree.template(module).nodes.iter().enumerate();
    let counted = nodes.filter(move |(_, it)| counts(it));
    counted.map(move |(local, _)| ConfigNode { module, local: local as u32 })
}
