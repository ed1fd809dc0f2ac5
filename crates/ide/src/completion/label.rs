//! Completion of block labels: resource types and provider names.

use addr::{ProviderSource, ResourceMode};
use hir::{names::required_providers, provisioner::KINDS};
use sorted::TreeSet;
use syntax::{AstNode, ast};

use super::{CompletionKind, Proposal, Proposals, context::Kind};
use crate::{
    hover::Card,
    scheme::{blocks_around, schema_of, scheme},
};

/// Proposes labels.
pub(super) fn complete(acc: &mut Proposals<'_, '_>) {
    let Kind::Label { block, position } = &acc.place.kind else { return };
    let around = blocks_around(block.syntax());
    let Some(kind) = block.block_type() else { return };
    if *position > 0 {
        return;
    }
    match (around.is_empty(), &*kind) {
        (true, "resource") => types(acc, ResourceMode::Managed),
        (true, "data") => types(acc, ResourceMode::Data),
        (true, "ephemeral") => types(acc, ResourceMode::Ephemeral),
        (true, "provider" | "mock_provider") => providers(acc),
        (false, "mock_resource") => mocked_types(acc, &around, ResourceMode::Managed),
        (false, "mock_data") => mocked_types(acc, &around, ResourceMode::Data),
        (false, "dynamic") => nested_blocks(acc, &around),
        (false, "provisioner") => provisioners(acc),
        (false, "backend") => words(acc, &["local"]),
        _ => {}
    }
}

fn words(acc: &mut Proposals<'_, '_>, words: &[&str]) {
    words.iter().for_each(|it| acc.add(Proposal::new(*it, CompletionKind::Type)));
}

/// Proposes the resource types of the provider that a `mock_provider` block replaces.
fn mocked_types(acc: &mut Proposals<'_, '_>, around: &[ast::Block], mode: ResourceMode) {
    let module = acc.cursor.document.module();
    let name = around.last().and_then(|it| it.label_texts().next());
    let required = required_providers(module.db, module.directory);
    if let Some(name) = name {
        types_of(acc, mode, |source| *source == required.source(&name));
    }
}

/// Proposes the built-in provisioners and the installed plugins.
fn provisioners(acc: &mut Proposals<'_, '_>) {
    let module = acc.cursor.document.module();
    words(acc, &KINDS);
    let plugins = module.workspace.provisioners(module.db).keys().map(|it| &**it);
    let plugins: Vec<&str> = plugins.filter(|it| !KINDS.contains(it)).collect();
    words(acc, &plugins);
}

/// Proposes the resource types of every provider with known schemas.
fn types(acc: &mut Proposals<'_, '_>, mode: ResourceMode) {
    types_of(acc, mode, |_| true);
}

fn types_of(
    acc: &mut Proposals<'_, '_>,
    mode: ResourceMode,
    is_wanted: impl Fn(&ProviderSource) -> bool,
) {
    let module = acc.cursor.document.module();
    let all = module.workspace.providers(module.db).iter();
    for (source, input) in all.filter(|(source, _)| is_wanted(source)) {
        let schemas = &input.schemas(module.db).0;
        let shown = source.for_display();
        // A description requires the decoded schema. Decoding thousands of types would be slow, so only short
        // lists have descriptions.
        let names = schemas.types_of_mode(mode);
        let is_few = names.len() <= FEW;
        acc.add_names(names, |name| {
            let proposal = Proposal::new(name, CompletionKind::Type).detail(&*shown);
            match schema_of(module, source.clone(), mode, name).filter(|_| is_few) {
                Some(part) => {
                    let block = part.block();
                    let card = Card::default()
                        .deprecation(block.deprecated, &block.deprecation_message)
                        .paragraph(&block.description);
                    proposal.card(&card).deprecated(block.deprecated)
                }
                None => proposal,
            }
        });
    }
}

/// The maximal length of a list of types with descriptions.
const FEW: usize = 200;

/// Proposes the local names of the module's providers and the providers with known schemas.
fn providers(acc: &mut Proposals<'_, '_>) {
    let module = acc.cursor.document.module();
    let required = required_providers(module.db, module.directory);
    let declared = required.declared.keys().map(ToString::to_string);
    let known = module.workspace.providers(module.db).keys().map(|it| it.type_name.to_string());
    let names: TreeSet<String> = declared.chain(known).collect();
    for name in names {
        let source = required.source(&name).for_display();
        acc.add(Proposal::new(name, CompletionKind::Provider).detail(source));
    }
}

/// Proposes the nested blocks that a `dynamic` block can generate.
fn nested_blocks(acc: &mut Proposals<'_, '_>, around: &[ast::Block]) {
    let Some(scheme) = scheme(acc.cursor.document.module(), around) else { return };
    let Some(part) = scheme.schema else { return };
    for (name, nested) in part.block().blocks() {
        let proposal = Proposal::new(&**name, CompletionKind::Block);
        acc.add(proposal.doc(&nested.block.description).deprecated(nested.block.deprecated));
    }
}
