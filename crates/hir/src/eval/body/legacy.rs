//! Attributes that users write as blocks: SDKv2's `ConfigMode = Attr` (protocol 6).
//!
//! Such a schema shows `list(object)` or `set(object)` where existing configurations have blocks, so blocks are read as
//! elements. Attribute syntax wins where both are written.

use provider::{Attribute, AttributeType, Block, NestedBlock, Nesting};
use values::Type;

/// The block type whose blocks stand for the elements of an attribute: everything inside may be left out.
pub(super) fn block_type(attribute: &Attribute) -> Option<NestedBlock> {
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

/// Whether the schema can come from SDKv2: others have no such attributes, and their blocks are blocks.
pub(super) fn may_be_legacy(schema: &Block) -> bool {
    let attributes_may = schema.attributes().values().all(|attribute| match &attribute.ty {
        AttributeType::Type(ty) => is_of_sdk(ty),
        AttributeType::Nested(_) => false,
    });
    attributes_may && schema.blocks().values().all(|nested| may_be_legacy(&nested.block))
}

fn is_of_sdk(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Number | Type::String => true,
        Type::Map(element) => !matches!(**element, Type::Object(_)) && is_element(element),
        Type::List(element) | Type::Set(element) => is_element(element),
        Type::Dynamic | Type::Tuple(_) | Type::Object(_) => false,
    }
}

/// What a collection may hold: primitives, collections of primitives, and objects of attributes that could stand alone.
fn is_element(ty: &Type) -> bool {
    match ty {
        Type::Object(object) => object.iter().all(|(_, ty)| is_of_sdk(ty)),
        Type::List(element) | Type::Set(element) | Type::Map(element) => element.is_primitive(),
        other => other.is_primitive(),
    }
}
