use std::fmt;
use std::sync::OnceLock;

use sorted::SortedMap;
use values::{ObjectType, Str, Type, Value};

use super::{Attribute, Block, NestedBlock, NestedObject, Nesting, ObjectNesting};

/// Properties that are derived from a schema, computed at first use.
///
/// They do not count for equality: two schemas are equal whatever was computed for them.
#[derive(Clone, Default)]
pub(super) struct Derived {
    implied_type: OnceLock<Type>,
    empty_value: OnceLock<Value>,
    flags: OnceLock<Flags>,
}

/// The flags that occur in any part of the schema.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) write_only: bool,
    pub(super) sensitive: bool,
    pub(super) deprecated: bool,
}

impl Flags {
    fn or(self, other: Flags) -> Flags {
        Flags {
            write_only: self.write_only || other.write_only,
            sensitive: self.sensitive || other.sensitive,
            deprecated: self.deprecated || other.deprecated,
        }
    }
}

impl Derived {
    pub(super) fn implied_type(&self, compute: impl FnOnce() -> Type) -> &Type {
        self.implied_type.get_or_init(compute)
    }

    pub(super) fn empty_value(&self, compute: impl FnOnce() -> Value) -> Value {
        self.empty_value.get_or_init(compute).clone()
    }

    pub(super) fn flags(&self, compute: impl FnOnce() -> Flags) -> Flags {
        *self.flags.get_or_init(compute)
    }
}

impl PartialEq for Derived {
    fn eq(&self, _: &Derived) -> bool {
        true
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

pub(super) fn block_type(block: &Block) -> Type {
    let attributes = block.attributes.iter().map(|(name, it)| (name, it.implied_type()));
    let blocks = block.blocks.iter().map(|(name, it)| (name, nested_block_type(it)));
    Type::object(attributes.chain(blocks))
}

pub(super) fn nested_block_type(nested: &NestedBlock) -> Type {
    let object = nested.block.implied_type();
    arranged_blocks(nested.nesting, object.clone())
}

fn arranged_blocks(nesting: Nesting, object: Type) -> Type {
    match nesting {
        Nesting::Single | Nesting::Group => object,
        Nesting::Set => Type::set(object),
        // The elements may have different types, so no list or map type fits them.
        Nesting::List | Nesting::Map if object.has_dynamic() => Type::Dynamic,
        Nesting::List => Type::list(object),
        Nesting::Map => Type::map(object),
    }
}

pub(super) fn nested_type(nested: &NestedObject) -> Type {
    let attributes = nested.attributes.iter().map(|(name, it)| (name, it.implied_type()));
    arranged_objects(nested.nesting, Type::object(attributes))
}

fn arranged_objects(nesting: ObjectNesting, object: Type) -> Type {
    match nesting {
        ObjectNesting::Single => object,
        ObjectNesting::List => Type::list(object),
        ObjectNesting::Set => Type::set(object),
        ObjectNesting::Map => Type::map(object),
    }
}

pub(super) fn block_decode_type(block: &Block) -> Type {
    let attributes = block.attributes.iter().map(|(name, it)| (name, it.decode_type()));
    let blocks = block
        .blocks
        .iter()
        .map(|(name, it)| (name, arranged_blocks(it.nesting, block_decode_type(&it.block))));
    let object = ObjectType::new(attributes.chain(blocks));
    Type::Object(object.with_optional(omissible(&block.attributes)).into())
}

pub(super) fn nested_decode_type(nested: &NestedObject) -> Type {
    let attributes = nested.attributes.iter().map(|(name, it)| (name, it.decode_type()));
    let object = ObjectType::new(attributes).with_optional(omissible(&nested.attributes));
    arranged_objects(nested.nesting, Type::Object(object.into()))
}

fn omissible(attributes: &SortedMap<Str, Attribute>) -> impl Iterator<Item = &Str> {
    attributes.iter().filter(|(_, it)| it.optional || it.computed).map(|(name, _)| name)
}

pub(super) fn empty_block(block: &Block) -> Value {
    let attributes =
        block.attributes.iter().map(|(name, it)| (name.clone(), Value::null(it.implied_type())));
    let blocks = block.blocks.iter().map(|(name, it)| (name.clone(), empty_nested_block(it)));
    Value::object(attributes.chain(blocks).collect())
}

pub(super) fn empty_nested_block(nested: &NestedBlock) -> Value {
    let object = nested.block.implied_type().clone();
    match nested.nesting {
        Nesting::Single => Value::null(object),
        Nesting::Group => nested.block.empty_value(),
        Nesting::List if object.has_dynamic() => Value::tuple(Vec::new()),
        Nesting::List => Value::list(object, Vec::new()),
        Nesting::Set => Value::set(object, Vec::new()),
        Nesting::Map if object.has_dynamic() => Value::empty_object(),
        Nesting::Map => Value::map(object, Default::default()),
    }
}

pub(super) fn block_flags(block: &Block) -> Flags {
    let own = attributes_flags(block.attributes.values());
    block.blocks.values().fold(own, |flags, nested| {
        let inner = nested.block.derived.flags(|| block_flags(&nested.block));
        let deprecated = Flags { deprecated: nested.block.deprecated, ..Flags::default() };
        flags.or(inner).or(deprecated)
    })
}

pub(super) fn nested_flags(nested: &NestedObject) -> Flags {
    attributes_flags(nested.attributes.values())
}

fn attributes_flags<'a>(attributes: impl Iterator<Item = &'a Attribute>) -> Flags {
    attributes.fold(Flags::default(), |flags, it| {
        let own =
            Flags { write_only: it.write_only, sensitive: it.sensitive, deprecated: it.deprecated };
        let inner = it
            .nested()
            .map(|nested| nested.derived.flags(|| nested_flags(nested)))
            .unwrap_or_default();
        flags.or(own).or(inner)
    })
}
