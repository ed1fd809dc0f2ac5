//! The arguments of the root module's backend, which determine where state is stored.

use std::sync::Arc;

use db::Summary;
use values::{Str, Value};

use crate::{
    Db,
    content::item,
    expr::{Expr, ExprId, Literal},
    item::{Attr, Block, Body},
    item_name::ItemKey,
    names::state_settings,
    statics::{
        evaluate::{CallPath, Messages, plain, text},
        static_error::{NoValue, StaticError},
    },
    workspace::Workspace,
};

/// The arguments of the local backend.
pub const LOCAL_ARGUMENTS: [&str; 2] = ["path", "workspace_dir"];

/// The settings of the local backend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalBackend {
    /// `path`: the state file of the default workspace.
    pub path: Option<Str>,
    /// `workspace_dir`: the directory for all other workspaces.
    pub workspace_dir: Option<Str>,
}

/// The type of a backend. Empty if the block has no label.
pub fn backend_kind(backend: &Block) -> &str {
    backend.labels.first().map(|it| &**it).unwrap_or_default()
}

/// The local backend of a configuration. `None` if the backend is not local, or if its arguments have errors,
/// which the analysis reports.
pub fn local_backend(db: &dyn Db, workspace: Workspace) -> Option<LocalBackend> {
    let Some(key) = state_settings(db, workspace.root(db)) else {
        return Some(LocalBackend::default());
    };
    let settings = item(db, key).kind.as_terraform()?;
    let backend = settings.backend.as_ref().filter(|_| settings.clouds.is_empty())?;
    if backend_kind(backend) != "local" || !backend.body.blocks.is_empty() {
        return None;
    }
    let mut local = LocalBackend::default();
    for attr in &backend.body.attrs {
        let value = local_argument(db, workspace, key, attr).ok()?;
        if value.as_ref().is_some_and(|it| it.is_empty()) {
            return None;
        }
        match &*attr.name {
            "path" => local.path = value,
            "workspace_dir" => local.workspace_dir = value,
            _ => return None,
        }
    }
    Some(local)
}

/// Returns true if an argument of the backend, or of `cloud {}`, is not a literal.
pub(super) fn is_dynamic_backend(db: &dyn Db, workspace: Workspace) -> bool {
    let Some(key) = state_settings(db, workspace.root(db)) else { return false };
    let of_item = item(db, key);
    let Some(settings) = of_item.kind.as_terraform() else { return false };
    let blocks = settings.backend.iter().chain(&settings.clouds);
    blocks.flat_map(|it| attrs(&it.body)).any(|attr| !is_literal(&of_item.exprs[attr.value]))
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Literal::String(_)))
}

/// The arguments of a body, including those of nested blocks.
fn attrs(body: &Body) -> Vec<&Attr> {
    let nested = body.blocks.iter().flat_map(|it| attrs(&it.body));
    body.attrs.iter().chain(nested).collect()
}

/// The problems of arguments of the backend, or of `cloud {}`, that have no value.
pub(super) fn errors(db: &dyn Db, workspace: Workspace) -> Vec<Arc<StaticError>> {
    let Some(key) = state_settings(db, workspace.root(db)) else { return Vec::new() };
    let settings = item(db, key).kind.as_terraform();
    let blocks = settings.into_iter().flat_map(|it| it.backend.iter().chain(&it.clouds));
    let error = |attr: &Attr| backend_argument(db, workspace, key, attr.value, "backend").err()?;
    blocks.flat_map(|it| attrs(&it.body)).filter_map(error).collect()
}

/// The settings for the evaluation of a backend argument.
fn of<'a>(subject: &'a str) -> Messages<'a> {
    Messages {
        subject,
        detail: "The backend configuration is stored in .terraform/terraform.tfstate as well as plan \
                 files. It is recommended to instead supply {} credentials via backend specific \
                 environment variables",
        ephemeral: Summary::EPHEMERAL_BACKEND,
        sensitive: Summary::SENSITIVE_BACKEND,
    }
}

/// The value of an argument of the local backend. `None` if it is null.
///
/// # Errors
/// The reason why it has no value. The reason is `None` if another check reports it.
pub(crate) fn local_argument(
    db: &dyn Db,
    workspace: Workspace,
    key: ItemKey,
    argument: &Attr,
) -> Result<Option<Str>, NoValue> {
    let path = CallPath::root(db, workspace);
    text(db, path, key, argument.value, &of("backend.local"))
}

/// The value of an argument of any backend. `subject` describes the argument in messages.
///
/// # Errors
/// See [`local_argument`].
pub(crate) fn backend_argument(
    db: &dyn Db,
    workspace: Workspace,
    key: ItemKey,
    argument: ExprId,
    subject: &str,
) -> Result<Value, NoValue> {
    let path = CallPath::root(db, workspace);
    plain(db, path, key, argument, &of(subject))
}
