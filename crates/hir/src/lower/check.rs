//! `check` blocks.

use syntax::flat::ast;

use super::{
    ItemCtx,
    body::{self, BodyReader},
    problem::Problem,
};
use crate::item::{Check, ItemKind};

pub(super) fn check(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ItemKind> {
    let [label] = body::expect_labels(ctx, block, ["name"])?;
    let name = body::name(ctx, &label, "check block name");
    let mut reader = BodyReader::new(block);
    let asserts: Box<[_]> =
        reader.blocks("assert").iter().filter_map(|block| body::condition(ctx, block)).collect();
    if asserts.is_empty() {
        ctx.problem(Problem::error(
            "zero-asserts",
            body::header_range(block),
            "Zero assert blocks",
            "Check blocks must have at least one assert block.",
        ));
    }
    // A scoped data source is understood by a later issue; `ephemeral` stays an error here (DESIGN 2.14).
    let _ = reader.blocks("data");
    reader.finish(ctx);
    Some(ItemKind::Check(Box::new(Check { name: values::Str::from(&*name), asserts })))
}
