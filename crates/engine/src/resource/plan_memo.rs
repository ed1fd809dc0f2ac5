//! The memo of planned instances: what the next plan of a session takes over, and how it enters the results of the
//! plan.

use std::{rc::Rc, sync::Arc};

use addr::{ConfigResource, ProviderConfigRef};
use hir::{Entry, item::IgnoreChanges};
use state::{Action, ObjectAddress};

use crate::{
    graph::{NodeIx, NodeKind},
    memo::{self, Inputs, ObjectMemo, Planned, Version},
    resource::{
        subject::{Subject, has_conditions},
        triggers::is_triggered,
    },
    runs::{orphans::GoneObject, plan::PlanRun, planning::Planning},
    walk::{instances::Each, modules::ModuleRun},
};

impl Planning<'_> {
    /// The plan of an instance from the last run, if none of its inputs changed.
    pub(crate) fn planned_before(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        entry: &Entry,
        each: &Each,
    ) -> Option<(ObjectAddress, Rc<Planned>)> {
        let resource = entry.resource();
        if self.reuse.is_first_run() || has_conditions(entry) || is_triggered(entry) {
            return None;
        }
        let config =
            ConfigResource { module: module.path.clone(), resource: resource.resource.clone() };
        let inputs = self.instance_inputs(node, &config, each);
        let address =
            resource.resource.clone().in_module(module.address.clone()).instance(each.key.clone());
        let object = ObjectAddress::from(address);
        let prior = self.state.previous().object(&object);
        let planned = self.reuse.memo(|memo| {
            let known = memo.object(&object)?;
            let is_same = is_item(known.item.as_ref(), Some(&entry.item))
                && known.inputs == inputs
                && known.prior.as_ref() == prior;
            is_same.then(|| Rc::clone(&known.planned))
        });
        Some((object, planned?))
    }

    /// The inputs of the plan of an instance. They include facts that no value shows: whether it waits for a pending
    /// change, which defers the reading of a data source, the order of a replacement, and the instance of the provider
    /// that a module call passes.
    fn instance_inputs(&self, node: NodeIx, config: &ConfigResource, each: &Each) -> Inputs {
        let waits = self.nodes.facts(node, |it| it.waits);
        let waits = if waits { Version::PENDING } else { Version::default() };
        let order = match self.creates_first(config) {
            true => Version::CREATE_FIRST,
            false => Version::default(),
        };
        self.inputs(node, &[self.each_version(each), waits, order, self.passed_version(node)])
    }

    /// Adds the plan of an instance to the results of the run, and sets the value that references see.
    pub(crate) fn take_planned(&self, subject: &Subject, each: &Each, planned: &Planned) {
        self.take_change(subject.node, &subject.object, planned);
        self.set_instance(subject.node, each, planned.value.clone());
    }

    /// Adds the plan of an object to the results of the run, without a value for references.
    pub(crate) fn take_change(&self, node: NodeIx, address: &ObjectAddress, planned: &Planned) {
        let current = self.state.object(address);
        match (&planned.refreshed, current) {
            (Some(object), Some(current)) if Arc::ptr_eq(object, &current) => {}
            (Some(object), _) => {
                if let Some(provider) = self.provider_of_node(node, address) {
                    let object = Some(Arc::clone(object));
                    self.state.change(|state| state.set_object(address, &provider, object));
                }
            }
            (None, Some(_)) => self.state.change(|state| state.remove_object(address)),
            (None, None) => {}
        }
        if let Some(change) = &planned.change {
            let counts = !matches!(change.change.action, Action::NoOp | Action::Read);
            self.nodes.facts(node, |it| it.changes |= counts);
            self.add_change(address, change);
        }
        planned.drift.iter().for_each(|it| self.decisions.add_drift(it.clone()));
    }

    /// The provider configuration that manages an object of a resource's node.
    fn provider_of_node(
        &self,
        node: NodeIx,
        object: &ObjectAddress,
    ) -> Option<Arc<ProviderConfigRef>> {
        let NodeKind::Declared { .. } = self.nodes.kind(node) else {
            return self.state.previous().provider_of_object(object).cloned().map(Arc::new);
        };
        let entry = self.resource_entry(node).ok()?;
        let instance = self.provider_of_object(node, &entry, object).ok()?;
        Some(self.provider_ref_of(&instance))
    }

    /// Memoizes the plan of an instance.
    pub(crate) fn remember_planned(
        &self,
        subject: &Subject,
        each: &Each,
        config: memo::Digest,
        planned: Planned,
    ) {
        let Some(entry) = &subject.entry else { return };
        if !self.reuse.memo(memo::Memo::is_kept) {
            return;
        }
        let memo = ObjectMemo {
            item: Some(Arc::clone(&entry.item)),
            inputs: self.instance_inputs(subject.node, &subject.address().config(), each),
            config,
            provider: self.provider_digest(subject),
            prior: self.state.previous().object(&subject.object).cloned(),
            planned: Rc::new(planned),
        };
        self.reuse.change(|it| it.remember_object(subject.object.clone(), memo));
    }

    /// The memoized plan of an instance whose configuration, prior state and provider configuration are the same,
    /// even if their inputs changed.
    pub(crate) fn planned_same(&self, subject: &Subject, config: memo::Digest) -> Option<Planned> {
        let import = self.import_to(subject.address());
        let importing = import.as_ref().map(|it| &it.importing);
        self.reuse.memo(|memo| {
            let known = memo.object(&subject.object)?;
            let same_item = match (&known.item, &subject.entry) {
                (Some(_), Some(entry)) if is_triggered(entry) => false,
                (Some(item), Some(entry)) => {
                    memo::is_same(item, &entry.item) || same_lifecycle(item, &entry.item)
                }
                _ => false,
            };
            let prior = self.state.previous().object(&subject.object);
            let imported =
                known.planned.change.as_ref().and_then(|it| it.change.importing.as_deref());
            let same = same_item
                && known.config == config
                && known.prior.as_ref() == prior
                && imported == importing;
            same.then(|| Planned::clone(&known.planned))
        })
    }
}

