//! The static graph of one module directory, made once however often the module is called.
//!
//! An instance of the module is its template at an offset: node `local` of the template becomes node `base + local` of
//! the run.

use std::{collections::BTreeMap, rc::Rc, sync::Arc};

use addr::ResourceMode;
use hir::{
    Entry, ExprId, Program,
    item::{RefPlace, RefTarget, Repetition, StaticRef},
    program::{Module, ModuleId},
};
use rustc_hash::FxHashMap;
use values::Str;

use super::EdgeKind;

/// What a node of a template stands for.
#[derive(Clone)]
pub(crate) enum Declared {
    /// An input variable.
    Variable(Entry),
    /// A local value.
    Local(Entry),
    /// An output value.
    Output(Entry),
    /// How many instances a resource has.
    Expand(Entry),
    /// All instances of a resource; its value is what references see.
    Resource(Entry),
    /// How many instances a module call has, and making them.
    Call(Entry, ModuleId),
    /// What a call's `depends_on` names: done before any resource inside begins.
    Gate(Entry),
    /// Everything inside of a call is done.
    CallDone,
    /// One output of all instances of a call.
    ModuleOutput { call: Entry, output: Str },
    /// All outputs of all instances of a call.
    ModuleObject(Entry),
    /// A provider configuration.
    Provider(Entry),
    /// A `check` block.
    Check(Entry),
}

/// An edge inside of a template.
#[derive(Clone, Copy)]
pub(crate) struct TemplateEdge {
    pub(crate) dependency: u32,
    pub(crate) user: u32,
    pub(crate) kind: EdgeKind,
}

/// What one input of a call refers to in the calling module.
pub(crate) struct ChildInput {
    pub(crate) name: Str,
    pub(crate) value: ExprId,
    /// Nodes of the calling module's template.
    pub(crate) reads: Vec<u32>,
}

/// The nodes and edges of a module directory.
pub(crate) struct Template {
    pub(crate) module: ModuleId,
    pub(crate) nodes: Vec<Declared>,
    pub(crate) edges: Vec<TemplateEdge>,
    /// Nodes that run only if somebody demands them: see [`is_lazy`].
    pub(crate) lazy: Vec<bool>,
    pub(crate) variables: FxHashMap<Str, u32>,
    pub(crate) locals: FxHashMap<Str, u32>,
    pub(crate) outputs: BTreeMap<Str, u32>,
    /// The node of the instances; the expansion is the node before.
    pub(crate) resources: FxHashMap<addr::Resource, u32>,
    pub(crate) calls: FxHashMap<Str, CallNodes>,
    pub(crate) providers: BTreeMap<(Str, Option<Str>), u32>,
}

/// The nodes of one call.
pub(crate) struct CallNodes {
    pub(crate) call: u32,
    /// Present if the call has `depends_on`.
    pub(crate) gate: Option<u32>,
    pub(crate) done: u32,
    pub(crate) object: u32,
    pub(crate) outputs: BTreeMap<Str, u32>,
    pub(crate) inputs: Vec<ChildInput>,
}

impl Template {
    /// The templates of all modules of a program.
    pub(crate) fn all(program: &Program) -> Vec<Rc<Template>> {
        let modules = program.modules.iter();
        modules.map(|module| Rc::new(Template::new(program, module))).collect()
    }

    /// The same, from the templates of an earlier program as far as they fit: an edit inside of expressions leaves nodes and
    /// edges as they are.
    pub(crate) fn all_from(program: &Program, earlier: Vec<Rc<Template>>) -> Vec<Rc<Template>> {
        let mut earlier = earlier.into_iter();
        let modules = program.modules.iter();
        let renewed = modules.map(|module| {
            let fitting = earlier.next().and_then(|it| Rc::try_unwrap(it).ok());
            let fitting = fitting.and_then(|it| it.renewed(program, module));
            Rc::new(fitting.unwrap_or_else(|| Template::new(program, module)))
        });
        renewed.collect()
    }

