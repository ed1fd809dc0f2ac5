//! Hover for quoted names: the source of a module, and the alias of a provider configuration.

use db::Directory;
use hir::{
    names::{ItemName, item},
    symbols::NameKind,
};
use syntax::SyntaxToken;

use super::{Card, body::required_provider, declared, test_file};
use crate::{
    Cursor, Module,
    naming::{Named, Occurrence},
    scheme::variables,
    shown,
    test_file::TestName,
};

/// The most names of one kind that are listed.
const MOST_NAMES: usize = 20;

/// Describes the target of a quoted name.
pub(super) fn text(cursor: &Cursor<'_>, token: &SyntaxToken) -> Option<Card> {
    let module = cursor.document.module();
    let named = Occurrence::at(cursor, token)?.named;
    match &named {
        Named::Module(directory) => Some(source(module, *directory)),
        Named::OfTest(TestName::Provider(name, _)) => {
            Some(test_file::provider(cursor, name, &named))
        }
        Named::Item(directory, name @ ItemName::Provider(local_name, _)) => {
            let module = module.with_directory(*directory);
            Some(match module.lookup(name) {
                Some(key) => declared(module, key),
                None => required_provider(module, local_name),
            })
        }
        _ => None,
    }
}

/// The card of a module: its directory, its variables and its outputs.
fn source(module: Module<'_>, directory: Directory) -> Card {
    let root = module.workspace.root(module.db).path(module.db);
    let path = shown::path_from(root, directory.path(module.db));
    let module = module.with_directory(directory);
    let variable = |it: &hir::item::Variable| match it.default {
        None => format!("{} (required)", shown::code(&it.name)),
        Some(_) => shown::code(&it.name),
    };
    let variables = variables(module).map(|(_, it)| variable(it)).collect();
    let outputs = module.names(NameKind::Output).into_iter();
    let outputs = outputs.filter_map(|(_, key)| item(module.db, key).kind.as_output());
    let outputs = outputs.map(|it| shown::code(&it.name)).collect();
    Card::of(format!("module {path}"))
        .paragraph_opt(listed("Variables", variables).as_deref())
        .paragraph_opt(listed("Outputs", outputs).as_deref())
}

fn listed(heading: &str, names: Vec<String>) -> Option<String> {
    let more = names.len().saturating_sub(MOST_NAMES);
    let shown = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    match (names.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(format!("{heading}: {shown}")),
        (false, more) => Some(format!("{heading}: {shown} and {more} more")),
    }
}
