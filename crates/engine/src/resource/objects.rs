//! Functions that all resource modes share.

use addr::{InstanceKey, ProviderConfigRef, ResourceInstance, ResourceMode};
use db::{Diagnostic, Summary};
use hir::Entry;
use sorted::TreeMap;
use state::{CheckKind, Object, ObjectAddress};
use values::Value;

use crate::{
    graph::{ModuleIx, NodeIx, template::Declared},
    resource::{subject::Subject, write_only_texts::WriteOnlyTexts},
    schedule::Failed,
    walk::{
        checks::{Checked, ConditionKind},
        context::Walk,
        instances::Each,
        outcome::ProviderInstance,
        scope::{EngineScope, OwnObject},
    },
};

impl Walk<'_> {
    /// The block of a declared resource's node.
    pub(crate) fn resource_entry(&self, node: NodeIx) -> Result<Entry, Failed> {
        let Some((_, module, local)) = self.declared(node) else { return Err(Failed) };
        match &module.template.nodes[local as usize] {
            Declared::Resource(entry) => Ok(entry.clone()),
            _ => Err(Failed),
        }
    }

    /// The subject of a declared instance.
    pub(crate) fn subject(
        &self,
        node: NodeIx,
        entry: &Entry,
        key: &InstanceKey,
    ) -> Result<Subject, Failed> {
        let Some((index, module, _)) = self.declared(node) else { return Err(Failed) };
        let resource = entry.resource().resource.clone().in_module(module.address.clone());
        let object = resource.instance(key.clone()).into();
        let provider = self.provider_of_object(node, entry, &object)?;
        self.subject_at(node, object, &provider, Some(entry.clone()), index)
    }

    /// The subject of any object.
    pub(crate) fn subject_at(
        &self,
        node: NodeIx,
        object: ObjectAddress,
        instance: &ProviderInstance,
        entry: Option<Entry>,
        module: ModuleIx,
    ) -> Result<Subject, Failed> {
        self.refuse_missing_instance(instance, &object)?;
        let address = &object.instance;
        let provider = self.provider_ref_of(instance);
        let text = address.text();
        let schemas = self.schemas(&provider.source);
        let type_name = address.resource.type_name.as_str();
        let schema = schemas.as_ref().and_then(|it| match address.resource.mode {
            ResourceMode::Managed => it.managed(type_name),
            ResourceMode::Data => it.data(type_name),
            ResourceMode::Ephemeral => it.ephemeral(type_name),
        });
        let (Some(schemas), Some(schema)) = (schemas, schema) else {
            self.report_unknown_type(&text, address, &provider, entry.as_ref());
            return Err(Failed);
        };
        let identity = match address.resource.mode {
            ResourceMode::Managed => schemas.identity(type_name),
            _ => None,
        };
        Ok(Subject {
            node,
            text,
            schema,
            identity,
            plans_destroy: schemas.capabilities.plan_destroy,
            provider_meta: schemas
                .provider_meta
                .as_ref()
                .map(|it| Value::null(it.implied_type().clone())),
            provider_node: instance.node,
            provider,
            entry,
            module,
            object,
            write_only: WriteOnlyTexts::default(),
        })
    }

    fn report_unknown_type(
        &self,
        text: &str,
        address: &ResourceInstance,
        provider: &ProviderConfigRef,
        entry: Option<&Entry>,
    ) {
        let (summary, what) = match address.resource.mode {
            ResourceMode::Data => (Summary::INVALID_DATA_SOURCE, "data source"),
            _ => (Summary::INVALID_RESOURCE_TYPE, "resource type"),
        };
        let detail = format!(
            "The provider {} does not support {what} \"{}\".",
            provider.source.for_display(),
            address.resource.type_name
        );
        let diagnostic = Diagnostic::new(summary, detail);
        match entry {
            Some(entry) => {
                self.report_at(entry, entry.resource().type_node.into(), Some(text), diagnostic)
            }
            None => self.report(diagnostic.with_address(text)),
        }
    }

    /// Checks the conditions of an instance: the preconditions if `value` is `None`, else the postconditions,
    /// which see `value` as `self`.
    pub(crate) async fn instance_conditions(
        &self,
        module: ModuleIx,
        entry: &Entry,
        address: &ResourceInstance,
        each: &Each,
        value: Option<Value>,
    ) -> Result<(), Failed> {
        let lifecycle = &entry.resource().lifecycle;
        if lifecycle.preconditions.is_empty() && lifecycle.postconditions.is_empty() {
            return Ok(());
        }
        let (config_addr, addr) = (address.config().to_string(), address.to_string());
        let checked = Checked { kind: CheckKind::Resource, config_addr: &config_addr, addr: &addr };
        let scope = || EngineScope::new(self, module, Some(each));
        let Some(value) = value else {
            let (conditions, kind) = (&lifecycle.preconditions, ConditionKind::Precondition);
            let check = || self.check_conditions(&scope(), entry, conditions, kind, checked);
            return self.answered(check).await;
        };
        let (conditions, kind) = (&lifecycle.postconditions, ConditionKind::Postcondition);
        let resource = &entry.resource().resource;
        let own = OwnObject { resource, key: &each.key, value };
        let scope = scope().with_own(own);
        self.answered(|| self.check_conditions(&scope, entry, conditions, kind, checked)).await
    }

    /// Sets the value of an instance that references see.
    pub(crate) fn set_instance(&self, node: NodeIx, each: &Each, value: Value) {
        self.nodes.change_resource(node, |it| drop(it.instances.insert(each.key.clone(), value)));
    }

    /// Removes the value of an instance that was closed.
    pub(crate) fn forget_instance(&self, node: NodeIx, key: &InstanceKey) {
        self.nodes.change_resource(node, |it| drop(it.instances.remove(key)));
    }

    /// The current object of an instance in the state, with the marks that references see. `None` if there is
    /// none, or if it cannot be decoded, which is reported.
    pub(crate) fn state_value(&self, subject: &Subject) -> Option<Value> {
        let object = self.object(subject)?;
        self.object_value(subject, &object).ok()
    }

    /// Decodes a stored object, with the marks of the schema.
    pub(crate) fn object_value(&self, subject: &Subject, object: &Object) -> Result<Value, Failed> {
        let value = object.decode(subject.ty()).map_err(|error| {
            let detail = format!(
                "The stored state of {} does not match the provider's schema: {error}. Run a plan \
                 first, which upgrades it.",
                subject.text
            );
            self.report_about(&subject.text, Summary::STATE_DECODE, detail);
            Failed
        })?;
        Ok(self.marked(subject, &value))
    }

    /// Adds the marks of the schema to a value.
    pub(crate) fn marked(&self, subject: &Subject, value: &Value) -> Value {
        let block = subject.schema.block();
        let mut value = provider::mark_by_schema(value, block);
        if block.has_deprecated() {
            value = provider::mark_deprecated_by_schema(&value, block, &subject.text);
        }
        value
    }
}

/// The block that declares a resource; `None` if the configuration has none. Instance keys are ignored.
pub(crate) fn find_entry(walk: &Walk<'_>, address: &ResourceInstance) -> Option<Entry> {
    let names = address.module.steps().iter().map(|it| it.name.as_str());
    walk.config.program.module_at(names)?.resources.get(&address.resource).cloned()
}

/// The module instance of an address; `None` if the run does not have it.
pub(crate) fn find_module(walk: &Walk<'_>, address: &addr::ModuleInstance) -> Option<ModuleIx> {
    let mut index = ModuleIx(0);
    for step in address.steps() {
        let children = walk.module(index).children_of(step.name.as_str())?;
        index = *children.instances.get(&step.key)?;
    }
    Some(index)
}

/// Values by instance key, for a resource whose instances do not run.
pub(crate) type InstanceValues = TreeMap<InstanceKey, Value>;
