//! Whether a data source is read, or an ephemeral resource opened, only in apply because something that it depends on has a
//! pending change.
//!
//! ```text
//!   argument, count, for_each, depends_on ──► managed resource         its own change counts
//!   depends_on, also of a module call around ──► module, output, …     each change counts that it depends on
//!   block with preconditions or postconditions ──► anything            each change counts that it depends on
//! ```

use addr::ResourceMode;
use hir::Entry;

use super::has_conditions;
use crate::{
    graph::{Declared, EdgeKind, Graph, NodeIx, NodeKind},
    walk::{Facts, ModuleRun, Walk},
};

impl Walk<'_> {
    /// Whether the instances of a data source or an ephemeral resource wait for apply although their configuration is known.
    pub(super) fn waits(&self, node: NodeIx, entry: &Entry, inherited: &Facts) -> bool {
        if has_conditions(entry) {
            // A change further up may be what makes a condition hold.
            return inherited.pending;
        }
        let graph = self.graph.borrow();
        let facts = self.facts.borrow();
        // The expansion comes directly before its resource, and has the references of `count` and `for_each`.
        let mut dependencies = [NodeIx(node.0 - 1), node]
            .into_iter()
            .flat_map(|node| graph.dependencies(node).filter(|(_, _, active)| *active));
        dependencies.any(|(dependency, kind, _)| {
            let it = &facts[dependency.0 as usize];
            match self.mode_of(&graph, dependency) {
                Some(mode) => mode == ResourceMode::Managed && it.changes,
                None => kind == EdgeKind::DependsOn && it.pending,
            }
        })
    }

    /// The mode of the resource that a node stands for; `None` if it stands for something else.
    fn mode_of(&self, graph: &Graph, node: NodeIx) -> Option<ResourceMode> {
        let NodeKind::Declared { module, local } = graph.kind(node) else { return None };
        let modules = self.modules.borrow();
        match &modules[module.0 as usize].template.nodes[local as usize] {
            Declared::Resource(entry) => Some(entry.resource().resource.mode),
            _ => None,
        }
    }

    /// Whether a change is pending in something that decides about the instances of a module or of one around it.
    pub(super) fn is_call_pending(&self, module: &ModuleRun) -> bool {
        let Some(caller) = &module.caller else { return false };
        let around = self.module(caller.module);
        let call = around.template.calls[&caller.call.module_call().name].call;
        self.with_facts(around.node(call), |it| it.pending) || self.is_call_pending(&around)
    }
}
