//! The address of one object.

use std::fmt;

use addr::ResourceInstance;

use crate::resources::DeposedKey;

/// The address of an object of a resource instance: of the current one, or of a deposed one.
///
/// Displayed as OpenTofu does: `a.b` or `a.b (deposed object 01234567)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectAddress {
    /// The resource instance that the object belongs to.
    pub instance: ResourceInstance,
    /// The key of a deposed object; `None` for the current object.
    pub deposed: Option<DeposedKey>,
}

impl From<ResourceInstance> for ObjectAddress {
    /// The current object of an instance.
    fn from(instance: ResourceInstance) -> Self {
        Self { instance, deposed: None }
    }
}

impl fmt::Display for ObjectAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.instance)?;
        match self.deposed {
            Some(key) => write!(f, " (deposed object {key})"),
            None => Ok(()),
        }
    }
}
