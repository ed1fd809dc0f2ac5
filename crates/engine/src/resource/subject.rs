//! One object of a resource, with the data that work on it needs.

use std::sync::Arc;

use addr::{ProviderConfigRef, ResourceInstance};
use hir::Entry;
use provider::Schema;
use state::ObjectAddress;
use values::{Kind, MarkKind, Value};

use crate::{
    event::ObjectId,
    graph::{ModuleIx, NodeIx},
    resource::write_only_texts::WriteOnlyTexts,
};

/// One object, with the data that work on it needs.
pub(crate) struct Subject {
    pub(crate) node: NodeIx,
    pub(crate) object: ObjectAddress,
    /// The address of the instance as text, for messages.
    pub(crate) text: String,
    pub(crate) schema: Arc<Schema>,
    /// The schema of the type's identity; `None` if it has none.
    pub(crate) identity: Option<Arc<Schema>>,
    /// True if the provider plans deletions.
    pub(crate) plans_destroy: bool,
    /// The value that is sent as `provider_meta`; `None` if the provider has no schema for it.
    pub(crate) provider_meta: Option<Value>,
    /// The node of the provider.
    pub(crate) provider_node: NodeIx,
    pub(crate) provider: Arc<ProviderConfigRef>,
    /// The block; `None` if the configuration has none.
    pub(crate) entry: Option<Entry>,
    /// The module instance of the block.
    pub(crate) module: ModuleIx,
    /// The write-only values of the configuration, as soon as it is evaluated.
    pub(crate) write_only: WriteOnlyTexts,
}

impl Subject {
    /// The address of the instance that the object belongs to.
    pub(crate) fn address(&self) -> &ResourceInstance {
        &self.object.instance
    }

    /// Returns true for an object that was replaced, but not destroyed.
    pub(crate) fn is_deposed(&self) -> bool {
        self.object.deposed.is_some()
    }

    /// The block that applies to the object; `None` if the configuration has none, or if the object is deposed.
    pub(crate) fn block(&self) -> Option<&Entry> {
        self.entry.as_ref().filter(|_| !self.is_deposed())
    }

    pub(crate) fn type_name(&self) -> values::Str {
        values::Str::from(self.object.instance.resource.type_name.as_str())
    }

    /// The entry and the body of the block, for locating diagnostics; `None` without a block.
    pub(crate) fn place(&self) -> Option<(&Entry, &hir::item::Body)> {
        self.entry.as_ref().map(|entry| (entry, &entry.resource().body))
    }

    pub(crate) fn ty(&self) -> &values::Type {
        self.schema.implied_type()
    }
}

/// The attribute by which people identify an object among others of its type: its `id`, else its `name`. `None` if
/// neither is a known text, or if it is secret.
pub(crate) fn object_id(value: &Value) -> Option<ObjectId> {
    if value.marks().has(MarkKind::Sensitive) || value.marks().has(MarkKind::Ephemeral) {
        return None;
    }
    let Kind::Object(attributes) = value.kind() else { return None };
    let text = |name: &str| {
        let value = attributes.get(name)?;
        if value.has_deep_secret() {
            return None;
        }
        value.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
    };
    let id = text("id").map(|value| ObjectId { key: "id".to_owned(), value });
    let name = || text("name").map(|value| ObjectId { key: "name".to_owned(), value });
    id.or_else(name)
}

/// Returns true if a resource has conditions. Such a resource is evaluated in every run.
pub(crate) fn has_conditions(entry: &Entry) -> bool {
    let lifecycle = &entry.resource().lifecycle;
    !lifecycle.preconditions.is_empty() || !lifecycle.postconditions.is_empty()
}
