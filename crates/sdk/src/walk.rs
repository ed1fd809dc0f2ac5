//! A walk over a schema that rebuilds one value and visits the same places of up to two others.

use provider::{Nesting, ObjectNesting};
use values::{Kind, Path, Step, Str, Value, ValueMap};

use crate::schema::{Attribute, Block, Shape};

/// The values of the configuration and the prior object at the current place. `None` if a value does not have this
/// place.
#[derive(Clone, Default)]
pub(crate) struct Places {
    pub(crate) config: Option<Value>,
    pub(crate) prior: Option<Value>,
}

impl Places {
    fn step(&self, into: impl Fn(&Value) -> Option<Value>) -> Places {
        Places {
            config: self.config.as_ref().and_then(&into),
            prior: self.prior.as_ref().and_then(&into),
        }
    }

    fn attr(&self, name: &str) -> Places {
        self.step(|value| value.get_attr(name))
    }

    /// Steps to the element that corresponds to an element of the rebuilt value: by index, by key, and in a set by
    /// equality.
    fn element(&self, step: &Step) -> Places {
        self.step(|value| step.apply(value))
    }
}

/// The new value of an attribute, and whether the walk enters it.
pub(crate) struct Outcome {
    pub(crate) value: Value,
    pub(crate) enter: bool,
}

impl Outcome {
    pub(crate) fn keep(value: &Value) -> Outcome {
        Outcome { value: value.clone(), enter: true }
    }

    pub(crate) fn replace(value: Value) -> Outcome {
        Outcome { value, enter: false }
    }
}

/// A function that decides about one attribute, given its path, its schema, the other values, and its own value.
pub(crate) type Decide<'a> = dyn FnMut(&Path, &Attribute, &Places, &Value) -> Outcome + 'a;

/// Rebuilds `value`, an object of `block`. `decide` returns the new value of each attribute, outermost first.
pub(crate) fn rebuild_block(
    block: &Block,
    path: &Path,
    places: &Places,
    value: &Value,
    decide: &mut Decide<'_>,
) -> Value {
    let Kind::Object(parts) = value.kind() else { return value.clone() };
    let mut rebuilt = parts.clone();
    for (name, attribute) in &block.attributes {
        rebuild_entry(&mut rebuilt, name, |part| {
            rebuild_attribute(attribute, &path.clone().attr(name), &places.attr(name), part, decide)
        });
    }
    for (name, nested) in &block.blocks {
        rebuild_entry(&mut rebuilt, name, |part| {
            let (path, places) = (path.clone().attr(name), places.attr(name));
            match nested.nesting {
                Nesting::Single | Nesting::Group => {
                    rebuild_block(&nested.block, &path, &places, part, decide)
                }
                Nesting::List | Nesting::Set | Nesting::Map => {
                    rebuild_elements(&path, &places, part, &mut |path, places, element| {
                        rebuild_block(&nested.block, path, places, element, decide)
                    })
                }
            }
        });
    }
    Value::object(rebuilt)
}

fn rebuild_entry(parts: &mut ValueMap, name: &Str, rebuild: impl FnOnce(&Value) -> Value) {
    if let Some(part) = parts.get_mut(name) {
        *part = rebuild(part);
    }
}

fn rebuild_attribute(
    attribute: &Attribute,
    path: &Path,
    places: &Places,
    value: &Value,
    decide: &mut Decide<'_>,
) -> Value {
    let outcome = decide(path, attribute, places, value);
    let Shape::Nested(nesting, objects) = &attribute.shape else { return outcome.value };
    if !outcome.enter {
        return outcome.value;
    }
    match nesting {
        ObjectNesting::Single => rebuild_block(objects, path, places, &outcome.value, decide),
        ObjectNesting::List | ObjectNesting::Set | ObjectNesting::Map => {
            rebuild_elements(path, places, &outcome.value, &mut |path, places, element| {
                rebuild_block(objects, path, places, element, decide)
            })
        }
    }
}

fn rebuild_elements(
    path: &Path,
    places: &Places,
    value: &Value,
    rebuild: &mut dyn FnMut(&Path, &Places, &Value) -> Value,
) -> Value {
    value.map_parts(|step, element| {
        // The value of a map block with dynamic attributes is an object, but its labels are still keys.
        let key = match step {
            Step::Attr(name) => Value::string(name.clone()),
            Step::Index(key) => key.clone(),
        };
        rebuild(&path.clone().index(key), &places.element(step), element)
    })
}
