//! The static graph of one module directory, built once even if the module is called many times.
//!
//! An instance of the module is its template at an offset: node `local` of the template becomes node `base +
//! local` of the run.

use std::{cell::OnceCell, rc::Rc};

use addr::{ConfigResource, ModulePath, ResourceMode};
use hir::{
    Entry, ExprId, Program, Ref,
    item::{Import, RefPlace, RefTarget, Resource, StaticRef, Variable},
    program::{Module, ModuleId},
};
use rustc_hash::FxHashMap;
use sorted::TreeMap;
use values::Str;

use crate::{
    graph::{
        EdgeKind,
        function_uses::{FunctionUse, function_uses},
        input_roots::InputRoots,
    },
    memo::is_same,
};

/// The declaration that a node of a template stands for.
#[derive(Clone)]
pub(crate) enum Declared {
    /// An input variable.
    Variable(Entry),
    /// A local value.
    Local(Entry),
    /// An output value.
    Output(Entry),
    /// The number of instances of a resource.
    Expand(Entry),
    /// All instances of a resource. Its value is what references to the resource see.
    Resource(Entry),
    /// The instances of a module call: their number, and adding them to the graph.
    Call(Entry, ModuleId),
    /// The dependencies in the `depends_on` of a call. It completes before any resource inside of the call begins.
    Gate(Entry),
    /// Completes when everything inside of a call is done.
    CallDone(Entry),
    /// One output of all instances of a call.
    ModuleOutput { call: Entry, output: Str },
    /// All outputs of all instances of a call.
    ModuleObject(Entry),
    /// A provider configuration.
    Provider(Entry),
    /// A `check` block.
    Check(Entry),
    /// The assertions of a `run` block of a test.
    Assertions(Entry),
    /// An `import` block of the root module.
    Import(Entry),
}

/// An edge inside of a template.
#[derive(Clone, Copy)]
pub(crate) struct TemplateEdge {
    pub(crate) dependency: u32,
    pub(crate) user: u32,
    pub(crate) kind: EdgeKind,
}

/// Indices of edges, sorted by user.
struct ByUser {
    /// The start of each node's edges in `edges`, followed by the end of the last node's edges.
    begins: Vec<u32>,
    edges: Vec<u32>,
}

impl ByUser {
    fn new(nodes: usize, all: &[TemplateEdge]) -> ByUser {
        let mut begins = vec![0; nodes + 1];
        all.iter().for_each(|edge| begins[edge.user as usize + 1] += 1);
        for node in 0..nodes {
            begins[node + 1] += begins[node];
        }
        let mut next = begins.clone();
        let mut edges = vec![0; all.len()];
        for (index, edge) in all.iter().enumerate() {
            let place = &mut next[edge.user as usize];
            edges[*place as usize] = index as u32;
            *place += 1;
        }
        ByUser { begins, edges }
    }

    fn edges_of(&self, node: u32) -> &[u32] {
        let (begin, end) = (self.begins[node as usize], self.begins[node as usize + 1]);
        &self.edges[begin as usize..end as usize]
    }
}

/// An argument of a call, with what it refers to in the calling module.
pub(crate) struct ChildInput {
    pub(crate) name: Str,
    pub(crate) value: ExprId,
    /// The nodes of the calling module's template that the argument refers to.
    pub(crate) reads: Vec<u32>,
}

/// The nodes and edges of a module directory.
pub(crate) struct Template {
    pub(crate) module: ModuleId,
    pub(crate) nodes: Vec<Declared>,
    pub(crate) edges: Vec<TemplateEdge>,
    /// The edges by user, computed on demand.
    by_user: OnceCell<ByUser>,
    /// True for each node that runs only if a dependent demands it: see [`is_lazy`].
    pub(crate) lazy: Vec<bool>,
    pub(crate) variables: FxHashMap<Str, u32>,
    pub(crate) locals: FxHashMap<Str, u32>,
    pub(crate) outputs: TreeMap<Str, u32>,
    /// The nodes of the resources. The expansion of a resource is the node before.
    pub(crate) resources: FxHashMap<addr::Resource, u32>,
    pub(crate) calls: FxHashMap<Str, CallNodes>,
    pub(crate) providers: TreeMap<(Str, Option<Str>), u32>,
    attached: Attached,
}

