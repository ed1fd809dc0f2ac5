use std::fmt;

use smol_str::SmolStr;

use crate::key::InstanceKey;
use crate::module::{ModuleInstance, ModulePath};

/// The mode of a resource: managed, data or ephemeral.
///
/// The derived order is the order in which instances are listed: ephemeral, data, managed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResourceMode {
    /// An `ephemeral` block: opened and closed within one operation, never stored.
    Ephemeral,
    /// A `data` block.
    Data,
    /// A `resource` block.
    Managed,
}

impl ResourceMode {
    /// Returns the part of an address before the type: ``, `data.` or `ephemeral.`.
    pub fn prefix(self) -> &'static str {
        match self {
            ResourceMode::Managed => "",
            ResourceMode::Data => "data.",
            ResourceMode::Ephemeral => "ephemeral.",
        }
    }

    /// Returns the type of the block that declares a resource of this mode.
    pub fn block_type(self) -> &'static str {
        match self {
            ResourceMode::Managed => "resource",
            ResourceMode::Data => "data",
            ResourceMode::Ephemeral => "ephemeral",
        }
    }

    /// Returns the noun for messages: `managed resource`, `data source` or `ephemeral resource`.
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
    /// The mode.
    pub mode: ResourceMode,
    /// The resource type, as the provider defines it.
    pub type_name: SmolStr,
    /// The name in the configuration.
    pub name: SmolStr,
}

impl Resource {
    /// Creates a resource address from a mode, a type and a name.
    pub fn new(
        mode: ResourceMode,
        type_name: impl Into<SmolStr>,
        name: impl Into<SmolStr>,
    ) -> Resource {
        Resource { mode, type_name: type_name.into(), name: name.into() }
    }

    /// Returns the local name of the provider that the type implies: the part before the first underscore.
    pub fn implied_provider(&self) -> &str {
        self.type_name.split_once('_').map_or(self.type_name.as_str(), |(provider, _)| provider)
    }

    fn write_to(&self, out: &mut impl fmt::Write) -> fmt::Result {
        // Addresses are written often, and `write_str` takes a third of the time of a formatted argument.
        for part in [self.mode.prefix(), &self.type_name, ".", &self.name] {
            out.write_str(part)?;
        }
        Ok(())
    }

    /// Returns the address of this resource in a module instance.
    pub fn in_module(self, module: ModuleInstance) -> AbsResource {
        AbsResource { module, resource: self }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
    }
}

/// The address of a resource block in the configuration: a static module path and the resource, without instance
/// keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigResource {
    /// The module that declares the block.
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

/// A resource in one module instance. Stands for all instances of the resource there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsResource {
    /// The module instance.
    pub module: ModuleInstance,
    /// The resource in that module instance.
    pub resource: Resource,
}

impl AbsResource {
    /// Returns the address of one instance of this resource.
    pub fn instance(&self, key: InstanceKey) -> ResourceInstance {
        ResourceInstance { module: self.module.clone(), resource: self.resource.clone(), key }
    }

    /// Returns the address of the block that declares this resource.
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
    /// The module instance.
    pub module: ModuleInstance,
    /// The resource in that module instance.
    pub resource: Resource,
    /// The key of the instance.
    pub key: InstanceKey,
}

impl ResourceInstance {
    /// The address as [`Display`](fmt::Display) writes it, for callers that need many: unless it has a long module or
    /// many escapes, the text is allocated once.
    pub fn text(&self) -> String {
        let resource = &self.resource;
        let names =
            resource.mode.prefix().len() + resource.type_name.len() + 1 + resource.name.len();
        let key = match &self.key {
            InstanceKey::None => 0,
            InstanceKey::Int(_) => 12,
            InstanceKey::String(key) => key.len() + 8,
        };
        let module = if self.module.is_root() { 0 } else { 48 };
        let mut text = String::with_capacity(module + names + key);
        let _ = self.write_to(&mut text);
        text
    }

    fn write_to(&self, out: &mut impl fmt::Write) -> fmt::Result {
        if !self.module.is_root() {
            write!(out, "{}.", self.module)?;
        }
        self.resource.write_to(out)?;
        self.key.write_to(out)
    }

    /// Returns the resource without the instance key.
    pub fn containing_resource(&self) -> AbsResource {
        AbsResource { module: self.module.clone(), resource: self.resource.clone() }
    }

    /// Returns the address of the block that declares this instance.
    pub fn config(&self) -> ConfigResource {
        ConfigResource { module: self.module.path(), resource: self.resource.clone() }
    }

    /// Returns true if `block` declares this instance. Does not allocate an address.
    pub fn is_declared_by(&self, block: &ConfigResource) -> bool {
        self.resource == block.resource && self.module.is_instance_of(&block.module)
    }
}

impl fmt::Display for ResourceInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
    }
}
