//! The run that carries out a destroy plan.

use std::{ops::Deref, rc::Rc};

use addr::{AbsResource, ResourceMode};
use hir::Entry;

use crate::{
    graph::{EdgeKind, NodeIx, NodeKind},
    runs::applying::{ApplyPart, Applying},
    schedule::{Failed, Step},
    walk::{context::Walk, modules::ModuleRun, purpose::Purpose, rules::GraphRules},
};

/// The context of a destruction.
pub(crate) struct DestroyRun<'a>(Applying<'a>);

impl<'a> Deref for DestroyRun<'a> {
    type Target = Applying<'a>;

    fn deref(&self) -> &Applying<'a> {
        &self.0
    }
}

impl<'a> DestroyRun<'a> {
    /// Adds the root module and the destructions to the graph. Nothing is created, so no provider configuration
    /// depends on a new object.
    pub(crate) fn new(applying: Applying<'a>) -> DestroyRun<'a> {
        let run = DestroyRun(applying);
        run.add_root(&run);
        run.add_destruction(&|_, _| false);
        run
    }
}

impl GraphRules for DestroyRun<'_> {
    /// Only the destructions run, and what the configurations of their providers need.
    fn demands(&self, _module: &ModuleRun, _local: u32) -> bool {
        false
    }
}

impl<'a> Purpose<'a> for DestroyRun<'a> {
    type Part = ApplyPart;

    fn walk(&self) -> &Walk<'a> {
        self
    }

    fn activate_resource(&self, node: NodeIx, _module: &ModuleRun, entry: &Entry) {
        if entry.resource().resource.mode == ResourceMode::Ephemeral {
            self.nodes.change(|graph| graph.activate(node, |kind| kind == EdgeKind::Order));
        }
    }

    /// References see the objects as they were before the run; only ephemeral resources are opened.
    fn run_resource(&self, node: NodeIx, module: &Rc<ModuleRun>, entry: &Entry) -> Step<ApplyPart> {
        if entry.resource().resource.mode != ResourceMode::Ephemeral {
            let objects = |address: &AbsResource| self.state.previous().objects_of(address);
            return self.value_from_objects(node, module, entry, objects).into();
        }
        if self.nodes.facts(node, |it| std::mem::replace(&mut it.prepared, true)) {
            return self.begin_apply(node, module, entry);
        }
        if self.refuse_provisioners(module, entry, |_| true) {
            return Step::Failed;
        }
        let Some(keys) = self.expanded(node) else { return Step::Failed };
        let needs = self.needs_of(node, module, entry);
        self.wait_for_needs(node, keys, |_, kind| needs.count(kind));
        Step::Again
    }

    fn run_own(&self, node: NodeIx, kind: NodeKind) -> Step<ApplyPart> {
        self.run_destroy(node, kind)
    }

    async fn run_part(&self, node: NodeIx, part: &ApplyPart) -> Result<(), Failed> {
        let ApplyPart::Instance(each) = part else { return self.destroy_instance(node).await };
        let entry = self.resource_entry(node)?;
        self.open_instance(node, &entry, each, |_, _| None).await
    }
}