/// The nodes of declarations that belong to another declaration.
#[derive(Default)]
struct Attached {
    /// The data sources of `check` blocks, by the name of the check.
    nested: FxHashMap<Str, Vec<u32>>,
    /// The nodes of `import` blocks, by the resource that they import to. The keys of instances are not known yet.
    imports: FxHashMap<ConfigResource, Vec<u32>>,
    /// The nodes that call functions of configured providers.
    functions: Vec<FunctionUse>,
}

/// The nodes of one call.
pub(crate) struct CallNodes {
    pub(crate) call: u32,
    /// The node of `depends_on`; `None` if the call has none.
    pub(crate) gate: Option<u32>,
    pub(crate) done: u32,
    pub(crate) object: u32,
    pub(crate) outputs: TreeMap<Str, u32>,
    pub(crate) inputs: Vec<ChildInput>,
}

impl Template {
    /// The templates of all modules of a program.
    pub(crate) fn all(program: &Program) -> Vec<Rc<Template>> {
        let modules = program.modules.iter();
        modules.map(|module| Rc::new(Template::new(program, module))).collect()
    }

    /// Like [`all`](Template::all), but reuses the templates of an earlier program as far as they fit: an edit
    /// inside of expressions keeps nodes and edges as they are.
    pub(crate) fn all_from(program: &Program, earlier: Vec<Rc<Template>>) -> Renewed {
        let mut touched = (earlier.len() == program.modules.len()).then(Touched::default);
        let mut earlier = earlier.into_iter();
        let modules = program.modules.iter();
        let renewed = modules.map(|module| {
            let fitting = earlier.next().and_then(|it| Rc::try_unwrap(it).ok());
            let fitting = fitting.and_then(|mut it| Some((it.renew(program, module)?, it)));
            let Some((renewal, template)) = fitting else {
                touched = None;
                return Rc::new(Template::new(program, module));
            };
            match &mut touched {
                Some(_) if renewal.has_other_providers => touched = None,
                Some(touched) => touched.add(module.id, &renewal),
                None => {}
            }
            Rc::new(template)
        });
        let templates = renewed.collect();
        Renewed { templates, touched }
    }

    /// Takes over the items of `module`; `None` if they do not make the same nodes.
    fn renew(&mut self, program: &Program, module: &Module) -> Option<Renewal> {
        if self.module != module.id {
            return None;
        }
        let mut renewal = self.with_items(program, module)?;
        let functions = function_uses(program, module, &self.nodes);
        // The edges to providers lead out of the template, so they are not rebuilt on their own.
        let is_rewired = |it: &FunctionUse| renewal.rewired.contains(&it.user);
        if functions != self.attached.functions || functions.iter().any(is_rewired) {
            return None;
        }
        if !renewal.rewired.is_empty() {
            self.rewire(&mut renewal)?;
        }
        Some(renewal)
    }

    /// Rebuilds the edges of the nodes whose items have other references now. `None` if other nodes are lazy then.
    fn rewire(&mut self, renewal: &mut Renewal) -> Option<()> {
        // A resource has two nodes, which share its references.
        let of_resources =
            renewal.rewired.iter().filter_map(|node| match self.nodes[*node as usize] {
                Declared::Expand(_) => Some(node + 1),
                Declared::Resource(_) => Some(node - 1),
                _ => None,
            });
        let of_resources: Vec<u32> = of_resources.collect();
        renewal.rewired.extend(of_resources);
        renewal.rewired.sort_unstable();
        renewal.rewired.dedup();
        let rewired = &renewal.rewired;
        self.edges.retain(|edge| rewired.binary_search(&edge.user).is_err());
        self.by_user.take();
        rewired.iter().for_each(|node| self.edges_of(*node));
        let lazy = std::mem::take(&mut self.lazy);
        self.lazy = self.find_lazy();
        (self.lazy == lazy).then_some(())
    }

