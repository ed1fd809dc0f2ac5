//! The content of a state: resources, their instances, and the outputs of the root module.

use std::fmt;
use std::sync::Arc;

use addr::{
    AbsResource, ConfigResource, InstanceKey, ModuleInstance, ProviderConfigRef, ProviderSource,
    ResourceInstance, ResourceMode, Version,
};
use sorted::{TreeMap, TreeSet};
use values::{Str, Value};

use crate::checks::CheckResults;
use crate::object::Object;
use crate::object_address::ObjectAddress;

/// The registry of Terraform, whose providers also exist in the default registry.
const OTHER_REGISTRY: &str = "registry.terraform.io";

/// The content of a state file: a state with its lineage and serial.
#[derive(Clone, Debug, PartialEq)]
pub struct StateFile {
    /// The program version that wrote the file. Writing replaces it by
    /// [`WRITTEN_VERSION`](crate::WRITTEN_VERSION).
    pub written_by: Option<Version>,
    /// The number of changes of the state.
    pub serial: u64,
    /// A UUID that all versions of one state share.
    pub lineage: String,
    /// The state.
    pub state: State,
}

/// The objects and outputs that a configuration manages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The outputs of the root module.
    pub outputs: TreeMap<Str, OutputValue>,
    /// **Invariant:** every resource has instances, and every instance has objects ([`State::prune`]). Clones
    /// share the map until one of them changes.
    resources: Arc<TreeMap<AbsResource, ResourceState>>,
    /// The results of checks.
    pub checks: CheckResults,
}

/// An output of the root module after the last apply.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputValue {
    /// The value. It is marked sensitive if `sensitive` is set, so it can be used like any other value.
    pub value: Value,
    /// True if the output is sensitive.
    pub sensitive: bool,
    /// The deprecation message, if the output is deprecated.
    pub deprecated: Option<String>,
}

/// A resource in one module instance.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceState {
    /// The provider configuration of its objects, without an instance key. Objects may have their own.
    pub provider: ProviderConfigRef,
    /// The instances by key.
    pub instances: TreeMap<InstanceKey, Instance>,
}

impl ResourceState {
    /// The provider configuration of one of the objects: its own, or that of the whole resource.
    fn provider_of<'s>(&'s self, object: Option<&'s Arc<Object>>) -> &'s ProviderConfigRef {
        object.and_then(|it| it.provider.as_ref()).unwrap_or(&self.provider)
    }
}

/// An instance: its current object, and deposed objects that are still to be destroyed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instance {
    /// The current object.
    pub current: Option<Arc<Object>>,
    /// The deposed objects by key.
    pub deposed: TreeMap<DeposedKey, Arc<Object>>,
}

/// An instance of a state, with its address and its resource.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceEntry<'a> {
    /// The address of the instance.
    pub address: ResourceInstance,
    /// The resource of the instance.
    pub resource: &'a ResourceState,
    /// The objects of the instance.
    pub instance: &'a Instance,
}

/// The key of a deposed object: eight characters, unique within its instance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeposedKey([u8; 8]);

impl StateFile {
    /// Creates an empty state with serial 0.
    pub fn new(lineage: String) -> Self {
        Self { written_by: None, serial: 0, lineage, state: State::default() }
    }
}

