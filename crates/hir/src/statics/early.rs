//! What the arguments of `encryption` come to. They are needed before anything else, and are secrets, most of them.

use db::Directory;
use values::Value;

use super::{
    evaluate::{CallPath, evaluate},
    trouble::NoValue,
};
use crate::{
    Db,
    expr::{Expr, ExprId},
    item::{Block, Body, Item},
    names::{ItemKey, item, terraform_blocks},
    workspace::Workspace,
};

/// The value of an argument that may be a secret, as far as it is known however the module is called. `subject` is what it
/// is for, in words.
///
/// # Errors
/// Why it has no value; nothing if somebody else tells.
pub(crate) fn early_value(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    (key, of_item, expr): (ItemKey, &Item, ExprId),
    subject: &str,
) -> Result<Value, NoValue> {
    evaluate(db, CallPath::however(db, workspace, directory), key, of_item, expr, subject)
}

/// Whether `encryption` of the root module mentions anything. What a file holds that it asks for is nobody's business
/// before it is used, so no file is read for it.
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
