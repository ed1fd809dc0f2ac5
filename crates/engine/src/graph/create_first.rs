//! The resources whose new object is created before the old one is destroyed, if they are replaced.
//!
//! ```text
//!   create_before_destroy = true ──► all resources that the block depends on, direct and indirect
//! ```
//! A dependency follows suit because its old object must outlive the old object of its dependent, which exists until
//! the dependent's new object does.
//!
//! **Invariant:** the edges of a node are followed once, and none if no block has the setting.

use std::{cell::OnceCell, collections::BTreeSet};

use addr::{ConfigResource, ResourceMode};
use hir::{Entry, Program};
use rustc_hash::FxHashSet;

use crate::graph::{
    dependencies::direct,
    template::Declared,
    tree::{ConfigNode, ConfigTree, TreeIx},
};

/// The resources of a configuration that are created before they are destroyed, computed at the first question.
#[derive(Default)]
pub(crate) struct CreateFirst {
    resources: OnceCell<BTreeSet<ConfigResource>>,
}

impl CreateFirst {
    /// All these resources.
    pub(crate) fn resources(
        &self,
        program: &Program,
        tree: &ConfigTree,
    ) -> &BTreeSet<ConfigResource> {
        self.resources.get_or_init(|| match is_used(program) {
            true => reached(tree),
            false => BTreeSet::new(),
        })
    }
}

fn has_setting(entry: &Entry) -> bool {
    entry.resource().lifecycle.create_before_destroy
}

fn is_used(program: &Program) -> bool {
    program.modules.iter().any(|module| module.resources.values().any(has_setting))
}

/// The resources that have the setting, and the resources that they depend on.
fn reached(tree: &ConfigTree) -> BTreeSet<ConfigResource> {
    let mut open = with_setting(tree);
    let mut visited = FxHashSet::default();
    let mut found = BTreeSet::new();
    while let Some(node) = open.pop() {
        if !visited.insert(node) {
            continue;
        }
        if let Declared::Resource(entry) = tree.declared(node)
            && entry.resource().resource.mode == ResourceMode::Managed
        {
            let resource = entry.resource().resource.clone();
            found.insert(ConfigResource { module: tree.path(node.module), resource });
        }
        open.extend(direct(tree, node));
    }
    found
}

fn with_setting(tree: &ConfigTree) -> Vec<ConfigNode> {
    let modules = tree.with_inner(vec![TreeIx::ROOT]).into_iter();
    let nodes = modules.flat_map(|module| tree.nodes(module));
    let has_it = |it: &Declared| matches!(it, Declared::Resource(entry) if has_setting(entry));
    nodes.filter(|(_, it)| has_it(it)).map(|(node, _)| node).collect()
}