    /// Replaces the items of all nodes with those of `module`. `None` if they do not make the same nodes.
    fn with_items(&mut self, program: &Program, module: &Module) -> Option<Renewal> {
        let mut nodes =
            Renewing { nodes: self.nodes.iter_mut(), next: 0, renewal: Renewal::default() };
        for entry in module.variables.values() {
            let Declared::Variable(old) = nodes.next()? else { return None };
            nodes.replace(old, entry, |old| {
                let (old, new) = (old.variable(), entry.variable());
                old.name == new.name && is_lazy_variable(old) == is_lazy_variable(new)
            })?;
        }
        for (key, entry) in &module.providers {
            let Declared::Provider(old) = nodes.next()? else { return None };
            nodes.replace(old, entry, |old| {
                let config = old.provider_config();
                config.local_name == key.0 && config.alias == key.1
            })?;
        }
        for (name, entry) in &module.locals {
            let Declared::Local(old) = nodes.next()? else { return None };
            let is_it = |old: &Entry| old.item.kind.as_local().is_some_and(|it| it.name == *name);
            nodes.replace(old, entry, is_it)?;
        }
        for (name, (entry, callee)) in &module.calls {
            let known = self.calls.get(name)?;
            if !known.outputs.keys().eq(program.module(*callee).outputs.keys()) {
                return None;
            }
            for _ in 0..known.outputs.len() + 3 + usize::from(known.gate.is_some()) {
                match nodes.next()? {
                    Declared::Call(old, id) if id == callee => unchanged(old, entry)?,
                    Declared::Gate(old)
                    | Declared::CallDone(old)
                    | Declared::ModuleOutput { call: old, .. }
                    | Declared::ModuleObject(old) => unchanged(old, entry)?,
                    _ => return None,
                }
            }
        }
        for (resource, entry) in &module.resources {
            let Declared::Expand(old) = nodes.next()? else { return None };
            let is_it = |old: &Entry| {
                let (old, new) = (old.resource(), entry.resource());
                old.resource == *resource
                    && old.in_check == new.in_check
                    && is_lazy_resource(old) == is_lazy_resource(new)
            };
            nodes.compare_providers(old, entry);
            nodes.replace(old, entry, is_it)?;
            let Declared::Resource(old) = nodes.next()? else { return None };
            nodes.replace(old, entry, is_it)?;
        }
        for (name, entry) in &module.outputs {
            let Declared::Output(old) = nodes.next()? else { return None };
            nodes.replace(old, entry, |old| old.output().name == *name)?;
        }
        for (name, entry) in &module.checks {
            let Declared::Check(old) = nodes.next()? else { return None };
            nodes.replace(old, entry, |old| old.check().name == *name)?;
        }
        if module.assertions.is_some() {
            return None;
        }
        for (entry, import) in imports_of(module) {
            let Declared::Import(old) = nodes.next()? else { return None };
            let target = import.to.config();
            let is_it =
                |it: &Entry| it.item.kind.as_import().is_some_and(|it| it.to.config() == target);
            nodes.replace(old, entry, is_it)?;
        }
        nodes.next().is_none().then_some(nodes.renewal)
    }

    /// Builds the template of a module.
    pub(crate) fn new(program: &Program, module: &Module) -> Template {
        let mut template = Template {
            module: module.id,
            nodes: Vec::new(),
            edges: Vec::new(),
            by_user: OnceCell::new(),
            lazy: Vec::new(),
            variables: FxHashMap::default(),
            locals: FxHashMap::default(),
            outputs: TreeMap::new(),
            resources: FxHashMap::default(),
            calls: FxHashMap::default(),
            providers: TreeMap::new(),
            attached: Attached::default(),
        };
        template.add_nodes(program, module);
        template.add_edges(module);
        template.attached.functions = function_uses(program, module, &template.nodes);
        template.lazy = template.find_lazy();
        template
    }

