use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use addr::ResourceMode;
use values::Str;

use crate::schema::{FunctionSignature, Schema, difference};
use crate::schema_codec::{CacheError, CachedSchemas};

/// All schemas of one provider.
///
/// Schemas of resource types may lie undecoded in a cache; asking for one by name decodes that one only.
pub struct ProviderSchemas {
    /// The provider's own configuration, as the process said that was asked. See [`ProviderSchemas::configuration`].
    pub provider: Arc<Schema>,
    /// The `provider_meta` block, where the provider has one.
    pub provider_meta: Option<Arc<Schema>>,
    /// Functions by name.
    pub functions: BTreeMap<Str, FunctionSignature>,
    /// What the provider can do beyond the least.
    pub capabilities: Capabilities,
    types: Types,
    configuration: OnceLock<Arc<Schema>>,
}

/// What a provider can do beyond the least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// It wants to be asked for the plan of a deletion.
    pub plan_destroy: bool,
    /// It answers other calls before it was asked for its schemas.
    pub get_provider_schema_optional: bool,
    /// It can take over objects of other types.
    pub move_resource_state: bool,
}

/// Schemas of all resource types, decoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemaTypes {
    /// Managed resource types.
    pub managed: BTreeMap<Str, Arc<Schema>>,
    /// Data sources.
    pub data: BTreeMap<Str, Arc<Schema>>,
    /// Ephemeral resource types.
    pub ephemeral: BTreeMap<Str, Arc<Schema>>,
    /// Identities of those managed resource types that have one.
    pub identities: BTreeMap<Str, Arc<Schema>>,
}

enum Types {
    Decoded(SchemaTypes),
    Cached(CachedSchemas),
}

impl ProviderSchemas {
    /// Schemas that are all decoded, as a provider sends them.
    pub fn new(
        provider: Schema,
        types: SchemaTypes,
        functions: BTreeMap<Str, FunctionSignature>,
        capabilities: Capabilities,
    ) -> ProviderSchemas {
        ProviderSchemas {
            provider: Arc::new(provider),
            provider_meta: None,
            functions,
            capabilities,
            types: Types::Decoded(types),
            configuration: OnceLock::new(),
        }
    }

    /// The provider's own configuration, as it is read: nothing is required. What a process says to be required depends on its
    /// environment (`reference`: protocol 6, SDKv2: a default from a variable makes an argument optional where the variable is
    /// set), so that only the one that is given the configuration knows.
    pub fn configuration(&self) -> &Arc<Schema> {
        let without = || {
            Arc::new(Schema::new(self.provider.version(), self.provider.block().without_required()))
        };
        self.configuration.get_or_init(without)
    }

    /// Whether the provider said that its own configuration must not be empty.
    pub fn wants_configuration(&self) -> bool {
        let block = self.provider.block();
        let wants_block = block.blocks().values().any(|nested| nested.min_items > 0);
        wants_block || !block.missing(&block.empty_value()).is_empty()
    }

    /// Schemas that lie in a cache. Those of the provider itself and of its functions are decoded here.
    ///
    /// # Errors
    /// Where these are damaged.
    pub fn from_cache(cache: CachedSchemas) -> Result<ProviderSchemas, CacheError> {
        Ok(ProviderSchemas {
            provider: Arc::new(cache.provider()?),
            provider_meta: cache.provider_meta()?.map(Arc::new),
            functions: cache.functions()?,
            capabilities: cache.capabilities(),
            types: Types::Cached(cache),
            configuration: OnceLock::new(),
        })
    }

    /// Types that were asked for and not given because their entry in the cache is damaged. Where there are any, the
    /// provider must be asked again.
    pub fn damage(&self) -> Vec<(Str, CacheError)> {
        match &self.types {
            Types::Decoded(_) => Vec::new(),
            Types::Cached(cache) => cache.damage(),
        }
    }

    /// The schema of a managed resource type.
    pub fn managed(&self, type_name: &str) -> Option<Arc<Schema>> {
        match &self.types {
            Types::Decoded(types) => types.managed.get(type_name).cloned(),
            Types::Cached(cache) => cache.managed(type_name)?.ok(),
        }
    }

    /// The schema of a data source.
    pub fn data(&self, type_name: &str) -> Option<Arc<Schema>> {
        match &self.types {
            Types::Decoded(types) => types.data.get(type_name).cloned(),
            Types::Cached(cache) => cache.data(type_name)?.ok(),
        }
    }

    /// The schema of an ephemeral resource type.
    pub fn ephemeral(&self, type_name: &str) -> Option<Arc<Schema>> {
        match &self.types {
            Types::Decoded(types) => types.ephemeral.get(type_name).cloned(),
            Types::Cached(cache) => cache.ephemeral(type_name)?.ok(),
        }
    }

    /// The schema of a managed resource type's identity.
    pub fn identity(&self, type_name: &str) -> Option<Arc<Schema>> {
        match &self.types {
            Types::Decoded(types) => types.identities.get(type_name).cloned(),
            Types::Cached(cache) => cache.identity(type_name)?.ok(),
        }
    }

    /// The schema of a type of resource, whatever its mode.
    pub fn of_mode(&self, mode: ResourceMode, type_name: &str) -> Option<Arc<Schema>> {
        match mode {
            ResourceMode::Managed => self.managed(type_name),
            ResourceMode::Data => self.data(type_name),
            ResourceMode::Ephemeral => self.ephemeral(type_name),
        }
    }

