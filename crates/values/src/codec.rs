//! The parts that both codecs share: their error type, and the limits for hostile input.

use crate::{Path, Step, Type, Value};

/// The maximum nesting depth of values in encoded form.
pub(crate) const MAX_DEPTH: usize = 256;

/// The reason why bytes do not decode to a value, or why a value cannot be encoded. It never quotes the value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", describe(.path, .message))]
pub struct CodecError {
    /// The path to the faulty part of the value.
    pub path: Path,
    /// The reason, such as `string is required`.
    pub message: String,
}

fn describe(path: &Path, message: &str) -> String {
    if path.is_root() { message.to_owned() } else { format!("{path}: {message}") }
}

impl CodecError {
    /// Returns the error with a path that contains only attribute names that the type declares. Keys of maps,
    /// elements of sets and names below an open type are values, which may be secret.
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

    /// Returns the error as one of the container, in which `step` leads to the faulty value.
    pub(crate) fn within(mut self, step: Step) -> CodecError {
        self.path = std::iter::once(&step).chain(self.path.steps()).cloned().collect();
        self
    }

    pub(crate) fn at_root(message: impl Into<String>) -> CodecError {
        CodecError { path: Path::root(), message: message.into() }
    }
}

/// Refuses marked values: a mark cannot be encoded, and dropping it would leak the value.
pub(crate) fn check_unmarked(value: &Value) -> Result<(), CodecError> {
    if value.is_marked_deep() {
        return Err(CodecError::at_root("value has marks, so it cannot be serialized"));
    }
    Ok(())
}

/// Returns the common element type of decoded elements, if the wanted type is open.
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
