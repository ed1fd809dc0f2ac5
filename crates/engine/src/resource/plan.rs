//! Planning of one instance of a managed resource, and of the deletion of one.

use std::sync::Arc;

use addr::{AbsResource, ConfigResource, InstanceKey, ResourceInstance};
use db::{Diagnostic, Summary};
use hir::{Entry, item::Repetition};
use provider::{PlanResourceChangeRequest, Private, Provider};
use sorted::TreeMap;
use state::{Action, Change, ObjectAddress, Reason, ResourceChange};
use values::{Kind, MarkKind, Type, Value, convert};

use crate::{
    event::Event,
    graph::{ModuleIx, NodeIx, NodeKind},
    memo::Planned,
    resource::{
        change::{ChangePlan, ChangeRequest},
        decision::{Decision, Keeping},
        objects::{find_entry, find_module},
        prior::{Prior, storable},
        subject::Subject,
    },
    runs::{orphans::GoneObject, planning::Planning},
    schedule::Failed,
    shell,
    walk::{context::Walk, instances::Each, outcome::ProviderInstance, scope::EngineScope},
};

/// An object that is to be deleted, as the provider read it, with its provider.
pub(crate) struct Gone {
    provider: Arc<dyn Provider>,
    pub(crate) prior: Prior,
}

