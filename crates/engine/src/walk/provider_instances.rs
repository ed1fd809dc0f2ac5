//! The instances of provider configurations with `for_each`, and the choice of one for each object.
//!
//! The key is part of the block of a resource (`provider = aws.by_region[each.key]`) or of a module call. An object
//! that the configuration no longer declares uses the instance that the state names.

use std::rc::Rc;

use addr::{InstanceKey, ProviderConfigRef};
use db::{Diagnostic, Summary};
use hir::{
    Entry, ExprId,
    item::{ProviderConfig, Resource},
};
use sorted::TreeMap;
use state::ObjectAddress;
use values::{MarkKind, Type, Value, convert};

use crate::{
    graph::{ModuleIx, NodeIx, provider_name::provider_name, template::Declared},
    memo::Version,
    resource::subject::Subject,
    schedule::Failed,
    walk::{
        context::Walk,
        instances::{Each, Keys, for_each_keys},
        modules::{ModuleRun, PassedProviders},
        outcome::ProviderInstance,
        scope::EngineScope,
    },
};

impl Subject {
    /// The instance of the provider configuration that manages the object.
    pub(crate) fn provider_instance(&self) -> ProviderInstance {
        ProviderInstance { node: self.provider_node, key: self.provider.key.clone() }
    }
}

impl Walk<'_> {
    /// The instances of a `provider` block: one without a key, or one for each element of its `for_each`.
    pub(crate) fn provider_instances(
        &self,
        module: ModuleIx,
        entry: &Entry,
    ) -> Result<Vec<Each>, Failed> {
        let Some(for_each) = entry.provider_config().for_each else {
            return Ok(vec![Each::single()]);
        };
        let scope = EngineScope::new(self, module, None);
        let value = self.evaluate(&scope, entry, for_each, None)?;
        let keys = for_each_keys(&value);
        let keys = keys.map_err(|it| self.refuse_keys(entry, for_each.into(), Some(it)))?;
        Ok(keys.instances)
    }

    /// Evaluates the keys by which a resource chooses the provider of each of its instances.
    pub(crate) fn choose_providers(
        &self,
        module: ModuleIx,
        entry: &Entry,
        keys: &Keys,
    ) -> Result<TreeMap<InstanceKey, InstanceKey>, Failed> {
        let resource: &Resource = entry.resource();
        let Some(expr) = resource.provider.as_ref().and_then(|it| it.key) else {
            return Ok(TreeMap::new());
        };
        let within = resource.resource.clone().in_module(self.module(module).address.clone());
        let choose = |each: &Each| {
            let address = within.instance(each.key.clone()).to_string();
            let key = self.provider_key(module, entry, expr, Some(each), Some(&address))?;
            Ok((each.key.clone(), key))
        };
        keys.instances.iter().map(choose).collect()
    }

    /// The provider configurations that a call passes to one instance of its module.
    pub(crate) fn passed_providers(
        &self,
        module: ModuleIx,
        caller: &Rc<ModuleRun>,
        entry: &Entry,
        each: &Each,
    ) -> Result<PassedProviders, Failed> {
        let mut passed = PassedProviders::new();
        for it in entry.module_call().providers.iter().flatten() {
            let (name, alias) = (&it.parent.local_name, it.parent.alias.as_ref());
            let Some(mut found) = self.find_provider(caller, name, alias) else { continue };
            if let Some(key) = it.parent.key {
                found.key = self.provider_key(module, entry, key, Some(each), None)?;
            }
            passed.insert((it.child_name.clone(), it.child_alias.clone()), found);
        }
        Ok(passed)
    }

    /// Evaluates the key of an instance of a provider configuration. It is shown, and kept in the state, so secrets are
    /// refused. Numbers and bools are converted, as OpenTofu does.
    pub(crate) fn provider_key(
        &self,
        module: ModuleIx,
        entry: &Entry,
        expr: ExprId,
        each: Option<&Each>,
        address: Option<&str>,
    ) -> Result<InstanceKey, Failed> {
        let scope = EngineScope::new(self, module, each);
        let value = self.evaluate(&scope, entry, expr, address)?;
        key_of(&value).map_err(|(summary, detail)| {
            self.report_at(entry, expr.into(), address, Diagnostic::new(summary, detail));
            Failed
        })
    }

    /// The instance of a provider configuration that manages an object of a declared resource.
    pub(crate) fn provider_of_object(
        &self,
        node: NodeIx,
        entry: &Entry,
        object: &ObjectAddress,
    ) -> Result<ProviderInstance, Failed> {
        let Some(provider) = self.provider_node(node) else {
            self.report_missing_provider(entry, &object.instance.to_string());
            return Err(Failed);
        };
        if !self.is_repeated(provider) {
            return Ok(ProviderInstance::without_key(provider));
        }
        let chosen = self.chosen_instance(node, entry, object);
        let key = match chosen {
            Some(key) => key,
            None => self.stored_instance(provider, object)?,
        };
        Ok(ProviderInstance { node: provider, key })
    }

    /// The version of the key by which a module call chose the provider of a resource.
    pub(crate) fn passed_version(&self, node: NodeIx) -> Version {
        let is_repeated =
            |node: NodeIx| self.provider_node(node).is_some_and(|it| self.is_repeated(it));
        let key = self.resource_entry(node).ok().filter(|_| is_repeated(node));
        match key.and_then(|entry| self.passed_key(node, &entry)) {
            Some(key) => {
                let key = Value::string(key.to_string());
                self.reuse.memo(|memo| memo.version_of_value(&key))
            }
            None => Version::default(),
        }
    }

    /// Returns true for the node of a `provider` block with `for_each`.
    fn is_repeated(&self, provider: NodeIx) -> bool {
        self.with_provider_block(provider, |config| config.for_each.is_some()).unwrap_or(false)
    }

    fn with_provider_block<T>(
        &self,
        provider: NodeIx,
        read: impl FnOnce(&ProviderConfig) -> T,
    ) -> Option<T> {
        let (_, module, local) = self.declared(provider)?;
        match &module.template.nodes[local as usize] {
            Declared::Provider(entry) => Some(read(entry.provider_config())),
            _ => None,
        }
    }

    /// The key that the configuration chooses for an object; `None` if it does not declare the object.
    fn chosen_instance(
        &self,
        node: NodeIx,
        entry: &Entry,
        object: &ObjectAddress,
    ) -> Option<InstanceKey> {
        if object.deposed.is_some() {
            return None;
        }
        if entry.resource().provider.as_ref().is_some_and(|it| it.key.is_some()) {
            return self.nodes.keys(node)?.provider_keys.get(&object.instance.key).cloned();
        }
        self.passed_key(node, entry)
    }

    /// The key by which a module call chose the provider that it passes to the module of a resource.
    fn passed_key(&self, node: NodeIx, entry: &Entry) -> Option<InstanceKey> {
        let (_, module, _) = self.declared(node)?;
        let (name, alias) = provider_name(entry.resource());
        Some(self.find_provider(&module, &name, alias.as_ref())?.key)
    }

    /// The key of the instance that managed an object so far.
    fn stored_instance(
        &self,
        provider: NodeIx,
        object: &ObjectAddress,
    ) -> Result<InstanceKey, Failed> {
        let wanted = self.provider_ref(provider);
        match self.state.previous().provider_of_object(object) {
            Some(stored) if stored.without_key() != wanted => {
                let address = object.to_string();
                let detail = format!(
                    "The configuration no longer declares {address}, and its resource uses {wanted} now. The state \
                     says that {stored} manages the object. Refer to that configuration again until {address} is \
                     destroyed."
                );
                Err(self.refuse_provider(object, Summary::UNMATCHED_STORED_PROVIDER, detail))
            }
            Some(stored) => Ok(stored.key.clone()),
            None => Ok(InstanceKey::None),
        }
    }

    /// Refuses an object whose instance of the provider configuration does not exist. Does nothing before the
    /// configuration had its turn.
    pub(crate) fn refuse_missing_instance(
        &self,
        provider: &ProviderInstance,
        object: &ObjectAddress,
    ) -> Result<(), Failed> {
        let Some(slots) = self.nodes.slots(provider.node) else { return Ok(()) };
        if slots.contains_key(&provider.key) {
            return Ok(());
        }
        let config = self.provider_ref(provider.node);
        let detail = match &provider.key {
            InstanceKey::None => without_key(&config, object),
            key => with_key(&ProviderConfigRef { key: key.clone(), ..config }, object),
        };
        Err(self.refuse_provider(object, Summary::MISSING_PROVIDER_INSTANCE, detail))
    }

    /// Reports an error once: work on one object may resolve its provider several times.
    fn refuse_provider(&self, object: &ObjectAddress, summary: Summary, detail: String) -> Failed {
        if !self.report.any(|it| it.detail == detail) {
            self.report_about(&object.instance.to_string(), summary, detail);
        }
        Failed
    }
}

