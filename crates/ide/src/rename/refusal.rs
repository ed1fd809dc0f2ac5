//! Names that cannot be changed, each with the reason.

use hir::{names::ItemName, workspace::is_local_source};
use syntax::{SyntaxKind, SyntaxToken};

use super::Refusal;
use crate::{Module, references::Use};

pub(super) fn refuse<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal(why.into()))
}

/// The reason for which a name that the configuration does not declare cannot be changed.
pub(super) fn no_name_of_ours(token: &SyntaxToken) -> Refusal {
    let kind = token.parent().map(|parent| parent.kind());
    let why = match kind {
        Some(SyntaxKind::FUNC_NAME) => {
            "Functions are part of the language or of a provider, and keep their names."
        }
        Some(SyntaxKind::ATTRIBUTE | SyntaxKind::BLOCK) => {
            "This name is given by the language or by a provider, and cannot be changed."
        }
        Some(SyntaxKind::LABEL) => "The types of resources are named by their providers.",
        Some(SyntaxKind::REFERENCE | SyntaxKind::ATTR_STEP) => {
            "The configuration has no declaration of this name, so it cannot be renamed."
        }
        _ => {
            "There is no name here that can be changed: variables, locals, outputs, resources, \
             module calls, provider aliases and names bound by \"for\" and \"dynamic\" can."
        }
    };
    Refusal(why.to_owned())
}

pub(super) fn check_item(module: &Module<'_>, name: &ItemName) -> Result<(), Refusal> {
    if let ItemName::Provider(_, None) = name {
        return refuse(
            "The local name of a provider decides which resources belong to it; only an alias can be renamed.",
        );
    }
    if !module.is_declared(name) {
        return refuse("This name is not declared, so it cannot be renamed. Declare it first.");
    }
    if module.is_installed() {
        return refuse(format!(
            "The module in {} is an installed package: changes there are lost when it is installed \
             again. Change the module at its source.",
            module.directory.path(module.db)
        ));
    }
    Ok(())
}

pub(super) fn check_identifier(name: &str) -> Result<(), Refusal> {
    match addr::is_identifier(name) {
        true => Ok(()),
        false => refuse(format!(
            "\"{name}\" is no name: a name starts with a letter or an underscore, and has only \
             letters, digits, underscores and dashes."
        )),
    }
}

/// Returns true if the reference is in a block that records the past, not the current configuration.
pub(super) fn is_history(it: &Use) -> bool {
    matches!(it.block_type.as_str(), "moved" | "removed")
}

/// The address of an item in the state. `None` if the state does not contain such items.
pub(super) fn state_address(name: &ItemName) -> Option<String> {
    match name {
        ItemName::Resource(it) if it.mode == addr::ResourceMode::Managed => Some(it.to_string()),
        ItemName::Module(name) => Some(format!("module.{name}")),
        _ => None,
    }
}

pub(super) fn notes(module: &Module<'_>, name: &ItemName, renamed: &ItemName) -> Vec<String> {
    let addresses = state_address(name).zip(state_address(renamed));
    let destroyed = addresses.map(|(from, to)| {
        format!(
            "The next apply destroys {from} and creates it again as {to}. To keep it, add a \"moved\" block \
             from {from} to {to}."
        )
    });
    destroyed.into_iter().chain(elsewhere(module, name)).collect()
}

/// Notes about uses of the name outside of the configuration.
pub(super) fn elsewhere(module: &Module<'_>, name: &ItemName) -> Vec<String> {
    match name {
        ItemName::Variable(name) if module.directory == module.workspace.root(module.db) => {
            vec![format!(
                "Values of \"{name}\" that are given in .tfvars files, as TF_VAR_{name} or with \
                 -var keep the old name; change them there."
            )]
        }
        ItemName::Output(name) if module.directory == module.workspace.root(module.db) => {
            vec![format!(
                "Consumers that read the output \"{name}\" from the state or from \"mayfly \
                 output\" must use the new name."
            )]
        }
        ItemName::Module(_) => {
            let key = module.lookup(name);
            let call = key.and_then(|key| hir::names::item(module.db, key).kind.as_module_call());
            let source = call.and_then(|call| call.source.as_deref());
            match source.is_some_and(is_local_source) {
                true => Vec::new(),
                false => vec![
                    "The module is installed under the name of its call: run init again."
                        .to_owned(),
                ],
            }
        }
        _ => Vec::new(),
    }
}
