//! `provider_meta` blocks, in which a module describes itself to a provider.

use db::Summary;

use crate::{
    analysis::{
        body::{BodyInfer, Persistence},
        env::ItemEnv,
        infer::Infer,
        problem::{ItemProblem, not_supported},
    },
    eval,
    item::Block,
    names::required_providers,
};

/// Checks one block. It is read before anything is evaluated, so its values must be constants.
pub(super) fn check(infer: &mut Infer<'_>, env: &ItemEnv<'_>, meta: &Block) {
    let Some(name) = meta.labels.first() else { return };
    let source = required_providers(env.db, env.directory).source(name);
    let mut found: Vec<ItemProblem> = Vec::new();
    for attr in &meta.body.attrs {
        let diagnostics = eval::constant(infer.exprs, attr.value).diagnostics;
        found.extend(diagnostics.into_iter().map(ItemProblem::from));
    }
    found.extend(meta.body.blocks.iter().map(|block| {
        let detail = "Blocks are not allowed here.";
        ItemProblem::new(block.node.into(), Summary::unexpected_block(&block.kind), detail)
    }));
    let schemas = env.workspace.providers(env.db).get(&source).map(|it| &it.schemas(env.db).0);
    if found.is_empty()
        && let Some(schemas) = schemas
    {
        found.extend(match &schemas.provider_meta {
            Some(schema) => {
                let before = infer.problems.len();
                let mut body =
                    BodyInfer { infer, persistence: Persistence::Ephemeral, enclosing: None };
                body.block(&meta.body, schema.block(), meta.node);
                infer.problems.split_off(before)
            }
            None => vec![without_meta(meta, &source.to_string())],
        });
    }
    if !found.iter().any(|it| it.severity() == db::Severity::Error) {
        found.push(not_supported(meta.node, "\"provider_meta\" in the terraform block"));
    }
    infer.problems.append(&mut found);
}

fn without_meta(meta: &Block, source: &str) -> ItemProblem {
    let detail = "The schema of this provider has no provider_meta, so the provider cannot receive \
                  metadata from a module. Remove this block.";
    ItemProblem::new(meta.node.into(), Summary::no_provider_meta(source), detail)
}
