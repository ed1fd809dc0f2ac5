//! Names: those of attributes, keys, variables and everything else that a configuration declares or refers to.
//!
//! Names are copied far more often than they are made, by all processors at once. A short one is stored in place, so a
//! copy neither allocates nor counts references, and a comparison follows no pointer.
//!
//! **Invariant:** a name that is made from a value's text shares the allocation of the text. So a secret that is used
//! as a key stays on the heap, which is cleared when it is freed, and never on a stack. Names that are read from data
//! (states, messages of providers, JSON, YAML, CSV) are made by [`Str::on_heap`], because they may be secret;
//! `Str::from` is for names that a configuration or a schema declares.

use std::{
    borrow::Borrow,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
    sync::Arc,
};

use smol_str::SmolStr;

use crate::Text;

/// A name, which is cheap to copy.
#[derive(Clone)]
pub struct Str(Stored);

#[derive(Clone)]
enum Stored {
    /// A name from a configuration or a schema. Up to 23 bytes are stored here.
    Own(SmolStr),
    /// The text of a value.
    Shared(Text),
}

impl Str {
    /// A name in an allocation of its own, for text that may be secret.
    #[must_use]
    pub fn on_heap(text: &str) -> Str {
        Str(Stored::Shared(Arc::from(text)))
    }

    /// The text as a value stores it.
    #[must_use]
    pub fn to_text(&self) -> Text {
        match &self.0 {
            Stored::Own(name) => Arc::from(&**name),
            Stored::Shared(text) => Arc::clone(text),
        }
    }

    #[inline]
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Stored::Own(name) => name,
            Stored::Shared(text) => text,
        }
    }
}

impl Default for Str {
    fn default() -> Str {
        Str(Stored::Own(SmolStr::default()))
    }
}

impl Deref for Str {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Str {
    #[inline]
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Str {
    #[inline]
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for Str {
    #[inline]
    fn eq(&self, other: &Str) -> bool {
        **self == **other
    }
}

impl Eq for Str {}

impl PartialEq<str> for Str {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialOrd for Str {
    #[inline]
    fn partial_cmp(&self, other: &Str) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Str {
    #[inline]
    fn cmp(&self, other: &Str) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Str {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl From<&str> for Str {
    #[inline]
    fn from(text: &str) -> Str {
        Str(Stored::Own(SmolStr::new(text)))
    }
}

impl From<String> for Str {
    fn from(text: String) -> Str {
        Str(Stored::Own(SmolStr::from(text)))
    }
}

impl From<Text> for Str {
    #[inline]
    fn from(text: Text) -> Str {
        Str(Stored::Shared(text))
    }
}

impl From<SmolStr> for Str {
    fn from(name: SmolStr) -> Str {
        Str(Stored::Own(name))
    }
}

impl From<Str> for Text {
    fn from(name: Str) -> Text {
        name.to_text()
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher as _;

    use super::*;
    use crate::{Type, json, msgpack};

    #[test]
    fn names_and_their_optional_forms_take_three_words() {
        assert_eq!(size_of::<Str>(), 24);
        assert_eq!(size_of::<Option<Str>>(), 24);
    }

    #[test]
    fn a_name_from_a_text_shares_its_allocation() {
        let text: Text = Arc::from("key");
        let name = Str::from(Arc::clone(&text));
        assert!(Arc::ptr_eq(&name.to_text(), &text));
        assert!(Arc::ptr_eq(&Text::from(name), &text));
    }

    #[test]
    fn decoded_names_are_on_the_heap() {
        let json = json::decode_implied(br#"{"key": 1}"#).expect("is JSON");
        let map = Type::map(Type::Number);
        let typed = json::decode(br#"{"key": 1}"#, &map).expect("is a map");
        let packed = msgpack::encode(&typed, &map).expect("has no marks");
        let unpacked = msgpack::decode(&packed, &map).expect("was encoded");
        for value in [json, typed, unpacked] {
            let names: Vec<&Str> = value.as_map().expect("has keys").keys().collect();
            assert!(matches!(names[..], [Str(Stored::Shared(_))]), "{value:?}");
        }
        let Type::Object(object) = Type::object([("key", Type::Bool)]) else { unreachable!() };
        assert!(object.iter().all(|(name, _)| matches!(name.0, Stored::Shared(_))));
    }

    #[test]
    fn the_form_of_a_name_does_not_matter() {
        for text in ["", "key", "a name that is longer than what fits in place"] {
            let (own, shared) = (Str::from(text), Str::on_heap(text));
            assert_eq!(own, shared);
            assert_eq!(own.cmp(&shared), Ordering::Equal);
            let hash = |name: &Str| rustc_hash::FxBuildHasher.hash_one(name);
            assert_eq!(hash(&own), hash(&shared));
        }
    }
}
