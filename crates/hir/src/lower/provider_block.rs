//! `provider` blocks.

use syntax::{AstNode, flat::ast};
use values::Str;

use super::{
    ItemCtx,
    body::{self, BodyReader},
    problem::Problem,
};
use crate::item::{ItemKind, ProviderConfig, RefPlace};

pub(super) fn provider(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ItemKind> {
    let [label] = body::expect_labels(ctx, block, ["name"])?;
    let name = body::name(ctx, &label, "provider name");
    let mut reader = BodyReader::new(block);
    let alias = body::literal_text(ctx, reader.attr("alias"));
    if let Some(version) = reader.attr("version") {
        ctx.problem(Problem::warning(
            "provider-version",
            version.syntax().text_range(),
            "Version constraints inside provider configuration blocks are deprecated",
            "Move the version constraint into the required_providers block of the terraform block.",
        ));
    }
    let for_each = reader
        .attr("for_each")
        .map(|attr| ctx.in_place(RefPlace::Repetition, |ctx| body::value(ctx, &attr)));
    for name in ["count", "depends_on", "source"] {
        if let Some(attr) = reader.attr(name) {
            ctx.problem(Problem::error(
                "reserved-argument",
                attr.syntax().text_range(),
                "Reserved argument name in provider block",
                format!(
                    "The provider argument name \"{name}\" is reserved for use in a future version."
                ),
            ));
        }
    }
    reader.absorb_escape();
    let body = reader.rest(ctx);
    let local_name = Str::from(&*name);
    Some(ItemKind::Provider(Box::new(ProviderConfig { local_name, alias, for_each, body })))
}
