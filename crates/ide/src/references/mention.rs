//! Whether an item may mention a name: what is told without looking at its text.

use hir::{
    Item, ItemKind,
    item::{ProviderRef, RefTarget},
    names::ItemName,
};

use super::CallsOf;

/// The part of a name that is written wherever it is used.
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

/// Whether modules that call this one can name it.
pub(super) fn is_seen_by_callers(name: &ItemName) -> bool {
    matches!(name, ItemName::Variable(_) | ItemName::Output(_) | ItemName::Provider(..))
}

/// Whether an item of the same module may mention a name.
pub(super) fn mentions(item: &Item, name: &ItemName) -> bool {
    match &item.kind {
        // Their addresses are no references, and may be of anything; there are few such blocks.
        ItemKind::Moved(_) | ItemKind::Removed(_) | ItemKind::Import(_) | ItemKind::Other(_) => {
            return true;
        }
        // Their aliases are declared there.
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

/// Whether an item may read an output of one of some calls. One that reads a call as a whole may read any.
pub(super) fn reads_output(item: &Item, calls: &CallsOf, output: &str) -> bool {
    item.refs.iter().any(|reference| match &reference.target {
        RefTarget::ModuleOutput(call, name) => &**name == output && calls.contains(call),
        RefTarget::Module(call) => calls.contains(call),
        _ => false,
    })
}
