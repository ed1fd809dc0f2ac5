//! The path of a part of an object, which becomes a text only in a message.

use std::fmt;

/// The path of a part of an object: a list from the part outwards, so that a step needs no memory. Most bodies have no
/// message that shows it.
#[derive(Clone, Copy, Debug)]
pub(super) enum PartPath<'p> {
    /// The object itself.
    Object,
    /// An attribute, or the blocks of a type.
    Name(&'p PartPath<'p>, &'p str),
    /// An element of a list.
    Index(&'p PartPath<'p>, usize),
    /// An element of a map.
    Key(&'p PartPath<'p>, &'p str),
}

impl fmt::Display for PartPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartPath::Object => Ok(()),
            PartPath::Name(PartPath::Object, name) => f.write_str(name),
            PartPath::Name(outer, name) => write!(f, "{outer}.{name}"),
            PartPath::Index(outer, index) => write!(f, "{outer}[{index}]"),
            PartPath::Key(outer, key) => write!(f, "{outer}[{key:?}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PartPath::{Index, Key, Name, Object};

    #[test]
    fn path_is_written_as_a_reference_from_the_object() {
        assert_eq!(Object.to_string(), "");
        let rule = Name(&Object, "rule");
        let first = Index(&rule, 0);
        assert_eq!(Name(&first, "port").to_string(), "rule[0].port");
        assert_eq!(Name(&Key(&rule, "a \"b\""), "port").to_string(), r#"rule["a \"b\""].port"#);
    }
}
