//! Decides whether a data source is read, or an ephemeral resource opened, only in apply because a dependency has
//! a pending change.
//!
//! ```text
//!   argument, count, for_each, depends_on ──► managed resource         its own change counts
//!   depends_on, also of a module call around ──► module, output, …     each change counts that it depends on
//!   block with preconditions or postconditions ──► anything            each change counts that it depends on
//! ```

use addr::ResourceMode;
use hir::Entry;

use crate::{
    graph::{EdgeKind, NodeIx, NodeKind, template::Declared},
    resource::subject::has_conditions,
    walk::{context::Walk, modules::ModuleRun, outcome::Facts},
};

impl Walk<'_> {
    /// Returns true if the instances of a data source or an ephemeral resource wait for apply although their
    /// configuration is known.
    pub(crate) fn waits(&self, node: NodeIx, entry: &Entry, inherited: &Facts) -> bool {
        if has_conditions(entry) {
            // A change further up may make a condition true.
            return inherited.pending;
        }
        // The expansion directly precedes its resource, and has the references of `count` and `for_each`.
        let both = [NodeIx(node.0 - 1), node];
        self.nodes.any_dependency(&both, |dependency, edge, facts| match self.mode_of(dependency) {
            Some(mode) => mode == ResourceMode::Managed && facts.changes,
            None => edge == EdgeKind::DependsOn && facts.pending,
        })
    }

    /// The mode of the resource that a node stands for; `None` if it stands for something else.
    fn mode_of(&self, node: NodeKind) -> Option<ResourceMode> {
        let NodeKind::Declared { module, local } = node else { return None };
        match &self.modules.get(module).template.nodes[local as usize] {
            Declared::Resource(entry) => Some(entry.resource().resource.mode),
            _ => None,
        }
    }

    /// Returns true if a change is pending in a dependency of the call that makes the instances of a module, or of
    /// a call around it.
    pub(crate) fn is_call_pending(&self, module: &ModuleRun) -> bool {
        let Some(caller) = &module.caller else { return false };
        let around = self.module(caller.module);
        let call = around.template.calls[&caller.call.module_call().name].call;
        self.nodes.facts(around.node(call), |it| it.pending) || self.is_call_pending(&around)
    }
}
