use std::fmt;

use smol_str::SmolStr;

use crate::quote::write_quoted;

/// The key that distinguishes an instance of a resource, module call or provider configuration from its siblings.
///
/// The derived order is the order in which instances are listed: `None`, then integers by value, then strings by
/// bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InstanceKey {
    /// The key of a single instance: the block has neither `count` nor `for_each`.
    #[default]
    None,
    /// The index of an instance of a block with `count`.
    Int(i64),
    /// The key of an instance of a block with `for_each`.
    String(SmolStr),
}

impl InstanceKey {
    /// Creates the key of a `for_each` instance.
    pub fn string(text: impl Into<SmolStr>) -> InstanceKey {
        InstanceKey::String(text.into())
    }

    /// Returns true if this is the key of a single instance.
    pub fn is_none(&self) -> bool {
        matches!(self, InstanceKey::None)
    }

    /// Writes the key as [`Display`](fmt::Display) does.
    pub(crate) fn write_to(&self, out: &mut impl fmt::Write) -> fmt::Result {
        match self {
            InstanceKey::None => Ok(()),
            InstanceKey::Int(index) => write!(out, "[{index}]"),
            InstanceKey::String(text) => {
                out.write_str("[")?;
                write_quoted(out, text)?;
                out.write_str("]")
            }
        }
    }
}

/// Prints nothing for `None`; otherwise an index in brackets, such as `[0]` or `["a"]`.
impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
    }
}
