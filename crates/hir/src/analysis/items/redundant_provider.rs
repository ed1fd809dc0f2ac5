//! Empty `provider` blocks in modules that are called.

use addr::ProviderSource;
use db::Summary;
use values::Str;

use crate::{
    analysis::{env::ItemEnv, problem::ItemProblem},
    content::item,
    item::{Item, ProviderConfig},
    item_name::{ItemKey, ItemName, NameKind},
    symbols::names_of_kind,
};

/// The warning for an empty block in a module that is called, at one block of each provider. Such blocks once
/// declared the configurations that a module takes from its callers.
pub(super) fn check(
    block: &Item,
    config: &ProviderConfig,
    source: &ProviderSource,
    env: &ItemEnv<'_>,
) -> Option<ItemProblem> {
    if env.workspace.root(env.db) == env.directory || !config.is_empty() {
        return None;
    }
    let name = &config.local_name;
    let empty = |(_, key): &(ItemName, ItemKey)| {
        item(env.db, *key).kind.as_provider().is_some_and(ProviderConfig::is_empty)
    };
    let blocks = names_of_kind(env.db, env.directory, NameKind::Provider).into_iter();
    let blocks = blocks.filter(|(it, _)| matches!(it, ItemName::Provider(it, _) if it == name));
    let mut aliases: Vec<Option<Str>> = { blocks.filter(empty) }
        .filter_map(|(it, _)| match it {
            ItemName::Provider(_, alias) => Some(alias),
            _ => None,
        })
        .collect();
    sorted::sort(&mut aliases);
    if aliases.first() != Some(&config.alias) {
        return None;
    }
    let configurations: String =
        { aliases.iter().flatten() }.map(|alias| format!("        {name}.{alias},\n")).collect();
    let configurations = match configurations.is_empty() {
        true => String::new(),
        false => format!("      configuration_aliases = [\n{configurations}      ]\n"),
    };
    let detail = format!(
        "An empty provider block in a module that is called does nothing. Earlier versions of \
         OpenTofu read it as a declaration of the provider configurations that the module takes \
         from its callers.\n\nIf you control this module, remove its empty provider \"{name}\" \
         blocks and declare the provider in required_providers:\n    {name} = {{\n      source = \
         \"{}\"\n{configurations}    }}",
        source.for_display()
    );
    let problem = ItemProblem::new(block.header.into(), Summary::REDUNDANT_PROVIDER_BLOCK, detail);
    Some(problem)
}