    /// This template with the items of `module`, if they make the same nodes and edges.
    fn renewed(mut self, program: &Program, module: &Module) -> Option<Template> {
        if self.module != module.id {
            return None;
        }
        let mut nodes = self.nodes.iter_mut();
        for (name, entry) in &module.variables {
            let Declared::Variable(old) = nodes.next()? else { return None };
            let same =
                old.variable().name == *name && is_lazy_variable(old) == is_lazy_variable(entry);
            replace(old, entry, same)?;
        }
        for (key, entry) in &module.providers {
            let Declared::Provider(old) = nodes.next()? else { return None };
            let config = old.provider_config();
            let same = config.local_name == key.0 && config.alias == key.1;
            replace(old, entry, same)?;
        }
        for (name, entry) in &module.locals {
            let Declared::Local(old) = nodes.next()? else { return None };
            let same = old.item.kind.as_local().is_some_and(|it| it.name == *name);
            replace(old, entry, same)?;
        }
        for (name, (entry, callee)) in &module.calls {
            let is_as_before = self.calls.get(name).is_some_and(|known| {
                known.outputs.keys().eq(program.module(*callee).outputs.keys())
            });
            let of_call = self
                .calls
                .get(name)
                .map_or(0, |known| known.outputs.len() + 3 + usize::from(known.gate.is_some()));
            for _ in 0..of_call {
                match nodes.next()? {
                    Declared::Call(old, id) if id == callee => unchanged(old, entry)?,
                    Declared::Gate(old)
                    | Declared::ModuleOutput { call: old, .. }
                    | Declared::ModuleObject(old) => unchanged(old, entry)?,
                    Declared::CallDone => {}
                    _ => return None,
                }
            }
            if !is_as_before {
                return None;
            }
        }
        for (resource, entry) in &module.resources {
            let Declared::Expand(old) = nodes.next()? else { return None };
            let same = old.resource().resource == *resource
                && is_lazy_resource(old) == is_lazy_resource(entry);
            replace(old, entry, same)?;
            let Declared::Resource(old) = nodes.next()? else { return None };
            replace(old, entry, same)?;
        }
        for (name, entry) in &module.outputs {
            let Declared::Output(old) = nodes.next()? else { return None };
            let same = old.output().name == *name;
            replace(old, entry, same)?;
        }
        for (name, entry) in &module.checks {
            let Declared::Check(old) = nodes.next()? else { return None };
            let same = old.check().name == *name;
            replace(old, entry, same)?;
        }
        nodes.next().is_none().then_some(self)
    }