impl PlanRun<'_> {
    /// The plan for the deletion of an object from the last run, if none of its inputs changed.
    pub(crate) fn ended_before(
        &self,
        node: NodeIx,
        gone: &GoneObject,
    ) -> Option<(Subject, Rc<Planned>)> {
        let subject = self.gone_subject(node, gone).ok()?;
        if is_guarded(&subject) || self.is_kept(&subject) {
            return None;
        }
        let inputs = self.end_inputs(&subject);
        let planned = self.reuse.memo(|memo| {
            let known = memo.object(&subject.object)?;
            let item = subject.block().map(|entry| &entry.item);
            let same = is_item(known.item.as_ref(), item)
                && known.inputs == inputs
                && known.prior.as_ref() == self.state.previous().object(&subject.object);
            same.then(|| Rc::clone(&known.planned))
        })?;
        // The action may follow from the reason.
        let is_for_this_reason = planned.change.as_ref().is_none_or(|it| it.reason == gone.reason);
        is_for_this_reason.then_some((subject, planned))
    }

    /// Returns true if the state or a `removed` block may keep the object from destruction.
    fn is_kept(&self, subject: &Subject) -> bool {
        let stored = self.state.previous().object(&subject.object);
        stored.is_some_and(|it| it.skip_destroy)
            || self.config.removals.block(&subject.address().config()).is_some()
    }

    /// The inputs of the plan for a deletion: only the provider, and a constant that distinguishes it from other
    /// plans.
    fn end_inputs(&self, subject: &Subject) -> Inputs {
        let provider = self.nodes.facts(subject.provider_node, |it| it.version);
        self.reuse.memo(|memo| memo.inputs([provider, Version::END].into_iter()))
    }

    /// Memoizes the plan for the deletion of an object.
    pub(crate) fn remember_ended(&self, subject: &Subject, planned: Planned) {
        if is_guarded(subject) || self.is_kept(subject) || !self.reuse.memo(memo::Memo::is_kept) {
            return;
        }
        let memo = ObjectMemo {
            item: subject.block().map(|entry| Arc::clone(&entry.item)),
            inputs: self.end_inputs(subject),
            config: self.reuse.memo(|memo| memo.digest(&[b"end"])),
            provider: None,
            prior: self.state.previous().object(&subject.object).cloned(),
            planned: Rc::new(planned),
        };
        self.reuse.change(|it| it.remember_object(subject.object.clone(), memo));
    }
}

/// Returns true if the block affects the deletion of an object, by its `lifecycle` or by provisioners.
fn is_guarded(subject: &Subject) -> bool {
    subject.block().is_some_and(|entry| {
        let resource = entry.resource();
        resource.lifecycle.prevent_destroy.is_some()
            || resource.lifecycle.skip_destroy
            || !resource.provisioners.is_empty()
    })
}

/// Returns true if two blocks are equal, or if both are missing because only the state has the resource.
fn is_item(known: Option<&Arc<hir::Item>>, item: Option<&Arc<hir::Item>>) -> bool {
    match (known, item) {
        (Some(known), Some(item)) => memo::is_same(known, item),
        (None, None) => true,
        _ => false,
    }
}

/// Returns true if no setting of either block affects the plan beyond the arguments, which are compared by value.
fn same_lifecycle(a: &hir::Item, b: &hir::Item) -> bool {
    let (Some(a), Some(b)) = (a.kind.as_resource(), b.kind.as_resource()) else { return false };
    let plain = |it: &hir::item::Resource| {
        it.lifecycle.ignore_changes == IgnoreChanges::None
            && it.lifecycle.prevent_destroy.is_none()
            && !it.lifecycle.skip_destroy
            && it.lifecycle.replace_triggered_by.is_empty()
    };
    plain(a) && plain(b)
}
