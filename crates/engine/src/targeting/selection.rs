//! The part of a configuration that a run with targets keeps.

use std::collections::hash_map::Entry;

use addr::{AbsResource, ModulePath, ResourceMode};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::{
        dependencies::direct,
        retained::{assertions, validated},
        template::Declared,
        tree::{ConfigNode, ConfigTree, TreeIx},
    },
    targeting::{Kind, Targeting},
    walk::value_nodes::prefixed,
};

/// The nodes of the configuration that a run with targets keeps.
pub(crate) struct Selection {
    targeting: Targeting,
    /// The resources of which only the addressed instances run.
    chosen: FxHashSet<ConfigNode>,
    /// The chosen resources, and the outputs of the root module and variables with validations that depend on nothing
    /// else, with all that they depend on.
    kept: FxHashSet<ConfigNode>,
    /// These outputs, all kept variables with validations, and the assertions of a test.
    reporting: FxHashSet<ConfigNode>,
}

/// A set of facts about what a node leads to.
type Facts = u8;

/// The node leads to a resource that is kept.
const KEPT: Facts = 1;
/// The node leads to a resource that is not kept.
const DROPPED: Facts = 2;
/// The node leads to a resource that an exclusion touches.
const EXCLUDED: Facts = 4;

impl Selection {
    /// Selects the nodes of a configuration. `stored` are the resources of the state.
    pub(crate) fn new<'s>(
        targeting: Targeting,
        tree: &ConfigTree,
        stored: impl Iterator<Item = &'s AbsResource>,
    ) -> Selection {
        let chosen = match targeting.kind {
            Kind::Target => targeted(&targeting, tree),
            Kind::Exclude => not_excluded(&targeting, tree),
        };
        let mut kept = FxHashSet::default();
        keep(
            tree,
            chosen.iter().copied().chain(calls_to_orphans(&targeting, tree, stored)),
            &mut kept,
        );
        let mut reporting = reporting(tree, &kept);
        keep(tree, reporting.iter().copied(), &mut kept);
        reporting.extend(validated(tree).into_iter().filter(|it| kept.contains(it)));
        Selection { targeting, chosen, kept, reporting }
    }

    pub(crate) fn targeting(&self) -> &Targeting {
        &self.targeting
    }

    /// Returns true if a node runs even if no other node that runs needs it.
    pub(crate) fn demands(&self, tree: &ConfigTree, node: ConfigNode) -> bool {
        match tree.declared(node) {
            // An ephemeral resource is opened only if something needs it.
            Declared::Resource(entry)
                if entry.resource().resource.mode == ResourceMode::Ephemeral =>
            {
                self.chosen.contains(&node)
            }
            Declared::Resource(_) => self.kept.contains(&node),
            // An import is a dependency of its resource, and is checked even if the resource has no instances.
            Declared::Call(..) | Declared::Import(_) => self.kept.contains(&node),
            Declared::Output(_) | Declared::Variable(_) | Declared::Assertions(_) => {
                self.reporting.contains(&node)
            }
            _ => false,
        }
    }

    /// The variables with validations that the run evaluates even if no other node that runs needs them.
    pub(crate) fn validated(&self, tree: &ConfigTree) -> Vec<ConfigNode> {
        let mut found = validated(tree);
        found.retain(|it| self.reporting.contains(it));
        found
    }

    /// All nodes that the run keeps.
    pub(crate) fn kept(&self) -> &FxHashSet<ConfigNode> {
        &self.kept
    }

    /// Returns true if the run keeps a node.
    pub(crate) fn keeps(&self, node: ConfigNode) -> bool {
        self.kept.contains(&node)
    }

    /// The addresses of the kept resources, outputs and variables, as results of checks name them.
    pub(crate) fn kept_addresses(&self, tree: &ConfigTree) -> FxHashSet<String> {
        let named = self.kept.iter().filter_map(|node| {
            let name = match tree.declared(*node) {
                Declared::Resource(entry) => entry.resource().resource.to_string(),
                Declared::Output(entry) => format!("output.{}", entry.output().name),
                Declared::Variable(entry) => format!("var.{}", entry.variable().name),
                _ => return None,
            };
            Some(prefixed(&tree.path(node.module).to_string(), &name))
        });
        named.collect()
    }

    /// Returns true if only the addressed instances of a resource run. Any other resource that runs is a dependency, of
    /// which all instances run.
    pub(crate) fn is_chosen(&self, node: ConfigNode) -> bool {
        self.chosen.contains(&node)
    }
}

/// The resources that targets name, or that are in modules that targets name.
fn targeted(targeting: &Targeting, tree: &ConfigTree) -> FxHashSet<ConfigNode> {
    let addresses = &targeting.addresses;
    let named = addresses.config_resources().filter_map(|it| tree.resource(it));
    let mut chosen: FxHashSet<ConfigNode> = named.collect();
    let modules = addresses.paths().filter_map(|it| tree.find(it)).collect();
    chosen.extend(resources_within(tree, modules));
    chosen
}