    /// The template of a module.
    pub(crate) fn new(program: &Program, module: &Module) -> Template {
        let mut template = Template {
            module: module.id,
            nodes: Vec::new(),
            edges: Vec::new(),
            lazy: Vec::new(),
            variables: FxHashMap::default(),
            locals: FxHashMap::default(),
            outputs: BTreeMap::new(),
            resources: FxHashMap::default(),
            calls: FxHashMap::default(),
            providers: BTreeMap::new(),
        };
        template.add_nodes(program, module);
        template.add_edges(module);
        template.lazy = template.find_lazy();
        template
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
        }
        for (name, entry) in &module.outputs {
            let node = self.push(Declared::Output(entry.clone()));
            self.outputs.insert(name.clone(), node);
        }
        for entry in module.checks.values() {
            self.push(Declared::Check(entry.clone()));
        }
    }

    fn add_call(&mut self, name: &Str, entry: &Entry, callee: ModuleId, program: &Program) {
        let gate = (!entry.module_call().depends_on.is_empty())
            .then(|| self.push(Declared::Gate(entry.clone())));
        let call = self.push(Declared::Call(entry.clone(), callee));
        let mut outputs = BTreeMap::new();
        for output in program.module(callee).outputs.keys() {
            let node =
                self.push(Declared::ModuleOutput { call: entry.clone(), output: output.clone() });
            outputs.insert(output.clone(), node);
        }
        let object = self.push(Declared::ModuleObject(entry.clone()));
        let done = self.push(Declared::CallDone);
        self.calls.insert(
            name.clone(),
            CallNodes { call, gate, done, object, outputs, inputs: Vec::new() },
        );
    }

    fn add_edges(&mut self, module: &Module) {
        for node in 0..self.nodes.len() as u32 {
            match self.nodes[node as usize].clone() {
                Declared::Variable(_) | Declared::CallDone => {}
                Declared::Local(entry)
                | Declared::Output(entry)
                | Declared::Provider(entry)
                | Declared::Check(entry) => self.item_edges(node, &entry.item.refs),
                // The expansion comes directly before its resource and takes over what decides the instances.
                Declared::Expand(entry) => self.resource_edges(node, &entry.item.refs),
                Declared::Resource(_) => self.edge(node - 1, node, EdgeKind::Order),
                Declared::Gate(entry) => {
                    for item in entry.item.refs.iter().filter(|it| it.place == RefPlace::DependsOn)
                    {
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

    /// Edges of a resource: what decides the instances goes to the expansion, the rest to the instances.
    fn resource_edges(&mut self, expand: u32, refs: &[StaticRef]) {
        for item in refs {
            let user = if item.place == RefPlace::Repetition { expand } else { expand + 1 };
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
                RefPlace::Repetition => self.reference(call, item),
                RefPlace::DependsOn => {}
                _ => {
                    let Some(target) = self.target(item) else { continue };
                    // The inputs are read by the variables of the called module, which do not exist yet.
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
            RefPlace::Config | RefPlace::ProviderKey | RefPlace::ReplaceTrigger => EdgeKind::Value,
            RefPlace::Repetition => EdgeKind::Repetition,
            RefPlace::DependsOn => EdgeKind::DependsOn,
            RefPlace::Condition => EdgeKind::Condition,
            RefPlace::CreateProvisioner | RefPlace::DestroyProvisioner => EdgeKind::Provisioner,
        };
        if let Some(target) = self.target(item) {
            self.edge(target, user, kind);
        }
    }

    /// The node that a reference means; none for `each.key` and the like, and for what is not declared, which analysis
    /// has reported.
    fn target(&self, item: &StaticRef) -> Option<u32> {
        match &item.target {
            RefTarget::Variable(name) => self.variables.get(name).copied(),
            RefTarget::Local(name) => self.locals.get(name).copied(),
            RefTarget::Resource(resource) => self.resources.get(resource).copied(),
            RefTarget::ModuleOutput(call, output) if item.place != RefPlace::DependsOn => {
                self.calls.get(call)?.outputs.get(output).copied()
            }
            RefTarget::Module(call) if item.place != RefPlace::DependsOn => {
                Some(self.calls.get(call)?.object)
            }
            RefTarget::ModuleOutput(call, _) | RefTarget::Module(call) => {
                Some(self.calls.get(call)?.done)
            }
            RefTarget::Ambient(_) => None,
        }
    }

    /// Which nodes wait until somebody demands them: providers, ephemeral resources without conditions, and locals that
    /// would demand one. Everything else runs in any case, so that its errors are found.
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

fn is_lazy(node: &Declared) -> bool {
    match node {
        Declared::Provider(_) => true,
        Declared::Expand(entry) | Declared::Resource(entry) => is_lazy_resource(entry),
        // An ephemeral value enters a module by a variable that is declared so. Those of the root module run all the
        // same; what reads them need not.
        Declared::Variable(entry) => is_lazy_variable(entry),
        _ => false,
    }
}

fn is_lazy_resource(entry: &Entry) -> bool {
    let resource = entry.resource();
    let lifecycle = &resource.lifecycle;
    resource.resource.mode == ResourceMode::Ephemeral
        && lifecycle.preconditions.is_empty()
        && lifecycle.postconditions.is_empty()
}

fn is_lazy_variable(entry: &Entry) -> bool {
    let variable = entry.variable();
    variable.ephemeral && variable.validations.is_empty()
}

/// Puts an item in the place of another, if it has the same edges.
fn replace(old: &mut Entry, new: &Entry, same: bool) -> Option<()> {
    if Arc::ptr_eq(&old.item, &new.item) {
        old.origin = new.origin;
        return Some(());
    }
    let same = same && old.item.refs == new.item.refs;
    same.then(|| *old = new.clone())
}

/// A call has a say in more than its own edges.
fn unchanged(old: &mut Entry, new: &Entry) -> Option<()> {
    old.origin = new.origin;
    Arc::ptr_eq(&old.item, &new.item).then_some(())
}

/// Finds the input of a call that an expression belongs to.
///
/// Expressions are numbered children first and one attribute after the other, so those of one attribute end at its
/// own number.
struct InputRoots {
    roots: Vec<(ExprId, Option<usize>)>,
}

impl InputRoots {
    fn new(entry: &Entry, inputs: &[ChildInput]) -> InputRoots {
        let call = entry.module_call();
        let mut roots: Vec<(ExprId, Option<usize>)> =
            inputs.iter().enumerate().map(|(index, input)| (input.value, Some(index))).collect();
        let repetition = match call.repetition {
            Repetition::Single => None,
            Repetition::Count(expr) | Repetition::ForEach(expr) | Repetition::Enabled(expr) => {
                Some(expr)
            }
        };
        let others = [repetition, call.source_expr, call.version].into_iter().flatten();
        roots.extend(others.map(|expr| (expr, None)));
        roots.sort();
        InputRoots { roots }
    }

    fn input_of(&self, expr: ExprId) -> Option<usize> {
        let at = self.roots.partition_point(|(root, _)| *root < expr);
        self.roots.get(at)?.1
    }
}
