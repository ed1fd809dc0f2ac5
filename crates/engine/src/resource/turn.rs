//! The turns of a resource's node.

use std::{rc::Rc, sync::Arc};

use addr::{InstanceKey, ResourceInstance, ResourceMode};
use db::Diagnostic;
use hir::{
    Entry, destroy_time,
    item::{IgnoreChanges, Provisioner, Repetition},
    unsupported,
};
use state::{Action, Object, Reason, State};
use values::MarkKind;

use super::{InstanceValues, Subject, has_conditions};
use crate::{
    graph::{Declared, EdgeKind, NodeIx},
    memo::{self, Inputs, InstanceMemo, NodeKey, NodeName, Planned, Version},
    walk::{
        Each, Facts, Failed, Keys, ModuleRun, Outcome, Phase, Repeated, ResourceValue, Turn, Walk,
        Work,
    },
};

impl Walk<'_> {
    /// Runs one turn of a declared resource.
    pub(crate) fn run_resource(&self, node: NodeIx, module: &Rc<ModuleRun>, entry: &Entry) -> Turn {
        let resource = entry.resource();
        let managed = resource.resource.mode == ResourceMode::Managed;
        match self.phase() {
            Phase::PlanDestroy if managed => return self.value_from_state(node, module, entry),
            Phase::ApplyDestroy if resource.resource.mode != ResourceMode::Ephemeral => {
                return self.value_from_state(node, module, entry);
            }
            _ => {}
        }
        let prepared = self.nodes.facts(node, |it| std::mem::replace(&mut it.prepared, true));
        if !prepared {
            if self.refuse_unsupported(entry) {
                return Turn::Failed;
            }
            return match self.phase() {
                Phase::Plan | Phase::PlanDestroy => self.prepare_plan(node, module, entry),
                Phase::Apply | Phase::ApplyDestroy | Phase::Import => {
                    self.prepare_apply(node, module, entry)
                }
            };
        }
        let turn = match self.phase() {
            Phase::Plan | Phase::PlanDestroy => self.begin_plan(node, module, entry),
            Phase::Apply | Phase::ApplyDestroy | Phase::Import => {
                self.begin_apply(node, module, entry)
            }
        };
        match turn {
            Turn::Tasks(tasks) if tasks.is_empty() => {
                Turn::Done { keeps: self.conclude(node, true) }
            }
            turn => turn,
        }
    }

    /// Reports parts of the block that would change the result and that this version does not run. Returns true if
    /// there are any.
    fn refuse_unsupported(&self, entry: &Entry) -> bool {
        let resource = entry.resource();
        let lifecycle = &resource.lifecycle;
        let mut refused = false;
        let mut refuse = |what: &str, at: hir::At| {
            self.report_unsupported(entry, at, what);
            refused = true;
        };
        let header = entry.item.header.into();
        if lifecycle.create_before_destroy {
            refuse("\"create_before_destroy = true\"", header);
        }
        if let Some(expr) = lifecycle.replace_triggered_by.first() {
            refuse("\"replace_triggered_by\"", (*expr).into());
        }
        if let Some(provider) = resource.provider.as_ref().filter(|it| it.key.is_some()) {
            refuse("provider instances chosen by a key", provider.node.into());
        }
        refused | self.refuse_provisioners(entry, |_| true)
    }

    /// Reports provisioners that this version does not have, among those that `counts` accepts, and references
    /// that have no value when a resource is destroyed. Returns true if there are any. Analysis reports both too,
    /// but it may not have run.
    pub(crate) fn refuse_provisioners(
        &self,
        entry: &Entry,
        counts: impl Fn(&Provisioner) -> bool,
    ) -> bool {
        let mut refused = false;
        for it in entry.resource().provisioners.iter().filter(|it| counts(it)) {
            if let Some(what) = unsupported::provisioner(&it.kind) {
                self.report_unsupported(entry, it.node.into(), &what);
                refused = true;
            }
        }
        if !entry.resource().provisioners.iter().any(|it| it.at_destroy && counts(it)) {
            return refused;
        }
        for reference in destroy_time::refused(&entry.item) {
            let (summary, detail) = (destroy_time::SUMMARY, destroy_time::DETAIL);
            let diagnostic = Diagnostic::error(destroy_time::ID, summary, detail);
            self.report_at(entry, reference.into(), None, diagnostic);
            refused = true;
        }
        refused
    }

    pub(super) fn expanded(&self, node: NodeIx) -> Option<Rc<Keys>> {
        self.nodes.keys(NodeIx(node.0 - 1))
    }

    fn prepare_plan(&self, node: NodeIx, module: &ModuleRun, entry: &Entry) -> Turn {
        let Some(keys) = self.expanded(node) else { return Turn::Failed };
        let any_gone = !self.gone_keys(module, entry, &keys).is_empty();
        self.nodes.change(|graph| match keys.instances.is_empty() {
            false => graph.activate(node, |kind| kind != EdgeKind::Provisioner),
            true => graph.activate_some(node, |dependency, kind| match kind {
                EdgeKind::Provider => any_gone,
                EdgeKind::Value | EdgeKind::DependsOn => self.opens_nothing(module, dependency),
                _ => false,
            }),
        });
        self.set_outcome(node, Outcome::Resource(Box::new(ResourceValue::new(keys))));
        Turn::Again
    }

    /// Returns true if a run of `dependency` opens no ephemeral resource and starts no provider. A dependent of a
    /// resource waits for all dependencies of that resource, even if the resource itself is not run; that order
    /// alone must open nothing.
    pub(crate) fn opens_nothing(&self, module: &ModuleRun, dependency: NodeIx) -> bool {
        let template = &module.template;
        let local = dependency.0.checked_sub(module.base).map(|it| it as usize);
        let Some((local, declared)) =
            local.and_then(|local| Some((local, template.nodes.get(local)?)))
        else {
            return true;
        };
        let is_ephemeral = match declared {
            Declared::ModuleOutput { call, output } => {
                let (_, callee) =
                    &self.config.program.module(template.module).calls[&call.module_call().name];
                self.config.program.module(*callee).outputs[output].output().ephemeral
            }
            _ => false,
        };
        !template.lazy[local] && !is_ephemeral
    }

    /// The instances that the state has and the configuration does not, with the reason of their deletion.
    fn gone_keys(
        &self,
        module: &ModuleRun,
        entry: &Entry,
        keys: &Keys,
    ) -> Vec<(InstanceKey, Reason)> {
        if self.phase() != Phase::Plan {
            return Vec::new();
        }
        let address = entry.resource().resource.clone().in_module(module.address.clone());
        let Some(resource) = self.state.previous().resource(&address) else { return Vec::new() };
        let gone = resource.instances.keys().filter(|key| !keys.contains(key));
        gone.map(|key| (key.clone(), gone_reason(keys.repeated, key))).collect()
    }

    fn begin_plan(&self, node: NodeIx, module: &Rc<ModuleRun>, entry: &Entry) -> Turn {
        let mode = entry.resource().resource.mode;
        // A dependent needs a value that the memo did not keep: only the expansion has the keys.
        let keys = self.nodes.keys(node).or_else(|| self.expanded(node));
        let Some(keys) = keys else { return Turn::Failed };
        if mode == ResourceMode::Ephemeral
            && let Some(turn) = self.unchanged_ephemeral(node, module, entry, &keys)
        {
            return turn;
        }
        let mut inherited = self.nodes.inherited(node);
        inherited.pending |= self.is_call_pending(module);
        inherited.waits = mode != ResourceMode::Managed && self.waits(node, entry, &inherited);
        self.nodes.facts(node, |it| {
            *it = Facts { version: it.version, prepared: true, forced: it.forced, ..inherited };
        });
        let mut tasks = Vec::new();
        let mut before = Vec::new();
        for each in &keys.instances {
            let planned = match mode {
                ResourceMode::Ephemeral => None,
                _ => self.planned_before(node, module, entry, each),
            };
            match planned {
                Some((address, planned)) => before.push((address, Some(each), planned)),
                None => tasks.push(Work::Instance(each.clone())),
            }
        }
        for (key, reason) in self.gone_keys(module, entry, &keys) {
            match self.ended_before(node, &key, Some(reason)) {
                Some((subject, planned)) => before.push((subject.address, None, planned)),
                None => tasks.push(Work::Gone(key, Some(reason))),
            }
        }
        if !tasks.is_empty() && self.wait_for_values(node) {
            return Turn::Again;
        }
        for (address, each, planned) in before {
            self.take_change(node, &address, &planned);
            if let Some(each) = each {
                self.set_instance(node, each, planned.value.clone());
            }
        }
        Turn::Tasks(tasks)
    }

    /// Skips an ephemeral resource whose inputs are the same as in the last run, unless a dependent needs its
    /// value. `None` if the resource must be opened.
    fn unchanged_ephemeral(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        entry: &Entry,
        keys: &Rc<Keys>,
    ) -> Option<Turn> {
        let forced = self.nodes.facts(node, |it| it.forced);
        if forced || has_conditions(entry) {
            self.set_outcome(
                node,
                Outcome::Resource(Box::new(ResourceValue::new(Rc::clone(keys)))),
            );
            return None;
        }
        let key = self.resource_key(module, entry);
        let (version, _) =
            self.reuse.memo(|memo| memo.unchanged(&key, &entry.item, self.inputs(node, &[])))?;
        self.set_outcome(node, Outcome::Unchanged);
        self.settle_facts(node, version, true);
        Some(Turn::Done { keeps: true })
    }

    fn resource_key(&self, module: &ModuleRun, entry: &Entry) -> NodeKey {
        NodeKey {
            module: module.address.clone(),
            node: NodeName::Resource(entry.resource().resource.clone()),
        }
    }

    /// The plan of an instance from the last run, if none of its inputs changed.
    fn planned_before(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        entry: &Entry,
        each: &Each,
    ) -> Option<(ResourceInstance, Rc<Planned>)> {
        let resource = entry.resource();
        if has_conditions(entry) {
            return None;
        }
        let inputs = self.instance_inputs(node, each);
        let address =
            resource.resource.clone().in_module(module.address.clone()).instance(each.key.clone());
        let prior = self.state.previous().current(&address);
        let planned = self.reuse.memo(|memo| {
            let known = memo.instance(&module.address, &resource.resource, &each.key)?;
            let is_same = is_item(known.item.as_ref(), Some(&entry.item))
                && known.inputs == inputs
                && known.prior.as_ref() == prior;
            is_same.then(|| Rc::clone(&known.planned))
        });
        Some((address, planned?))
    }

    /// The inputs of the plan of an instance. They include whether it waits for a pending change: a data source
    /// that waits is planned differently, even if all values are the same.
    fn instance_inputs(&self, node: NodeIx, each: &Each) -> Inputs {
        let waits = self.nodes.facts(node, |it| it.waits);
        let waits = if waits { Version::PENDING } else { Version::default() };
        self.inputs(node, &[self.each_version(each), waits])
    }

    /// The plan for the deletion of an instance from the last run, if none of its inputs changed.
    fn ended_before(
        &self,
        node: NodeIx,
        key: &InstanceKey,
        reason: Option<Reason>,
    ) -> Option<(Subject, Rc<Planned>)> {
        let subject = self.gone_subject(node, key).ok()?;
        if self.phase() != Phase::Plan || is_guarded(&subject) {
            return None;
        }
        let inputs = self.end_inputs(&subject);
        let mut planned = self.reuse.memo(|memo| {
            let address = &subject.address;
            let known = memo.instance(&address.module, &address.resource, &address.key)?;
            let item = subject.entry.as_ref().map(|entry| &entry.item);
            let same = is_item(known.item.as_ref(), item)
                && known.inputs == inputs
                && known.prior.as_ref() == self.state.previous().current(address);
            same.then(|| Rc::clone(&known.planned))
        })?;
        if let Some(change) = &planned.change
            && change.reason != reason
            && let Some(change) = &mut Rc::make_mut(&mut planned).change
        {
            change.reason = reason;
        }
        Some((subject, planned))
    }

    /// The inputs of the plan for a deletion: only the provider, and a constant that distinguishes it from other
    /// plans.
    fn end_inputs(&self, subject: &Subject) -> Inputs {
        let provider = self.nodes.facts(subject.provider_node, |it| it.version);
        self.reuse.memo(|memo| memo.inputs([provider, Version::END].into_iter()))
    }

    /// Memoizes the plan for the deletion of an instance.
    pub(crate) fn remember_ended(&self, subject: &Subject, planned: Planned) {
        if self.phase() != Phase::Plan || is_guarded(subject) {
            return;
        }
        let memo = InstanceMemo {
            item: subject.entry.as_ref().map(|entry| Arc::clone(&entry.item)),
            inputs: self.end_inputs(subject),
            config: self.reuse.memo(|memo| memo.digest(&[b"end"])),
            prior: self.state.previous().current(&subject.address).cloned(),
            planned: Rc::new(planned),
        };
        let ResourceParts { module, resource, key } = ResourceParts::of(subject);
        self.reuse.change(|it| it.remember_instance(module, resource, key, memo));
    }

    /// Adds the plan of an instance to the results of the run, and sets the value that references see.
    pub(crate) fn take_planned(&self, subject: &Subject, each: &Each, planned: &Planned) {
        self.take_change(subject.node, &subject.address, planned);
        self.set_instance(subject.node, each, planned.value.clone());
    }

    /// Adds the plan of an instance to the results of the run, without a value for references.
    fn take_change(&self, node: NodeIx, address: &ResourceInstance, planned: &Planned) {
        let current = self.state.object(address);
        match (&planned.refreshed, current) {
            (Some(object), Some(current)) if Arc::ptr_eq(object, &current) => {}
            (Some(object), _) => {
                let provider = self.provider_node(node).map(|it| self.provider_ref(it));
                if let Some(provider) = provider {
                    self.state
                        .change(|state| state.set_current(address, &provider, Arc::clone(object)));
                }
            }
            (None, Some(_)) => {
                self.state.change(|state| state.remove_current(address));
            }
            (None, None) => {}
        }
        if let Some(change) = &planned.change {
            let counts = !matches!(change.change.action, Action::NoOp | Action::Read);
            self.nodes.facts(node, |it| it.changes |= counts);
            self.emit(crate::event::Event::Planned {
                address: address.clone(),
                action: change.change.action,
                reason: change.reason,
            });
            self.decisions.add_change(change.clone());
        }
        planned.drift.iter().for_each(|it| self.decisions.add_drift(it.clone()));
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
        let memo = InstanceMemo {
            item: Some(Arc::clone(&entry.item)),
            inputs: self.instance_inputs(subject.node, each),
            config,
            prior: self.state.previous().current(&subject.address).cloned(),
            planned: Rc::new(planned),
        };
        let ResourceParts { module, resource, key } = ResourceParts::of(subject);
        self.reuse.change(|it| it.remember_instance(module, resource, key, memo));
    }

    /// The memoized plan of an instance whose configuration, prior state and provider configuration are the same,
    /// even if their inputs changed.
    pub(crate) fn planned_same(&self, subject: &Subject, config: memo::Digest) -> Option<Planned> {
        let address = &subject.address;
        self.reuse.memo(|memo| {
            let known = memo.instance(&address.module, &address.resource, &address.key)?;
            let same_item = match (&known.item, &subject.entry) {
                (Some(item), Some(entry)) => {
                    memo::is_same(item, &entry.item) || same_lifecycle(item, &entry.item)
                }
                _ => false,
            };
            let prior = self.state.previous().current(address);
            let same = same_item && known.config == config && known.prior.as_ref() == prior;
            same.then(|| Planned::clone(&known.planned))
        })
    }

    /// Ends a resource's node after its tasks. Returns true if ephemeral resources of it stay open.
    pub(crate) fn conclude(&self, node: NodeIx, ok: bool) -> bool {
        let Some((_, module, local)) = self.declared(node) else {
            self.nodes.facts(node, |it| it.pending |= it.changes);
            return false;
        };
        let Declared::Resource(entry) = &module.template.nodes[local as usize] else {
            return false;
        };
        let is_ephemeral = entry.resource().resource.mode == ResourceMode::Ephemeral;
        self.nodes.facts(node, |it| {
            it.pending |= it.changes;
            if !is_ephemeral {
                it.opened = Rc::default();
            }
        });
        if ok
            && (is_ephemeral || self.nodes.graph(|graph| graph.has_users(node)))
            && let Some(value) = self.nodes.value(node)
        {
            let key = self.resource_key(&module, entry);
            let inputs = self.inputs(node, &[]);
            let version = self.reuse.change(|memo| memo.remember(key, &entry.item, inputs, &value));
            self.nodes.facts(node, |it| it.version = version);
        }
        is_ephemeral
            && (self.nodes.value(node).is_some_and(|it| it.has_deep(MarkKind::Ephemeral)) || !ok)
    }

    /// Sets the value of a resource from the objects in the state, if its instances are handled by other nodes or
    /// not at all.
    fn value_from_state(&self, node: NodeIx, module: &Rc<ModuleRun>, entry: &Entry) -> Turn {
        let resource = entry.resource();
        let address = resource.resource.clone().in_module(module.address.clone());
        let objects = self.objects_of(&address);
        let mut values = InstanceValues::new();
        let mut instances = Vec::new();
        for (key, object) in objects {
            let Ok(subject) = self.subject(node, entry, &key) else { return Turn::Failed };
            let Ok(value) = self.object_value(&subject, &object) else { return Turn::Failed };
            values.insert(key.clone(), value);
            instances.push(Each { key, value: None });
        }
        let repeated = match resource.repetition {
            Repetition::Single => Repeated::Single,
            Repetition::Count(_) => Repeated::Count,
            Repetition::ForEach(_) => Repeated::ForEach,
            Repetition::Enabled(_) => Repeated::Enabled,
        };
        let mut value = ResourceValue::new(Rc::new(Keys { repeated, instances }));
        value.instances = values;
        self.set_outcome(node, Outcome::Resource(Box::new(value)));
        Turn::Done { keeps: false }
    }

    /// The objects of a resource: as refreshed in a plan, and as before the run in an apply.
    fn objects_of(&self, address: &addr::AbsResource) -> Vec<(InstanceKey, Arc<Object>)> {
        let objects = |state: &State| {
            let instances = state.resource(address).into_iter().flat_map(|it| it.instances.iter());
            instances
                .filter_map(|(key, it)| Some((key.clone(), Arc::clone(it.current.as_ref()?))))
                .collect()
        };
        match self.phase() {
            Phase::PlanDestroy => self.state.read(objects),
            _ => objects(self.state.previous()),
        }
    }

    /// Runs one turn of a resource that only the state has.
    pub(crate) fn run_orphan(&self, node: NodeIx, index: u32) -> Turn {
        let orphan = self.implied.orphan(index);
        if orphan.address.resource.mode != ResourceMode::Managed {
            if self.phase() == Phase::Plan {
                for (key, _) in &orphan.instances {
                    self.state.change(|state| {
                        state.remove_current(&orphan.address.instance(key.clone()))
                    });
                }
            }
            return Turn::Done { keeps: false };
        }
        match self.wait_for_provider(node, &orphan.provider, &orphan.address.to_string()) {
            Ok(true) => {}
            Ok(false) => return Turn::Again,
            Err(Failed) => return Turn::Failed,
        }
        let mut works = Vec::new();
        let mut before = Vec::new();
        for (key, reason) in &orphan.instances {
            match self.ended_before(node, key, *reason) {
                Some(ended) => before.push(ended),
                None => works.push(Work::Gone(key.clone(), *reason)),
            }
        }
        if !works.is_empty() && self.wait_for_values(node) {
            return Turn::Again;
        }
        before
            .iter()
            .for_each(|(subject, planned)| self.take_change(node, &subject.address, planned));
        match works.is_empty() {
            true => Turn::Done { keeps: self.conclude(node, true) },
            false => Turn::Tasks(works),
        }
    }

    /// Makes a node wait for the provider configuration that a state or a plan names. Returns true once it need
    /// not wait any more.
    pub(crate) fn wait_for_provider(
        &self,
        node: NodeIx,
        provider: &addr::ProviderConfigRef,
        address: &str,
    ) -> Result<bool, Failed> {
        use crate::walk::FoundProvider;
        if self.nodes.facts(node, |it| it.prepared) {
            return Ok(true);
        }
        match self.find_provider_ref(provider) {
            FoundProvider::Node(found) => {
                self.nodes.change(|graph| graph.add_active_edge(found, node, EdgeKind::Provider));
                self.nodes.facts(node, |it| it.prepared = true);
                Ok(false)
            }
            FoundProvider::After(call) => {
                self.nodes.change(|graph| graph.add_active_edge(call, node, EdgeKind::Order));
                Ok(false)
            }
            FoundProvider::Missing => {
                let detail = format!(
                    "To work with {address} its original provider configuration at {provider} is \
                     required, but it has been removed. This occurs when a provider configuration \
                     is removed while objects created by that provider still exist in the state. \
                     Re-add the provider configuration to destroy {address}, after which you can \
                     remove the provider configuration again."
                );
                self.report_about(
                    address,
                    "missing-provider-configuration",
                    "Provider configuration not present",
                    detail,
                );
                Err(Failed)
            }
        }
    }
}

