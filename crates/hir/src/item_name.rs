//! The identity, the name and the instance keys of an item, which resolve a reference to it.

use db::Block;
use values::Str;

use crate::item::{Import, Item, ItemKind, Repetition, Resource};

/// The identity of an item: the block that declares it, and its index among the block's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ItemKey {
    /// The top-level block.
    pub block: Block,
    /// The index among the block's items.
    pub index: u32,
}

/// The name of a declaration within its module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemName {
    /// `var.x`
    Variable(Str),
    /// `local.x`
    Local(Str),
    /// An output
    Output(Str),
    /// A resource of any mode
    Resource(addr::Resource),
    /// `module.x`
    Module(Str),
    /// A provider configuration
    Provider(Str, Option<Str>),
    /// A check
    Check(Str),
    /// The `terraform` blocks. Any number of blocks may share this name.
    Terraform,
    /// The `moved` blocks. Any number of blocks may share this name.
    Moved,
    /// The `removed` blocks. Any number of blocks may share this name.
    Removed,
    /// The `import` blocks. Any number of blocks may share this name.
    Import,
    /// An item that cannot be looked up.
    Other,
}

impl ItemName {
    /// Returns true if any number of blocks may have this name.
    pub fn is_shared(&self) -> bool {
        matches!(self, ItemName::Terraform | ItemName::Moved | ItemName::Removed | ItemName::Import)
    }

    /// The name that an item declares.
    pub fn of(item: &Item) -> ItemName {
        match &item.kind {
            ItemKind::Variable(it) => ItemName::Variable(it.name.clone()),
            ItemKind::Local(it) => ItemName::Local(it.name.clone()),
            ItemKind::Output(it) => ItemName::Output(it.name.clone()),
            ItemKind::Resource(it) => ItemName::Resource(it.resource.clone()),
            ItemKind::ModuleCall(it) => ItemName::Module(it.name.clone()),
            ItemKind::Provider(it) => ItemName::Provider(it.local_name.clone(), it.alias.clone()),
            ItemKind::Check(it) => ItemName::Check(it.name.clone()),
            ItemKind::Terraform(_) => ItemName::Terraform,
            ItemKind::Moved(_) => ItemName::Moved,
            ItemKind::Removed(_) => ItemName::Removed,
            ItemKind::Import(_) => ItemName::Import,
            ItemKind::Other(_) | ItemKind::Test(_) => ItemName::Other,
        }
    }
}

/// The kind of a declared name. The table lists each kind separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// An input variable, `var.x`.
    Variable,
    /// A local value, `local.x`.
    Local,
    /// An output value.
    Output,
    /// A resource of any mode.
    Resource,
    /// A module call, `module.x`.
    Module,
    /// A provider configuration.
    Provider,
    /// A check block.
    Check,
    /// The `terraform` blocks. All of them share one name.
    Terraform,
    /// The `moved` blocks. All of them share one name.
    Moved,
    /// The `removed` blocks. All of them share one name.
    Removed,
    /// The `import` blocks. All of them share one name.
    Import,
}

impl NameKind {
    /// All kinds, in the order of [`ItemName`].
    pub const ALL: [NameKind; 11] = [
        NameKind::Variable,
        NameKind::Local,
        NameKind::Output,
        NameKind::Resource,
        NameKind::Module,
        NameKind::Provider,
        NameKind::Check,
        NameKind::Terraform,
        NameKind::Moved,
        NameKind::Removed,
        NameKind::Import,
    ];

    /// The kind of a name. `None` for [`ItemName::Other`].
    pub fn of(name: &ItemName) -> Option<NameKind> {
        Some(match name {
            ItemName::Variable(_) => NameKind::Variable,
            ItemName::Local(_) => NameKind::Local,
            ItemName::Output(_) => NameKind::Output,
            ItemName::Resource(_) => NameKind::Resource,
            ItemName::Module(_) => NameKind::Module,
            ItemName::Provider(..) => NameKind::Provider,
            ItemName::Check(_) => NameKind::Check,
            ItemName::Terraform => NameKind::Terraform,
            ItemName::Moved => NameKind::Moved,
            ItemName::Removed => NameKind::Removed,
            ItemName::Import => NameKind::Import,
            ItemName::Other => return None,
        })
    }
}

/// The kind of the instance keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// One instance without a key.
    None,
    /// One instance without a key, or none: `enabled`.
    Optional,
    /// Numbers: `count`.
    Numbers,
    /// Strings: `for_each`.
    Texts,
}

impl Keys {
    pub(crate) fn of(item: &Item) -> Keys {
        let repetition = match &item.kind {
            ItemKind::Resource(it) => it.repetition,
            ItemKind::ModuleCall(it) => it.repetition,
            _ => return Keys::None,
        };
        match repetition {
            Repetition::Single => Keys::None,
            Repetition::Enabled(_) => Keys::Optional,
            Repetition::Count(_) => Keys::Numbers,
            Repetition::ForEach(_) => Keys::Texts,
        }
    }

    /// Returns true if a reference to an instance needs a key.
    pub(crate) fn are_needed(self) -> bool {
        matches!(self, Keys::Numbers | Keys::Texts)
    }
}

/// The local name of the provider that an `import` block needs if the resource has no block, and its configuration is
/// generated. `None` for a resource in another module.
pub fn import_provider_name(import: &Import) -> Option<&str> {
    let provider = import.provider.as_ref().map(|(it, _)| &*it.local_name);
    let name = provider.unwrap_or_else(|| import.to.resource.implied_provider());
    import.to.module.is_root().then_some(name)
}

/// The local provider name of a resource: from its `provider` argument, or else the first word of its type.
pub fn provider_local_name(resource: &Resource) -> &str {
    match &resource.provider {
        Some(provider) => &provider.local_name,
        None => resource.resource.implied_provider(),
    }
}
