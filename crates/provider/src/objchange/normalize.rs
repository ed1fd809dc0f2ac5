use values::{Kind, Type, Value};

use crate::schema::{Block, NestedBlock, Nesting};

/// Normalizes an object from a provider that uses the legacy SDK: null or unknown collections of blocks are
/// replaced. Attributes stay the same.
#[must_use]
pub fn normalize_legacy(value: &Value, block: &Block) -> Value {
    if value.is_null() {
        return Value::null(block.implied_type().clone()).with_marks(value.marks());
    }
    let Kind::Object(parts) = value.kind() else { return value.clone() };
    if block.blocks().is_empty() {
        return value.clone();
    }
    let mut parts = parts.clone();
    for (name, nested) in block.blocks() {
        if let Some(part) = parts.get_mut(name) {
            *part = normalize_blocks(part, nested);
        }
    }
    Value::object(parts).with_marks(value.marks())
}

fn normalize_blocks(value: &Value, nested: &NestedBlock) -> Value {
    if nested.block.implied_type().has_dynamic() {
        return value.clone();
    }
    match nested.nesting {
        Nesting::Single | Nesting::Group if !value.is_known() => stub(&nested.block),
        Nesting::Group if value.is_null() => nested.block.empty_value(),
        Nesting::Single if value.is_null() => value.clone(),
        Nesting::Single | Nesting::Group => normalize_legacy(value, &nested.block),
        Nesting::List | Nesting::Set if !value.is_known() => {
            collection(nested, vec![stub(&nested.block)])
        }
        Nesting::List | Nesting::Set => {
            let elements = value.as_slice().unwrap_or_default();
            let normalized =
                elements.iter().map(|element| normalize_legacy(element, &nested.block)).collect();
            collection(nested, normalized).with_marks(value.marks())
        }
        Nesting::Map => value.clone(),
    }
}

fn collection(nested: &NestedBlock, elements: Vec<Value>) -> Value {
    let element = nested.block.implied_type().clone();
    match nested.nesting {
        Nesting::Set => Value::set(element, elements),
        _ => Value::list(element, elements),
    }
}

/// A block with unknown content, which stands for an unknown number of blocks.
fn stub(block: &Block) -> Value {
    let attributes = block
        .attributes()
        .iter()
        .map(|(name, attribute)| (name.clone(), Value::unknown(attribute.implied_type())));
    let blocks = block.blocks().iter().map(|(name, nested)| {
        let inner = match nested.nesting {
            Nesting::Single | Nesting::Group => stub(&nested.block),
            Nesting::List | Nesting::Set if nested.implied_type() == Type::Dynamic => {
                Value::tuple(vec![stub(&nested.block)])
            }
            Nesting::List | Nesting::Set => collection(nested, vec![stub(&nested.block)]),
            Nesting::Map => nested.empty_value(),
        };
        (name.clone(), inner)
    });
    Value::object(attributes.chain(blocks).collect())
}
