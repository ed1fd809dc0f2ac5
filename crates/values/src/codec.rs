//! What both codecs share: their error, and the limits that hostile input meets.

use crate::{Path, Step, Type, Value};

/// How deep values may nest in encoded form.
pub(crate) const MAX_DEPTH: usize = 256;

/// Why bytes are no value, or a value has no bytes. It never quotes the value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", describe(.path, .message))]
pub struct CodecError {
    /// The part of the value at fault.
    pub path: Path,
    /// The reason, such as `string is required`.
    pub message: String,
}

fn describe(path: &Path, message: &str) -> String {
    if path.is_root() { message.to_owned() } else { format!("{path}: {message}") }
}

impl CodecError {
    /// The same with the names of attributes that the type gives only: keys of maps, elements of sets and names that stand
    /// where the type is open are values, which may be secret.
    pub fn without_keys(mut self, ty: &Type) -> CodecError {
        let mut names = Vec::new();
        let mut ty = Some(ty);
        for step in self.path.steps() {
            ty = match (step, ty) {
                (Step::Attr(name), Some(Type::Object(object))) => {
                    let known = object.get(name);
                    names.extend(known.map(|_| step.clone()));
                    known
                }
                (Step::Index(key), Some(Type::Tuple(types))) => {
                    key.as_number().and_then(|it| it.to_usize()).and_then(|it| types.get(it))
                }
                (Step::Index(_), Some(collection)) => collection.element(),
                _ => None,
            };
        }
        self.path = names.into_iter().collect();
        self
    }

    pub(crate) fn new(path: &Path, message: impl Into<String>) -> CodecError {
        CodecError { path: path.clone(), message: message.into() }
    }

    pub(crate) fn at_root(message: impl Into<String>) -> CodecError {
        CodecError { path: Path::root(), message: message.into() }
    }
}

/// Refuses marked values: a mark cannot be written, and dropping it would be a leak.
pub(crate) fn check_unmarked(value: &Value) -> Result<(), CodecError> {
    if value.is_marked_deep() {
        return Err(CodecError::at_root("value has marks, so it cannot be serialized"));
    }
    Ok(())
}

/// The element type that all decoded elements have, where the wanted one is open.
pub(crate) fn one_type(wanted: &Type, items: &[Value], path: &Path) -> Result<Type, CodecError> {
    if !wanted.has_dynamic() {
        return Ok(wanted.without_optional());
    }
    let mut types = items.iter().map(Value::ty).filter(|ty| *ty != Type::Dynamic);
    let Some(first) = types.next() else {
        return Ok(wanted.without_optional());
    };
    if types.any(|ty| ty != first) {
        return Err(CodecError::new(path, "all elements must have the same type"));
    }
    Ok(first)
}