    /// The dependencies of a node within the module, with the kind of the edge.
    pub(crate) fn dependencies(&self, node: u32) -> impl Iterator<Item = (u32, EdgeKind)> + '_ {
        let by_user = self.by_user.get_or_init(|| ByUser::new(self.nodes.len(), &self.edges));
        let edges = by_user.edges_of(node).iter().map(|edge| &self.edges[*edge as usize]);
        edges.map(|edge| (edge.dependency, edge.kind))
    }

    fn push(&mut self, node: Declared) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    fn add_nodes(&mut self, program: &Program, module: &Module) {
        for (name, entry) in &module.variables {
            let node = self.push(Declared::Variable(entry.clone()));
            self.variables.insert(name.clone(), node);
        }
        for (key, entry) in &module.providers {
            let node = self.push(Declared::Provider(entry.clone()));
            self.providers.insert(key.clone(), node);
        }
        for (name, entry) in &module.locals {
            let node = self.push(Declared::Local(entry.clone()));
            self.locals.insert(name.clone(), node);
        }
        for (name, (entry, callee)) in &module.calls {
            self.add_call(name, entry, *callee, program);
        }
        for (resource, entry) in &module.resources {
            self.push(Declared::Expand(entry.clone()));
            let node = self.push(Declared::Resource(entry.clone()));
            self.resources.insert(resource.clone(), node);
            if let Some(check) = &entry.resource().in_check {
                self.attached.nested.entry(check.clone()).or_default().push(node);
            }
        }
        for (name, entry) in &module.outputs {
            let node = self.push(Declared::Output(entry.clone()));
            self.outputs.insert(name.clone(), node);
        }
        for entry in module.checks.values() {
            self.push(Declared::Check(entry.clone()));
        }
        if let Some(entry) = &module.assertions {
            self.push(Declared::Assertions(entry.clone()));
        }
        for (entry, import) in imports_of(module) {
            let node = self.push(Declared::Import(entry.clone()));
            self.attached.imports.entry(import.to.config()).or_default().push(node);
        }
    }

    /// The nodes of the `import` blocks that import to instances of a resource, in this module or in another one.
    pub(crate) fn imports_to(&self, resource: &Entry, module: &ModulePath) -> &[u32] {
        if self.attached.imports.is_empty() {
            return &[];
        }
        let resource = resource.resource().resource.clone();
        let target = ConfigResource { module: module.clone(), resource };
        self.attached.imports.get(&target).map_or(&[], Vec::as_slice)
    }

    /// The nodes that call functions of configured providers.
    pub(crate) fn function_uses(&self) -> &[FunctionUse] {
        &self.attached.functions
    }

    fn add_call(&mut self, name: &Str, entry: &Entry, callee: ModuleId, program: &Program) {
        let gate = (!entry.module_call().depends_on.is_empty())
            .then(|| self.push(Declared::Gate(entry.clone())));
        let call = self.push(Declared::Call(entry.clone(), callee));
        let mut outputs = TreeMap::new();
        for output in program.module(callee).outputs.keys() {
            let node =
                self.push(Declared::ModuleOutput { call: entry.clone(), output: output.clone() });
            outputs.insert(output.clone(), node);
        }
        let object = self.push(Declared::ModuleObject(entry.clone()));
        let done = self.push(Declared::CallDone(entry.clone()));
        self.calls.insert(
            name.clone(),
            CallNodes { call, gate, done, object, outputs, inputs: Vec::new() },
        );
    }

    fn add_edges(&mut self, module: &Module) {
        for node in 0..self.nodes.len() as u32 {
            self.edges_of(node);
        }
        for name in module.calls.keys() {
            let nodes = &self.calls[name];
            let (object, done, call) = (nodes.object, nodes.done, nodes.call);
            let outputs: Vec<u32> = nodes.outputs.values().copied().collect();
            for output in outputs {
                self.edge(output, object, EdgeKind::Value);
            }
            self.edge(call, done, EdgeKind::Order);
        }
    }

    /// Adds the edges from a node to its dependencies, as far as they follow from its own item.
    fn edges_of(&mut self, node: u32) {
        match self.nodes[node as usize].clone() {
            Declared::CallDone(_) => {}
            // The references of a variable are those of its validations. The arguments of a call are handled with
            // the call.
            Declared::Variable(entry)
            | Declared::Local(entry)
            | Declared::Output(entry)
            | Declared::Provider(entry)
            | Declared::Import(entry) => self.item_edges(node, &entry.item.refs),
            Declared::Assertions(entry) => {
                let refs = entry.item.refs.iter().filter(|it| it.place == RefPlace::Condition);
                refs.for_each(|it| self.reference(node, it));
            }
            Declared::Check(entry) => {
                self.item_edges(node, &entry.item.refs);
                // A check whose data source failed is not evaluated, even if its conditions do not refer to that
                // data source.
                let nested =
                    self.attached.nested.get(&entry.check().name).cloned().unwrap_or_default();
                nested.into_iter().for_each(|it| self.edge(it, node, EdgeKind::Value));
            }
            // The expansion directly precedes its resource, and gets the references that determine the instances.
            Declared::Expand(entry) => self.resource_edges(node, &entry.item.refs),
            Declared::Resource(entry) => {
                self.edge(node - 1, node, EdgeKind::Order);
                for import in self.imports_to(&entry, &ModulePath::root()).to_vec() {
                    self.edge(import, node, EdgeKind::Import);
                }
            }
            Declared::Gate(entry) => {
                for item in entry.item.refs.iter().filter(|it| it.place == RefPlace::DependsOn) {
                    self.reference(node, item);
                }
            }
            Declared::Call(entry, _) => self.call_edges(node, &entry),
            Declared::ModuleOutput { call, .. } | Declared::ModuleObject(call) => {
                let call = self.calls[&call.module_call().name].call;
                self.edge(call, node, EdgeKind::Order);
            }
        }
    }

    fn edge(&mut self, dependency: u32, user: u32, kind: EdgeKind) {
        if dependency != user {
            self.edges.push(TemplateEdge { dependency, user, kind });
        }
    }

    fn item_edges(&mut self, node: u32, refs: &[StaticRef]) {
        for item in refs {
            self.reference(node, item);
        }
    }

    /// Adds the edges of a resource. References that determine the instances, and which provider each uses, go to the
    /// expansion, all others to the instances.
    fn resource_edges(&mut self, expand: u32, refs: &[StaticRef]) {
        for item in refs {
            let user = match item.place {
                // The key of the provider's instance is evaluated with the instances, because the state keeps it.
                RefPlace::Repetition | RefPlace::ProviderKey => expand,
                _ => expand + 1,
            };
            self.reference(user, item);
        }
    }

    fn call_edges(&mut self, call: u32, entry: &Entry) {
        let module_call = entry.module_call();
        let name = &module_call.name;
        let mut inputs: Vec<ChildInput> = module_call
            .inputs
            .iter()
            .map(|it| ChildInput { name: it.name.clone(), value: it.value, reads: Vec::new() })
            .collect();
        let roots = InputRoots::new(entry, &inputs);
        for item in entry.item.refs.iter() {
            match item.place {
                RefPlace::Repetition | RefPlace::ProviderKey => self.reference(call, item),
                RefPlace::DependsOn => {}
                _ => {
                    let Some(target) = self.target(item) else { continue };
                    // The variables of the called module read the arguments, but do not exist yet.
                    self.edge(target, call, EdgeKind::Hold);
                    if let Some(input) = roots.input_of(item.expr) {
                        inputs[input].reads.push(target);
                    }
                }
            }
        }
        if let Some(gate) = self.calls[name].gate {
            self.edge(gate, call, EdgeKind::Hold);
        }
        if let Some(nodes) = self.calls.get_mut(name) {
            nodes.inputs = inputs;
        }
    }

    fn reference(&mut self, user: u32, item: &StaticRef) {
        let kind = match item.place {
            RefPlace::Config | RefPlace::ReplaceTrigger => EdgeKind::Value,
            RefPlace::Repetition | RefPlace::ProviderKey => EdgeKind::Repetition,
            RefPlace::DependsOn => EdgeKind::DependsOn,
            RefPlace::Condition => EdgeKind::Condition,
            RefPlace::CreateProvisioner | RefPlace::DestroyProvisioner => EdgeKind::Provisioner,
        };
        if let Some(target) = self.target(item) {
            self.edge(target, user, kind);
        }
    }

    /// The node that a reference leads to. `None` for `each.key` and the like, and for undeclared names, which
    /// analysis reports.
    fn target(&self, item: &StaticRef) -> Option<u32> {
        match &item.target {
            RefTarget::Variable(name) => self.variables.get(name).copied(),
            RefTarget::Local(name) => self.locals.get(name).copied(),
            RefTarget::Resource(resource) => self.resources.get(resource).copied(),
            RefTarget::ModuleOutput(call, output) if item.place != RefPlace::DependsOn => {
                // A reference to an undeclared output fails, as soon as the instances of the call are known.
                let nodes = self.calls.get(call)?;
                Some(nodes.outputs.get(output).copied().unwrap_or(nodes.call))
            }
            RefTarget::Module(call) if item.place != RefPlace::DependsOn => {
                Some(self.calls.get(call)?.object)
            }
            RefTarget::ModuleOutput(call, _) | RefTarget::Module(call) => {
                Some(self.calls.get(call)?.done)
            }
            RefTarget::Ambient(Ref::Output(name)) => self.outputs.get(name).copied(),
            RefTarget::Ambient(_) => None,
        }
    }

    /// The nodes that run only if a dependent demands them: providers, ephemeral resources without conditions,
    /// ephemeral variables without validations, and locals that depend on one of these. All other nodes run in any
    /// case, so that their errors are found.
    fn find_lazy(&self) -> Vec<bool> {
        let mut lazy: Vec<bool> = self.nodes.iter().map(is_lazy).collect();
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            users[edge.dependency as usize].push(edge.user);
        }
        let mut work: Vec<u32> = (0..lazy.len() as u32).filter(|it| lazy[*it as usize]).collect();
        while let Some(node) = work.pop() {
            for &user in &users[node as usize] {
                let is_local = matches!(self.nodes[user as usize], Declared::Local(_));
                if is_local && !std::mem::replace(&mut lazy[user as usize], true) {
                    work.push(user);
                }
            }
        }
        lazy
    }
}

