//! The names by which resources refer to provider configurations.

use values::Str;

/// The local name and the alias of the provider that a resource uses.
pub(crate) fn provider_name(resource: &hir::item::Resource) -> (Str, Option<Str>) {
    match &resource.provider {
        Some(provider) => (provider.local_name.clone(), provider.alias.clone()),
        None => (Str::from(resource.resource.implied_provider()), None),
    }
}
