//! Short constructors of schemas and values for tests.

use sorted::SortedMap;
use values::{Kind, Str, Type, Value};

use crate::schema::{
    Attribute, AttributeType, Block, NestedBlock, NestedObject, Nesting, ObjectNesting,
};

pub(crate) fn required() -> Attribute {
    Attribute::required(Type::String)
}

pub(crate) fn optional() -> Attribute {
    Attribute::optional(Type::String)
}

pub(crate) fn computed() -> Attribute {
    Attribute::computed(Type::String)
}

pub(crate) fn optional_computed() -> Attribute {
    Attribute::optional_computed(Type::String)
}

pub(crate) fn write_only() -> Attribute {
    Attribute { write_only: true, ..optional() }
}

pub(crate) fn sensitive(attribute: Attribute) -> Attribute {
    Attribute { sensitive: true, ..attribute }
}

/// An optional attribute with nested attributes.
pub(crate) fn nested<const N: usize>(
    nesting: ObjectNesting,
    attributes: [(&str, Attribute); N],
) -> Attribute {
    let object = NestedObject::new(nesting, named(attributes));
    Attribute { optional: true, ..Attribute::new(AttributeType::Nested(object)) }
}

pub(crate) fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Block {
    Block::new(named(attributes), SortedMap::new())
}

pub(crate) fn block_with<const N: usize, const M: usize>(
    attributes: [(&str, Attribute); N],
    blocks: [(&str, Nesting, Block); M],
) -> Block {
    let blocks = blocks.map(|(name, nesting, block)| (name, NestedBlock::new(nesting, block)));
    Block::new(named(attributes), named(blocks))
}

fn named<T, const N: usize>(entries: [(&str, T); N]) -> SortedMap<Str, T> {
    entries.into_iter().map(|(name, it)| (Str::from(name), it)).collect()
}

/// Parses a value of a block from JSON. Missing attributes are null, `"?"` is unknown, and `null` at the top is a
/// null object.
pub(crate) fn value(block: &Block, json: &str) -> Value {
    let value = values::json::decode_implied(json.as_bytes()).expect("the fixture is JSON");
    shaped(&value, block.implied_type())
}

fn shaped(value: &Value, ty: &Type) -> Value {
    match (value.kind(), ty) {
        (Kind::Null, _) => Value::null(ty.clone()),
        (Kind::String(text), _) if &**text == "?" => Value::unknown(ty.clone()),
        (Kind::Object(parts), Type::Object(object)) => {
            Value::object_from(object.iter().map(|(name, ty)| {
                let part = parts.get(name).map(|part| shaped(part, ty));
                (name, part.unwrap_or_else(|| Value::null(ty.clone())))
            }))
        }
        (Kind::Object(parts), Type::Map(element)) => {
            let entries = parts.iter().map(|(key, part)| (key.clone(), shaped(part, element)));
            Value::map(Type::clone(element), entries.collect())
        }
        (Kind::Tuple(parts), Type::List(element)) => {
            let elements = parts.iter().map(|part| shaped(part, element)).collect();
            Value::list(Type::clone(element), elements)
        }
        (Kind::Tuple(parts), Type::Set(element)) => {
            let elements = parts.iter().map(|part| shaped(part, element)).collect();
            Value::set(Type::clone(element), elements)
        }
        // Inside a dynamic value, `"?"` stays a string.
        _ => value.map_parts(|_, part| shaped(part, &Type::Dynamic)),
    }
}
