//! Attributes that users write as blocks, from schemas of provider SDK version 2 (`ConfigMode = Attr`).
//!
//! Such a schema has an attribute of type `list(object)` or `set(object)`, where existing configurations have
//! blocks. The blocks are read as elements. If both are present, the attribute syntax wins.

use provider::{Attribute, AttributeType, Block, NestedBlock, Nesting};
use values::Type;

/// Returns the nested block type for blocks whose name is an attribute of `schema`. `None` if blocks of this name
/// are ordinary blocks or an error. `root` is the schema of the whole resource that contains `schema`.
pub(crate) fn attribute_as_blocks(kind: &str, schema: &Block, root: &Block) -> Option<NestedBlock> {
    if schema.blocks().contains_key(kind) {
        return None;
    }
    let nested = block_type(schema.attributes().get(kind)?)?;
    (may_be_legacy(root) && may_be_legacy(schema)).then_some(nested)
}

/// The block type whose blocks represent the elements of an attribute. All inner attributes are optional.
fn block_type(attribute: &Attribute) -> Option<NestedBlock> {
    let AttributeType::Type(ty) = &attribute.ty else { return None };
    let (nesting, element) = match ty {
        Type::List(element) => (Nesting::List, element),
        Type::Set(element) => (Nesting::Set, element),
        _ => return None,
    };
    let object = element.as_object()?;
    let attributes =
        object.iter().map(|(name, ty)| (name.clone(), Attribute::optional(ty.clone())));
    Some(NestedBlock::new(nesting, Block::new(attributes.collect(), Default::default())))
}

/// Returns true if the schema can come from SDK version 2. Schemas of other SDKs have no such attributes.
fn may_be_legacy(schema: &Block) -> bool {
    let attributes_may = schema.attributes().values().all(|attribute| match &attribute.ty {
        AttributeType::Type(ty) => is_of_sdk(ty),
        AttributeType::Nested(_) => false,
    });
    attributes_may && schema.blocks().values().all(|nested| may_be_legacy(&nested.block))
}

/// Returns true if SDK version 2 can have an attribute of this type. It has no tuples, no standalone objects, no
/// maps of objects, and no collections of collections except of primitives. Objects in lists and sets are checked
/// when their attributes are read as blocks.
fn is_of_sdk(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Number | Type::String | Type::Dynamic => true,
        Type::Map(element) => element.as_object().is_none() && is_element(element),
        Type::List(element) | Type::Set(element) => is_element(element),
        Type::Tuple(_) | Type::Object(_) => false,
    }
}

fn is_element(ty: &Type) -> bool {
    match ty {
        Type::List(element) | Type::Set(element) | Type::Map(element) => element.is_primitive(),
        _ => true,
    }
}
