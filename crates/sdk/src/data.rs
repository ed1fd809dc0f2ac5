//! Typed access to the objects in requests.

use std::collections::BTreeMap;

use values::{Kind, Path, Step, Str, Text, Value};

use crate::diagnostics::{Diagnostic, shown};

/// An object of a schema, or null, with the path for diagnostics about its parts. It has no `Debug`, because it
/// may hold secrets.
#[derive(Clone)]
pub struct Object {
    value: Value,
    path: Path,
    /// The beginning of the names of all attributes; see [`Object::with_prefix`].
    prefix: Str,
}

impl Object {
    /// Wraps a value as an object.
    #[must_use]
    pub fn new(value: Value) -> Object {
        Object::at(value, Path::root())
    }

    /// Wraps a part of an object.
    #[must_use]
    pub(crate) fn at(value: Value, path: Path) -> Object {
        Object { value, path, prefix: Str::default() }
    }

    /// Returns the object with shorter names: its attribute `x` is the one whose whole name is the prefix and `x`. A
    /// struct that is flattened with a prefix reads it.
    #[must_use]
    pub fn with_prefix(&self, prefix: &str) -> Object {
        Object { prefix: self.name_of(prefix), ..self.clone() }
    }

    /// The whole name of an attribute.
    #[must_use]
    pub fn name_of(&self, name: impl AsRef<str>) -> Str {
        match self.prefix.is_empty() {
            true => name.as_ref().into(),
            false => format!("{}{}", self.prefix, name.as_ref()).into(),
        }
    }

    /// The whole value, with the attributes that do not have the prefix too.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns true if the object is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value.is_null()
    }

    /// The path of an attribute of this object.
    #[must_use]
    pub fn path_of(&self, name: impl AsRef<str>) -> Path {
        self.path.clone().attr(self.name_of(name))
    }

    /// Returns an attribute. Null if the object has no such attribute.
    #[must_use]
    pub fn attr(&self, name: impl AsRef<str>) -> Value {
        self.value
            .get_attr(&self.name_of(name))
            .unwrap_or_else(|| Value::null(values::Type::Dynamic))
    }

    /// Returns true if an attribute is unknown.
    #[must_use]
    pub fn is_unknown(&self, name: impl AsRef<str>) -> bool {
        !self.attr(name).is_known()
    }

    /// Returns true if an attribute is null.
    #[must_use]
    pub fn is_absent(&self, name: impl AsRef<str>) -> bool {
        self.attr(name).is_null()
    }

    /// Returns a string attribute. `None` if it is null or unknown.
    #[must_use]
    pub fn string(&self, name: impl AsRef<str>) -> Option<Text> {
        match self.attr(name).kind() {
            Kind::String(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Returns a boolean attribute. `None` if it is null or unknown.
    #[must_use]
    pub fn bool(&self, name: impl AsRef<str>) -> Option<bool> {
        self.attr(name).as_bool()
    }

    /// Returns a whole number. `None` if it is null or unknown.
    ///
    /// # Errors
    /// If the number is not exactly an `i64`; it is never rounded.
    pub fn int(&self, name: impl AsRef<str>) -> Result<Option<i64>, Diagnostic> {
        let value = self.attr(&name);
        let Some(number) = value.as_number() else { return Ok(None) };
        let not_whole = || {
            let path = self.path_of(name);
            let detail = format!("{} must be a whole number that fits into 64 bits.", shown(&path));
            Diagnostic::error("Invalid Attribute Value", detail).at(path)
        };
        number.to_i64().map(Some).ok_or_else(not_whole)
    }

    /// Returns the strings in a list, set or tuple, without null and unknown ones.
    #[must_use]
    pub fn strings(&self, name: impl AsRef<str>) -> Vec<Text> {
        let text = |(_, element): (Value, &Value)| element.as_str().map(Text::from);
        self.attr(name).elements().filter_map(text).collect()
    }

    /// Returns the strings in a map or object by their keys, without null and unknown ones.
    #[must_use]
    pub fn string_map(&self, name: impl AsRef<str>) -> BTreeMap<Str, Text> {
        let value = self.attr(name);
        let entries = value.as_map().into_iter().flatten();
        entries.filter_map(|(key, it)| Some((key.clone(), Text::from(it.as_str()?)))).collect()
    }

    /// Returns a nested object. `None` if it is null or unknown.
    #[must_use]
    pub fn object(&self, name: impl AsRef<str>) -> Option<Object> {
        let value = self.attr(&name);
        let object = Object::at(value, self.path_of(name));
        matches!(object.value.kind(), Kind::Object(_)).then_some(object)
    }

    /// Returns the objects in a list, set or map with their keys. Empty if the collection is null or unknown.
    #[must_use]
    pub fn objects(&self, name: impl AsRef<str>) -> Vec<(Value, Object)> {
        let (value, path) = (self.attr(&name), self.path_of(&name));
        let element = |(key, element): (Value, &Value)| {
            (key.clone(), Object::at(element.clone(), path.clone().index(key)))
        };
        value.elements().map(element).collect()
    }

    /// Replaces an attribute. Does nothing for a null object.
    pub fn set(&mut self, name: impl AsRef<str>, value: impl Into<Value>) {
        let step = Step::Attr(self.name_of(name));
        self.value = self.value.with_part(&step, |_| value.into());
    }

    /// Replaces an attribute by an unknown value of its type. In a plan it is one that the provider will choose.
    pub fn set_unknown(&mut self, name: impl AsRef<str>) {
        let ty = self.attr(&name).ty();
        self.set(name, Value::unknown(ty));
    }

    /// Replaces an attribute by a string, or by null.
    pub fn set_or_null(&mut self, name: impl AsRef<str>, text: Option<&str>) {
        match text {
            Some(text) => self.set(name, text),
            None => self.clear(name),
        }
    }

    /// Replaces an attribute by null.
    pub fn clear(&mut self, name: impl AsRef<str>) {
        let ty = self.attr(&name).ty();
        self.set(name, Value::null(ty));
    }
}
