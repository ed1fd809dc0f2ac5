//! Evaluates the arguments of `encryption` blocks. They are needed before anything else, and most of them are
//! secret.

use db::Directory;
use values::Value;

use crate::{
    Db,
    content::item,
    expr::{Expr, ExprId},
    item::{Block, Body, Item},
    item_name::ItemKey,
    names::terraform_blocks,
    statics::{
        evaluate::{CallPath, evaluate},
        static_error::NoValue,
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
    key: ItemKey,
    expr: ExprId,
    subject: &str,
) -> Result<Value, NoValue> {
    evaluate(
        db,
        CallPath::without_caller(db, workspace, directory),
        key,
        item(db, key),
        expr,
        subject,
    )
}

/// Returns true if an argument of the root module's `encryption` blocks is not a literal. Files that its functions
/// ask for are not read before encryption is used.
pub(super) fn is_dynamic(db: &dyn Db, workspace: Workspace) -> bool {
    terraform_blocks(db, workspace.root(db)).into_iter().any(|key| {
        let of_item = item(db, key);
        let settings = of_item.kind.as_terraform();
        let encryptions = settings.into_iter().flat_map(|it| &it.encryptions);
        let mut parts = encryptions.flat_map(|it| it.key_providers.iter().chain(&it.methods));
        parts.any(|part: &Block| has_references(of_item, &part.body))
    })
}

fn has_references(of_item: &Item, body: &Body) -> bool {
    let is_literal = |expr| matches!(of_item.exprs[expr], Expr::Literal(_));
    body.attrs.iter().any(|attr| !is_literal(attr.value))
        || body.blocks.iter().any(|block| has_references(of_item, &block.body))
}