/// The detail for an instance that the `for_each` of the provider no longer has.
fn with_key(instance: &ProviderConfigRef, object: &ObjectAddress) -> String {
    let mut detail = format!(
        "{object} needs the provider instance {instance}, and the for_each of the provider configuration does not have \
         this key. If the configuration chooses the key, correct it. If the element was removed, add it again until \
         the object is destroyed, and remove it afterwards."
    );
    if object.deposed.is_none() {
        detail.push_str(
            "\n\nThis happens if a resource, or the module around it, and its provider use the same collection in \
             for_each: an element must leave the collection of the resource first, and the one of the provider only \
             after the next apply.",
        );
    }
    detail
}

/// The detail for an object that the provider configuration managed before it had `for_each`.
fn without_key(config: &ProviderConfigRef, object: &ObjectAddress) -> String {
    format!(
        "The provider configuration {config} managed {object} when it had no for_each. Now it has instances, and the \
         configuration chooses none of them for this object. Remove the for_each again until the object is destroyed \
         or forgotten, or declare the object with a key of the provider."
    )
}

/// The instance key that a value is.
///
/// # Errors
/// The diagnostic for a value that is no key.
fn key_of(value: &Value) -> Result<InstanceKey, (Summary, String)> {
    let refuse = |detail: &str| Err((Summary::INVALID_PROVIDER_KEY, detail.to_owned()));
    if value.has_deep(MarkKind::Sensitive) {
        return refuse("A provider instance key must not be derived from a sensitive value.");
    }
    if value.has_deep(MarkKind::Ephemeral) {
        let detail = "A provider instance key must not be derived from an ephemeral value.";
        return Err((Summary::EPHEMERAL_PROVIDER_KEY, detail.to_owned()));
    }
    let plain = value.without_all_marks();
    if plain.is_null() {
        return refuse("A provider instance key must not be null.");
    }
    if !plain.is_known() {
        return refuse(
            "The provider instance key depends on values that are known only after apply, so no provider can plan \
             the object. Use values that are known before, such as each.key or variables.",
        );
    }
    match convert::convert(&plain, &Type::String) {
        Ok(key) => Ok(InstanceKey::string(key.as_str().unwrap_or_default())),
        Err(error) => refuse(&format!("The given instance key is unsuitable: {error}.")),
    }
}