/// The `import` blocks of a module. Only the root module may have any; the analysis refuses all others.
fn imports_of(module: &Module) -> impl Iterator<Item = (&Entry, &Import)> {
    let blocks = module.others.iter().filter(|_| module.id == ModuleId(0));
    blocks.filter_map(|entry| Some((entry, entry.item.kind.as_import()?)))
}

/// Returns true if a node is lazy by its own declaration: it runs only if a dependent demands it.
fn is_lazy(node: &Declared) -> bool {
    match node {
        Declared::Provider(_) => true,
        Declared::Expand(entry) | Declared::Resource(entry) => is_lazy_resource(entry.resource()),
        // An ephemeral value enters a module through an ephemeral variable. Such variables of the root module run
        // in any case, but their dependents need not.
        Declared::Variable(entry) => is_lazy_variable(entry.variable()),
        _ => false,
    }
}

fn is_lazy_resource(resource: &Resource) -> bool {
    let lifecycle = &resource.lifecycle;
    resource.resource.mode == ResourceMode::Ephemeral
        && lifecycle.preconditions.is_empty()
        && lifecycle.postconditions.is_empty()
}

fn is_lazy_variable(variable: &Variable) -> bool {
    variable.ephemeral && variable.validations.is_empty()
}

/// The templates of a program that were made from those of an earlier one.
pub(crate) struct Renewed {
    pub(crate) templates: Vec<Rc<Template>>,
    /// The nodes that changed. `None` if the nodes are others, or their dependencies in other modules.
    pub(crate) touched: Option<Touched>,
}

