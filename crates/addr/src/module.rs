use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::key::InstanceKey;

/// The static path of a module in the configuration: the names of the module calls from the root, without instance
/// keys.
///
/// Paths sort by depth, then by names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModulePath(Arc<[SmolStr]>);

impl ModulePath {
    /// Returns the path of the root module.
    pub fn root() -> ModulePath {
        ModulePath::default()
    }

    /// Creates the path of these call names, outermost first.
    pub fn new(names: impl IntoIterator<Item = SmolStr>) -> ModulePath {
        ModulePath(names.into_iter().collect())
    }

    /// Returns true if this is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The names of the calls, outermost first.
    pub fn names(&self) -> &[SmolStr] {
        &self.0
    }

    /// Returns the path of the module that the call `name` in this module refers to.
    pub fn child(&self, name: impl Into<SmolStr>) -> ModulePath {
        ModulePath(self.0.iter().cloned().chain([name.into()]).collect())
    }

    /// Returns the path of the calling module and the name of the call; `None` for the root.
    pub fn split_last(&self) -> Option<(ModulePath, &SmolStr)> {
        let (name, parent) = self.0.split_last()?;
        Some((ModulePath(parent.into()), name))
    }

    /// Returns the path of the calling module; `None` for the root.
    pub fn parent(&self) -> Option<ModulePath> {
        self.split_last().map(|(parent, _)| parent)
    }

    /// Returns true if `other` is this module or lies inside it.
    pub fn contains(&self, other: &ModulePath) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Returns the only instance of this module, if no call on the path has `count` or `for_each`.
    pub fn unkeyed_instance(&self) -> ModuleInstance {
        ModuleInstance(
            self.0
                .iter()
                .map(|name| ModuleStep { name: name.clone(), key: InstanceKey::None })
                .collect(),
        )
    }
}

impl Ord for ModulePath {
    fn cmp(&self, other: &ModulePath) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for ModulePath {
    fn partial_cmp(&self, other: &ModulePath) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Prints `module.a.module.b`, or nothing for the root.
impl fmt::Display for ModulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, name) in self.0.iter().enumerate() {
            let separator = if idx == 0 { "" } else { "." };
            write!(f, "{separator}module.{name}")?;
        }
        Ok(())
    }
}

/// One module call on the path to a module instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleStep {
    /// The name of the call.
    pub name: SmolStr,
    /// The key of the instance of the call.
    pub key: InstanceKey,
}

impl fmt::Display for ModuleStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "module.{}{}", self.name, self.key)
    }
}

/// An instance of a module: the calls from the root, each with its instance key.
///
/// Instances sort by depth, then by the name and the key of each step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModuleInstance(Arc<[ModuleStep]>);

impl ModuleInstance {
    /// Returns the only instance of the root module.
    pub fn root() -> ModuleInstance {
        ModuleInstance::default()
    }

    /// Creates the instance at the end of these steps, outermost first.
    pub fn new(steps: impl IntoIterator<Item = ModuleStep>) -> ModuleInstance {
        ModuleInstance(steps.into_iter().collect())
    }

    /// Returns true if this is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The steps, outermost first.
    pub fn steps(&self) -> &[ModuleStep] {
        &self.0
    }

    /// Returns the instance `key` of the call `name` in this instance.
    pub fn child(&self, name: impl Into<SmolStr>, key: InstanceKey) -> ModuleInstance {
        let step = ModuleStep { name: name.into(), key };
        ModuleInstance(self.0.iter().cloned().chain([step]).collect())
    }

    /// Returns the calling instance and the last step; `None` for the root.
    pub fn split_last(&self) -> Option<(ModuleInstance, &ModuleStep)> {
        let (step, parent) = self.0.split_last()?;
        Some((ModuleInstance(parent.into()), step))
    }

    /// Returns the calling instance; `None` for the root.
    pub fn parent(&self) -> Option<ModuleInstance> {
        self.split_last().map(|(parent, _)| parent)
    }

    /// Returns the static path: the names of the steps without their keys.
    pub fn path(&self) -> ModulePath {
        ModulePath(self.0.iter().map(|step| step.name.clone()).collect())
    }

    /// Returns true if this is an instance of `path`. Does not allocate a path.
    pub fn is_instance_of(&self, path: &ModulePath) -> bool {
        self.0.len() == path.0.len()
            && self.0.iter().zip(path.0.iter()).all(|(step, name)| step.name == *name)
    }

    /// Returns true if `other` is this instance or lies inside it.
    pub fn contains(&self, other: &ModuleInstance) -> bool {
        other.0.starts_with(&self.0)
    }
}

impl Ord for ModuleInstance {
    fn cmp(&self, other: &ModuleInstance) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for ModuleInstance {
    fn partial_cmp(&self, other: &ModuleInstance) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Prints `module.a[0].module.b["x"]`, or nothing for the root.
impl fmt::Display for ModuleInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, step) in self.0.iter().enumerate() {
            let separator = if idx == 0 { "" } else { "." };
            write!(f, "{separator}{step}")?;
        }
        Ok(())
    }
}
