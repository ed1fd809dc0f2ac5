//! The run that plans the changes that make the real objects match the configuration.

use std::{ops::Deref, rc::Rc};

use addr::ResourceMode;
use hir::Entry;
use state::{Action, Reason};
use values::Value;

use crate::{
    graph::{NodeIx, NodeKind, template::Declared},
    resource::decision::{decide_end, gone_reason},
    runs::{
        orphans::GoneObject,
        planning::{PlanPart, PlannedBefore, Planning},
    },
    schedule::{Failed, Step},
    walk::{
        context::Walk,
        instances::{Each, Keys},
        modules::ModuleRun,
        output::{OutputPlan, plan_output, stored_output},
        purpose::Purpose,
        rules::GraphRules,
    },
};

/// The context of a plan.
pub(crate) struct PlanRun<'a>(pub(crate) Planning<'a>);

impl<'a> Deref for PlanRun<'a> {
    type Target = Planning<'a>;

    fn deref(&self) -> &Planning<'a> {
        &self.0
    }
}

impl GraphRules for PlanRun<'_> {
    fn demands(&self, module: &ModuleRun, local: u32) -> bool {
        let declared = &module.template.nodes[local as usize];
        !module.template.lazy[local as usize]
            || module.is_root_variable(declared)
            || self.is_harmless_input(module, declared)
    }

    fn is_selected(&self, module: &ModuleRun, local: u32) -> bool {
        self.is_within_limits(module, local)
    }

    /// Adds orphans for resources of the state that the module instance does not declare.
    fn add_undeclared(&self, module: &ModuleRun) {
        let reason = Reason::DeleteBecauseNoResourceConfig;
        for address in self.state.index().resources.get(&module.address).into_iter().flatten() {
            if !module.template.resources.contains_key(&address.resource) {
                self.add_orphan(address, Some(reason));
            }
        }
        for child in self.state.index().children.get(&module.address).into_iter().flatten() {
            let Some((_, step)) = child.split_last() else { continue };
            if !module.template.calls.contains_key(step.name.as_str()) {
                self.add_orphans_within(child, reason);
            }
        }
    }

    /// Adds orphans for the instances of a call that the state has and the call no longer makes.
    fn complete_call(&self, caller: &ModuleRun, call: &str, keys: &Keys) {
        for child in self.state.index().children.get(&caller.address).into_iter().flatten() {
            let Some((_, step)) = child.split_last() else { continue };
            if step.name == call && !keys.contains(&step.key) {
                self.add_orphans_within(child, Reason::DeleteBecauseNoModule);
            }
        }
    }
}

impl<'a> Purpose<'a> for PlanRun<'a> {
    type Part = PlanPart;

    fn walk(&self) -> &Walk<'a> {
        self
    }

    fn run_resource(&self, node: NodeIx, module: &Rc<ModuleRun>, entry: &Entry) -> Step<PlanPart> {
        if !self.nodes.facts(node, |it| std::mem::replace(&mut it.prepared, true)) {
            if let Some(keys) = self.expanded(node) {
                self.warn_unmatched_replace(module, entry, &keys);
            }
            let any_gone = self
                .expanded(node)
                .is_some_and(|keys| !self.gone_objects(node, module, entry, &keys).is_empty());
            return self.prepare_resource(node, module, entry, any_gone);
        }
        let Some(keys) = self.instances_of(node) else { return Step::Failed };
        if let Some(step) = self.unchanged_ephemeral(node, module, entry, &keys) {
            return step;
        }
        let mut instances = self.begin_instances(node, module, entry, &keys);
        if entry.resource().resource.mode == ResourceMode::Managed && !self.options.refresh_only {
            let planned = instances.parts.iter().filter_map(PlanPart::instance);
            self.foresee_bodies(node, entry, planned);
        }
        for gone in self.gone_objects(node, module, entry, &keys) {
            match self.ended_before(node, &gone) {
                Some((subject, planned)) => {
                    let object = subject.object;
                    instances.before.push(PlannedBefore { object, each: None, planned });
                }
                None => instances.parts.push(PlanPart::Gone(gone)),
            }
        }
        self.start_instances(node, instances)
    }

    fn run_import_block(&self, node: NodeIx, entry: &Entry) -> Step<PlanPart> {
        self.run_import(node, entry)
    }

    fn run_own(&self, node: NodeIx, kind: NodeKind) -> Step<PlanPart> {
        match kind {
            NodeKind::Orphan { index } => self.run_orphan(node, index),
            _ => Step::Done { keeps: false },
        }
    }

    fn root_output(&self, entry: &Entry, value: &Value) {
        let name = &entry.output().name;
        let before = self.state.previous().outputs.get(name);
        let OutputPlan { change, keeps_old } =
            plan_output(&self.settings.temp, before, entry, value);
        if !keeps_old && value.is_wholly_known() {
            self.keep_output(name, stored_output(entry, value));
        }
        self.decisions.set_output(name.clone(), change);
    }

    async fn run_part(&self, node: NodeIx, part: &PlanPart) -> Result<(), Failed> {
        let each = match part {
            PlanPart::Gone(gone) => return self.plan_gone(node, gone).await,
            PlanPart::Generated => return self.plan_generated(node).await,
            PlanPart::Instance(each) => each,
        };
        let entry = self.resource_entry(node)?;
        match entry.resource().resource.mode {
            ResourceMode::Ephemeral => self.plan_ephemeral(node, &entry, each).await,
            ResourceMode::Managed if self.options.refresh_only => {
                self.refresh_instance(node, &entry, each).await
            }
            ResourceMode::Managed => self.plan_instance(node, &entry, each).await,
            ResourceMode::Data => self.plan_data(node, &entry, each).await,
        }
    }
}

