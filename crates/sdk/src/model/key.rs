//! Names of attributes with the types of their fields.

use std::marker::PhantomData;

use values::Path;

/// The name of an attribute with the Rust type of its values. The derive macro of [`super::Model`] adds one constant
/// for each field: `Note::TITLE` for `title`. It is used where values may be unknown, and for the paths of diagnostics.
pub struct Key<T> {
    name: &'static str,
    of: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// Creates the key of an attribute.
    #[must_use]
    pub const fn new(name: &'static str) -> Key<T> {
        Key { name, of: PhantomData }
    }

    /// The name of the attribute.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The path of the attribute in an object that is not nested.
    #[must_use]
    pub fn path(&self) -> Path {
        Path::root().attr(self.name)
    }
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Key<T> {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T> AsRef<str> for Key<T> {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl<T> From<Key<T>> for Path {
    fn from(key: Key<T>) -> Path {
        key.path()
    }
}
