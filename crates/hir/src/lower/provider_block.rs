//! Lowers `provider` blocks.

use db::Summary;
use syntax::AstNode;
use values::Str;

use crate::{
    item::{ItemKind, ProviderConfig, RefPlace},
    lower::{
        body::{self, BodyReader},
        item_ctx::{ItemCtx, Top},
        problem::Problem,
        resource,
    },
};

pub(super) fn provider(ctx: &mut ItemCtx<'_>, top: &Top<'_, '_>) -> Option<ItemKind> {
    let block = top.block;
    let [label] = body::expect_labels(ctx, block, ["name"])?;
    let name = body::name(ctx, &label, "provider");
    let mut reader = BodyReader::of_item(ctx, top);
    let alias_range =
        reader.peek("alias").and_then(|it| it.value()).map(|it| it.syntax().text_range());
    let alias = body::literal_text(ctx, reader.attr("alias"));
    if let (Some(alias), Some(range)) = (&alias, alias_range)
        && !addr::is_identifier(alias)
    {
        ctx.problem(Problem::new(
            Summary::INVALID_PROVIDER_ALIAS,
            range,
            "An alias must be a valid name: it starts with a letter or underscore and contains \
             only letters, digits, underscores, and dashes.",
        ));
    }
    let for_each_range = reader.peek("for_each").map(|it| it.syntax().text_range());
    if let (None, Some(range)) = (&alias, for_each_range) {
        ctx.problem(Problem::new(
            Summary::PROVIDER_FOR_EACH_WITHOUT_ALIAS,
            range,
            "The for_each argument is allowed only for provider configurations with an alias, by \
             which resources choose one of them: add \"alias\".",
        ));
    }
    let version = reader.attr("version");
    let has_version = version.is_some();
    let version = version.and_then(|version| {
        ctx.problem(Problem::new(
            Summary::PROVIDER_VERSION,
            version.syntax().text_range(),
            "Move the version constraint into the required_providers block of the terraform block.",
        ));
        let range = version.value()?.syntax().text_range();
        let text = body::literal_text(ctx, Some(version))?;
        super::terraform::constraint(ctx, &text, range);
        Some(text)
    });
    let for_each = reader
        .attr("for_each")
        .map(|attr| ctx.in_place(RefPlace::Repetition, |ctx| body::value(ctx, &attr)));
    for name in ["count", "depends_on", "source"] {
        if let Some(attr) = reader.attr(name) {
            ctx.problem(Problem::new(
                Summary::RESERVED_ARGUMENT,
                attr.syntax().text_range(),
                format!(
                    "The provider argument name \"{name}\" is reserved for use in a future version."
                ),
            ));
        }
    }
    for name in ["lifecycle", "locals"] {
        resource::reserved_blocks(ctx, &mut reader, name, "provider");
    }
    reader.absorb_escape(ctx);
    let body = reader.rest(ctx);
    let local_name = Str::from(name);
    Some(ItemKind::Provider(Box::new(ProviderConfig {
        local_name,
        alias,
        for_each,
        has_version,
        version,
        body,
    })))
}