impl PlanRun<'_> {
    /// Returns true for a variable of a called module if a plan opens nothing to evaluate the argument that the
    /// call gives to it.
    fn is_harmless_input(&self, module: &ModuleRun, declared: &Declared) -> bool {
        let (Declared::Variable(entry), Some(caller)) = (declared, &module.caller) else {
            return false;
        };
        let name = &entry.variable().name;
        let caller_module = self.module(caller.module);
        let call = &caller_module.template.calls[&caller.call.module_call().name];
        let input = call.inputs.iter().find(|it| it.name == *name);
        let mut reads = input.into_iter().flat_map(|it| &it.reads);
        reads.all(|read| self.opens_nothing(&caller_module, caller_module.node(*read)))
    }

    /// The objects that the state has and the configuration does not.
    fn gone_objects(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        entry: &Entry,
        keys: &Keys,
    ) -> Vec<GoneObject> {
        let address = entry.resource().resource.clone().in_module(module.address.clone());
        let Some(resource) = self.state.previous().resource(&address) else { return Vec::new() };
        let reason = |key: &_| Some(gone_reason(keys.repeated, key));
        let mut gone = GoneObject::all_of(resource, |key| keys.contains(key), reason);
        self.limit_gone(node, module, entry, &mut gone);
        gone
    }

    /// Runs one turn of a resource that only the state has.
    fn run_orphan(&self, node: NodeIx, index: u32) -> Step<PlanPart> {
        let orphan = self.orphans.get(index);
        if orphan.address.resource.mode != ResourceMode::Managed {
            for gone in &orphan.objects {
                let address = orphan.address.instance(gone.key.clone());
                self.state.change(|state| state.remove_current(&address));
            }
            return Step::Done { keeps: false };
        }
        match self.wait_for_provider(node, &orphan.provider, &orphan.address.to_string()) {
            Ok(true) => {}
            Ok(false) => return Step::Again,
            Err(Failed) => return Step::Failed,
        }
        let mut parts = Vec::new();
        let mut before = Vec::new();
        for gone in &orphan.objects {
            match self.ended_before(node, gone) {
                Some(ended) => before.push(ended),
                None => parts.push(PlanPart::Gone(gone.clone())),
            }
        }
        if !parts.is_empty() && self.wait_for_values(node) {
            return Step::Again;
        }
        before
            .iter()
            .for_each(|(subject, planned)| self.take_change(node, &subject.object, planned));
        Step::Tasks(parts)
    }

    /// Plans the end of an object that the configuration does not have.
    async fn plan_gone(&self, node: NodeIx, gone: &GoneObject) -> Result<(), Failed> {
        let subject = self.gone_subject(node, gone)?;
        if subject.address().resource.mode == ResourceMode::Data {
            self.set_object(&subject, None);
            return Ok(());
        }
        let read = self.read_gone(&subject).await?;
        if self.options.refresh_only {
            // The object stays, so references see it.
            if let Some(read) = read.filter(|_| !subject.is_deposed()) {
                let each = Each { key: gone.key.clone(), value: None };
                self.set_instance(node, &each, read.prior.value);
            }
            return Ok(());
        }
        let planned = match read {
            None => self.nothing_to_delete(&subject),
            Some(read) => {
                let keeping = self.keeping(&subject, &read.prior, false);
                let end = decide_end(keeping, gone.reason);
                if end.action == Action::Forget {
                    self.warn_forgotten(&subject);
                }
                self.plan_end(&subject, read, end).await?
            }
        };
        self.remember_ended(&subject, planned);
        Ok(())
    }
}
