use std::fmt;

use smol_str::SmolStr;

use crate::quote::quote;

/// Tells one instance of a resource, module call or provider configuration from its siblings.
///
/// The order is that of lists of instances: none, then numbers by value, then texts by bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InstanceKey {
    /// The only instance: neither `count` nor `for_each` is used.
    #[default]
    None,
    /// An instance of `count`.
    Int(i64),
    /// An instance of `for_each`.
    String(SmolStr),
}

impl InstanceKey {
    /// The key of a `for_each` instance.
    pub fn string(text: impl Into<SmolStr>) -> InstanceKey {
        InstanceKey::String(text.into())
    }

    /// Says whether this is the key of a single instance.
    pub fn is_none(&self) -> bool {
        matches!(self, InstanceKey::None)
    }
}

/// Prints nothing, `[0]` or `["a"]`.
impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstanceKey::None => Ok(()),
            InstanceKey::Int(index) => write!(f, "[{index}]"),
            InstanceKey::String(text) => write!(f, "[{}]", quote(text)),
        }
    }
}
