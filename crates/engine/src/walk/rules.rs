//! The decisions of a run about its graph, as an interface.

use crate::{
    graph::EdgeKind,
    walk::{instances::Keys, modules::ModuleRun},
};

/// The decisions of a run about the graph that module instances become.
pub(crate) trait GraphRules {
    /// Returns true if a node of a new module instance runs even without a dependent.
    fn demands(&self, module: &ModuleRun, local: u32) -> bool;

    /// Returns false for a node that the limits of the run leave out. It runs only if another node needs it.
    fn is_selected(&self, _module: &ModuleRun, _local: u32) -> bool {
        true
    }

    /// Adds the nodes that the run needs besides those that a new module instance declares.
    fn add_undeclared(&self, _module: &ModuleRun) {}

    /// Completes the graph after the instances of a module call are added.
    fn complete_call(&self, _caller: &ModuleRun, _call: &str, _keys: &Keys) {}

    /// The edge from the gate of a module call to the call. By default, the call runs before the gate, and only its
    /// resources wait.
    fn gate_edge(&self) -> EdgeKind {
        EdgeKind::Hold
    }
}