    /// Names of the types of one mode, in order.
    pub fn types_of_mode(&self, mode: ResourceMode) -> Vec<&str> {
        match mode {
            ResourceMode::Managed => self.managed_types().collect(),
            ResourceMode::Data => self.data_types().collect(),
            ResourceMode::Ephemeral => self.ephemeral_types().collect(),
        }
    }

    /// Names of managed resource types, in order.
    pub fn managed_types(&self) -> impl Iterator<Item = &str> {
        let (decoded, cached) = match &self.types {
            Types::Decoded(types) => (Some(names(&types.managed)), None),
            Types::Cached(cache) => (None, Some(cache.managed_types())),
        };
        decoded.into_iter().flatten().chain(cached.into_iter().flatten())
    }

    /// Names of data sources, in order.
    pub fn data_types(&self) -> impl Iterator<Item = &str> {
        let (decoded, cached) = match &self.types {
            Types::Decoded(types) => (Some(names(&types.data)), None),
            Types::Cached(cache) => (None, Some(cache.data_types())),
        };
        decoded.into_iter().flatten().chain(cached.into_iter().flatten())
    }

    /// Names of ephemeral resource types, in order.
    pub fn ephemeral_types(&self) -> impl Iterator<Item = &str> {
        let (decoded, cached) = match &self.types {
            Types::Decoded(types) => (Some(names(&types.ephemeral)), None),
            Types::Cached(cache) => (None, Some(cache.ephemeral_types())),
        };
        decoded.into_iter().flatten().chain(cached.into_iter().flatten())
    }

    /// Names of managed resource types that have an identity, in order.
    pub fn identity_types(&self) -> impl Iterator<Item = &str> {
        let (decoded, cached) = match &self.types {
            Types::Decoded(types) => (Some(names(&types.identities)), None),
            Types::Cached(cache) => (None, Some(cache.identity_types())),
        };
        decoded.into_iter().flatten().chain(cached.into_iter().flatten())
    }
}

impl ProviderSchemas {
    /// The first part that means something else in `other`, in words; none where both mean the same. What is only
    /// described in other words is the same. All types are decoded for it.
    pub fn difference(&self, other: &ProviderSchemas) -> Option<String> {
        let own = difference::of_schemas(&self.provider, &other.provider);
        own.map(|path| named("the provider's configuration", &path))
            .or_else(|| {
                let (a, b) = (self.provider_meta.as_deref(), other.provider_meta.as_deref());
                of_either(a, b).map(|path| named("provider_meta", &path))
            })
            .or_else(|| self.difference_of_types(other))
            .or_else(|| self.difference_of_functions(other))
            .or_else(|| {
                let can = |it: &Capabilities| (it.plan_destroy, it.move_resource_state);
                let is_same = can(&self.capabilities) == can(&other.capabilities);
                (!is_same).then(|| "what the provider says that it can do".to_owned())
            })
    }

    fn difference_of_types(&self, other: &ProviderSchemas) -> Option<String> {
        let modes = [ResourceMode::Managed, ResourceMode::Data, ResourceMode::Ephemeral];
        let of_mode = |mode: ResourceMode| {
            let (a, b) = (self.types_of_mode(mode), other.types_of_mode(mode));
            let within = |name: &str| {
                let (a, b) = (self.of_mode(mode, name), other.of_mode(mode, name));
                of_either(a.as_deref(), b.as_deref())
            };
            let (name, path) = difference::first_other(&a, &b, within)?;
            Some(named(&format!("the {} {name:?}", mode.noun()), &path))
        };
        let of_identity = |name: &str| {
            let (a, b) = (self.identity(name), other.identity(name));
            let path = of_either(a.as_deref(), b.as_deref())?;
            Some(named(&format!("the identity of {name:?}"), &path))
        };
        // An identity that is new is no harm: nobody uses it.
        modes.into_iter().find_map(of_mode).or_else(|| self.identity_types().find_map(of_identity))
    }

    fn difference_of_functions(&self, other: &ProviderSchemas) -> Option<String> {
        let (a, b): (Vec<_>, Vec<_>) = (
            self.functions.keys().map(|it| &**it).collect(),
            other.functions.keys().map(|it| &**it).collect(),
        );
        let is_other = |name: &str| {
            let (a, b) = (self.functions.get(name)?, other.functions.get(name)?);
            (!difference::are_same_functions(a, b)).then(String::new)
        };
        difference::first_other(&a, &b, is_other).map(|(name, _)| format!("the function {name:?}"))
    }
}

fn of_either(a: Option<&Schema>, b: Option<&Schema>) -> Option<String> {
    match (a, b) {
        (Some(a), Some(b)) => difference::of_schemas(a, b),
        (None, None) => None,
        _ => Some(String::new()),
    }
}

fn named(part: &str, path: &str) -> String {
    if path.is_empty() { part.to_owned() } else { format!("{path:?} of {part}") }
}

fn names(types: &BTreeMap<Str, Arc<Schema>>) -> impl Iterator<Item = &str> {
    types.keys().map(|name| &**name)
}

impl fmt::Debug for ProviderSchemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderSchemas").field("provider", &self.provider).finish_non_exhaustive()
    }
}
