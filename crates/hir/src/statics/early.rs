//! Evaluates the arguments of `encryption` blocks. They are needed before anything else, and most of them are
//! secret.

use db::Directory;
use values::Value;

use crate::{
    Db,
    expr::{Expr, ExprId},
    item::{Block, Body, Item},
    names::{ItemKey, item, terraform_blocks},
    statics::{
        evaluate::{CallPath, evaluate},
        trouble::NoValue,
    },
    workspace::Workspace,
};

/// The value of an argument that may be secret, as far as it does not depend on how the module is called.
/// `subject` describes the argument in messages.
///
/// # Errors
/// The reason why it has no value. The reason is `None` if another check reports it.
pub(crate) fn early_value(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    (key, of_item, expr): (ItemKey, &Item, ExprId),
    subject: &str,
) -> Result<Value, NoValue> {
    evaluate(db, CallPath::however(db, workspace, directory), key, of_item, expr, subject)
}

/// Returns true if an argument of the root module's `encryption` blocks is not a literal. Files that its functions
/// ask for are not read before encryption is used.
pub(super) fn is_dynamic(db: &dyn Db, workspace: Workspace) -> bool {
    terraform_blocks(db, workspace.root(db)).into_iter().any(|key| {
        let of_item = item(db, key);
        let settings = of_item.kind.as_terraform();
        let encryptions = settings.into_iter().flat_map(|it| &it.encryptions);
        let mut parts = encryptions.flat_map(|it| it.key_providers.iter().chain(&it.methods));
        parts.any(|part: &Block| mentions(of_item, &part.body))
    })
}

fn mentions(of_item: &Item, body: &Body) -> bool {
    let is_literal = |expr| matches!(of_item.exprs[expr], Expr::Literal(_));
    body.attrs.iter().any(|attr| !is_literal(attr.value))
        || body.blocks.iter().any(|block| mentions(of_item, &block.body))
}
