//! Addresses of modules, resources, instances and providers, the sources of modules, and version constraints.
//!
//! Start reading at [`ResourceInstance`], then [`Target`], [`ProviderConfigRef`] and [`VersionConstraint`].
//!
//! **Invariant:** printing an address and parsing it again gives an equal address (`src/parse_tests.rs`).
//! **Invariant:** an address holds names and keys only. An instance key comes from an expression that is neither
//! sensitive nor ephemeral.
//! **Invariant:** `Ord` is the order in which OpenTofu lists things: state files, plans and messages depend on it.
//! **Absent on purpose:** configuration, values, files, source positions (offsets into one address text only).

mod constraint;
pub mod fuzz;
mod key;
mod module;
mod module_source;
#[cfg(test)]
mod module_source_tests;
mod parse;
#[cfg(test)]
mod parse_tests;
mod provider_config;
mod provider_source;
#[cfg(test)]
mod provider_tests;
mod quote;
mod resource;
mod scan;
mod version;
#[cfg(test)]
mod version_tests;

pub use smol_str::SmolStr;

pub use crate::constraint::{ConstraintError, ConstraintTerm, Operator, VersionConstraint};
pub use crate::key::InstanceKey;
pub use crate::module::{ModuleInstance, ModulePath, ModuleStep};
pub use crate::module_source::{Getter, ModulePackage, ModuleSource};
pub use crate::parse::{
    ObjectPart, PartStep, Target, parse_config_resource, parse_module_instance, parse_module_path,
    parse_object_part, parse_resource, parse_resource_instance, parse_target,
};
pub use crate::provider_config::{LocalProviderConfig, ProviderConfigRef};
pub use crate::provider_source::{
    BUILTIN_HOST, BUILTIN_NAMESPACE, DEFAULT_HOST, DEFAULT_NAMESPACE, ProviderSource,
};
pub use crate::quote::quote;
pub use crate::resource::{AbsResource, ConfigResource, Resource, ResourceInstance, ResourceMode};
pub use crate::scan::{AddrError, is_identifier};
pub use crate::version::{OPENTOFU_VERSION, Version, VersionError, opentofu_version};
