//! The values that an apply evaluates again.
//!
//! A plan evaluates the whole configuration. An apply evaluates a value again only if a change needs it, as
//! OpenTofu does: a value that nothing refers to is not evaluated again, so it cannot cause an error or a delay.
//! The set of these values follows from the configuration and the planned changes, before there are instances:
//!
//! ```text
//!   resource with a change ──► all that its block refers to ──► all that this refers to …
//!   root output, check     ──► values, but no resources: reading one that stays as it is needs nothing
//!   variable with validations ──► all that the call gives to it
//! ```
//!
//! **Invariant:** the edges of a node are followed once.

use rustc_hash::FxHashSet;
use sorted::TreeMap;
use values::Str;

use crate::graph::{
    dependencies::direct,
    template::Declared,
    tree::{ConfigNode, ConfigTree, TreeIx},
};

/// The nodes of the configuration that an apply evaluates.
pub(crate) struct Retained {
    nodes: FxHashSet<ConfigNode>,
}

impl Retained {
    /// Finds the nodes that `changing`, the resources with a change, lead to.
    pub(crate) fn new(tree: &ConfigTree, changing: impl Iterator<Item = ConfigNode>) -> Retained {
        Retained::closure(tree, changing.chain(reporting(tree)).collect())
    }

    /// Like [`new`](Retained::new), for a plan with targets: of the outputs of the root module, only those that the
    /// plan has, no checks, and the `validated` variables. The assertions of a test are always evaluated.
    pub(crate) fn within(
        tree: &ConfigTree,
        changing: impl Iterator<Item = ConfigNode>,
        has_output: impl Fn(&str) -> bool,
        validated: impl Iterator<Item = ConfigNode>,
    ) -> Retained {
        let outputs = tree.template(TreeIx::ROOT).outputs.iter();
        let outputs = outputs.filter(|(name, _)| has_output(name));
        let outputs = outputs.map(|(_, local)| ConfigNode { module: TreeIx::ROOT, local: *local });
        let assertions = assertions(tree).into_iter();
        Retained::closure(
            tree,
            changing.chain(outputs).chain(validated).chain(assertions).collect(),
        )
    }

    fn closure(tree: &ConfigTree, mut open: Vec<ConfigNode>) -> Retained {
        let mut retained = Retained { nodes: FxHashSet::default() };
        while let Some(node) = open.pop() {
            if retained.nodes.insert(node) {
                open.extend(references(tree, node));
            }
        }
        retained
    }

    /// Returns true if the apply evaluates the node.
    pub(crate) fn has(&self, node: ConfigNode) -> bool {
        self.nodes.contains(&node)
    }
}

/// The assertions of a test.
pub(crate) fn assertions(tree: &ConfigTree) -> Vec<ConfigNode> {
    let nodes = tree.nodes(TreeIx::ROOT).filter(|(_, it)| matches!(it, Declared::Assertions(_)));
    nodes.map(|(node, _)| node).collect()
}

/// The variables with validations, of all modules.
pub(crate) fn validated(tree: &ConfigTree) -> Vec<ConfigNode> {
    tree.all_nodes().filter(|(_, it)| has_validations(it)).map(|(node, _)| node).collect()
}

fn has_validations(declared: &Declared) -> bool {
    matches!(declared, Declared::Variable(it) if !it.variable().validations.is_empty())
}

/// The nodes that an apply always evaluates: outputs of the root module, and the checks and the variables with
/// validations of all modules.
fn reporting(tree: &ConfigTree) -> Vec<ConfigNode> {
    let reports = |node: ConfigNode, declared: &Declared| match declared {
        Declared::Output(_) => node.module == TreeIx::ROOT,
        Declared::Check(_) | Declared::Assertions(_) => true,
        Declared::Variable(_) => has_validations(declared),
        _ => false,
    };
    let nodes = tree.all_nodes().filter(|(node, declared)| reports(*node, declared));
    nodes.map(|(node, _)| node).collect()
}

/// The nodes that are evaluated because `node` is evaluated.
fn references(tree: &ConfigTree, node: ConfigNode) -> Vec<ConfigNode> {
    let declared = |it: ConfigNode| tree.declared(it);
    let reports = match declared(node) {
        Declared::Output(_) => node.module == TreeIx::ROOT,
        Declared::Check(_) | Declared::Assertions(_) => true,
        _ => false,
    };
    let is_resource =
        |it: ConfigNode| matches!(declared(it), Declared::Resource(_) | Declared::Expand(_));
    match declared(node) {
        // A reference to a module as a whole refers to all of its outputs.
        Declared::CallDone(call) | Declared::ModuleObject(call) => {
            let child = tree.child(node.module, &call.module_call().name);
            let outputs = child.into_iter().flat_map(|module| {
                let outputs = tree.template(module).outputs.values();
                outputs.map(move |local| ConfigNode { module, local: *local })
            });
            outputs.collect()
        }
        _ => {
            let mut found = direct(tree, node);
            found.retain(|it| !reports || !is_resource(*it));
            found
        }
    }
}

/// For each output of a call, the nodes of the calling module that it is derived from, through the arguments of
/// the call.
pub(crate) fn reads_through(
    tree: &ConfigTree,
    module: TreeIx,
    call: &Str,
) -> TreeMap<Str, Vec<u32>> {
    let Some(child) = tree.child(module, call) else { return TreeMap::new() };
    let outputs = tree.template(child).outputs.iter();
    let of_output = |local: u32| {
        let mut reached = FxHashSet::default();
        let mut open = vec![ConfigNode { module: child, local }];
        while let Some(node) = open.pop() {
            if reached.insert(node) && node.module != module {
                open.extend(direct(tree, node));
            }
        }
        let outside = reached.into_iter().filter(|it| it.module == module);
        let mut outside: Vec<u32> = outside.map(|it| it.local).collect();
        outside.sort_unstable();
        outside
    };
    outputs.map(|(name, local)| (name.clone(), of_output(*local))).collect()
}