/// The resources that no exclusion covers, and that depend on none that an exclusion touches.
fn not_excluded(targeting: &Targeting, tree: &ConfigTree) -> FxHashSet<ConfigNode> {
    let addresses = &targeting.addresses;
    let config = |node: ConfigNode| match tree.declared(node) {
        Declared::Resource(entry) => Some(addr::ConfigResource {
            module: tree.path(node.module),
            resource: entry.resource().resource.clone(),
        }),
        _ => None,
    };
    let own = |node| match config(node).is_some_and(|it| addresses.touch(&it)) {
        true => EXCLUDED,
        false => 0,
    };
    let mut reached = Reached::default();
    let mut all = resources_within(tree, vec![TreeIx::ROOT]);
    all.retain(|node| {
        !config(*node).is_some_and(|it| addresses.cover_all_of(&it))
            && reached.facts(tree, *node, &own) & EXCLUDED == 0
    });
    all.into_iter().collect()
}

/// All resources of these modules and of the modules inside of them.
fn resources_within(tree: &ConfigTree, modules: Vec<TreeIx>) -> Vec<ConfigNode> {
    let nodes = tree.with_inner(modules).into_iter().flat_map(|module| tree.nodes(module));
    let resources = nodes.filter(|(_, it)| matches!(it, Declared::Resource(_)));
    resources.map(|(node, _)| node).collect()
}

/// The calls of modules in which the state has addressed resources without a block.
fn calls_to_orphans<'s>(
    targeting: &Targeting,
    tree: &ConfigTree,
    stored: impl Iterator<Item = &'s AbsResource>,
) -> Vec<ConfigNode> {
    if targeting.is_exclusion() {
        return Vec::new();
    }
    let orphans = stored.filter(|it| {
        !it.module.is_root()
            && targeting.addresses.touch(&it.config())
            && tree.resource(&it.config()).is_none()
    });
    let paths: FxHashSet<ModulePath> = orphans.map(|it| it.module.path()).collect();
    let calls = paths.iter().flat_map(|path| {
        let names = path.names();
        (1..=names.len()).map(move |length| ModulePath::new(names[..length].iter().cloned()))
    });
    let calls = calls.filter_map(|path| {
        tree.with_call(tree.find(&path)?, |module, call| ConfigNode { module, local: call.call })
    });
    calls.collect()
}

/// Adds nodes and all that they depend on.
fn keep(
    tree: &ConfigTree,
    nodes: impl Iterator<Item = ConfigNode>,
    kept: &mut FxHashSet<ConfigNode>,
) {
    let mut open: Vec<ConfigNode> = nodes.collect();
    while let Some(node) = open.pop() {
        if kept.insert(node) {
            open.extend(direct(tree, node));
        }
    }
}

/// The outputs of the root module and the variables with validations that depend on resources, and on none that is not
/// kept. Assertions need not depend on a resource.
fn reporting(tree: &ConfigTree, kept: &FxHashSet<ConfigNode>) -> FxHashSet<ConfigNode> {
    let module = TreeIx::ROOT;
    let own = |node: ConfigNode| match tree.declared(node) {
        Declared::Resource(_) if kept.contains(&node) => KEPT,
        Declared::Resource(_) => DROPPED,
        _ => 0,
    };
    let mut reached = Reached::default();
    let outputs = tree.template(module).outputs.values();
    let outputs = outputs.map(|local| ConfigNode { module, local: *local });
    let mut found: FxHashSet<ConfigNode> = outputs
        .chain(validated(tree))
        .filter(|node| reached.facts(tree, *node, &own) == KEPT)
        .collect();
    let is_kept = |node: &ConfigNode| reached.facts(tree, *node, &own) & DROPPED == 0;
    found.extend(assertions(tree).into_iter().filter(is_kept));
    found
}

/// The facts about what nodes lead to, as far as they were asked for.
#[derive(Default)]
struct Reached {
    /// The facts; 0 while they are being computed.
    known: FxHashMap<ConfigNode, Facts>,
}

/// A node whose facts are being computed.
struct Visit {
    node: ConfigNode,
    dependencies: Vec<ConfigNode>,
    next: usize,
    facts: Facts,
}

impl Reached {
    /// The facts about all that a node depends on, directly or not. `own` gives those of each dependency. It does not
    /// recurse, because chains of dependencies can be as long as the configuration.
    fn facts(
        &mut self,
        tree: &ConfigTree,
        node: ConfigNode,
        own: &dyn Fn(ConfigNode) -> Facts,
    ) -> Facts {
        let mut path = Vec::new();
        self.begin(tree, node, &mut path);
        while let Some(visit) = path.last_mut() {
            let Some(dependency) = visit.dependencies.get(visit.next).copied() else {
                self.known.insert(visit.node, visit.facts);
                path.pop();
                continue;
            };
            match self.known.get(&dependency) {
                // A node that is being computed is part of a cycle, which is reported elsewhere.
                Some(known) => {
                    visit.facts |= *known | own(dependency);
                    visit.next += 1;
                }
                None => self.begin(tree, dependency, &mut path),
            }
        }
        self.known.get(&node).copied().unwrap_or_default()
    }

    fn begin(&mut self, tree: &ConfigTree, node: ConfigNode, path: &mut Vec<Visit>) {
        if let Entry::Vacant(entry) = self.known.entry(node) {
            entry.insert(0);
            path.push(Visit { node, dependencies: direct(tree, node), next: 0, facts: 0 });
        }
    }
}
