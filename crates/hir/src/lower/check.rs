//! Lowers `check` blocks.

use db::Summary;
use syntax::{
    AstNode,
    flat::ast::{self, HasItems as _},
};

use crate::{
    item::{Check, ItemKind},
    lower::{
        body::{self, BodyReader},
        header::header_range,
        item_ctx::{ItemCtx, Top, lower_one},
        lowered::Lowered,
        problem::Problem,
        resource,
    },
};

pub(super) fn check(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ItemKind> {
    let [label] = body::expect_labels(ctx, block, ["name"])?;
    let name = body::name(ctx, &label, "check block");
    let mut reader = BodyReader::new(block);
    let blocks = reader.blocks("assert");
    let asserts = blocks.iter().filter_map(|block| body::condition(ctx, block)).collect();
    if blocks.is_empty() {
        ctx.problem(Problem::new(
            Summary::ZERO_ASSERTS,
            header_range(block),
            "Check blocks must have at least one assert block.",
        ));
    }
    for extra in reader.blocks("data").iter().skip(1) {
        ctx.problem(Problem::new(
            Summary::MULTIPLE_DATA_BLOCKS,
            header_range(extra),
            "This check block already has a data resource. Only one is allowed; write a check block for each.",
        ));
    }
    // Nested `ephemeral` blocks are not taken, so they are reported as unexpected blocks.
    reader.finish(ctx);
    Some(ItemKind::Check(Box::new(Check { name: values::Str::from(name), asserts })))
}

/// Lowers the data source of a check block. It is a separate item that only the check can refer to.
pub(super) fn scoped_data(lowered: &mut Lowered, block: &ast::Block) {
    let Some(check) = block.label_texts().next() else { return };
    let mut inside = block.body().into_iter().flat_map(|body| body.blocks());
    let Some(data) = inside.find(|it| it.block_type().as_deref() == Some("data")) else { return };
    refuse(lowered, &data);
    lower_one(lowered, &Top::alone(&data), |ctx, top| {
        let kind = resource::resource(ctx, top, addr::ResourceMode::Data)?;
        let ItemKind::Resource(mut resource) = kind else { return Some(kind) };
        resource.in_check = Some(values::Str::from(&*check));
        Some(ItemKind::Resource(resource))
    });
}

/// Reports arguments that a nested data source cannot have: it is a single object whose lifecycle the check
/// manages.
fn refuse(lowered: &mut Lowered, data: &ast::Block) {
    for name in ["count", "for_each"] {
        let attributes = data.body().into_iter().flat_map(|body| body.attributes());
        for attr in attributes.filter(|it| it.name().as_deref() == Some(name)) {
            lowered.problems.push(Problem::new(
                Summary::invalid_check_data_argument(name),
                attr.syntax().text_range(),
                "The \"count\" and \"for_each\" meta-arguments are not supported within nested data blocks.",
            ));
        }
    }
    let blocks = data.body().into_iter().flat_map(|body| body.blocks());
    for lifecycle in blocks.filter(|it| it.block_type().as_deref() == Some("lifecycle")) {
        lowered.problems.push(Problem::new(
            Summary::CHECK_DATA_LIFECYCLE,
            header_range(&lifecycle),
            "Nested data blocks do not support \"lifecycle\" blocks as the lifecycle is managed by \
             the containing block.",
        ));
    }
}
