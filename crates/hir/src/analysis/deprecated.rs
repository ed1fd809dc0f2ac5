//! Deprecated outputs of modules, and deprecated attributes and blocks of resources. The inference warns about
//! references to them ([`infer::deprecated`](super::infer::deprecated)).

use db::{Directory, Summary};
use provider::{Attribute, Block};
use sorted::SortedMap;
use values::Str;

use crate::{
    Db,
    content::item,
    expr::ExprId,
    item::ItemKind,
    item_name::{ItemKey, ItemName, NameKind},
    symbols::names_of_kind,
};

/// An output that the author of the module deprecates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeprecatedOutput {
    /// The name of the output.
    pub name: Str,
    /// The message of the module's author; may be empty.
    pub message: Str,
    /// The declaration of the output.
    pub key: ItemKey,
}

/// An attribute or a nested block that the provider deprecates, or the whole resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeprecatedPart {
    /// The attribute and block names that lead to the part, without keys of elements; empty for the resource type.
    pub path: Vec<Str>,
    /// The message of the provider; may be empty.
    pub message: Str,
}

/// A reference to something deprecated.
pub(super) struct DeprecatedReference {
    pub(super) at: ExprId,
    pub(super) read: Read,
}

/// The deprecated things that a reference may read.
pub(super) enum Read {
    /// Outputs of a module call: one for `module.m.old`, all deprecated ones for `module.m` as a whole.
    Outputs(Str, Vec<DeprecatedOutput>),
    /// All deprecated parts of a resource.
    Parts(addr::Resource, Vec<DeprecatedPart>),
}

impl Read {
    /// The summary of the warning.
    pub(super) fn summary(&self) -> Summary {
        match self {
            Read::Outputs(..) => Summary::DEPRECATED_OUTPUT,
            Read::Parts(..) => Summary::DEPRECATED_ATTRIBUTE,
        }
    }
}

/// The deprecated outputs of a module.
///
/// **Stability:** an edit that changes neither the names nor the `deprecated` arguments of the outputs leaves the
/// result equal.
#[salsa::tracked(returns(ref))]
pub(super) fn deprecated_outputs(db: &dyn Db, module: Directory) -> Vec<DeprecatedOutput> {
    let outputs = names_of_kind(db, module, NameKind::Output).into_iter();
    let deprecated = |(name, key): (ItemName, ItemKey)| {
        let ItemName::Output(name) = name else { return None };
        let message = deprecation(db, key.block, key.index)?.clone();
        Some(DeprecatedOutput { name, message, key })
    };
    outputs.filter_map(deprecated).collect()
}

/// The `deprecated` argument of an output, or `None` if there is none.
#[salsa::tracked(returns(as_ref))]
fn deprecation(db: &dyn Db, block: db::Block, index: u32) -> Option<Str> {
    match &item(db, ItemKey { block, index }).kind {
        ItemKind::Output(output) => output.deprecated.clone(),
        _ => None,
    }
}

/// The parts that a schema deprecates.
pub(super) fn deprecated_parts(schema: &Block) -> Vec<DeprecatedPart> {
    let mut parts = Vec::new();
    add_parts(schema, &mut Vec::new(), &mut parts);
    parts
}

fn add_parts(block: &Block, path: &mut Vec<Str>, parts: &mut Vec<DeprecatedPart>) {
    if !block.has_deprecated() {
        return;
    }
    if block.deprecated {
        let message = block.deprecation_message.clone();
        parts.push(DeprecatedPart { path: path.clone(), message });
    }
    add_attributes(block.attributes(), path, parts);
    for (name, nested) in block.blocks() {
        path.push(name.clone());
        add_parts(&nested.block, path, parts);
        path.pop();
    }
}

fn add_attributes(
    attributes: &SortedMap<Str, Attribute>,
    path: &mut Vec<Str>,
    parts: &mut Vec<DeprecatedPart>,
) {
    for (name, attribute) in attributes {
        path.push(name.clone());
        if attribute.deprecated {
            let message = attribute.deprecation_message.clone();
            parts.push(DeprecatedPart { path: path.clone(), message });
        } else if let Some(nested) = attribute.nested() {
            add_attributes(nested.attributes(), path, parts);
        }
        path.pop();
    }
}
