//! Paths into values.

use std::fmt;

use crate::{Kind, Str, Value};

/// The path from a value to one of its parts.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Path(Vec<Step>);

/// One step of a [`Path`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// An attribute of an object.
    Attr(Str),
    /// An index of a list or tuple, a key of a map, or an element of a set.
    Index(Value),
}

impl Path {
    /// Returns the path to the value itself.
    #[must_use]
    pub const fn root() -> Path {
        Path(Vec::new())
    }

    /// Returns the steps, outermost first.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Returns true if this is the path to the value itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends a step.
    pub fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    /// Removes the last step.
    pub fn pop(&mut self) -> Option<Step> {
        self.0.pop()
    }

    /// Returns this path extended by an attribute.
    #[must_use]
    pub fn attr(mut self, name: impl AsRef<str>) -> Path {
        self.0.push(Step::Attr(Str::from(name.as_ref())));
        self
    }

    /// Returns this path extended by an index or key.
    #[must_use]
    pub fn index(mut self, key: Value) -> Path {
        self.0.push(Step::Index(key));
        self
    }

    /// Returns this path followed by another.
    #[must_use]
    pub fn join(mut self, rest: &Path) -> Path {
        self.0.extend_from_slice(&rest.0);
        self
    }

    /// Returns true if `self` leads to the same part as `other`, or to a part that contains it.
    #[must_use]
    pub fn is_prefix_of(&self, other: &Path) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Returns the part of `value` that the path leads to, or `None` if there is none. The marks of enclosing
    /// parts are not applied.
    #[must_use]
    pub fn apply(&self, value: &Value) -> Option<Value> {
        self.0.iter().try_fold(value.clone(), |value, step| step.apply(&value))
    }
}

impl Step {
    /// Returns the part of `value` that this step leads to, or `None` if there is none.
    #[must_use]
    pub fn apply(&self, value: &Value) -> Option<Value> {
        match (self, value.kind()) {
            (Step::Attr(name), Kind::Object(attributes)) => attributes.get(name).cloned(),
            (Step::Index(key), Kind::Map(elements)) => elements.get(key.as_str()?).cloned(),
            (Step::Index(key), Kind::List(elements) | Kind::Tuple(elements)) => {
                elements.get(key.as_number()?.to_usize()?).cloned()
            }
            (Step::Index(key), Kind::Set(elements)) => {
                elements.iter().find(|element| *element == key).cloned()
            }
            _ => None,
        }
    }
}

impl FromIterator<Step> for Path {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Path {
        Path(steps.into_iter().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| write!(f, "{step}"))
    }
}

impl fmt::Display for Step {
    /// Writes the step as in a configuration: `.name`, `["key"]`, `[0]`. An element of a set, or a secret key,
    /// reads `[...]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Attr(name) => write!(f, ".{name}"),
            Step::Index(key) => match key.kind() {
                _ if key.has_deep_secret() => f.write_str("[...]"),
                Kind::String(_) | Kind::Number(_) => write!(f, "[{key:?}]"),
                _ => f.write_str("[...]"),
            },
        }
    }
}
