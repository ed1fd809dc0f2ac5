use std::fmt;

use smol_str::SmolStr;

use crate::key::InstanceKey;
use crate::module::{ModuleInstance, ModulePath};

/// Which of the three families a resource belongs to.
///
/// The order is that of lists of instances: ephemeral, data, managed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResourceMode {
    /// `ephemeral` block: opened and closed within one operation, never stored.
    Ephemeral,
    /// `data` block.
    Data,
    /// `resource` block.
    Managed,
}

impl ResourceMode {
    /// What precedes the type in an address: ``, `data.` or `ephemeral.`.
    pub fn prefix(self) -> &'static str {
        match self {
            ResourceMode::Managed => "",
            ResourceMode::Data => "data.",
            ResourceMode::Ephemeral => "ephemeral.",
        }
    }

    /// The type of block that declares such a resource, as written in a configuration.
    pub fn block_type(self) -> &'static str {
        match self {
            ResourceMode::Managed => "resource",
            ResourceMode::Data => "data",
            ResourceMode::Ephemeral => "ephemeral",
        }
    }

    /// The word in messages: `managed resource`, `data source`, `ephemeral resource`.
    pub fn noun(self) -> &'static str {
        match self {
            ResourceMode::Managed => "managed resource",
            ResourceMode::Data => "data source",
            ResourceMode::Ephemeral => "ephemeral resource",
        }
    }
}

/// A resource within one module: `aws_vpc.main`, `data.aws_ami.x`, `ephemeral.vault_kv.y`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource {
    /// Family.
    pub mode: ResourceMode,
    /// Type, as the provider names it.
    pub type_name: SmolStr,
    /// Name, as the configuration's author chose it.
    pub name: SmolStr,
}

impl Resource {
    /// A resource of this family, type and name.
    pub fn new(
        mode: ResourceMode,
        type_name: impl Into<SmolStr>,
        name: impl Into<SmolStr>,
    ) -> Resource {
        Resource { mode, type_name: type_name.into(), name: name.into() }
    }

    /// The local name of the provider that this type implies: what precedes the first underscore.
    pub fn implied_provider(&self) -> &str {
        self.type_name.split_once('_').map_or(self.type_name.as_str(), |(provider, _)| provider)
    }

    /// This resource in a module instance.
    pub fn in_module(self, module: ModuleInstance) -> AbsResource {
        AbsResource { module, resource: self }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}.{}", self.mode.prefix(), self.type_name, self.name)
    }
}

/// A resource block of the configuration: static module path and resource, no keys anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigResource {
    /// Module whose source declares it.
    pub module: ModulePath,
    /// The resource in that module.
    pub resource: Resource,
}

impl fmt::Display for ConfigResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        self.resource.fmt(f)
    }
}

/// A resource in one module instance, standing for all its instances.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsResource {
    /// Module instance.
    pub module: ModuleInstance,
    /// The resource in it.
    pub resource: Resource,
}

impl AbsResource {
    /// One instance of this resource.
    pub fn instance(&self, key: InstanceKey) -> ResourceInstance {
        ResourceInstance { module: self.module.clone(), resource: self.resource.clone(), key }
    }

    /// The block that declares it.
    pub fn config(&self) -> ConfigResource {
        ConfigResource { module: self.module.path(), resource: self.resource.clone() }
    }
}

impl fmt::Display for AbsResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        self.resource.fmt(f)
    }
}

/// One instance of a resource in one module instance: `module.a["x"].ephemeral.t.n[0]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceInstance {
    /// Module instance.
    pub module: ModuleInstance,
    /// The resource in it.
    pub resource: Resource,
    /// Which instance.
    pub key: InstanceKey,
}

impl ResourceInstance {
    /// The resource without the instance key.
    pub fn containing_resource(&self) -> AbsResource {
        AbsResource { module: self.module.clone(), resource: self.resource.clone() }
    }

    /// The block that declares it.
    pub fn config(&self) -> ConfigResource {
        ConfigResource { module: self.module.path(), resource: self.resource.clone() }
    }

    /// Says whether `block` declares this instance, without building an address.
    pub fn is_declared_by(&self, block: &ConfigResource) -> bool {
        self.resource == block.resource && self.module.is_instance_of(&block.module)
    }
}

impl fmt::Display for ResourceInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        write!(f, "{}{}", self.resource, self.key)
    }
}