impl Planning<'_> {
    /// Plans a declared instance.
    pub(crate) async fn plan_instance(
        &self,
        node: NodeIx,
        entry: &Entry,
        each: &Each,
    ) -> Result<(), Failed> {
        let mut subject = self.subject(node, entry, &each.key)?;
        let opened = self.nodes.facts(node, |it| it.opened.clone());
        self.freshen(&opened).await?;
        self.instance_conditions(subject.module, entry, subject.address(), each, None).await?;
        let config = self.resource_config(&mut subject, entry, each).await?;
        let digest = self.config_digest(&subject, &config);
        if let Some(mut planned) = self.planned_same(&subject, digest) {
            let dependencies = self.planned_dependencies(subject.address(), planned.action());
            planned.refreshed = planned.refreshed.map(|it| it.with_dependencies(&dependencies));
            self.take_planned(&subject, each, &planned);
            let value = Some(planned.value.clone());
            self.instance_conditions(subject.module, entry, subject.address(), each, value).await?;
            self.remember_planned(&subject, each, digest, planned);
            return Ok(());
        }
        let planned = self.plan_object(&subject, entry, each, &config).await?;
        self.set_instance(node, each, planned.value.clone());
        self.record_change(&subject, &planned);
        if planned.action().is_replace() {
            self.answered(|| self.check_prevent_destroy(&subject, Some(each))).await?;
        } else {
            self.answered(|| self.prevent_destroy(&subject, Some(each))).await?;
        }
        let value = Some(planned.value.clone());
        self.instance_conditions(subject.module, entry, subject.address(), each, value).await?;
        self.remember_planned(&subject, each, digest, planned);
        Ok(())
    }

    /// Reads the object and plans its change.
    async fn plan_object(
        &self,
        subject: &Subject,
        entry: &Entry,
        each: &Each,
        config: &Value,
    ) -> Result<Planned, Failed> {
        let provider = self.provider_for(subject).await?;
        let import = self.import_to(subject.address());
        let prior = match &import {
            Some(wanted) => Some(self.imported(subject, &*provider, wanted, Some(config)).await?),
            None => self.read_prior(subject, &*provider).await?,
        };
        let is_triggered =
            self.answered(|| self.triggers_replacement(subject, entry, each)).await?;
        let replace = is_triggered || self.options.replace.contains(subject.address());
        let request = ChangeRequest { prior: prior.as_ref(), config, replace };
        let mut plan = self.plan_change(subject, &*provider, request).await?;
        if is_triggered {
            plan.reason = Some(Reason::ReplaceByTriggers);
        }
        if plan.action.is_creation() && import.is_none() {
            self.refuse_uncertain(subject, entry)?;
        }
        self.rewrite_dependencies(subject, prior.as_ref(), plan.action);
        let drift = self.decisions.drift(&subject.object);
        let mut change = self.resource_change(subject, &plan);
        change.change.importing = import.map(|it| Box::new(it.importing.clone()));
        Ok(Planned {
            change: Some(Arc::new(change)),
            drift,
            refreshed: self.object(subject),
            value: plan.after,
        })
    }

    /// A digest of the configuration of an instance, of its provider and of the order of a replacement, under the key
    /// of this process.
    pub(crate) fn config_digest(&self, subject: &Subject, config: &Value) -> crate::memo::Digest {
        let provider = self.provider_digest(subject);
        let creates_first = self.creates_first(&subject.address().config());
        self.reuse.memo(|memo| match memo.config_digest(config, provider) {
            digest if creates_first => memo.combine(&[digest, memo.digest(&[b"create first"])]),
            digest => digest,
        })
    }

    /// A digest of the configuration of an object's provider; `None` before the provider had its turn.
    pub(crate) fn provider_digest(&self, subject: &Subject) -> Option<crate::memo::Digest> {
        let config =
            self.nodes.slot(&subject.provider_instance()).map(|it| self.pool.get(it).config)?;
        Some(match &subject.provider.key {
            InstanceKey::None => config,
            // The plan names the instance, so one with an equal configuration is another provider.
            key => self
                .reuse
                .memo(|memo| memo.combine(&[config, memo.digest(&[key.to_string().as_bytes()])])),
        })
    }

    pub(crate) fn record_change(&self, subject: &Subject, planned: &Planned) {
        let Some(change) = &planned.change else { return };
        let action = change.change.action;
        if action != Action::NoOp {
            self.nodes.facts(subject.node, |it| it.changes = true);
        }
        self.add_change(&subject.object, change);
    }

    /// Announces a change and adds it to the plan.
    pub(crate) fn add_change(&self, address: &ObjectAddress, change: &Arc<ResourceChange>) {
        self.emit(Event::Planned {
            address: address.clone(),
            action: change.change.action,
            reason: change.reason,
        });
        if let Some(sink) = &self.environment.changes {
            sink.planned(change, &|source| self.schemas(source));
        }
        self.decisions.add_change(Arc::clone(change));
    }

    /// Writes the dependencies of an object to the refreshed state.
    pub(crate) fn rewrite_dependencies(
        &self,
        subject: &Subject,
        prior: Option<&Prior>,
        action: Action,
    ) {
        let Some(prior) = prior else { return };
        let dependencies = self.planned_dependencies(subject.address(), action);
        let object = prior.object.with_dependencies(&dependencies);
        let object = match subject.block() {
            Some(block) => object
                .with_skip_destroy(block.resource().lifecycle.skip_destroy)
                .with_create_before_destroy(self.creates_first(&subject.address().config())),
            None => object,
        };
        if !Arc::ptr_eq(&object, &prior.object) {
            self.state
                .change(|state| state.set_current(subject.address(), &subject.provider, object));
        }
    }

    /// The dependencies of an object until its planned change is applied. The current object keeps the
    /// dependencies that the state stores, even if the block no longer refers to them: it must still be destroyed
    /// before they are. New dependencies are added only if objects are refreshed.
    fn planned_dependencies(
        &self,
        address: &ResourceInstance,
        action: Action,
    ) -> Arc<[ConfigResource]> {
        let configured = self.dependencies_of(address);
        match self.state.previous().current(address) {
            _ if action == Action::NoOp => configured,
            Some(stored) if self.options.refresh => union(&stored.dependencies, configured),
            Some(stored) => Arc::clone(&stored.dependencies),
            None => configured,
        }
    }

    /// A planned change in the form that the plan stores.
    pub(crate) fn resource_change(&self, subject: &Subject, plan: &ChangePlan) -> ResourceChange {
        ResourceChange {
            addr: subject.address().clone(),
            previous_addr: None,
            deposed: subject.object.deposed,
            provider: subject.provider.clone(),
            change: Change {
                action: plan.action,
                before: storable(&plan.before),
                after: storable(&plan.after),
                importing: None,
                generated_config: String::new(),
                before_identity: None,
                after_identity: plan.identity.clone(),
            },
            private: plan.private.as_bytes().into(),
            required_replace: plan.required_replace.clone(),
            reason: plan.reason,
        }
    }

    /// Reads an object that is to be deleted; `None` if it does not exist.
    pub(crate) async fn read_gone(&self, subject: &Subject) -> Result<Option<Gone>, Failed> {
        let opened = self.nodes.facts(subject.node, |it| it.opened.clone());
        self.freshen(&opened).await?;
        let provider = self.provider_for(subject).await?;
        let prior = self.read_prior(subject, &*provider).await?;
        Ok(prior.map(|prior| Gone { provider, prior }))
    }

    /// The plan for an object that no longer exists. As in OpenTofu, a plan lists a deposed one without an action.
    pub(crate) fn nothing_to_delete(&self, subject: &Subject) -> Planned {
        let null = || Value::null(subject.ty().clone());
        let no_op = || ChangePlan {
            action: Action::NoOp,
            before: null(),
            after: null(),
            private: Private::default(),
            identity: None,
            required_replace: Vec::new(),
            reason: None,
        };
        let change =
            subject.is_deposed().then(|| Arc::new(self.resource_change(subject, &no_op())));
        let drift = self.decisions.drift(&subject.object);
        let planned = Planned { change, drift, refreshed: None, value: null() };
        self.record_change(subject, &planned);
        planned
    }

    /// Plans the end of an object: it is destroyed or forgotten. `prevent_destroy` has no say about a deposed object,
    /// because it was checked when the replacement was planned, and no provisioner runs for it.
    pub(crate) async fn plan_end(
        &self,
        subject: &Subject,
        gone: Gone,
        end: Decision,
    ) -> Result<Planned, Failed> {
        let Gone { provider, prior } = gone;
        let private = match end.action {
            Action::Forget => prior.private.clone(),
            // The destruction of a whole configuration checks the block nowhere else.
            _ if self.refuse_end_provisioners(subject) => return Err(Failed),
            _ => self.plan_destroy(subject, &*provider, &prior).await?,
        };
        let plan = ChangePlan {
            action: end.action,
            before: prior.value,
            after: Value::null(subject.ty().clone()),
            private,
            identity: None,
            required_replace: Vec::new(),
            reason: end.reason,
        };
        let planned = Planned {
            change: Some(Arc::new(self.resource_change(subject, &plan))),
            drift: self.decisions.drift(&subject.object),
            refreshed: self.object(subject),
            value: plan.after,
        };
        self.record_change(subject, &planned);
        if end.action == Action::Delete && !subject.is_deposed() {
            self.answered(|| self.check_prevent_destroy(subject, None)).await?;
        }
        Ok(planned)
    }

    /// Warns that an object is forgotten.
    pub(crate) fn warn_forgotten(&self, subject: &Subject) {
        let detail = format!(
            "After this plan is applied, the resource {} will not be managed anymore by Mayfly.\n\nIn \
             case you want to manage the resource again, you will have to import it.",
            subject.address()
        );
        self.report(Diagnostic::new(Summary::RESOURCE_FORGOTTEN, detail));
    }

    /// The facts in configuration and state about the end of an object. As in OpenTofu, `removed` blocks do not
    /// count if everything is destroyed.
    pub(crate) fn keeping(&self, subject: &Subject, prior: &Prior, destroys_all: bool) -> Keeping {
        let lifecycle = subject.entry.as_ref().map(|it| &it.resource().lifecycle);
        let removed = self.config.removals.destroys(&subject.address().config());
        Keeping {
            by_block: lifecycle.is_some_and(|it| it.skip_destroy),
            by_state: prior.object.skip_destroy
                && !(destroys_all && self.options.refresh && self.is_plainly_declared(subject)),
            removed: removed.filter(|_| !destroys_all),
        }
    }

    /// Returns true for the current object of a block that is certain to declare it, because neither the block nor the
    /// calls around it are repeated. A refresh writes what such a block says to the state.
    fn is_plainly_declared(&self, subject: &Subject) -> bool {
        let is_single = |it: Repetition| it == Repetition::Single;
        let address = subject.address();
        let block = subject.block().filter(|it| is_single(it.resource().repetition));
        let steps = address.module.steps();
        let has_keys = !address.key.is_none() || steps.iter().any(|it| !it.key.is_none());
        let program = self.config.program;
        let module = steps.iter().try_fold(program.root(), |module, step| {
            let (call, callee) = module.calls.get(step.name.as_str())?;
            is_single(call.module_call().repetition).then(|| program.module(*callee))
        });
        block.is_some() && !has_keys && module.is_some()
    }

    /// Reports provisioners of a block that cannot run when the object is destroyed. Returns true if there are any.
    fn refuse_end_provisioners(&self, subject: &Subject) -> bool {
        let removed = self.config.removals.block(&subject.address().config());
        let block = subject.block().or(removed.filter(|_| !subject.is_deposed()));
        let module = self.module(subject.module);
        block.is_some_and(|it| self.refuse_provisioners(&module, it, |it| it.at_destroy))
    }

    /// The subject of an object that the configuration does not have.
    pub(crate) fn gone_subject(&self, node: NodeIx, gone: &GoneObject) -> Result<Subject, Failed> {
        let object = |resource: AbsResource| ObjectAddress {
            instance: resource.instance(gone.key.clone()),
            deposed: gone.deposed,
        };
        let index = match self.nodes.kind(node) {
            NodeKind::Declared { .. } => {
                let Some((index, module, _)) = self.declared(node) else { return Err(Failed) };
                let entry = self.resource_entry(node)?;
                let resource = entry.resource().resource.clone();
                let object = object(resource.in_module(module.address.clone()));
                let provider = self.provider_of_object(node, &entry, &object)?;
                return self.subject_at(node, object, &provider, Some(entry), index);
            }
            NodeKind::Orphan { index } => index,
            _ => return Err(Failed),
        };
        let object = object(self.orphans.get(index).address.clone());
        let stored = self.state.previous().provider_of_object(&object).ok_or(Failed)?;
        let node_of_provider = self.provider_node(node).ok_or(Failed)?;
        let provider = ProviderInstance { node: node_of_provider, key: stored.key.clone() };
        // The block still exists if only the module instance is gone, and in a destroy plan, which handles all
        // resources in this way.
        let entry = find_entry(self, &object.instance);
        let module = find_module(self, &object.instance.module).unwrap_or(ModuleIx(0));
        self.subject_at(node, object, &provider, entry, module)
    }

    /// The value of `prevent_destroy`; `None` if it is not set. It must not be ephemeral, even if nothing is
    /// destroyed.
    fn prevent_destroy(
        &self,
        subject: &Subject,
        each: Option<&Each>,
    ) -> Result<Option<Value>, Failed> {
        let Some(entry) = &subject.entry else { return Ok(None) };
        let Some(expr) = entry.resource().lifecycle.prevent_destroy else { return Ok(None) };
        if find_module(self, &subject.address().module).is_none() {
            // The values of a module instance that no longer exists are not known.
            let constant = hir::eval::constant(&entry.item.exprs, expr);
            return Ok(Some(if constant.has_errors() { Value::dynamic() } else { constant.value }));
        }
        let scope = EngineScope::new(self, subject.module, each);
        let value = self.evaluate(&scope, entry, expr, Some(&subject.text))?;
        if value.has_deep(MarkKind::Ephemeral) {
            let detail = format!(
                "Resource instance {} has an ephemeral value for its prevent_destroy argument, \
                 which is invalid because the decision for whether it's okay to destroy instances \
                 of this resource instance must stay consistent between plan and apply.",
                subject.text
            );
            let diagnostic = Diagnostic::new(Summary::EPHEMERAL_PREVENT_DESTROY, detail);
            self.report_at(entry, expr.into(), Some(&subject.text), diagnostic);
            return Err(Failed);
        }
        Ok(Some(value.without_all_marks()))
    }

    /// Refuses the destruction of an object that `prevent_destroy` protects.
    fn check_prevent_destroy(&self, subject: &Subject, each: Option<&Each>) -> Result<(), Failed> {
        let (Some(value), Some(entry)) = (self.prevent_destroy(subject, each)?, &subject.entry)
        else {
            return Ok(());
        };
        let Some(expr) = entry.resource().lifecycle.prevent_destroy else { return Ok(()) };
        let value = convert::convert(&value, &Type::Bool);
        match value.as_ref().map(Value::kind) {
            Ok(Kind::Bool(false) | Kind::Null) => return Ok(()),
            Ok(Kind::Bool(true)) => {}
            _ => {
                let mut detail = format!(
                    "The prevent_destroy argument of {} must be true or false, and known.",
                    subject.text
                );
                if find_module(self, &subject.address().module).is_none() {
                    detail += " Its module instance is not in the configuration, so nothing that \
                               the argument refers to is known. Write true or false, or add the module instance again.";
                }
                let diagnostic = Diagnostic::new(Summary::INVALID_PREVENT_DESTROY, detail);
                self.report_at(entry, expr.into(), Some(&subject.text), diagnostic);
                return Err(Failed);
            }
        }
        let detail = format!(
            "Resource {} has lifecycle.prevent_destroy set, but the plan calls for this resource to be destroyed. To \
             continue, disable lifecycle.prevent_destroy, or leave the resource out of this plan with -exclude={}.",
            subject.text,
            shell::quoted(&subject.text)
        );
        let diagnostic = Diagnostic::new(Summary::PREVENT_DESTROY, detail);
        self.report_at(entry, entry.item.header.into(), Some(&subject.text), diagnostic);
        Err(Failed)
    }
}

