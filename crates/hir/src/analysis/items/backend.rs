//! `backend` and `cloud` blocks: where state is kept.

use crate::{
    analysis::{body::by_certainty, env::ItemEnv, infer::Infer, problem::ItemProblem, value::Tri},
    item::{Attr, Block, Item, Terraform},
    names::keeps_state,
    statics, suggest, unsupported,
};

/// Checks what a `terraform` block says of it. What an override file replaces does not count.
pub(super) fn check(infer: &mut Infer<'_>, env: &ItemEnv<'_>, item: &Item, settings: &Terraform) {
    if env.directory != env.workspace.root(env.db) {
        infer.problems.extend(ignored(settings));
        return;
    }
    if keeps_state(env.db, env.directory) != Some(env.key) {
        return;
    }
    for node in &settings.clouds {
        let detail = unsupported::detail(&unsupported::cloud());
        let problem =
            ItemProblem::error((*node).into(), unsupported::ID, unsupported::SUMMARY, detail);
        infer.problems.push(problem);
    }
    let Some(backend) = &settings.backend else { return };
    let kind = statics::backend_kind(backend);
    if let Some(what) = unsupported::backend(kind) {
        let detail = unsupported::detail(&what);
        let at = backend.node.into();
        let problem = ItemProblem::error(at, unsupported::ID, unsupported::SUMMARY, detail);
        infer.problems.push(problem);
    }
    for attr in &backend.body.attrs {
        argument(infer, env, item, kind, attr);
    }
    if kind == "local" {
        infer.problems.extend(unknown_parts(backend));
    }
}

/// In a called module they do nothing.
fn ignored(settings: &Terraform) -> impl Iterator<Item = ItemProblem> {
    let backend = settings.backend.as_ref().map(|it| (it.node, "Backend configuration ignored"));
    let cloud = settings.clouds.iter().map(|node| (*node, "Cloud configuration ignored"));
    backend.into_iter().chain(cloud).map(|(node, summary)| {
        let detail = "Where state is kept counts for the configuration as a whole, and its root module says it. In a module that others call, this block has \
                      no effect.";
        ItemProblem::error(node.into(), "ignored-backend", summary, detail)
            .with_severity(db::Severity::Warning)
    })
}

/// The backend's configuration is written to `.terraform` and to plan files (`reference`: ephemeral 1.1, row 10).
fn argument(infer: &mut Infer<'_>, env: &ItemEnv<'_>, item: &Item, kind: &str, attr: &Attr) {
    let before = infer.problems.len();
    let value = infer.expr(attr.value);
    let certainty = value.deep_marks().ephemeral;
    if certainty > Tri::No {
        let problem = ItemProblem::error(
            attr.value.into(),
            "ephemeral-backend",
            "Backend config contains ephemeral values",
            "The backend configuration is stored in .terraform/terraform.tfstate as well as plan files. It is recommended to instead supply \
             ephemeral credentials via backend specific environment variables",
        );
        infer.problems.push(by_certainty(problem, certainty).because(value.origin.as_ref()));
    }
    if infer.problems[before..].iter().any(|it| it.severity == db::Severity::Error) {
        return;
    }
    let (db, workspace) = (env.db, env.workspace);
    let found = match kind {
        "local" => statics::local_argument(db, workspace, env.key, attr).map(|text| {
            let is_empty = text.is_some_and(|it| it.is_empty());
            is_empty.then(|| empty(attr))
        }),
        _ => statics::backend_argument(db, workspace, env.key, item, kind, attr).map(|_| None),
    };
    let problem = match found {
        Ok(problem) => problem,
        Err(trouble) => trouble.and_then(|it| it.problem()),
    };
    infer.problems.extend(problem);
}

fn empty(attr: &Attr) -> ItemProblem {
    let (summary, detail) = match &*attr.name {
        "workspace_dir" => (
            "Invalid local workspace directory path",
            "The \"workspace_dir\" attribute value must not be empty. Leave it out, and workspaces are kept in terraform.tfstate.d.",
        ),
        _ => (
            "Invalid local state file path",
            "The \"path\" attribute value must not be empty. Leave it out, and the state is kept in terraform.tfstate.",
        ),
    };
    ItemProblem::error(attr.value.into(), "invalid-backend", summary, detail)
}

/// What the local backend does not have.
fn unknown_parts(backend: &Block) -> Vec<ItemProblem> {
    let is_unknown = |attr: &&Attr| !statics::LOCAL_ARGUMENTS.contains(&&*attr.name);
    let attrs = backend.body.attrs.iter().filter(is_unknown).map(|attr| {
        let close = suggest::closest(&attr.name, statics::LOCAL_ARGUMENTS);
        let hint = suggest::question(close);
        let detail = format!("An argument named \"{}\" is not expected here.{hint}", attr.name);
        ItemProblem::error(attr.node.into(), "unsupported-argument", "Unsupported argument", detail)
    });
    let blocks = backend.body.blocks.iter().map(|block| {
        let detail = format!("Blocks of type \"{}\" are not expected here.", block.kind);
        ItemProblem::error(block.node.into(), "unsupported-block", "Unsupported block type", detail)
    });
    attrs.chain(blocks).collect()
}