struct ResourceParts {
    module: addr::ModuleInstance,
    resource: addr::Resource,
    key: InstanceKey,
}

impl ResourceParts {
    fn of(subject: &Subject) -> ResourceParts {
        let it = &subject.address;
        ResourceParts {
            module: it.module.clone(),
            resource: it.resource.clone(),
            key: it.key.clone(),
        }
    }
}

/// Returns true if the block affects the deletion of an instance, by `prevent_destroy` or by provisioners.
fn is_guarded(subject: &Subject) -> bool {
    subject.entry.as_ref().is_some_and(|entry| {
        let resource = entry.resource();
        resource.lifecycle.prevent_destroy.is_some() || !resource.provisioners.is_empty()
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
        it.lifecycle.ignore_changes == IgnoreChanges::None && it.lifecycle.prevent_destroy.is_none()
    };
    plain(a) && plain(b)
}

fn gone_reason(repeated: Repeated, key: &InstanceKey) -> Reason {
    match (repeated, key) {
        (Repeated::Count, InstanceKey::Int(_)) => Reason::DeleteBecauseCountIndex,
        (Repeated::ForEach, InstanceKey::String(_)) => Reason::DeleteBecauseEachKey,
        (Repeated::Enabled, InstanceKey::None) => Reason::DeleteBecauseEnabledFalse,
        _ => Reason::DeleteBecauseWrongRepetition,
    }
}
