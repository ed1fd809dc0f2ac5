//! The dependencies of nodes on the provider configurations that answer their calls of functions.
//!
//! ```text
//!   provider::test::f(…)         f is in the schema        no dependency: an unconfigured process answers
//!   provider::test::g(…)         g is not                  the default configuration of the module
//!   provider::test::west::f(…)                             the configuration with this alias
//! ```

use hir::{
    Entry, ExprId, Exprs, Program,
    item::{Repetition, Resource},
    program::Module,
    provider_function::{Name, calls, is_of_configuration},
};
use values::Str;

use crate::graph::{EdgeKind, template::Declared};

/// The use of a function of a configured provider by a node of a template.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct FunctionUse {
    /// The node that the call belongs to.
    pub(crate) user: u32,
    /// The argument of a module call that has the call of the function. The variable of the called module evaluates
    /// it.
    pub(crate) input: Option<Str>,
    /// The kind of the edge from the user, or from the variable, to the provider configuration.
    pub(crate) kind: EdgeKind,
    /// The local name of the provider in the module.
    pub(crate) provider: Str,
    /// The alias of the configuration.
    pub(crate) alias: Option<Str>,
}

/// The uses of functions of configured providers in the nodes of a module.
pub(crate) fn function_uses(
    program: &Program,
    module: &Module,
    nodes: &[Declared],
) -> Vec<FunctionUse> {
    let mut collector = Collector { program, module, uses: Vec::new() };
    for (node, declared) in (0u32..).zip(nodes) {
        if let Some(entry) = owner(declared).filter(|it| it.item.exprs.calls_providers()) {
            collector.add_node(node, declared, entry);
        }
    }
    collector.uses
}

/// Returns true if only a configuration of its provider answers a function that is called in a module.
pub(crate) fn needs_configuration(program: &Program, module: &Module, name: Name<'_>) -> bool {
    let source = module.provider_sources.get(name.provider);
    let schemas = source.and_then(|it| program.schemas.get(it));
    schemas.is_some_and(|it| is_of_configuration(name, &it.functions))
}

/// The declaration whose expressions a node evaluates. `None` if another node of the declaration does.
fn owner(declared: &Declared) -> Option<&Entry> {
    match declared {
        Declared::Variable(entry)
        | Declared::Local(entry)
        | Declared::Output(entry)
        | Declared::Expand(entry)
        | Declared::Resource(entry)
        | Declared::Call(entry, _)
        | Declared::Provider(entry)
        | Declared::Check(entry)
        | Declared::Assertions(entry)
        | Declared::Import(entry) => Some(entry),
        Declared::Gate(_)
        | Declared::CallDone(_)
        | Declared::ModuleOutput { .. }
        | Declared::ModuleObject(_) => None,
    }
}

struct Collector<'p> {
    program: &'p Program,
    module: &'p Module,
    uses: Vec<FunctionUse>,
}

impl Collector<'_> {
    fn add_node(&mut self, node: u32, declared: &Declared, entry: &Entry) {
        let exprs = &entry.item.exprs;
        match declared {
            Declared::Expand(_) => {
                let roots = instance_roots(entry.resource());
                self.add_below(node, exprs, &roots, EdgeKind::Repetition, None);
            }
            Declared::Call(..) => {
                let call = entry.module_call();
                let repetition = repetition_root(&call.repetition);
                let keys = call.providers.iter().flatten().filter_map(|it| it.parent.key);
                let roots: Vec<ExprId> = repetition.into_iter().chain(keys).collect();
                self.add_below(node, exprs, &roots, EdgeKind::Repetition, None);
                for input in &call.inputs {
                    let name = Some(&input.name);
                    self.add_below(node, exprs, &[input.value], EdgeKind::Value, name);
                }
            }
            _ => {
                for (_, name) in calls(exprs) {
                    self.add(node, name, EdgeKind::Value, None);
                }
            }
        }
    }

    /// Adds the calls within the expressions `roots`.
    fn add_below(
        &mut self,
        node: u32,
        exprs: &Exprs,
        roots: &[ExprId],
        kind: EdgeKind,
        input: Option<&Str>,
    ) {
        let mut open = roots.to_vec();
        let mut within = Vec::new();
        while let Some(expr) = open.pop() {
            within.push(expr);
            exprs[expr].for_each_child(&mut |child| open.push(child));
        }
        within.sort_unstable();
        for (_, name) in calls(exprs).filter(|(call, _)| within.binary_search(call).is_ok()) {
            self.add(node, name, kind, input);
        }
    }

    fn add(&mut self, user: u32, name: Name<'_>, kind: EdgeKind, input: Option<&Str>) {
        if !needs_configuration(self.program, self.module, name) {
            return;
        }
        let (provider, alias) = (name.provider.into(), name.alias.map(Str::from));
        let found = FunctionUse { user, input: input.cloned(), kind, provider, alias };
        // The uses of one node follow each other.
        let of_node = self.uses.iter().rev().take_while(|it| it.user == user);
        if !of_node.into_iter().any(|it| *it == found) {
            self.uses.push(found);
        }
    }
}

/// The expressions that the expansion of a resource evaluates.
fn instance_roots(resource: &Resource) -> Vec<ExprId> {
    let key = resource.provider.as_ref().and_then(|it| it.key);
    repetition_root(&resource.repetition).into_iter().chain(key).collect()
}

fn repetition_root(repetition: &Repetition) -> Option<ExprId> {
    match repetition {
        Repetition::Single => None,
        Repetition::Count(expr) | Repetition::ForEach(expr) | Repetition::Enabled(expr) => {
            Some(*expr)
        }
    }
}
