use std::fmt;
use std::sync::{Arc, OnceLock};

use addr::ResourceMode;
use sorted::SortedMap;
use values::Str;

use crate::schema::{FunctionSignature, Schema, difference};
use crate::schema_codec::{CacheError, CachedSchemas};

/// All schemas of one provider.
///
/// The schemas of resource types may be encoded in a cache. A lookup by name decodes only that schema.
pub struct ProviderSchemas {
    /// The provider configuration as the process that was asked reported it. See
    /// [`ProviderSchemas::configuration`].
    pub provider: Arc<Schema>,
    /// The `provider_meta` block. `None` if the provider has none.
    pub provider_meta: Option<Arc<Schema>>,
    /// The functions by name.
    pub functions: SortedMap<Str, FunctionSignature>,
    /// The optional capabilities of the provider.
    pub capabilities: Capabilities,
    types: Types,
    configuration: OnceLock<Arc<Schema>>,
}

/// The optional capabilities of a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// True if the provider wants to plan deletions.
    pub plan_destroy: bool,
    /// True if the provider answers other calls before the call for its schemas.
    pub get_provider_schema_optional: bool,
    /// True if the provider can convert objects of other types.
    pub move_resource_state: bool,
}

/// The decoded schemas of all resource types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemaTypes {
    /// The managed resource types.
    pub managed: SortedMap<Str, Arc<Schema>>,
    /// The data sources.
    pub data: SortedMap<Str, Arc<Schema>>,
    /// The ephemeral resource types.
    pub ephemeral: SortedMap<Str, Arc<Schema>>,
    /// The identities of managed resource types that have one.
    pub identities: SortedMap<Str, Arc<Schema>>,
}

enum Types {
    Decoded(SchemaTypes),
    Cached(CachedSchemas),
}

impl ProviderSchemas {
    /// Creates schemas that are all decoded, as a provider sends them.
    pub fn new(
        provider: Schema,
        types: SchemaTypes,
        functions: SortedMap<Str, FunctionSignature>,
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

    /// The provider configuration for decoding, with all attributes optional. The required attributes depend on
    /// the environment of the process: with SDKv2, a default from an environment variable makes an attribute
    /// optional if the variable is set. Only the process that receives the configuration can check it.
    pub fn configuration(&self) -> &Arc<Schema> {
        let without = || {
            Arc::new(Schema::new(self.provider.version(), self.provider.block().without_required()))
        };
        self.configuration.get_or_init(without)
    }

    /// Returns true if the reported schema requires a provider configuration that is not empty.
    pub fn wants_configuration(&self) -> bool {
        let block = self.provider.block();
        let wants_block = block.blocks().values().any(|nested| nested.min_items > 0);
        wants_block || !block.missing(&block.empty_value()).is_empty()
    }

    /// Creates schemas from a cache entry. The schemas of the provider itself and its functions are decoded at
    /// once.
    ///
    /// # Errors
    /// If one of these is damaged.
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

    /// The types whose lookup failed because their cache entry is damaged. If there are any, the schemas must be
    /// requested from the provider again.
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

    /// The schema of a resource type of any mode.
    pub fn of_mode(&self, mode: ResourceMode, type_name: &str) -> Option<Arc<Schema>> {
        match mode {
            ResourceMode::Managed => self.managed(type_name),
            ResourceMode::Data => self.data(type_name),
            ResourceMode::Ephemeral => self.ephemeral(type_name),
        }
    }

    /// The names of the types of one mode in order.
    pub fn types_of_mode(&self, mode: ResourceMode) -> Vec<&str> {
        match mode {
            ResourceMode::Managed => self.managed_types().collect(),
            ResourceMode::Data => self.data_types().collect(),
            ResourceMode::Ephemeral => self.ephemeral_types().collect(),
        }
    }

    /// The names of the managed resource types in order.
    pub fn managed_types(&self) -> impl Iterator<Item = &str> {
        let (decoded, cached) = match &self.types {
            Types::Decoded(types) => (Some(names(&types.managed)), None),
            Types::Cached(cache) => (None, Some(cache.managed_types())),
        };
        decoded.into_iter().flatten().chain(cached.into_iter().flatten())
    }

    /// The names of the data sources in order.
    pub fn data_types(&self) -> impl Iterator<Item = &str> {
        let (decoded, cached) = match &self.types {
            Types::Decoded(types) => (Some(names(&types.data)), None),
            Types::Cached(cache) => (None, Some(cache.data_types())),
        };
        decoded.into_iter().flatten().chain(cached.into_iter().flatten())
    }

    /// The names of the ephemeral resource types in order.
    pub fn ephemeral_types(&self) -> impl Iterator<Item = &str> {
        let (decoded, cached) = match &self.types {
            Types::Decoded(types) => (Some(names(&types.ephemeral)), None),
            Types::Cached(cache) => (None, Some(cache.ephemeral_types())),
        };
        decoded.into_iter().flatten().chain(cached.into_iter().flatten())
    }

    /// The names of the managed resource types with an identity, in order.
    pub fn identity_types(&self) -> impl Iterator<Item = &str> {
        let (decoded, cached) = match &self.types {
            Types::Decoded(types) => (Some(names(&types.identities)), None),
            Types::Cached(cache) => (None, Some(cache.identity_types())),
        };
        decoded.into_iter().flatten().chain(cached.into_iter().flatten())
    }
}

impl ProviderSchemas {
    /// Describes the first part whose meaning differs in `other`. `None` if there is no difference. Descriptions
    /// are ignored. Decodes all types.
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
        // An identity that only `other` has is no difference, because nothing uses it.
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

fn names(types: &SortedMap<Str, Arc<Schema>>) -> impl Iterator<Item = &str> {
    types.keys().map(|name| &**name)
}

impl fmt::Debug for ProviderSchemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderSchemas").field("provider", &self.provider).finish_non_exhaustive()
    }
}
