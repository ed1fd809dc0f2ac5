//! Resolves a name of a module to its declaration, and lists the declarations of a module.
//!
//! ```text
//! block_names (content) ─► symbol table (symbols) ─► lookup ─► ItemKey ─► item (content)
//! ```

use std::borrow::Cow;

use addr::ProviderSource;
use db::Directory;
use sorted::TreeMap;
use values::Str;

use crate::{
    Db,
    item::RequiredProvider,
    item_name::NameKind,
    symbols::{first_declaration, module_outline, names_of_kind, symbol},
};

// For other crates. The files of this crate import from the files that define these.
pub use crate::{
    content::{block_items, block_names, block_problems, item, own_header, place_of, source_maps},
    item_name::{ItemKey, ItemName, Keys, provider_local_name},
};

/// The declaration of a name in a module. If there are duplicates, the first one. `None` if the name is
/// undeclared.
pub fn lookup(db: &dyn Db, directory: Directory, name: &ItemName) -> Option<ItemKey> {
    first_declaration(db, directory, name)
}

/// The declaration that an item of an override file changes. `None` if the item is a declaration of its own, or if
/// the original does not exist.
pub fn base_of(db: &dyn Db, directory: Directory, key: ItemKey) -> Option<ItemKey> {
    let name = block_names(db, key.block).get(key.index as usize)?;
    lookup(db, directory, name).filter(|base| *base != key && !name.is_shared())
}

/// Returns true if an item of an override file declares something itself, instead of overriding a block of a
/// primary file.
pub(crate) fn is_declaration(
    db: &dyn Db,
    directory: Directory,
    key: ItemKey,
    name: &ItemName,
) -> bool {
    name.is_shared() || lookup(db, directory, name) == Some(key)
}

/// Returns every item of a module in the order of its files, unnamed items included. Items of override files are
/// included only if they declare something; the others are merged into the items that they override.
pub fn module_items(db: &dyn Db, directory: Directory) -> Cow<'_, [ItemKey]> {
    if let Some(module_outline) = module_outline(db, directory) {
        return Cow::Borrowed(&module_outline.items);
    }
    let files = directory.files(db).iter();
    let items = files.flat_map(move |file| {
        let is_override = db::is_override(file.path(db));
        file.blocks(db).iter().flat_map(move |&block| {
            let names = (0u32..).zip(block_names(db, block));
            let keys = names.map(move |(index, name)| (ItemKey { block, index }, name));
            let counts = move |(key, name): &(ItemKey, &ItemName)| {
                !is_override || is_declaration(db, directory, *key, name)
            };
            keys.filter(counts).map(|(key, _)| key)
        })
    });
    Cow::Owned(items.collect())
}

/// All named declarations of a module, by name. If a name has duplicates, only the first one.
pub fn declarations(
    db: &dyn Db,
    directory: Directory,
) -> impl Iterator<Item = (ItemName, ItemKey)> {
    NameKind::ALL.into_iter().flat_map(move |kind| names_of_kind(db, directory, kind))
}

/// The `terraform` blocks of a module in order.
pub fn terraform_blocks(db: &dyn Db, directory: Directory) -> Vec<ItemKey> {
    all_of(db, directory, &ItemName::Terraform)
}

/// The `terraform` block that configures state storage with `backend` or `cloud`: the last one in an override
/// file, or else the first one. `None` if there is none.
pub fn state_settings(db: &dyn Db, directory: Directory) -> Option<ItemKey> {
    let says = |key: &ItemKey| {
        let settings = item(db, *key).kind.as_terraform();
        settings.is_some_and(|it| it.backend.is_some() || !it.clouds.is_empty())
    };
    let saying: Vec<ItemKey> = terraform_blocks(db, directory).into_iter().filter(says).collect();
    let is_override = |key: &&ItemKey| db::is_override(key.block.file(db).path(db));
    saying.iter().rfind(is_override).or(saying.first()).copied()
}

/// All declarations of a name in order.
pub fn all_of(db: &dyn Db, directory: Directory, name: &ItemName) -> Vec<ItemKey> {
    symbol(db, directory, name).map(|it| it.declarations(db)).unwrap_or_default()
}

/// The provider requirements of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredProviders {
    /// The declared entries by local name, each with its source. The source is `None` if it cannot be parsed.
    pub declared: TreeMap<Str, (RequiredProvider, Option<ProviderSource>)>,
    /// The `required_version` constraints, unparsed.
    pub required_versions: Vec<Str>,
}

impl RequiredProviders {
    /// The provider source of a local name: declared, or implied by the name.
    pub fn source(&self, local_name: &str) -> ProviderSource {
        let declared = self.declared.get(local_name).and_then(|(_, source)| source.clone());
        declared.unwrap_or_else(|| ProviderSource::implied_for(local_name))
    }
}

/// The `required_providers` entries and version constraints of a module.
#[salsa::tracked(returns(ref))]
pub fn required_providers(db: &dyn Db, directory: Directory) -> RequiredProviders {
    let mut result = RequiredProviders::default();
    for key in terraform_blocks(db, directory) {
        let Some(terraform) = item(db, key).kind.as_terraform() else { continue };
        result.required_versions.extend(terraform.required_version.clone());
        for entry in &terraform.required_providers {
            let source = match &entry.source {
                Some((source, _)) => ProviderSource::parse(source).ok(),
                None => Some(ProviderSource::implied_for(&entry.local_name)),
            };
            let name = entry.local_name.clone();
            match db::is_override(key.block.file(db).path(db)) {
                true => drop(result.declared.insert(name, (entry.clone(), source))),
                false => drop(result.declared.entry(name).or_insert((entry.clone(), source))),
            }
        }
    }
    result
}
