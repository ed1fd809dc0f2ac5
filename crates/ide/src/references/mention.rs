//! Filters for the reference search: decide from an item, without its text, if it may contain a reference.

use hir::{
    Item, ItemKind,
    item::{ProviderRef, RefTarget},
    names::ItemName,
};

use super::CallsOf;

/// The part of a name that every reference to it contains. `None` for items that no reference can name.
pub(super) fn text(name: &ItemName) -> Option<&str> {
    Some(match name {
        ItemName::Variable(name)
        | ItemName::Local(name)
        | ItemName::Output(name)
        | ItemName::Module(name)
        | ItemName::Check(name)
        | ItemName::Provider(name, None)
        | ItemName::Provider(_, Some(name)) => name,
        ItemName::Resource(resource) => &resource.name,
        ItemName::Terraform
        | ItemName::Moved
        | ItemName::Removed
        | ItemName::Import
        | ItemName::Other => return None,
    })
}

/// Returns true if calling modules can refer to the item.
pub(super) fn is_seen_by_callers(name: &ItemName) -> bool {
    matches!(name, ItemName::Variable(_) | ItemName::Output(_) | ItemName::Provider(..))
}

/// Returns true if an item of the same module may refer to a name.
pub(super) fn mentions(item: &Item, name: &ItemName) -> bool {
    match &item.kind {
        // The addresses of these blocks are not lowered to references and may name anything. Such blocks are rare.
        ItemKind::Moved(_)
        | ItemKind::Removed(_)
        | ItemKind::Import(_)
        | ItemKind::Other(_)
        | ItemKind::Test(_) => {
            return true;
        }
        // `required_providers` declares the configuration aliases.
        ItemKind::Terraform(_) => return matches!(name, ItemName::Provider(..)),
        _ => {}
    }
    if let ItemName::Provider(local_name, alias) = name {
        return providers(item).any(|it| it.local_name == *local_name && it.alias == *alias);
    }
    item.refs.iter().any(|reference| match (&reference.target, name) {
        (RefTarget::Variable(a), ItemName::Variable(b)) => a == b,
        (RefTarget::Local(a), ItemName::Local(b)) => a == b,
        (RefTarget::Resource(a), ItemName::Resource(b)) => a == b,
        (RefTarget::Module(a) | RefTarget::ModuleOutput(a, _), ItemName::Module(b)) => a == b,
        _ => false,
    })
}

fn providers(item: &Item) -> impl Iterator<Item = &ProviderRef> {
    let of_resource = item.kind.as_resource().and_then(|it| it.provider.as_ref());
    let passed = item.kind.as_module_call().and_then(|it| it.providers.as_deref());
    of_resource.into_iter().chain(passed.into_iter().flatten().map(|it| &it.parent))
}

/// Returns true if an item may read an output of one of the calls. An item that refers to a whole call may read
/// any output.
pub(super) fn reads_output(item: &Item, calls: &CallsOf, output: &str) -> bool {
    item.refs.iter().any(|reference| match &reference.target {
        RefTarget::ModuleOutput(call, name) => &**name == output && calls.contains(call),
        RefTarget::Module(call) => calls.contains(call),
        _ => false,
    })
}
