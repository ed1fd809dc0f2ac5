//! Relevant attributes: the attributes of resources that the changes of a plan are derived from.
//!
//! A plan shows a change from outside only if it touches one of them. They follow from the configuration alone:
//!
//! ```text
//!   changed object ──► its block ──► references ──► through variables, locals and outputs ──► attributes of resources
//!   changed output ──► its value ──┘                                                              │
//!                                        the arguments that these attributes are set from ◄───────┘
//! ```
//!
//! **Invariant:** each reference of a module instance is followed once.

mod references;

use addr::{AbsResource, ModuleInstance, ResourceInstance, ResourceMode};
use hir::{Entry, Item, Program, program::Module};
use rustc_hash::FxHashSet;
use state::{Action, Plan, RelevantAttribute};
use values::{Path, Str};

pub use self::references::take_key;
use self::references::{Names, Referenced, of_exprs, of_object, repetition};

/// The outputs of called modules that a plan computed: the module instances with the names of the outputs.
pub(crate) type CalledOutputs = Vec<(ModuleInstance, Str)>;

/// Finds the relevant attributes of a plan, in the order of their addresses as text. `removed` are the data sources
/// that the plan takes out of the state.
pub(crate) fn relevant_attributes(
    program: &Program,
    plan: &Plan,
    outputs: CalledOutputs,
    removed: Vec<AbsResource>,
) -> Vec<RelevantAttribute> {
    let mut search = Search { program, open: Vec::new(), seen: FxHashSet::default() };
    let changed = plan.changes().filter(|it| it.change.action != Action::NoOp);
    let changed = changed.map(|it| it.addr.containing_resource());
    let changed: FxHashSet<AbsResource> = changed.chain(removed).collect();
    changed.iter().for_each(|it| search.follow_object(it, &Path::root()));
    let root = plan.output_changes.iter().filter(|(_, it)| it.action != Action::NoOp);
    root.for_each(|(name, _)| search.follow_output(&ModuleInstance::root(), name));
    outputs.iter().for_each(|(module, name)| search.follow_output(module, name));
    search.run()
}

/// A reference and where it is resolved.
struct Reference {
    module: ModuleInstance,
    target: Referenced,
    path: Path,
}

/// The references that lead to a change.
struct Search<'p> {
    program: &'p Program,
    open: Vec<Reference>,
    /// The references that were found, with their paths as text: paths cannot be hashed.
    seen: FxHashSet<(ModuleInstance, Referenced, String)>,
}

impl<'p> Search<'p> {
    fn run(mut self) -> Vec<RelevantAttribute> {
        let mut found = Vec::new();
        while let Some(Reference { module, target, path }) = self.open.pop() {
            match target {
                Referenced::Resource(resource, key) => {
                    let resource = resource.in_module(module);
                    self.follow_object(&resource, &path);
                    // An ephemeral resource has no object that could change, and a plan says nothing more of it.
                    if resource.resource.mode != ResourceMode::Ephemeral {
                        found.push((resource.instance(key), path));
                    }
                }
                Referenced::Variable(name) => self.follow_variable(&module, &name),
                Referenced::Local(name) => self.follow_local(&module, &name),
                Referenced::Output(call, key, name) => {
                    self.follow_output(&module.child(&*call, key), &name);
                }
                Referenced::Module(call, key) => self.follow_module(&module.child(&*call, key)),
            }
        }
        let text = |it: &(ResourceInstance, Path)| (it.0.to_string(), it.1.to_string());
        found.sort_by_cached_key(text);
        let attribute = |(resource, attribute)| RelevantAttribute { resource, attribute };
        found.into_iter().map(attribute).collect()
    }

    fn module(&self, module: &ModuleInstance) -> Option<&'p Module> {
        self.program.module_at(module.steps().iter().map(|it| it.name.as_str()))
    }

    /// Adds what an object of a resource, or one of its attributes, is derived from.
    fn follow_object(&mut self, resource: &AbsResource, path: &Path) {
        let Some(module) = self.module(&resource.module) else { return };
        let Some(entry) = module.resources.get(&resource.resource) else { return };
        let names = of_object(&entry.item, &entry.resource().body, path);
        let uses_repetition = names.uses_repetition;
        self.add(&resource.module, names);
        if uses_repetition {
            let expr = repetition(entry.resource().repetition);
            self.add_exprs(&resource.module, &entry.item, expr);
        }
    }

    fn follow_output(&mut self, module: &ModuleInstance, name: &str) {
        let output = self.module(module).and_then(|it| it.outputs.get(name));
        if let Some(entry) = output {
            self.add_exprs(module, &entry.item, entry.output().value);
        }
    }

    fn follow_module(&mut self, module: &ModuleInstance) {
        let names = self.module(module).map(|it| it.outputs.keys());
        names.into_iter().flatten().for_each(|name| self.follow_output(module, name));
    }

    fn follow_local(&mut self, module: &ModuleInstance, name: &str) {
        let local = self.module(module).and_then(|it| it.locals.get(name));
        if let Some(entry) = local {
            let value = entry.item.kind.as_local().map(|it| it.value);
            self.add_exprs(module, &entry.item, value);
        }
    }

    /// Adds what the call gives to a variable of its module. Variables of the root module lead to nothing.
    fn follow_variable(&mut self, module: &ModuleInstance, name: &str) {
        let Some((caller, step)) = module.split_last() else { return };
        let call = self.module(&caller).and_then(|it| it.calls.get(step.name.as_str()));
        let Some((entry, _)): Option<&(Entry, _)> = call else { return };
        let mut inputs = entry.module_call().inputs.iter();
        let value = inputs.find(|it| *it.name == *name).map(|it| it.value);
        self.add_exprs(&caller, &entry.item, value);
    }

    fn add_exprs(
        &mut self,
        module: &ModuleInstance,
        item: &Item,
        exprs: impl IntoIterator<Item = hir::ExprId>,
    ) {
        let names = of_exprs(item, exprs);
        self.add(module, names);
    }

    fn add(&mut self, module: &ModuleInstance, names: Names) {
        for (target, path) in names.found {
            if self.seen.insert((module.clone(), target.clone(), path.to_string())) {
                self.open.push(Reference { module: module.clone(), target, path });
            }
        }
    }
}