impl Walk<'_> {
    /// Asks the provider for the plan of a deletion, if it plans deletions. Returns the private data for the
    /// deletion.
    pub(crate) async fn plan_destroy(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        prior: &Prior,
    ) -> Result<Private, Failed> {
        if !subject.plans_destroy {
            return Ok(prior.private.clone());
        }
        let null = Value::null(subject.ty().clone());
        let request = PlanResourceChangeRequest {
            type_name: subject.type_name(),
            prior_state: prior.value.without_all_marks(),
            proposed_new_state: null.clone(),
            config: null,
            prior_private: prior.private.clone(),
            provider_meta: subject.provider_meta.clone(),
            prior_identity: prior.identity.clone(),
        };
        let response = provider.plan_resource_change(request).await;
        self.report_provider(response.diagnostics, subject.place(), Some(&subject.text))?;
        if response.planned_state.is_some_and(|it| !it.is_null()) {
            let detail = format!(
                "Provider {} planned a non-null destroy value for {}",
                subject.provider.source.for_display(),
                subject.text
            );
            self.report_provider_bug(&subject.text, Summary::INVALID_PLAN, &detail);
            return Err(Failed);
        }
        Ok(response.planned_private)
    }
}

/// The union of both lists, in the order of addresses as text.
fn union(
    stored: &Arc<[ConfigResource]>,
    configured: Arc<[ConfigResource]>,
) -> Arc<[ConfigResource]> {
    if *stored == configured {
        return configured;
    }
    let both = stored.iter().chain(configured.iter());
    let both: TreeMap<String, &ConfigResource> = both.map(|it| (it.to_string(), it)).collect();
    both.into_values().cloned().collect()
}
