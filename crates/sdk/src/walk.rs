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
    /// equality. A configured element of a set lacks what the provider chooses, so it corresponds to one that equals it
    /// apart from that.
    fn element(&self, step: &Step, block: &Block) -> Places {
        let mut places = self.step(|value| step.apply(value));
        if let (None, Some(config), Step::Index(element)) = (&places.config, &self.config, step)
            && matches!(config.kind(), Kind::Set(_))
        {
            let mut configured = config.elements().map(|(_, it)| it);
            places.config = configured.find(|it| fits(block, it, element)).cloned();
        }
        places
    }
}

/// Returns true if a planned object can come from a configured one: they are equal apart from attributes that are not
/// configured and that the provider sets, and from write-only ones.
fn fits(block: &Block, configured: &Value, planned: &Value) -> bool {
    let (Kind::Object(_), Kind::Object(_)) = (configured.kind(), planned.kind()) else {
        return configured == planned;
    };
    let both = |name: &Str| configured.get_attr(name).zip(planned.get_attr(name));
    let attributes = block.attributes.iter().all(|(name, attribute)| {
        let Some((configured, planned)) = both(name) else { return true };
        let is_open = attribute.write_only || attribute.computed && configured.is_null();
        is_open
            || configured == planned
            || match &attribute.shape {
                Shape::Nested(ObjectNesting::Single, objects) => {
                    fits(objects, &configured, &planned)
                }
                Shape::Nested(_, objects) => elements_fit(objects, &configured, &planned),
                Shape::Type(_) => false,
            }
    });
    let blocks = block.blocks.iter().all(|(name, nested)| {
        let Some((configured, planned)) = both(name) else { return true };
        configured == planned
            || match nested.nesting {
                Nesting::Single | Nesting::Group => fits(&nested.block, &configured, &planned),
                _ => elements_fit(&nested.block, &configured, &planned),
            }
    });
    attributes && blocks
}

/// Returns true if each planned element can come from the configured one in its place.
fn elements_fit(block: &Block, configured: &Value, planned: &Value) -> bool {
    let (configured, planned) = (configured.elements(), planned.elements());
    let (configured, planned): (Vec<_>, Vec<_>) = (configured.collect(), planned.collect());
    let mut pairs = configured.iter().zip(&planned);
    configured.len() == planned.len() && pairs.all(|((_, a), (_, b))| fits(block, a, b))
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
                    let block = &nested.block;
                    rebuild_elements(block, &path, &places, part, &mut |path, places, element| {
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
            rebuild_elements(objects, path, places, &outcome.value, &mut |path, places, element| {
                rebuild_block(objects, path, places, element, decide)
            })
        }
    }
}

fn rebuild_elements(
    block: &Block,
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
        rebuild(&path.clone().index(key), &places.element(step, block), element)
    })
}
