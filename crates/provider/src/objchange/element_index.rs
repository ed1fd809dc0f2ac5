use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher as _};

use sorted::{SortedMap, TreeMap};
use values::{Kind, Step, Str, Type, Value};

use super::same::{hash_value, same};
use crate::schema::{Attribute, Block, NestedBlock, NestedObject, Nesting, ObjectNesting};

/// The elements of a prior set, each of which matches at most one configured element.
///
/// A prior element matches a configured one if they differ only in computed attributes that the configuration does
/// not set. Comparing all pairs would be quadratic, so prior elements are found by a hash of the attributes that
/// must be equal. Which attributes these are depends on the computed attributes that the configured element sets.
/// There is one index for each such choice, and the elements of a set make few different choices.
pub(super) struct PriorElements<'a> {
    shape: Shape<'a>,
    elements: Vec<(&'a Value, bool)>,
    /// Names of attributes that must be equal → hash of their values → positions in order.
    indexes: TreeMap<Vec<&'a Str>, TreeMap<u64, VecDeque<usize>>>,
}

impl<'a> PriorElements<'a> {
    pub(super) fn of_blocks(block: &'a Block, prior: &'a Value) -> PriorElements<'a> {
        PriorElements::new(Shape::Block(block), prior)
    }

    pub(super) fn of_objects(object: &'a NestedObject, prior: &'a Value) -> PriorElements<'a> {
        PriorElements::new(Shape::Object(object), prior)
    }

    fn new(shape: Shape<'a>, prior: &'a Value) -> PriorElements<'a> {
        let elements = prior.as_slice().unwrap_or_default().iter().map(|it| (it, false)).collect();
        PriorElements { shape, elements, indexes: TreeMap::new() }
    }

    /// Returns the first unused prior element that matches `config`, and marks it as used.
    pub(super) fn take_match(&mut self, config: &Value) -> Option<&'a Value> {
        if self.elements.is_empty() {
            return None;
        }
        let names = self.shape.fixed_names(config);
        let key = hash_of(config, &names);
        let elements = &self.elements;
        let index = self.indexes.entry(names).or_insert_with_key(|names| {
            let mut index: TreeMap<u64, VecDeque<usize>> = TreeMap::new();
            for (position, (element, _)) in elements.iter().enumerate() {
                index.entry(hash_of(element, names)).or_default().push_back(position);
            }
            index
        });
        let candidates = index.get_mut(&key)?;
        while candidates.front().is_some_and(|&position| self.elements[position].1) {
            candidates.pop_front();
        }
        let position = *candidates.iter().find(|&&position| {
            let (element, used) = self.elements[position];
            !used && self.shape.can_come_from(element, config)
        })?;
        self.elements[position].1 = true;
        Some(self.elements[position].0)
    }
}

fn hash_of(element: &Value, names: &[&Str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    if let Kind::Object(parts) = element.kind() {
        for name in names {
            if let Some(part) = parts.get(*name) {
                hash_value(part, &mut hasher);
            }
        }
    }
    hasher.finish()
}

/// The part of a schema that a value belongs to.
#[derive(Clone, Copy)]
enum Shape<'a> {
    Block(&'a Block),
    Object(&'a NestedObject),
    /// All blocks of one type together.
    Blocks(&'a NestedBlock),
    Attribute(&'a Attribute),
}

impl<'a> Shape<'a> {
    /// The attributes of an element that must be equal for a match: those that are not computed, and the computed
    /// ones that the configuration sets. Nested attributes and block types are left to the full comparison, except
    /// for sets, which must be equal, too.
    fn fixed_names(self, config: &Value) -> Vec<&'a Str> {
        let is_set = |name: &Str| config.get_attr(name).is_none_or(|it| it.is_null());
        match self {
            Shape::Block(block) => {
                let blocks = block.blocks().iter();
                let sets =
                    blocks.filter(|(_, it)| it.nesting == Nesting::Set).map(|(name, _)| name);
                fixed_attributes(block.attributes(), is_set).chain(sets).collect()
            }
            Shape::Object(object) => fixed_attributes(object.attributes(), is_set).collect(),
            Shape::Blocks(_) | Shape::Attribute(_) => Vec::new(),
        }
    }

    /// Returns true if the provider can have made `prior` from `config` by filling in computed attributes.
    fn can_come_from(self, prior: &Value, config: &Value) -> bool {
        if same(config, prior) {
            return true;
        }
        // No path leads into a set, so the elements of two sets cannot be paired.
        if matches!(config.ty(), Type::Set(_)) {
            return false;
        }
        if let Shape::Attribute(attribute) = self
            && attribute.nested().is_none()
        {
            return attribute.computed && config.is_null();
        }
        prior.parts().all(|(step, part)| {
            let Some(configured) = part_of(config, &step, part) else { return false };
            match self.part(&step) {
                Some(shape) => shape.can_come_from(part, &configured),
                // The part is not in the schema, so no rule lets it differ. Compare the values.
                None => same(&configured, part),
            }
        })
    }

    fn part(self, step: &Step) -> Option<Shape<'a>> {
        match (self, step) {
            (Shape::Block(block), Step::Attr(name)) => {
                let attribute = block.attributes().get(name).map(Shape::Attribute);
                attribute.or_else(|| block.blocks().get(name).map(Shape::Blocks))
            }
            (Shape::Object(object), Step::Attr(name)) => {
                object.attributes().get(name).map(Shape::Attribute)
            }
            (Shape::Attribute(attribute), step) => {
                let object = attribute.nested()?;
                match object.nesting() {
                    ObjectNesting::Single => Shape::Object(object).part(step),
                    _ => Some(Shape::Object(object)),
                }
            }
            (Shape::Blocks(nested), step) => match nested.nesting {
                Nesting::Single | Nesting::Group => Shape::Block(&nested.block).part(step),
                _ => Some(Shape::Block(&nested.block)),
            },
            (Shape::Block(_) | Shape::Object(_), Step::Index(_)) => None,
        }
    }
}

fn fixed_attributes<'a>(
    attributes: &'a SortedMap<Str, Attribute>,
    left_out: impl Fn(&Str) -> bool,
) -> impl Iterator<Item = &'a Str> {
    let is_fixed = move |(name, attribute): &(&'a Str, &'a Attribute)| match attribute.nested() {
        Some(object) => object.nesting() == ObjectNesting::Set,
        None => !attribute.computed || !left_out(name),
    };
    attributes.iter().filter(is_fixed).map(|(name, _)| name)
}

/// The part of `config` at a step. The parts of an unknown value are unknown.
fn part_of(config: &Value, step: &Step, prior: &Value) -> Option<Value> {
    match config.kind() {
        Kind::Unknown(_) => Some(Value::unknown(prior.ty())),
        _ => step.apply(config),
    }
}