impl State {
    /// Returns true if the state has no resource and no output. Check results do not count.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.outputs.is_empty()
    }

    /// Returns true if both states share their resources. False does not mean that they differ.
    pub fn has_same_resources(&self, other: &State) -> bool {
        Arc::ptr_eq(&self.resources, &other.resources)
    }

    /// Returns true if both states have equal managed objects.
    pub fn has_same_managed(&self, other: &State) -> bool {
        let is_managed =
            |it: &(&AbsResource, &ResourceState)| it.0.resource.mode == ResourceMode::Managed;
        let (own, others) = (self.resources(), other.resources());
        self.has_same_resources(other) || own.filter(is_managed).eq(others.filter(is_managed))
    }

    /// All resources in the order of their addresses.
    pub fn resources(&self) -> impl ExactSizeIterator<Item = (&AbsResource, &ResourceState)> {
        self.resources.iter()
    }

    /// All instances in the order of their addresses.
    pub fn instances(&self) -> impl Iterator<Item = InstanceEntry<'_>> {
        self.resources.iter().flat_map(|(addr, resource)| {
            let instances = resource.instances.iter();
            instances.map(move |(key, instance)| InstanceEntry {
                address: addr.instance(key.clone()),
                resource,
                instance,
            })
        })
    }

    /// The resource at an address.
    pub fn resource(&self, addr: &AbsResource) -> Option<&ResourceState> {
        self.resources.get(addr)
    }

    /// The instance at an address.
    pub fn instance(&self, addr: &ResourceInstance) -> Option<&Instance> {
        self.resources.get(&addr.containing_resource())?.instances.get(&addr.key)
    }

    /// The current object of an instance.
    pub fn current(&self, addr: &ResourceInstance) -> Option<&Arc<Object>> {
        self.instance(addr)?.current.as_ref()
    }

    /// The object at an address.
    pub fn object(&self, addr: &ObjectAddress) -> Option<&Arc<Object>> {
        let instance = self.instance(&addr.instance)?;
        match addr.deposed {
            None => instance.current.as_ref(),
            Some(key) => instance.deposed.get(&key),
        }
    }

    /// The current objects of a resource, in the order of their keys.
    pub fn objects_of(&self, addr: &AbsResource) -> Vec<(InstanceKey, Arc<Object>)> {
        let instances = self.resource(addr).into_iter().flat_map(|it| it.instances.iter());
        instances
            .filter_map(|(key, it)| Some((key.clone(), Arc::clone(it.current.as_ref()?))))
            .collect()
    }

    /// The provider configuration of an instance's current object.
    pub fn provider_of(&self, addr: &ResourceInstance) -> Option<&ProviderConfigRef> {
        let resource = self.resources.get(&addr.containing_resource())?;
        let object = resource.instances.get(&addr.key).and_then(|it| it.current.as_ref());
        Some(resource.provider_of(object))
    }

    /// The provider configuration of an object; `None` if the state does not have its resource.
    pub fn provider_of_object(&self, addr: &ObjectAddress) -> Option<&ProviderConfigRef> {
        let resource = self.resources.get(&addr.instance.containing_resource())?;
        Some(resource.provider_of(self.object(addr)))
    }

    /// The resources of one module instance, without those of its child modules.
    pub fn resources_in<'a>(
        &'a self,
        module: &'a ModuleInstance,
    ) -> impl Iterator<Item = (&'a AbsResource, &'a ResourceState)> {
        self.resources.iter().filter(move |(addr, _)| addr.module == *module)
    }

    /// Sets the current object of an instance. `provider` becomes the provider configuration of the whole
    /// resource, or only of this object if it has an instance key.
    pub fn set_current(
        &mut self,
        addr: &ResourceInstance,
        provider: &ProviderConfigRef,
        object: Arc<Object>,
    ) {
        self.ensure(addr, provider).current = Some(with_provider(object, provider));
    }

    /// Sets a deposed object of an instance.
    pub fn set_deposed(
        &mut self,
        addr: &ResourceInstance,
        key: DeposedKey,
        provider: &ProviderConfigRef,
        object: Arc<Object>,
    ) {
        self.ensure(addr, provider).deposed.insert(key, with_provider(object, provider));
    }

    /// Sets the object at an address, or removes it if `object` is `None`.
    pub fn set_object(
        &mut self,
        addr: &ObjectAddress,
        provider: &ProviderConfigRef,
        object: Option<Arc<Object>>,
    ) {
        let instance = &addr.instance;
        match (addr.deposed, object) {
            (None, Some(object)) => self.set_current(instance, provider, object),
            (Some(key), Some(object)) => self.set_deposed(instance, key, provider, object),
            (_, None) => self.remove_object(addr),
        }
    }

    /// Removes the object at an address.
    pub fn remove_object(&mut self, addr: &ObjectAddress) {
        match addr.deposed {
            None => drop(self.remove_current(&addr.instance)),
            Some(key) => drop(self.remove_deposed(&addr.instance, key)),
        }
    }

    /// Replaces all objects of an instance. `provider` becomes the provider configuration of the whole resource.
    pub fn set_instance(
        &mut self,
        addr: &ResourceInstance,
        provider: Option<&ProviderConfigRef>,
        instance: Instance,
    ) {
        match provider.filter(|_| !instance.is_empty()) {
            Some(provider) => *self.ensure(addr, provider) = instance,
            None => {
                self.take(addr, |it| {
                    *it = Instance::default();
                    None::<()>
                });
            }
        }
    }

    /// Removes and returns the current object of an instance.
    pub fn remove_current(&mut self, addr: &ResourceInstance) -> Option<Arc<Object>> {
        self.take(addr, |instance| instance.current.take())
    }

    /// Removes and returns a deposed object of an instance.
    pub fn remove_deposed(
        &mut self,
        addr: &ResourceInstance,
        key: DeposedKey,
    ) -> Option<Arc<Object>> {
        self.take(addr, |instance| instance.deposed.remove(&key))
    }

    /// Turns the current object into a deposed one, before its replacement is created. Returns false if there is
    /// no current object.
    pub fn depose(&mut self, addr: &ResourceInstance, key: DeposedKey) -> bool {
        let Some(instance) = self.instance_mut(addr) else { return false };
        let Some(object) = instance.current.take() else { return false };
        instance.deposed.insert(key, object);
        true
    }

    /// Turns a deposed object into the current one again, if its replacement was not created. Returns false if
    /// there is a current object or no such deposed one.
    pub fn restore_deposed(&mut self, addr: &ResourceInstance, key: DeposedKey) -> bool {
        let Some(instance) = self.instance_mut(addr) else { return false };
        if instance.current.is_some() {
            return false;
        }
        instance.current = instance.deposed.remove(&key);
        instance.current.is_some()
    }

    /// Moves an instance with all its objects to another address. Returns false and changes nothing if the
    /// instance does not exist or the new address is in use.
    pub fn move_instance(&mut self, from: &ResourceInstance, to: &ResourceInstance) -> bool {
        if from == to || self.instance(to).is_some() || self.instance(from).is_none() {
            return false;
        }
        let resource = from.containing_resource();
        let Some(old) = Arc::make_mut(&mut self.resources).get_mut(&resource) else { return false };
        let provider = old.provider.clone();
        let Some(instance) = old.instances.remove(&from.key) else { return false };
        self.prune(&resource);
        *self.ensure(to, &provider) = instance;
        true
    }

    /// Moves a resource with all its instances to another address, and keeps its provider configuration. Returns false
    /// and changes nothing if the resource does not exist or the new address is in use.
    pub fn move_resource(&mut self, from: &AbsResource, to: &AbsResource) -> bool {
        if self.resources.contains_key(to) {
            return false;
        }
        let resources = Arc::make_mut(&mut self.resources);
        let Some(resource) = resources.remove(from) else { return false };
        resources.insert(to.clone(), resource);
        true
    }

    /// Removes and returns a resource with all its instances.
    pub fn remove_resource(&mut self, addr: &AbsResource) -> Option<ResourceState> {
        self.resources.get(addr)?;
        Arc::make_mut(&mut self.resources).remove(addr)
    }

    /// Removes the dependencies of all current objects for which `is_stale` is true. The next apply determines them
    /// anew.
    pub fn forget_dependencies(&mut self, is_stale: &dyn Fn(&ConfigResource) -> bool) {
        let current = |it: &Instance| -> bool {
            it.current.as_ref().is_some_and(|it| it.dependencies.iter().any(is_stale))
        };
        if !self.instances().any(|it| current(it.instance)) {
            return;
        }
        let resources = Arc::make_mut(&mut self.resources).values_mut();
        for instance in resources.flat_map(|it| it.instances.values_mut()).filter(|it| current(it))
        {
            let none: Arc<[ConfigResource]> = Arc::new([]);
            instance.current = instance.current.take().map(|it| it.with_dependencies(&none));
        }
    }

    /// Makes a resource the same as in another state. Removes it if the other state does not have it.
    pub fn put_back(&mut self, addr: &AbsResource, other: &State) {
        let before = other.resources.get(addr);
        if self.resources.get(addr) == before {
            return;
        }
        let resources = Arc::make_mut(&mut self.resources);
        match before {
            Some(before) => drop(resources.insert(addr.clone(), before.clone())),
            None => drop(resources.remove(addr)),
        }
    }

    /// Inserts a whole resource. A resource without objects is left out.
    pub fn insert(&mut self, addr: AbsResource, resource: ResourceState) {
        Arc::make_mut(&mut self.resources).insert(addr.clone(), resource);
        self.prune(&addr);
    }

    /// Replaces the provider of a whole resource, and keeps the alias and the instance keys of its configurations
    /// (`state replace-provider`).
    pub fn replace_provider(&mut self, addr: &AbsResource, source: &ProviderSource) {
        let Some(resource) = Arc::make_mut(&mut self.resources).get_mut(addr) else { return };
        resource.provider.source = source.clone();
        for object in resource.objects_mut().filter(|it| it.provider.is_some()) {
            if let Some(provider) = &mut Arc::make_mut(object).provider {
                provider.source = source.clone();
            }
        }
    }

    /// Renames the stored dependencies of all objects after resources have moved. `renamed` has the new addresses of
    /// each resource. A former address stays a dependency as long as the state has an object there.
    pub fn rename_dependencies(
        &mut self,
        renamed: &TreeMap<ConfigResource, TreeSet<ConfigResource>>,
    ) {
        if renamed.is_empty() {
            return;
        }
        let present: TreeSet<ConfigResource> =
            self.resources.keys().map(AbsResource::config).collect();
        let resources = Arc::make_mut(&mut self.resources).values_mut();
        for object in resources.flat_map(ResourceState::objects_mut) {
            if !object.dependencies.iter().any(|it| renamed.contains_key(it)) {
                continue;
            }
            let mut dependencies: Vec<ConfigResource> = Vec::new();
            for it in object.dependencies.iter() {
                let new = renamed.get(it);
                let stays = new.is_none() || present.contains(it);
                dependencies.extend(stays.then(|| it.clone()));
                dependencies.extend(new.into_iter().flatten().cloned());
            }
            // The order of the state format.
            dependencies.sort_by_cached_key(ConfigResource::to_string);
            dependencies.dedup();
            *object = object.with_dependencies(&dependencies.into());
        }
    }

    /// Moves objects from providers of `registry.terraform.io` to the same providers in the default registry, as
    /// OpenTofu does for states that Terraform wrote. Providers that the configuration requires from the other
    /// registry stay. Returns true if anything changed.
    pub fn adopt_other_registry(&mut self, is_required: &dyn Fn(&ProviderSource) -> bool) -> bool {
        let translated = |it: &ProviderConfigRef| {
            let is_other = it.source.host == OTHER_REGISTRY && !is_required(&it.source);
            let host = addr::DEFAULT_HOST.into();
            is_other.then(|| ProviderConfigRef {
                source: ProviderSource { host, ..it.source.clone() },
                ..it.clone()
            })
        };
        let mut is_changed = false;
        for resource in Arc::make_mut(&mut self.resources).values_mut() {
            if let Some(provider) = translated(&resource.provider) {
                resource.provider = provider;
                is_changed = true;
            }
            for object in resource.objects_mut() {
                if let Some(provider) = object.provider.as_ref().and_then(translated) {
                    Arc::make_mut(object).provider = Some(provider);
                    is_changed = true;
                }
            }
        }
        is_changed
    }

    fn ensure(&mut self, addr: &ResourceInstance, provider: &ProviderConfigRef) -> &mut Instance {
        let resource =
            Arc::make_mut(&mut self.resources).entry(addr.containing_resource()).or_insert_with(
                || ResourceState { provider: provider.without_key(), instances: TreeMap::new() },
            );
        if resource.provider != *provider {
            resource.provider = provider.without_key();
        }
        resource.instances.entry(addr.key.clone()).or_default()
    }

    fn instance_mut(&mut self, addr: &ResourceInstance) -> Option<&mut Instance> {
        Arc::make_mut(&mut self.resources)
            .get_mut(&addr.containing_resource())?
            .instances
            .get_mut(&addr.key)
    }

    fn take<T>(
        &mut self,
        addr: &ResourceInstance,
        f: impl FnOnce(&mut Instance) -> Option<T>,
    ) -> Option<T> {
        let taken = f(self.instance_mut(addr)?);
        let instance = self.instance(addr);
        if instance.is_some_and(Instance::is_empty) {
            let resource = addr.containing_resource();
            if let Some(it) = Arc::make_mut(&mut self.resources).get_mut(&resource) {
                it.instances.remove(&addr.key);
            }
            self.prune(&resource);
        }
        taken
    }

    fn prune(&mut self, addr: &AbsResource) {
        if self.resources.get(addr).is_some_and(|it| it.instances.is_empty()) {
            Arc::make_mut(&mut self.resources).remove(addr);
        }
    }
}

fn with_provider(mut object: Arc<Object>, provider: &ProviderConfigRef) -> Arc<Object> {
    let own = (!provider.key.is_none()).then_some(provider);
    if object.provider.as_ref() != own {
        Arc::make_mut(&mut object).provider = own.cloned();
    }
    object
}

impl ResourceState {
    fn objects_mut(&mut self) -> impl Iterator<Item = &mut Arc<Object>> {
        let instances = self.instances.values_mut();
        instances.flat_map(|it| it.current.iter_mut().chain(it.deposed.values_mut()))
    }
}

impl Instance {
    /// Returns true if the instance has no object.
    pub fn is_empty(&self) -> bool {
        self.current.is_none() && self.deposed.is_empty()
    }
}

impl DeposedKey {
    /// Creates a key from random bits.
    pub fn from_random(bits: u32) -> Self {
        let text = format!("{bits:08x}");
        Self::parse(&text).expect("eight hexadecimal digits are a deposed key")
    }

    /// Parses a key: eight graphic ASCII characters. `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 8] = text.as_bytes().try_into().ok()?;
        bytes.iter().all(u8::is_ascii_graphic).then_some(Self(bytes))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a deposed key is ASCII")
    }
}

impl fmt::Display for DeposedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for DeposedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
