//! The turns of a resource's node, as far as all kinds of runs have them.

use std::{rc::Rc, sync::Arc};

use addr::{AbsResource, InstanceKey, ResourceMode};
use db::{Diagnostic, Summary};
use hir::{
    Entry, ItemKind, destroy_time,
    item::{Provisioner, Repetition},
    provider_function::Name,
};
use state::Object;
use values::{MarkKind, Value};

use crate::{
    graph::{EdgeKind, NodeIx, function_uses::needs_configuration, template::Declared},
    memo::{NodeKey, NodeName},
    resource::{
        objects::InstanceValues,
        subject::{Subject, has_conditions},
    },
    schedule::{Failed, Step},
    walk::{
        context::Walk,
        instances::{Each, Keys, Repeated},
        modules::{FoundProvider, ModuleRun},
        outcome::{Facts, Outcome, ResourceValue},
        turn::Turn,
    },
};

/// The dependencies that the instances of a resource need in a run that plans nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct InstanceNeeds {
    /// True if an instance changes, is read or is opened.
    pub(crate) acts: bool,
    /// True if an instance has conditions.
    pub(crate) conditions: bool,
    /// True if provisioners of an instance run.
    pub(crate) provisions: bool,
}

impl InstanceNeeds {
    /// Returns true if the instances need dependencies of this kind.
    pub(crate) fn count(self, kind: EdgeKind) -> bool {
        match kind {
            EdgeKind::Condition => self.acts || self.conditions,
            EdgeKind::Provisioner => self.provisions,
            EdgeKind::Value | EdgeKind::DependsOn | EdgeKind::Provider => self.acts,
            EdgeKind::Repetition
            | EdgeKind::Import
            | EdgeKind::Order
            | EdgeKind::Partial
            | EdgeKind::Hold => false,
        }
    }
}

impl Walk<'_> {
    /// Reports provisioners that do not exist, among those that `counts` accepts, and expressions that have no value
    /// when a resource is destroyed. Returns true if there are any. Analysis reports both too, but it may not have
    /// run.
    pub(crate) fn refuse_provisioners(
        &self,
        module: &ModuleRun,
        entry: &Entry,
        counts: impl Fn(&Provisioner) -> bool,
    ) -> bool {
        let mut refused = false;
        let provisioners = provisioners_of(entry);
        for it in provisioners.iter().filter(|it| counts(it)) {
            if hir::provisioner::schema_of(&it.kind, &self.config.program.provisioners).is_none() {
                let what = format!("the provisioner \"{}\"", it.kind);
                self.report_unsupported(entry, it.node.into(), &what);
                refused = true;
            }
        }
        if !provisioners.iter().any(|it| it.at_destroy && counts(it)) {
            return refused;
        }
        let program = self.config.program;
        let module = program.module(module.id());
        let is_of_configuration = |it: Name<'_>| needs_configuration(program, module, it);
        for found in destroy_time::refused(&entry.item, &is_of_configuration) {
            let summary = Summary::INVALID_DESTROY_REFERENCE;
            let diagnostic = Diagnostic::new(summary, found.detail);
            self.report_at(entry, found.expr.into(), None, diagnostic);
            refused = true;
        }
        refused
    }

    /// The instances of a resource, from its expansion, whose node directly precedes it. `None` if that failed.
    pub(crate) fn expanded(&self, node: NodeIx) -> Option<Rc<Keys>> {
        self.nodes.keys(NodeIx(node.0 - 1))
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

    /// The memo's key of a resource.
    pub(crate) fn resource_key(&self, module: &ModuleRun, entry: &Entry) -> NodeKey {
        NodeKey {
            module: module.address.clone(),
            node: NodeName::Resource(entry.resource().resource.clone()),
        }
    }

    /// Ends the first turn of a resource: activates the edges that `counts` accepts.
    pub(crate) fn wait_for_needs(
        &self,
        node: NodeIx,
        keys: Rc<Keys>,
        counts: impl Fn(NodeIx, EdgeKind) -> bool,
    ) {
        self.nodes.change(|graph| graph.activate_some(node, counts));
        self.set_outcome(node, Outcome::Resource(Box::new(ResourceValue::new(keys))));
    }

    /// Begins the second turn of a resource in a run that plans nothing. Instances that have conditions, are
    /// ephemeral or fulfil `runs` are tasks; the others keep their objects.
    pub(crate) fn begin_instances(
        &self,
        node: NodeIx,
        entry: &Entry,
        runs: impl Fn(&Each) -> bool,
    ) -> Step<Each> {
        let inherited = self.nodes.inherited(node);
        self.nodes.facts(node, |it| {
            *it = Facts { version: it.version, prepared: true, ..inherited };
        });
        let Some(keys) = self.nodes.keys(node) else { return Step::Failed };
        let all_run =
            has_conditions(entry) || entry.resource().resource.mode == ResourceMode::Ephemeral;
        let mut tasks = Vec::new();
        for each in &keys.instances {
            if all_run || runs(each) {
                tasks.push(each.clone());
                continue;
            }
            let kept = self.subject(node, entry, &each.key);
            if kept.and_then(|subject| self.keep_as_is(&subject, each)).is_err() {
                return Step::Failed;
            }
        }
        Step::Tasks(tasks)
    }

    /// Handles an instance that does not change: references see the object in the state.
    pub(crate) fn keep_as_is(&self, subject: &Subject, each: &Each) -> Result<(), Failed> {
        if let Some(object) = self.object(subject) {
            let value = self.object_value(subject, &object)?;
            self.set_instance(subject.node, each, value);
        }
        Ok(())
    }

    /// Handles an instance that does not change and that has postconditions.
    pub(crate) async fn keep_instance(
        &self,
        subject: &Subject,
        entry: &Entry,
        each: &Each,
    ) -> Result<(), Failed> {
        let null = || Value::null(subject.ty().clone());
        let value = self.state_value(subject).unwrap_or_else(null);
        self.set_instance(subject.node, each, value.clone());
        self.instance_conditions(subject.module, entry, subject.address(), each, Some(value)).await
    }

    /// Sets the value of a resource from its objects, if its instances are handled by other nodes or not at all.
    pub(crate) fn value_from_objects(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        entry: &Entry,
        objects: impl FnOnce(&AbsResource) -> Vec<(InstanceKey, Arc<Object>)>,
    ) -> Turn {
        let resource = entry.resource();
        let address = resource.resource.clone().in_module(module.address.clone());
        let mut values = InstanceValues::new();
        let mut instances = Vec::new();
        for (key, object) in objects(&address) {
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
        let mut value = ResourceValue::new(Rc::new(Keys::new(repeated, instances)));
        value.instances = values;
        self.set_outcome(node, Outcome::Resource(Box::new(value)));
        Turn::Done { keeps: false }
    }

    /// Makes a node wait for the provider configuration that a state or a plan names. Returns true once it need
    /// not wait any more.
    pub(crate) fn wait_for_provider(
        &self,
        node: NodeIx,
        provider: &addr::ProviderConfigRef,
        address: &str,
    ) -> Result<bool, Failed> {
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
                self.report_about(address, Summary::MISSING_PROVIDER_CONFIGURATION, detail);
                Err(Failed)
            }
        }
    }
}

/// The provisioners of a `resource` or a `removed` block.
pub(crate) fn provisioners_of(entry: &Entry) -> &[Provisioner] {
    match &entry.item.kind {
        ItemKind::Resource(it) => &it.provisioners,
        ItemKind::Removed(it) => &it.provisioners,
        _ => &[],
    }
}