/// Changed nodes of templates, each with its module.
#[derive(Default)]
pub(crate) struct Touched {
    /// Nodes whose items changed.
    pub(crate) nodes: Vec<(ModuleId, u32)>,
    /// Nodes whose edges to dependencies changed.
    pub(crate) rewired: Vec<(ModuleId, u32)>,
}

impl Touched {
    fn add(&mut self, module: ModuleId, renewal: &Renewal) {
        let of_module = |nodes: &[u32]| nodes.iter().map(|it| (module, *it)).collect::<Vec<_>>();
        self.nodes.extend(of_module(&renewal.touched));
        self.rewired.extend(of_module(&renewal.rewired));
    }
}

/// The changes of a template that took over the items of another program.
#[derive(Default)]
struct Renewal {
    touched: Vec<u32>,
    rewired: Vec<u32>,
    /// True if a resource uses another provider configuration now.
    has_other_providers: bool,
}

/// The nodes of a template, one after the other, while their items are replaced.
struct Renewing<'t> {
    nodes: std::slice::IterMut<'t, Declared>,
    next: u32,
    renewal: Renewal,
}

impl<'t> Renewing<'t> {
    fn next(&mut self) -> Option<&'t mut Declared> {
        self.next += 1;
        self.nodes.next()
    }

    /// Puts an item into the latest node. `None` if the item differs and `is_it` does not accept the old one as
    /// its predecessor.
    fn replace(
        &mut self,
        old: &mut Entry,
        new: &Entry,
        is_it: impl FnOnce(&Entry) -> bool,
    ) -> Option<()> {
        if is_same(&old.item, &new.item) {
            old.origin = new.origin;
            return Some(());
        }
        if !is_it(old) {
            return None;
        }
        let node = self.next - 1;
        self.renewal.touched.push(node);
        if old.item.refs != new.item.refs {
            self.renewal.rewired.push(node);
        }
        *old = new.clone();
        Some(())
    }

    fn compare_providers(&mut self, old: &Entry, new: &Entry) {
        if is_same(&old.item, &new.item) {
            return;
        }
        let chosen = |entry: &Entry| {
            let provider = entry.resource().provider.as_ref();
            provider.map(|it| (it.local_name.clone(), it.alias.clone()))
        };
        self.renewal.has_other_providers |= chosen(old) != chosen(new);
    }
}

/// Updates the origin of a call's item; `None` if the item changed. A call determines more than its own edges.
fn unchanged(old: &mut Entry, new: &Entry) -> Option<()> {
    old.origin = new.origin;
    is_same(&old.item, &new.item).then_some(())
}
