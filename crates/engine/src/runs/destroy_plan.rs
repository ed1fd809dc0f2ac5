//! The run that plans the destruction of everything in the state.

use std::{ops::Deref, rc::Rc};

use addr::{AbsResource, ResourceMode};
use hir::Entry;
use state::Action;

use crate::{
    graph::{EdgeKind, NodeIx, NodeKind},
    resource::decision::decide_end,
    runs::{
        orphans::GoneObject,
        planning::{PlanPart, Planning},
    },
    schedule::{Failed, Step},
    walk::{context::Walk, modules::ModuleRun, purpose::Purpose, rules::GraphRules},
};

/// The context of a destroy plan.
pub(crate) struct DestroyPlanRun<'a>(Planning<'a>);

impl<'a> DestroyPlanRun<'a> {
    /// Adds the root module and the objects that are destroyed or read to the graph.
    pub(crate) fn new(planning: Planning<'a>) -> DestroyPlanRun<'a> {
        let run = DestroyPlanRun(planning);
        run.add_root(&run);
        run.add_objects();
        run
    }

    /// The part that all plans share.
    pub(crate) fn into_planning(self) -> Planning<'a> {
        self.0
    }
}

impl<'a> Deref for DestroyPlanRun<'a> {
    type Target = Planning<'a>;

    fn deref(&self) -> &Planning<'a> {
        &self.0
    }
}

impl GraphRules for DestroyPlanRun<'_> {
    /// Without a refresh, only variables with dependents run.
    fn demands(&self, module: &ModuleRun, local: u32) -> bool {
        self.refreshes_objects() && module.is_root_variable(&module.template.nodes[local as usize])
    }

    fn is_selected(&self, module: &ModuleRun, local: u32) -> bool {
        let targets = self.destroy_targets.as_ref();
        targets.is_none_or(|it| it.needs(&self.config.tree, module, local))
    }
}

impl<'a> Purpose<'a> for DestroyPlanRun<'a> {
    type Part = PlanPart;

    fn walk(&self) -> &Walk<'a> {
        self
    }

    /// A managed resource has the value of its refreshed objects, so it waits for their deletion to be planned.
    fn activate_resource(&self, node: NodeIx, module: &ModuleRun, entry: &Entry) {
        let resource = &entry.resource().resource;
        if resource.mode != ResourceMode::Managed {
            return self.nodes.change(|graph| graph.activate(node, |it| it == EdgeKind::Order));
        }
        let address = resource.clone().in_module(module.address.clone());
        if let Some(orphan) = self.orphans.node(&address) {
            self.nodes.change(|graph| graph.add_active_edge(orphan, node, EdgeKind::Value));
        }
    }

    fn run_resource(&self, node: NodeIx, module: &Rc<ModuleRun>, entry: &Entry) -> Step<PlanPart> {
        if entry.resource().resource.mode == ResourceMode::Managed {
            let objects = |address: &AbsResource| self.state.read(|it| it.objects_of(address));
            return self.value_from_objects(node, module, entry, objects).into();
        }
        if !self.nodes.facts(node, |it| std::mem::replace(&mut it.prepared, true)) {
            return self.prepare_resource(node, module, entry, false);
        }
        let Some(keys) = self.instances_of(node) else { return Step::Failed };
        if let Some(step) = self.unchanged_ephemeral(node, module, entry, &keys) {
            return step;
        }
        let instances = self.begin_instances(node, module, entry, &keys);
        self.start_instances(node, instances)
    }

    fn run_own(&self, node: NodeIx, kind: NodeKind) -> Step<PlanPart> {
        let NodeKind::Orphan { index } = kind else { return Step::Done { keeps: false } };
        let orphan = self.orphans.get(index);
        if orphan.address.resource.mode != ResourceMode::Managed {
            return Step::Done { keeps: false };
        }
        match self.wait_for_provider(node, &orphan.provider, &orphan.address.to_string()) {
            Ok(true) => {}
            Ok(false) => return Step::Again,
            Err(Failed) => return Step::Failed,
        }
        if !orphan.objects.is_empty() && self.wait_for_values(node) {
            return Step::Again;
        }
        Step::Tasks(orphan.objects.iter().cloned().map(PlanPart::Gone).collect())
    }

    async fn run_part(&self, node: NodeIx, part: &PlanPart) -> Result<(), Failed> {
        let each = match part {
            PlanPart::Gone(gone) => return self.plan_gone(node, gone).await,
            // A destroy plan imports nothing.
            PlanPart::Generated => return Err(Failed),
            PlanPart::Instance(each) => each,
        };
        let entry = self.resource_entry(node)?;
        match entry.resource().resource.mode {
            ResourceMode::Ephemeral => self.plan_ephemeral(node, &entry, each).await,
            ResourceMode::Data => self.plan_data(node, &entry, each).await,
            // A managed resource has the value of its objects, and no instance of it runs.
            ResourceMode::Managed => Err(Failed),
        }
    }
}

impl DestroyPlanRun<'_> {
    /// Adds every resource of the state as an orphan, so that it is destroyed. With targets, only those that are
    /// destroyed or read.
    fn add_objects(&self) {
        let addresses: Vec<AbsResource> =
            self.state.previous().resources().map(|(address, _)| address.clone()).collect();
        for address in addresses {
            self.add_orphan(&address, None);
        }
    }

    /// Plans the deletion of an object.
    async fn plan_gone(&self, node: NodeIx, gone: &GoneObject) -> Result<(), Failed> {
        let subject = self.gone_subject(node, gone)?;
        let Some(read) = self.read_gone(&subject).await? else { return Ok(()) };
        if self.destroy_targets.as_ref().is_some_and(|it| !it.ends(&subject.object)) {
            return Ok(());
        }
        if !subject.is_deposed() {
            // A reference that was added since the last apply also determines the order of destruction.
            self.rewrite_dependencies(&subject, Some(&read.prior), Action::Delete);
        }
        let keeping = self.keeping(&subject, &read.prior, true);
        let end = decide_end(keeping, gone.reason);
        if end.action == Action::Forget && subject.is_deposed() {
            self.warn_forgotten(&subject);
        }
        self.plan_end(&subject, read, end).await?;
        Ok(())
    }
}
