//! The parts of a block that an override file may not contain.

use db::Summary;
use syntax::{
    AstNode,
    flat::ast::{self, HasItems as _},
};

use crate::lower::{header::header_range, item_ctx::ItemCtx, problem::Problem};

/// The condition blocks, which override files may not contain.
const CONDITIONS: &[&str] = &["precondition", "postcondition", "validation"];

/// Reports parts of a block that an override file may not contain.
/// `depends_on` and `blocks` are those of the block.
pub(super) fn refuse(
    ctx: &mut ItemCtx<'_>,
    depends_on: Option<&ast::Attribute>,
    blocks: &[ast::Block],
) {
    if let Some(depends_on) = depends_on.and_then(|attr| attr.value()) {
        let first = match &depends_on {
            ast::Expr::Tuple(tuple) => tuple.elements().next(),
            other => Some(other.clone()),
        };
        if let Some(first) = first {
            ctx.problem(Problem::new(
                Summary::UNSUPPORTED_OVERRIDE,
                first.syntax().text_range(),
                "The depends_on argument may not be overridden. Write it in the block that is overridden.",
            ));
        }
    }
    for nested in blocks {
        refuse_condition(ctx, nested);
        if nested.type_token().is_some_and(|it| it.text() == "lifecycle") {
            let inside = nested.body().into_iter().flat_map(|body| body.blocks());
            inside.for_each(|it| refuse_condition(ctx, &it));
        }
    }
}

fn refuse_condition(ctx: &mut ItemCtx<'_>, block: &ast::Block) {
    let Some(kind) = condition(block) else { return };
    ctx.problem(Problem::new(
        Summary::overridden_conditions(kind),
        header_range(block),
        format!(
            "Override files cannot override \"{kind}\" blocks. Write it in the block that is overridden."
        ),
    ));
}

/// The type of a condition block. `None` for other blocks.
pub(super) fn condition(block: &ast::Block) -> Option<&'static str> {
    let kind = block.type_token()?;
    CONDITIONS.iter().copied().find(|it| *it == kind.text())
}

/// The problem of a block type that override files may not contain, because such blocks cannot be overridden.
pub(super) fn refused_block(block: &ast::Block, kind: &str) -> Problem {
    let (summary, detail) = match kind {
        "check" => (
            Summary::overridden_conditions("check"),
            "Override files cannot override check blocks.".to_owned(),
        ),
        _ => (
            Summary::overridden_refactoring(kind),
            format!(
                "Blocks of type \"{kind}\" can appear only in normal files, not in override files."
            ),
        ),
    };
    let detail = format!("{detail} Move it into a file whose name does not end in \"override\".");
    Problem::new(summary, header_range(block), detail)
}
