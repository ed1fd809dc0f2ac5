//! The resources whose new object is created before the old one is destroyed, if they are replaced.
//!
//! ```text
//!   create_before_destroy = true ──► all resources that the block depends on, direct and indirect
//! ```
//! A dependency follows suit because its old object must outlive the old object of its dependent, which exists until
//! the dependent's new object does.
//!
//! **Invariant:** the edges of a node are followed once, and none if no block has the setting.

use std::{cell::OnceCell, collections::VecDeque, sync::Arc};

use addr::{ConfigResource, ResourceMode};
use hir::{Entry, Program};
use rustc_hash::FxHashSet;
use sorted::{TreeMap, TreeSet};

use crate::graph::{
    dependencies::direct,
    template::{Declared, Template},
    tree::{ConfigNode, ConfigTree},
};

/// The resources of a configuration that are created before they are destroyed, computed at the first question.
#[derive(Default)]
pub(crate) struct CreateFirst {
    /// The resources whose setting counts; unset if that of each does.
    limit: OnceCell<FxHashSet<ConfigNode>>,
    resources: OnceCell<TreeSet<ConfigResource>>,
}

impl CreateFirst {
    /// Makes the settings of other resources than these count no longer, as in OpenTofu: the graph of a run with
    /// targets does not have them. It has no effect after the first question.
    pub(crate) fn limit_to(&self, nodes: FxHashSet<ConfigNode>) {
        let _ = self.limit.set(nodes);
    }

    /// All these resources.
    pub(crate) fn resources(
        &self,
        program: &Program,
        tree: &ConfigTree,
    ) -> &TreeSet<ConfigResource> {
        self.resources.get_or_init(|| match is_used(program) {
            true => {
                let counts =
                    |it: ConfigNode| self.limit.get().is_none_or(|limit| limit.contains(&it));
                reached(tree, counts).into_keys().collect()
            }
            false => TreeSet::new(),
        })
    }
}

/// The resources of a configuration that are created before they are destroyed, each with the dependent that spreads
/// its setting to it.
pub struct CreatedFirst(TreeMap<ConfigResource, Option<ConfigResource>>);

impl CreatedFirst {
    /// Finds these resources. Only the settings of resources for which `counts` is true count: a plan with targets does
    /// not have the others. Linear in the size of the configuration.
    pub fn of(program: &Arc<Program>, counts: impl Fn(&ConfigResource) -> bool) -> CreatedFirst {
        if !is_used(program) {
            return CreatedFirst(TreeMap::new());
        }
        let tree = ConfigTree::new(program, &Template::all(program));
        CreatedFirst(reached(&tree, |it| managed(&tree, it).is_some_and(|it| counts(&it))))
    }

    /// The dependent of a resource that is created first, and makes its dependencies so. `None` if the resource has the
    /// setting itself, or is not created first.
    pub fn spread_by(&self, resource: &ConfigResource) -> Option<&ConfigResource> {
        self.0.get(resource)?.as_ref()
    }
}

fn has_setting(entry: &Entry) -> bool {
    entry.resource().lifecycle.create_before_destroy
}

fn is_used(program: &Program) -> bool {
    program.modules.iter().any(|module| module.resources.values().any(has_setting))
}

/// The resources that have the setting and count, and the resources that they depend on, each with the nearest
/// dependent that leads to it by the shortest way.
fn reached(
    tree: &ConfigTree,
    counts: impl Fn(ConfigNode) -> bool,
) -> TreeMap<ConfigResource, Option<ConfigResource>> {
    let settings = with_setting(tree).into_iter().filter(|it| counts(*it));
    let mut open: VecDeque<_> = settings.map(|node| Reached { node, by: None }).collect();
    let mut visited = FxHashSet::default();
    let mut found = TreeMap::new();
    while let Some(Reached { node, by }) = open.pop_front() {
        if !visited.insert(node) {
            continue;
        }
        let own = managed(tree, node);
        let next = own.is_some().then_some(node).or(by);
        if let Some(own) = own {
            found.insert(own, by.and_then(|it| managed(tree, it)));
        }
        open.extend(direct(tree, node).into_iter().map(|node| Reached { node, by: next }));
    }
    found
}

/// A node, and the nearest managed resource that depends on it.
struct Reached {
    node: ConfigNode,
    by: Option<ConfigNode>,
}

fn managed(tree: &ConfigTree, node: ConfigNode) -> Option<ConfigResource> {
    let Declared::Resource(entry) = tree.declared(node) else { return None };
    let resource = entry.resource().resource.clone();
    let is_managed = resource.mode == ResourceMode::Managed;
    is_managed.then(|| ConfigResource { module: tree.path(node.module), resource })
}

fn with_setting(tree: &ConfigTree) -> Vec<ConfigNode> {
    let has_it = |it: &Declared| matches!(it, Declared::Resource(entry) if has_setting(entry));
    tree.all_nodes().filter(|(_, it)| has_it(it)).map(|(node, _)| node).collect()
}
